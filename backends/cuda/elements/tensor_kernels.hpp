#pragma once
#include <voussoir/backends/cuda/elements/element_kernels.hpp>
#include <voussoir/backends/cuda/runtime/shared_memory.hpp>

// Tangents of general laws. A block of threads takes a few elements, which lie side by side in shared memory. Threads
// of an element share first its points, at each of which the law's tangent tensor C and the weights W of the nodes
// (elements/point/general_pieces.hpp) go to shared memory; and then its pairs of nodes, two by two, which are sums of
// W_a C W_bᵀ in registers.

namespace voussoir::cuda {

namespace detail {

/// How an element is shared among threads, and where its numbers are in shared memory.
template <class K>
struct TensorSizes {
  using Pieces = typename K::Pieces;
  static constexpr int weights = K::nodes * Pieces::stored_weights;
  static constexpr int per_point = weights + Pieces::tensor_numbers;
  static constexpr int coordinates = K::points * per_point;
  static constexpr int places = coordinates + K::dim * K::nodes;  // of the nodes' first unknowns, two in a number
  // B-bar: volumes of the points and mean divergences.
  static constexpr int volumes = places + (K::nodes + 1) / 2;
  static constexpr int means = volumes + (Pieces::bbar ? K::points : 0);
  static constexpr int total = means + (Pieces::bbar ? K::nodes * K::components : 0);
  static constexpr int node_tiles = (K::nodes + 1) / 2;
  static constexpr int tiles = Pieces::symmetric ? node_tiles * (node_tiles + 1) / 2 : node_tiles * node_tiles;

  static constexpr int bytes_for(int elements) { return elements * (total * 8 + 4); }
  static constexpr int most_bytes = 227 << 10;
  /// Two blocks on a multiprocessor where they fit. Sixteen elements side by side fill the banks of shared memory.
  static constexpr int make_elements() {
    for (int n = 16; n > 4; n /= 2)
      if (2 * (bytes_for(n) + 1024) <= most_bytes) return n;
    return 4;
  }
  static constexpr int elements = make_elements();
  static constexpr bool fits = bytes_for(elements) <= most_bytes;
  static constexpr int bytes = bytes_for(elements);

  /// Threads of an element: as many as there are tiles, or a part of them.
  static constexpr int make_sections() {
    const int step = 32 / elements, most = 256 / elements;
    int turns = 1;
    while ((tiles + turns - 1) / turns > most) ++turns;
    const int wanted = (tiles + turns - 1) / turns;
    return (wanted + step - 1) / step * step;
  }
  static constexpr int sections = make_sections();
  static constexpr int threads = sections * elements;
  /// Blocks at a time on a multiprocessor, with 128 registers for a thread.
  static constexpr int make_blocks() {
    const int by_memory = most_bytes / (bytes + 1024), by_registers = 512 / threads;
    const int least = by_memory < by_registers ? by_memory : by_registers;
    return least > 1 ? least : 1;
  }
  static constexpr int blocks = make_blocks();
};

template <class K>
constexpr bool has_tensors() {
  if constexpr (requires { requires K::Pieces::tensors; })
    return TensorSizes<K>::fits;
  else
    return false;
}

/// Four pairs of nodes: 2·row and the next with 2·column and the next.
template <class K>
struct TensorTile {
  using S = TensorSizes<K>;
  using Pieces = typename K::Pieces;
  static constexpr int kinds = Pieces::kinds, weights = Pieces::weights, stored = Pieces::stored_weights,
                       components = K::components;
  double sum[2][2][components][components];
  int row, column;

  /// A node of the tile; if the number of nodes is odd, the last one also takes the place of the missing one.
  VSR_FN static int node(int tile, int i) { return 2 * tile + i < K::nodes ? 2 * tile + i : K::nodes - 1; }
  __device__ static void load(const double* values, int q, int tile, double (&w)[2][weights]) {
    VSR_UNROLLED
    for (int i = 0; i < 2; ++i) {
      const int a = node(tile, i);
      VSR_UNROLLED
      for (int k = 0; k < stored; ++k) w[i][k] = values[(a * stored + k) * S::elements];
      if constexpr (Pieces::values) w[i][weights - 1] = Pieces::shape_at(q, a);
    }
  }

  /// `numbers` are those of the element in shared memory.
  __device__ void add_points(const double* numbers) {
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j)
        for (int k = 0; k < components; ++k)
          for (int l = 0; l < components; ++l) sum[i][j][k][l] = 0;
#pragma unroll 1
    for (int q = 0; q < K::points; ++q) {
      const double* const values = numbers + q * S::per_point * S::elements;
      const double* const tensor = values + S::weights * S::elements;
      double a[2][weights], b[2][weights];
      load(values, q, row, a);
      load(values, q, column, b);
      VSR_UNROLLED
      for (int i = 0; i < components; ++i) {
        VSR_UNROLLED
        for (int r = 0; r < kinds; ++r) {
          if (Pieces::slot(i, r) < 0) continue;
          VSR_UNROLLED
          for (int j = 0; j < components; ++j) {
            double change[2] = {0, 0};  // of slot (i, r) with unknown j of either node
            VSR_UNROLLED
            for (int c = 0; c < kinds; ++c) {
              if (Pieces::slot(j, c) < 0) continue;
              const double entry = tensor[Pieces::place(Pieces::slot(i, r), Pieces::slot(j, c)) * S::elements];
              change[0] += entry * b[0][Pieces::weight_of(j, c)];
              change[1] += entry * b[1][Pieces::weight_of(j, c)];
            }
            for (int m = 0; m < 2; ++m)
              for (int n = 0; n < 2; ++n) sum[m][n][i][j] += a[m][Pieces::weight_of(i, r)] * change[n];
          }
        }
      }
    }
  }
};

/// Where the unknowns of an element's nodes begin.
template <class K>
__device__ inline int* places_of(double* numbers) {
  using S = TensorSizes<K>;
  return reinterpret_cast<int*>(numbers + S::places * S::elements);
}

/// Brings positions of the nodes of a block's elements and the places of their unknowns to shared memory.
template <class K>
__device__ inline void stage_nodes(const ElementJob& job, int begin, double* shared) {
  using S = TensorSizes<K>;
  for (int i = static_cast<int>(threadIdx.x); i < S::elements * K::nodes; i += S::threads) {
    const int lane = i / K::nodes, a = i % K::nodes;
    const int e = begin + lane < job.count ? begin + lane : job.count - 1;
    const int node = job.view.nodes[static_cast<long long>(job.first + e) * K::nodes + a];
    const double* x = job.view.coordinates + 3ll * node;
    for (int k = 0; k < K::dim; ++k) shared[(S::coordinates + a * K::dim + k) * S::elements + lane] = x[k];
    places_of<K>(shared)[a * S::elements + lane] = job.view.first_unknown[node];
  }
}

/// Weights and tensors at the points, to shared memory. Returns whether all of them are healthy.
template <class K>
__device__ inline bool visit_tensors(const ElementView& view, int e, int lane, DeviceInput<K>& in, double* shared,
                                     int section) {
  using S = TensorSizes<K>;
  using Pieces = typename K::Pieces;
  double* const numbers = shared + lane;
  const int* const places = places_of<K>(shared) + lane;
  const int* const nodes = view.nodes + static_cast<long long>(e) * K::nodes;
  const auto x = [&](int a, int k) { return numbers[(S::coordinates + a * K::dim + k) * S::elements]; };
  const auto u = [&](int a, int i) -> double {
    if (!view.unknowns) return 0;
    return view.unknowns[places[a * S::elements] + (view.slot ? slot_of(view, nodes[a], K::components, i) : i)];
  };
  bool healthy = true;
#pragma unroll 1
  for (int q = section; q < K::points; q += S::sections) {
    double* const values = numbers + q * S::per_point * S::elements;
    double* const tensor = values + S::weights * S::elements;
    const double health = Pieces::tensor_at(
        in, q, x, u,
        [&](int a, int k, double weight) { values[(a * Pieces::stored_weights + k) * S::elements] = weight; },
        [&](int place, double value) { tensor[place * S::elements] = value; });
    healthy = healthy && health > 0;
  }
  return healthy;
}

/// The same for B-bar, in three steps. All threads of the block call it.
template <class K>
__device__ inline bool visit_mean_tensors(const ElementView& view, int e, int lane, DeviceInput<K>& in, double* shared,
                                          int section) {
  using S = TensorSizes<K>;
  using Pieces = typename K::Pieces;
  constexpr int stored = Pieces::stored_weights;
  double* const numbers = shared + lane;
  const int* const places = places_of<K>(shared) + lane;
  const int* const nodes = view.nodes + static_cast<long long>(e) * K::nodes;
  const auto x = [&](int a, int k) { return numbers[(S::coordinates + a * K::dim + k) * S::elements]; };
  const auto u = [&](int a, int i) -> double {
    if (!view.unknowns) return 0;
    return view.unknowns[places[a * S::elements] + (view.slot ? slot_of(view, nodes[a], K::components, i) : i)];
  };
  const auto weight_at = [&](int q, int a, int k) -> double& {
    return numbers[(q * S::per_point + a * stored + k) * S::elements];
  };
  bool healthy = true;
#pragma unroll 1
  for (int q = section; q < K::points; q += S::sections) {
    double volume;
    const double health = Pieces::plain_weights_at(
        in, q, x, [&](int a, int k, double weight) { weight_at(q, a, k) = weight; }, volume);
    numbers[(S::volumes + q) * S::elements] = volume;
    healthy = healthy && health > 0;
  }
  __syncthreads();
  double whole = 0;
  for (int q = 0; q < K::points; ++q) whole += numbers[(S::volumes + q) * S::elements];
  for (int i = section; i < K::nodes * K::components; i += S::sections) {
    double sum = 0;
    for (int q = 0; q < K::points; ++q)
      sum += numbers[(S::volumes + q) * S::elements] *
             Pieces::divergence([&](int a, int k) { return weight_at(q, a, k); }, i / K::components, i % K::components);
    numbers[(S::means + i) * S::elements] = sum / whole;
  }
  __syncthreads();
#pragma unroll 1
  for (int q = section; q < K::points; q += S::sections) {
    double* const tensor = numbers + (q * S::per_point + S::weights) * S::elements;
    Pieces::mean_tensor_at(
        in, q, numbers[(S::volumes + q) * S::elements], u, [&](int a, int k) { return weight_at(q, a, k); },
        [&](int a, int i) { return numbers[(S::means + a * K::components + i) * S::elements]; },
        [&](int a, int k, double weight) { weight_at(q, a, k) = weight; },
        [&](int place, double value) { tensor[place * S::elements] = value; });
  }
  return healthy;
}

/// Writes the pairs of a tile. Returns a sum of 0 · entry.
template <class K>
__device__ inline double write_tile(const ElementJob& job, double* out, const TensorTile<K>& tile) {
  constexpr int components = K::components, dofs = K::nodes * components;
  constexpr bool symmetric = K::Pieces::symmetric;
  double finite = 0;
  VSR_UNROLLED
  for (int m = 0; m < 2; ++m) {
    VSR_UNROLLED
    for (int n = 0; n < 2; ++n) {
      const int a = 2 * tile.row + m, b = 2 * tile.column + n;
      if (a >= K::nodes || b >= K::nodes || (symmetric && b < a)) continue;
      VSR_UNROLLED
      for (int i = 0; i < components; ++i) {
        const int first = symmetric ? upper_index<dofs>(a * components + i, b * components)
                                    : (a * components + i) * dofs + b * components;
        VSR_UNROLLED
        for (int j = 0; j < components; ++j) {
          if (symmetric && a == b && j < i) continue;
          const double entry = tile.sum[m][n][i][j], value = job.factor * entry;
          double& target = out[32ll * (first + j)];
          finite += 0 * entry;
          target = job.accumulate ? target + value : value;
        }
      }
    }
  }
  return finite;
}

}  // namespace detail

/// Tangents of general laws.
template <class K>
__global__ void __launch_bounds__(detail::TensorSizes<K>::threads, detail::TensorSizes<K>::blocks)
    tensor_tangents(ElementJob job) {
  using namespace detail;
  using S = TensorSizes<K>;
  VSR_DYNAMIC_SHARED(double, shared);
  int* const faulty =
      reinterpret_cast<int*>(shared + S::total * S::elements);  // of an element: 1 inverted, 2 parameters
  const int lane = static_cast<int>(threadIdx.x) % S::elements, section = static_cast<int>(threadIdx.x) / S::elements;
  const int own = static_cast<int>(blockIdx.x) * S::elements + lane;
  const bool counts = own < job.count;  // the last block does the last element again in lanes that have none
  const int e = job.first + (counts ? own : job.count - 1);
  double* const numbers = shared + lane;
  constexpr int entries = values_of<K, Routine::tangent>();
  double* const out = job.out + static_cast<long long>(own / 32) * entries * 32 + own % 32;
  if (parameter_count_of<K>() > 0 && !job.view.parameters) {  // as valid_of() has it
    if (counts && section == 0) {
      report(job.fault, e, ElementFault::bad_parameter);
      leave_zeros(out, entries, job.accumulate != 0);
    }
    return;
  }
  if (section == 0) faulty[lane] = 0;
  stage_nodes<K>(job, static_cast<int>(blockIdx.x) * S::elements, shared);
  __syncthreads();
  if (K::Pieces::bbar || section < K::points) {
    DeviceInput<K> in;
    load_circumstances<K>(job.view, e, in);
    // For laws that ask where they are.
    for (int a = 0; a < K::nodes; ++a)
      for (int k = 0; k < 3; ++k)
        in.x[a][k] = k < K::dim ? numbers[(S::coordinates + a * K::dim + k) * S::elements] : 0;
    if (section == 0 && !(valid_of<K>(job.view, in) > 0)) atomicMax(&faulty[lane], 2);
    bool healthy;
    if constexpr (K::Pieces::bbar)
      healthy = visit_mean_tensors<K>(job.view, e, lane, in, shared, section);
    else
      healthy = visit_tensors<K>(job.view, e, lane, in, shared, section);
    if (!healthy) atomicMax(&faulty[lane], 1);
  }
  __syncthreads();
  const int fault = faulty[lane];
  double finite = 0;
#pragma unroll 1
  for (int t = section; t < S::tiles; t += S::sections) {
    TensorTile<K> tile;
    if constexpr (K::Pieces::symmetric) {
      tile.row = 0;
      tile.column = t;
      while (tile.column >= S::node_tiles) tile.column -= S::node_tiles - ++tile.row;
    } else {
      tile.row = t / S::node_tiles;
      tile.column = t % S::node_tiles;
    }
    tile.add_points(numbers);
    if (counts) finite += write_tile<K>(job, out, tile);
  }
  if (!counts) return;
  if (fault != 0 && section == 0)
    report(job.fault, e, fault == 2 ? ElementFault::bad_parameter : ElementFault::inverted);
  if (fault == 0 && !(finite == 0)) report(job.fault, e, ElementFault::not_finite);
}

}  // namespace voussoir::cuda
