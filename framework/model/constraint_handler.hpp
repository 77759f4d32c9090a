#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <voussoir/backends/device_model.hpp>

namespace voussoir {

/// Supports and multi-point equations in equation numbers.
struct NumberedConstraints {
  /// A prescribed value of one equation.
  struct Single {
    std::int32_t equation;  ///< its number
    double value;           ///< at prescribed factor 1
  };
  /// A multi-point equation between equations of the model.
  struct Multi {
    std::vector<std::int32_t> equations;  ///< of the terms
    std::vector<double> coefficients;     ///< one per term
    double constant;                      ///< the right-hand side
    std::string label;                    ///< for messages
    bool support = false;                 ///< a support along a direction: its force is a reaction
  };
  std::vector<Single> single;       ///< supports along axes
  std::vector<Multi> multi;         ///< equations, and supports along directions
  std::int32_t equation_count = 0;  ///< of the model
  /// Per equation, what its unknown is multiplied by to be compared with others: 1 for displacements, a length for
  /// rotations. Empty: 1 for all.
  std::vector<double> scale;
  /// "node 12, ux" for an equation number.
  std::function<std::string(std::int32_t)> label;
};

/// x[equation] = constant + Σ coefficient · x[other], where the others may be free or prescribed, never dependent.
struct AffineDependency {
  std::int32_t equation;             ///< that depends
  std::vector<std::int32_t> others;  ///< that it depends on
  std::vector<double> coefficients;  ///< one per other
  double constant;                   ///< at prescribed factor 1
};

/// What a handler makes of the constraints.
struct ConstraintPlan {
  std::vector<std::uint8_t> prescribed;     ///< per equation: prescribed
  std::vector<double> value;                ///< per equation: what it is prescribed to
  std::vector<AffineDependency> dependent;  ///< equations that are eliminated
  /// Stiff springs α (Σ c x − g)² / 2 for constraints that are enforced by penalty.
  struct Spring {
    std::vector<std::int32_t> equations;  ///< x above
    std::vector<double> coefficients;     ///< c above
    double constant;                      ///< g above
    bool support;                         ///< its force is a reaction
  };
  std::vector<Spring> springs;     ///< empty unless the handler works by penalty
  std::vector<std::string> notes;  ///< what the user should know of, such as equations that say nothing new
};

/// Turns supports and multi-point equations into something that equations can be formed with. Elements never see it.
class ConstraintHandler {
 public:
  virtual ~ConstraintHandler() = default;
  virtual std::string name() const = 0;  ///< "transformation", "penalty", …
  /// Throws Error (bad_input) that names node and unknown where constraints contradict each other.
  virtual ConstraintPlan plan(const NumberedConstraints& constraints) const = 0;
  /// Stiffness of springs relative to the largest diagonal entry of the elements, where the plan has springs.
  virtual double spring_factor() const { return 0; }
};

/// Rows and columns of prescribed unknowns are zeroed and their diagonal kept. Knows no multi-point equations: a model
/// that has some is refused.
class EliminationHandler : public ConstraintHandler {
 public:
  std::string name() const override { return "elimination"; }
  ConstraintPlan plan(const NumberedConstraints& constraints) const override;
};

/// As elimination, and multi-point equations are solved for as many unknowns as are independent, which are expressed by
/// the others: K becomes TᵀKT. The default: exact, and the matrix stays positive definite. Which unknowns depend on
/// which is chosen so that the coefficients of T stay small, whatever the order of the terms. Equations that follow
/// from others are dropped with a note; those that contradict others are an Error (bad_input).
class TransformationHandler : public ConstraintHandler {
 public:
  std::string name() const override { return "transformation"; }
  ConstraintPlan plan(const NumberedConstraints& constraints) const override;
};

/// Everything by stiff springs: simple, but inexact by about 1/factor and badly conditioned for iterative solvers.
/// Constraints that contradict each other are an Error (bad_input) as with the other handlers.
class PenaltyHandler : public ConstraintHandler {
 public:
  /// `factor`: stiffness of the springs relative to the largest diagonal entry of the elements.
  explicit PenaltyHandler(double factor = 1e8) : factor_(factor) {}
  std::string name() const override { return "penalty"; }
  ConstraintPlan plan(const NumberedConstraints& constraints) const override;
  double spring_factor() const override { return factor_; }

 private:
  double factor_;
};

}  // namespace voussoir
