#pragma once
#include <voussoir/backends/cuda/elements/cluster_kernels.hpp>
#include <voussoir/backends/cuda/elements/force_step.hpp>
#include <voussoir/backends/cuda/runtime/async_copy.hpp>
#include <voussoir/elements/point/compact_forces.hpp>

// Internal forces of whole clusters of elements: they meet in shared memory, and elements with a history take over the
// new one in the same pass. nvcc compiles these kernels for the stock elements, NVRTC for the elements of users:
// nothing of the standard library here.

namespace voussoir::cuda {

namespace detail {

template <class K>
VSR_FN constexpr bool has_cluster_forces() {
  return has_tangent<K> && K::nodes * K::components <= most_force_dofs;
}

/// Numbers in shared memory that an element takes to compute its forces, or, where nodes look these up, its forces.
template <class K>
VSR_FN constexpr int force_numbers(bool looked_up) {
  constexpr int dofs = K::nodes * K::components, room = CompactForces<K>::room;
  static_assert(room <= most_force_numbers(K::nodes, K::components));
  return looked_up && room < dofs ? dofs : room;
}

/// Shared memory of a cluster: numbers of its elements, then, by seats, positions, unknowns and forces at its nodes,
/// then what the plan says of these.
struct ForceRoom {
  double* numbers;
  double* position;
  double* x;
  double* force;
  ClusterNode* node;
  unsigned short* seat;
  unsigned short* first;
  ClusterWords* incidence;
  __device__ ForceRoom(double* room, const ForceView& view, int components)
      : numbers(room),
        position(numbers + view.numbers * view.size),
        x(position + 3 * view.most_nodes),
        force(x + seat_width(components) * view.most_nodes),
        node(reinterpret_cast<ClusterNode*>(force + seat_width(components) * view.most_nodes)),
        seat(reinterpret_cast<unsigned short*>(node + view.most_nodes)),
        first(seat + view.most_nodes),
        incidence(reinterpret_cast<ClusterWords*>(first + view.most_nodes + 16)) {}
};

/// Brings what the plan says of this block's cluster to shared memory, and begins to bring positions there. None of it
/// waits for earlier work.
template <int nodes, int components, int threads>
__device__ inline void load_force_plan(const ForceView& view, const ForceHead& head, const ForceRoom& room) {
  const int thread = static_cast<int>(threadIdx.x);
  const long long before = static_cast<long long>(blockIdx.x) * view.most_nodes;
  // Whole pairs: the number of seats that a cluster has room for is even.
  for (int k = 2 * thread; k < 3 * head.seats; k += 2 * threads)
    start_copy<16>(room.position + k, view.position + 3 * before + k);
  for (int n = thread; n < head.nodes; n += threads) {
    room.node[n] = load_passing(view.node + before + n);
    room.seat[n] = load_passing(view.seat + before + n);
  }
  if (view.turn) {
    for (int k = thread; k < seat_width(components) * head.seats; k += threads) room.force[k] = 0;
  } else {
    const int words = nodes * view.size / 8;
    for (int k = thread; k < words; k += threads)
      room.incidence[k] = load_passing(view.incidence + static_cast<long long>(blockIdx.x) * words + k);
    for (int n = thread; n < head.nodes; n += threads) room.first[n] = load_passing(view.first + before + n);
    if (thread == 0) {
      const int left = view.count - static_cast<int>(blockIdx.x) * view.size;
      room.first[head.nodes] = static_cast<unsigned short>(nodes * (left < view.size ? left : view.size));
    }
  }
}

/// Brings the unknowns of this block's cluster to shared memory. The plan must be there.
template <int components, int threads>
__device__ inline void load_force_unknowns(const ForceHead& head, const ForceRoom& room, const double* u) {
  for (int q = static_cast<int>(threadIdx.x); q < components * head.nodes; q += threads) {
    const int n = q / components, i = q - components * n;
    start_copy<8>(room.x + seat_width(components) * room.seat[n] + i, u + room.node[n].equation + i);
  }
  close_copies();
  wait_for_copies_but<0>();
}

/// Reads the data of the element at a place, except for the unknowns. Parameters do not depend on temperature.
template <class K>
__device__ inline void load_for_forces(const ElementView& view, const ForceView& clusters, unsigned place, int record,
                                       const ClusterWords* corners, const double* position, DeviceInput<K>& in) {
#pragma unroll
  for (int a = 0; a < K::nodes; ++a)
#pragma unroll
    for (int k = 0; k < 3; ++k) in.x[a][k] = position[3 * number_of(corners, a) + k];
  in.has_temperature = view.temperature || view.initial_temperature;
  const int* nodes = nullptr;
  if (in.has_temperature) nodes = view.nodes + static_cast<long long>(clusters.element[place]) * K::nodes;
  for (int a = 0; a < K::nodes; ++a) {
    if (in.has_temperature)
      load_temperature(view, nodes[a], in.initial_temperature[a], in.temperature[a]);
    else
      in.initial_temperature[a] = in.temperature[a] = view.start_temperature;
  }
  in.expansion_reference = view.expansion_reference;
  in.table_rows = 1;
  in.table = view.parameters + static_cast<long long>(record) * (parameter_count_of<K>() + 1);
  in.history = nullptr;
  in.history_stride = 32;
}

/// The forces of the element at this thread's place: put(node, component, force). Returns its health.
template <class K, bool advances, class Unknown, class Scratch, class Put>
__device__ inline double find_forces(const ElementJob& job, DeviceInput<K>& in, const Unknown& unknown,
                                     const Scratch& scratch, double* next, const Put& put) {
  constexpr int dofs = K::nodes * K::components;
  if constexpr (CompactForces<K>::exists) {
    return CompactForces<K>::template compute<advances, double>(
        in, unknown, scratch, [&](int k, double value) { next[32ll * k] = value; }, put);
  } else {
#pragma unroll
    for (int k = 0; k < dofs; ++k) in.u[k] = unknown(k / K::components, k % K::components);
    double result[dofs];
    const double health = compute<K, Routine::residual>(job, 0, in, result);
#pragma unroll
    for (int a = 0; a < K::nodes; ++a)
#pragma unroll
      for (int i = 0; i < K::components; ++i) put(a, i, result[a * K::components + i]);
    if constexpr (advances) {
      double history[history_numbers_of<K>()];
      K::advance(in, history);
      for (int k = 0; k < history_numbers_of<K>(); ++k) next[32ll * k] = history[k];
    }
    return health;
  }
}

/// Elements add their forces to those at their nodes, turn by turn from `turn` on: a component of a turn while the turn
/// after it adds the component before. All threads call; `own` of threads without an element is −1.
template <int nodes, int components>
__device__ inline void add_by_turns(const ForceRoom& room, int turn, int end, int own, const ClusterWords* corners,
                                    const double* force) {
#pragma unroll 1
  for (; turn < end + components - 1; ++turn) {
    const int component = own < 0 ? -1 : turn - own;
#pragma unroll
    for (int i = 0; i < components; ++i)
      if (component == i) {
        double sum[nodes];
#pragma unroll
        for (int a = 0; a < nodes; ++a) sum[a] = room.force[seat_width(components) * number_of(corners, a) + i];
#pragma unroll
        for (int a = 0; a < nodes; ++a)
          room.force[seat_width(components) * number_of(corners, a) + i] = sum[a] + force[a * components + i];
      }
    __syncthreads();
  }
}

/// Nodes add up what their elements have put for them, in ascending order. All threads call.
template <int nodes, int components, int threads>
__device__ inline void add_by_nodes(const ForceView& view, const ForceRoom& room, const ForceHead& head) {
  __syncthreads();
  const ClusterNumber* incidence = reinterpret_cast<const ClusterNumber*>(room.incidence);
  for (int n = static_cast<int>(threadIdx.x); n < head.nodes; n += threads) {
    const int end = room.first[n + 1];
    double sum[components] = {};
#pragma unroll 4
    for (int k = room.first[n]; k < end; ++k) {
      const double* vector = room.numbers + incidence[k];
#pragma unroll
      for (int i = 0; i < components; ++i) sum[i] += vector[i * nodes * view.size];
    }
#pragma unroll
    for (int i = 0; i < components; ++i) room.force[seat_width(components) * room.seat[n] + i] = sum[i];
  }
  __syncthreads();
}

/// Writes the forces at the nodes of a cluster: results where no other cluster has the node, partial sums otherwise.
template <int components, int threads>
__device__ inline void write_forces(const ForceRoom& room, const ForceHead& head, const ForceStep& step,
                                    double factor) {
  for (int q = static_cast<int>(threadIdx.x); q < components * head.nodes; q += threads) {
    const int n = q / components, i = q - components * n;
    const ClusterNode node = room.node[n];
    const double force = factor * room.force[seat_width(components) * room.seat[n] + i];
    if (node.target == ClusterNode::straight) {
      step.internal[node.equation + i] = force;
    } else if (node.target >= 0) {
      double* partial = step.partial + static_cast<long long>(node.target) * step.partial_components;
      partial[i] = force;
      for (int k = components + i; k < step.partial_components; k += components) partial[k] = 0;
    }
  }
}

/// The forces of the element at a place of this block's cluster, put(node, component, force), and its new history.
template <class K, bool advances, class Scratch, class Put>
__device__ inline void compute_forces(ElementJob& job, const ForceView& view, const ForceRoom& room,
                                      const ForceStep& step, unsigned place, const ClusterWords* corners,
                                      const Scratch& scratch, const Put& put) {
  constexpr int components = K::components;
  DeviceInput<K> in;
  const int record = view.record ? load_passing(view.record + place) : 0;
  load_for_forces<K>(job.view, view, place, record, corners, room.position, in);
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
        return *const_cast<const volatile double*>(room.x + seat_width(components) * number_of(corners, a) + i);
      },
      scratch, next,
      [&](int a, int i, double value) {
        // Compact forces at all corners are sums of the same coefficients, with different signs.
        if (!CompactForces<K>::exists || a == 0) finite += 0 * value;
        put(a, i, value);
      });
  if (!(health > 0) || !(finite == 0)) judge(job.fault, view.element[place], 1, health, finite);
}

/// The forces of this block's cluster, whose elements take `rounds` rounds. With one, nodes look up forces.
template <class K, bool advances, int rounds>
__device__ inline void add_cluster_forces(ElementJob job, ForceView view, const ForceStep& step) {
  constexpr int nodes = K::nodes, components = K::components, dofs = nodes * components, words = corner_words(nodes);
  constexpr int threads = cluster_size(dofs), size = threads * rounds;
  static_assert(rounds == 1 || (rounds == 2 && CompactForces<K>::room == 0),
                "numbers of the second round would take the place of the first's");
  // As they are, but known to the compiler.
  view.size = size;
  view.most_nodes &= ~15;
  VSR_DYNAMIC_SHARED(double, shared);
  const ForceRoom room(shared, view, components);
  const int thread = static_cast<int>(threadIdx.x);
  const unsigned base = blockIdx.x * static_cast<unsigned>(size);
  const ForceHead head = view.head[blockIdx.x];
  ClusterWords corners[rounds][words];
#pragma unroll
  for (int r = 0; r < rounds; ++r)
#pragma unroll
    for (int w = 0; w < words; ++w)
      corners[r][w] =
          load_passing(view.corner + (static_cast<long long>(blockIdx.x) * words + w) * size + r * threads + thread);
  load_force_plan<nodes, components, threads>(view, head, room);
  __syncthreads();
  after_earlier_work();
  load_force_unknowns<components, threads>(head, room, step.u);
  __syncthreads();
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    ClusterWords own[words];
#pragma unroll
    for (int w = 0; w < words; ++w) own[w] = round == 0 ? corners[0][w] : corners[rounds - 1][w];
    const int slot = round * threads + thread;
    const bool is = base + static_cast<unsigned>(slot) < static_cast<unsigned>(view.count);
    const unsigned place = base + static_cast<unsigned>(slot);
    const auto scratch = [&](int n) -> volatile double& { return room.numbers[n * threads + thread]; };
    const auto show = [&](int a, int i, double value) { room.numbers[(i * nodes + a) * size + slot] = value; };
    if constexpr (rounds == 1) {
      if (is) compute_forces<K, advances>(job, view, room, step, place, own, scratch, show);
    } else {
      const int turn = is && view.turn ? static_cast<int>(load_passing(view.turn + place)) : -1;
      double force[dofs];
      if (is)
        compute_forces<K, advances>(job, view, room, step, place, own, scratch,
                                    [&](int a, int i, double value) { force[a * components + i] = value; });
      if (view.turn) {
        const int first = round == 0 ? 0 : head.second_begin, end = round < rounds - 1 ? head.first_end : head.turns;
        add_by_turns<nodes, components>(room, first, end, turn, own, force);
      } else if (is) {
#pragma unroll
        for (int k = 0; k < dofs; ++k) show(k / components, k % components, force[k]);
      }
    }
  }
  if (rounds == 1 || !view.turn) add_by_nodes<nodes, components, threads>(view, room, head);
  write_forces<components, threads>(room, head, step, job.factor);
}

}  // namespace detail

/// factor · internal forces of the elements of clusters at the unknowns step.u, summed to nodes; with `advances` the
/// new history as well. A block of cluster_size() threads does a cluster of `rounds` times as many elements. For
/// parameters that do not depend on temperature. Dynamic shared memory: ForcePlan::bytes(numbers) with view.numbers =
/// force_numbers<K>(), or more.
template <class K, bool advances, int rounds>
__global__ void __launch_bounds__(128, detail::CompactForces<K>::blocks)
    cluster_forces(ElementJob job, ForceView view, ForceStep step) {
  detail::add_cluster_forces<K, advances, rounds>(job, view, step);
}

}  // namespace voussoir::cuda
