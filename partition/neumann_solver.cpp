#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <voussoir/backends/error.hpp>
#include <voussoir/partition/interface_preconditioner.hpp>
#include <voussoir/partition/part_threads.hpp>
#include <voussoir/solvers/direct/factorization.hpp>

namespace voussoir {
namespace {

/// The connected pieces of a matrix: local numbers of each, ascending.
std::vector<std::vector<std::int32_t>> connected_pieces(const FullRows& rows) {
  std::vector<char> seen(static_cast<std::size_t>(rows.size()), 0);
  std::vector<std::vector<std::int32_t>> pieces;
  for (std::int32_t begin = 0; begin < rows.size(); ++begin) {
    if (seen[static_cast<std::size_t>(begin)]) continue;
    std::vector<std::int32_t> piece{begin};
    seen[static_cast<std::size_t>(begin)] = 1;
    for (std::size_t next = 0; next < piece.size(); ++next) {
      const auto row = static_cast<std::size_t>(piece[next]);
      for (auto k = rows.row_start[row]; k < rows.row_start[row + 1]; ++k) {
        const auto column = static_cast<std::size_t>(rows.column[static_cast<std::size_t>(k)]);
        if (rows.value[static_cast<std::size_t>(k)] == 0 || seen[column]) continue;
        seen[column] = 1;
        piece.push_back(static_cast<std::int32_t>(column));
      }
    }
    std::sort(piece.begin(), piece.end());
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

}  // namespace

NeumannSolver::NeumannSolver(const PartMatrices& matrices, int part, const std::string& part_solver)
    : size_(matrices.neumann(part).n) {
  if (size_ == 0) return;
  if (part_solver == "direct" || part_solver.starts_with("direct:")) {
    factorise(matrices, part, part_solver.size() > 7 ? direct_method(part_solver.substr(7)) : DirectMethod::automatic);
    return;
  }
  solver_ = make_part_solver(part_solver);
  require_exact(*solver_, part_solver);
  find_rigid_kernel(matrices, part);
  restrain(matrices, part);
}

bool NeumannSolver::works_side_by_side(const std::string& part_solver) {
  return make_part_solver(part_solver)->works_side_by_side();
}

NeumannSolver::~NeumannSolver() = default;
NeumannSolver::NeumannSolver(NeumannSolver&&) noexcept = default;

void NeumannSolver::factorise(const PartMatrices& matrices, int part, DirectMethod method) {
  factor_ = Factorization::make(part_method(method), {});
  factor_->factorise(matrices.neumann(part), matrices.sizes(part));
  const std::size_t n = static_cast<std::size_t>(size_), count = factor_->null_pivots().size();
  if (count == 0) return;
  const std::vector<double> all = factor_->null_space();
  for (std::size_t k = 0; k < count; ++k)
    kernel_.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(k * n),
                         all.begin() + static_cast<std::ptrdiff_t>((k + 1) * n));
}

/// Of the span of a piece's rigid-body motions Q, the vectors that A maps to zero: the null space of the small matrix
/// QᵀA²Q, whose square roots of eigenvalues are norms of A v.
void NeumannSolver::find_rigid_kernel(const PartMatrices& matrices, int part) {
  const Decomposition& decomposition = matrices.decomposition();
  const auto unknowns = decomposition.unknowns(part);
  const auto n = static_cast<std::size_t>(size_);
  const double norm = infinity_norm(matrices.neumann(part));
  for (const auto& piece : connected_pieces(full_rows(matrices.neumann(part)))) {
    std::vector<std::int32_t> equations;
    for (const std::int32_t i : piece)
      equations.push_back(decomposition.equations()[static_cast<std::size_t>(unknowns[static_cast<std::size_t>(i)])]);
    const auto motions = orthonormal_basis(rigid_motions(decomposition.model(), equations));
    const auto count = static_cast<Eigen::Index>(motions.size());
    Eigen::MatrixXd all = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(n), count), image = all;
    for (Eigen::Index j = 0; j < count; ++j) {
      for (std::size_t i = 0; i < piece.size(); ++i) all(piece[i], j) = motions[static_cast<std::size_t>(j)][i];
      multiply(matrices.neumann(part), {all.col(j).data(), n}, {image.col(j).data(), n});
    }
    const Eigen::JacobiSVD<Eigen::MatrixXd> svd(image.transpose() * image, Eigen::ComputeFullU);
    for (Eigen::Index j = 0; j < count; ++j) {
      if (std::sqrt(svd.singularValues()(j)) > 1e-7 * norm) continue;
      const Eigen::VectorXd motion = all * svd.matrixU().col(j);
      // The square of a matrix says less about small values than the matrix itself.
      std::vector<double> one(motion.data(), motion.data() + n), force(n);
      multiply(matrices.neumann(part), one, force);
      double square = 0;
      for (const double f : force) square += f * f;
      if (std::sqrt(square) <= 1e-10 * norm) kernel_.push_back(std::move(one));
    }
  }
}

/// Chooses unknowns, one for each free motion, that prevent all motions together, and prepares for the matrix of the
/// others.
void NeumannSolver::restrain(const PartMatrices& matrices, int part) {
  const auto count = static_cast<Eigen::Index>(kernel_.size());
  if (count > 0) {
    Eigen::MatrixXd motions(count, static_cast<Eigen::Index>(size_));
    for (Eigen::Index k = 0; k < count; ++k)
      motions.row(k) = Eigen::Map<const Eigen::RowVectorXd>(kernel_[static_cast<std::size_t>(k)].data(), size_);
    const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(motions);
    for (Eigen::Index k = 0; k < count; ++k)
      restrained_.push_back(static_cast<std::int32_t>(qr.colsPermutation().indices()(k)));
    std::sort(restrained_.begin(), restrained_.end());
  }
  std::vector<std::int32_t> others, equations;
  const Decomposition& decomposition = matrices.decomposition();
  for (std::int32_t i = 0; i < size_; ++i)
    if (!std::binary_search(restrained_.begin(), restrained_.end(), i)) {
      others.push_back(i);
      equations.push_back(
          decomposition
              .equations()[static_cast<std::size_t>(decomposition.unknowns(part)[static_cast<std::size_t>(i)])]);
    }
  solver_->describe(decomposition.model(), equations);
  solver_->set_up(submatrix(matrices.neumann(part), others), "part " + std::to_string(part), [&](std::int64_t i) {
    return decomposition.model().equation_label(equations[static_cast<std::size_t>(i)]);
  });
}

void NeumannSolver::solve(std::span<double> b_and_x, int columns) const {
  if (factor_) return factor_->solve(b_and_x, columns);
  const auto n = static_cast<std::size_t>(size_);
  for (int c = 0; c < columns && solver_; ++c) solve_one(b_and_x.subspan(static_cast<std::size_t>(c) * n, n));
}

void NeumannSolver::solve_one(std::span<double> b_and_x) const {
  std::vector<double> others;
  std::size_t next = 0;
  for (std::size_t i = 0; i < b_and_x.size(); ++i)
    if (next < restrained_.size() && static_cast<std::size_t>(restrained_[next]) == i)
      ++next;
    else
      others.push_back(b_and_x[i]);
  solver_->solve(others);
  next = 0;
  for (std::size_t i = 0; i < b_and_x.size(); ++i) {
    const bool fixed = next < restrained_.size() && static_cast<std::size_t>(restrained_[next]) == i;
    b_and_x[i] = fixed ? 0 : others[i - next];
    next += fixed;
  }
}

std::size_t NeumannSolver::bytes() const {
  return (factor_ ? static_cast<std::size_t>(factor_->statistics().factor_entries) * 12 : 0) +
         (solver_ ? solver_->bytes() : 0) + kernel_.size() * static_cast<std::size_t>(size_) * sizeof(double);
}

}  // namespace voussoir
