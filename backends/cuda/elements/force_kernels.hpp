#pragma once
#include <voussoir/backends/cuda/elements/cluster_kernels.hpp>
#include <voussoir/backends/cuda/elements/force_step.hpp>
#include <voussoir/elements/point/compact_forces.hpp>

// Internal forces of whole clusters of elements: element vectors meet in shared memory, as in products, and elements
// with a history take over the new one in the same pass. nvcc compiles these kernels for the stock elements, NVRTC for
// the elements of users: nothing of the standard library here.

namespace voussoir::cuda {

namespace detail {

template <class K>
VSR_FN constexpr bool has_cluster_forces() {
  return has_tangent<K> && K::nodes * K::components <= most_force_dofs;
}

/// Numbers in shared memory that an element takes: its forces, or what is needed to compute them.
template <class K>
VSR_FN constexpr int force_numbers() {
  constexpr int dofs = K::nodes * K::components, room = CompactForces<K>::room;
  static_assert(room <= most_force_numbers(K::nodes, K::components));
  return room > dofs ? room : dofs;
}

/// The forces of the element at this thread's place, times the factor of the job: put(node, component, force). Returns
/// its health.
template <class K, bool advances, class Unknown, class Scratch, class Put>
__device__ inline double find_forces(const ElementJob& job, DeviceInput<K>& in, const Unknown& unknown,
                                     const Scratch& scratch, double* next, const Put& put) {
  constexpr int dofs = K::nodes * K::components;
  if constexpr (CompactForces<K>::exists) {
    return CompactForces<K>::template compute<advances, double>(
        in, unknown, scratch, job.factor, [&](int k, double value) { next[32ll * k] = value; }, put);
  } else {
#pragma unroll
    for (int k = 0; k < dofs; ++k) in.u[k] = unknown(k / K::components, k % K::components);
    double result[dofs];
    const double health = compute<K, Routine::residual>(job, 0, in, result);
#pragma unroll
    for (int a = 0; a < K::nodes; ++a)
#pragma unroll
      for (int i = 0; i < K::components; ++i) put(a, i, job.factor * result[a * K::components + i]);
    if constexpr (advances) {
      double history[history_numbers_of<K>()];
      K::advance(in, history);
      for (int k = 0; k < history_numbers_of<K>(); ++k) next[32ll * k] = history[k];
    }
    return health;
  }
}

/// The forces of this block's cluster.
template <class K, bool advances>
__device__ inline void add_cluster_forces(ElementJob job, ClusterView view, const ForceStep& step) {
  constexpr int nodes = K::nodes, components = K::components, dofs = nodes * components, words = corner_words(nodes);
  // As they are, but known to the compiler.
  view.size = cluster_size(dofs);
  view.most_nodes &= ~15;
  view.width = 1;
  view.conditions = 0;
  view.dot = nullptr;
  VSR_DYNAMIC_SHARED(double, shared);
  constexpr int numbers = force_numbers<K>();
  const ClusterRoom room(shared, view, numbers, nodes, components, true);
  const int thread = static_cast<int>(threadIdx.x);
  const unsigned place = blockIdx.x * static_cast<unsigned>(view.size) + threadIdx.x;
  ClusterWords corners[words];
#pragma unroll
  for (int w = 0; w < words; ++w)
    corners[w] = load_passing(view.corner + (static_cast<long long>(blockIdx.x) * words + w) * view.size + thread);
  const int record = view.record ? load_passing(view.record + place) : 0;
  load_cluster<nodes, components, true>(view, room);
  __syncthreads();
  if (place < static_cast<unsigned>(view.count)) {
    DeviceInput<K> in;
    job.view.unknowns = nullptr;  // they are in shared memory
    load_clustered<K, true>(job.view, view, place, record, corners, room.position, in);
    in.time = step.clock->time;
    in.time_step = step.clock->step;
    double* next = nullptr;
    if constexpr (history_numbers_of<K>() > 0) {
      next = step.history + static_cast<long long>(place / 32) * history_numbers_of<K>() * 32 + place % 32;
      in.history = next;
    }
    double finite = 0;
    const double health = find_forces<K, advances>(
        job, in,
        [&](int a, int i) -> double {
          // Volatile, so that unknowns are read when they are needed and not kept in registers.
          return *const_cast<const volatile double*>(room.x + i * view.most_nodes + number_of(corners, a));
        },
        [&](int n) -> volatile double& { return room.vectors[n * view.size + thread]; }, next,
        [&](int a, int i, double value) {
          if (a == 0 || !CompactForces<K>::exists) finite += 0 * value;  // of those, one tells of all
          room.vectors[(i * nodes + a) * view.size + thread] = value;
        });
    if (!(health > 0) || !(finite == 0)) judge(job.fault, view.element[place], 1, health, finite);
  }
  __syncthreads();
  sum_nodes<components>(view, room, nodes);
}

}  // namespace detail

/// factor · internal forces of the elements of clusters at the unknowns view.x, summed to nodes; with `advances` the
/// new history as well. For parameters that do not depend on temperature. Dynamic shared memory:
/// ClusterPlan::force_bytes(force_numbers<K>()).
template <class K, bool advances>
__global__ void __launch_bounds__(128, detail::CompactForces<K>::blocks)
    cluster_forces(ElementJob job, ClusterView view, ForceStep step) {
  detail::add_cluster_forces<K, advances>(job, view, step);
}

}  // namespace voussoir::cuda
