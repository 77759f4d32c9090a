#include <voussoir/backends/error.hpp>
#include <voussoir/partition/interface_preconditioner.hpp>
#include <voussoir/solvers/direct/factorization.hpp>

namespace voussoir {

NeumannSolver::NeumannSolver(const PartMatrices& matrices, int part) : size_(matrices.neumann(part).n) {
  if (size_ == 0) return;
  factor_ = Factorization::make(DirectMethod::automatic, {});
  factor_->factorise(matrices.neumann(part), matrices.sizes(part));
  const std::size_t n = static_cast<std::size_t>(size_), count = factor_->null_pivots().size();
  if (count == 0) return;
  const std::vector<double> all = factor_->null_space();
  for (std::size_t k = 0; k < count; ++k)
    kernel_.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(k * n),
                         all.begin() + static_cast<std::ptrdiff_t>((k + 1) * n));
}

NeumannSolver::~NeumannSolver() = default;
NeumannSolver::NeumannSolver(NeumannSolver&&) noexcept = default;

void NeumannSolver::solve(std::span<double> b_and_x) const {
  if (factor_) factor_->solve(b_and_x);
}

std::size_t NeumannSolver::bytes() const {
  return (factor_ ? static_cast<std::size_t>(factor_->statistics().factor_entries) * 12 : 0) +
         kernel_.size() * static_cast<std::size_t>(size_) * sizeof(double);
}

}  // namespace voussoir
