#include <algorithm>

#include <voussoir/backends/openmp/checks.hpp>
#include <voussoir/backends/openmp/cpu_backend.hpp>
#include <voussoir/backends/openmp/parallel.hpp>

// Operations on whole vectors. They touch owned entries; ghosts are copies that products refresh.

namespace voussoir {

using cpu::for_blocks;
using cpu::owned_entries;
using cpu::require_alike;
using cpu::require_own;
using cpu::sum_blocks;

namespace {

/// The device side of y for results, where x is an input that may be the same vector.
double* target_of(const Vector& x, Vector& y, int device) {
  return &x == &y ? y.part(device).update_device() : y.part(device).write_device();
}

}  // namespace

void CpuBackend::fill(Vector& x, double value) {
  require_own(*this, x, "fill");
  for (int d = 0; d < devices(); ++d) {
    DeviceSection section(*memory(d));
    double* px = x.part(d).write_device();
    for_blocks(x.part(d).size(), threads_,
               [=](std::size_t begin, std::size_t end) { std::fill(px + begin, px + end, value); });
  }
}

void CpuBackend::copy(const Vector& x, Vector& y) {
  require_own(*this, x, "copy");
  require_alike(x, y, "copy");
  if (&x == &y) return;
  for (int d = 0; d < devices(); ++d) {
    DeviceSection section(*memory(d));
    const double* px = x.part(d).read_device();
    double* py = y.part(d).write_device();
    for_blocks(owned_entries(x, d), threads_,
               [=](std::size_t begin, std::size_t end) { std::copy(px + begin, px + end, py + begin); });
  }
}

void CpuBackend::scale(double a, Vector& x) {
  require_own(*this, x, "scale");
  for (int d = 0; d < devices(); ++d) {
    DeviceSection section(*memory(d));
    double* px = x.part(d).update_device();
    for_blocks(owned_entries(x, d), threads_, [=](std::size_t begin, std::size_t end) {
#pragma omp simd
      for (std::size_t i = begin; i < end; ++i) px[i] *= a;
    });
  }
}

void CpuBackend::axpy(double a, const Vector& x, Vector& y) {
  require_own(*this, x, "axpy");
  require_alike(x, y, "axpy");
  for (int d = 0; d < devices(); ++d) {
    DeviceSection section(*memory(d));
    const double* px = x.part(d).read_device();
    double* py = y.part(d).update_device();
    for_blocks(owned_entries(x, d), threads_, [=](std::size_t begin, std::size_t end) {
#pragma omp simd
      for (std::size_t i = begin; i < end; ++i) py[i] += a * px[i];
    });
  }
}

void CpuBackend::axpby(double a, const Vector& x, double b, Vector& y) {
  require_own(*this, x, "axpby");
  require_alike(x, y, "axpby");
  for (int d = 0; d < devices(); ++d) {
    DeviceSection section(*memory(d));
    const double* px = x.part(d).read_device();
    // With b = 0 the old y does not matter, be it NaN.
    double* py = b == 0 ? target_of(x, y, d) : y.part(d).update_device();
    for_blocks(owned_entries(x, d), threads_, [=](std::size_t begin, std::size_t end) {
      if (b == 0) {
#pragma omp simd
        for (std::size_t i = begin; i < end; ++i) py[i] = a * px[i];
      } else {
#pragma omp simd
        for (std::size_t i = begin; i < end; ++i) py[i] = a * px[i] + b * py[i];
      }
    });
  }
}

void CpuBackend::multiply(const Vector& d, const Vector& x, Vector& y) {
  require_own(*this, x, "multiply");
  require_alike(x, y, "multiply");
  cpu::require_layout(*x.layout(), d, "multiply");
  const auto columns = static_cast<std::size_t>(x.columns());
  if (d.columns() != 1 && d.columns() != x.columns())
    throw Error(ErrorCode::misuse, "multiply: the factors have " + std::to_string(d.columns()) +
                                       " columns; use one column, or as many as the vector has");
  const bool spread = d.columns() == 1 && columns > 1;
  for (int device = 0; device < devices(); ++device) {
    DeviceSection section(*memory(device));
    const double* pd = d.part(device).read_device();
    const double* px = x.part(device).read_device();
    double* py = &d == &y ? y.part(device).update_device() : target_of(x, y, device);
    for_blocks(owned_entries(x, device), threads_, [=](std::size_t begin, std::size_t end) {
      if (spread) {
        for (std::size_t i = begin; i < end; ++i) py[i] = pd[i / columns] * px[i];
      } else {
#pragma omp simd
        for (std::size_t i = begin; i < end; ++i) py[i] = pd[i] * px[i];
      }
    });
  }
}

double CpuBackend::dot(const Vector& x, const Vector& y) {
  require_own(*this, x, "dot");
  require_alike(x, y, "dot");
  double sum = 0;
  for (int d = 0; d < devices(); ++d) {
    DeviceSection section(*memory(d));
    const double* px = x.part(d).read_device();
    const double* py = y.part(d).read_device();
    sum += sum_blocks(owned_entries(x, d), threads_, [=](std::size_t begin, std::size_t end) {
      return cpu::dot_stretch(px + begin, py + begin, end - begin);
    });
  }
  return sum;
}

double CpuBackend::cg_update(double a, const Vector& p, const Vector& q, Vector& x, Vector& r) {
  require_own(*this, p, "cg_update");
  require_alike(p, q, "cg_update");
  require_alike(p, x, "cg_update");
  require_alike(p, r, "cg_update");
  double sum = 0;
  for (int d = 0; d < devices(); ++d) {
    DeviceSection section(*memory(d));
    const double* pp = p.part(d).read_device();
    const double* pq = q.part(d).read_device();
    double* px = x.part(d).update_device();
    double* pr = r.part(d).update_device();
    sum += sum_blocks(owned_entries(p, d), threads_, [=](std::size_t begin, std::size_t end) {
#pragma omp simd
      for (std::size_t i = begin; i < end; ++i) {
        px[i] += a * pp[i];
        pr[i] -= a * pq[i];
      }
      return cpu::dot_stretch(pr + begin, pr + begin, end - begin);
    });
  }
  return sum;
}

}  // namespace voussoir
