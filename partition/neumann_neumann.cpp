#include <algorithm>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/partition/interface_preconditioner.hpp>
#include <voussoir/partition/part_threads.hpp>
#include <voussoir/solvers/direct/factorization.hpp>

namespace voussoir {
namespace {

double sum_of_products(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

NeumannNeumannOperator::NeumannNeumannOperator(const PartMatrices& matrices, const SchurComplement& schur,
                                               Weighting weighting, const std::string& part_solver)
    : HostOperator(schur.layout()),
      matrices_(matrices),
      schur_(schur),
      threads_(NeumannSolver::works_side_by_side(part_solver) ? part_threads(matrices.decomposition().model().backend())
                                                              : 1) {
  const Decomposition& decomposition = matrices.decomposition();
  const std::size_t n = decomposition.interface().size();
  neumann_.resize(static_cast<std::size_t>(decomposition.parts()));
  for_each_part(decomposition.parts(), threads_, [&](int p) {
    neumann_[static_cast<std::size_t>(p)] = std::make_unique<NeumannSolver>(matrices, p, part_solver);
  });
  for (int p = 0; p < decomposition.parts(); ++p) {
    const NeumannSolver& solver = *neumann_[static_cast<std::size_t>(p)];
    const std::vector<double> all = part_weights(decomposition, p, weighting, &matrices);
    const auto boundary = decomposition.boundary(p), places = decomposition.interface_places(p);
    auto& own = weights_.emplace_back();
    for (const std::int32_t i : boundary) own.push_back(all[static_cast<std::size_t>(i)]);
    if (!solver.kernel().empty()) ++floating_;
    for (const auto& motion : solver.kernel()) {
      std::vector<double> vector(n, 0.0);
      for (std::size_t i = 0; i < boundary.size(); ++i)
        vector[static_cast<std::size_t>(places[i])] = own[i] * motion[static_cast<std::size_t>(boundary[i])];
      coarse_.push_back(std::move(vector));
    }
  }
  if (coarse_.empty()) return;
  for (const auto& vector : coarse_) schur.multiply(vector, coarse_image_.emplace_back(n));
  SymmetricCsr small;
  small.n = static_cast<std::int64_t>(coarse_.size());
  small.row_start.push_back(0);
  for (std::size_t i = 0; i < coarse_.size(); ++i) {
    for (std::size_t j = i; j < coarse_.size(); ++j) {
      small.column.push_back(static_cast<std::int32_t>(j));
      small.value.push_back(sum_of_products(coarse_[i], coarse_image_[j]));
    }
    small.row_start.push_back(static_cast<std::int64_t>(small.column.size()));
  }
  factor_ = Factorization::make(DirectMethod::automatic, {});
  factor_->factorise(small);
}

NeumannNeumannOperator::~NeumannNeumannOperator() = default;

void NeumannNeumannOperator::correct(std::span<const double> r, std::span<double> z) const {
  const Stopwatch watch;
  std::vector<double> small;
  for (const auto& vector : coarse_) small.push_back(sum_of_products(vector, r));
  factor_->solve(small);
  for (std::size_t j = 0; j < coarse_.size(); ++j)
    for (std::size_t i = 0; i < z.size(); ++i) z[i] += small[j] * coarse_[j][i];
  coarse_seconds_ += watch.seconds();
}

void NeumannNeumannOperator::multiply(std::span<const double> x, std::span<double> y) const {
  const Decomposition& decomposition = matrices_.decomposition();
  std::fill(y.begin(), y.end(), 0.0);
  std::vector<double> residual(x.begin(), x.end()), first(x.size(), 0.0), image(x.size());
  if (factor_) {
    correct(x, first);
    schur_.multiply(first, image);
    for (std::size_t i = 0; i < residual.size(); ++i) residual[i] -= image[i];
  }
  std::vector<std::vector<double>> solutions(neumann_.size());
  for_each_part(decomposition.parts(), threads_, [&](int p) {
    const auto boundary = decomposition.boundary(p), places = decomposition.interface_places(p);
    if (boundary.empty()) return;
    const auto& own = weights_[static_cast<std::size_t>(p)];
    std::vector<double>& f = solutions[static_cast<std::size_t>(p)];
    f.assign(static_cast<std::size_t>(matrices_.neumann(p).n), 0.0);
    for (std::size_t i = 0; i < boundary.size(); ++i)
      f[static_cast<std::size_t>(boundary[i])] = own[i] * residual[static_cast<std::size_t>(places[i])];
    neumann_[static_cast<std::size_t>(p)]->solve(f);
  });
  for (int p = 0; p < decomposition.parts(); ++p) {
    const auto boundary = decomposition.boundary(p), places = decomposition.interface_places(p);
    const auto& own = weights_[static_cast<std::size_t>(p)];
    const std::vector<double>& f = solutions[static_cast<std::size_t>(p)];
    for (std::size_t i = 0; i < boundary.size(); ++i)
      y[static_cast<std::size_t>(places[i])] += own[i] * f[static_cast<std::size_t>(boundary[i])];
  }
  if (!factor_) return;
  schur_.multiply(y, image);
  for (double& value : image) value = -value;
  correct(image, y);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += first[i];
}

std::size_t NeumannNeumannOperator::bytes() const {
  std::size_t sum = 2 * coarse_.size() * unknowns() * sizeof(double);
  for (const auto& solver : neumann_) sum += solver->bytes();
  return sum;
}

std::string NeumannNeumannOperator::describe() const {
  return "balancing Neumann–Neumann, " + std::to_string(neumann_.size()) + " parts (" + std::to_string(floating_) +
         " floating), " + std::to_string(unknowns()) + " interface unknowns, coarse space of " +
         std::to_string(coarse_.size());
}

}  // namespace voussoir
