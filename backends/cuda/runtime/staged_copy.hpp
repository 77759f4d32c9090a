#pragma once
#include <cstddef>
#include <memory>

#include <voussoir/backends/cuda/runtime/memory.hpp>

namespace voussoir::cuda {

/// Copies between ordinary host memory and a device in pieces, through two pinned buffers that are made once and used
/// again: while a piece crosses the bus, several threads copy the next one to its buffer or the one before out of it.
/// Nothing is allocated for a copy, and no second copy of the whole array is kept in host memory.
class StagedCopy {
 public:
  /// For arrays of at most so many numbers; smaller ones need smaller buffers.
  StagedCopy(std::shared_ptr<DeviceMemory> memory, std::size_t most_numbers);
  ~StagedCopy();
  StagedCopy(const StagedCopy&) = delete;
  StagedCopy& operator=(const StagedCopy&) = delete;

  /// In the order of the device's stream; the host's numbers may be changed when this returns.
  void to_device(const double* host, std::size_t count, double* device);
  /// After all work that the device's stream was given; returns when the numbers are there.
  void to_host(const double* device, std::size_t count, double* host);

 private:
  std::shared_ptr<DeviceMemory> memory_;
  std::size_t piece_;  ///< numbers of a buffer
  double* buffer_[2] = {nullptr, nullptr};
  StreamMark passed_[2];  ///< the stream has read or written the buffer
};

}  // namespace voussoir::cuda
