#pragma once
#include <voussoir/backends/cuda/elements/cluster_view.hpp>
#include <voussoir/backends/cuda/elements/element_kernels.hpp>
#include <voussoir/backends/cuda/runtime/early_start.hpp>
#include <voussoir/backends/cuda/runtime/shared_memory.hpp>

// Products of whole clusters of elements: element vectors meet in shared memory and never leave the chip. nvcc compiles
// them for the stock elements, NVRTC for the elements of users: nothing of the standard library here.

namespace voussoir::cuda {

namespace detail {

/// Shared memory of a cluster: vectors of its elements, x (a column after another) and, where wanted, positions at its
/// nodes, then what the sums need. Within each, values of neighbouring nodes or elements stand side by side.
struct ClusterRoom {
  double* vectors;
  double* x;
  double* position;
  ClusterWords* incidence;
  ClusterNode* node;
  unsigned* first;
  unsigned* node_count;
  __device__ ClusterRoom(double* room, const ClusterView& view, int vectors_per_element, int nodes, int x_per_node,
                         bool positions)
      : vectors(room),
        x(vectors + vectors_per_element * view.size),
        position(x + x_per_node * view.most_nodes),
        incidence(reinterpret_cast<ClusterWords*>(position + (positions ? 3 * view.most_nodes : 0))),
        node(reinterpret_cast<ClusterNode*>(incidence + nodes * view.size / 8)),
        first(reinterpret_cast<unsigned*>(node + view.most_nodes)),
        node_count(first + view.most_nodes) {}
};

/// Number a of those of an element; known when it is compiled, so that nothing is indexed.
__device__ inline int number_of(const ClusterWords* words, int a) {
  const unsigned word = words[a / 8].words[a % 8 / 2];
  return static_cast<int>(a % 2 ? word >> 16 : word & 0xffffu);
}
/// What a plan says passes through once in a product: the caches had better keep the vectors.
template <class T>
__device__ inline T load_passing(const T* p) {
#if defined(__CUDA_ARCH__)
  return __ldcs(p);
#else
  return *p;
#endif
}
__device__ inline ClusterWords load_passing(const ClusterWords* p) {
#if defined(__CUDA_ARCH__)
  const uint4 all = __ldcs(reinterpret_cast<const uint4*>(p));
  return {{all.x, all.y, all.z, all.w}};
#else
  return *p;
#endif
}
__device__ inline ClusterNode load_passing(const ClusterNode* p) {
#if defined(__CUDA_ARCH__)
  const int2 both = __ldcs(reinterpret_cast<const int2*>(p));
  return {both.x, both.y};
#else
  return *p;
#endif
}

/// Words that the nodes of an element take.
VSR_FN constexpr int corner_words(int nodes) { return (nodes + 7) / 8; }

/// What is loaded of a node.
template <int components, bool positions>
struct LoadedNode {
  ClusterNode node;
  unsigned first;
  double x[components];
  double position[3];

  /// Loads that wait for nothing. Beyond the room of a cluster its last place stands in, which has no node: loads
  /// without a condition can all be on their way at once.
  __device__ inline void load(const ClusterView& view, int n) {
    const long long before = static_cast<long long>(blockIdx.x) * view.most_nodes;
    const int at = n < view.most_nodes ? n : view.most_nodes - 1;
    node = load_passing(view.node + before + at);
    first = load_passing(view.first + before + at);
    if constexpr (positions) {
#pragma unroll
      for (int k = 0; k < 3; ++k) position[k] = load_passing(view.position + 3 * before + k * view.most_nodes + at);
    }
  }
  /// Those that wait for the equation; where there is none, the first numbers of x stand in.
  __device__ inline void load_x(const ClusterView& view) {
    const unsigned constrained = view.conditions ? first >> 16 : 0u;
    const bool is = node.equation >= 0;
    const double* from = view.x + static_cast<long long>(is ? node.equation : 0) * view.x_columns + view.x_column;
#pragma unroll
    for (int i = 0; i < components; ++i) x[i] = from[static_cast<long long>(i) * view.x_columns];
#pragma unroll
    for (int i = 0; i < components; ++i)
      if (!is || (constrained >> i & 1u)) x[i] = 0;
  }
  __device__ inline void put(const ClusterView& view, int n, const ClusterRoom& room) const {
    if (n >= view.most_nodes) return;
    room.node[n] = node;
    room.first[n] = first;
#pragma unroll
    for (int i = 0; i < components; ++i) room.x[i * view.most_nodes + n] = x[i];
    if constexpr (positions) {
#pragma unroll
      for (int k = 0; k < 3; ++k) room.position[k * view.most_nodes + n] = position[k];
    }
  }
};

/// Brings the nodes of this block's cluster to shared memory: x, positions where wanted, and what sum_nodes() needs.
/// Kernels may have been launched early: the plan has long been there, but x may be in the making. `nodes`
/// are those of an element; 0: `any_nodes`, which only the run knows.
template <int nodes, int components, bool positions>
__device__ inline void load_cluster(const ClusterView& view, const ClusterRoom& room, int any_nodes = nodes) {
  // Two nodes per thread are on their way at once: most clusters have no more.
  constexpr int at_once = 2, lists = corner_words(nodes);
  const int thread = static_cast<int>(threadIdx.x);
  const int words = (nodes > 0 ? nodes : any_nodes) * view.size / 8;
  const ClusterWords* incidence = view.incidence + static_cast<long long>(blockIdx.x) * words;
  ClusterWords list[lists > 0 ? lists : 1];
#pragma unroll
  for (int l = 0; l < lists; ++l)
    if (8 * (l + 1) <= nodes || thread + l * view.size < words)
      list[l] = load_passing(incidence + thread + l * view.size);
  const int count = view.node_count[blockIdx.x];
  LoadedNode<components, positions> own[at_once];
#pragma unroll
  for (int r = 0; r < at_once; ++r) own[r].load(view, thread + r * view.size);
  after_earlier_work();
#pragma unroll
  for (int r = 0; r < at_once; ++r) own[r].load_x(view);
#pragma unroll
  for (int l = 0; l < lists; ++l)
    if (8 * (l + 1) <= nodes || thread + l * view.size < words) room.incidence[thread + l * view.size] = list[l];
  if constexpr (nodes == 0)
    for (int k = thread; k < words; k += view.size) room.incidence[k] = incidence[k];
#pragma unroll
  for (int r = 0; r < at_once; ++r) own[r].put(view, thread + r * view.size, room);
    // The place after the last node says where the last incidences end.
#pragma unroll 1
  for (int n = thread + at_once * view.size; n <= count; n += view.size) {
    own[0].load(view, n);
    own[0].load_x(view);
    own[0].put(view, n, room);
  }
  if (thread == 0) *room.node_count = static_cast<unsigned>(count);
}

/// Brings x of a further column to the nodes that load_cluster() brought: each thread has the nodes that it had there.
template <int components>
__device__ inline void load_column(const ClusterView& view, const ClusterRoom& room, int column) {
  const int count = view.node_count[blockIdx.x];
  double* x = room.x + column * components * view.most_nodes;
  for (int n = static_cast<int>(threadIdx.x); n < count; n += view.size) {
    const long long equation = room.node[n].equation;
    if (equation < 0) continue;  // nobody's number
    const unsigned constrained = view.conditions ? room.first[n] >> 16 : 0u;
    const double* from = view.x + column * view.x_step + equation * view.x_columns + view.x_column;
#pragma unroll
    for (int i = 0; i < components; ++i)
      x[i * view.most_nodes + n] = constrained >> i & 1u ? 0 : from[static_cast<long long>(i) * view.x_columns];
  }
}

/// The same for all further columns of the view, with all numbers of a node on their way at once.
template <int components>
__device__ inline void load_columns(const ClusterView& view, const ClusterRoom& room) {
  const int count = view.node_count[blockIdx.x];
#pragma unroll 1
  for (int n = static_cast<int>(threadIdx.x); n < count; n += view.size) {
    const unsigned constrained = view.conditions ? room.first[n] >> 16 : 0u;
    if (room.node[n].equation < 0) continue;  // nobody's number
    const double* from =
        view.x + static_cast<long long>(room.node[n].equation) * view.x_columns + view.x_column + view.x_step;
    double x[most_cluster_columns - 1][components];
#pragma unroll
    for (int w = 0; w < most_cluster_columns - 1; ++w)
#pragma unroll
      for (int i = 0; i < components; ++i)
        x[w][i] = w + 1 < view.width ? from[w * view.x_step + static_cast<long long>(i) * view.x_columns] : 0;
#pragma unroll
    for (int w = 0; w < most_cluster_columns - 1; ++w)
#pragma unroll
      for (int i = 0; i < components; ++i)
        if (w + 1 < view.width)
          room.x[((w + 1) * components + i) * view.most_nodes + n] = constrained >> i & 1u ? 0 : x[w][i];
  }
}

/// Kernels with an action for few registers say so (elements/point/point_element.hpp).
template <class K>
VSR_FN constexpr bool has_compact_action_of() {
  if constexpr (requires { bool(K::has_compact_action); })
    return K::has_compact_action;
  else
    return false;
}
template <class K>
inline constexpr bool has_compact_action = has_compact_action_of<K>();

/// Puts the vector of this thread's element where the nodes look for it.
template <int nodes, int components>
__device__ inline void keep_vector(const ClusterView& view, double factor, const double* vector,
                                   const ClusterRoom& room) {
#pragma unroll
  for (int a = 0; a < nodes; ++a)
#pragma unroll
    for (int i = 0; i < components; ++i)
      room.vectors[(i * nodes + a) * view.size + static_cast<int>(threadIdx.x)] = factor * vector[a * components + i];
}

/// Sum over the block, in thread 0; `room` holds a number per warp.
__device__ inline double sum_cluster(double value, double* room) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
  if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = value;
  __syncthreads();
  double sum = 0;
  if (threadIdx.x == 0)
    for (int w = 0; w < static_cast<int>(blockDim.x) / 32; ++w) sum += room[w];
  return sum;
}

/// Every node of the cluster adds up what its elements have for it, in ascending order. All threads call. `column` is
/// counted from the first that is done; there are vectors of `columns` from it on, those of the product that is.
/// `threads` are those of the block; 0: as many as a cluster has elements.
template <int components, int columns = 1>
__device__ inline void sum_nodes(const ClusterView& view, const ClusterRoom& room, int nodes, int column = 0,
                                 int threads = 0) {
  const int step = threads > 0 ? threads : view.size;
  const int count = static_cast<int>(*room.node_count), stride = nodes * view.size;
  const ClusterNumber* incidence = reinterpret_cast<const ClusterNumber*>(room.incidence);
  const auto is = [&](int w) { return w == 0 || column + w < view.width; };
  double dot[columns];
#pragma unroll
  for (int w = 0; w < columns; ++w) dot[w] = 0;
  for (int n = static_cast<int>(threadIdx.x); n < count; n += step) {
    const ClusterNode node = room.node[n];
    if (node.target == ClusterNode::nowhere) continue;
    const unsigned first = room.first[n], begin = first & 0xffffu, end = room.first[n + 1] & 0xffffu;
    double sum[columns][components];
#pragma unroll
    for (int w = 0; w < columns; ++w)
#pragma unroll
      for (int i = 0; i < components; ++i) sum[w][i] = 0;
#pragma unroll 4
    for (unsigned k = begin; k < end; ++k) {
      const double* vector = room.vectors + incidence[k];
#pragma unroll
      for (int w = 0; w < columns; ++w)
#pragma unroll
        for (int i = 0; i < components; ++i) sum[w][i] += vector[(w * components + i) * stride];
    }
    const long long equation = node.equation;
    const unsigned constrained = view.conditions ? first >> 16 : 0u;
#pragma unroll
    for (int w = 0; w < columns; ++w) {
      if (!is(w)) break;
      const int own = column + w;
      if (node.target >= 0 && view.partial) {
        double* partial =
            view.partial + own * view.partial_step + static_cast<long long>(node.target) * view.partial_components;
#pragma unroll
        for (int i = 0; i < components; ++i) partial[i] = sum[w][i];
        for (int i = components; i < view.partial_components; ++i) partial[i] = 0;
      } else if (node.target >= 0) {
#pragma unroll
        for (int i = 0; i < components; ++i)
          if (!(constrained >> i & 1u))
            atomicAdd(view.y + (equation + i) * view.columns + view.column + own, sum[w][i]);
      } else {
#pragma unroll
        for (int i = 0; i < components; ++i) {
          double x = room.x[(own * components + i) * view.most_nodes + n];
          if (constrained >> i & 1u)
            sum[w][i] = x = view.x[own * view.x_step + (equation + i) * view.x_columns + view.x_column];
          view.y[(equation + i) * view.columns + view.column + own] = sum[w][i];
          dot[w] += x * sum[w][i];
        }
      }
    }
  }
  if (!view.dot) return;
  __syncthreads();  // x and the vectors have been read
#pragma unroll
  for (int w = 0; w < columns; ++w) {
    if (!is(w)) break;
    const double total = sum_cluster(dot[w], room.x + (column + w) * components * view.most_nodes);
    if (threadIdx.x == 0) view.dot[(column + w) * view.dot_step + static_cast<int>(blockIdx.x)] = total;
  }
}

/// Reads the data of the element at a place whose nodes lie in shared memory. `plain`: its parameters do not depend on
/// temperature.
template <class K, bool plain>
__device__ inline void load_clustered(const ElementView& view, const ClusterView& clusters, unsigned place, int record,
                                      const ClusterWords* corners, const double* position, DeviceInput<K>& in) {
#pragma unroll
  for (int a = 0; a < K::nodes; ++a)
#pragma unroll
    for (int k = 0; k < 3; ++k) in.x[a][k] = position[k * clusters.most_nodes + number_of(corners, a)];
  const bool with_unknowns = !linear_of<K>() && view.unknowns;
  const int* nodes = nullptr;
  const bool with_temperature = view.temperature || view.initial_temperature;
  if (with_unknowns || with_temperature)
    nodes = view.nodes + static_cast<long long>(clusters.element[place]) * K::nodes;
  for (int a = 0; a < K::nodes; ++a) {
    if (with_unknowns) {
      const double* u = view.unknowns + view.first_unknown[nodes[a]];
      for (int c = 0; c < K::components; ++c) in.u[a * K::components + c] = u[c];
    } else {
      for (int c = 0; c < K::components; ++c) in.u[a * K::components + c] = 0;
    }
    if (with_temperature)
      load_temperature(view, nodes[a], in.initial_temperature[a], in.temperature[a]);
    else
      in.initial_temperature[a] = in.temperature[a] = view.start_temperature;
  }
  in.expansion_reference = view.expansion_reference;
  in.has_temperature = with_temperature;
  in.table_rows = plain ? 1 : view.table_rows;
  in.table = view.parameters + static_cast<long long>(record) * in.table_rows * (parameter_count_of<K>() + 1);
  load_history<K>(view, history_numbers_of<K>() > 0 ? static_cast<int>(clusters.element[place]) : 0, in);
}

/// What an element gives for columns that are done together: kept by its thread until it is summed.
template <class K, int columns>
struct ActionResults {
  static constexpr int dofs = K::nodes * K::components;
  double value[columns * dofs];

  /// x(w, a, i) is component i at node a in column w. Returns the element's health.
  template <int room, class X, class Scratch>
  __device__ inline double compute(const DeviceInput<K>& in, const X& x, const Scratch&) {
    if constexpr (requires { K::template actions<columns>(in, columns, x, value); }) {
      return K::template actions<columns>(in, columns, x, value);
    } else {
      double du[dofs], health = 1;
      if constexpr (requires { K::action(in, du, value); }) {
#pragma unroll 1
        for (int w = 0; w < columns; ++w) {
          spread(x, w, du);
          health = K::action(in, du, value + w * dofs);
        }
      } else {
        constexpr bool symmetric = symmetric_tangent_of<K>();
        double matrix[tangent_entries(dofs, symmetric)];
        health = K::tangent(in, matrix);
#pragma unroll 1
        for (int w = 0; w < columns; ++w) {
          spread(x, w, du);
          multiply_tangent<double, dofs, symmetric>(matrix, du, value + w * dofs);
        }
      }
      return health;
    }
  }
  template <class Put>
  __device__ inline void forces(int w, const Put& put) const {
#pragma unroll
    for (int a = 0; a < K::nodes; ++a)
#pragma unroll
      for (int i = 0; i < K::components; ++i) put(a, i, value[w * dofs + a * K::components + i]);
  }

 private:
  template <class X>
  __device__ static inline void spread(const X& x, int w, double (&du)[dofs]) {
#pragma unroll
    for (int a = 0; a < K::nodes; ++a)
#pragma unroll
      for (int i = 0; i < K::components; ++i) du[a * K::components + i] = x(w, a, i);
  }
};
/// The same by an action for few registers.
template <class K, int columns>
struct CompactResults {
  typename K::template CompactFlow<double> flow[columns];

  template <int room, class X, class Scratch>
  __device__ inline double compute(const DeviceInput<K>& in, const X& x, const Scratch& scratch) {
    return K::template compact_actions<room>(in, x, scratch, flow);
  }
  template <class Put>
  __device__ inline void forces(int w, const Put& put) const {
    flow[w].forces(put);
  }
};
template <class K, bool compact, int columns>
struct ResultsOf {
  using type = ActionResults<K, columns>;
};
template <class K, int columns>
struct ResultsOf<K, true, columns> {
  using type = CompactResults<K, columns>;
};

/// Blocks of threads that a multiprocessor is meant to hold where a column is done alone: three need a compact action
/// that keeps no sums besides its flow.
template <class K, bool plain>
VSR_FN constexpr int blocks_at_once() {
  if constexpr (plain && has_compact_action<K>)
    return K::keeps_basis ? 2 : 3;
  else
    return 1;
}

/// Columns of which a thread keeps the results of its element at once: as many as its registers hold, or all where
/// they lie in its memory anyway.
template <class K, bool compact>
VSR_FN constexpr int columns_together() {
  if constexpr (compact)
    return K::keeps_basis ? 1 : 2;
  else if constexpr (requires { requires !K::keeps_basis; })
    return K::nodes <= 8 && K::nodes * K::components <= 12 ? 4 : 2;
  else
    return 4;
}

/// The product of this block's cluster, for one column or for `many`, of which `together` are done at a time.
template <class K, bool compact, bool plain, bool many, int together>
__device__ inline void multiply_cluster(const ElementJob& job, ClusterView view) {
  constexpr int nodes = K::nodes, components = K::components, dofs = nodes * components, words = corner_words(nodes);
  // As they are, but known to the compiler.
  view.size = cluster_size(dofs);
  view.most_nodes &= ~15;
  if (!many) view.width = 1;
  VSR_DYNAMIC_SHARED(double, shared);
  constexpr int vectors = cluster_vectors(dofs, many ? 2 : 1), kept = vectors < together ? vectors : together;
  const ClusterRoom room(shared, view, vectors * dofs, nodes, view.width * components, true);
  const int thread = static_cast<int>(threadIdx.x);
  const unsigned place = blockIdx.x * static_cast<unsigned>(view.size) + threadIdx.x;
  ClusterWords corners[words];
#pragma unroll
  for (int w = 0; w < words; ++w)
    corners[w] = load_passing(view.corner + (static_cast<long long>(blockIdx.x) * words + w) * view.size + thread);
  const int record = view.record ? load_passing(view.record + place) : 0;
  load_cluster<nodes, components, true>(view, room);
  if constexpr (many) load_columns<components>(view, room);
  __syncthreads();
#pragma unroll 1
  for (int first = 0; first < view.width; first += together) {
    if (first > 0) __syncthreads();  // the vectors of the column before have been read
    typename ResultsOf<K, compact, together>::type results;
    const auto keep = [&](int from, double health) {
      double finite = 0;
#pragma unroll
      for (int w = 0; w < kept; ++w)
        results.forces(from + w, [&](int a, int i, double value) {
          finite += 0 * value;
          room.vectors[((w * components + i) * nodes + a) * view.size + thread] = job.factor * value;
        });
      if (!(health > 0) || !(finite == 0)) judge(job.fault, view.element[place], 1, health, finite);
    };
    if (place < static_cast<unsigned>(view.count)) {
      DeviceInput<K> in;
      load_clustered<K, plain>(job.view, view, place, record, corners, room.position, in);
      // What is volatile is so that the compiler does not bring it all back to registers.
      const auto x = [&](int w, int a, int i) -> double {
        // Beyond the last column it stands in once more, and nobody asks for the result.
        const int column = !many ? 0 : first + w < view.width ? first + w : view.width - 1;
        const double* own = room.x + (column * components + i) * view.most_nodes + number_of(corners, a);
        if constexpr (compact || !many)
          return *own;
        else
          return *const_cast<const volatile double*>(own);
      };
      const double health = results.template compute<vectors * dofs>(
          in, x, [&](int n) -> volatile double& { return room.vectors[n * view.size + thread]; });
      keep(0, health);
    }
    __syncthreads();
    sum_nodes<components, kept>(view, room, nodes, first);
#pragma unroll
    for (int w = kept; w < together; w += kept) {
      if (first + w >= view.width) break;
      __syncthreads();
      if (place < static_cast<unsigned>(view.count)) keep(w, 1);
      __syncthreads();
      sum_nodes<components, kept>(view, room, nodes, first + w);
    }
  }
}

}  // namespace detail

/// factor · tangent · x of the elements of clusters, summed to nodes, for one column. Dynamic shared memory:
/// ClusterPlan::action_bytes(1).
template <class K, bool plain>
__global__ void __launch_bounds__(128, detail::blocks_at_once<K, plain>())
    cluster_action(ElementJob job, ClusterView view) {
  detail::multiply_cluster<K, plain && detail::has_compact_action<K>, plain, false, 1>(job, view);
}

/// The same for all columns of the view. Dynamic shared memory: ClusterPlan::action_bytes(view.width).
template <class K, bool plain>
__global__ void __launch_bounds__(128, plain&& detail::has_compact_action<K> ? 2 : 1)
    cluster_actions(ElementJob job, ClusterView view) {
  constexpr bool compact = plain && detail::has_compact_action<K>;
  detail::multiply_cluster<K, compact, plain, true, detail::columns_together<K, compact>()>(job, view);
}

}  // namespace voussoir::cuda
