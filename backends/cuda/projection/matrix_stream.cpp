#include <voussoir/backends/cuda/projection/matrix_stream.hpp>

#include <cstring>

namespace voussoir::cuda {

MatrixStream::MatrixStream(std::shared_ptr<DeviceMemory> memory, std::int64_t most_bytes)
    : memory_(std::move(memory)), most_bytes_(static_cast<std::size_t>(most_bytes)) {
  for (int b = 0; b < 2; ++b) {
    buffer_[b] = Array<double>(memory_, most_bytes_ / sizeof(double));
    copies_[b].open(cuda().ordinal());
    if (most_bytes_ > 0) (void)buffer_[b].write_device();
    // Memory of the pool is free in the order of the device's stream.
    wait_for(copies_[b].get(), cuda().stream());
  }
}

MatrixStream::~MatrixStream() {
  cuda().wait_to_end();
  for (int b = 0; b < 2; ++b) {
    try {
      copied_[b].wait();
    } catch (const Error&) {  // reported to the caller that reads the results
    }
    if (pinned_[b]) memory_->release_host(pinned_[b], most_bytes_);
    copies_[b].close();
  }
}

const double* MatrixStream::bring(const double* values, std::size_t bytes, bool pinned) {
  if (bytes > most_bytes_)
    throw Error(ErrorCode::misuse, "project: a group of element matrices has " + std::to_string(bytes) +
                                       " bytes, and its source said that none has more than " +
                                       std::to_string(most_bytes_));
  const void* from = values;
  if (!pinned) {
    if (!pinned_[turn_]) pinned_[turn_] = memory_->allocate_host(most_bytes_);
    copied_[turn_].wait();
    std::memcpy(pinned_[turn_], values, bytes);
    from = pinned_[turn_];
  }
  double* to = buffer_[turn_].update_device();
  copy_async(to, from, bytes, copies_[turn_].get());
  copied_[turn_].set(copies_[turn_].get());
  wait_for(cuda().stream(), copies_[turn_].get());
  return to;
}

void MatrixStream::used() {
  wait_for(copies_[turn_].get(), cuda().stream());
  turn_ = 1 - turn_;
}

}  // namespace voussoir::cuda
