#include <voussoir/backends/cuda/dense/batched_product.hpp>

#include <cstdlib>
#include <string_view>

#include <voussoir/backends/cuda/primitives/tensor_product.hpp>
#include <voussoir/backends/cuda/runtime/cublas_library.hpp>
#include <voussoir/backends/cuda/runtime/memory.hpp>

namespace voussoir::cuda {
namespace {

constexpr int product_threads = 256;
constexpr int product_tile = 64;   // rows and columns of C that a block computes
constexpr int product_depth = 16;  // columns of A and B that it keeps in shared memory

/// A block of threads per tile of C: each of its eight warps has 16 rows and 32 columns.
__global__ void __launch_bounds__(product_threads)
    multiply_tiles(BatchedMatrix c, BatchedMatrix a, BatchedMatrix b, std::int64_t tiles_m, std::int64_t tiles_n,
                   std::int64_t k, double factor, bool add) {
  VSR_SHARED double left[product_depth][product_tile + 4], right[product_depth][product_tile + 4];
  const std::int64_t tile = blockIdx.x, member = tile / (tiles_m * tiles_n), in_member = tile % (tiles_m * tiles_n);
  const std::int64_t row = in_member % tiles_m * product_tile, column = in_member / tiles_m * product_tile;
  const double* const from_a = a.first + member * a.apart + row;
  const double* const from_b = b.first + member * b.apart + column;
  const int t = static_cast<int>(threadIdx.x), lane = t % 32, warp = t / 32;
  const int own_row = 16 * (warp % 4) + lane / 4, own_column = 32 * (warp / 4) + lane / 4, inner = lane % 4;
  double top[4][2] = {}, bottom[4][2] = {};
  for (std::int64_t k0 = 0; k0 < k; k0 += product_depth) {
    for (int d = t / product_tile; d < product_depth; d += product_threads / product_tile) {
      left[d][t % product_tile] = from_a[(k0 + d) * a.stride + t % product_tile];
      right[d][t % product_tile] = from_b[(k0 + d) * b.stride + t % product_tile];
    }
    __syncthreads();
#pragma unroll
    for (int d = 0; d < product_depth; d += 8) {
      const double a_top[2] = {left[d + inner][own_row], left[d + 4 + inner][own_row]};
      const double a_bottom[2] = {left[d + inner][own_row + 8], left[d + 4 + inner][own_row + 8]};
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const double own_b[2] = {right[d + inner][own_column + 8 * j], right[d + 4 + inner][own_column + 8 * j]};
        multiply_add(top[j], bottom[j], a_top, a_bottom, own_b);
      }
    }
    __syncthreads();
  }
  double* const to = c.first + member * c.apart + (column + 32 * (warp / 4) + 2 * inner) * c.stride + row + own_row;
#pragma unroll
  for (int j = 0; j < 4; ++j)
#pragma unroll
    for (int s = 0; s < 2; ++s) {
      double* const at = to + (8 * j + s) * c.stride;
      at[0] = (add ? at[0] : 0.0) + factor * top[j][s];
      at[8] = (add ? at[8] : 0.0) + factor * bottom[j][s];
    }
}

}  // namespace

#if defined(VSR_HAS_CUBLAS)
struct BatchedProducts::Vendor {
  std::shared_ptr<CublasHandle> handle;
};
#else
struct BatchedProducts::Vendor {};
#endif

BatchedProducts::BatchedProducts(std::shared_ptr<DeviceMemory> memory) : memory_(std::move(memory)) {
#if defined(VSR_HAS_CUBLAS)
  const char* const wanted = std::getenv("VOUSSOIR_CUDA_CUBLAS");
  if (wanted && std::string_view(wanted) == "0") return;
  if (auto handle = CublasHandle::of(memory_)) vendor_ = std::make_unique<Vendor>(Vendor{std::move(handle)});
#endif
}

BatchedProducts::~BatchedProducts() = default;

void BatchedProducts::multiply(To how, const BatchedMatrix& c, const BatchedMatrix& a, const BatchedMatrix& b,
                               std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t count) const {
  if (m <= 0 || n <= 0 || k <= 0 || count <= 0) return;
  const double factor = how == To::set ? 1 : -1;
#if defined(VSR_HAS_CUBLAS)
  if (vendor_) {
    const CublasLibrary& library = CublasLibrary::instance();
    const double before = how == To::set ? 0 : 1;
    library.check(library.products(*vendor_->handle, CUBLAS_OP_N, CUBLAS_OP_T, static_cast<int>(m), static_cast<int>(n),
                                   static_cast<int>(k), &factor, a.first, static_cast<int>(a.stride), a.apart, b.first,
                                   static_cast<int>(b.stride), b.apart, &before, c.first, static_cast<int>(c.stride),
                                   c.apart, static_cast<int>(count)),
                  "a batch of products");
    return;
  }
#endif
  const std::int64_t tiles_m = m / product_tile, tiles_n = n / product_tile;
  launch(multiply_tiles, Grid{count * tiles_m * tiles_n, product_threads, 0}, stream_of(memory_), c, a, b, tiles_m,
         tiles_n, k, factor, how == To::subtract);
}

}  // namespace voussoir::cuda
