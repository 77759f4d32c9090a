#include <voussoir/backends/cuda/elements/element_products.hpp>

#include <voussoir/backends/cuda/elements/cluster_kernels.hpp>
#include <voussoir/backends/cuda/runtime/memory.hpp>
#include <voussoir/backends/detail/upper_triangle.hpp>

// Products with stored element matrices, by clusters and element by element.

namespace voussoir::cuda {

using voussoir::detail::matrix_entry;
using voussoir::detail::triangle_row;

namespace {

/// A number that no other thread needs: it need not stay in the cache.
__device__ inline double load_once(const double* p) {
#if defined(__CUDA_ARCH__)
  return __ldcs(p);
#else
  return *p;
#endif
}

/// result = matrix · x of one element, the numbers of the upper triangle 32 apart, for `width` columns. Indices are
/// constants, so that all vectors stay in registers.
template <int dofs, int width>
__device__ inline void multiply_lane(const double* matrix, const double (&x)[width][dofs],
                                     double (&result)[width][dofs]) {
#pragma unroll
  for (int w = 0; w < width; ++w)
#pragma unroll
    for (int i = 0; i < dofs; ++i) result[w][i] = 0;
#pragma unroll
  for (int i = 0; i < dofs; ++i) {
    const double* row = matrix + 32 * (triangle_row(i, dofs) + i);
    const double diagonal = load_once(row);
#pragma unroll
    for (int w = 0; w < width; ++w) result[w][i] += diagonal * x[w][i];
#pragma unroll
    for (int j = i + 1; j < dofs; ++j) {
      const double m = load_once(row + 32 * (j - i));
#pragma unroll
      for (int w = 0; w < width; ++w) {
        result[w][i] += m * x[w][j];
        result[w][j] += m * x[w][i];
      }
    }
  }
}

/// Columns for which an element keeps x and result in the registers of a thread.
constexpr int columns_at_once(int dofs) { return dofs <= 12 ? 4 : dofs <= 24 ? 2 : 1; }

/// The same for any size, with both vectors in shared memory, their numbers `stride` apart.
__device__ inline void multiply_column(int dofs, const double* matrix, const double* x, double* result, int stride) {
  for (int i = 0; i < dofs; ++i) result[i * stride] = 0;
  for (int i = 0; i < dofs; ++i) {
    const double own = x[i * stride];
    double sum = result[i * stride] + load_once(matrix) * own;
    matrix += 32;
#pragma unroll 8
    for (int j = i + 1; j < dofs; ++j, matrix += 32) {
      const double m = load_once(matrix);
      sum += m * x[j * stride];
      result[j * stride] += m * own;
    }
    result[i * stride] = sum;
  }
}

__device__ inline const double* matrix_of(const double* matrices, std::int64_t place, int entries) {
  return matrices + place / 32 * entries * 32 + place % 32;
}

template <int nodes, int components, int width>
__global__ void __launch_bounds__(128) cluster_stored(ClusterView view, const double* __restrict__ matrices) {
  using namespace detail;
  constexpr int dofs = nodes * components, words = corner_words(nodes);
  view.size = cluster_size(dofs);  // as it is, but known to the compiler
  VSR_DYNAMIC_SHARED(double, shared);
  const ClusterRoom room(shared, view, dofs, nodes, width * components, false);
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t place = static_cast<std::int64_t>(blockIdx.x) * view.size + thread;
  ClusterWords corners[words];
#pragma unroll
  for (int w = 0; w < words; ++w)
    corners[w] = load_passing(view.corner + (static_cast<std::int64_t>(blockIdx.x) * words + w) * view.size + thread);
  load_cluster<nodes, components, false>(view, room);
#pragma unroll
  for (int w = 1; w < width; ++w) load_column<components>(view, room, w);
  __syncthreads();
  double x[width][dofs], result[width][dofs];
  if (place < view.count) {
#pragma unroll
    for (int a = 0; a < nodes; ++a) {
      const int corner = number_of(corners, a);
#pragma unroll
      for (int w = 0; w < width; ++w)
#pragma unroll
        for (int i = 0; i < components; ++i)
          x[w][a * components + i] = room.x[(w * components + i) * view.most_nodes + corner];
    }
    multiply_lane<dofs, width>(matrix_of(matrices, place, dofs * (dofs + 1) / 2), x, result);
  }
#pragma unroll
  for (int w = 0; w < width; ++w) {
    if (w > 0) __syncthreads();  // the vectors of the column before have been read
    if (place < view.count) keep_vector<nodes, components>(view, 1, result[w], room);
    __syncthreads();
    sum_nodes<components>(view, room, nodes, w);
  }
}

/// The same for any number of nodes, with the element's x in shared memory as well. (Vectors stand [component][node]
/// there.)
template <int components>
__global__ void __launch_bounds__(128)
    cluster_stored_any(ClusterView view, int nodes, const double* __restrict__ matrices) {
  using namespace detail;
  const int dofs = nodes * components, words = corner_words(nodes);
  VSR_DYNAMIC_SHARED(double, shared);
  const ClusterRoom room(shared, view, 2 * dofs, nodes, components, false);
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t place = static_cast<std::int64_t>(blockIdx.x) * view.size + thread;
  load_cluster<0, components, false>(view, room, nodes);
  __syncthreads();
  if (place < view.count) {
    double* own = room.vectors + static_cast<std::int64_t>(dofs) * view.size + thread;
    double* result = room.vectors + thread;
    for (int a = 0; a < nodes; ++a) {
      const ClusterWords* eight = view.corner + (static_cast<std::int64_t>(blockIdx.x) * words + a / 8) * view.size;
      const int corner = reinterpret_cast<const ClusterNumber*>(eight + thread)[a % 8];
#pragma unroll
      for (int i = 0; i < components; ++i) own[(a * components + i) * view.size] = room.x[i * view.most_nodes + corner];
    }
    multiply_column(dofs, matrix_of(matrices, place, dofs * (dofs + 1) / 2), own, result, view.size);
    // From node by node to component by component, through the room of x, which has served.
    for (int k = 0; k < dofs; ++k) own[k * view.size] = result[k * view.size];
    for (int a = 0; a < nodes; ++a)
#pragma unroll
      for (int i = 0; i < components; ++i) result[(i * nodes + a) * view.size] = own[(a * components + i) * view.size];
  }
  __syncthreads();
  sum_nodes<components>(view, room, nodes);
}

/// `width` columns, `step` numbers apart.
template <int dofs, int width>
__global__ void __launch_bounds__(128) multiply_small(std::int32_t count, const double* __restrict__ matrices,
                                                      const double* vectors, double* products, std::int64_t step) {
  const std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (e >= count) return;
  const std::int64_t at = e / 32 * dofs * 32 + e % 32;
  double x[width][dofs], result[width][dofs];
#pragma unroll
  for (int w = 0; w < width; ++w)
#pragma unroll
    for (int i = 0; i < dofs; ++i) x[w][i] = vectors[w * step + at + 32 * i];
  multiply_lane<dofs, width>(matrix_of(matrices, e, dofs * (dofs + 1) / 2), x, result);
#pragma unroll
  for (int w = 0; w < width; ++w)
#pragma unroll
    for (int i = 0; i < dofs; ++i) products[w * step + at + 32 * i] = result[w][i];
}

/// Spreads, multiplies and adds to nodes in one go, in any order.
template <int nodes, int components>
__global__ void __launch_bounds__(128) multiply_and_add(ElementView view, const double* __restrict__ matrices,
                                                        const double* __restrict__ x, NodalTarget y) {
  constexpr int dofs = nodes * components;
  const std::int64_t e = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (e >= view.element_count) return;
  std::int32_t first[nodes];
  double own[1][dofs], result[1][dofs];
#pragma unroll
  for (int a = 0; a < nodes; ++a) first[a] = view.first_unknown[view.nodes[e * nodes + a]];
#pragma unroll
  for (int a = 0; a < nodes; ++a)
#pragma unroll
    for (int i = 0; i < components; ++i) own[0][a * components + i] = x[first[a] + i];
  multiply_lane<dofs, 1>(matrix_of(matrices, e, dofs * (dofs + 1) / 2), own, result);
#pragma unroll
  for (int a = 0; a < nodes; ++a)
#pragma unroll
    for (int i = 0; i < components; ++i)
      atomicAdd(y.y + static_cast<std::int64_t>(first[a] + i) * y.columns + y.column, result[0][a * components + i]);
}

/// Any size, a thread for each row of each element; matrices are read twice.
__global__ void multiply_rows(std::int32_t count, int dofs, bool symmetric, const double* matrices, const double* x,
                              double* vectors) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t group = i / 32 / dofs;
  const int row = static_cast<int>(i / 32 % dofs), lane = static_cast<int>(i % 32);
  if (group * 32 + lane >= count) return;
  const int entries = symmetric ? dofs * (dofs + 1) / 2 : dofs * dofs;
  const double* matrix = matrix_of(matrices, group * 32 + lane, entries);
  const double* from = x + group * dofs * 32 + lane;
  double sum = 0;
  for (int j = 0; j < dofs; ++j)
    sum += matrix[std::int64_t{matrix_entry(row, j, dofs, symmetric)} * 32] * from[static_cast<std::int64_t>(j) * 32];
  vectors[(group * dofs + row) * 32 + lane] = sum;
}

__global__ void spread(ElementView view, int nodes, int components, const double* __restrict__ x, double* vectors) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t group = i / 32 / nodes;
  const int a = static_cast<int>(i / 32 % nodes), lane = static_cast<int>(i % 32);
  const std::int64_t e = group * 32 + lane;
  if (e >= view.element_count) return;
  const double* from = x + view.first_unknown[view.nodes[e * nodes + a]];
  double* to = vectors + (group * nodes + a) * components * 32 + lane;
  const unsigned char* slot = view.slot ? view.slot + std::int64_t{view.nodes[e * nodes + a]} * components : nullptr;
  for (int k = 0; k < components; ++k) to[32 * k] = from[slot ? slot[k] : k];
}

__global__ void place_matrices(std::int32_t first, std::int32_t count, int entries,
                               const std::int32_t* __restrict__ place, const double* __restrict__ plain,
                               double* ordered) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t group = i / 32 / entries;
  const int entry = static_cast<int>(i / 32 % entries), lane = static_cast<int>(i % 32);
  if (group * 32 + lane >= count) return;
  const std::int64_t to = place[first + group * 32 + lane];
  ordered[(to / 32 * entries + entry) * 32 + to % 32] = plain[i];
}

using ClusterKernel = void (*)(ClusterView, const double*);
using ScatterKernel = void (*)(ElementView, const double*, const double*, NodalTarget);
/// Kernels for an element type that is met often.
struct TypeKernels {
  ClusterKernel one = nullptr;   ///< a column of a cluster product
  ClusterKernel many = nullptr;  ///< `width` of them at once
  int width = 1;
  ScatterKernel scatter = nullptr;
};
template <int nodes, int components>
TypeKernels kernels_of_type() {
  constexpr int width = columns_at_once(nodes * components);
  return {cluster_stored<nodes, components, 1>, cluster_stored<nodes, components, width>, width,
          multiply_and_add<nodes, components>};
}
/// Null for other types.
TypeKernels type_kernels(int nodes, int components) {
  switch (components * 100 + nodes) {
    case 102:
      return kernels_of_type<2, 1>();
    case 103:
      return kernels_of_type<3, 1>();
    case 104:
      return kernels_of_type<4, 1>();
    case 106:
      return kernels_of_type<6, 1>();
    case 108:
      return kernels_of_type<8, 1>();
    case 110:
      return kernels_of_type<10, 1>();
    case 120:
      return kernels_of_type<20, 1>();
    case 202:
      return kernels_of_type<2, 2>();
    case 203:
      return kernels_of_type<3, 2>();
    case 204:
      return kernels_of_type<4, 2>();
    case 206:
      return kernels_of_type<6, 2>();
    case 208:
      return kernels_of_type<8, 2>();
    case 302:
      return kernels_of_type<2, 3>();
    case 303:
      return kernels_of_type<3, 3>();
    case 304:
      return kernels_of_type<4, 3>();
    case 308:
      return kernels_of_type<8, 3>();
    case 310:
      return kernels_of_type<10, 3>();
    case 602:
      return kernels_of_type<2, 6>();
    default:
      return {};
  }
}
using AnyClusterKernel = void (*)(ClusterView, int, const double*);
AnyClusterKernel any_cluster_kernel(int components) {
  switch (components) {
    case 1:
      return cluster_stored_any<1>;
    case 2:
      return cluster_stored_any<2>;
    case 3:
      return cluster_stored_any<3>;
    case 4:
      return cluster_stored_any<4>;
    case 5:
      return cluster_stored_any<5>;
    case 6:
      return cluster_stored_any<6>;
    default:
      return nullptr;
  }
}

using MultiplyKernel = void (*)(std::int32_t, const double*, const double*, double*, std::int64_t);
/// Kernels for a number of unknowns that is met often, for one column and for `width` of them.
struct MultiplyKernels {
  MultiplyKernel one = nullptr, many = nullptr;
  int width = 1;
};
template <int dofs>
MultiplyKernels kernels_of_size() {
  return {multiply_small<dofs, 1>, multiply_small<dofs, columns_at_once(dofs)>, columns_at_once(dofs)};
}
/// Null for other numbers.
MultiplyKernels multiply_kernels(int dofs) {
  switch (dofs) {
    case 2:
      return kernels_of_size<2>();
    case 3:
      return kernels_of_size<3>();
    case 4:
      return kernels_of_size<4>();
    case 6:
      return kernels_of_size<6>();
    case 8:
      return kernels_of_size<8>();
    case 9:
      return kernels_of_size<9>();
    case 10:
      return kernels_of_size<10>();
    case 12:
      return kernels_of_size<12>();
    case 16:
      return kernels_of_size<16>();
    case 20:
      return kernels_of_size<20>();
    case 24:
      return kernels_of_size<24>();
    case 30:
      return kernels_of_size<30>();
    default:
      return {};
  }
}

/// Dynamic shared memory of kernels for any number of nodes: a second vector for each element.
std::size_t second_vectors(int dofs, int size) {
  return sizeof(double) * static_cast<std::size_t>(dofs) * static_cast<std::size_t>(size);
}

}  // namespace

bool fits_cluster_product(const ElementProgram& program, const DeviceMemory& memory) {
  if (!program.symmetric()) return false;
  if (type_kernels(program.nodes(), program.components()).one) return fits_clusters(program, memory);
  return any_cluster_kernel(program.components()) &&
         fits_clusters(program, memory, second_vectors(program.dofs(), cluster_size_of(program)));
}

void cluster_product(const ClusterPlan& plan, const double* matrices, const double* x, const ClusterSums& sums,
                     cudaStream_t stream) {
  const TypeKernels kernels = type_kernels(plan.nodes, plan.components);
  const bool many_fit = kernels.width > 1 && plan.shared_bytes(false, kernels.width) <= plan.most_shared;
  for (int w = 0; w < sums.width;) {
    const ClusterView view = cluster_view(plan, x + w * sums.x_step, sums.only(w));
    if (many_fit && w + kernels.width <= sums.width) {
      launch(kernels.many, Grid{plan.clusters, plan.size, plan.shared_bytes(false, kernels.width), Start::early},
             stream, view, matrices);
      w += kernels.width;
      continue;
    }
    ++w;
    if (kernels.one) {
      launch(kernels.one, Grid{plan.clusters, plan.size, plan.shared_bytes(false), Start::early}, stream, view,
             matrices);
      continue;
    }
    const std::size_t more = second_vectors(plan.nodes * plan.components, plan.size);
    launch(any_cluster_kernel(plan.components), Grid{plan.clusters, plan.size, plan.shared_bytes(false) + more}, stream,
           view, plan.nodes, matrices);
  }
}

bool scatters_at_once(const ElementProgram& program) {
  return program.symmetric() && type_kernels(program.nodes(), program.components()).scatter != nullptr;
}

void multiply_to_nodes(const ElementView& view, const ElementProgram& program, const double* matrices, const double* x,
                       const NodalTarget& y, cudaStream_t stream) {
  launch(type_kernels(program.nodes(), program.components()).scatter, grid_for(view.element_count, 128), stream, view,
         matrices, x, y);
}

void order_matrices(const ClusterPlan& plan, std::int32_t first, std::int32_t count, const double* plain,
                    double* ordered, cudaStream_t stream) {
  const int dofs = plan.nodes * plan.components, entries = dofs * (dofs + 1) / 2;
  const std::int64_t numbers = (std::int64_t{count} + 31) / 32 * 32 * entries;
  launch(place_matrices, grid_for(numbers), stream, first, count, entries, plan.place.read_device(), plain, ordered);
}

void spread_vector(const ElementView& view, const ElementProgram& program, const double* x, double* vectors,
                   cudaStream_t stream) {
  const std::int64_t items = (std::int64_t{view.element_count} + 31) / 32 * 32 * program.nodes();
  launch(spread, grid_for(items), stream, view, program.nodes(), program.components(), x, vectors);
}

/// Null for whole matrices.
static MultiplyKernels multiply_kernels(const ElementProgram& program) {
  return program.symmetric() ? multiply_kernels(program.dofs()) : MultiplyKernels{};
}

bool multiplies_in_place(const ElementProgram& program) { return multiply_kernels(program).one != nullptr; }

void multiply_vectors(std::int32_t count, const ElementProgram& program, const double* matrices,
                      const ElementColumns& columns, cudaStream_t stream) {
  const int dofs = program.dofs();
  const MultiplyKernels kernels = multiply_kernels(program);
  const std::int64_t numbers = (std::int64_t{count} + 31) / 32 * 32 * dofs;
  for (int w = 0; w < columns.width;) {
    const double* x = columns.x + w * columns.step;
    double* products = columns.products + w * columns.step;
    const bool many = kernels.width > 1 && w + kernels.width <= columns.width;
    if (kernels.one)
      launch(many ? kernels.many : kernels.one, grid_for(count, 128), stream, count, matrices, x, products,
             columns.step);
    else
      launch(multiply_rows, grid_for(numbers), stream, count, dofs, program.symmetric(), matrices, x, products);
    w += many ? kernels.width : 1;
  }
}

}  // namespace voussoir::cuda
