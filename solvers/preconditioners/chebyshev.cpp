#include <cmath>
#include <map>

#include <voussoir/solvers/preconditioners/chebyshev.hpp>
#include <voussoir/solvers/preconditioners/detail/chebyshev_steps.hpp>
#include <voussoir/solvers/preconditioners/inverse_diagonal.hpp>
#include <voussoir/solvers/preconditioners/polynomial.hpp>

namespace voussoir {
namespace {

/// Chebyshev's iteration for A z = r from z = 0.
class ChebyshevOperator final : public Operator {
 public:
  ChebyshevOperator(const LinearSOE& soe, std::unique_ptr<Operator> inverse, int degree, double low, double high)
      : soe_(soe), inverse_(std::move(inverse)), steps_(detail::chebyshev_steps(low, high, degree)) {
    work_for(1);
  }

  bool replayable() const override { return inverse_->replayable(); }
  const std::shared_ptr<const Layout>& layout() const override { return soe_.matrix().layout(); }

  void apply(const Vector& r, Vector& z) const override {
    Backend& backend = soe_.model().backend();
    Work& w = work_for(r.columns());
    backend.copy(r, w.residual);
    inverse_->apply(w.residual, w.direction);
    backend.scale(steps_[0].alpha, w.direction);
    backend.copy(w.direction, z);
    for (std::size_t k = 1; k < steps_.size(); ++k) {
      soe_.matrix().apply(w.direction, w.product);
      backend.axpy(-1.0, w.product, w.residual);
      inverse_->apply(w.residual, w.product);
      backend.axpby(steps_[k].alpha, w.product, steps_[k].beta, w.direction);
      backend.axpy(1.0, w.direction, z);
    }
  }
  double apply_dot(const Vector& r, Vector& z) const override {
    apply(r, z);
    return soe_.model().backend().dot(r, z);
  }
  std::size_t bytes() const override {
    std::size_t columns = 0;
    for (const auto& entry : work_) columns += static_cast<std::size_t>(entry.first);
    return inverse_->bytes() + 3 * sizeof(double) * columns * static_cast<std::size_t>(layout()->size());
  }
  std::size_t bytes_moved() const override {
    return steps_.size() * (soe_.matrix().bytes_moved() + inverse_->bytes_moved());
  }
  std::string describe() const override { return "Chebyshev polynomial of degree " + std::to_string(steps_.size()); }

 private:
  struct Work {
    Vector residual, direction, product;
  };
  Work& work_for(int columns) const {
    Work& w = work_[columns];
    if (!w.residual.layout())
      for (Vector* v : {&w.residual, &w.direction, &w.product}) *v = soe_.model().make_vector(columns);
    return w;
  }

  const LinearSOE& soe_;
  std::unique_ptr<Operator> inverse_;
  std::vector<detail::IterationStep> steps_;
  mutable std::map<int, Work> work_;  // by columns
};

}  // namespace

double largest_eigenvalue(const LinearSOE& soe, const Operator& inverse, int iterations) {
  const AnalysisModel& model = soe.model();
  Backend& backend = model.backend();
  std::vector<double> start(model.equation_count());
  std::uint64_t state = 0x9E3779B97F4A7C15u;  // a fixed sequence: the same bits every run
  for (double& v : start) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    v = static_cast<double>(state >> 11) / 9007199254740992.0 - 0.5;
  }
  Vector b = model.make_vector(), x = model.make_vector();
  b.from_host(start);
  backend.clear_constrained(model.device_model(), b);
  backend.fill(x, 0.0);
  CgRequest request;
  request.relative_tolerance = 1e-3;
  request.max_iterations = iterations;
  request.keep_history = false;
  const CgOutcome outcome = backend.cg(soe.matrix(), &inverse, b, x, request);
  return outcome.largest_ritz > 0 ? outcome.largest_ritz : 1.0;
}

std::unique_ptr<Operator> chebyshev_operator(const LinearSOE& soe, std::unique_ptr<Operator> inverse, int degree,
                                             double low, double high) {
  if (degree < 1 || !(low > 0) || !(high > low))
    throw Error(ErrorCode::misuse,
                "a Chebyshev polynomial needs a degree of at least 1 and an interval 0 < low < high");
  return std::make_unique<ChebyshevOperator>(soe, std::move(inverse), degree, low, high);
}

void ChebyshevPreconditioner::set_up(const LinearSOE& soe) {
  if (degree_ < 1 || !(ratio_ > 1))
    throw Error(ErrorCode::misuse, "a Chebyshev preconditioner needs a degree of at least 1 and a ratio above 1");
  inverse_.reset();
  auto diagonal = inverse_diagonal(soe, node_block_size(soe));
  // 1.1: the estimate comes from below, and a polynomial beyond its interval would not be positive.
  const double high = 1.1 * largest_eigenvalue(soe, *diagonal);
  inverse_ = chebyshev_operator(soe, std::move(diagonal), degree_, high / ratio_, high);
}

}  // namespace voussoir
