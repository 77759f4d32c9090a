#pragma once
#include <span>

#include <voussoir/backends/element_view.hpp>

namespace voussoir {

/// A weighted sum of element matrices: stiffness · K + mass · M. `batch_factors` scales each batch (a batch
/// with factor 0 is skipped); empty means 1 for all. `mass_factors`, where it is given, scales the mass of each batch
/// instead.
struct MatrixTerms {
  double stiffness = 1;                        ///< factor of K
  double mass = 0;                             ///< factor of M
  MassKind mass_kind = MassKind::consistent;   ///< of M
  std::span<const double> batch_factors = {};  ///< per batch, must outlive the call; empty: 1
  std::span<const double> mass_factors = {};   ///< per batch, must outlive the call; empty: batch_factors

  /// Factor of the stiffness of a batch.
  double stiffness_of(int batch) const {
    return stiffness * (batch_factors.empty() ? 1.0 : batch_factors[static_cast<std::size_t>(batch)]);
  }
  /// Factor of the mass of a batch.
  double mass_of(int batch) const {
    return mass_factors.empty() ? mass * (batch_factors.empty() ? 1.0 : batch_factors[static_cast<std::size_t>(batch)])
                                : mass * mass_factors[static_cast<std::size_t>(batch)];
  }
};

}  // namespace voussoir
