#include <voussoir/backends/cuda/runtime/staged_copy.hpp>

#include <algorithm>

#include <voussoir/backends/detail/copy_numbers.hpp>

namespace voussoir::cuda {

namespace {

/// A piece of 8 MB takes 150 µs to cross a bus of 55 GB/s, much longer than threads need to start.
constexpr std::size_t most_piece = std::size_t{1} << 20;

}  // namespace

StagedCopy::StagedCopy(std::shared_ptr<DeviceMemory> memory, std::size_t most_numbers)
    : memory_(std::move(memory)), piece_(std::clamp<std::size_t>(most_numbers, 1, most_piece)) {
  buffer_[0] = static_cast<double*>(memory_->allocate_host(piece_ * sizeof(double)));
  if (most_numbers <= piece_) return;  // the second buffer is for arrays of several pieces
  try {
    buffer_[1] = static_cast<double*>(memory_->allocate_host(piece_ * sizeof(double)));
  } catch (const Error&) {
    // One buffer does the same, slower.
  }
}

StagedCopy::~StagedCopy() {
  for (int b = 0; b < 2; ++b) {
    if (!buffer_[b]) continue;
    try {
      passed_[b].wait();
    } catch (const Error&) {  // reported to whoever asked for the results
    }
    memory_->release_host(buffer_[b], piece_ * sizeof(double));
  }
}

void StagedCopy::to_device(const double* host, std::size_t count, double* device) {
  const CudaMemory& cuda = cuda_memory(memory_);
  set_device(cuda.ordinal());
  int turn = 0;
  for (std::size_t first = 0; first < count; first += piece_) {
    const std::size_t numbers = std::min(piece_, count - first);
    passed_[turn].wait();
    voussoir::detail::copy_numbers(host + first, numbers, buffer_[turn]);
    copy_async(device + first, buffer_[turn], numbers * sizeof(double), cuda.stream());
    passed_[turn].set(cuda.stream());
    if (buffer_[1]) turn = 1 - turn;
  }
}

void StagedCopy::to_host(const double* device, std::size_t count, double* host) {
  const CudaMemory& cuda = cuda_memory(memory_);
  set_device(cuda.ordinal());
  const std::size_t pieces = (count + piece_ - 1) / piece_;
  const auto fetch = [&](std::size_t p) {
    const int turn = buffer_[1] ? static_cast<int>(p % 2) : 0;
    const std::size_t numbers = std::min(piece_, count - p * piece_);
    copy_async(buffer_[turn], device + p * piece_, numbers * sizeof(double), cuda.stream());
    passed_[turn].set(cuda.stream());
  };
  for (int b = 0; b < 2; ++b) passed_[b].wait();  // the buffers may still be on their way to the device
  if (pieces > 0) fetch(0);
  for (std::size_t p = 0; p < pieces; ++p) {
    if (buffer_[1] && p + 1 < pieces) fetch(p + 1);
    const int turn = buffer_[1] ? static_cast<int>(p % 2) : 0;
    passed_[turn].wait();
    voussoir::detail::copy_numbers(buffer_[turn], std::min(piece_, count - p * piece_), host + p * piece_);
    if (!buffer_[1] && p + 1 < pieces) fetch(p + 1);
  }
}

}  // namespace voussoir::cuda
