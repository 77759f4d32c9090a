#pragma once
#include <algorithm>
#include <cstddef>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include <voussoir/backends/cuda/runtime/memory.hpp>

// What plans that are made on the host have in common.

namespace voussoir::cuda {

template <class T>
std::vector<T> on_host(const std::shared_ptr<DeviceMemory>& memory, const Array<T>& array) {
  std::vector<T> values(array.size());
  if (values.empty()) return values;
  DeviceSection section(*memory);
  memory->copy_to_host(values.data(), array.read_device(), array.bytes());
  return values;
}

template <class T>
Array<T> settled(const std::shared_ptr<DeviceMemory>& memory, const std::vector<T>& values) {
  Array<T> array(memory, values.size());
  if (values.empty()) return array;
  DeviceSection section(*memory);
  memory->copy_to_device(array.write_device(), values.data(), array.bytes());
  return array;
}

/// Does work(begin, end) for all of 0 … count, in pieces of `grain` that several threads share. What a piece is does
/// not depend on how many there are.
template <class Work>
void in_pieces(std::size_t count, std::size_t grain, const Work& work) {
  const std::size_t pieces = (count + grain - 1) / grain;
  const std::size_t workers = std::min<std::size_t>(pieces, std::clamp(std::thread::hardware_concurrency(), 1u, 16u));
  const auto do_pieces = [&](std::size_t first, std::size_t last) {
    for (std::size_t p = first; p < last; ++p) work(p * grain, std::min(count, (p + 1) * grain));
  };
  std::vector<std::future<void>> others;
  for (std::size_t w = 1; w < workers; ++w)
    others.push_back(std::async(std::launch::async, do_pieces, pieces * w / workers, pieces * (w + 1) / workers));
  if (workers > 0) do_pieces(0, pieces / workers);
  for (auto& other : others) other.get();
}

}  // namespace voussoir::cuda
