#include <voussoir/partition/substructure_solver.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/framework/model/bodies.hpp>
#include <voussoir/partition/part_threads.hpp>
#include <voussoir/solvers/direct/acceptance.hpp>
#include <voussoir/solvers/direct/factorization.hpp>

namespace voussoir {
namespace {

double norm(const std::vector<double>& values) {
  double square = 0;
  for (double v : values) square += v * v;
  return std::sqrt(square);
}

}  // namespace

/// The condensed parts, assembled.
struct SubstructureSolver::Interface {
  std::vector<Superelement::Unknown> unknowns;   // ascending
  std::vector<std::vector<std::int32_t>> place;  // of each part's boundary unknowns; ascending
  SymmetricCsr matrix;
  std::unique_ptr<Factorization> factorization;

  Interface(const std::vector<std::unique_ptr<Superelement>>& parts, DirectMethod method, int threads)
      : factorization(Factorization::make(part_method(method), {.threads = threads})) {
    for (const auto& part : parts) unknowns.insert(unknowns.end(), part->boundary().begin(), part->boundary().end());
    std::sort(unknowns.begin(), unknowns.end());
    unknowns.erase(std::unique(unknowns.begin(), unknowns.end()), unknowns.end());
    std::vector<std::vector<std::int32_t>> parts_of(unknowns.size());
    for (std::size_t p = 0; p < parts.size(); ++p) {
      place.emplace_back();
      for (const auto& u : parts[p]->boundary()) {
        place[p].push_back(
            static_cast<std::int32_t>(std::lower_bound(unknowns.begin(), unknowns.end(), u) - unknowns.begin()));
        parts_of[place[p].back()].push_back(static_cast<std::int32_t>(p));
      }
    }
    // All unknowns of a part are coupled with each other.
    matrix.n = static_cast<std::int64_t>(unknowns.size());
    matrix.row_start.push_back(0);
    for (std::size_t i = 0; i < unknowns.size(); ++i) {
      const auto start = static_cast<std::ptrdiff_t>(matrix.column.size());
      for (std::int32_t p : parts_of[i]) {
        const auto from = std::lower_bound(place[p].begin(), place[p].end(), static_cast<std::int32_t>(i));
        matrix.column.insert(matrix.column.end(), from, place[p].end());
      }
      std::sort(matrix.column.begin() + start, matrix.column.end());
      matrix.column.erase(std::unique(matrix.column.begin() + start, matrix.column.end()), matrix.column.end());
      matrix.row_start.push_back(static_cast<std::int64_t>(matrix.column.size()));
    }
  }

  void assemble(const std::vector<std::unique_ptr<Superelement>>& parts) {
    matrix.value.assign(matrix.column.size(), 0.0);
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const std::size_t n = place[p].size();
      const auto& stiffness = parts[p]->stiffness();
      for (std::size_t i = 0; i < n; ++i) {
        // Both lists ascend, so one walk along the row finds all columns.
        std::int64_t at = matrix.row_start[place[p][i]];
        for (std::size_t j = i; j < n; ++j) {
          while (matrix.column[at] != place[p][j]) ++at;
          matrix.value[at] += stiffness[i * n + j];
        }
      }
    }
    if (matrix.n > 0) factorization->factorise(matrix);
  }
};

SubstructureSolver::SubstructureSolver(const Domain& domain, const Partition& partition,
                                       std::shared_ptr<Backend> backend, DirectMethod method)
    : domain_(domain),
      method_(method),
      whole_(std::make_unique<AnalysisModel>(domain, backend, TransformationHandler(), PlainNumberer())),
      subdomains_(make_subdomains(domain, partition)) {
  if (!whole_->nodes_have_first_unknowns())
    throw Error(ErrorCode::bad_input,
                "substructures need nodes that all have the first few of the model's unknowns, as in a model of one "
                "field; solve a model of several fields undivided");
  std::vector<std::int32_t> first_of_node(domain.node_count(), -1), count_of_node(domain.node_count(), 0);
  for (std::size_t k = 0; k < whole_->numbered_nodes().size(); ++k) {
    first_of_node[whole_->numbered_nodes()[k]] = whole_->first_equation()[k];
    count_of_node[whole_->numbered_nodes()[k]] = whole_->first_equation()[k + 1] - whole_->first_equation()[k];
  }
  for (const auto& subdomain : subdomains_) {
    superelements_.push_back(std::make_unique<Superelement>(*subdomain, backend, method));
    const AnalysisModel& part = superelements_.back()->model();
    auto& equations = whole_equation_.emplace_back(part.equation_count());
    for (std::size_t k = 0; k < part.numbered_nodes().size(); ++k) {
      const std::int32_t node = subdomain->whole_nodes()[part.numbered_nodes()[k]];
      // A node that only equations use may have more unknowns here, held ones, where all elements of the part have
      // more.
      for (std::int32_t e = part.first_equation()[k]; e < part.first_equation()[k + 1]; ++e) {
        const std::int32_t component = part.component(k, e);
        equations[e] = component < count_of_node[node] ? first_of_node[node] + component : -1;
      }
    }
  }
}

/// One step: the states of the parts beside that of the whole, and what brings them to balance.
class SubstructureSolver::StepSolution {
 public:
  StepSolution(SubstructureSolver& solver, Interface& interface, AnalysisState& state)
      : solver_(solver),
        parts_(solver.superelements_),
        interface_(interface),
        state_(state),
        states_(parts_.size()),
        bodies_(*solver.whole_) {
    const Stopwatch watch;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      states_[p].name = state.name;
      states_[p].case_factors = state.case_factors;
      states_[p].prescribed_factor = state.prescribed_factor;
      parts_[p]->begin(states_[p]);
    }
    StaticIntegrator().begin_step(*solver.whole_, state);
    solver.report_.load_seconds += watch.seconds();
  }

  bool has_matrix_of(const std::vector<double>& case_factors) const;
  void form_interface();
  /// `doubtful` names an element type that does not promise to be linear; empty where all do.
  Acceptance solve(const std::string& doubtful);

 private:
  /// Calls work(p) for all parts, several at a time where the direct method allows that.
  template <class Work>
  void each_part(Work work) const {
    const int threads = works_side_by_side(solver_.method_) ? part_threads(solver_.whole_->backend()) : 1;
    for_each_part(static_cast<int>(parts_.size()), threads, [&](int p) { work(static_cast<std::size_t>(p)); });
  }
  void correct();
  std::vector<double> unknowns();
  /// Of each body.
  std::vector<double> unbalance();

  SubstructureSolver& solver_;
  const std::vector<std::unique_ptr<Superelement>>& parts_;
  Interface& interface_;
  AnalysisState& state_;  // of the whole
  std::vector<AnalysisState> states_;
  const Bodies bodies_;  // of the whole
};

bool SubstructureSolver::StepSolution::has_matrix_of(const std::vector<double>& case_factors) const {
  return std::all_of(parts_.begin(), parts_.end(),
                     [&](const auto& part) { return part->model().same_matrix(case_factors, state_.case_factors); });
}

void SubstructureSolver::StepSolution::form_interface() {
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const Stopwatch watch;
    parts_[p]->form(states_[p]);
    solver_.report_.condense_seconds[p] += watch.seconds();
  }
  each_part([&](std::size_t p) {
    const Stopwatch watch;
    parts_[p]->factorise();
    solver_.report_.condense_seconds[p] += watch.seconds();
  });
  const Stopwatch watch;
  interface_.assemble(parts_);
  solver_.report_.interface_seconds += watch.seconds();
  if (interface_.matrix.n == 0 || interface_.factorization->null_pivots().empty()) return;
  const auto& null_pivots = interface_.factorization->null_pivots();
  const auto& u = interface_.unknowns[null_pivots.front()];
  throw Error(ErrorCode::singular,
              "the model is under-constrained: it can move in " + std::to_string(null_pivots.size()) +
                  " modes without resistance, and this unknown moves in one of them; add supports",
              solver_.domain_.node_label(u.node) + ", " + solver_.whole_->unknown_names()[u.component]);
}

// Solves for the forces that are out of balance at the parts' states, and takes the solution into them.
void SubstructureSolver::StepSolution::correct() {
  SubstructureReport& report = solver_.report_;
  std::vector<double> x(interface_.unknowns.size(), 0.0);
  const Stopwatch loading;
  for (std::size_t p = 0; p < parts_.size(); ++p) parts_[p]->form_load(states_[p]);
  std::vector<const std::vector<double>*> loads(parts_.size());
  each_part([&](std::size_t p) { loads[p] = &parts_[p]->condense_load(); });
  for (std::size_t p = 0; p < parts_.size(); ++p)
    for (std::size_t i = 0; i < loads[p]->size(); ++i) x[interface_.place[p][i]] += (*loads[p])[i];
  report.load_seconds += loading.seconds();
  const Stopwatch solving;
  if (!x.empty()) interface_.factorization->solve(x);
  report.interface_seconds += solving.seconds();
  const Stopwatch recovering;
  each_part([&](std::size_t p) {
    std::vector<double> own;
    for (std::int32_t i : interface_.place[p]) own.push_back(x[i]);
    parts_[p]->expand(own);
  });
  for (std::size_t p = 0; p < parts_.size(); ++p) parts_[p]->add(states_[p]);
  report.recover_seconds += recovering.seconds();
}

// Of the whole: parts agree where they meet.
std::vector<double> SubstructureSolver::StepSolution::unknowns() {
  std::vector<double> all = state_.unknowns.to_host();
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const std::vector<double> own = states_[p].unknowns.to_host();
    const auto& equation = solver_.whole_equation_[p];
    for (std::size_t e = 0; e < own.size(); ++e)
      if (equation[e] >= 0) all[equation[e]] = own[e];
  }
  return all;
}

std::vector<double> SubstructureSolver::StepSolution::unbalance() {
  AnalysisModel& whole = *solver_.whole_;
  Vector b = whole.make_vector();
  StaticIntegrator().form_unbalance(whole, state_, b);
  return bodies_.norms(whole.backend(), b);
}

Acceptance SubstructureSolver::StepSolution::solve(const std::string& doubtful) {
  const std::vector<double> start = state_.unknowns.to_host();
  const std::vector<double> before = unbalance();
  const double largest = *std::max_element(before.begin(), before.end());
  correct();
  const std::vector<double> present = unknowns();
  state_.unknowns.from_host(present);
  // Of the worst body, in relation to its own load; a body without load, to that of the others.
  const auto residual = [&] {
    const std::vector<double> left = unbalance();
    double worst = 0;
    for (std::size_t b = 0; b < left.size(); ++b) {
      const double load = before[b] > 1e-13 * largest ? before[b] : largest;
      const double ratio = load > 0 ? left[b] / load : left[b];
      if (std::isnan(ratio)) return ratio;
      worst = std::max(worst, ratio);
    }
    return worst;
  };
  // Elements that promise nothing may be linear all the same; the forces tell.
  if (const double left = doubtful.empty() ? 0.0 : residual(); !(left < 1e-8))
    throw Error(ErrorCode::bad_input,
                "the model is not linear, and substructures are condensed once: a linear solution leaves " +
                    std::to_string(left) + " of the loads unbalanced; use StaticAnalysis",
                doubtful);
  const auto refine = [&] {
    correct();
    std::vector<double> moved = unknowns(), size = moved;
    state_.unknowns.from_host(moved);
    for (std::size_t e = 0; e < moved.size(); ++e) {
      moved[e] -= present[e];
      size[e] -= start[e];
    }
    const double change = norm(moved);
    return change > 0 ? change / norm(size) : 0.0;
  };
  return check_solution(residual, refine);
}

std::vector<StepResult> SubstructureSolver::solve(const std::vector<Step>& steps) {
  if (whole_->is_thermal() && whole_->depends_on_temperature())
    throw Error(ErrorCode::bad_input,
                "conductivity depends on temperature, so the problem is not linear; use StaticAnalysis");
  const std::string doubtful = Superelement::not_linear(*whole_);
  report_ = {};
  report_.condense_seconds.assign(superelements_.size(), 0.0);
  for (const auto& part : superelements_) report_.interior_unknowns.push_back(part->interior_unknowns());
  Interface interface(superelements_, method_, whole_->backend().threads());
  report_.interface_unknowns = interface.matrix.n;
  report_.interface_entries = static_cast<std::int64_t>(interface.matrix.column.size());

  std::vector<StepResult> results;
  std::vector<double> formed_for;  // case factors that the stiffness was formed for
  for (AnalysisState& state : step_states(domain_, steps)) {
    SolveReport report;
    report.solver = "substructures, " + std::to_string(superelements_.size()) + " parts";
    StepSolution solution(*this, interface, state);
    const Stopwatch setup_watch;
    if (results.empty() || formed_for.empty() || !solution.has_matrix_of(formed_for)) {
      solution.form_interface();
      formed_for = state.case_factors;
    }
    report.setup_seconds = setup_watch.seconds();

    const Stopwatch solve_watch;
    const Acceptance acceptance = solution.solve(doubtful);
    report.solve_seconds = solve_watch.seconds();
    report.true_residual = acceptance.residual;
    report.converged = acceptance.accepted;
    report.reason = "solved directly";
    if (!report.converged && !std::isfinite(report.true_residual))
      throw Error(ErrorCode::not_finite, "the solution is not finite", "step '" + state.name + "'");
    if (!report.converged)
      throw Error(ErrorCode::singular,
                  "the matrix is too ill-conditioned for a direct solver; the true relative residual is " +
                      std::to_string(report.true_residual) + ". Look for weakly restrained parts",
                  "step '" + state.name + "'");
    StaticIntegrator integrator;
    results.push_back(make_step_result(*whole_, integrator, state, report, true));
  }
  return results;
}

}  // namespace voussoir
