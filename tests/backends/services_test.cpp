#include <gtest/gtest.h>

#include <algorithm>

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/multigrid.hpp>

#include "support/expect_error.hpp"

namespace voussoir {
namespace {

/// A service that the library does not know.
class Greetings : public Service {
 public:
  static constexpr std::string_view service_name = "greetings";
  virtual std::string greet() const = 0;
};
struct Polite final : Greetings {
  std::string greet() const override { return "good morning"; }
};

TEST(Services, AreFoundByTheirType) {
  for (const char* name : {"openmp:1", "debug:2"}) {
    const auto backend = Backend::open(name);
    EXPECT_EQ(&backend->service<VectorServices>(), static_cast<VectorServices*>(backend.get()));
    EXPECT_EQ(&backend->service<KrylovServices>(), static_cast<KrylovServices*>(backend.get()));
    EXPECT_NE(backend->find<MultigridServices>(), nullptr);
    EXPECT_EQ(backend->services(),
              (std::vector<std::string>{"condensation", "dense blocks", "divided multigrid", "elements", "explicit",
                                        "grids", "grouped dots", "krylov", "matrices", "multigrid", "projection",
                                        "stencils", "sweeps", "vectors"}));
  }
}

TEST(Services, AMissingOneIsNamed) {
  const auto backend = Backend::open("openmp:1");
  EXPECT_EQ(backend->find<Greetings>(), nullptr);
  testing::expect_error(ErrorCode::unavailable, {"openmp:1", "'greetings'", "multigrid"},
                        [&] { backend->service<Greetings>(); });
}

TEST(Services, NewOnesChangeNoOther) {
  Polite polite;
  const auto backend = Backend::open("openmp:1");
  backend->provide<Greetings>(polite);
  EXPECT_EQ(backend->service<Greetings>().greet(), "good morning");
  EXPECT_EQ(&backend->service<VectorServices>(), static_cast<VectorServices*>(backend.get()));
  const auto names = backend->services();
  EXPECT_NE(std::find(names.begin(), names.end(), "greetings"), names.end());
  EXPECT_EQ(Backend::open("openmp:1")->find<Greetings>(), nullptr);  // each backend has its own
}

}  // namespace
}  // namespace voussoir
