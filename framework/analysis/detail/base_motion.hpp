#pragma once
#include <string>
#include <vector>

#include <voussoir/framework/model/analysis_model.hpp>

namespace voussoir::detail {

/// The number of a direction of base motion, "x" … "rz", from 0. Throws Error (not_found) for another name.
int base_direction(const std::string& name);
/// The rigid motion of a direction on all equations.
Vector rigid_motion(const AnalysisModel& model, int direction);
/// Throws Error (bad_input) where the body cannot follow a motion of its base in this direction: equations must hold in
/// the rigid motion. Supports move with the base. Returns notes on equations that hold to a few digits only.
std::vector<std::string> check_follows_base(const AnalysisModel& model, int direction, const Vector& motion);

}  // namespace voussoir::detail
