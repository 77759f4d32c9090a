// The search for modes on several processes, with an engine whose modes are known: unit vectors, one per eigenvalue. It
// can overlook modes, as a Krylov method does with equal eigenvalues.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include <voussoir/framework/analysis/ritz_combination.hpp>
#include <voussoir/partition/process/mode_search.hpp>

namespace voussoir {
namespace {

/// An engine for a diagonal matrix and M = 1.
class KnownModes : public ProcessEigenSolver {
 public:
  explicit KnownModes(std::vector<double> spectrum) : spectrum_(std::move(spectrum)) {}

  void set_system(EigenShare) override {}
  bool inverts() const override { return inside; }
  bool factorises() const override { return inside; }
  std::string method() const override { return "known"; }
  std::string options() const override { return ""; }
  std::int64_t solves() const override { return 0; }
  int factorisations() const override { return counts; }
  std::vector<double> values() const override {
    std::vector<double> list;
    for (const std::size_t k : found_) list.push_back(spectrum_[k]);
    return list;
  }
  void keep(std::span<const int> modes) override {
    std::vector<std::size_t> kept;
    for (const int mode : modes) kept.push_back(found_[static_cast<std::size_t>(mode)]);
    found_ = kept;
  }
  std::optional<std::int64_t> count_below(double value) override {
    ++counts;
    if (std::find(spectrum_.begin(), spectrum_.end(), value) != spectrum_.end()) return std::nullopt;
    return std::count_if(spectrum_.begin(), spectrum_.end(), [&](double v) { return v < value; });
  }
  EigenSearch search(double shift, int want, double, int) override {
    EigenSearch result;
    shifts.push_back(shift);
    if (!count_below(shift)) {
      result.singular = true;
      return result;
    }
    if (inside) result.below = count_below(shift);
    std::vector<std::size_t> order;
    for (std::size_t k = 0; k < spectrum_.size(); ++k)
      if (std::find(found_.begin(), found_.end(), k) == found_.end() &&
          std::find(overlooked.begin(), overlooked.end(), k) == overlooked.end())
        order.push_back(k);
    if (!stubborn) overlooked.clear();  // another search finds them
    const auto distance = [&](std::size_t k) { return std::abs(spectrum_[k] - shift); };
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return distance(a) < distance(b); });
    result.exhausted = static_cast<int>(order.size()) < want;
    order.resize(std::min(order.size(), static_cast<std::size_t>(want)));
    result.found = static_cast<int>(order.size());
    result.converged = result.found >= want;
    found_.insert(found_.end(), order.begin(), order.end());
    std::sort(found_.begin(), found_.end());
    return result;
  }
  std::vector<ModeMeasure> measure(const std::vector<char>&) override {
    std::vector<ModeMeasure> list;
    for (const double v : values()) list.push_back({v, 1, 1e6, v, 1e6, 0});
    return list;
  }
  std::vector<double> scaled_bounds() override { return std::vector<double>(found_.size(), 1e6); }
  double orthogonality() override { return 0; }
  void shape(int, std::span<double>) override {}

  bool inside = true, stubborn = false;
  std::vector<std::size_t> overlooked;  // by the next search, or by all if stubborn
  std::vector<double> shifts;
  int counts = 0;

 private:
  std::vector<double> spectrum_;
  std::vector<std::size_t> found_;
};

ModeSearchFacts facts_of(std::int64_t equations, int free_motions = 0, bool others = false) {
  return {equations, 0, 1e6, 1000, free_motions, others};
}

EigenRequest first_modes(int modes) {
  EigenRequest request;
  request.modes = modes;
  return request;
}

/// Eigenvalues of whole angular frequencies.
std::vector<double> squares(std::vector<double> omega) {
  for (double& value : omega) value *= value;
  return omega;
}

double hertz(double omega) { return omega / (2 * std::numbers::pi); }

TEST(ModeSearch, FindsTheLowestAndCountsThem) {
  KnownModes modes(squares({1, 2, 3, 4, 5}));
  const EigenReport report = find_process_modes(modes, facts_of(5), first_modes(3));
  ASSERT_EQ(report.modes.size(), 3u);
  EXPECT_DOUBLE_EQ(report.modes[2].frequency, hertz(3));
  EXPECT_EQ(report.completeness, Completeness::verified);
  EXPECT_TRUE(report.statement.starts_with("verified: 3 of 3 below 0.47")) << report.statement;
  EXPECT_TRUE(report.converged);
  EXPECT_EQ(modes.shifts, std::vector<double>{0.0});
}

TEST(ModeSearch, SearchesForModesThatTheCountMisses) {
  KnownModes modes(squares({1, 2, 2, 2, 3, 4, 5}));
  modes.overlooked = {2, 3};
  const EigenReport report = find_process_modes(modes, facts_of(7), first_modes(5));
  ASSERT_EQ(report.modes.size(), 5u);
  for (const std::size_t m : {1u, 2u, 3u}) EXPECT_DOUBLE_EQ(report.modes[m].frequency, hertz(2));
  EXPECT_DOUBLE_EQ(report.modes[4].frequency, hertz(3));
  EXPECT_EQ(report.completeness, Completeness::verified) << report.statement;
}

TEST(ModeSearch, SaysThatModesAreMissing) {
  KnownModes modes(squares({1, 2, 2, 3, 4}));
  modes.overlooked = {2};
  modes.stubborn = true;
  const EigenReport report = find_process_modes(modes, facts_of(5), first_modes(3));
  EXPECT_EQ(report.completeness, Completeness::incomplete);
  EXPECT_TRUE(report.statement.starts_with("INCOMPLETE: ")) << report.statement;
}

TEST(ModeSearch, WithoutACountNothingIsVerified) {
  KnownModes modes(squares({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  modes.inside = false;
  ModeSearchFacts facts = facts_of(12);
  facts.affordable_equations = 11;
  const EigenReport report = find_process_modes(modes, facts, first_modes(3));
  EXPECT_EQ(report.modes.size(), 3u);
  EXPECT_EQ(report.completeness, Completeness::unchecked);
  EXPECT_EQ(report.statement, "not checked for modes that were missed");
  facts.affordable_equations = 12;
  KnownModes counted = modes;
  counted.keep({});
  EXPECT_EQ(find_process_modes(counted, facts, first_modes(3)).completeness, Completeness::verified);
}

TEST(ModeSearch, MethodsForTheLowestModesRefuseOtherRequests) {
  KnownModes modes(squares({1, 2, 3, 4, 5}));
  modes.inside = false;
  EXPECT_THROW(find_process_modes(modes, facts_of(5), first_modes(2)), Error) << "a large part of all modes";
  EigenRequest interval;
  interval.from = hertz(1.5);
  interval.below = hertz(3.5);
  EXPECT_THROW(find_process_modes(modes, facts_of(50), interval), Error);
  ModeSearchFacts massless = facts_of(50);
  massless.equations_without_mass = 1;
  EXPECT_THROW(find_process_modes(modes, massless, first_modes(2)), Error);
}

TEST(ModeSearch, FreeMotionsNeedANegativeShift) {
  KnownModes modes({0, 1e-12, -1e-12, 0, 0, 0, 4, 9, 16});
  const EigenReport report = find_process_modes(modes, facts_of(9, 6), first_modes(8));
  ASSERT_EQ(report.modes.size(), 8u);
  for (std::size_t m = 0; m < 6; ++m) {
    EXPECT_TRUE(report.modes[m].free) << m;
    EXPECT_EQ(report.modes[m].frequency, 0) << m;
  }
  EXPECT_FALSE(report.modes[6].free);
  EXPECT_EQ(report.completeness, Completeness::verified) << report.statement;
  const double shift = modes.shifts.back();
  EXPECT_LT(shift, 0);
  EXPECT_LE(-shift, 8);
  EXPECT_GE(-shift, 4e-6);
}

TEST(ModeSearch, FewerModesThanFreeMotionsAreNoted) {
  KnownModes modes({0, 0, 0, 0, 0, 0, 4, 9});
  const EigenReport report = find_process_modes(modes, facts_of(8, 6), first_modes(4));
  EXPECT_EQ(report.modes.size(), 4u);
  EXPECT_TRUE(report.statement.starts_with("verified: 6 of 6 below")) << report.statement;
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_TRUE(report.notes[0].starts_with("the model has 6 motions without stiffness, and only 4")) << report.notes[0];
}

TEST(ModeSearch, EnergyLostInRoundingIsNotAFreeMotion) {
  KnownModes modes({1e-12, 4, 9, 16});
  EigenReport report = find_process_modes(modes, facts_of(4), first_modes(2));
  EXPECT_FALSE(report.converged) << "the geometry excludes free motions";
  EXPECT_FALSE(report.modes[0].free);
  ASSERT_FALSE(report.notes.empty());
  EXPECT_TRUE(report.notes.back().starts_with("the energy of 1 mode is lost")) << report.notes.back();
  KnownModes same({1e-12, 4, 9, 16});
  report = find_process_modes(same, facts_of(4, 0, true), first_modes(2));
  EXPECT_TRUE(report.converged);
  EXPECT_TRUE(report.modes[0].free);
  ASSERT_FALSE(report.notes.empty());
  EXPECT_TRUE(report.notes[0].starts_with("motions without stiffness that only the factorisation found: 1"));
}

TEST(ModeSearch, RefusesASingularOrUnstableModel) {
  KnownModes singular({0, 1, 4});
  EXPECT_THROW(find_process_modes(singular, facts_of(3), first_modes(1)), Error);
  KnownModes unstable({-1e5, 1, 4});
  EXPECT_THROW(find_process_modes(unstable, facts_of(3), first_modes(1)), Error);
}

TEST(ModeSearch, IntervalsBeginAndEndWhereTheyAreAskedTo) {
  KnownModes modes(squares({1, 2, 3, 4, 5, 6}));
  EigenRequest request;
  request.from = hertz(1.5);
  request.below = hertz(4.5);
  EigenReport report = find_process_modes(modes, facts_of(6), request);
  ASSERT_EQ(report.modes.size(), 3u);
  EXPECT_DOUBLE_EQ(report.modes[0].frequency, hertz(2));
  EXPECT_TRUE(report.statement.starts_with("verified: 3 of 3 between")) << report.statement;
  KnownModes again(squares({1, 2, 3, 4, 5, 6}));
  request.modes = 2;
  report = find_process_modes(again, facts_of(6), request);
  ASSERT_EQ(report.modes.size(), 2u);
  EXPECT_DOUBLE_EQ(report.modes[1].frequency, hertz(3));
  KnownModes none(squares({1, 2, 3}));
  request = {};
  request.below = hertz(0.5);
  report = find_process_modes(none, facts_of(3), request);
  EXPECT_TRUE(report.modes.empty());
  EXPECT_TRUE(report.statement.starts_with("verified: 0 of 0 below")) << report.statement;
}

TEST(ModeSearch, AsksForMoreModesThanThereAre) {
  KnownModes modes(squares({1, 2, 3}));
  EigenReport report = find_process_modes(modes, facts_of(3), first_modes(7));
  EXPECT_EQ(report.modes.size(), 3u);
  EXPECT_EQ(report.completeness, Completeness::verified) << report.statement;
  ASSERT_FALSE(report.notes.empty());
  EXPECT_EQ(report.notes[0], "the model has only 3 modes, as many as free unknowns");
  KnownModes fewer(squares({1, 2, 3}));
  report = find_process_modes(fewer, facts_of(5), first_modes(7));
  ASSERT_FALSE(report.notes.empty());
  EXPECT_EQ(report.notes[0], "the model has only 3 modes: 2 motions of its 5 free unknowns have no mass");
}

TEST(ModeSearch, TellsOfACutGroup) {
  KnownModes modes(squares({1, 2, 2, 3}));
  const EigenReport report = find_process_modes(modes, facts_of(4), first_modes(2));
  EXPECT_TRUE(report.statement.starts_with("verified: 3 of 3 below")) << report.statement;
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_TRUE(report.notes[0].starts_with("the last mode belongs to a group of equal frequencies"));
}

TEST(ModeSearch, RefusesRequestsWithoutMeaning) {
  KnownModes modes(squares({1, 2}));
  EXPECT_THROW(find_process_modes(modes, facts_of(2), first_modes(0)), Error);
  EXPECT_THROW(find_process_modes(modes, facts_of(2), first_modes(-1)), Error);
}

/// K = diag(1, 4) and M = diag(1, 2) in the basis (1 1; 1 −1), with a third vector that depends on the first two.
TEST(RitzCombination, IsOrthonormalAndDropsDependentVectors) {
  const double x[3][2] = {{1, 1}, {1, -1}, {3, 1}};
  std::vector<double> mass(9), stiffness(9);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      mass[static_cast<std::size_t>(3 * i + j)] = x[i][0] * x[j][0] + 2 * x[i][1] * x[j][1];
      stiffness[static_cast<std::size_t>(3 * i + j)] = x[i][0] * x[j][0] + 4 * x[i][1] * x[j][1];
    }
  const RitzCombination ritz = ritz_combination(mass, stiffness);
  ASSERT_EQ(ritz.values.size(), 2u);
  EXPECT_NEAR(ritz.values[0], 1, 1e-14);
  EXPECT_NEAR(ritz.values[1], 2, 1e-14);
  ASSERT_EQ(ritz.coefficients.size(), 6u);
  for (int c = 0; c < 2; ++c) {
    double y[2] = {0, 0};
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 2; ++k) y[k] += ritz.coefficients[static_cast<std::size_t>(3 * c + i)] * x[i][k];
    EXPECT_NEAR(std::abs(y[c]), c == 0 ? 1 : std::sqrt(0.5), 1e-14);
    EXPECT_NEAR(y[1 - c], 0, 1e-14);
  }
  EXPECT_TRUE(ritz_combination({}, {}).values.empty());
  EXPECT_THROW(ritz_combination(std::vector<double>(3), std::vector<double>(3)), Error);
}

}  // namespace
}  // namespace voussoir
