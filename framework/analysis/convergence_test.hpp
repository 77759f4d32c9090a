#pragma once
#include <optional>
#include <string>

namespace voussoir {

/// What is known of a trial state when its convergence is tested.
struct IterationMeasures {
  int iteration = 0;  ///< increments taken so far
  /// ‖b‖: forces that the state lacks in balance; in relation to first_unbalance, that of the worst body (Bodies)
  double unbalance = 0;
  double first_unbalance = 0;  ///< before the first increment
  double reachable = 0;        ///< the unbalance that the last solve left of its right-hand side
  double increment = 0;        ///< ‖last increment‖
  double total = 0;            ///< ‖all increments of the step together‖
  double energy = 0;           ///< |last increment · the unbalance that it was solved for|
  double first_energy = 0;     ///< of the first increment
};

/// When an iteration has converged: each criterion that is set has its own tolerance, and all of them must be met (or
/// any one, as `rule` says). Derive for other criteria.
class ConvergenceTest {
 public:
  /// How criteria are combined.
  enum class Rule {
    all,  ///< every criterion that is set must be met
    any   ///< one of them is enough
  };

  virtual ~ConvergenceTest() = default;
  /// Called before the first increment (iteration 0) and after each.
  virtual bool converged(const IterationMeasures& measures) const;
  /// Whether converged() looks at increments and energies; otherwise they are not computed.
  virtual bool needs_increments() const { return displacement || energy; }
  virtual std::string describe() const;  ///< for reports: "force 1e-08, energy 1e-12"

  /// ‖unbalance‖ ≤ tolerance · ‖first unbalance‖, or as little as the linear solver leaves of it.
  std::optional<double> force = 1e-8;
  /// ‖increment‖ ≤ tolerance · ‖all increments together‖
  std::optional<double> displacement;
  /// |increment · unbalance| ≤ tolerance · that of the first increment
  std::optional<double> energy;
  Rule rule = Rule::all;  ///< of the criteria that are set
};

}  // namespace voussoir
