#pragma once
#include <string>
#include <vector>

#include <voussoir/framework/analysis/results.hpp>
#include <voussoir/framework/analysis/step.hpp>

namespace voussoir {

/// Solves a divided domain part by part, and gives the results of the whole.
class DomainSolver {
 public:
  virtual ~DomainSolver() = default;
  virtual std::string name() const = 0;  ///< for reports
  /// Linear statics or heat for each step; without any, one step with all load cases at factor 1. Results are those of
  /// the undivided domain: unknowns, reactions, values at points, sums, energy.
  virtual std::vector<StepResult> solve(const std::vector<Step>& steps = {}) = 0;
};

}  // namespace voussoir
