#include <voussoir/solvers/eigen/search_solver.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/framework/model/free_motion.hpp>
#include <voussoir/solvers/eigen/detail/completeness.hpp>
#include <voussoir/solvers/eigen/detail/spectral_search.hpp>

namespace voussoir {

using detail::RitzPairs;
using detail::SearchResult;
using detail::SpectralSearch;

/// One call of find().
class SearchSolver::Run {
 public:
  Run(const SearchSolver& solver, const EigenProblem& problem, const EigenRequest& request)
      : solver_(solver), problem_(problem), request_(request), blocks_(problem), factor_(problem) {
    if (problem.free_motion_count() > 0) free_ = problem.free_motions().clone();
  }

  EigenSolution run() {
    check();
    timed("count", [&] { count_interval(); });
    timed("factorise", [&] { choose_shift(); });
    first_search();
    complete();
    return finish();
  }

 private:
  bool is_inside() const { return request_.from > 0 || std::isfinite(request_.shift); }
  bool has_limit() const { return std::isfinite(request_.below); }
  /// Motions without stiffness that are asked for.
  int free_count() const { return free_.layout() && !is_inside() ? free_.columns() : 0; }

  template <class Work>
  void timed(const char* stage, Work work) {
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

  /// The number of modes in an interval is known before any of them is.
  void count_interval() {
    if (!has_limit()) return;
    const auto upper = factor_.count_below(eigenvalue_of(request_.below));
    limit_ = upper.value;
    expected_ = upper.below;
    if (request_.from > 0) {
      const auto lower = factor_.count_below(eigenvalue_of(request_.from));
      from_ = lower.value;
      expected_ -= lower.below;
    }
  }

  void choose_shift() {
    if (request_.from > 0 || std::isfinite(request_.shift)) {
      // A shift that meets a mode is moved.
      shift_ = factor_.count_below(request_.from > 0 ? 0.5 * (from_ + limit_) : request_.shift).value;
      return;
    }
    if (!free_.layout() || problem_.may_have_other_free_motions()) {
      factor_.factorise(0);
      shift_ = 0;
      take_null_space();
    }
    if (free_.layout()) choose_negative_shift();
    if (factor_.inertia().negative > 0)
      throw Error(ErrorCode::bad_input,
                  "the stiffness matrix has " + std::to_string(factor_.inertia().negative) +
                      " negative eigenvalues: the model is unstable at rest; check its materials");
  }

  /// Motions without stiffness that geometry did not show.
  void take_null_space() {
    const Vector motions = factor_.null_space();
    if (!motions.layout()) return;
    Vector all = blocks_.orthonormal(motions.clone(), {});
    if (all.layout() && all.columns() == motions.columns()) {
      free_ = std::move(all);
      return;
    }
    const Vector first = blocks_.columns(motions, 0, 1);
    throw Error(ErrorCode::singular, describe_motion(problem_.model(), first.to_host()).text +
                                         ", and it has no mass either; support it, or give it a mass");
  }

  /// With a motion without stiffness K cannot be factorised, K + sM can. s is to be below the lowest other eigenvalue,
  /// so that the method converges quickly, and not so far below that it costs digits.
  void choose_negative_shift() {
    const std::vector<const Vector*> free{&free_};
    Vector x = blocks_.random(4, request_.seed);
    double s = 1e-2 * problem_.largest_ratio() *
               std::pow(static_cast<double>(std::max<std::int64_t>(problem_.free_equations(), 1)), -2.0 / 3);
    constexpr int most_attempts = 12;
    for (int attempt = 0;; ++attempt) {
      factor_.factorise(-s);
      shift_ = -s;
      const SpectralSearch search{blocks_, factor_, request_, free};
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

  SearchResult search_for(std::int64_t want) {
    SearchResult result;
    timed("factorise", [&] { factor_.factorise(shift_); });
    timed("iterate", [&] {
      SpectralSearch search{blocks_, factor_, request_, deflated()};
      search.want = static_cast<int>(want);
      search.seed = request_.seed + 1000003 * static_cast<std::uint64_t>(searches_++);
      search.first_iteration = report_.iterations;
      result = solver_.search(search);
    });
    report_.iterations += result.iterations;
    return result;
  }

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
    take(result.pairs);
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
      // Fewer than are below the limit may be asked for; what is counted is what is found.
      if (request_.from > 0 || request_.modes == 0 || request_.modes >= expected_) return;
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
    if (free_count() + found_.count() > 0) choose_limits();
    else if (!has_limit()) return;
    if (request_.check == CompletenessCheck::none) {
      report_.statement = "not checked for modes that were missed";
    } else if (request_.check == CompletenessCheck::probe) {
      probe();
    } else {
      count();
    }
  }

  void count() {
    if (expected_ < 0)
      timed("count", [&] {
        const auto upper = factor_.count_below(limit_);
        limit_ = upper.value;
        expected_ = upper.below;
        if (from_ > 0) {
          const auto lower = factor_.count_below(from_);
          from_ = lower.value;
          expected_ -= lower.below;
        }
      });
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

  /// Another search, from random vectors that are M-orthogonal to all that was found.
  void probe() {
    constexpr int most_searches = 30;
    for (int attempt = 0; attempt < most_searches; ++attempt) {
      const std::int64_t before = counted();
      const SearchResult more = search_for(1);
      take(more.pairs);
      if (counted() == before) break;
    }
    report_.completeness = Completeness::probed;
    report_.statement = detail::probe_statement(counted(), 0, request_.block > 0 ? request_.block : 4, limit_);
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
      free = std::min(free, request_.modes);
      const auto most = static_cast<std::size_t>(request_.modes - free);
      note_cut(taken, most);
      if (taken.size() > most) taken.resize(most);
    }
    std::sort(taken.begin(), taken.end());
    const Vector first = free > 0 ? blocks_.columns(free_, 0, free) : Vector();
    const Vector others = taken.empty() ? Vector() : blocks_.columns(found_.vectors, taken);
    const std::vector<const Vector*> both{&first, &others};
    EigenSolution solution;
    solution.vectors = blocks_.joined(both);
    note_lack(free + static_cast<int>(taken.size()));
    report_.modes.resize(static_cast<std::size_t>(free) + taken.size());
    for (int i = 0; i < free; ++i) report_.modes[static_cast<std::size_t>(i)].free = true;
    report_.solver = solver_.name() + ", shift " + short_number(shift_, 4) + ", " + factor_.method();
    report_.solves = factor_.solves();
    report_.factorisations = factor_.factorisations();
    if (report_.statement.empty()) report_.statement = "there are no modes in the interval";
    solution.report = std::move(report_);
    return solution;
  }

  void note_cut(const std::vector<int>& taken, std::size_t most) {
    if (most == 0 || taken.size() <= most) return;
    const double last = found_.values[static_cast<std::size_t>(taken[most - 1])],
                 next = found_.values[static_cast<std::size_t>(taken[most])];
    if (std::abs(next - last) <= detail::same_eigenvalue * std::abs(next))
      report_.notes.push_back("the last mode belongs to a group of equal frequencies that the number of modes cuts; ask "
                              "for more modes to get all of it");
  }

  void note_lack(int count) {
    if (request_.modes > count && exhausted_)
      report_.notes.push_back("the model has only " + std::to_string(count) + " modes" +
                              (problem_.equations_without_mass() > 0
                                   ? "; " + std::to_string(problem_.equations_without_mass()) + " unknowns have no mass"
                                   : ""));
    else if (request_.modes > count && !has_limit())
      report_.notes.push_back("only " + std::to_string(count) + " of " + std::to_string(request_.modes) +
                              " modes converged; allow more iterations");
  }

  const SearchSolver& solver_;
  const EigenProblem& problem_;
  const EigenRequest& request_;
  detail::EigenBlocks blocks_;
  detail::ShiftedFactor factor_;
  EigenReport report_;
  Vector free_;  // motions without stiffness, M-orthonormal
  RitzPairs found_;
  double shift_ = 0, from_ = 0, limit_ = 0;
  double next_ = std::numeric_limits<double>::infinity();  // estimate of the eigenvalue after those found
  std::int64_t expected_ = -1;                             // modes between from_ and limit_; −1: not counted yet
  bool exhausted_ = false;
  int searches_ = 0;
};

EigenSolution SearchSolver::find(const EigenProblem& problem, const EigenRequest& request) {
  return Run(*this, problem, request).run();
}

}  // namespace voussoir
