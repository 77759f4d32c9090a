#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include <voussoir/backends/array.hpp>
#include <voussoir/backends/cuda/runtime/memory.hpp>

namespace voussoir::cuda {

/// A stream of a device that ends with this object, also where the constructor of its owner fails.
class OwnStream {
 public:
  OwnStream() = default;
  ~OwnStream() { close(); }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;

  /// Makes the stream on the device with this ordinal.
  void open(int ordinal) {
    stream_ = make_stream(ordinal);
    ordinal_ = ordinal;
  }
  /// Destroys the stream where there is one.
  void close() noexcept {
    if (ordinal_ >= 0) destroy_stream(ordinal_, stream_);
    ordinal_ = -1;
  }
  cudaStream_t get() const { return stream_; }  ///< for work to be enqueued

 private:
  cudaStream_t stream_ = nullptr;
  int ordinal_ = -1;  // none
};

/// Brings numbers from the host to a device piece by piece, with two buffers: while the device computes with one piece,
/// the next one is copied by a stream of its own.
class MatrixStream {
 public:
  /// For pieces of at most so many bytes. Inside a section, as all functions.
  MatrixStream(std::shared_ptr<DeviceMemory> memory, std::int64_t most_bytes);
  ~MatrixStream();
  MatrixStream(const MatrixStream&) = delete;
  MatrixStream& operator=(const MatrixStream&) = delete;

  /// Where the piece will be for work that the device's stream is asked to do from now on. Values that are not `pinned`
  /// are copied to pinned memory before this returns; those that are must stay until the stream object ends.
  const double* bring(const double* values, std::size_t bytes, bool pinned);
  /// All work with the piece has been enqueued.
  void used();

 private:
  const CudaMemory& cuda() const { return cuda_memory(memory_); }

  std::shared_ptr<DeviceMemory> memory_;
  std::size_t most_bytes_;
  Array<double> buffer_[2];
  void* pinned_[2] = {nullptr, nullptr};
  OwnStream copies_[2];
  StreamMark copied_[2];
  int turn_ = 0;
};

}  // namespace voussoir::cuda
