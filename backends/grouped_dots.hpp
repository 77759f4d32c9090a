#pragma once
#include <span>
#include <string_view>

#include <voussoir/backends/service.hpp>
#include <voussoir/backends/vector.hpp>

namespace voussoir {

/// Several dot products of vectors in one reduction: the host waits once for all of them. Each result has the bits of
/// VectorServices::dot().
class GroupedDots : public Service {
 public:
  static constexpr std::string_view service_name = "grouped dots";  ///< by which Backend::service() finds it

  /// Two vectors of the same layout.
  struct Pair {
    const Vector& x;  ///< first factor
    const Vector& y;  ///< second factor; may be the same vector
  };
  /// The largest number of pairs in one call.
  static constexpr std::size_t most_pairs = 16;

  /// results[k] = pairs[k].x · pairs[k].y, summed over all columns.
  virtual void dots(std::span<const Pair> pairs, std::span<double> results) = 0;
};

}  // namespace voussoir
