#include <voussoir/backends/cuda/runtime/host_registration.hpp>

#include <voussoir/backends/cuda/runtime/runtime.hpp>

namespace voussoir::cuda {

#if defined(VSR_CUDA_EMULATED)

HostRegistration::HostRegistration(const void*, std::size_t) : pinned_(true) {}
HostRegistration::~HostRegistration() = default;

#else

HostRegistration::HostRegistration(const void* memory, std::size_t bytes) {
  if (bytes == 0) return;
  const cudaError_t status = cudaHostRegister(const_cast<void*>(memory), bytes, cudaHostRegisterPortable);
  if (status == cudaSuccess) memory_ = const_cast<void*>(memory);
  pinned_ = status == cudaSuccess || status == cudaErrorHostMemoryAlreadyRegistered;
  if (status != cudaSuccess) (void)cudaGetLastError();
}
HostRegistration::~HostRegistration() {
  if (memory_) (void)cudaHostUnregister(memory_);
}

#endif

}  // namespace voussoir::cuda
