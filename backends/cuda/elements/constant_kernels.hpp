#pragma once
#include <voussoir/backends/cuda/elements/tensor_kernels.hpp>

// Tangents of general laws whose tensor C depends on the parameters alone (elements/point/general_pieces.hpp). As
// tensor_tangents, but C is computed once per element: at the points there are only the weights of the nodes, and
//   K_ab = C : Σ_q W_a ⊗ W_b
// which takes a few multiplications per point.

namespace voussoir::cuda {

namespace detail {

/// How an element is shared among threads, and where its numbers are in shared memory.
template <class K>
struct ConstantSizes {
  using Pieces = typename K::Pieces;
  static constexpr int kinds = Pieces::kinds;
  static constexpr int tensor = K::points * K::nodes * kinds;  // the weights come first
  static constexpr int coordinates = tensor + Pieces::tensor_numbers;
  static constexpr int total = coordinates + K::dim * K::nodes;
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
  static constexpr int blocks_by_memory = most_bytes / (bytes + 1024);

  /// Threads of an element: sums of four pairs take most of the registers, so that 384 threads find room.
  static constexpr int make_sections() {
    const int step = 32 / elements, share = 384 / (blocks_by_memory > 1 ? blocks_by_memory : 1) / elements;
    const int wanted = share > step ? share : step;
    int turns = 1;
    while ((tiles + turns - 1) / turns > wanted) ++turns;
    return ((tiles + turns - 1) / turns + step - 1) / step * step;
  }
  static constexpr int sections = make_sections();
  static constexpr int threads = sections * elements;
  static constexpr int make_blocks() {
    const int by_registers = 384 / threads;
    const int least = blocks_by_memory < by_registers ? blocks_by_memory : by_registers;
    return least > 1 ? least : 1;
  }
  static constexpr int blocks = make_blocks();
};

template <class K>
constexpr bool has_constant_tensor() {
  if constexpr (requires { requires K::Pieces::constant; })
    return ConstantSizes<K>::fits;
  else
    return false;
}

/// Σ_q W_a ⊗ W_b of four pairs of nodes: 2·row and the next with 2·column and the next.
template <class K>
struct WeightTile {
  using S = ConstantSizes<K>;
  using Pieces = typename K::Pieces;
  static constexpr int kinds = Pieces::kinds, components = K::components;
  double sum[2][2][kinds][kinds];
  int row, column;

  __device__ static void load(const double* values, int tile, double (&w)[2][kinds]) {
    VSR_UNROLLED
    for (int i = 0; i < 2; ++i) {
      const int a = 2 * tile + i < K::nodes ? 2 * tile + i : K::nodes - 1;
      VSR_UNROLLED
      for (int k = 0; k < kinds; ++k) w[i][k] = values[(a * kinds + k) * S::elements];
    }
  }

  /// `numbers` are those of the element in shared memory.
  __device__ void add_points(const double* numbers) {
    for (int m = 0; m < 2; ++m)
      for (int n = 0; n < 2; ++n)
        for (int r = 0; r < kinds; ++r)
          for (int c = 0; c < kinds; ++c) sum[m][n][r][c] = 0;
#pragma unroll 1
    for (int q = 0; q < K::points; ++q) {
      const double* const values = numbers + q * K::nodes * kinds * S::elements;
      double a[2][kinds], b[2][kinds];
      load(values, row, a);
      load(values, column, b);
      VSR_UNROLLED
      for (int m = 0; m < 2; ++m) {
        VSR_UNROLLED
        for (int n = 0; n < 2; ++n) {
          VSR_UNROLLED
          for (int r = 0; r < kinds; ++r) {
            VSR_UNROLLED
            for (int c = 0; c < kinds; ++c) sum[m][n][r][c] += a[m][r] * b[n][c];
          }
        }
      }
    }
  }

  /// Contracts the sums with C and writes the entries. Returns a sum of 0 · entry.
  __device__ double write(const ElementJob& job, const double* numbers, double* out) const {
    const double* const tensor = numbers + S::tensor * S::elements;
    double finite = 0;
    VSR_UNROLLED
    for (int i = 0; i < components; ++i) {
      VSR_UNROLLED
      for (int j = 0; j < components; ++j) {
        double entry[2][2] = {};
        VSR_UNROLLED
        for (int r = 0; r < kinds; ++r) {
          if (Pieces::slot(i, r) < 0) continue;
          VSR_UNROLLED
          for (int c = 0; c < kinds; ++c) {
            if (Pieces::slot(j, c) < 0) continue;
            const double number = tensor[Pieces::place(Pieces::slot(i, r), Pieces::slot(j, c)) * S::elements];
            for (int m = 0; m < 2; ++m)
              for (int n = 0; n < 2; ++n) entry[m][n] += number * sum[m][n][r][c];
          }
        }
        VSR_UNROLLED
        for (int m = 0; m < 2; ++m) {
          VSR_UNROLLED
          for (int n = 0; n < 2; ++n) finite += write_entry(job, out, m, n, i, j, entry[m][n]);
        }
      }
    }
    return finite;
  }

 private:
  __device__ double write_entry(const ElementJob& job, double* out, int m, int n, int i, int j, double entry) const {
    constexpr int dofs = K::nodes * components;
    const int a = 2 * row + m, b = 2 * column + n;
    if (a >= K::nodes || b >= K::nodes || (Pieces::symmetric && (b < a || (a == b && j < i)))) return 0;
    const int at = Pieces::symmetric ? upper_index<dofs>(a * components + i, b * components + j)
                                     : (a * components + i) * dofs + b * components + j;
    double& target = out[32ll * at];
    const double value = job.factor * entry;
    target = job.accumulate ? target + value : value;
    return 0 * entry;
  }
};

/// Positions of the nodes of a block's elements, to shared memory.
template <class K>
__device__ inline void stage_positions(const ElementJob& job, int begin, double* shared) {
  using S = ConstantSizes<K>;
  for (int i = static_cast<int>(threadIdx.x); i < S::elements * K::nodes; i += S::threads) {
    const int lane = i / K::nodes, a = i % K::nodes;
    const int e = begin + lane < job.count ? begin + lane : job.count - 1;
    const int node = job.view.nodes[static_cast<long long>(job.first + e) * K::nodes + a];
    const double* x = job.view.coordinates + 3ll * node;
    for (int k = 0; k < K::dim; ++k) shared[(S::coordinates + a * K::dim + k) * S::elements + lane] = x[k];
  }
}

}  // namespace detail

/// Tangents of general laws that depend on the parameters alone, of elements whose material does not vary within them.
template <class K>
__global__ void __launch_bounds__(detail::ConstantSizes<K>::threads, detail::ConstantSizes<K>::blocks)
    constant_tangents(ElementJob job) {
  using namespace detail;
  using S = ConstantSizes<K>;
  using Pieces = typename K::Pieces;
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
  DeviceInput<K> in;
  in.has_temperature = false;
  in.table_rows = 1;
  const long long record = job.view.record ? job.view.record[e] : 0;
  in.table = job.view.parameters + record * (parameter_count_of<K>() + 1);
  if (section == 0) faulty[lane] = valid_of<K>(job.view, in) > 0 ? 0 : 2;
  stage_positions<K>(job, static_cast<int>(blockIdx.x) * S::elements, shared);
  __syncthreads();
  if (section == S::sections - 1)  // which has the fewest points
    Pieces::constant_tensor(in.table + 1,
                            [&](int place, double value) { numbers[(S::tensor + place) * S::elements] = value; });
  const auto x = [&](int a, int k) { return numbers[(S::coordinates + a * K::dim + k) * S::elements]; };
  bool healthy = true;
#pragma unroll 1
  for (int q = section; q < K::points; q += S::sections) {
    double* const values = numbers + q * K::nodes * S::kinds * S::elements;
    const double health = Pieces::scaled_weights_at(
        in, q, x, [&](int a, int k, double weight) { values[(a * S::kinds + k) * S::elements] = weight; });
    healthy = healthy && health > 0;
  }
  if (!healthy) atomicMax(&faulty[lane], 1);
  __syncthreads();
  const int fault = faulty[lane];
  double finite = 0;
#pragma unroll 1
  for (int t = section; t < S::tiles; t += S::sections) {
    WeightTile<K> tile;
    if constexpr (Pieces::symmetric) {
      tile.row = 0;
      tile.column = t;
      while (tile.column >= S::node_tiles) tile.column -= S::node_tiles - ++tile.row;
    } else {
      tile.row = t / S::node_tiles;
      tile.column = t % S::node_tiles;
    }
    tile.add_points(numbers);
    if (counts) finite += tile.write(job, numbers, out);
  }
  if (!counts) return;
  if (fault != 0 && section == 0)
    report(job.fault, e, fault == 2 ? ElementFault::bad_parameter : ElementFault::inverted);
  if (fault == 0 && !(finite == 0)) report(job.fault, e, ElementFault::not_finite);
}

}  // namespace voussoir::cuda
