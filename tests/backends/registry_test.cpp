#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <voussoir/backends/error.hpp>
#include <voussoir/backends/registry.hpp>

#include "support/expect_error.hpp"

namespace voussoir {

/// A registry as a layer declares it.
Registry<int>& test_numbers() {
  static Registry<int> registry("test number");
  return registry;
}

// As users write it, outside of the namespace or inside.
VSR_REGISTER(test_numbers, "seven", "registered at start", 7);
VSR_REGISTER(test_numbers, "seven", "again: a header that is included twice", 7);
VSR_REGISTER(test_numbers, "clash", "the first", 1);
VSR_REGISTER(test_numbers, "clash", "the second", 2);
VSR_REGISTER(test_numbers, "a+b", "a name that cannot be used", 3);

namespace {

using testing::expect_error;

struct Opaque {  // cannot be compared
  int value = 0;
};

TEST(Registry, FindsWhatWasAddedInTheOrderOfRegistration) {
  Registry<Opaque> registry("thing");
  registry.add_built_in("zeta", "the first", {1});
  registry.add("alpha", "the second", {2});
  EXPECT_EQ(registry.names(), (std::vector<std::string>{"zeta", "alpha"}));
  EXPECT_EQ(registry.find("alpha").value, 2);
  EXPECT_EQ(registry.find_if("beta"), nullptr);
  EXPECT_EQ(registry.origin("zeta"), "built in");
  EXPECT_EQ(registry.origin("alpha"), "this program");
  EXPECT_EQ(registry.entries().at(1).description, "the second");
  ASSERT_EQ(registry.values().size(), 2u);
  EXPECT_EQ(registry.values()[0]->value, 1);
}

TEST(Registry, AnswersUnknownNamesWithTheNearestAndTheList) {
  Registry<int> registry("gadget");
  registry.add("jacobi", "", 1);
  registry.add("chebyshev", "", 2);
  expect_error(ErrorCode::not_found, {"gadget 'jacoby'", "did you mean 'jacobi'?", "There are jacobi, chebyshev"},
               [&] { registry.find("jacoby"); });
  expect_error(ErrorCode::not_found, {"gadget 'x'", "there are jacobi, chebyshev"}, [&] { registry.find("x"); });
  expect_error(ErrorCode::not_found, {"gadget ''"}, [&] { registry.origin(""); });
}

TEST(Registry, RefusesANameThatIsTakenAndNamesBothOrigins) {
  Registry<Opaque> registry("thing");
  registry.add_built_in("one", "", {1});
  expect_error(ErrorCode::bad_input, {"thing 'one'", "twice", "first built in, then by this program", "another name"},
               [&] { registry.add("one", "", {1}); });
  EXPECT_EQ(registry.find("one").value, 1);
  registry.add("two", "", {2});
  expect_error(ErrorCode::bad_input, {"first by this program, then by this program"},
               [&] { registry.add("two", "", {2}); });
}

TEST(Registry, ReplacesOnlyWhereAskedAndKeepsOldValuesAlive) {
  Registry<Opaque> registry("thing");
  registry.add("one", "old", {1});
  registry.add("two", "", {2});
  const Opaque& old = registry.find("one");
  registry.replace("one", "new", {10});
  registry.replace("three", "", {3});
  EXPECT_EQ(old.value, 1);
  EXPECT_EQ(registry.find("one").value, 10);
  EXPECT_EQ(registry.entries().front().description, "new");
  EXPECT_EQ(registry.names(), (std::vector<std::string>{"one", "two", "three"})) << "a new value keeps the place";

  Registry<Opaque> fixed("thing", {"", "since it is cast in stone"});
  fixed.add_built_in("one", "", {1});
  expect_error(ErrorCode::bad_input, {"thing 'one'", "built in and cannot be replaced, since it is cast in stone"},
               [&] { fixed.replace("one", "", {2}); });
}

TEST(Registry, RefusesNamesThatCouldNotBeUsed) {
  Registry<int> registry("thing");
  for (const char* name : {"", "a:b", "a+b", "a,b", "a|b"})
    expect_error(ErrorCode::bad_input, {"name"}, [&] { registry.add(name, "", 1); });
  EXPECT_TRUE(registry.names().empty());
}

TEST(Registry, StaticObjectsRegisterAndTheirErrorsAreThrownAtFirstUse) {
  EXPECT_EQ(test_numbers().find("seven"), 7);
  EXPECT_EQ(test_numbers().entries().front().description, "registered at start") << "an equal value is ignored";
  for (int time = 0; time < 2; ++time)
    expect_error(ErrorCode::bad_input, {"test number 'clash'", "twice"}, [] { test_numbers().find("clash"); });
  expect_error(ErrorCode::bad_input, {"'a+b'"}, [] { test_numbers().find("a+b"); });
}

TEST(Registry, AllOfThemAreListedWhileTheyLive) {
  const auto count = [](const std::string& kind) {
    const auto all = RegistryBase::all();
    return std::count_if(all.begin(), all.end(), [&](auto* r) { return r->kind() == kind; });
  };
  {
    Registry<int> registry("short-lived thing");
    EXPECT_EQ(count("short-lived thing"), 1);
  }
  EXPECT_EQ(count("short-lived thing"), 0);
  for (const char* kind : {"element type", "partitioner", "preconditioner", "procedure", "solver", "storage"})
    EXPECT_EQ(count(kind), 1) << kind;
}

TEST(Registry, ThreadsMayAddAndFindAtOnce) {
  Registry<int> registry("thing");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        const std::string name = std::to_string(t) + "-" + std::to_string(i);
        registry.add(name, "", 100 * t + i);
        EXPECT_EQ(registry.find(name), 100 * t + i);
        registry.replace("shared", "", i);
        EXPECT_GE(registry.find("shared"), 0);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(registry.names().size(), 401u);
}

}  // namespace
}  // namespace voussoir
