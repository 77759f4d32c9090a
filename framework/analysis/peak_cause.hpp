#pragma once
#include <span>

#include <voussoir/framework/analysis/error_estimate.hpp>
#include <voussoir/framework/analysis/results.hpp>

namespace voussoir {

/// Why the largest stress (heat flux) of a model may have no limit: at these places the exact solution of linear theory
/// is infinite, and a finer mesh shows a larger value without end.
enum class PeakCause {
  none,               ///< no singularity was found
  re_entrant_corner,  ///< an edge or corner of the body that opens by more than 180° and is not rounded
  point_load,         ///< a force on a single node, or on a line of nodes of a solid
  point_support,      ///< a support of a single node, or of a line of nodes of a solid
  support_edge        ///< where a support ends on a smooth surface, or a clamped face ends at an edge of the body
};

/// What was seen at a peak.
struct StressPeak {
  PeakCause cause = PeakCause::none;  ///< why the value grows with refinement
  std::int32_t node = -1;             ///< (index) at which the cause is: the given node or a neighbour
};

/// Looks at the surroundings of a node (index), as a rule that of the largest stress, and at its neighbours on the
/// boundary, because averages move a peak away from its corner: at the angles of the elements, at the supports that
/// `result` has reactions of, and at whether nodal loads act there (indices, sorted). Faceted arcs are taken for the
/// curves that they stand for. A cause is named only where the error estimate of the elements is not below that of the
/// whole body: where the solution converges well, there is no peak to warn of.
StressPeak find_peak_cause(const Domain& domain, const StepResult& result, const ErrorEstimate& estimate,
                           std::int32_t node, std::span<const std::int32_t> loaded_nodes);

}  // namespace voussoir
