#pragma once
#include <cstdint>
#include <cstring>

#include <voussoir/backends/cuda/runtime/bulk_copy.hpp>
#include <voussoir/backends/cuda/runtime/runtime.hpp>

// Copies of rectangles of an array between memory and shared memory by the copy engine of a multiprocessor (compute
// capability 9.0 and later). One thread starts a copy; the engine computes the addresses. Parts of a rectangle that lie
// outside the array become zeros in shared memory and are not written to memory.

namespace voussoir::cuda {

/// An array of three extents and the rectangle of it that a copy moves. Numbers of a line along x are contiguous.
struct TileShape {
  const void* start = nullptr;
  int number_bytes = 8;                     ///< 4 or 8
  std::int64_t extent[3] = {1, 1, 1};       ///< along x, y, z
  std::int64_t stride_y = 1, stride_z = 1;  ///< numbers from a line to the next one, and from a plane
  int width = 1, height = 1;                ///< of the rectangle, along x and y
};

#if defined(VSR_CUDA_EMULATED)
struct TileMap {
  TileShape shape;
};
#else
/// What the copy engine has to know about an array. Kernels take it as a parameter marked __grid_constant__.
struct alignas(128) TileMap {
  unsigned char bytes[128];
};
#endif

/// Whether the copy engine can move such rectangles: it wants addresses, strides and widths in multiples of 16 bytes,
/// and rectangles of at most 256 numbers along each side.
bool allows_tiles(const TileShape& shape);
/// The description of an array that allows tiles. Throws Error (device) where the driver refuses it.
TileMap make_tile_map(const TileShape& shape);

/// Shared memory from the first multiple of 128 bytes on, where rectangles begin.
template <class T>
__device__ inline T* tile_start(T* shared) {
  return reinterpret_cast<T*>((reinterpret_cast<std::uintptr_t>(shared) + 127) / 128 * 128);
}

#if defined(VSR_CUDA_EMULATED)

inline void expect_bytes(Arrival*, unsigned) {}
inline void require_tile_place(const void* shared) {
  if (reinterpret_cast<std::uintptr_t>(shared) % 128 != 0)
    throw Error(ErrorCode::internal, "a rectangle in shared memory does not begin at a multiple of 128 bytes");
}
inline void bring_tile(void* to, const TileMap& map, int x, int y, int z, Arrival*) {
  const TileShape& s = map.shape;
  require_tile_place(to);
  auto* at = static_cast<char*>(to);
  const auto* from = static_cast<const char*>(s.start);
  for (int j = 0; j < s.height; ++j)
    for (int i = 0; i < s.width; ++i, at += s.number_bytes)
      if (x + i < s.extent[0] && y + j < s.extent[1])
        std::memcpy(at, from + (x + i + (y + j) * s.stride_y + z * s.stride_z) * s.number_bytes,
                    static_cast<std::size_t>(s.number_bytes));
      else
        std::memset(at, 0, static_cast<std::size_t>(s.number_bytes));
}
inline void take_tile(const TileMap& map, int x, int y, int z, const void* from) {
  const TileShape& s = map.shape;
  require_tile_place(from);
  const auto* at = static_cast<const char*>(from);
  auto* to = static_cast<char*>(const_cast<void*>(s.start));
  for (int j = 0; j < s.height; ++j)
    for (int i = 0; i < s.width; ++i, at += s.number_bytes)
      if (x + i < s.extent[0] && y + j < s.extent[1])
        std::memcpy(to + (x + i + (y + j) * s.stride_y + z * s.stride_z) * s.number_bytes, at,
                    static_cast<std::size_t>(s.number_bytes));
}
inline void all_tiles_started() {}

#else

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define VSR_TILE(...) asm volatile(__VA_ARGS__)
#else
#define VSR_TILE(...) __trap()  // the host starts no such kernel on older GPUs
#endif

/// By one thread, before it starts the copies that make up an arrival: their bytes together, with those outside.
__device__ inline void expect_bytes(Arrival* arrival, unsigned bytes) {
  VSR_TILE("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(arrival)), "r"(bytes)
           : "memory");
}
/// By the same thread: starts the copy of the rectangle at (x, y, z) to shared memory.
__device__ inline void bring_tile(void* to, const TileMap& map, int x, int y, int z, Arrival* arrival) {
  VSR_TILE(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], "
      "[%5];" ::"r"(shared_address(to)),
      "l"(&map), "r"(x), "r"(y), "r"(z), "r"(shared_address(arrival))
      : "memory");
}
/// By one thread: starts the copy of a rectangle from shared memory. all_tiles_started() ends a group of such copies.
__device__ inline void take_tile(const TileMap& map, int x, int y, int z, const void* from) {
  VSR_TILE("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(&map), "r"(x),
           "r"(y), "r"(z), "r"(shared_address(from))
           : "memory");
}
/// By the same thread; wait_taken() and wait_all_taken() of bulk_copy.hpp wait for the group.
__device__ inline void all_tiles_started() { VSR_TILE("cp.async.bulk.commit_group;" ::: "memory"); }

#undef VSR_TILE
#endif

}  // namespace voussoir::cuda
