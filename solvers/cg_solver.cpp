#include <voussoir/solvers/cg_solver.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <voussoir/backends/one_reduction_cg.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/solvers/detail/free_motion_search.hpp>
#include <voussoir/solvers/detail/residual_text.hpp>
#include <voussoir/solvers/detail/scaled_loads.hpp>
#include <voussoir/solvers/preconditioners/unsymmetric.hpp>

namespace voussoir {
namespace {

using Stop = CgOutcome::Stop;

/// Columns that are solved together: more make vectors longer and read the matrix no less often to speak of.
constexpr int most_columns = 8;
/// The recurrence's residual drifts from the true one by rounding; starting again from x makes them equal.
constexpr int most_restarts = 3;
/// What the true residual may be above what rounding leaves of it.
constexpr double rounding_slack = 50;

/// Whether it is the matrix that is not positive definite, where r·M r was not positive at `x`: what is made from its
/// diagonal has the signs of its diagonal. Looks along the residual and along what the preconditioner makes of it.
bool matrix_is_to_blame(const LinearSOE& soe, const Operator& inverse, const Vector& b, const Vector& x) {
  Backend& backend = soe.model().backend();
  Vector r = soe.model().make_vector(), z = soe.model().make_vector(), image = soe.model().make_vector();
  soe.matrix().apply(x, r);
  backend.axpby(1.0, b, -1.0, r);
  if (soe.matrix().apply_dot(r, image) <= 0) return true;
  inverse.apply(r, z);
  return backend.norm(z) > 0 && soe.matrix().apply_dot(z, image) <= 0;
}

void require_reductions(const CgSolver::Options& options) {
  if (options.reductions != 1 && options.reductions != 2)
    throw Error(ErrorCode::misuse,
                "conjugate gradients have 1 or 2 reductions per iteration, not " + std::to_string(options.reductions));
}

/// One column of a block that is solved together.
struct Column {
  ColumnReport own;
  CgOutcome outcome;
  bool runs = true;  ///< neither good enough nor given up
  double left = 0;   ///< its worst body's true relative residual, where CG believes that it has converged
  double limit = 0;  ///< what that may be: the tolerance, or what rounding of A x leaves
};

}  // namespace

/// What is known of one matrix.
struct CgSolver::Memory {
  const LinearSOE* soe = nullptr;
  std::uint64_t version = 0;
  std::unique_ptr<detail::FreeMotionSearch> search;
};

/// Solves some columns of an SOE together.
struct CgSolver::Block {
  Block(CgSolver& solver, LinearSOE& soe, int first, int count)
      : solver(solver),
        soe(soe),
        backend(soe.model().backend()),
        preconditioner(solver.preconditioner_.get()),
        loads(soe, first, count),
        columns(static_cast<std::size_t>(count)) {}

  const Operator* inverse() const { return preconditioner ? preconditioner->inverse() : nullptr; }
  bool flexible() const { return preconditioner && preconditioner->is_flexible(); }
  int count() const { return static_cast<int>(columns.size()); }

  void iterate() {
    int allowed = solver.options_.max_iterations;
    for (int restart = 0; restart < most_restarts; ++restart) {
      const int iterations = run(allowed);
      bool failed = false, running = false;
      for (const Column& c : columns)
        failed = failed || (c.runs && c.outcome.stop != Stop::converged && c.outcome.stop != Stop::cancelled);
      if (failed && iterations < allowed && preconditioner) {
        const Stopwatch again;
        if (preconditioner->strengthen(soe)) {
          strengthening += again.seconds();
          allowed -= iterations;
          before += iterations;
          forget_infinities();
          --restart;  // it cannot be strengthened for ever
          continue;
        }
      }
      most_iterations = std::max(most_iterations, before + iterations);
      for (Column& c : columns) {
        if (c.outcome.stop != Stop::converged) c.runs = false;
        running = running || c.runs;
      }
      if (!running) return;
      Vector r = soe.model().make_vector(count());
      soe.matrix().apply(loads.x(), r);
      backend.axpby(1.0, loads.b(), -1.0, r);
      const std::vector<double> ratios = loads.ratios(r);
      running = false;
      for (std::size_t c = 0; c < columns.size(); ++c) {
        if (!columns[c].runs) continue;
        columns[c].left = ratios[c];
        if (ratios[c] <= detail::residual_slack * solver.options_.relative_tolerance ||
            columns[c].outcome.iterations == 0)
          columns[c].runs = false;
        running = running || columns[c].runs;
      }
      if (!running) return;
    }
  }

  /// Iterates all columns that are not done, and keeps what happened. Returns the most iterations of one of them.
  int run(int allowed) {
    CgRequest request;
    request.flexible = flexible();
    request.max_iterations = preconditioner ? std::min(allowed, preconditioner->patience()) : allowed;
    const Preconditioner::Checkpoint early =
        preconditioner ? preconditioner->checkpoint() : Preconditioner::Checkpoint();
    request.checkpoint = early.iterations;
    request.checkpoint_reduction = early.reduction;
    std::vector<double> tolerances;
    for (int c = 0; c < count(); ++c)
      tolerances.push_back(columns[static_cast<std::size_t>(c)].runs
                               ? loads.tolerance(c, solver.options_.relative_tolerance)
                               : std::numeric_limits<double>::infinity());
    if (solver.progress) {
      const bool alone = count() == 1;
      request.progress = [this, alone](int iteration, double residual) {
        const double size = loads.norm(0);
        return solver.progress(before + iteration, !alone ? residual : size > 0 ? residual / size : 0.0);
      };
    }
    std::vector<CgOutcome> outcomes;
    if (count() == 1) {
      request.relative_tolerance = tolerances.front();
      outcomes.push_back(solver.options_.reductions == 1
                             ? one_reduction_cg(backend, soe.matrix(), inverse(), loads.b(), loads.x(), request)
                             : backend.cg(soe.matrix(), inverse(), loads.b(), loads.x(), request));
    } else {
      outcomes = backend.cg_columns(soe.matrix(), inverse(), loads.b(), loads.x(), request, tolerances);
    }
    int most = 0;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (!columns[c].runs) continue;
      ColumnReport& own = columns[c].own;
      own.iterations += outcomes[c].iterations;
      for (const double r : outcomes[c].history)
        own.history.push_back(outcomes[c].right_hand_side > 0 ? r / outcomes[c].right_hand_side : 0.0);
      columns[c].outcome = std::move(outcomes[c]);
      most = std::max(most, columns[c].outcome.iterations);
    }
    return most;
  }

  /// A column in which a NaN appeared begins again.
  void forget_infinities() {
    std::vector<double> keep(columns.size(), 1.0);
    for (std::size_t c = 0; c < columns.size(); ++c)
      if (columns[c].runs && columns[c].outcome.stop == Stop::not_finite) keep[c] = 0;
    backend.column_axpby(std::vector<double>(columns.size(), 0.0), loads.x(), keep, loads.x());
  }

  /// One column as a vector of its own.
  Vector alone(const Vector& from, std::size_t column) const {
    Vector one = soe.model().make_vector();
    backend.copy_columns(from, static_cast<int>(column), 1, one, 0);
    return one;
  }
  /// Of numbers by body and column those of one column.
  std::vector<double> of_column(const std::vector<double>& numbers, std::size_t column) const {
    std::vector<double> result;
    for (std::size_t k = column; k < numbers.size(); k += columns.size()) result.push_back(numbers[k]);
    return result;
  }

  /// Says how each column ended, and looks for what moves freely where one ended badly.
  void judge(detail::FreeMotionSearch& search, SolveReport& report) {
    const std::vector<double> norms_of_x = loads.norms(loads.x());
    for (std::size_t c = 0; c < columns.size(); ++c) judge(c, of_column(norms_of_x, c), search, report);
  }
  void judge(std::size_t c, const std::vector<double>& x, detail::FreeMotionSearch& search, SolveReport& report) {
    Column& column = columns[c];
    ColumnReport& own = column.own;
    const double tolerance = solver.options_.relative_tolerance;
    const std::string after = " after " + std::to_string(own.iterations) + " iterations";
    CgOutcome& outcome = column.outcome;
    if (outcome.stop == Stop::bad_preconditioner &&
        matrix_is_to_blame(soe, *inverse(), alone(loads.b(), c), alone(loads.x(), c)))
      outcome.stop = Stop::breakdown;
    own.converged = outcome.stop == Stop::converged;
    switch (outcome.stop) {
      case Stop::converged:
        own.reason = "converged" + after;
        break;
      case Stop::max_iterations:
      case Stop::slow:
        own.reason =
            "the residual is " + detail::residual_text(outcome.residual / loads.norm(static_cast<int>(c))) + after;
        break;
      case Stop::breakdown:
        own.reason = "broke down" + after + ": the matrix is not positive definite";
        report.not_positive_definite = true;
        break;
      case Stop::bad_preconditioner:
        own.reason = "broke down" + after + ": the preconditioner " + preconditioner->name() +
                     " is not positive definite, though the matrix may be";
        bad_preconditioner = true;
        break;
      case Stop::not_finite:
        own.reason = "a NaN or infinity appeared" + after;
        break;
      case Stop::cancelled:
        own.reason = "cancelled" + after;
        return;
    }
    std::vector<double> motion;
    if (own.converged) {
      const std::vector<double> b = of_column(loads.load_norms(), c), rounding = search.rounding(x);
      column.limit = detail::residual_slack * tolerance;
      for (std::size_t k = 0; k < b.size(); ++k)
        if (b[k] > 0) column.limit = std::max(column.limit, rounding_slack * rounding[k] / b[k]);
      if (!(column.left <= detail::residual_slack * tolerance)) {
        // Rounding of A x bounds what can be reached. What it leaves is an answer; more than it leaves is none.
        own.converged = column.left <= column.limit;
        own.reason = (own.converged ? "converged" + after + " as far as rounding allows, to a true residual of "
                                    : "rounding limits the true residual to ") +
                     detail::residual_text(column.left) + (own.converged ? "" : after);
      }
      // Rounding gives a singular matrix a little stiffness everywhere, so that CG may end with an absurd solution.
      if (own.converged && search.is_absurd(x, b)) {
        own.converged = false;
        own.reason = "the matrix is singular: the solution contains a motion without resistance";
        motion = search.normalised(alone(loads.x(), c));
      }
    }
    if (!own.converged && motion.empty())
      motion = search.find(inverse(), flexible(), alone(loads.b(), c), alone(loads.x(), c),
                           solver.options_.search_free_motions);
    if (!motion.empty()) report.free_motions.push_back(std::move(motion));
  }

  CgSolver& solver;
  LinearSOE& soe;
  Backend& backend;
  Preconditioner* preconditioner;
  detail::ScaledLoads loads;
  std::vector<Column> columns;
  int before = 0;            ///< iterations until the preconditioner was strengthened
  int most_iterations = 0;   ///< of any column
  double strengthening = 0;  ///< seconds; they belong to setting up, though they are spent on the way
  bool bad_preconditioner = false;
};

CgSolver::CgSolver(std::shared_ptr<Preconditioner> preconditioner) : CgSolver(std::move(preconditioner), Options()) {}
CgSolver::CgSolver(std::shared_ptr<Preconditioner> preconditioner, const Options& options)
    : preconditioner_(std::move(preconditioner)), options_(options), memory_(std::make_unique<Memory>()) {
  require_reductions(options_);
}
CgSolver::~CgSolver() = default;

std::string CgSolver::name() const {
  return std::string("cg") + (options_.reductions == 1 ? ":reductions=1" : "") +
         (preconditioner_ ? "+" + preconditioner_->name() : std::string());
}

namespace {

/// Conjugate gradients need a symmetric matrix and a symmetric preconditioner.
void require_symmetry(const LinearSOE& soe, const Preconditioner* preconditioner, const std::string& solver) {
  if (dynamic_cast<const UnsymmetricPreconditioner*>(preconditioner))
    throw Error(ErrorCode::bad_input,
                "the preconditioner is not symmetric, and conjugate gradients need one that is; use gmres+" +
                    preconditioner->name(),
                "solver '" + solver + "'");
  if (!soe.model().device_model().symmetric())
    throw Error(ErrorCode::bad_input,
                "the matrix of this model is not symmetric, and conjugate gradients need one that is; use gmres, "
                "bicgstab or direct",
                "solver '" + solver + "'");
}

}  // namespace

SolveReport CgSolver::solve(LinearSOE& soe) {
  Memory& memory = *memory_;
  SolveReport report;
  report.solver = name() + " on " + soe.name();
  require_reductions(options_);
  require_symmetry(soe, preconditioner_.get(), name());
  if (options_.reductions == 1 && preconditioner_ && preconditioner_->is_flexible())
    throw Error(ErrorCode::bad_input,
                "the preconditioner varies between iterations, which one reduction per iteration does not allow; use "
                "cg+" +
                    preconditioner_->name(),
                "solver '" + name() + "'");
  const Stopwatch setting_up;
  if (memory.soe != &soe || memory.version != soe.version()) {
    memory = Memory();  // until the preconditioner is ready
    if (preconditioner_) preconditioner_->set_up(soe);
    memory.search = std::make_unique<detail::FreeMotionSearch>(soe);
    memory.soe = &soe;
    memory.version = soe.version();
  }
  report.setup_seconds = setting_up.seconds();

  const Stopwatch solving;
  double strengthening = 0;
  int most_iterations = 0;
  bool bad_preconditioner = false, given_up = false;
  const int columns = soe.b().columns();
  std::vector<double> limits;
  for (int first = 0; first < columns && !given_up; first += most_columns) {
    const Stopwatch solving_block;
    Block block(*this, soe, first, std::min(most_columns, columns - first));
    block.iterate();
    block.judge(*memory.search, report);
    block.loads.finish();
    strengthening += block.strengthening;
    most_iterations = std::max(most_iterations, block.most_iterations);
    bad_preconditioner = bad_preconditioner || block.bad_preconditioner;
    double iterations = 0;
    for (const Column& c : block.columns) iterations += c.own.iterations;
    const double seconds = solving_block.seconds() - block.strengthening;
    for (Column& c : block.columns) {
      c.own.solve_seconds = iterations > 0 ? seconds * c.own.iterations / iterations : 0;
      report.iterations += c.own.iterations;
      given_up = given_up || !c.own.converged;
      limits.push_back(c.limit);
      report.columns.push_back(std::move(c.own));
    }
  }
  report.column_residuals = column_residuals(soe);
  report.true_residual = largest_or_nan(report.column_residuals);
  report.converged = true;
  for (std::size_t c = 0; c < report.columns.size(); ++c) {
    ColumnReport& own = report.columns[c];
    // Scaling is exact but where a solution, brought to its true size, is too small or too large for its digits.
    if (own.converged && !(report.column_residuals[c] <= 1.5 * limits[c])) {
      own.converged = false;
      own.reason = "values this small or large lose precision: the true residual is " +
                   detail::residual_text(report.column_residuals[c]) +
                   ". Use units in which loads and stiffness are closer to 1";
    }
    if (report.converged) report.reason = own.reason;
    report.converged = report.converged && own.converged;
  }
  report.history = report.columns.front().history;
  if (columns == 1) {
    report.columns.clear();
    report.column_residuals.clear();
  }
  report.solve_seconds = solving.seconds() - strengthening;
  report.setup_seconds += strengthening;
  if (preconditioner_) {
    report.preconditioner = preconditioner_->summary();
    report.memory_bytes = preconditioner_->bytes();
    const bool block_jacobi = preconditioner_->name().starts_with("block-jacobi");
    report.advice = bad_preconditioner ? std::string("Use another preconditioner, such as ") +
                                             (block_jacobi ? "fsai" : "block-jacobi") + ", or the direct solver"
                                       : preconditioner_->advice(most_iterations, report.converged);
  }
  return report;
}

}  // namespace voussoir
