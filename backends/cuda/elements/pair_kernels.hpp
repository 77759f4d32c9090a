#pragma once
#include <voussoir/backends/cuda/elements/element_kernels.hpp>
#include <voussoir/backends/cuda/runtime/shared_memory.hpp>

// Tangents by pairs of nodes. A block of threads takes 16 or 32 elements, which stand side by side in shared memory as
// they will in the result, so that neither has conflicts. Threads of an element share first its points: G of all
// functions (elements/point/point_pieces.hpp) goes to shared memory; and then its pairs of nodes, two by two: four
// small matrices M in registers want twelve numbers of shared memory for 36 multiplications.
//
// Elements that bend have modes besides their nodes. Their pairs come first, stay in shared memory, and are eliminated
// there; what the elimination takes from the nodes' own pairs looks like more points.

namespace voussoir::cuda {

namespace detail {

/// How an element is shared among threads, and where its numbers stand.
template <class K>
struct PairSizes {
  using Pieces = typename K::Pieces;
  static constexpr int functions = Pieces::functions, rows = Pieces::rows, points = Pieces::points;
  static constexpr int mode_dofs = Pieces::mode_dofs;
  static constexpr int mode_entries = mode_dofs * (mode_dofs + 1) / 2;
  static constexpr int node_tiles = (K::nodes + 1) / 2, tiles = (functions + 1) / 2;
  static_assert(mode_dofs == 0 || K::nodes % 2 == 0, "a tile holds nodes or modes");
  static constexpr int node_pairs = node_tiles * (node_tiles + 1) / 2;
  static constexpr int mode_pairs = tiles * (tiles + 1) / 2 - node_pairs;

  // Places in shared memory, counted in numbers of an element.
  static constexpr int gradients = 0;
  static constexpr int means = gradients + points * functions * rows;
  static constexpr int roots = means + (Pieces::bbar ? functions * rows : 0);
  static constexpr int material = roots + (Pieces::bbar ? points : 0);
  static constexpr int coupling = material + Pieces::numbers;
  static constexpr int inner = coupling + mode_dofs * K::nodes * K::components;
  static constexpr int coordinates = inner + mode_entries;
  static constexpr int total = coordinates + K::nodes * K::dim;

  static constexpr int bytes_for(int elements) { return elements * (total * 8 + 4); }
  static constexpr int most_bytes = 227 << 10;
  static constexpr bool fits = bytes_for(16) <= most_bytes;
  static constexpr int elements = bytes_for(32) <= 72 << 10 ? 32 : 16;
  static constexpr int bytes = bytes_for(elements);

  static constexpr int rounded(int count, int by) { return (count + by - 1) / by * by; }
  /// Blocks that the shared memory of a multiprocessor has room for.
  static constexpr int blocks_by_memory = most_bytes / (bytes + 1024);
  /// Threads of an element: enough to keep a multiprocessor busy, and of these numbers the one that leaves the fewest
  /// idle in the phases.
  static constexpr int make_sections() {
    const int step = 32 / elements, most = blocks_by_memory == 1 ? 448 / elements : 192 / elements;
    int best = most, least = 1 << 30;
    for (int s = step; s <= most; s += step) {
      const int turns = 4 * (rounded(node_pairs, s) + rounded(mode_pairs, s)) + rounded(points, s);
      if (s * elements >= 64 && s * elements * blocks_by_memory >= 448 && turns <= least) {
        least = turns;
        best = s;
      }
    }
    return best;
  }
  static constexpr int sections = make_sections();
  static constexpr int threads = sections * elements;
  /// Blocks at a time on a multiprocessor, with 128 registers for a thread.
  static constexpr int make_blocks() {
    const int by_registers = 512 / threads;
    const int least = blocks_by_memory < by_registers ? blocks_by_memory : by_registers;
    return least > 1 ? least : 1;
  }
  static constexpr int blocks = make_blocks();
};

template <class K>
constexpr bool has_pairs() {
  if constexpr (requires { typename K::Pieces; }) {
    if constexpr (K::Pieces::pairs)
      return PairSizes<K>::fits;
    else
      return false;
  } else {
    return false;
  }
}

/// Four pairs of functions: 2·row and the next with 2·column and the next.
template <class K>
struct PairTile {
  using S = PairSizes<K>;
  using Pieces = typename K::Pieces;
  static constexpr int rows = S::rows, components = K::components;
  using Block = Mat<double, components, components>;
  double m[2][2][rows][rows];
  int row, column;

  /// A function of the tile; of an odd number the last one stands in for the one that is not there.
  VSR_FN static int function(int tile, int i) { return 2 * tile + i < S::functions ? 2 * tile + i : S::functions - 1; }
  VSR_FN static void load(const double* values, int tile, double (&g)[2][rows]) {
    for (int i = 0; i < 2; ++i)
      for (int k = 0; k < rows; ++k) g[i][k] = values[(function(tile, i) * rows + k) * S::elements];
  }

  /// M from G at the points; `numbers` are those of the element in shared memory.
  __device__ void sum(const double* numbers) {
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j)
        for (int k = 0; k < rows; ++k)
          for (int l = 0; l < rows; ++l) m[i][j][k][l] = 0;
#pragma unroll 2
    for (int q = 0; q < S::points; ++q) {
      const double* values = numbers + (S::gradients + q * S::functions * rows) * S::elements;
      double a[2][rows], b[2][rows];
      load(values, row, a);
      load(values, column, b);
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
          for (int k = 0; k < rows; ++k)
            for (int l = 0; l < rows; ++l) m[i][j][k][l] += a[i][k] * b[j][l];
    }
  }

  /// Calls visit(a, b, block) for the pairs of the tile with b ≥ a.
  template <class Visit>
  __device__ void blocks(const double* numbers, const double* parameters, const Visit& visit) const {
    double own[Pieces::room_for_numbers];
    for (int i = 0; i < Pieces::numbers; ++i) own[i] = numbers[(S::material + i) * S::elements];
    VSR_UNROLLED
    for (int i = 0; i < 2; ++i) {
      VSR_UNROLLED
      for (int j = 0; j < 2; ++j) {
        const int a = 2 * row + i, b = 2 * column + j;
        if (b < a || b >= S::functions) continue;
        double spread[rows][rows];
        if constexpr (Pieces::bbar)
          for (int k = 0; k < rows; ++k)
            for (int l = 0; l < rows; ++l)
              spread[k][l] = m[i][j][k][l] - numbers[(S::means + a * rows + k) * S::elements] *
                                                 numbers[(S::means + b * rows + l) * S::elements];
        visit(a, b, i, j, Pieces::block(parameters, own, m[i][j], spread));
      }
    }
  }
};

/// Brings the positions of the nodes of a block's elements to shared memory.
template <class K>
__device__ inline void stage_coordinates(const ElementJob& job, int begin, double* shared) {
  using S = PairSizes<K>;
  for (int i = static_cast<int>(threadIdx.x); i < S::elements * K::nodes; i += S::threads) {
    const int lane = i / K::nodes, a = i % K::nodes;
    const int e = begin + lane < job.count ? begin + lane : job.count - 1;
    const int node = job.view.nodes[static_cast<long long>(job.first + e) * K::nodes + a];
    const double* x = job.view.coordinates + 3ll * node;
    for (int k = 0; k < K::dim; ++k) shared[(S::coordinates + a * K::dim + k) * S::elements + lane] = x[k];
  }
}

/// Leaves modes without force: K_aa = L D Lᵀ in place, then W = L⁻¹ K_au. All threads of the block call it.
template <class K>
__device__ inline void eliminate_modes(double* numbers, int section) {
  using S = PairSizes<K>;
  constexpr int n = S::mode_dofs, dofs = K::nodes * K::components;
  double* inner = numbers + S::inner * S::elements;
  double* coupling = numbers + S::coupling * S::elements;
  if (section == 0) {
    double k[S::mode_entries > 0 ? S::mode_entries : 1];
    VSR_UNROLLED
    for (int i = 0; i < S::mode_entries; ++i) k[i] = inner[i * S::elements];
    factorise<n>(k);
    VSR_UNROLLED
    for (int i = 0; i < S::mode_entries; ++i) inner[i * S::elements] = k[i];
  }
  __syncthreads();
  for (int column = section; column < dofs; column += S::sections) {
    double w[n > 0 ? n : 1];
    VSR_UNROLLED
    for (int i = 0; i < n; ++i) w[i] = coupling[(i * dofs + column) * S::elements];
    VSR_UNROLLED
    for (int i = 0; i < n; ++i) {
      VSR_UNROLLED
      for (int r = i + 1; r < n; ++r) w[r] -= inner[upper_index<n>(i, r) * S::elements] * w[i];
    }
    VSR_UNROLLED
    for (int i = 0; i < n; ++i) coupling[(i * dofs + column) * S::elements] = w[i];
  }
  __syncthreads();
}

/// Pairs that modes have with nodes and with each other, to shared memory.
template <class K>
__device__ inline void sum_mode_pairs(double* numbers, const double* parameters, int section) {
  using S = PairSizes<K>;
  constexpr int n = S::mode_dofs, dofs = K::nodes * K::components, components = K::components;
  double* inner = numbers + S::inner * S::elements;
  double* coupling = numbers + S::coupling * S::elements;
  for (int t = section; t < S::mode_pairs; t += S::sections) {
    PairTile<K> tile;
    tile.column = S::node_tiles;
    tile.row = t;
    while (tile.row > tile.column) tile.row -= ++tile.column;
    tile.sum(numbers);
    tile.blocks(numbers, parameters, [&](int a, int b, int, int, const typename PairTile<K>::Block& block) {
      for (int i = 0; i < components; ++i)
        for (int j = 0; j < components; ++j) {
          const int row = a * components + i, mode = (b - K::nodes) * components + j;
          if (a < K::nodes)
            coupling[(mode * dofs + row) * S::elements] = block(i, j);
          else if (mode >= row - dofs)
            inner[upper_index<n>(row - dofs, mode) * S::elements] = block(i, j);
        }
    });
  }
}

/// Takes Wᵀ D⁻¹ W from the four blocks of a tile of nodes.
template <class K>
__device__ inline void take_modes(const double* numbers, int row, int column,
                                  double (&kept)[2 * K::components][2 * K::components]) {
  using S = PairSizes<K>;
  constexpr int n = S::mode_dofs, dofs = K::nodes * K::components, wide = 2 * K::components;
#pragma unroll 1
  for (int m = 0; m < n; ++m) {
    const double* w = numbers + (S::coupling + m * dofs) * S::elements;
    const double pivot = numbers[(S::inner + upper_index<n>(m, m)) * S::elements];
    double a[wide], b[wide];
    for (int i = 0; i < wide; ++i) {
      a[i] = pivot * w[(row * wide + i) * S::elements];
      b[i] = w[(column * wide + i) * S::elements];
    }
    for (int i = 0; i < wide; ++i)
      for (int j = 0; j < wide; ++j) kept[i][j] -= a[i] * b[j];
  }
}

/// G at the points, to shared memory. Returns whether all of them are healthy.
template <class K>
__device__ inline bool visit_points(DeviceInput<K>& in, double* numbers, int section) {
  using S = PairSizes<K>;
  using Pieces = typename K::Pieces;
  bool healthy = true;
#pragma unroll 1
  for (int q = section; q < S::points; q += S::sections) {
    double* const values = numbers + (S::gradients + q * S::functions * S::rows) * S::elements;
    // Again for every point: twenty nodes would not stay in registers.
    for (int a = 0; a < K::nodes; ++a)
      for (int k = 0; k < 3; ++k)
        in.x[a][k] = k < K::dim ? numbers[(S::coordinates + a * K::dim + k) * S::elements] : 0;
    double root;
    const double health = Pieces::gradients_at(
        in, q, root, [&](int f, int k, double value) { values[(f * S::rows + k) * S::elements] = value; });
    if constexpr (Pieces::bbar) numbers[(S::roots + q) * S::elements] = root;
    healthy = healthy && health > 0;
  }
  return healthy;
}

/// The means of G, times the root of the volume, to shared memory.
template <class K>
__device__ inline void average_points(double* numbers, int section) {
  using S = PairSizes<K>;
  double volume = 0;
  for (int q = 0; q < S::points; ++q) {
    const double root = numbers[(S::roots + q) * S::elements];
    volume += root * root;
  }
  const double scale = 1 / sqrt(volume);
  for (int i = section; i < S::functions * S::rows; i += S::sections) {
    double sum = 0;
    for (int q = 0; q < S::points; ++q)
      sum += numbers[(S::roots + q) * S::elements] *
             numbers[(S::gradients + q * S::functions * S::rows + i) * S::elements];
    numbers[(S::means + i) * S::elements] = scale * sum;
  }
}

/// The blocks of pairs of nodes, what modes take from them taken: visit(a, b, block).
template <class K, class Visit>
__device__ inline void visit_node_pairs(const double* numbers, const double* parameters, int section,
                                        const Visit& visit) {
  using S = PairSizes<K>;
  using Block = typename PairTile<K>::Block;
  constexpr int components = K::components;
#pragma unroll 1
  for (int t = section; t < S::node_pairs; t += S::sections) {
    PairTile<K> tile;
    tile.row = 0;
    tile.column = t;
    while (tile.column >= S::node_tiles) tile.column -= S::node_tiles - ++tile.row;
    tile.sum(numbers);
    if constexpr (S::mode_dofs > 0) {
      double kept[2 * components][2 * components] = {};
      tile.blocks(numbers, parameters, [&](int, int, int i, int j, const Block& block) {
        for (int r = 0; r < components; ++r)
          for (int c = 0; c < components; ++c) kept[i * components + r][j * components + c] = block(r, c);
      });
      take_modes<K>(numbers, tile.row, tile.column, kept);
      VSR_UNROLLED
      for (int i = 0; i < 2; ++i) {
        VSR_UNROLLED
        for (int j = 0; j < 2; ++j) {
          const int a = 2 * tile.row + i, b = 2 * tile.column + j;
          if (b < a) continue;
          Block block;
          for (int r = 0; r < components; ++r)
            for (int c = 0; c < components; ++c) block(r, c) = kept[i * components + r][j * components + c];
          visit(a, b, block);
        }
      }
    } else {
      tile.blocks(numbers, parameters, [&](int a, int b, int, int, const Block& block) { visit(a, b, block); });
    }
  }
}

/// Writes the block of nodes a and b, of the diagonal ones the upper half. Returns a sum of 0 · entry.
template <class K>
__device__ inline double write_block(const ElementJob& job, double* out, int a, int b,
                                     const Mat<double, K::components, K::components>& block) {
  constexpr int components = K::components, dofs = K::nodes * components;
  double finite = 0;
  VSR_UNROLLED
  for (int i = 0; i < components; ++i) {
    double* const row = out + 32ll * upper_index<dofs>(a * components + i, b * components);
    const int from = b == a ? i : 0;
    VSR_UNROLLED
    for (int j = 0; j < components; ++j)
      if (j >= from) {
        finite += 0 * block(i, j);
        const double value = job.factor * block(i, j);
        row[32 * j] = job.accumulate ? row[32 * j] + value : value;
      }
  }
  return finite;
}

}  // namespace detail

/// Tangents by pairs of nodes, of elements whose material does not vary within them.
template <class K>
__global__ void __launch_bounds__(detail::PairSizes<K>::threads, detail::PairSizes<K>::blocks)
    pair_tangents(ElementJob job) {
  using namespace detail;
  using S = PairSizes<K>;
  using Pieces = typename K::Pieces;
  VSR_DYNAMIC_SHARED(double, shared);
  int* const faulty =
      reinterpret_cast<int*>(shared + S::total * S::elements);  // of an element: 1 inverted, 2 parameters
  const int lane = static_cast<int>(threadIdx.x) % S::elements, section = static_cast<int>(threadIdx.x) / S::elements;
  const int begin = static_cast<int>(blockIdx.x) * S::elements, own = begin + lane;
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

  DeviceInput<K> in;
  in.expansion_reference = job.view.expansion_reference;
  in.has_temperature = false;
  in.table_rows = 1;
  const long long record = job.view.record ? job.view.record[e] : 0;
  in.table = job.view.parameters + record * (parameter_count_of<K>() + 1);
  const double* const parameters = in.table + 1;

  stage_coordinates<K>(job, begin, shared);
  if (section == 0) {
    faulty[lane] = valid_of<K>(job.view, in) > 0 ? 0 : 2;
    double made[Pieces::room_for_numbers];
    Pieces::prepare(parameters, made);
    for (int i = 0; i < Pieces::numbers; ++i) numbers[(S::material + i) * S::elements] = made[i];
  }
  __syncthreads();
  if (!visit_points<K>(in, numbers, section)) atomicMax(&faulty[lane], 1);
  __syncthreads();
  if constexpr (Pieces::bbar) {
    average_points<K>(numbers, section);
    __syncthreads();
  }
  if constexpr (S::mode_dofs > 0) {
    sum_mode_pairs<K>(numbers, parameters, section);
    __syncthreads();
    eliminate_modes<K>(numbers, section);
  }

  double finite = 0;
  visit_node_pairs<K>(numbers, parameters, section, [&](int a, int b, const typename PairTile<K>::Block& block) {
    if (counts) finite += write_block<K>(job, out, a, b, block);
  });
  if (!counts) return;
  const int fault = faulty[lane];
  if (fault != 0 && section == 0)
    report(job.fault, e, fault == 2 ? ElementFault::bad_parameter : ElementFault::inverted);
  if (fault == 0 && !(finite == 0)) report(job.fault, e, ElementFault::not_finite);
}

}  // namespace voussoir::cuda
