#pragma once
#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <voussoir/framework/model/analysis_model.hpp>

namespace voussoir::detail {

/// Calls `visit` with the equations and the stiffness, at zero displacement, of every element that has a wanted node
/// (one flag per numbered node), each element once. Works on the host.
void visit_element_stiffness(
    const AnalysisModel& model, const std::vector<char>& wanted,
    const std::function<void(std::span<const std::int32_t> equations, const Eigen::MatrixXd& stiffness)>& visit);

/// Flags for the numbered nodes that have a dependent equation.
std::vector<char> nodes_with_dependents(const AnalysisModel& model);

}  // namespace voussoir::detail
