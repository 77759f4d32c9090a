#include <voussoir/partition/substructuring.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/partition/schur_blocks.hpp>
#include <voussoir/solvers/given_soe.hpp>

namespace voussoir {
namespace {

/// Division by the diagonal of the assembled part matrices on the interface.
class InterfaceJacobi final : public HostOperator {
 public:
  InterfaceJacobi(const PartMatrices& matrices, std::shared_ptr<const Layout> layout)
      : HostOperator(std::move(layout)), inverse_(unknowns(), 0.0) {
    const Decomposition& decomposition = matrices.decomposition();
    for (int p = 0; p < decomposition.parts(); ++p) {
      const SymmetricCsr& matrix = matrices.neumann(p);
      const auto boundary = decomposition.boundary(p), places = decomposition.interface_places(p);
      for (std::size_t i = 0; i < boundary.size(); ++i)
        inverse_[static_cast<std::size_t>(places[i])] +=
            matrix.value[static_cast<std::size_t>(matrix.row_start[static_cast<std::size_t>(boundary[i])])];
    }
    for (double& value : inverse_) value = value > 0 ? 1 / value : 1;
  }
  void multiply(std::span<const double> x, std::span<double> y) const override {
    for (std::size_t i = 0; i < inverse_.size(); ++i) y[i] = inverse_[i] * x[i];
  }
  std::size_t bytes() const override { return inverse_.size() * sizeof(double); }
  std::string describe() const override { return "diagonal of the interface"; }

 private:
  std::vector<double> inverse_;
};

double length_of(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x * x;
  return std::sqrt(sum);
}

}  // namespace

SubstructuredSystem::SubstructuredSystem(Backend& backend, PartMatrices matrices, const DecompositionOptions& options)
    : matrices_(std::move(matrices)) {
  schur_ = std::make_unique<SchurComplement>(backend, matrices_, options.part_solver, options.interiors);
  if (schur_->unknowns() == 0) return;
  // An implicit product reads part matrices and factors twice. The dual problem does not multiply by S. Dense interiors
  // have left S on the devices already.
  const bool fewer_bytes = schur_block_bytes(matrices_.decomposition()) <= 2 * schur_->bytes();
  if (!schur_->blocks() && options.interface_preconditioner != "feti-dp" &&
      (options.schur == "explicit" || (options.schur == "auto" && fewer_bytes)))
    blocks_ = make_schur_blocks(backend, matrices_);
  const std::string& method = options.interface_preconditioner;
  if (method == "bddc" || method == "feti-dp")
    interface_ = std::make_unique<BddcOperator>(
        backend, matrices_, BddcOperator::Options{options.primal, options.weighting, options.part_solver});
  else if (method == "nn")
    interface_ = std::make_unique<NeumannNeumannOperator>(matrices_, *schur_, options.weighting, options.part_solver);
  else if (method == "jacobi")
    interface_ = std::make_unique<InterfaceJacobi>(matrices_, schur_->layout());
  else if (method != "none")
    throw Error(ErrorCode::not_found,
                "there is no interface preconditioner '" + method + "'; there are bddc, nn, jacobi, none and feti-dp");
  if (method != "feti-dp") return;
  feti_ = std::make_unique<FetiDpOperator>(backend, matrices_, static_cast<const BddcOperator&>(*interface_));
  dirichlet_ = std::make_unique<DirichletPreconditioner>(*feti_, *schur_);
}

SubstructuredSystem::~SubstructuredSystem() = default;

std::int32_t SubstructuredSystem::coarse_size() const {
  if (const auto* bddc = dynamic_cast<const BddcOperator*>(interface_.get())) return bddc->coarse_size();
  if (const auto* nn = dynamic_cast<const NeumannNeumannOperator*>(interface_.get())) return nn->coarse_size();
  return 0;
}

double SubstructuredSystem::coarse_seconds() const {
  if (const auto* bddc = dynamic_cast<const BddcOperator*>(interface_.get())) return bddc->coarse_seconds();
  if (const auto* nn = dynamic_cast<const NeumannNeumannOperator*>(interface_.get())) return nn->coarse_seconds();
  return 0;
}

std::size_t SubstructuredSystem::bytes() const {
  return schur_->bytes() + (blocks_ ? blocks_->bytes() : 0) + (interface_ ? interface_->bytes() : 0);
}

std::string SubstructuredSystem::describe() const {
  if (feti_) return feti_->describe();
  return interface_ ? interface_->describe() : schur_->describe();
}

CgOutcome SubstructuredSystem::solve(Backend& backend, std::span<const double> b, std::vector<double>& x,
                                     const CgRequest& request) const {
  const HostOperator& host = feti_ ? static_cast<const HostOperator&>(*feti_) : *schur_;
  const Operator* const stored = feti_ ? nullptr : blocks_ ? blocks_.get() : schur_->blocks();
  const Operator& a = stored ? *stored : static_cast<const Operator&>(host);
  const Operator* const inverse = feti_ ? static_cast<const Operator*>(dirichlet_.get()) : interface_.get();
  CgOutcome outcome;
  outcome.stop = CgOutcome::Stop::converged;
  std::vector<double> u(host.unknowns(), 0.0);
  if (!u.empty()) {
    double size = 0;
    const std::vector<double> g = feti_ ? feti_->right_hand_side(b, size) : schur_->condense(b);
    CgRequest own = request;
    own.absolute_tolerance = std::max(own.absolute_tolerance, 1e-12 * size);
    Vector right(a.layout()), unknown(a.layout());
    right.from_host(g);
    backend.fill(unknown, 0);
    outcome = backend.service<KrylovServices>().cg(a, inverse, right, unknown, own);
    unknown.to_host(u);
  }
  x = feti_ ? feti_->solution(b, u) : schur_->expand(u, b);
  return outcome;
}

PartMatrices part_matrices_of(const LinearSOE& soe, const Decomposition& decomposition, const std::string& where) {
  const SymmetricCsr wanted = assembled_matrix(soe, decomposition, where);
  PartMatrices matrices = PartMatrices::at_rest(decomposition);
  const SymmetricCsr sum = matrices.assembled();
  // Compared entry by entry with the geometric mean of the diagonals: both may lack entries that are zero.
  std::vector<double> diagonal;
  for (std::size_t i = 0; i < static_cast<std::size_t>(wanted.n); ++i)
    diagonal.push_back(std::abs(wanted.value[static_cast<std::size_t>(wanted.row_start[i])]));
  bool same = sum.n == wanted.n;
  for (std::size_t i = 0; same && i < diagonal.size(); ++i) {
    auto a = static_cast<std::size_t>(wanted.row_start[i]), b = static_cast<std::size_t>(sum.row_start[i]);
    const auto end_a = static_cast<std::size_t>(wanted.row_start[i + 1]),
               end_b = static_cast<std::size_t>(sum.row_start[i + 1]);
    while (same && (a < end_a || b < end_b)) {
      const std::int32_t ca = a < end_a ? wanted.column[a] : INT32_MAX, cb = b < end_b ? sum.column[b] : INT32_MAX;
      const double difference = (ca <= cb ? wanted.value[a] : 0.0) - (cb <= ca ? sum.value[b] : 0.0);
      const double scale = std::sqrt(diagonal[i] * diagonal[static_cast<std::size_t>(std::min(ca, cb))]);
      same = std::abs(difference) <= 1e-9 * scale;
      a += ca <= cb;
      b += cb <= ca;
    }
  }
  if (!same)
    throw Error(ErrorCode::bad_input,
                dynamic_cast<const GivenSOE*>(&soe)
                    ? "this method needs the elements of a model, which a given matrix does not have; use asm2 without "
                      "geneo, or amg"
                    : "the matrix of the system is not the stiffness of the elements at rest, of which the method is "
                      "made (a nonlinear model, a mass, or films with other factors); use asm2 or amg",
                where);
  return matrices;
}

/// z = A⁻¹ r with the interface solved approximately by M.
class SubstructuringPreconditioner::Inverse final : public HostOperator {
 public:
  Inverse(const Decomposition& decomposition, const SubstructuredSystem& system)
      : HostOperator(decomposition.model().device_model().layout(),
                     {decomposition.equations().begin(), decomposition.equations().end()}),
        system_(system) {}
  void multiply(std::span<const double> x, std::span<double> y) const override {
    const std::vector<double> g = system_.schur().condense(x);
    std::vector<double> u(g.size());
    if (const HostOperator* m = system_.interface_preconditioner()) m->multiply(g, u);
    const std::vector<double> all = system_.schur().expand(u, x);
    std::copy(all.begin(), all.end(), y.begin());
  }
  std::size_t bytes() const override { return system_.bytes(); }
  std::string describe() const override { return system_.describe(); }

 private:
  const SubstructuredSystem& system_;
};

SubstructuringPreconditioner::SubstructuringPreconditioner(DecompositionOptions options)
    : options_(std::move(options)) {}
SubstructuringPreconditioner::~SubstructuringPreconditioner() = default;
const Operator* SubstructuringPreconditioner::inverse() const { return inverse_.get(); }

void SubstructuringPreconditioner::set_up(const LinearSOE& soe) {
  inverse_.reset();
  system_.reset();
  decomposition_ = std::make_unique<Decomposition>(soe.model(), make_partition(soe.model(), options_));
  if (decomposition_->size() == 0) return;
  system_ = std::make_unique<SubstructuredSystem>(
      soe.model().backend(), part_matrices_of(soe, *decomposition_, "preconditioner '" + name() + "'"), options_);
  inverse_ = std::make_unique<Inverse>(*decomposition_, *system_);
}

SchurSolver::SchurSolver(DecompositionOptions decomposition, const Options& options)
    : choice_(std::move(decomposition)), options_(options) {}
SchurSolver::~SchurSolver() = default;

std::vector<double> SchurSolver::solve_once(Backend& backend, const std::vector<double>& b, double scale, int& left,
                                            SolveReport& report) {
  CgRequest request;
  // Condensed loads are compared with the loads; jumps, which are displacements, with the first ones.
  // The multipliers of unknowns that three or more parts share are redundant, so that F is singular and CG breaks down
  // near the limit of rounding: the passes of solve() do the rest.
  request.relative_tolerance = system_->is_dual() ? std::max(0.1 * options_.relative_tolerance, 1e-7) : 0;
  request.absolute_tolerance = system_->is_dual() ? 0 : 0.5 * options_.relative_tolerance * scale;
  request.max_iterations = left;
  if (progress)
    request.progress = [&](int iteration, double residual) {
      return progress(report.iterations + iteration, scale > 0 ? residual / scale : residual);
    };
  std::vector<double> x;
  const CgOutcome outcome = system_->solve(backend, b, x, request);
  report.iterations += outcome.iterations;
  left -= std::min(left, outcome.iterations);
  for (const double r : outcome.history)
    report.history.push_back(outcome.right_hand_side > 0 ? r / outcome.right_hand_side : r);
  using Stop = CgOutcome::Stop;
  // With redundant multipliers a breakdown is usually one of rounding; the true residual decides.
  const bool by_rounding =
      system_->is_dual() && (outcome.stop == Stop::breakdown || outcome.stop == Stop::bad_preconditioner);
  if (by_rounding) return x;
  if (outcome.stop == Stop::breakdown) report.not_positive_definite = true;
  report.advice = outcome.stop == Stop::breakdown            ? "the interface problem is not positive definite"
                  : outcome.stop == Stop::bad_preconditioner ? "the interface preconditioner is not positive definite"
                  : outcome.stop == Stop::not_finite         ? "a number that is not finite appeared"
                  : outcome.stop == Stop::cancelled          ? "it was cancelled"
                                                             : "";
  return x;
}

SolveReport SchurSolver::solve(LinearSOE& soe) {
  const AnalysisModel& model = soe.model();
  SolveReport report;
  report.solver = name() + " on " + soe.name();
  const Stopwatch setup;
  if (ready_for_ != &soe || version_ != soe.version() || !system_) {
    system_.reset();
    decomposition_ = std::make_unique<Decomposition>(model, make_partition(model, choice_));
    system_ = std::make_unique<SubstructuredSystem>(
        model.backend(), part_matrices_of(soe, *decomposition_, "solver '" + name() + "'"), choice_);
    ready_for_ = &soe;
    version_ = soe.version();
  }
  report.setup_seconds = setup.seconds();
  report.memory_bytes = system_->bytes();
  report.preconditioner = system_->describe();

  const Stopwatch solving;
  const auto columns = static_cast<std::size_t>(soe.b().columns());
  const auto equations = decomposition_->equations();
  std::vector<int> left(columns, options_.max_iterations);  // iterations that each column may still take
  // A second pass, with the residual as load, brings bodies with small loads to their own tolerance.
  for (int pass = 0; pass < 6; ++pass) {
    Vector residual = model.make_vector(soe.b().columns());
    soe.matrix().apply(soe.x(), residual);
    model.backend().axpby(1.0, soe.b(), -1.0, residual);
    std::vector<double> r = residual.to_host(), x = soe.x().to_host();
    report.column_residuals = column_residuals(soe);
    report.true_residual = largest_or_nan(report.column_residuals);
    report.converged = report.true_residual <= options_.relative_tolerance;
    const bool used_up = std::all_of(left.begin(), left.end(), [](int more) { return more == 0; });
    const bool stopped = used_up || report.not_positive_definite || !report.advice.empty();
    if ((pass > 0 && report.converged) || !std::isfinite(report.true_residual) || stopped) break;
    for (std::size_t c = 0; c < columns; ++c) {
      std::vector<double> b(equations.size());
      for (std::size_t i = 0; i < b.size(); ++i) b[i] = r[static_cast<std::size_t>(equations[i]) * columns + c];
      const double size = length_of(b);
      if (size == 0 || left[c] == 0) continue;
      if (pass > 0 && report.column_residuals[c] <= options_.relative_tolerance) continue;
      const std::vector<double> u = solve_once(model.backend(), b, size, left[c], report);
      for (std::size_t i = 0; i < b.size(); ++i) x[static_cast<std::size_t>(equations[i]) * columns + c] += u[i];
    }
    soe.x().from_host(x);
  }
  report.column_residuals = column_residuals(soe);
  report.true_residual = largest_or_nan(report.column_residuals);
  report.converged = report.true_residual <= options_.relative_tolerance;
  report.solve_seconds = solving.seconds();
  report.reason = (report.converged ? "converged after " : "stopped after ") + std::to_string(report.iterations) +
                  " iterations" + (system_->is_dual() ? " on the multipliers" : " on the interface") +
                  (report.converged || report.advice.empty() ? "" : ": " + report.advice);
  return report;
}

}  // namespace voussoir
