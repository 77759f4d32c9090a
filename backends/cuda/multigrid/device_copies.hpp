#pragma once
#include <cstddef>

#include <voussoir/backends/cuda/runtime/memory.hpp>
#include <voussoir/backends/layout.hpp>

namespace voussoir::cuda {

/// Copies between two devices, which may be one GPU, in the order of the stream of `own`.
template <class T>
void copy_over(T* to, const CudaMemory& to_device, const T* from, const CudaMemory& from_device, std::size_t count,
               const CudaMemory& own) {
  const std::size_t bytes = count * sizeof(T);
  if (to_device.ordinal() == from_device.ordinal())
    copy_async(to, from, bytes, own.stream());
  else
    copy_between(to, to_device.ordinal(), from, from_device.ordinal(), bytes, own.stream());
}

/// Copies from a device of a layout to the first one. The device sends when the room is there, and the first goes on
/// when everything has arrived. Inside a section of the device.
template <class T>
void send_to_first(const Layout& layout, int device, const T* from, std::size_t count, T* to) {
  const CudaMemory &first = cuda_memory(layout.memory(0)), &own = cuda_memory(layout.memory(device));
  if (count == 0) return;
  if (device > 0) wait_for(own, first);
  {
    DeviceSection section(*layout.memory(device));
    copy_over(to, first, from, own, count, own);
  }
  if (device > 0) wait_for(first, own);
}

}  // namespace voussoir::cuda
