#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <voussoir/framework/model/analysis_model.hpp>

namespace voussoir {

/// A motion of a part of the model without deformation.
struct FreeMotion {
  std::string text;  ///< "the part with node 1 (27 of 54 nodes) turns about an axis along y through (0, 0, 1)"
  std::vector<std::int32_t> nodes;  ///< indices of the nodes that move
};

/// Parts of the model that hang together through elements or multi-point equations: a number per numbered node.
std::vector<std::int32_t> connected_parts(const AnalysisModel& model);

/// Rigid motions of connected parts (constants, for heat) that no support, equation or spring to ground prevents, and
/// where there are none, those of find_unrestrained_unknowns(). Looks at geometry and at single elements, so every
/// solver can be warned before it starts. Other mechanisms within a part are not found here; solvers find those as zero
/// pivots or as residuals that cannot be reduced.
std::vector<FreeMotion> find_free_motions(const AnalysisModel& model);

/// Words for a motion that a solver found: who moves most, and how.
FreeMotion describe_motion(const AnalysisModel& model, const std::vector<double>& unknowns);

/// Throws Error (singular) that lists the motions and says what to do. Does nothing if there are none.
void require_no_free_motion(const std::vector<FreeMotion>& motions);

}  // namespace voussoir
