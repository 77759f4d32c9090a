#pragma once
#include <voussoir/backends/cuda/elements/element_kernels.hpp>
#include <voussoir/backends/cuda/runtime/shared_memory.hpp>

// Matrices of point elements, a thread per element or a thread per integration point (FEStudio's levels I, II and IIa).
// No kernel here keeps a whole matrix: entries leave when they are ready.

namespace voussoir::cuda {

namespace detail {

/// Where the entries of an element's matrix go.
struct EntryWriter {
  double* out;
  double factor;
  bool accumulate;
  double finite = 0;  ///< sum of 0 · entry

  __device__ static double* place(const ElementJob& job, int i, int entries) {
    return job.out + static_cast<long long>(i / 32) * entries * 32 + i % 32;
  }
  __device__ void operator()(int entry, double value) {
    finite += 0 * value;
    double& target = out[32ll * entry];
    const double scaled = factor * value;
    target = accumulate ? target + scaled : scaled;
  }
};

template <class K>
VSR_FN constexpr bool streams() {
  if constexpr (requires { typename K::Pieces; })
    return K::Pieces::streams;
  else
    return false;
}
template <class K>
VSR_FN constexpr bool streams_mass() {
  // Its kernels write upper triangles.
  if constexpr (requires { typename K::Pieces; })
    return K::Pieces::has_mass && symmetric_tangent_of<K>();
  else
    return false;
}
/// Whether points can be shared among threads: each must stand alone. Modes, means over the element and hourglass
/// control need all of them.
template <class K>
VSR_FN constexpr bool by_points() {
  if constexpr (requires { typename K::Pieces; })
    return K::Pieces::by_points && K::points <= 32;
  else
    return false;
}

/// Threads of an element whose points are shared among threads: a power of two.
template <class K>
VSR_FN constexpr int point_threads() {
  int n = 1;
  while (n < K::points) n *= 2;
  return n;
}

}  // namespace detail

/// Tangents of elements whose material does not vary within them, a thread per element (level I).
template <class K>
__global__ void __launch_bounds__(128) streamed_tangents(ElementJob job) {
  using namespace detail;
  constexpr int entries = values_of<K, Routine::tangent>();
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= job.count) return;
  const int e = job.first + i;
  DeviceInput<K> in;
  load_element<K>(job.view, e, false, in);
  in.table_rows = 1;
  const double valid = valid_of<K>(job.view, in);
  double health = 1;
  EntryWriter write{EntryWriter::place(job, i, entries), job.factor, job.accumulate != 0};
  if (valid > 0)
    health = K::Pieces::tangent_to(in, [&](int entry, double value) { write(entry, value); });
  else
    leave_zeros(write.out, entries, write.accumulate);
  judge(job.fault, e, valid, health, write.finite);
}

/// Masses, a thread per element.
template <class K, bool lumped>
__global__ void __launch_bounds__(128) streamed_masses(ElementJob job) {
  using namespace detail;
  constexpr int components = K::components, dofs = K::nodes * components, entries = dofs * (dofs + 1) / 2;
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= job.count) return;
  const int e = job.first + i;
  DeviceInput<K> in;
  load_element<K>(job.view, e, false, in);
  const double valid = valid_of<K>(job.view, in);
  double health = 1;
  EntryWriter write{EntryWriter::place(job, i, entries), job.factor, job.accumulate != 0};
  if (valid > 0) {
    if constexpr (lumped) {
      double mass[K::nodes];
      health = K::node_masses(in, mass);
      if (!write.accumulate)
        for (int k = 0; k < entries; ++k) write.out[32ll * k] = 0;
      VSR_UNROLLED
      for (int r = 0; r < dofs; ++r) write(upper_index<dofs>(r, r), mass[r / components]);
    } else {
      health = K::Pieces::mass_pairs(in, [&](int a, int b, double mass) {
        for (int r = 0; r < components; ++r)
          for (int c = 0; c < components; ++c) {
            const int entry = upper_index<dofs>(a * components + r, b * components + c);
            if (r == c)
              write(entry, mass);
            else if (!write.accumulate && (b != a || c > r))
              write.out[32ll * entry] = 0;
          }
      });
    }
  } else {
    leave_zeros(write.out, entries, write.accumulate);
  }
  judge(job.fault, e, valid, health, write.finite);
}

/// Tangents by a thread per integration point, summed by pairs of threads: a block per element (level II) or, with
/// blocks of 32 threads, as many elements as find room there (level IIa).
template <class K>
__global__ void __launch_bounds__(32) point_tangents(ElementJob job) {
  using namespace detail;
  constexpr int entries = values_of<K, Routine::tangent>(), group = point_threads<K>();
  const int lane = static_cast<int>(threadIdx.x), q = lane % group;
  const unsigned all = blockDim.x == 32 ? 0xffffffffu : (1u << group % 32) - 1u;
  const int asked = static_cast<int>(blockIdx.x) * (static_cast<int>(blockDim.x) / group) + lane / group;
  const bool writes = asked < job.count && q == 0;
  const int i = asked < job.count ? asked : job.count - 1, e = job.first + i;
  if (parameter_count_of<K>() > 0 && !job.view.parameters) {  // as valid_of() has it
    if (writes) {
      report(job.fault, e, ElementFault::bad_parameter);
      leave_zeros(EntryWriter::place(job, i, entries), entries, job.accumulate != 0);
    }
    return;
  }
  DeviceInput<K> in;
  load_element<K>(job.view, e, reads_unknowns<K, Routine::tangent>, in);
  const double valid = valid_of<K>(job.view, in);
  EntryWriter write{EntryWriter::place(job, i, entries), job.factor, job.accumulate != 0};
  double health =
      K::Pieces::point_tangent(in, q < K::points ? q : 0, q < K::points ? 1.0 : 0.0, [&](int entry, double value) {
        VSR_UNROLLED
        for (int step = group / 2; step > 0; step /= 2) value += __shfl_xor_sync(all, value, step);
        if (writes) write(entry, value);
      });
  VSR_UNROLLED
  for (int step = group / 2; step > 0; step /= 2) {
    // Not min(): a determinant that is no number must not be lost.
    const double other = __shfl_xor_sync(all, health, step);
    health = !(other > 0) || other < health ? other : health;
  }
  if (writes) judge(job.fault, e, valid, health, write.finite);
}

}  // namespace voussoir::cuda
