#pragma once
#include <span>

#include <voussoir/backends/element_view.hpp>

namespace voussoir {

/// A weighted sum of element matrices: stiffness · K + mass · M. `batch_factors` scales K and M of each batch; a batch
/// with factor 0 is skipped. `mass_factors`, where given, scales the M of each batch instead.
struct MatrixTerms {
  double stiffness = 1;                        ///< factor of K
  double mass = 0;                             ///< factor of M
  MassKind mass_kind = MassKind::consistent;   ///< form of M
  std::span<const double> batch_factors = {};  ///< one per batch, must outlive the call; empty: all 1
  std::span<const double> mass_factors = {};   ///< one per batch, must outlive the call; empty: batch_factors

  /// The factor of the K of a batch in the sum.
  double stiffness_of(int batch) const {
    return stiffness * (batch_factors.empty() ? 1.0 : batch_factors[static_cast<std::size_t>(batch)]);
  }
  /// The factor of the M of a batch in the sum.
  double mass_of(int batch) const {
    return mass_factors.empty() ? mass * (batch_factors.empty() ? 1.0 : batch_factors[static_cast<std::size_t>(batch)])
                                : mass * mass_factors[static_cast<std::size_t>(batch)];
  }
};

}  // namespace voussoir
