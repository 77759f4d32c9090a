#include <voussoir/backends/openmp/openmp_memory.hpp>

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include <voussoir/backends/detail/readable_bytes.hpp>
#include <voussoir/backends/error.hpp>
#include <voussoir/backends/openmp/parallel.hpp>

namespace voussoir {

namespace {

constexpr std::size_t cache_line = 64;
constexpr std::size_t huge_page = std::size_t{2} << 20;

}  // namespace

void* OpenMpMemory::allocate(std::size_t bytes) {
  // Matrices are read through indices all over; large pages save most of the address translation.
  const bool large = bytes >= 4 * huge_page;
  const std::size_t alignment = large ? huge_page : cache_line;
  void* pointer = nullptr;
  if (posix_memalign(&pointer, alignment, bytes) != 0)
    throw Error(ErrorCode::out_of_memory, "out of memory: " + detail::readable_bytes(bytes) + " were requested (" +
                                              detail::readable_bytes(bytes_in_use()) +
                                              " in use by the backend); use a matrix-free operator or a smaller model");
  if (large) madvise(pointer, bytes / huge_page * huge_page, MADV_HUGEPAGE);
  cpu::for_blocks((bytes + sizeof(double) - 1) / sizeof(double), threads_, [&](std::size_t begin, std::size_t end) {
    const std::size_t first = begin * sizeof(double);
    std::memset(static_cast<char*>(pointer) + first, 0, std::min(bytes, end * sizeof(double)) - first);
  });
  count_allocation(bytes);
  return pointer;
}

void OpenMpMemory::release(void* pointer, std::size_t bytes) noexcept {
  std::free(pointer);
  count_release(bytes);
}

void* OpenMpMemory::allocate_host(std::size_t bytes) { return allocate(bytes); }

void OpenMpMemory::release_host(void* pointer, std::size_t bytes) noexcept { release(pointer, bytes); }

void OpenMpMemory::copy_to_device(void* device, const void* host, std::size_t bytes) {
  std::memcpy(device, host, bytes);
}

void OpenMpMemory::copy_to_host(void* host, const void* device, std::size_t bytes) { std::memcpy(host, device, bytes); }

void OpenMpMemory::copy(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

void OpenMpMemory::clear(void* device, std::size_t first, std::size_t bytes) {
  std::memset(static_cast<char*>(device) + first, 0, bytes);
}

}  // namespace voussoir
