#include <voussoir/backends/openmp/dense/cpu_condensation.hpp>

#include <algorithm>
#include <vector>

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/detail/condensed_parts.hpp>
#include <voussoir/backends/openmp/parallel.hpp>

// The same steps as on a GPU, one part per thread: sparse elimination by the multifrontal method does less work on a
// CPU, so that this is used only where it is asked for.

namespace voussoir::cpu {
namespace {

using voussoir::detail::GroupEntries;
using voussoir::detail::PartGroup;

constexpr std::int64_t step = PartGroup::block;

/// LDLᵀ of a diagonal block, in place: D on the diagonal, L D below it. `inverse` becomes L⁻¹.
void factorise_diagonal(double* block, std::int64_t stride, double* inverse, double* pivot) {
  std::fill_n(inverse, step * step, 0.0);
  for (std::int64_t j = 0; j < step; ++j) {
    inverse[j * step + j] = 1;
    const double d = pivot[j] = block[j * stride + j];
    for (std::int64_t i = j + 1; i < step; ++i) {
      const double l = block[j * stride + i] / d;
      for (std::int64_t c = j + 1; c <= i; ++c) block[c * stride + i] -= l * block[j * stride + c];
      for (std::int64_t c = 0; c <= j; ++c) inverse[c * step + i] -= l * inverse[c * step + j];
    }
  }
}

/// C (rows × columns) = C − A Bᵀ with `step` columns of A and B.
void subtract_product(double* c, std::int64_t stride, const double* a, std::int64_t a_stride, const double* b,
                      std::int64_t b_stride, std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t together = 256;  // rows whose columns of A stay in the first cache
  for (std::int64_t first = 0; first < rows; first += together) {
    const std::int64_t some = std::min(together, rows - first);
    for (std::int64_t j = 0; j < columns; ++j) {
      double* const to = c + j * stride + first;
      for (std::int64_t k = 0; k < step; k += 4) {
        const double b0 = b[k * b_stride + j], b1 = b[(k + 1) * b_stride + j], b2 = b[(k + 2) * b_stride + j],
                     b3 = b[(k + 3) * b_stride + j];
        const double* const a0 = a + k * a_stride + first;
        for (std::int64_t i = 0; i < some; ++i)
          to[i] -= (a0[i] * b0 + a0[a_stride + i] * b1) + (a0[2 * a_stride + i] * b2 + a0[3 * a_stride + i] * b3);
      }
    }
  }
}

/// Eliminates the first `interior` columns of a front.
void eliminate_front(double* front, std::int64_t n, std::int64_t interior, double* inverse, double* pivot) {
  std::vector<double> scaled(static_cast<std::size_t>(n * step));  // L D of the rows below a diagonal block
  for (std::int64_t k = 0; k < interior; k += step) {
    double* const invert = inverse + k * step;
    factorise_diagonal(front + k * n + k, n, invert, pivot + k);
    const std::int64_t next = k + step, rows = n - next;
    for (std::int64_t j = 0; j < step; ++j) {
      double* const x = scaled.data() + j * n;
      std::fill_n(x, rows, 0.0);
      for (std::int64_t i = 0; i <= j; ++i) {  // row j of L⁻¹
        const double factor = invert[i * step + j];
        const double* const a = front + (k + i) * n + next;
        for (std::int64_t r = 0; r < rows; ++r) x[r] += factor * a[r];
      }
    }
    for (std::int64_t j = 0; j < step; ++j)
      for (std::int64_t r = 0; r < rows; ++r)
        front[(k + j) * n + next + r] = scaled[static_cast<std::size_t>(j * n + r)] / pivot[k + j];
    for (std::int64_t c = next; c < n; c += step)
      subtract_product(front + c * n + c, n, scaled.data() + (c - next), n, front + k * n + c, n, n - c, step);
  }
  for (std::int64_t j = interior; j < n; ++j)
    for (std::int64_t i = j + 1; i < n; ++i) front[i * n + j] = front[j * n + i];
}

class CpuCondensedParts final : public voussoir::detail::CondensedGroups {
 public:
  using CondensedGroups::CondensedGroups;

 private:
  void eliminate(PartGroup& group, const GroupEntries& entries) const override {
    const DeviceSection section(*backend().memory(group.device));
    const std::int32_t* const own_interior = entries.interior.read_device();
    const std::int64_t* const first_row = entries.first_row.read_device();
    const std::int64_t* const row_start = entries.row_start.read_device();
    const std::int32_t* const column = entries.column.read_device();
    const double* const value = entries.value.read_device();
    double* const fronts = group.front.write_device();
    double* const inverse = group.inverse.write_device();
    double* const pivot = group.pivot.write_device();
    const std::int64_t n = group.height(), interior = group.interior;
    const int threads = backend().threads();
    ExceptionKeeper failures;  // any part may run out of memory
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (std::int64_t m = 0; m < group.count(); ++m)
      failures.guard([&] {
        double* const front = fronts + m * n * n;
        std::fill_n(front, n * n, 0.0);
        const auto at = [&](std::int64_t i) { return i < own_interior[m] ? i : interior + (i - own_interior[m]); };
        for (std::int64_t r = first_row[m]; r < first_row[m + 1]; ++r)
          for (std::int64_t k = row_start[r]; k < row_start[r + 1]; ++k) {
            const std::int64_t i = at(r - first_row[m]), j = at(column[k]);
            front[std::min(i, j) * n + std::max(i, j)] = value[k];
          }
        for (std::int64_t i = own_interior[m]; i < interior; ++i) front[i * n + i] = 1;
        eliminate_front(front, n, interior, inverse + m * interior * step, pivot + m * interior);
      });
    failures.rethrow();
  }

  void forwards(int device, Array<double>& vectors, int columns, bool interior_only) const override {
    const DeviceSection section(*backend().memory(device));
    double* const all = vectors.update_device();
    for (const PartGroup& group : groups())
      if (group.device == device) forwards_in(group, all + group.first_row * columns, columns, interior_only);
  }
  void backwards(int device, Array<double>& vectors, int columns) const override {
    const DeviceSection section(*backend().memory(device));
    double* const all = vectors.update_device();
    for (const PartGroup& group : groups())
      if (group.device == device) backwards_in(group, all + group.first_row * columns, columns);
  }

  /// Of the vectors of one group; within a section of its device.
  void forwards_in(const PartGroup& group, double* all, int columns, bool interior_only) const {
    const double* const fronts = group.front.read_device();
    const double* const inverses = group.inverse.read_device();
    const std::int64_t n = group.height(), rows = interior_only ? group.interior : n;
    const int threads = backend().threads();
#pragma omp parallel for num_threads(threads) schedule(static)
    for (std::int64_t v = 0; v < group.count() * columns; ++v) {
      const std::int64_t m = v / columns;
      double* const x = all + v * n;
      for (std::int64_t k = 0; k < group.interior; k += step) {
        const double* const inverse = inverses + (m * group.interior + k) * step;
        double solved[step] = {};
        for (std::int64_t j = 0; j < step; ++j)
          for (std::int64_t i = j; i < step; ++i) solved[i] += inverse[j * step + i] * x[k + j];
        std::copy_n(solved, step, x + k);
        for (std::int64_t j = 0; j < step; ++j) {
          const double* const l = fronts + m * n * n + (k + j) * n;
          for (std::int64_t r = k + step; r < rows; ++r) x[r] -= l[r] * solved[j];
        }
      }
    }
  }

  void backwards_in(const PartGroup& group, double* all, int columns) const {
    const double* const fronts = group.front.read_device();
    const double* const inverses = group.inverse.read_device();
    const double* const pivots = group.pivot.read_device();
    const std::int64_t n = group.height();
    const int threads = backend().threads();
#pragma omp parallel for num_threads(threads) schedule(static)
    for (std::int64_t v = 0; v < group.count() * columns; ++v) {
      const std::int64_t m = v / columns;
      double* const x = all + v * n;
      for (std::int64_t k = group.interior - step; k >= 0; k -= step) {
        double right[step];
        for (std::int64_t j = 0; j < step; ++j) {
          const double* const l = fronts + m * n * n + (k + j) * n;
          double sum = 0;
          for (std::int64_t r = k + step; r < n; ++r) sum += l[r] * x[r];
          right[j] = x[k + j] / pivots[m * group.interior + k + j] - sum;
        }
        const double* const inverse = inverses + (m * group.interior + k) * step;
        for (std::int64_t j = 0; j < step; ++j) {
          double sum = 0;
          for (std::int64_t i = j; i < step; ++i) sum += inverse[j * step + i] * right[i];
          x[k + j] = sum;
        }
      }
    }
  }

  std::vector<double> copy_complement(const PartGroup& group, std::size_t member, std::int32_t size) const override {
    const DeviceSection section(*backend().memory(group.device));
    const std::int64_t n = group.height();
    const double* const from =
        group.front.read_device() + static_cast<std::int64_t>(member) * n * n + group.interior * n + group.interior;
    std::vector<double> dense;
    for (std::int64_t j = 0; j < size; ++j) dense.insert(dense.end(), from + j * n, from + j * n + size);
    return dense;
  }
};

class CpuCondensation final : public CondensationServices {
 public:
  std::unique_ptr<CondensedParts> condense(Backend& backend, std::span<const PartSystem> systems) override {
    auto made = std::make_unique<CpuCondensedParts>(backend, systems);
    made->eliminate_all(systems);
    return made;
  }
  std::size_t bytes_needed(const Backend& backend, std::span<const std::int32_t> interior,
                           std::span<const std::int32_t> boundary) const override {
    const auto groups = voussoir::detail::group_parts(backend.devices(), interior, boundary);
    return voussoir::detail::group_bytes(groups, backend.devices(), 0);
  }
  bool is_preferred(const Backend&, std::span<const std::int32_t>, std::span<const std::int32_t>) const override {
    return false;
  }
};

}  // namespace

CondensationServices& condensation_services() {
  static CpuCondensation services;
  return services;
}

}  // namespace voussoir::cpu
