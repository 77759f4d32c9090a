#pragma once
#include <string>
#include <vector>

#include <voussoir/framework/analysis/results.hpp>
#include <voussoir/framework/analysis/step.hpp>

namespace voussoir {

/// Base class of solvers that solve a partitioned domain part by part.
class DomainSolver {
 public:
  virtual ~DomainSolver() = default;
  virtual std::string name() const = 0;  ///< name of the method, for reports
  /// Solves linear statics or steady-state heat conduction for each step; without steps, for one step with all load
  /// cases at factor 1. Returns the results of the undivided domain: unknowns, reactions, values at points, sums,
  /// energy.
  virtual std::vector<StepResult> solve(const std::vector<Step>& steps = {}) = 0;
};

}  // namespace voussoir
