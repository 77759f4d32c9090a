#include <gtest/gtest.h>

#include "answers.hpp"
#include "backends_under_test.hpp"
#include "models.hpp"

namespace voussoir::conformance {
namespace {

struct OnBackend : ::testing::TestWithParam<std::tuple<std::string, std::size_t>> {
  const TestModel& model() const { return test_models()[std::get<1>(GetParam())]; }
  std::shared_ptr<Backend> backend() const { return Backend::open(std::get<0>(GetParam())); }
  /// All of them on every model; but on two emulated devices, which are slow, on one model of each kind.
  Solves solves() const {
    const std::string& name = model().name;
    if (std::get<0>(GetParam()) == "emulated:0,0" && name != "plate" && name != "frame") return Solves::two;
    return model().iterates ? Solves::all : Solves::ill_conditioned;
  }
  void SetUp() override { model().build(domain); }
  Domain domain;

  /// The oracle's answers, computed once for each model.
  template <class Ask>
  const Answers& reference(const std::string& what, Ask ask) {
    static std::map<std::pair<std::string, std::string>, Answers> known;
    const auto key = std::make_pair(model().name, what);
    const auto it = known.find(key);
    return it != known.end() ? it->second : known.emplace(key, ask(domain, Backend::open(oracle))).first->second;
  }
};

TEST_P(OnBackend, ServicesAgreeWithTheOracle) {
  const auto ask = [&](const Domain& d, std::shared_ptr<Backend> b) { return services(d, b, model().uniform); };
  expect_alike(ask(domain, backend()), reference("services", ask), 1e-12);
}

TEST_P(OnBackend, EveryStorageMultipliesAlike) {
  const Answers a = services(domain, backend(), model().uniform);
  for (const char* what : {" x", " X", " x·Ax", " X·AX"}) {
    Answers csr, other;
    csr.numbers["product"] = a.numbers.at(std::string("csr") + what);
    for (const char* storage : {"bsr", "gather", "scatter", "matrix-free"}) {
      if (storage == std::string("bsr") && !model().uniform) continue;
      SCOPED_TRACE(storage + std::string(what));
      other.numbers["product"] = a.numbers.at(std::string(storage) + what);
      expect_alike(other, csr, 1e-12);
    }
  }
}

TEST_P(OnBackend, CgAgreesWithTheOracle) {
  const auto ask = [&](const Domain& d, std::shared_ptr<Backend> b) {
    return solutions(d, b, model().uniform, solves());
  };
  const std::string what = "solutions " + std::to_string(static_cast<int>(solves()));
  expect_alike(ask(domain, backend()), reference(what, ask), 1e-7);
}

TEST_P(OnBackend, AnalysisAgreesWithTheOracle) {
  const auto ask = [&](const Domain& d, std::shared_ptr<Backend> b) { return analysis(d, b); };
  expect_alike(ask(domain, backend()), reference("analysis", ask), 1e-9);
}

struct Again : OnBackend {};

TEST_P(Again, GivesTheSameBits) {
  const bool blocks = model().uniform;
  const Solves which = model().iterates ? Solves::two : Solves::one;
  expect_same_bits(services(domain, backend(), blocks), services(domain, backend(), blocks));
  expect_same_bits(solutions(domain, backend(), blocks, which), solutions(domain, backend(), blocks, which));
}

INSTANTIATE_TEST_SUITE_P(Conformance, OnBackend,
                         ::testing::Combine(::testing::ValuesIn(backends_under_test()),
                                            ::testing::Range<std::size_t>(0, test_models().size())),
                         [](const auto& info) {
                           return test_name(std::get<0>(info.param)) + "_" +
                                  test_models()[std::get<1>(info.param)].name;
                         });

INSTANTIATE_TEST_SUITE_P(Conformance, Again,
                         ::testing::Combine(::testing::ValuesIn(backends_that_run_at_once()),
                                            ::testing::Range<std::size_t>(0, test_models().size())),
                         [](const auto& info) {
                           return test_name(std::get<0>(info.param)) + "_" +
                                  test_models()[std::get<1>(info.param)].name;
                         });

struct OnThreads : ::testing::TestWithParam<std::size_t> {};

TEST_P(OnThreads, GiveTheSameBits) {
  const TestModel& model = test_models()[GetParam()];
  Domain domain;
  model.build(domain);
  const Answers one = services(domain, Backend::open("openmp:1"), model.uniform);
  const Answers solved = solutions(domain, Backend::open("openmp:1"), model.uniform, Solves::two);
  for (const char* threads : {"openmp:2", "openmp:3"}) {
    SCOPED_TRACE(threads);
    expect_same_bits(services(domain, Backend::open(threads), model.uniform), one);
    expect_same_bits(solutions(domain, Backend::open(threads), model.uniform, Solves::two), solved);
  }
}

INSTANTIATE_TEST_SUITE_P(Conformance, OnThreads, ::testing::Range<std::size_t>(0, test_models().size()),
                         [](const auto& info) { return test_models()[info.param].name; });

}  // namespace
}  // namespace voussoir::conformance
