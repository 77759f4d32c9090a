#include <voussoir/framework/analysis/eigen_solver.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/analysis/detail/no_stiffness.hpp>
#include <voussoir/framework/analysis/mode_measure.hpp>
#include <voussoir/framework/domain/generalised_node.hpp>

namespace voussoir {

const char* to_string(CompletenessCheck check) {
  switch (check) {
    case CompletenessCheck::sturm:
      return "sturm";
    case CompletenessCheck::probe:
      return "probe";
    case CompletenessCheck::none:
      return "none";
    case CompletenessCheck::automatic:
      break;
  }
  return "auto";
}

CompletenessCheck completeness_check(const std::string& name) {
  for (const CompletenessCheck check :
       {CompletenessCheck::automatic, CompletenessCheck::sturm, CompletenessCheck::probe, CompletenessCheck::none})
    if (name == to_string(check)) return check;
  throw Error(ErrorCode::not_found, "there is no check '" + name + "'; there are auto, sturm, probe and none");
}

double frequency_of(double eigenvalue) { return eigenvalue > 0 ? std::sqrt(eigenvalue) / (2 * std::numbers::pi) : 0.0; }

double eigenvalue_of(double frequency) {
  const double omega = 2 * std::numbers::pi * frequency;
  return omega * omega;
}

namespace {

/// Residuals that rounding excuses, at most: beyond, too little of a frequency is known.
constexpr double most_rounding = 1e-3;

}  // namespace

void check_eigen_request(const EigenRequest& request) {
  const auto refuse = [](const char* text) { throw Error(ErrorCode::bad_input, text, "modes"); };
  if (request.modes < 0) refuse("the number of modes is negative");
  if (request.modes == 0 && !std::isfinite(request.below))
    refuse("ask for a number of modes, or for all modes below a frequency");
  if (!(request.from >= 0) || !(request.below > request.from))
    refuse("an interval of frequencies begins at 0 or above, and ends above its beginning");
  if (!(request.tolerance > 0) || request.tolerance >= 1) refuse("the tolerance is a number between 0 and 1");
  if (request.max_iterations < 1) refuse("a solver needs one iteration or more");
  if (request.block < 0) refuse("a block has one vector or more");
}

// Once: a solver may have been chosen by another, which notes the same.
void note_once(EigenReport& report, const std::string& text) {
  if (std::find(report.notes.begin(), report.notes.end(), text) == report.notes.end()) report.notes.push_back(text);
}

std::string massless_note(std::int64_t count) {
  return std::to_string(count) +
         (count == 1 ? " unknown has stiffness but no mass; give its material a density if that is not intended"
                     : " unknowns have stiffness but no mass; give their materials a density if that is not "
                       "intended");
}

void judge_modes(std::span<const ModeMeasure> measures, double tolerance, EigenReport& report) {
  report.converged = true;
  std::size_t unresolved = 0;
  double excused = 0;
  for (std::size_t i = 0; i < measures.size(); ++i) {
    const ModeMeasure& measure = measures[i];
    EigenMode& mode = report.modes[i];
    mode.eigenvalue = eigenvalue_of_measure(measure, mode.free);
    mode.frequency = frequency_of(mode.eigenvalue);
    if (!mode.free && std::abs(measure.energy) <= energy_lost_in_rounding * measure.bound) ++unresolved;
    const double reference = mode.free ? measure.size : measure.force;
    mode.residual = reference > 0 ? measure.rest / reference : 0;
    mode.rounding = reference > 0 ? 64 * std::numeric_limits<double>::epsilon() * measure.size / reference : 0;
    if (!(mode.residual <= std::max(tolerance, std::min(mode.rounding, most_rounding)))) report.converged = false;
    if (!mode.free && mode.residual > tolerance) excused = std::max(excused, mode.residual);
  }
  if (report.converged && excused > 1e-5)
    note_once(report, "rounding limits residuals to " + short_number(excused, 2) +
                          ", since stiffnesses or sizes of elements differ much; frequencies are as inaccurate");
  if (unresolved == 0) return;
  report.converged = false;
  note_once(report, "the energy of " + std::to_string(unresolved) + (unresolved == 1 ? " mode" : " modes") +
                        " is lost in the rounding errors of the stiffness matrix, so that its frequency is not known; "
                        "stiffnesses of the model differ too much, or it has a mechanism");
}

namespace {

/// Eigenvalues, residuals and orthogonality, from the matrices.
void measure(const EigenProblem& problem, const EigenRequest& request, EigenSolution& solution) {
  EigenReport& report = solution.report;
  const auto count = static_cast<std::size_t>(solution.vectors.columns());
  Backend& backend = problem.backend();
  const Vector& x = solution.vectors;
  Vector kx(x.layout(), x.columns()), mx(x.layout(), x.columns());
  problem.stiffness().apply(x, kx);
  problem.mass().apply(x, mx);
  std::vector<double> energy(count), weight(count), gram(count * count);
  backend.column_dots(x, kx, energy);
  backend.column_dots(x, mx, weight);
  backend.block_dot(x, mx, gram);
  report.orthogonality = 0;
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < count; ++j)
      report.orthogonality = std::max(report.orthogonality, std::abs(gram[i * count + j] - (i == j ? 1 : 0)));
  const std::vector<double> force = backend.column_norms(kx);
  Vector dx(x.layout(), x.columns());
  backend.multiply(problem.stiffness_diagonal(), x, dx);
  const std::vector<double> size = backend.column_norms(dx);
  std::vector<double> minus(count), one(count, 1.0), bound(count);
  backend.column_dots(x, dx, bound);
  report.modes.resize(count);
  std::vector<ModeMeasure> measures(count);
  for (std::size_t i = 0; i < count; ++i) {
    measures[i] = {energy[i], weight[i], bound[i], force[i], size[i], 0};
    minus[i] = -eigenvalue_of_measure(measures[i], report.modes[i].free);
  }
  backend.column_axpby(minus, mx, one, kx);
  const std::vector<double> rest = backend.column_norms(kx);
  for (std::size_t i = 0; i < count; ++i) measures[i].rest = rest[i];
  judge_modes(measures, request.tolerance, report);
}

/// Those of the user's nodes: superelements fill up their last node of modes with unknowns that have no mass.
std::int64_t unknowns_without_mass(const EigenProblem& problem) {
  if (problem.equations_without_mass() == 0) return 0;
  const AnalysisModel& model = problem.model();
  const std::vector<double> mass = problem.mass_diagonal().to_host();
  std::int64_t count = 0;
  for (std::int32_t e = 0; e < model.equation_count(); ++e)
    if (model.is_free(e) && mass[static_cast<std::size_t>(e)] == 0 &&
        !is_generalised_node(model.domain(), model.place(e).node))
      ++count;
  return count;
}

}  // namespace

EigenSolution EigenSolver::solve(const EigenProblem& problem, const EigenRequest& request) {
  check_eigen_request(request);
  EigenSolution solution = find(problem, request);
  if (const std::int64_t count = unknowns_without_mass(problem); count > 0)
    note_once(solution.report, massless_note(count));
  if (solution.vectors.layout()) {
    const Stopwatch watch;
    measure(problem, request, solution);
    solution.report.times.push_back({"residuals", watch.seconds()});
  } else {
    solution.report.converged = true;
    solution.report.modes.clear();
  }
  return solution;
}

}  // namespace voussoir
