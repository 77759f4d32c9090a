#include <voussoir/solvers/eigen/search_solver.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/framework/model/free_motion.hpp>
#include <voussoir/solvers/eigen/detail/completeness.hpp>
#include <voussoir/solvers/eigen/detail/eigen_rules.hpp>
#include <voussoir/solvers/eigen/detail/spectral_search.hpp>

namespace voussoir {

using detail::RitzPairs;
using detail::SearchResult;
using detail::SpectralSearch;

/// One call of find().
class SearchSolver::Run {
 public:
  Run(const SearchSolver& solver, const EigenProblem& problem, const EigenRequest& request)
      : solver_(solver), problem_(problem), request_(request), blocks_(problem) {
    if (problem.free_motion_count() > 0) free_ = problem.free_motions().clone();
  }

  EigenSolution run() {
    check();
    solver_.check(problem_);
    if (!solver_.factorises() && !problem_.knows_free_motions())
      throw Error(
          ErrorCode::bad_input,
          "the model can move freely in ways that only a factorisation finds, because of its element types or of "
          "the number of its free parts; use lanczos",
          "eigen-solver '" + solver_.name() + "'");
    refuse_too_many();
    if (has_limit() && can_count()) timed("count", [&] { count_interval(); });
    if (solver_.factorises()) timed("factorise", [&] { choose_shift(); });
    if (has_limit() && expected_ < 0)
      search_up_to_limit();
    else
      first_search();
    complete();
    return finish();
  }

 private:
  bool is_inside() const { return request_.from > 0 || std::isfinite(request_.shift); }
  bool has_limit() const { return std::isfinite(request_.below); }
  /// Motions without stiffness that are asked for.
  int free_count() const { return free_.layout() && !is_inside() ? free_.columns() : 0; }

  /// Made when it is first needed: it takes the matrices to the host.
  detail::ShiftedFactor& factor() {
    if (!factor_) factor_ = std::make_unique<detail::ShiftedFactor>(problem_);
    return *factor_;
  }
  /// Whether a factorisation to count with is affordable. One that turns out not to fit in memory is given up.
  bool can_count() const {
    if (out_of_memory_ || request_.check == CompletenessCheck::none || request_.check == CompletenessCheck::probe)
      return solver_.factorises();
    return solver_.factorises() || request_.check == CompletenessCheck::sturm ||
           problem_.free_equations() <= detail::affordable_equations(problem_.model().domain());
  }

  template <class Work>
  void timed(const char* stage, Work work) {
    const Stopwatch watch;
    work();
    add_time({stage, watch.seconds()});
  }
  void add_time(const StageTime& time) {
    auto& times = report_.times;
    const auto same =
        std::find_if(times.begin(), times.end(), [&](const StageTime& t) { return t.stage == time.stage; });
    if (same != times.end())
      same->seconds += time.seconds;
    else
      times.push_back(time);
  }

  void check() const {
    if (!is_inside()) return;
    if (!solver_.works_inside())
      throw Error(ErrorCode::bad_input, "the eigen-solver '" + solver_.name() +
                                            "' finds the lowest modes only; use lanczos for an interval or a shift");
    if (request_.from > 0 && !has_limit())
      throw Error(ErrorCode::bad_input, "modes above a frequency need an end of the interval as well");
    if (std::isfinite(request_.shift) && request_.modes == 0)
      throw Error(ErrorCode::bad_input, "a shift needs a number of modes: those nearest to it are found");
    if (std::isfinite(request_.shift) && (request_.from > 0 || has_limit()))
      throw Error(ErrorCode::bad_input, "give a shift or an interval of frequencies, not both");
  }

  /// A method that does not factorise cannot find out how many modes there are; it would iterate on and on.
  void refuse_too_many() const {
    const std::int64_t most = problem_.free_equations();
    if (solver_.factorises() || request_.modes <= most) return;
    throw Error(ErrorCode::bad_input,
                std::to_string(request_.modes) + " modes were asked for, but the model has " + std::to_string(most) +
                    " free unknowns and no more modes than that; ask for fewer, or use lanczos",
                "eigen-solver '" + solver_.name() + "'");
  }

  /// The number of modes in an interval is known before any of them is.
  void count_interval() {
    limit_ = eigenvalue_of(request_.below);
    if (request_.from > 0) from_ = eigenvalue_of(request_.from);
    count_modes();
  }

  /// Modes between from_ and limit_, which are moved a little where they meet one. Without a result where a factor does
  /// not fit in memory and nobody insists.
  void count_modes() {
    kept_.reset();  // to make room for a factor
    try {
      const auto upper = factor().count_below(limit_);
      limit_ = upper.value;
      std::int64_t below = 0;
      if (from_ > 0) {
        const auto lower = factor().count_below(from_);
        from_ = lower.value;
        below = lower.below;
      }
      expected_ = upper.below - below;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::out_of_memory || solver_.factorises() ||
          request_.check == CompletenessCheck::sturm)
        throw;
      factor_.reset();
      out_of_memory_ = true;
    }
  }

  void choose_shift() {
    if (request_.from > 0 || std::isfinite(request_.shift)) {
      // A shift that meets a mode is moved.
      shift_ = factor().count_below(request_.from > 0 ? 0.5 * (from_ + limit_) : request_.shift).value;
      return;
    }
    if (!free_.layout() || problem_.may_have_other_free_motions()) {
      factor().factorise(0);
      shift_ = 0;
      take_null_space();
    }
    if (free_.layout()) choose_negative_shift();
    if (factor().inertia().negative > 0)
      throw Error(ErrorCode::bad_input,
                  "the stiffness matrix has " + std::to_string(factor().inertia().negative) +
                      " negative eigenvalues: the model is unstable at rest; check its materials");
  }

  /// Motions without stiffness that geometry did not show.
  void take_null_space() {
    const Vector motions = factor().null_space();
    if (!motions.layout()) return;
    const Vector first = blocks_.columns(motions, 0, 1);
    if (!problem_.may_have_other_free_motions())
      throw Error(
          ErrorCode::singular,
          describe_motion(problem_.model(), first.to_host()).text +
              ", and the stiffness that resists it is lost in rounding errors: stiffnesses or sizes of elements "
              "differ too much for its frequency to be computed");
    Vector all = blocks_.orthonormal(motions.clone(), {});
    if (all.layout() && all.columns() == motions.columns()) {
      const int known = problem_.free_motion_count();
      if (all.columns() > known)
        report_.notes.push_back(
            "motions without stiffness that only the factorisation found: " + std::to_string(all.columns() - known) +
            "; rigid motions, mechanisms, or modes whose stiffness is lost in rounding errors");
      free_ = std::move(all);
      return;
    }
    throw Error(ErrorCode::singular, describe_motion(problem_.model(), first.to_host()).text +
                                         ", and it has no mass either; support it, or give it a mass");
  }

  /// With a motion without stiffness K cannot be factorised, K + sM can. s is to be below the lowest other eigenvalue,
  /// so that the method converges quickly, and not so far below that it costs digits.
  void choose_negative_shift() {
    const std::vector<const Vector*> free{&free_};
    Vector x = blocks_.random(4, request_.seed);
    double s = detail::first_shift(problem_);
    constexpr int most_attempts = 12;
    for (int attempt = 0;; ++attempt) {
      factor().factorise(-s);
      shift_ = -s;
      const SpectralSearch search{blocks_, factor_.get(), request_, free};
      RitzPairs pairs;
      for (int step = 0; step < 2; ++step) {
        Vector y = blocks_.orthonormal(search.inverse(x), free);
        if (!y.layout()) return;  // there is nothing but free motions
        pairs = rayleigh_ritz(blocks_, y);
        x = pairs.vectors.clone();
      }
      const double lowest = pairs.values.front();
      if ((s <= 2 * lowest && s >= 1e-6 * lowest) || attempt + 1 == most_attempts) return;
      s = std::max(0.1 * lowest, 1e-13 * problem_.largest_ratio());  // below, rounding errors of K are as large
    }
  }

  std::vector<const Vector*> deflated() const {
    std::vector<const Vector*> list;
    if (free_.layout()) list.push_back(&free_);
    if (found_.vectors.layout()) list.push_back(&found_.vectors);
    return list;
  }

  SearchResult search_for(std::int64_t want, const EigenRequest& request) {
    SearchResult result;
    if (solver_.factorises()) timed("factorise", [&] { factor().factorise(shift_); });
    timed("iterate", [&] {
      SpectralSearch search{blocks_, factor_.get(), request, deflated()};
      search.want = static_cast<int>(want);
      search.seed = request_.seed + 1000003 * static_cast<std::uint64_t>(searches_++);
      search.first_iteration = report_.iterations;
      search.kept = &kept_;
      result = solver_.search(search);
    });
    report_.iterations += result.iterations;
    report_.solves += result.applications;
    for (const StageTime& time : result.times) add_time({"  " + time.stage, time.seconds});
    if (!result.method.empty()) report_.solver = result.method;
    return result;
  }
  SearchResult search_for(std::int64_t want) { return search_for(want, request_); }

  void take(const RitzPairs& pairs) {
    if (pairs.count() == 0) return;
    const std::vector<const Vector*> both{&found_.vectors, &pairs.vectors};
    found_.vectors = blocks_.joined(both);
    found_.values.insert(found_.values.end(), pairs.values.begin(), pairs.values.end());
    // All of them once more, ascending and without what they share.
    const std::vector<const Vector*> free{&free_};
    timed("iterate", [&] { found_ = rayleigh_ritz(blocks_, blocks_.orthonormal(std::move(found_.vectors), free)); });
  }

  void first_search() {
    std::int64_t want = request_.modes > 0 ? request_.modes - free_count() : expected_ - free_count();
    if (has_limit()) want = std::min<std::int64_t>(want, expected_ - free_count());
    if (has_limit() && request_.from > 0) want = expected_;  // any others would be those nearest to the middle
    // One more than motions without stiffness, so that there is something to tell them from.
    if (!has_limit()) want = std::max<std::int64_t>(want, 1);
    if (want <= 0) return;
    SearchResult result = search_for(want);
    next_ = result.next;
    exhausted_ = result.exhausted;
    unfinished_ = !result.exhausted && result.pairs.count() < want;
    take(result.pairs);
  }

  /// Where modes below a limit cannot be counted: more and more of them, until one is above.
  void search_up_to_limit() {
    limit_ = eigenvalue_of(request_.below);
    std::int64_t batch = request_.modes > 0 ? std::max(request_.modes - free_count(), 1) : 10;
    while (true) {
      const SearchResult result = search_for(batch);
      take(result.pairs);
      next_ = result.next;
      exhausted_ = result.exhausted;
      const bool beyond = result.pairs.count() > 0 && result.pairs.values.back() >= limit_;
      unfinished_ = !exhausted_ && !beyond && (result.pairs.count() == 0 || !result.converged);
      if (unfinished_ || exhausted_ || beyond) return;
      if (request_.modes > 0 && free_count() + found_.count() >= request_.modes) return;
      batch = std::min<std::int64_t>(2 * batch, 64);
    }
  }

  /// Modes found that count: below the limit, and above the beginning of an interval.
  std::int64_t counted() const {
    const int free = free_.layout() && !(from_ > 0) ? free_.columns() : 0;
    return free + std::count_if(found_.values.begin(), found_.values.end(),
                                [&](double v) { return v < limit_ && v >= from_; });
  }

  /// Where modes are counted if no limit was given.
  void choose_limits() {
    if (has_limit()) {
      if (request_.from > 0 || request_.modes == 0) return;
      // Fewer than are below the limit may be asked for; what is counted is what is found.
      if (request_.modes >= (expected_ >= 0 ? expected_ : counted())) return;
    }
    std::vector<double> values(static_cast<std::size_t>(free_count()), 0.0);
    if (!std::isfinite(request_.shift)) {
      values.insert(values.end(), found_.values.begin(), found_.values.end());
      const int count = std::min(std::max(request_.modes, 1), static_cast<int>(values.size()));
      limit_ = detail::limit_above(values, count, next_);
      expected_ = -1;
      return;
    }
    // The modes nearest to a shift: an interval around it.
    values = found_.values;
    std::sort(values.begin(), values.end(),
              [&](double a, double b) { return std::abs(a - shift_) < std::abs(b - shift_); });
    const auto taken = std::min(values.size(), static_cast<std::size_t>(request_.modes));
    const double radius = std::abs(values[taken - 1] - shift_) * (1 + detail::same_eigenvalue);
    from_ = std::max(shift_ - radius, 0.0);
    limit_ = shift_ + radius;
    expected_ = -1;
  }

  void complete() {
    if (free_count() + found_.count() > 0)
      choose_limits();
    else if (!has_limit())
      return;
    if (request_.check == CompletenessCheck::none) {
      report_.statement = "not checked for modes that were missed";
    } else if (request_.check == CompletenessCheck::probe || !can_count()) {
      probe();
    } else {
      count();
    }
  }

  void count() {
    if (expected_ < 0) timed("count", [&] { count_modes(); });
    if (expected_ < 0) return probe();
    constexpr int most_searches = 30;
    for (int attempt = 0; attempt < most_searches && counted() < expected_; ++attempt) {
      const std::int64_t before = counted();
      const SearchResult more = search_for(expected_ - before);
      take(more.pairs);
      if (counted() == before && (more.exhausted || !more.converged)) break;
    }
    report_.completeness = counted() == expected_ ? Completeness::verified : Completeness::incomplete;
    report_.statement = detail::sturm_statement(counted(), expected_, from_, limit_);
  }

  /// Another search, from random vectors that are M-orthogonal to all that was found: roughly, and exactly where
  /// something turns up.
  void probe() {
    constexpr int most_searches = 30, vectors = 8;
    EigenRequest rough = request_;
    rough.block = vectors;
    rough.tolerance = detail::probe_tolerance;
    std::int64_t missing = 0;
    for (int attempt = 0; attempt < most_searches; ++attempt) {
      const SearchResult look = search_for(1, rough);
      missing = std::count_if(look.pairs.values.begin(), look.pairs.values.end(),
                              [&](double v) { return v < limit_ && v >= from_; });
      if (missing == 0 && (look.exhausted || look.pairs.count() > 0)) break;
      if (look.pairs.count() == 0) {  // it did not even come near a mode
        report_.completeness = Completeness::unchecked;
        report_.statement = "the probe for modes that were missed did not converge; they are not excluded";
        return;
      }
      const std::int64_t before = counted();
      take(search_for(missing).pairs);
      if (counted() == before) break;
    }
    const bool says_something = request_.tolerance <= detail::probe_tolerance;
    report_.completeness = missing > 0      ? Completeness::incomplete
                           : says_something ? Completeness::probed
                                            : Completeness::unchecked;
    report_.statement = missing == 0 && !says_something ? detail::loose_statement(counted(), request_.tolerance, limit_)
                                                        : detail::probe_statement(counted(), missing, vectors, limit_);
  }

  EigenSolution finish() {
    std::vector<int> taken;
    for (int i = 0; i < found_.count(); ++i) {
      const double value = found_.values[static_cast<std::size_t>(i)];
      const bool inside = !has_limit() || value < eigenvalue_of(request_.below);
      if (inside && value >= from_) taken.push_back(i);
    }
    if (std::isfinite(request_.shift)) {
      std::stable_sort(taken.begin(), taken.end(), [&](int a, int b) {
        return std::abs(found_.values[static_cast<std::size_t>(a)] - shift_) <
               std::abs(found_.values[static_cast<std::size_t>(b)] - shift_);
      });
    }
    int free = free_count();
    if (request_.modes > 0) {
      if (request_.modes < free)
        report_.notes.push_back("the model has " + std::to_string(free) + " motions without stiffness, and only " +
                                std::to_string(request_.modes) +
                                " modes are asked for: these are any combinations of them; ask for more modes");
      free = std::min(free, request_.modes);
      const auto most = static_cast<std::size_t>(request_.modes - free);
      note_cut(taken, most);
      if (taken.size() > most) taken.resize(most);
    }
    std::sort(taken.begin(), taken.end());
    const Vector first = free > 0 ? blocks_.columns(free_, 0, free) : Vector();
    const Vector others = taken.empty() ? Vector() : polished(blocks_.columns(found_.vectors, taken), taken);
    const std::vector<const Vector*> both{&first, &others};
    EigenSolution solution;
    solution.vectors = blocks_.joined(both);
    if (exhausted_ && !is_inside() && request_.modes > free + static_cast<int>(taken.size())) count_all();
    note_lack(free + static_cast<int>(taken.size()));
    report_.modes.resize(static_cast<std::size_t>(free) + taken.size());
    for (int i = 0; i < free; ++i) report_.modes[static_cast<std::size_t>(i)].free = true;
    if (solver_.factorises()) {
      report_.solver = solver_.name() + ", shift " + short_number(shift_, 4) + ", " + factor().method();
      report_.solves = factor().solves();
    }
    if (factor_) report_.factorisations = factor_->factorisations();
    judge_lack(free + static_cast<int>(taken.size()));
    if (report_.statement.empty()) report_.statement = "there are no modes in the interval";
    solution.report = std::move(report_);
    return solution;
  }

  /// Modes of very heavy parts are far below all others, and one Rayleigh-Ritz problem with both leaves errors of the
  /// size of the highest eigenvalue in the lowest ones. Groups of modes of one magnitude that are not accurate enough
  /// are therefore improved by themselves: (K − σM)⁻¹M takes off what they have of higher modes, and their own
  /// Rayleigh-Ritz problem tells them apart.
  Vector polished(Vector x, const std::vector<int>& which) {
    if (!solver_.factorises()) return x;
    constexpr double one_magnitude = 1e4;
    RitzPairs all{std::move(x), {}};
    for (const int i : which) all.values.push_back(found_.values[static_cast<std::size_t>(i)]);
    const std::vector<double> rest = relative_residuals(blocks_, all);
    for (std::size_t first = 0, last = 0; first < rest.size(); first = last) {
      double worst = 0;
      for (; last < rest.size() && all.values[last] <= one_magnitude * all.values[first]; ++last)
        worst = std::max(worst, rest[last]);
      if (last == first) ++last;
      if (worst > request_.tolerance)
        polish(all.vectors, static_cast<int>(first), static_cast<int>(last - first), worst);
    }
    return std::move(all.vectors);
  }

  /// Improves some columns of `x`, whose largest residual is `worst`.
  void polish(Vector& x, int from, int count, double worst) {
    timed("factorise", [&] { factor().factorise(shift_); });
    timed("iterate", [&] {
      const std::vector<const Vector*> free{&free_};
      const SpectralSearch search{blocks_, factor_.get(), request_, free};
      const RitzPairs better =
          rayleigh_ritz(blocks_, blocks_.orthonormal(search.inverse(blocks_.columns(x, from, count)), free));
      if (better.count() != count) return;
      const std::vector<double> rest = relative_residuals(blocks_, better);
      if (*std::max_element(rest.begin(), rest.end()) < worst)
        blocks_.backend().copy_columns(better.vectors, 0, count, x, from);
    });
  }

  void note_cut(const std::vector<int>& taken, std::size_t most) {
    if (most == 0 || taken.size() <= most) return;
    const double last = found_.values[static_cast<std::size_t>(taken[most - 1])],
                 next = found_.values[static_cast<std::size_t>(taken[most])];
    if (std::abs(next - last) <= detail::same_eigenvalue * std::abs(next))
      report_.notes.push_back(
          "the last mode belongs to a group of equal frequencies that the number of modes cuts; ask "
          "for more modes to get all of it");
  }

  /// How many modes there are at all: as many as K − σM has negative pivots far above the last one that was found.
  /// Unknowns without mass are the least that is missing from all free ones; a mass matrix of reduced integration has a
  /// larger null space, which no diagonal shows.
  void count_all() {
    all_ = problem_.free_equations() - problem_.equations_without_mass();
    if (!solver_.factorises() || found_.count() == 0 || request_.check == CompletenessCheck::none) return;
    constexpr double far_above = 1e4;
    timed("count", [&] { all_ = std::min(all_, factor().count_below(far_above * found_.values.back()).below); });
  }

  /// Modes that did not converge, or that the method cannot tell apart, are missing: nothing else may be said.
  void judge_lack(int count) {
    if (report_.completeness == Completeness::verified || report_.completeness == Completeness::incomplete) {
      if (!(request_.modes > count && !has_limit())) return;
    }
    const bool all_there = exhausted_ && all_ >= 0 && free_count() + found_.count() >= all_;
    if (has_limit() ? !unfinished_ : request_.modes <= count || all_there) return;
    report_.completeness = Completeness::incomplete;
    report_.statement =
        has_limit()
            ? "INCOMPLETE: the iteration did not converge before it reached the limit; " + std::to_string(count) +
                  " modes were found; allow more iterations, or use another solver"
            : "INCOMPLETE: " + std::to_string(count) + " of " + std::to_string(request_.modes) + " modes were found; " +
                  (exhausted_ ? "the method cannot separate the others; " : "allow more iterations, or ") + advice();
  }

  /// What to do where the method did not find all modes that were asked for.
  std::string advice() const {
    if (solver_.factorises()) return "use another solver";
    return detail::is_large_part(request_.modes, problem_)
               ? "use lanczos: " + solver_.name() + " is for a small part of all modes, and " +
                     std::to_string(request_.modes) + " of at most " + std::to_string(problem_.free_equations()) +
                     " are asked for"
               : "use lanczos";
  }

  void note_lack(int count) {
    if (request_.modes <= count) return;
    if (exhausted_ && count >= all_) {
      const std::int64_t unknowns = problem_.free_equations(), lost = unknowns - count;
      report_.notes.push_back("the model has only " + std::to_string(count) + (count == 1 ? " mode" : " modes") +
                              (lost == 0 ? ", as many as free unknowns"
                                         : ": " + std::to_string(lost) + " motions of its " + std::to_string(unknowns) +
                                               " free unknowns have no mass"));
    } else if (!has_limit()) {
      report_.notes.push_back("only " + std::to_string(count) + " of " + std::to_string(request_.modes) +
                              " modes converged; " + (exhausted_ ? advice() : "allow more iterations, or " + advice()));
    }
  }

  const SearchSolver& solver_;
  const EigenProblem& problem_;
  const EigenRequest& request_;
  detail::EigenBlocks blocks_;
  std::unique_ptr<detail::ShiftedFactor> factor_;
  std::shared_ptr<void> kept_;  // by the method, between searches
  EigenReport report_;
  Vector free_;  // motions without stiffness, M-orthonormal
  RitzPairs found_;
  double shift_ = 0, from_ = 0, limit_ = 0;
  double next_ = std::numeric_limits<double>::infinity();  // estimate of the eigenvalue after those found
  std::int64_t expected_ = -1;                             // modes between from_ and limit_; −1: not counted yet
  std::int64_t all_ = -1;                                  // modes that there are; −1: nobody asked for them
  bool exhausted_ = false, unfinished_ = false, out_of_memory_ = false;
  int searches_ = 0;
};

EigenSolution SearchSolver::find(const EigenProblem& problem, const EigenRequest& request) {
  return Run(*this, problem, request).run();
}

}  // namespace voussoir
