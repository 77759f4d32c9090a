#pragma once
#include <optional>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/detail/follower_tangent.hpp>
#include <voussoir/framework/analysis/solution_algorithm.hpp>

namespace voussoir::detail {

/// Newton's iteration of one step.
class NewtonIteration {
 public:
  NewtonIteration(const AnalysisModel& model, Integrator& integrator, LinearSOE& soe, Solver& solver,
                  AnalysisState& state)
      : model_(model), backend_(model.backend()), integrator_(integrator), soe_(soe), solver_(solver), state_(state) {}

  /// Gives pressures that follow faces their whole tangent, which is not symmetric.
  void complete_followers() { follower_.emplace(model_); }

  SolveReport run(const ConvergenceTest& test, int max_iterations, const LineSearchOptions& line_search);

 private:
  bool form_unbalance(int iteration);
  bool try_unbalance(int iteration, std::string& cause);
  void search_line(const LineSearchOptions& options, int iteration);
  void take(double factor);
  bool solve();

  double measure_unbalance(int iteration);
  std::vector<double> rounding_of_bodies();
  void measure_increment();
  void measure_total();

  const AnalysisModel& model_;
  Backend& backend_;
  Integrator& integrator_;
  LinearSOE& soe_;
  Solver& solver_;
  AnalysisState& state_;
  std::optional<FollowerTangent> follower_;
  SolveReport report_;
  IterationMeasures measures_;
  double taken_ = 0;                   // how much of the last increment the trial state contains
  double counted_ = 0;                 // how much of it total_ contains
  double last_unbalance_ = 0;          // before the last increment
  Vector total_;                       // increments of the step together
  std::vector<double> first_of_body_;  // unbalance before the first increment
};

}  // namespace voussoir::detail
