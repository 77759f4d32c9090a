#pragma once
#include <voussoir/backends/cuda/elements/cluster_points.hpp>
#include <voussoir/elements/point/point_tensors.hpp>

// Products of tangents that are stored at the points of elements (elements/point/point_tensors.hpp). Threads of a
// cluster share first the points of a few elements at a time: slots in, forces out, to shared memory; and then the
// nodes of these elements, as in cluster_points.hpp. Each tensor is read once, by a thread of its own.
//
// Number k of point q of the element at place i of cluster c is at ((c · points + q) · numbers + k) · size + i.

namespace voussoir::cuda {

namespace detail {

/// How threads share the elements of a cluster.
template <class K>
struct KeptShares {
  using Tensors = typename K::Tensors;
  static constexpr int threads = 128;
  static constexpr int elements = K::points >= 8 ? 16 : K::points >= 3 ? 32 : 64;  ///< at a time
  static constexpr int nodes_at_once = 2;                                          ///< of a thread
  static constexpr int node_groups = (K::nodes + nodes_at_once - 1) / nodes_at_once;
  static constexpr int forces = Tensors::slots;  ///< numbers of a point
  static constexpr int bytes = 8 * elements * K::points * forces;
  static constexpr bool judged = false;  ///< tensors have been judged when they were stored

  /// The force of a flow at point q on node a: reads a number with flow(slot) and adds to sum[component].
  template <class Flow>
  __device__ static inline void add(int q, const int (&node)[nodes_at_once], const Flow& flow,
                                    double (&sum)[nodes_at_once][K::components]) {
#pragma unroll
    for (int i = 0; i < K::components; ++i) {
#pragma unroll
      for (int m = 0; m < K::dim; ++m) {
        const double force = flow(i * K::dim + m);
#pragma unroll
        for (int r = 0; r < nodes_at_once; ++r) sum[r][i] += Tensors::reference_slope(q, node[r], m) * force;
      }
      if constexpr (Tensors::values) {
        const double force = flow(Tensors::derivatives + i);
#pragma unroll
        for (int r = 0; r < nodes_at_once; ++r) sum[r][i] += Tensors::shape_value(q, node[r]) * force;
      }
    }
  }
};

/// The forces at point q of the element at a place, to `flow`: slot s at (q · forces + s) · elements.
template <class K>
__device__ inline void multiply_tensor(const ClusterView& view, const ClusterRoom& room, int element, int q,
                                       const double* tensors, double* flow) {
  using S = KeptShares<K>;
  using Tensors = typename K::Tensors;
  constexpr int words = corner_words(K::nodes);
  const unsigned place = blockIdx.x * static_cast<unsigned>(view.size) + static_cast<unsigned>(element);
  if (place >= static_cast<unsigned>(view.count)) return;
  const double* const tensor =
      tensors + (static_cast<long long>(blockIdx.x) * K::points + q) * Tensors::numbers * view.size + element;
  ClusterWords corners[words];
#pragma unroll
  for (int w = 0; w < words; ++w)
    corners[w] = view.corner[(static_cast<long long>(blockIdx.x) * words + w) * view.size + element];
  double slot[Tensors::slots], force[Tensors::slots];
  Tensors::clear(slot);
#pragma unroll
  for (int a = 0; a < K::nodes; ++a) {
    const int n = number_of(corners, a);
    Tensors::add_slots(
        q, a, [&](int i) { return room.x[i * view.most_nodes + n]; }, slot);
  }
  Tensors::multiply([&](int at) { return load_passing(tensor + static_cast<long long>(at) * view.size); }, slot, force);
#pragma unroll
  for (int s = 0; s < Tensors::slots; ++s) flow[(q * S::forces + s) * S::elements] = force[s];
}

}  // namespace detail

/// Stores the tensors of all elements of a batch: a thread per element and point, in the order of the clusters.
template <class K>
__global__ void __launch_bounds__(128) keep_tensors(ElementJob job, ClusterView view) {
  using namespace detail;
  using Tensors = typename K::Tensors;
  const int size = cluster_size(K::nodes * K::components);
  const long long index = static_cast<long long>(blockIdx.x) * 128 + threadIdx.x;
  const int i = static_cast<int>(index % size), q = static_cast<int>(index / size % K::points);
  const long long cluster = index / (static_cast<long long>(size) * K::points), place = cluster * size + i;
  if (place >= view.count) return;
  const int e = view.element[place];
  double* const out = job.out + (cluster * K::points + q) * Tensors::numbers * size + i;
  if (parameter_count_of<K>() > 0 && !job.view.parameters) {
    report(job.fault, e, ElementFault::bad_parameter);
    for (int k = 0; k < Tensors::numbers; ++k) out[static_cast<long long>(k) * size] = 0;
    return;
  }
  DeviceInput<K> in;
  load_element<K>(job.view, e, !linear_of<K>(), in);
  double finite = 0;
  const double health = Tensors::tensors(in, q, K::points, [&](int, int at, double value) {
    finite += 0 * value;
    out[static_cast<long long>(at) * size] = value;
  });
  judge(job.fault, e, valid_of<K>(job.view, in), health, finite);
}

/// factor · tangent · x of the elements of clusters, summed to nodes, for one column. Dynamic shared memory:
/// `own_numbers` doubles that hold ClusterPlan::shared_bytes(false), and KeptShares::bytes.
template <class K>
__global__ void __launch_bounds__(detail::KeptShares<K>::threads, 3)
    cluster_tensor_action(ElementJob job, ClusterView view, const double* tensors, int own_numbers) {
  using namespace detail;
  using S = KeptShares<K>;
  constexpr int nodes = K::nodes, components = K::components;
  view.size = cluster_size(nodes * components);
  view.most_nodes &= ~15;
  view.width = 1;
  VSR_DYNAMIC_SHARED(double, shared);
  const ClusterRoom room(shared, view, nodes * components, nodes, components, false);
  double* const flow = shared + own_numbers;
  const int thread = static_cast<int>(threadIdx.x);
  load_nodes<K, S::threads, false>(view, room);
  __syncthreads();
#pragma unroll 1
  for (int first = 0; first < view.size; first += S::elements) {
#pragma unroll 1
    for (int task = thread; task < S::elements * K::points; task += S::threads)
      multiply_tensor<K>(view, room, first + task % S::elements, task / S::elements, tensors,
                         flow + task % S::elements);
    __syncthreads();
#pragma unroll 1
    for (int task = thread; task < S::elements * S::node_groups; task += S::threads)
      sum_flow<K, S>(job, view, room, first + task % S::elements, task / S::elements, flow + task % S::elements);
    __syncthreads();
  }
  sum_nodes<components>(view, room, nodes, 0, S::threads);
}

}  // namespace voussoir::cuda
