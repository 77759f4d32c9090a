#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <future>
#include <thread>
#include <vector>

namespace voussoir::cuda {

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

/// Elements along a curve of Morton's: neighbours in space are near in the order. Two cells of the curve are as long as
/// an element is in the mean, and a whole number of elements is as long as the model. So clusters are boxes of whole
/// elements in meshes like grids, also where nodes are somewhat out of line. The extent of an element is twice the mean
/// distance of its first nodes, which are corners, from their middle: unlike the largest, it does not grow when they
/// are out of line. `width` nodes per element, three coordinates per node.
std::vector<std::int32_t> curve_order(const std::vector<double>& coordinates, const std::vector<std::int32_t>& nodes,
                                      std::size_t width);

}  // namespace voussoir::cuda
