#include <voussoir/solvers/amg/detail/set_up_rules.hpp>

#include <cmath>
#include <numbers>

#include <voussoir/backends/multigrid.hpp>
#include <voussoir/solvers/detail/free_node.hpp>

namespace voussoir::detail {

int finest_basis_steps(const AmgOptions& options) {
  if (options.basis_steps > 0) return options.basis_steps;
  return options.smoother == AmgOptions::Smoother::fsai ? 2 : 1;
}

double basis_factor(double largest_eigenvalue, int k, int steps) {
  return 2 / (largest_eigenvalue * (1 - std::cos(2 * k * std::numbers::pi / (2 * steps + 1))));
}

double lower_threshold(double threshold) { return threshold > 2 * least_threshold ? threshold / 2 : 0; }

void refuse_equation(const LinearSOE& soe, std::int32_t equation) {
  require_resistance(soe, equation);
  throw Error(ErrorCode::singular,
              "the stiffness of this node is not positive: a material is not stable, or rounding spoils it. Check the "
              "materials of its elements, or use the direct solver",
              soe.model().equation_label(equation));
}

void refuse_coarser_level(const AmgOptions& options) {
  throw Error(ErrorCode::singular,
              std::string("a coarser level of multigrid is not positive definite: the matrix is not, or rounding "
                          "spoils it. Use ") +
                  (options.numbers == AmgOptions::Numbers::full ? "" : "cg+amg:full, or ") +
                  "a direct solver for more information");
}

void refuse_missing_matrix(const LinearSOE& soe) {
  throw Error(ErrorCode::misuse,
              "multigrid needs a matrix; the SOE '" + soe.name() + "' cannot provide one. Use bsr or csr");
}

void require_small_nodes(int height) {
  if (height > largest_level_block)
    throw Error(ErrorCode::unavailable, "multigrid supports nodes with up to " + std::to_string(largest_level_block) +
                                            " unknowns; a node of this model has " + std::to_string(height));
}

}  // namespace voussoir::detail
