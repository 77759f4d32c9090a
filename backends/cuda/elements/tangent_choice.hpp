#pragma once
#include <cstddef>
#include <cstdint>

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/cuda/elements/clusters.hpp>
#include <voussoir/backends/cuda/elements/element_job.hpp>
#include <voussoir/backends/cuda/runtime/runtime.hpp>

// Which kernel computes the tangents of elements, by what is asked for and what the element type has.

namespace voussoir::cuda {

enum class TangentKernel {
  values,    ///< element_values: always there
  streamed,  ///< streamed_tangents
  points,    ///< point_tangents
  pairs,     ///< pair_tangents
  tensors,   ///< tensor_tangents
  constants  ///< constant_tangents
};

/// Whether elements can be integrated in a way. Where the material varies within elements, only a thread per element or
/// per point follows it; and not every GPU has the shared memory that large elements want.
inline bool has_way(const TangentWays& ways, Integration how, bool varies, const DeviceFacts& gpu) {
  switch (how) {
    case Integration::block:
    case Integration::blocks:
      return ways.point_threads > 0;
    case Integration::pairs:
      return ways.pair_elements > 0 && !varies &&
             static_cast<std::size_t>(ways.pair_bytes) <= gpu.shared_bytes_per_block;
    default:
      return true;
  }
}

/// A way that elements do not have stands for `automatic`.
inline TangentKernel choose_tangents(const TangentWays& ways, Integration how, bool varies, const DeviceFacts& gpu) {
  if ((how == Integration::block || how == Integration::blocks) && has_way(ways, how, varies, gpu))
    return TangentKernel::points;
  const bool pairs = how == Integration::pairs || (how != Integration::thread && ways.prefers_pairs);
  if (pairs && has_way(ways, Integration::pairs, varies, gpu)) return TangentKernel::pairs;
  if (how != Integration::thread && ways.constant_elements > 0 && !varies &&
      static_cast<std::size_t>(ways.constant_bytes) <= gpu.shared_bytes_per_block)
    return TangentKernel::constants;
  if (how != Integration::thread && ways.tensor_elements > 0 &&
      static_cast<std::size_t>(ways.tensor_bytes) <= gpu.shared_bytes_per_block)
    return TangentKernel::tensors;
  return ways.streams && !varies ? TangentKernel::streamed : TangentKernel::values;
}

/// A block per element (level II), or blocks of 32 threads for as many elements as find room there (level IIa).
inline Grid point_grid(const TangentWays& ways, Integration how, std::int64_t count) {
  const int threads = how == Integration::block ? ways.point_threads : 32, elements = threads / ways.point_threads;
  return {(count + elements - 1) / elements, threads, 0};
}
inline Grid tensor_grid(const TangentWays& ways, std::int64_t count) {
  return {(count + ways.tensor_elements - 1) / ways.tensor_elements, ways.tensor_threads,
          static_cast<std::size_t>(ways.tensor_bytes)};
}
inline Grid constant_grid(const TangentWays& ways, std::int64_t count) {
  return {(count + ways.constant_elements - 1) / ways.constant_elements, ways.constant_threads,
          static_cast<std::size_t>(ways.constant_bytes)};
}
inline Grid pair_grid(const TangentWays& ways, std::int64_t count) {
  return {(count + ways.pair_elements - 1) / ways.pair_elements, ways.pair_threads,
          static_cast<std::size_t>(ways.pair_bytes)};
}

/// A thread per element and point, for the tensors that are stored there.
inline Grid keep_grid(const TangentWays& ways, const ClusterPlan& plan) {
  return {(std::int64_t{plan.clusters} * plan.size * ways.kept_points + 127) / 128, 128, 0};
}
/// Numbers of ClusterPlan::shared_bytes(false).
inline int kept_numbers_before(const ClusterPlan& plan) {
  return static_cast<int>((plan.shared_bytes(false) + 15) / 16 * 2);
}
inline Grid kept_grid(const TangentWays& ways, const ClusterPlan& plan) {
  return {plan.clusters, 128,
          8 * static_cast<std::size_t>(kept_numbers_before(plan)) + static_cast<std::size_t>(ways.kept_bytes),
          Start::early};
}

/// Numbers of ClusterPlan::action_bytes(1).
inline int own_numbers(const ClusterPlan& plan) { return static_cast<int>((plan.action_bytes(1) + 15) / 16 * 2); }
/// Whether the threads of a cluster share points: for one column, and materials that do not vary within elements.
inline bool shares_points(const TangentWays& ways, const ClusterPlan& plan, const ClusterView& view, bool plain) {
  return ways.product_threads > 0 && plain && view.width == 1 &&
         8 * static_cast<std::size_t>(own_numbers(plan)) + static_cast<std::size_t>(ways.product_bytes) <=
             plan.most_shared;
}
inline Grid point_action_grid(const TangentWays& ways, const ClusterPlan& plan) {
  return {plan.clusters, ways.product_threads,
          8 * static_cast<std::size_t>(own_numbers(plan)) + static_cast<std::size_t>(ways.product_bytes), Start::early};
}

}  // namespace voussoir::cuda
