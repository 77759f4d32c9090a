#pragma once
#include <vector>

#include <voussoir/framework/model/free_motion.hpp>

namespace voussoir {

/// Per equation, the magnitude of the stiffness transferred to it from dependent unknowns: (Σ |T| √K)² over the
/// unknowns of an element, summed over elements. What the transformed matrix TᵀKT has there carries rounding errors of
/// this size: the elements of a rigid body resist no motion of it, but their large forces cancel to small ones only,
/// not to zero. 0 for equations that nothing depends on.
std::vector<double> stiffness_handed_on(const AnalysisModel& model);

/// A stiffness below this fraction of stiffness_handed_on() counts as none: three of its digits would be right at most.
inline constexpr double lost_in_rounding = 1e-12;

/// Motions of nodes that have no elements, such as the reference nodes of rigid bodies, that nothing resists while all
/// else is fixed: for example a rigid body on a ball joint. Found from the stiffness of the elements that follow the
/// node, so independently of the solver.
std::vector<FreeMotion> find_unrestrained_unknowns(const AnalysisModel& model);

}  // namespace voussoir
