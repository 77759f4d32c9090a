#pragma once
#include <voussoir/backends/array.hpp>
#include <voussoir/backends/cuda/runtime/memory.hpp>

namespace voussoir::cuda {

/// A word in which kernels note the lowest row at which something is wrong.
class TroubleWord {
 public:
  /// Inside a section.
  explicit TroubleWord(const std::shared_ptr<DeviceMemory>& memory) : word_(memory, 1) {
    fill_bytes_async(word_.write_device(), 0xff, word_.bytes(), stream_of(memory));
  }
  unsigned long long* device() { return word_.update_device(); }
  /// The lowest row, or −1; waits.
  std::int64_t read() const {
    const unsigned long long found = word_.read_host()[0];
    return found == ~0ULL ? -1 : static_cast<std::int64_t>(found);
  }

 private:
  Array<unsigned long long> word_;
};

__device__ inline void note_trouble(unsigned long long* word, std::int64_t row) {
  atomicMin(word, static_cast<unsigned long long>(row));
}

}  // namespace voussoir::cuda
