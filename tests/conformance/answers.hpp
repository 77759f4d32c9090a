#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/backends/backend.hpp>
#include <voussoir/framework/domain/domain.hpp>

namespace voussoir::conformance {

/// Everything that a backend says about a model, by name, in an order that does not depend on the backend.
struct Answers {
  std::map<std::string, std::vector<double>> numbers;
  std::map<std::string, int> iterations;
};

/// Matrices, products, residuals, loads and recovered values: services that a tolerance of rounding suits. `largest`
/// bounds the displacements of the state, which follow no pattern: laws of large displacements need them small beside
/// the elements, which otherwise turn inside out.
Answers services(const Domain& domain, const std::shared_ptr<Backend>& backend, bool blocks, double largest = 1);
/// Products with stiffness matrices that are kept as elements, in every form.
Answers element_products(const Domain& domain, const std::shared_ptr<Backend>& backend);
/// Which of the preconditioners and storages to solve with.
enum class Solves {
  all,
  ill_conditioned,  ///< without those that take long where the condition is bad
  two,              ///< block Jacobi on a stored matrix and on none
  one               ///< block Jacobi on a stored matrix
};
/// Solutions by CG with each preconditioner, on stored matrices and on elements.
Answers solutions(const Domain& domain, const std::shared_ptr<Backend>& backend, bool blocks, Solves which);
/// The whole way: an analysis with the direct solver.
Answers analysis(const Domain& domain, const std::shared_ptr<Backend>& backend);

/// Expects the same names and, for each, numbers that differ by at most `tolerance` times the largest of them; and
/// iterations that differ by two, or by 4 % where there are hundreds, since rounding is fed back into all that follow.
void expect_alike(const Answers& answers, const Answers& reference, double tolerance);
/// Expects the same bits.
void expect_same_bits(const Answers& answers, const Answers& reference);

}  // namespace voussoir::conformance
