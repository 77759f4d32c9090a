// A preconditioner, a solver and a partitioner of one's own, as a library that `voussoir run --load` takes.
// docs/tutorials/write_a_solver.md explains it.

#include <charconv>
#include <cmath>
#include <map>
#include <numeric>
#include <voussoir/partition/partitioners.hpp>
#include <voussoir/solvers/preconditioners/inverse_diagonal.hpp>
#include <voussoir/solvers/preconditioners/polynomial.hpp>
#include <voussoir/solvers/registries.hpp>

using namespace voussoir;

namespace {

// --- a preconditioner -------------------------------------------------------------------------------------------

/// z = M r with the truncated Neumann series M = ω Σ (I − ω D⁻¹A)ᵏ D⁻¹, k < terms: so many steps
/// z ← z + ω D⁻¹ (r − A z) from z = 0. Symmetric, and positive definite for ω < 1 / λ, λ the largest eigenvalue of
/// D⁻¹A.
class NeumannSeries final : public Operator {
 public:
  NeumannSeries(const LinearSOE& soe, std::unique_ptr<Operator> inverse_diagonal, double omega, int terms)
      : soe_(soe), inverse_diagonal_(std::move(inverse_diagonal)), omega_(omega), terms_(terms) {}

  const std::shared_ptr<const Layout>& layout() const override { return soe_.matrix().layout(); }
  void apply(const Vector& r, Vector& z) const override {
    Backend& backend = soe_.model().backend();
    auto& [rest, change] = work_for(r.columns());
    inverse_diagonal_->apply(r, z);
    backend.scale(omega_, z);
    for (int k = 1; k < terms_; ++k) {
      soe_.matrix().apply(z, rest);
      backend.axpby(1.0, r, -1.0, rest);  // r − A z
      inverse_diagonal_->apply(rest, change);
      backend.axpy(omega_, change, z);
    }
  }
  double apply_dot(const Vector& r, Vector& z) const override {
    apply(r, z);
    return soe_.model().backend().dot(r, z);
  }
  std::size_t bytes() const override { return inverse_diagonal_->bytes(); }
  std::size_t bytes_moved() const override {
    return static_cast<std::size_t>(terms_) * (soe_.matrix().bytes_moved() + inverse_diagonal_->bytes_moved());
  }
  std::string describe() const override { return "Neumann series with " + std::to_string(terms_) + " terms"; }

 private:
  std::pair<Vector, Vector>& work_for(int columns) const {
    auto& work = work_[columns];
    if (!work.first.layout()) work = {soe_.model().make_vector(columns), soe_.model().make_vector(columns)};
    return work;
  }

  const LinearSOE& soe_;
  std::unique_ptr<Operator> inverse_diagonal_;
  double omega_;
  int terms_;
  mutable std::map<int, std::pair<Vector, Vector>> work_;  // by columns
};

class NeumannPreconditioner final : public Preconditioner {
 public:
  explicit NeumannPreconditioner(int terms) : terms_(terms) {}
  std::string name() const override { return "neumann:" + std::to_string(terms_); }
  void set_up(const LinearSOE& soe) override {
    inverse_.reset();
    auto diagonal = inverse_diagonal(soe, node_block_size(soe));
    // The estimate of the largest eigenvalue comes from below.
    const double omega = 1 / (1.1 * largest_eigenvalue(soe, *diagonal));
    inverse_ = std::make_unique<NeumannSeries>(soe, std::move(diagonal), omega, terms_);
  }
  const Operator* inverse() const override { return inverse_.get(); }

 private:
  int terms_;
  std::unique_ptr<Operator> inverse_;
};

std::shared_ptr<Preconditioner> make_neumann(const std::string& options) {
  int terms = 3;
  const char* const end = options.data() + options.size();
  const auto read = std::from_chars(options.data(), end, terms);
  if (!options.empty() && (read.ec != std::errc() || read.ptr != end || terms < 1 || terms > 100))
    throw Error(ErrorCode::bad_input, "give the number of terms, neumann:N with N from 1 to 100",
                "preconditioner 'neumann:" + options + "'");
  return std::make_shared<NeumannPreconditioner>(terms);
}

VSR_REGISTER(preconditioners, "neumann", "truncated Neumann series; neumann:N has N terms",
             PreconditionerFactory{make_neumann, {"2", "5"}});

// --- a solver ---------------------------------------------------------------------------------------------------

/// Steepest descent with any preconditioner, all right-hand sides at once.
class Descent final : public Solver {
 public:
  explicit Descent(const SolverSettings& settings)
      : preconditioner_(settings.preconditioner.value_or(nullptr)),
        tolerance_(settings.relative_tolerance),
        most_(settings.max_iterations) {}

  std::string name() const override {
    return "descent" + (preconditioner_ ? "+" + preconditioner_->name() : std::string());
  }

  SolveReport solve(LinearSOE& soe) override {
    const AnalysisModel& model = soe.model();
    Backend& backend = model.backend();
    if (preconditioner_) preconditioner_->set_up(soe);
    const Operator* const inverse = preconditioner_ ? preconditioner_->inverse() : nullptr;

    const int columns = soe.b().columns();
    const std::vector<double> one(columns, 1.0);
    Vector r = model.make_vector(columns), z = model.make_vector(columns), q = model.make_vector(columns);
    soe.matrix().apply(soe.x(), r);
    backend.axpby(1.0, soe.b(), -1.0, r);
    const std::vector<double> size = backend.column_norms(soe.b());
    std::vector<double> rz(columns), zq(columns), step(columns), back(columns);

    SolveReport report;
    report.solver = name() + " on " + soe.name();
    for (;; ++report.iterations) {
      const std::vector<double> rest = backend.column_norms(r);
      double worst = 0;
      for (int c = 0; c < columns; ++c) worst = std::max(worst, size[c] > 0 ? rest[c] / size[c] : rest[c]);
      report.history.push_back(worst);
      report.converged = worst <= tolerance_;
      const bool cancelled = progress && !progress(report.iterations, worst);
      if (report.converged || cancelled || report.iterations == most_ || !std::isfinite(worst)) break;
      if (inverse)
        inverse->apply(r, z);
      else
        backend.copy(r, z);
      soe.matrix().apply(z, q);
      backend.column_dots(r, z, rz);
      backend.column_dots(z, q, zq);
      for (int c = 0; c < columns; ++c) {
        step[c] = zq[c] > 0 ? rz[c] / zq[c] : 0;  // zero for a column that is solved
        back[c] = -step[c];
      }
      backend.column_axpby(step, z, one, soe.x());
      backend.column_axpby(back, q, one, r);
    }
    report.reason =
        (report.converged ? "converged after " : "stopped after ") + std::to_string(report.iterations) + " iterations";
    report.true_residual = true_residual(soe);
    return report;
  }

 private:
  std::shared_ptr<Preconditioner> preconditioner_;
  double tolerance_;
  int most_;
};

std::shared_ptr<Solver> make_descent(const SolverSettings& settings) {
  refuse_options("solver 'descent'", settings.options);
  return std::make_shared<Descent>(settings);
}

VSR_REGISTER(solvers, "descent", "steepest descent", SolverFactory{make_descent, true});

// --- a partitioner ----------------------------------------------------------------------------------------------

/// Slabs of equal weight along x.
class Slabs final : public GraphPartitioner {
 public:
  std::string name() const override { return "slabs"; }
  std::vector<std::int32_t> partition(const ElementGraph& graph, int parts) const override {
    std::vector<std::int32_t> order(graph.vertices()), part(graph.vertices());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int32_t a, std::int32_t b) { return graph.centroid[a][0] < graph.centroid[b][0]; });
    const double whole = std::accumulate(graph.weight.begin(), graph.weight.end(), 0.0);
    double before = 0;
    for (const std::int32_t v : order) {
      part[v] = std::min(parts - 1, static_cast<int>(parts * (before + 0.5 * graph.weight[v]) / whole));
      before += graph.weight[v];
    }
    return part;
  }
};

VSR_REGISTER(partitioners, "slabs", "slabs of equal weight along x", PartitionerFactory{[](const std::string& options) {
               refuse_options("partitioner 'slabs'", options);
               return std::make_shared<Slabs>();
             }});

}  // namespace
