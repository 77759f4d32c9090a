#pragma once
#include <voussoir/backends/cuda/elements/cluster_kernels.hpp>

// Products of clusters of large elements, whose vectors would not stay in the registers of one thread. Threads share
// first the points of a few elements at a time, a few points each: gradients of x in, forces in the directions of the
// cell out, to shared memory; and then the nodes of these elements, which sum the forces over all points. For one
// column, and laws that are the same at all points of an element.

namespace voussoir::cuda {

namespace detail {

/// How threads share the elements of a cluster.
template <class K>
struct PointShares {
  static constexpr int threads = 160;
  static constexpr int elements = 16;  ///< at a time
  static constexpr int at_once = 3;    ///< points of a thread
  static constexpr int groups = (K::points + at_once - 1) / at_once;
  static constexpr int nodes_at_once = 2;  ///< of a thread
  static constexpr int node_groups = (K::nodes + nodes_at_once - 1) / nodes_at_once;
  static constexpr int forces = K::components * K::dim;  ///< numbers of a point
  static constexpr int bytes = 8 * elements * K::points * forces;
  static constexpr bool judged = true;  ///< sums are judged: nothing has looked at these forces before

  /// Adds the force of a point on some nodes: flow(component · dim + direction) is that of point q.
  template <class Flow>
  __device__ static inline void add(int q, const int (&node)[nodes_at_once], const Flow& flow,
                                    double (&sum)[nodes_at_once][K::components]) {
#pragma unroll
    for (int m = 0; m < K::dim; ++m) {
      double slope[nodes_at_once];
#pragma unroll
      for (int r = 0; r < nodes_at_once; ++r) slope[r] = K::Pieces::reference_slope(q, node[r], m);
#pragma unroll
      for (int i = 0; i < K::components; ++i) {
        const double force = flow(i * K::dim + m);
#pragma unroll
        for (int r = 0; r < nodes_at_once; ++r) sum[r][i] += slope[r] * force;
      }
    }
  }
};

template <class K>
VSR_FN constexpr bool has_point_products() {
  if constexpr (requires { requires K::Pieces::point_products; })
    return true;
  else
    return false;
}

/// load_cluster() for a block of any number of threads.
template <class K, int threads, bool positions>
__device__ inline void load_nodes(const ClusterView& view, const ClusterRoom& room) {
  const int thread = static_cast<int>(threadIdx.x), words = K::nodes * view.size / 8;
  const ClusterWords* incidence = view.incidence + static_cast<long long>(blockIdx.x) * words;
  for (int k = thread; k < words; k += threads) room.incidence[k] = load_passing(incidence + k);
  const int count = view.node_count[blockIdx.x];
  after_earlier_work();
  // The place after the last node says where the last incidences end.
  for (int n = thread; n <= count; n += threads) {
    LoadedNode<K::components, positions> own;
    own.load(view, n);
    own.load_x(view);
    own.put(view, n, room);
  }
  if (thread == 0) *room.node_count = static_cast<unsigned>(count);
}

/// The forces at some points of the element at a place, to `flow`: component · dim + direction of point q at
/// (q · forces + …) · elements.
template <class K>
__device__ inline void visit_flow(const ElementJob& job, const ClusterView& view, const ClusterRoom& room, int element,
                                  int group, double* flow) {
  using S = PointShares<K>;
  using Pieces = typename K::Pieces;
  constexpr int nodes = K::nodes, components = K::components, dim = K::dim, words = corner_words(nodes);
  const unsigned place = blockIdx.x * static_cast<unsigned>(view.size) + static_cast<unsigned>(element);
  if (place >= static_cast<unsigned>(view.count)) return;
  ClusterWords corners[words];
#pragma unroll
  for (int w = 0; w < words; ++w)
    corners[w] = view.corner[(static_cast<long long>(blockIdx.x) * words + w) * view.size + element];
  double jacobian[S::at_once][dim][dim] = {}, change[S::at_once][components][dim] = {};
#pragma unroll
  for (int a = 0; a < nodes; ++a) {
    const int n = number_of(corners, a);
    double x[dim], u[components];
#pragma unroll
    for (int k = 0; k < dim; ++k) x[k] = room.position[k * view.most_nodes + n];
#pragma unroll
    for (int i = 0; i < components; ++i) u[i] = room.x[i * view.most_nodes + n];
#pragma unroll
    for (int r = 0; r < S::at_once; ++r) {
      const int q = group + r * S::groups;
#pragma unroll
      for (int m = 0; m < dim; ++m) {
        const double slope = Pieces::reference_slope(q < K::points ? q : K::points - 1, a, m);
#pragma unroll
        for (int k = 0; k < dim; ++k) jacobian[r][m][k] += slope * x[k];
#pragma unroll
        for (int i = 0; i < components; ++i) change[r][i][m] += slope * u[i];
      }
    }
  }
  const long long record = view.record ? view.record[place] : 0;
  const double* const parameters = job.view.parameters + record * (parameter_count_of<K>() + 1) + 1;
  double own[Pieces::room_for_numbers];
  Pieces::prepare_law(parameters, own);
#pragma unroll
  for (int r = 0; r < S::at_once; ++r) {
    const int q = group + r * S::groups;
    if (q >= K::points) break;
    double force[components][dim];
    const double health = Pieces::flow_at(parameters, own, q, jacobian[r], change[r], force);
    if (!(health > 0)) judge(job.fault, view.element[place], 1, health, 0);
#pragma unroll
    for (int i = 0; i < components; ++i)
#pragma unroll
      for (int m = 0; m < dim; ++m) flow[(q * S::forces + i * dim + m) * S::elements] = force[i][m];
  }
}

/// The forces on some nodes of the element at a place, to its vector: node `first` and those `node_groups` further on.
/// What is read of the points serves all of them. S says how threads share the work, and what a point adds to a node.
template <class K, class S>
__device__ inline void sum_flow(const ElementJob& job, const ClusterView& view, const ClusterRoom& room, int element,
                                int first, const double* flow) {
  constexpr int components = K::components, at_once = S::nodes_at_once;
  const unsigned place = blockIdx.x * static_cast<unsigned>(view.size) + static_cast<unsigned>(element);
  if (place >= static_cast<unsigned>(view.count)) return;
  int node[at_once];
#pragma unroll
  for (int r = 0; r < at_once; ++r) {
    const int a = first + r * S::node_groups;
    node[r] = a < K::nodes ? a : K::nodes - 1;
  }
  double sum[at_once][components] = {};
#pragma unroll 3
  for (int q = 0; q < K::points; ++q)
    S::add(
        q, node, [&](int number) { return flow[(q * S::forces + number) * S::elements]; }, sum);
  double finite = 0;
#pragma unroll
  for (int r = 0; r < at_once; ++r) {
    const int a = first + r * S::node_groups;
    if (a >= K::nodes) break;
#pragma unroll
    for (int i = 0; i < components; ++i) {
      finite += 0 * sum[r][i];
      room.vectors[(i * K::nodes + a) * view.size + element] = job.factor * sum[r][i];
    }
  }
  if constexpr (S::judged)
    if (!(finite == 0)) judge(job.fault, view.element[place], 1, 1, finite);
}

}  // namespace detail

/// cluster_action() of large elements. Dynamic shared memory: ClusterPlan::action_bytes(1), of which `own_numbers`
/// doubles are the first multiple of a double that holds it, and PointShares::bytes.
template <class K>
__global__ void __launch_bounds__(detail::PointShares<K>::threads, 2)
    cluster_point_action(ElementJob job, ClusterView view, int own_numbers) {
  using namespace detail;
  using S = PointShares<K>;
  constexpr int nodes = K::nodes, components = K::components;
  view.size = cluster_size(nodes * components);
  view.most_nodes &= ~15;
  view.width = 1;
  VSR_DYNAMIC_SHARED(double, shared);
  const ClusterRoom room(shared, view, nodes * components, nodes, components, true);
  double* const flow = shared + own_numbers;
  const int thread = static_cast<int>(threadIdx.x);
  load_nodes<K, S::threads, true>(view, room);
  __syncthreads();
#pragma unroll 1
  for (int first = 0; first < view.size; first += S::elements) {
    for (int task = thread; task < S::elements * S::groups; task += S::threads)
      visit_flow<K>(job, view, room, first + task % S::elements, task / S::elements, flow + task % S::elements);
    __syncthreads();
    for (int task = thread; task < S::elements * S::node_groups; task += S::threads)
      sum_flow<K, S>(job, view, room, first + task % S::elements, task / S::elements, flow + task % S::elements);
    __syncthreads();
  }
  sum_nodes<components>(view, room, nodes, 0, S::threads);
}

}  // namespace voussoir::cuda
