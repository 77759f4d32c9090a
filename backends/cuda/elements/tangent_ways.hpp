#pragma once
#include <voussoir/backends/cuda/elements/cluster_points.hpp>
#include <voussoir/backends/cuda/elements/constant_kernels.hpp>
#include <voussoir/backends/cuda/elements/kept_tensors.hpp>
#include <voussoir/backends/cuda/elements/pair_kernels.hpp>
#include <voussoir/backends/cuda/elements/point_kernels.hpp>
#include <voussoir/backends/cuda/elements/tensor_kernels.hpp>

// Which ways of integration an element has, and how their kernels are launched. NVRTC compiles this, too: nothing of
// the standard library here.

namespace voussoir::cuda {

/// What `automatic` stands for: the way of integration that suits an element type best. Small elements fit in the
/// registers of a thread; what is larger goes by pairs, where it can.
template <class K>
VSR_FN constexpr bool prefers_pairs() {
  if constexpr (detail::has_pairs<K>())
    return !K::Pieces::streams || !K::Pieces::small;
  else
    return false;
}

template <class K>
VSR_FN constexpr TangentWays tangent_ways() {
  TangentWays ways;
  if constexpr (detail::by_points<K>()) ways.point_threads = detail::point_threads<K>();
  if constexpr (detail::has_pairs<K>()) {
    ways.pair_elements = detail::PairSizes<K>::elements;
    ways.pair_threads = detail::PairSizes<K>::threads;
    ways.pair_bytes = detail::PairSizes<K>::bytes;
  }
  if constexpr (detail::has_tensors<K>()) {
    ways.tensor_elements = detail::TensorSizes<K>::elements;
    ways.tensor_threads = detail::TensorSizes<K>::threads;
    ways.tensor_bytes = detail::TensorSizes<K>::bytes;
  }
  if constexpr (detail::has_constant_tensor<K>()) {
    ways.constant_elements = detail::ConstantSizes<K>::elements;
    ways.constant_threads = detail::ConstantSizes<K>::threads;
    ways.constant_bytes = detail::ConstantSizes<K>::bytes;
  }
  if constexpr (detail::has_point_products<K>()) {
    ways.product_threads = detail::PointShares<K>::threads;
    ways.product_bytes = detail::PointShares<K>::bytes;
  }
  if constexpr (voussoir::detail::has_point_tensors<K>()) {
    ways.kept_numbers = K::Tensors::total;
    ways.kept_points = K::points;
    ways.kept_bytes = detail::KeptShares<K>::bytes;
  }
  ways.prefers_pairs = prefers_pairs<K>();
  ways.streams = detail::streams<K>();
  ways.streams_mass = detail::streams_mass<K>();
  return ways;
}

/// Tells the host, which cannot see into an element that was compiled at run time.
template <class K>
__global__ void tell_ways(TangentWays* ways) {
  constexpr TangentWays known = tangent_ways<K>();
  *ways = known;
}

}  // namespace voussoir::cuda
