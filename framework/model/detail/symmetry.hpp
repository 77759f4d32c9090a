#pragma once
#include <cstdint>
#include <span>

#include <voussoir/backends/device_model.hpp>

namespace voussoir::detail {

/// A batch on the host, with what its elements read.
struct BatchSample {
  const BatchDescription* batch = nullptr;
  std::span<const std::int32_t> nodes;          ///< of its elements
  std::span<const double> coordinates;          ///< 3 per node
  std::span<const double> initial_temperature;  ///< per node; empty: start_temperature
  double start_temperature = 0;
};

/// How far the tangent of an element is from symmetric.
struct Asymmetry {
  std::int32_t element = -1;  ///< −1: no element that was looked at has an unsymmetric tangent
  double size = 0;            ///< relative to the entries of the tangent
  bool at_rest = true;        ///< found where all unknowns are zero
};

/// Looks at a few elements of a batch: whether v · K w = w · K v for two vectors v and w, at rest and, where elements
/// are not linear, at some other states. States that an element cannot compute do not count.
Asymmetry find_asymmetry(const BatchSample& sample);

}  // namespace voussoir::detail
