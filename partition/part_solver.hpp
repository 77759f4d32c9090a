#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>

#include <voussoir/backends/registry.hpp>
#include <voussoir/solvers/direct/choice.hpp>
#include <voussoir/solvers/direct/symmetric_matrix.hpp>

// Solvers for the matrices of parts, by name: NAME[:OPTIONS]. To add one:
//
//   VSR_REGISTER(part_solvers, "mine", "what it does in one line",
//                PartSolverFactory{[](const std::string& options) { return std::make_unique<Mine>(options); }});

namespace voussoir {

/// Solves A x = b for the symmetric matrix of a part, again and again. A preconditioner for CG needs a solver that is a
/// fixed linear, symmetric and positive definite operation.
class PartSolver {
 public:
  virtual ~PartSolver() = default;
  virtual std::string name() const = 0;  ///< for reports
  /// Prepares for a matrix. `where` names it in messages ("part 3"), `label` one of its unknowns ("node 7, ux"). A
  /// singular matrix is an Error (singular).
  virtual void set_up(const SymmetricCsr& matrix, const std::string& where,
                      const std::function<std::string(std::int64_t)>& label) = 0;
  /// Replaces b by x.
  virtual void solve(std::span<double> b_and_x) = 0;
  virtual std::size_t bytes() const = 0;  ///< memory of the factor or of what else is kept
};

/// Creates solvers of one kind.
struct PartSolverFactory {
  /// Creates a solver. `options` is the text after the colon, or ""; unknown options should be an Error (bad_input).
  std::function<std::unique_ptr<PartSolver>(const std::string& options)> make;
};
/// The registry of part solvers: built-in ones and those of users.
Registry<PartSolverFactory>& part_solvers();

/// Creates a part solver by name: "direct", "direct:eigen", … or a user's own. An unknown name is an Error (not_found).
std::unique_ptr<PartSolver> make_part_solver(const std::string& name);

}  // namespace voussoir
