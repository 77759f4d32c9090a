#include <voussoir/backends/cuda/runtime/memory.hpp>

#include <algorithm>
#include <cstdlib>

#include <voussoir/backends/detail/readable_bytes.hpp>

namespace voussoir::cuda {

using voussoir::detail::readable_bytes;

namespace {

/// Sizes of pinned blocks are rounded up, so that one can serve again for a size nearby.
std::size_t pinned_size(std::size_t bytes) {
  std::size_t step = 4096;
  while (step * 8 < bytes) step *= 2;
  return (bytes + step - 1) / step * step;
}

constexpr std::size_t most_pinned_kept = std::size_t{256} << 20;

// What follows differs between the GPU and its emulation; all else does not.
#if defined(VSR_CUDA_EMULATED)

void* make_pool(int) { return nullptr; }
void destroy_pool(void*) noexcept {}
void* allocate_from(void*, std::size_t bytes, cudaStream_t) { return emulation::allocate(bytes); }
void give_back(void* pointer, cudaStream_t) noexcept { emulation::release(pointer); }
std::size_t free_bytes(int, void*) { return emulation::free_bytes(); }
bool empty_pool(void*, cudaStream_t) noexcept { return true; }
void open_pool(void*, int) {}
void* pin(std::size_t bytes) { return std::malloc(bytes); }
void unpin(void* pointer) noexcept { std::free(pointer); }

#else

void* make_pool(int ordinal) {
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = ordinal;
  cudaMemPool_t pool = nullptr;
  check(cudaMemPoolCreate(&pool, &properties), "creating a memory pool");
  std::uint64_t keep = UINT64_MAX;  // until somebody needs it: emptied where an allocation fails
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep), "setting up a memory pool");
  return pool;
}
void destroy_pool(void* pool) noexcept { (void)cudaMemPoolDestroy(static_cast<cudaMemPool_t>(pool)); }
void* allocate_from(void* pool, std::size_t bytes, cudaStream_t stream) {
  void* pointer = nullptr;
  const cudaError_t status = cudaMallocFromPoolAsync(&pointer, bytes, static_cast<cudaMemPool_t>(pool), stream);
  if (status == cudaSuccess) return pointer;
  (void)cudaGetLastError();
  if (status != cudaErrorMemoryAllocation) check(status, "an allocation");
  return nullptr;
}
void give_back(void* pointer, cudaStream_t stream) noexcept { (void)cudaFreeAsync(pointer, stream); }
std::size_t free_bytes(int ordinal, void* pool) {
  std::size_t free = 0, total = 0;
  set_device(ordinal);
  check(cudaMemGetInfo(&free, &total), "querying free memory");
  std::uint64_t reserved = 0, used = 0;
  check(cudaMemPoolGetAttribute(static_cast<cudaMemPool_t>(pool), cudaMemPoolAttrReservedMemCurrent, &reserved),
        "querying a memory pool");
  check(cudaMemPoolGetAttribute(static_cast<cudaMemPool_t>(pool), cudaMemPoolAttrUsedMemCurrent, &used),
        "querying a memory pool");
  return free + static_cast<std::size_t>(reserved - used);
}
/// Gives back what a pool keeps, once the work of its stream is done. False where that work has failed: whoever asks
/// for its result hears of it.
bool empty_pool(void* pool, cudaStream_t stream) noexcept {
  const bool emptied = cudaStreamSynchronize(stream) == cudaSuccess &&
                       cudaMemPoolTrimTo(static_cast<cudaMemPool_t>(pool), 0) == cudaSuccess;
  if (!emptied) (void)cudaGetLastError();
  return emptied;
}
void open_pool(void* pool, int ordinal) {
  cudaMemAccessDesc access = {};
  access.location.type = cudaMemLocationTypeDevice;
  access.location.id = ordinal;
  access.flags = cudaMemAccessFlagsProtReadWrite;
  check(cudaMemPoolSetAccess(static_cast<cudaMemPool_t>(pool), &access, 1), "opening a memory pool to another GPU");
}
void* pin(std::size_t bytes) {
  void* pointer = nullptr;
  if (cudaHostAlloc(&pointer, bytes, cudaHostAllocPortable) == cudaSuccess) return pointer;
  (void)cudaGetLastError();
  return nullptr;
}
void unpin(void* pointer) noexcept { (void)cudaFreeHost(pointer); }

#endif

/// All memories of the process: those on one GPU share what it has, and each keeps what it no longer needs.
struct Neighbours {
  std::mutex mutex;
  std::vector<CudaMemory*> all;
};
Neighbours& neighbours() {
  // Never destroyed: a backend may live as long as the process.
  static Neighbours* const known = new Neighbours;
  return *known;
}

}  // namespace

CudaMemory::CudaMemory(int device, int ordinal) : device_(device), ordinal_(ordinal), facts_(device_facts(ordinal)) {
  stream_ = make_stream(ordinal_);
  pool_ = make_pool(ordinal_);
  const std::size_t bytes = sizeof(double) * (partial_sums + 8);
  partials_ = static_cast<double*>(take(bytes));
  results_ = static_cast<double*>(pin(sizeof(double) * result_doubles));
  if (!partials_ || !results_) refuse(bytes);
  fill_bytes_async(partials_, 0, bytes, stream_);
  wait();
  const std::lock_guard lock(neighbours().mutex);
  neighbours().all.push_back(this);
}

CudaMemory::~CudaMemory() {
  {
    const std::lock_guard lock(neighbours().mutex);
    std::erase(neighbours().all, this);
  }
  trim_host_pool(0);
  wait_to_end();
  if (partials_) give_back(partials_, stream_);
  if (results_) unpin(results_);
  destroy_stream(ordinal_, stream_);
  destroy_pool(pool_);
}

namespace {

/// GPUs that were current before the sections that this thread is in.
thread_local std::vector<int> earlier_devices;

}  // namespace

void CudaMemory::enter() {
  earlier_devices.push_back(current_device());
  try {
    set_device(ordinal_);
  } catch (...) {
    earlier_devices.pop_back();
    throw;
  }
}

void CudaMemory::leave() noexcept {
  if (earlier_devices.empty()) return;
  restore_device(earlier_devices.back());
  earlier_devices.pop_back();
}

std::size_t CudaMemory::free() const { return free_bytes(ordinal_, pool_); }

void CudaMemory::admit(int ordinal) {
  if (ordinal != ordinal_) open_pool(pool_, ordinal);
}

void CudaMemory::refuse(std::size_t bytes) const {
  const std::size_t free = free_bytes(ordinal_, pool_);
  throw Error(
      ErrorCode::out_of_memory,
      readable_bytes(bytes) + " were requested on device " + std::to_string(device_) + " (" + facts_.name +
          "), which has " + readable_bytes(free) + " free of " + readable_bytes(facts_.total_bytes) + "; " +
          readable_bytes(bytes_in_use()) +
          " are in use by this backend. Storage 'matrix-free' needs the least memory; fewer vectors or modes at a "
          "time, several GPUs (cuda:0,1) or the backend 'openmp' also help");
}

void* CudaMemory::take(std::size_t bytes) {
  if (void* pointer = allocate_from(pool_, bytes, stream_)) return pointer;
  // What was freed may still wait in the pool, in pieces that are too small …
  if (empty_pool(pool_, stream_))
    if (void* pointer = allocate_from(pool_, bytes, stream_)) return pointer;
  // … or in the pools of others on the same GPU.
  const std::lock_guard lock(neighbours().mutex);
  for (const CudaMemory* other : neighbours().all)
    if (other != this && other->ordinal_ == ordinal_) (void)empty_pool(other->pool_, other->stream_);
  return allocate_from(pool_, bytes, stream_);
}

void* CudaMemory::allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  set_device(ordinal_);
  void* pointer = take(bytes);
  if (!pointer) refuse(bytes);
  count_allocation(bytes);
  return pointer;
}

void CudaMemory::wait_to_end() const noexcept {
  try {
    wait();
  } catch (const Error&) {
    // Work failed on the GPU. Whoever asked for its result was told; here is nobody left to tell.
  }
}

void CudaMemory::release(void* pointer, std::size_t bytes) noexcept {
  if (!pointer) return;
  give_back(pointer, stream_);
  count_release(bytes);
}

void* CudaMemory::allocate_host(std::size_t bytes) {
  const std::size_t size = pinned_size(bytes);
  {
    const std::lock_guard lock(host_mutex_);
    if (const auto it = host_pool_.find(size); it != host_pool_.end()) {
      void* pointer = it->second;
      host_pool_.erase(it);
      host_pool_bytes_ -= size;
      return pointer;
    }
  }
  void* pointer = pin(size);
  if (!pointer) {
    trim_host_pool(0);
    pointer = pin(size);
  }
  if (!pointer)
    throw Error(ErrorCode::out_of_memory, readable_bytes(bytes) +
                                              " of pinned host memory were requested but are not available; "
                                              "close other programs, or read results in smaller parts");
  return pointer;
}

void CudaMemory::release_host(void* pointer, std::size_t bytes) noexcept {
  if (!pointer) return;
  const std::size_t size = pinned_size(bytes);
  try {
    const std::lock_guard lock(host_mutex_);
    host_pool_.emplace(size, pointer);
    host_pool_bytes_ += size;
  } catch (const std::exception&) {
    unpin(pointer);  // no room to remember it: then it is not kept
    return;
  }
  trim_host_pool(most_pinned_kept);
}

void CudaMemory::trim_host_pool(std::size_t limit) noexcept {
  const std::lock_guard lock(host_mutex_);
  while (host_pool_bytes_ > limit && !host_pool_.empty()) {
    const auto it = host_pool_.begin();
    unpin(it->second);
    host_pool_bytes_ -= it->first;
    host_pool_.erase(it);
  }
}

void CudaMemory::copy_to_device(void* device, const void* host, std::size_t bytes) {
  set_device(ordinal_);
  copy_async(device, host, bytes, stream_);
  synchronize(stream_);
}

void CudaMemory::copy_to_host(void* host, const void* device, std::size_t bytes) {
  set_device(ordinal_);
  copy_async(host, device, bytes, stream_);
  synchronize(stream_);
}

void CudaMemory::copy(void* to, const void* from, std::size_t bytes) {
  set_device(ordinal_);
  copy_async(to, from, bytes, stream_);
}

void CudaMemory::clear(void* device, std::size_t first, std::size_t bytes) {
  set_device(ordinal_);
  fill_bytes_async(static_cast<char*>(device) + first, 0, bytes, stream_);
}

}  // namespace voussoir::cuda
