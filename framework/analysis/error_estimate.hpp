#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/results.hpp>

namespace voussoir {

/// How far a finite-element solution is from the exact one, estimated after Zienkiewicz and Zhu (The superconvergent
/// patch recovery and a posteriori error estimates, Int. J. Numer. Meth. Engng 33, 1992): a smooth stress σ* is fitted
/// to the stress at the points of neighbouring elements and compared with that of each element, in the energy norm,
/// ‖e‖² = ∫ (σ* − σ) : (ε* − ε) dV, or ∫ −(q* − q) · (g* − g) dV where heat is conducted. It is fitted within a
/// material, so that the jump of stress between two materials is no error.
struct ErrorEstimate {
  std::string quantity;               ///< "stress" or "flux"; empty where no element has either
  double error = 0;                   ///< ‖e‖, over all elements
  double solution = 0;                ///< ‖u‖ of the finite-element solution, of the same elements
  std::vector<double> element_error;  ///< ‖e‖ of each element, block by block; NaN where an element has no estimate
  /// percent() of a body in which every element has this error per volume, relative to the mean
  /// energy per volume. The mean square of it, weighted by volume, is that of the body.
  std::vector<double> element_percent;
  std::int64_t elements = 0;  ///< that have an estimate

  /// ‖e‖ of that of the exact solution, √(‖u‖² + ‖e‖²), in percent. 0 where nothing is strained.
  double percent() const;

  /// The estimate of one element.
  struct Entry {
    ElementRef element;  ///< by block and index
    double error;        ///< as in element_error
    double percent;      ///< as in element_percent
  };
  /// The elements with the largest error, the largest first.
  std::vector<Entry> worst(const Domain& domain, std::size_t count) const;
};

/// Estimates the error of a step from the recovered values at the points of its elements. Elements that carry nothing
/// from their points to their nodes (trusses, beams, springs) have no estimate.
ErrorEstimate estimate_error(const Domain& domain, const std::vector<PointField>& points);

}  // namespace voussoir
