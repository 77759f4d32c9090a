#include <voussoir/partition/process/mode_search.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/partition/process/processes.hpp>
#include <voussoir/solvers/eigen/mode_counting.hpp>

namespace voussoir {
namespace {

/// All processes know the same and throw together.
[[noreturn]] void fail_together(ErrorCode code, const std::string& text) { throw SharedError(Error(code, text), 0); }

/// One call of find_process_modes().
class ProcessModeSearch {
 public:
  ProcessModeSearch(ProcessEigenSolver& solver, const ModeSearchFacts& facts, const EigenRequest& request)
      : solver_(solver), facts_(facts), request_(request), most_(facts.free_equations - facts.equations_without_mass) {}

  EigenReport run() {
    check();
    if (has_limit()) {
      limit_ = eigenvalue_of(request_.below);
      if (request_.from > 0) from_ = eigenvalue_of(request_.from);
    }
    if (has_limit() && can_count()) timed("count", [&] { count_modes(); });
    choose_shift();
    if (has_limit() && expected_ < 0)
      search_up_to_limit();
    else
      first_search();
    complete();
    finish();
    return std::move(report_);
  }

 private:
  bool is_inside() const { return request_.from > 0; }
  bool has_limit() const { return std::isfinite(request_.below); }
  bool may_be_free() const { return facts_.possible_free_motions > 0 || facts_.others_possible; }
  bool can_count() const {
    return !out_of_memory_ && (solver_.factorises() || facts_.free_equations <= facts_.affordable_equations);
  }

  template <class Work>
  void timed(const char* stage, const Work& work) {
    const Stopwatch watch;
    work();
    auto& times = report_.times;
    const auto same = std::find_if(times.begin(), times.end(), [&](const StageTime& t) { return t.stage == stage; });
    if (same != times.end())
      same->seconds += watch.seconds();
    else
      times.push_back({stage, watch.seconds()});
  }

  void check() const {
    if (is_inside() && !has_limit())
      fail_together(ErrorCode::bad_input, "modes above a frequency need an end of the interval as well");
    const std::string method = "the method " + solver_.method() + " of the engine ";
    if (is_inside() && !solver_.factorises())
      fail_together(ErrorCode::bad_input, method + "finds the lowest modes only; use mumps for an interval");
    if (solver_.inverts()) return;
    if (facts_.equations_without_mass > 0)
      fail_together(ErrorCode::bad_input, method + "needs a mass at each unknown, and " +
                                              std::to_string(facts_.equations_without_mass) + " have none; use mumps");
    if (4 * static_cast<std::int64_t>(request_.modes) > facts_.free_equations)
      fail_together(ErrorCode::bad_input, method + "is for a small part of all modes, and " +
                                              std::to_string(request_.modes) + " of at most " +
                                              std::to_string(facts_.free_equations) + " are asked for; use mumps");
  }

  struct Count {
    std::int64_t below;
    double value;
  };
  /// The number of modes below a value, which is moved upwards a little where it meets one.
  Count count_at(double value) {
    double step = 1e-9;
    for (int attempt = 0; attempt < 6; ++attempt, step *= 10) {
      if (const auto below = solver_.count_below(value)) return {*below, value};
      value *= 1 + step;
    }
    fail_together(
        ErrorCode::singular,
        "the Sturm count failed: K - sM is singular at every shift that was tried; use another number of modes");
  }

  /// Modes between from_ and limit_. Without a result where a factor that the method does not need does not fit.
  void count_modes() {
    try {
      const Count upper = count_at(limit_);
      limit_ = upper.value;
      std::int64_t below = 0;
      if (from_ > 0) {
        const Count lower = count_at(from_);
        from_ = lower.value;
        below = lower.below;
      }
      expected_ = upper.below - below;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::out_of_memory || solver_.factorises()) throw;
      out_of_memory_ = true;
    }
  }

  void choose_shift() {
    if (is_inside()) {
      timed("factorise", [&] { shift_ = count_at(0.5 * (from_ + limit_)).value; });
      return;
    }
    if (!may_be_free()) return;
    double s = first_trial_shift(facts_.largest_ratio, facts_.free_equations);
    shift_ = -s;
    if (!solver_.inverts()) return;
    // s is to be below the lowest eigenvalue that is not zero, so that the method converges quickly, and not so far
    // below that it costs digits.
    constexpr int most_attempts = 8, most_probed = 60;
    constexpr double rough = 1e-6;
    const double least = 1e-13 * facts_.largest_ratio;  // below, rounding errors of K are as large
    const auto probed = static_cast<int>(std::min<std::int64_t>(
        std::min(facts_.possible_free_motions + (facts_.others_possible ? 7 : 1), most_probed), most_));
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
      timed("shift", [&] { search_from(-s, probed, rough); });
      const std::vector<double> values = solver_.values();
      const auto lowest = std::find_if(values.begin(), values.end(), [&](double v) { return v > least; });
      const bool fits = lowest == values.end() || (s <= 2 * *lowest && s >= 1e-6 * *lowest);
      if (!fits) s = std::max(0.1 * *lowest, least);
      shift_ = -s;
      solver_.keep({});
      values_.clear();
      if (fits) return;
    }
  }

  EigenSearch search_from(double shift, int want, double tolerance) {
    const EigenSearch result = solver_.search(shift, want, tolerance, request_.max_iterations);
    report_.iterations += result.iterations;
    if (result.singular)
      fail_together(ErrorCode::singular,
                    shift == 0 ? "the stiffness that resists a motion of the model is lost in rounding errors: "
                                 "stiffnesses or sizes of elements differ too much for its frequency to be computed, "
                                 "or the model has a mechanism"
                               : "K - sM is singular at the shift " + short_number(shift, 4) +
                                     ": a motion has neither stiffness nor mass; support it, or give it a mass");
    if (result.below.value_or(0) > 0 && shift <= 0)
      fail_together(ErrorCode::bad_input, "the stiffness matrix has " + std::to_string(*result.below) +
                                              " negative eigenvalues: the model is unstable at rest; check its "
                                              "materials");
    return result;
  }

  EigenSearch search(std::int64_t want) {
    EigenSearch result;
    timed("iterate", [&] {
      result = search_from(shift_, static_cast<int>(want), std::max(0.01 * request_.tolerance, 1e-13));
      classify();
    });
    return result;
  }

  /// Which modes have no stiffness. A frequency that rounding hides is not one of them: where the geometry excludes
  /// such motions, the report tells of them.
  void classify() {
    values_ = solver_.values();
    free_.assign(values_.size(), 0);
    const auto measures = solver_.measure(free_);
    const std::vector<double> bounds = solver_.scaled_bounds();
    std::vector<char> zero(values_.size(), 0);
    for (std::size_t i = 0; i < values_.size(); ++i)
      zero[i] = std::abs(measures[i].energy) <= energy_lost_in_rounding * bounds[i];
    const auto zeros = std::count(zero.begin(), zero.end(), 1);
    if (zeros == 0 || is_inside()) return;
    if (!facts_.others_possible && zeros > facts_.possible_free_motions) return;
    free_ = std::move(zero);
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (free_[i]) values_[i] = 0;
  }

  int count() const { return static_cast<int>(values_.size()); }

  void first_search() {
    std::int64_t want = request_.modes;
    if (has_limit())
      want = is_inside() || request_.modes == 0 ? expected_ : std::min<std::int64_t>(want, expected_);
    else  // one more than motions without stiffness, and one more than are asked for, to have what comes next
      want = std::max<std::int64_t>(want, facts_.possible_free_motions) + 1;
    const bool all = want >= most_;
    want = std::min(want, most_);
    if (want <= 0) return;
    const EigenSearch result = search(want);
    exhausted_ = result.exhausted || (all && count() >= most_);
    unfinished_ = !exhausted_ && count() < std::min<std::int64_t>(want, wanted());
  }

  /// Modes that are asked for, where the number is known.
  std::int64_t wanted() const {
    if (has_limit()) return request_.modes > 0 ? std::min<std::int64_t>(request_.modes, expected_) : expected_;
    return request_.modes;
  }

  /// Where modes below a limit cannot be counted: more and more of them, until one is above.
  void search_up_to_limit() {
    std::int64_t batch = request_.modes > 0 ? request_.modes + 1 : 10;
    while (true) {
      const int before = count();
      const EigenSearch result = search(std::min<std::int64_t>(batch, std::max<std::int64_t>(most_ - before, 1)));
      exhausted_ = result.exhausted || count() >= most_;
      const bool beyond = count() > 0 && values_.back() >= limit_;
      unfinished_ = !exhausted_ && !beyond && (count() == before || !result.converged);
      if (unfinished_ || exhausted_ || beyond) return;
      if (request_.modes > 0 && count() >= request_.modes) return;
      batch = std::min<std::int64_t>(2 * batch, 64);
    }
  }

  /// Modes found that count.
  std::int64_t counted() const {
    return std::count_if(values_.begin(), values_.end(),
                         [&](double v) { return v < limit_ && (!(from_ > 0) || v >= from_); });
  }

  /// Where modes are counted: as asked for, or just above the last mode that is wanted.
  void choose_limit() {
    if (has_limit()) {
      if (is_inside() || request_.modes == 0) return;
      if (request_.modes >= (expected_ >= 0 ? expected_ : counted())) return;
    }
    const int last = std::min(std::max(request_.modes, 1), count());
    limit_ = counting_limit(values_, last);
    expected_ = -1;
  }

  /// Modes that turned up late are below the last one that was wanted: all up to a lower limit are wanted, and known.
  void lower_limit() {
    if (counted() != expected_ || has_limit() || count() < request_.modes) return;
    const double limit = counting_limit(values_, request_.modes);
    if (!(limit < limit_)) return;
    limit_ = limit;
    expected_ = counted();
  }

  void complete() {
    if (count() > 0)
      choose_limit();
    else if (!has_limit())
      return;
    if (expected_ < 0 && can_count()) timed("count", [&] { count_modes(); });
    if (expected_ < 0) {
      report_.statement = "not checked for modes that were missed";
      return;
    }
    constexpr int most_searches = 30;
    for (int attempt = 0; attempt < most_searches && counted() < expected_; ++attempt) {
      const std::int64_t before = counted();
      const EigenSearch more = search(expected_ - before);
      if (counted() == before && (more.exhausted || !more.converged || more.found == 0)) break;
    }
    lower_limit();
    report_.completeness = counted() == expected_ ? Completeness::verified : Completeness::incomplete;
    report_.statement = counted_statement(counted(), expected_, from_, limit_);
  }

  void finish() {
    std::vector<int> taken;
    for (int i = 0; i < count(); ++i) {
      const double value = values_[static_cast<std::size_t>(i)];
      const bool below = !has_limit() || value < eigenvalue_of(request_.below);
      if (below && (!(from_ > 0) || value >= from_)) taken.push_back(i);
    }
    const int free = is_inside() ? 0 : static_cast<int>(std::count(free_.begin(), free_.end(), 1));
    note_free(free);
    if (request_.modes > 0 && static_cast<int>(taken.size()) > request_.modes) {
      note_cut(taken);
      taken.resize(static_cast<std::size_t>(request_.modes));
    }
    const auto number = static_cast<int>(taken.size());
    if (request_.modes > number && !has_limit()) judge_lack(number);
    if (has_limit() && unfinished_ && report_.completeness != Completeness::verified)
      say_incomplete("the iteration did not converge before it reached the limit; " + std::to_string(number) +
                     " modes were found; allow more iterations, or use another method");
    if (report_.statement.empty()) report_.statement = "there are no modes in the interval";
    measure(taken);
  }

  void measure(const std::vector<int>& taken) {
    const Stopwatch watch;
    std::vector<char> free;
    report_.modes.resize(taken.size());
    for (std::size_t i = 0; i < taken.size(); ++i) {
      report_.modes[i].free = free_[static_cast<std::size_t>(taken[i])] != 0;
      free.push_back(report_.modes[i].free);
    }
    solver_.keep(taken);
    judge_modes(solver_.measure(free), request_.tolerance, report_);
    report_.orthogonality = solver_.orthogonality();
    report_.times.push_back({"residuals", watch.seconds()});
    report_.solver =
        "petsc, " + solver_.method() + (solver_.inverts() ? ", shift " + short_number(shift_, 4) : std::string());
    report_.choice = "initial options: " + solver_.options();
    report_.solves = solver_.solves();
    report_.factorisations = solver_.factorisations();
  }

  void note_free(int free) {
    if (free > facts_.possible_free_motions)
      report_.notes.push_back("motions without stiffness that only the factorisation found: " +
                              std::to_string(free - facts_.possible_free_motions) +
                              "; rigid motions, mechanisms, or modes whose stiffness is lost in rounding errors");
    if (request_.modes > 0 && request_.modes < free)
      report_.notes.push_back("the model has " + std::to_string(free) + " motions without stiffness, and only " +
                              std::to_string(request_.modes) +
                              " modes are asked for: these are any combinations of them; ask for more modes");
  }

  void note_cut(const std::vector<int>& taken) {
    const auto most = static_cast<std::size_t>(request_.modes);
    const double last = values_[static_cast<std::size_t>(taken[most - 1])],
                 next = values_[static_cast<std::size_t>(taken[most])];
    if (next > 0 && are_equal_eigenvalues(last, next))
      report_.notes.push_back(
          "the last mode belongs to a group of equal frequencies that the number of modes cuts; ask "
          "for more modes to get all of it");
  }

  /// Fewer modes than were asked for: the model has no others, or they did not converge.
  void judge_lack(int number) {
    std::int64_t all = most_;
    if (exhausted_ && solver_.factorises() && count() > 0) {
      // A mass matrix of reduced integration has a larger null space than its diagonal shows.
      constexpr double far_above = 1e4;
      const double value = std::max(values_.back(), 1e-12 * facts_.largest_ratio);
      timed("count", [&] { all = std::min(all, count_at(far_above * value).below); });
    }
    if (exhausted_ && number >= all) {
      const std::int64_t lost = facts_.free_equations - number;
      report_.notes.push_back("the model has only " + std::to_string(number) + (number == 1 ? " mode" : " modes") +
                              (lost == 0 ? ", as many as free unknowns"
                                         : ": " + std::to_string(lost) + " motions of its " +
                                               std::to_string(facts_.free_equations) + " free unknowns have no mass"));
      return;
    }
    const std::string advice =
        exhausted_ ? "use another method" : "allow more iterations, or use another method of the engine";
    report_.notes.push_back("only " + std::to_string(number) + " of " + std::to_string(request_.modes) +
                            " modes converged; " + advice);
    say_incomplete(std::to_string(number) + " of " + std::to_string(request_.modes) + " modes were found; " + advice);
  }

  void say_incomplete(const std::string& text) {
    report_.completeness = Completeness::incomplete;
    report_.statement = "INCOMPLETE: " + text;
  }

  ProcessEigenSolver& solver_;
  const ModeSearchFacts& facts_;
  const EigenRequest& request_;
  const std::int64_t most_;  // modes that there can be
  EigenReport report_;
  std::vector<double> values_;  // of all modes found, 0 for those without stiffness
  std::vector<char> free_;      // which of them have no stiffness
  double shift_ = 0, from_ = 0, limit_ = 0;
  std::int64_t expected_ = -1;  // modes between from_ and limit_; −1: not counted yet
  bool exhausted_ = false, unfinished_ = false, out_of_memory_ = false;
};

}  // namespace

EigenReport find_process_modes(ProcessEigenSolver& solver, const ModeSearchFacts& facts, const EigenRequest& request) {
  try {
    check_eigen_request(request);
  } catch (const Error& error) {
    throw SharedError(error, 0);
  }
  return ProcessModeSearch(solver, facts, request).run();
}

}  // namespace voussoir
