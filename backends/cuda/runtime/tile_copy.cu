#include <voussoir/backends/cuda/runtime/tile_copy.hpp>

#if !defined(VSR_CUDA_EMULATED)
#include <cuda.h>
#endif

namespace voussoir::cuda {

bool allows_tiles(const TileShape& s) {
  constexpr std::int64_t most_numbers = std::int64_t{1} << 31, most_bytes = std::int64_t{1} << 40;
  const auto whole = [&](std::int64_t numbers) { return numbers * s.number_bytes % bulk_alignment == 0; };
  if (s.number_bytes != 4 && s.number_bytes != 8) return false;
  if (reinterpret_cast<std::uintptr_t>(s.start) % bulk_alignment != 0 || !whole(s.width)) return false;
  if (s.width < 1 || s.width > 256 || s.height < 1 || s.height > 256) return false;
  for (const std::int64_t extent : s.extent)
    if (extent < 1 || extent >= most_numbers) return false;
  for (const std::int64_t stride : {s.stride_y, s.stride_z})
    if (stride < 1 || stride >= most_bytes / s.number_bytes || !whole(stride)) return false;
  return true;
}

#if defined(VSR_CUDA_EMULATED)

TileMap make_tile_map(const TileShape& shape) { return {shape}; }

#else

namespace {

using EncodeTiled = decltype(&cuTensorMapEncodeTiled);

EncodeTiled find_encoder() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
#else
  const cudaError_t status = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &found);
#endif
  check(status, "looking for cuTensorMapEncodeTiled");
  if (found != cudaDriverEntryPointSuccess || !function)
    throw Error(ErrorCode::device,
                "the CUDA driver does not describe arrays to the copy engine; install a driver "
                "of CUDA 12 or later");
  return reinterpret_cast<EncodeTiled>(function);
}

}  // namespace

TileMap make_tile_map(const TileShape& s) {
  static const EncodeTiled encode = find_encoder();
  const auto bytes = static_cast<cuuint64_t>(s.number_bytes);
  const cuuint64_t extents[3] = {static_cast<cuuint64_t>(s.extent[0]), static_cast<cuuint64_t>(s.extent[1]),
                                 static_cast<cuuint64_t>(s.extent[2])};
  const cuuint64_t strides[2] = {static_cast<cuuint64_t>(s.stride_y) * bytes,
                                 static_cast<cuuint64_t>(s.stride_z) * bytes};
  const cuuint32_t box[3] = {static_cast<cuuint32_t>(s.width), static_cast<cuuint32_t>(s.height), 1};
  const cuuint32_t steps[3] = {1, 1, 1};
  CUtensorMap map{};
  const CUresult status =
      encode(&map, s.number_bytes == 8 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT64 : CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3,
             const_cast<void*>(s.start), extents, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
             CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS)
    throw Error(ErrorCode::device,
                "cuTensorMapEncodeTiled failed (status " + std::to_string(static_cast<int>(status)) + ")");
  static_assert(sizeof(TileMap) == sizeof(CUtensorMap) && alignof(TileMap) >= alignof(CUtensorMap));
  TileMap result;
  std::memcpy(&result, &map, sizeof(map));
  return result;
}

#endif

}  // namespace voussoir::cuda
