#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
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

/// A registry whose entries "late" and "later" are loaded on demand.
struct OnDemand {
  Registry<int> registry{"thing", {"", "since it is cast in stone"}};
  std::atomic<int> loads = 0;
  std::string what;
  bool is_missing = false;

  OnDemand() {
    registry.add_built_in("first", "", 1);
    registry.add_on_demand({"late", "later"}, [this](const std::string& needed_by) {
      static std::mutex mutex;
      const std::lock_guard lock(mutex);
      what = needed_by;
      if (is_missing) throw Error(ErrorCode::unavailable, needed_by + " needs a file that is missing");
      if (loads++ > 0) return;
      registry.add_built_in("later", "the second", 3);
      registry.add_built_in("late", "the first", 2);
    });
    registry.add("own", "", 4);
  }
};

const std::vector<std::string> all_names{"first", "late", "later", "own"};

TEST(Registry, EntriesOnDemandAreLoadedWhenTheyAreLookedUp) {
  OnDemand on_demand;
  Registry<int>& registry = on_demand.registry;
  EXPECT_EQ(registry.names(), all_names);
  EXPECT_EQ(registry.find_if("none"), nullptr);
  EXPECT_EQ(registry.find("own"), 4);
  EXPECT_EQ(registry.origin("late"), "built in");
  EXPECT_EQ(registry.loaded().size(), 2u);
  expect_error(ErrorCode::not_found, {"did you mean 'later'?", "There are first, late, later, own"},
               [&] { registry.find("latter"); });
  EXPECT_EQ(on_demand.loads, 0) << "nothing so far needs the values";
  EXPECT_EQ(registry.find("late"), 2);
  EXPECT_EQ(on_demand.what, "thing 'late'");
  EXPECT_EQ(*registry.find_if("later"), 3);
  EXPECT_EQ(on_demand.loads, 1);
  EXPECT_EQ(registry.names(), all_names) << "the order is the same as before";
  EXPECT_EQ(registry.loaded().size(), 4u);
}

TEST(Registry, ListsLoadTheEntriesOnDemand) {
  OnDemand by_values, by_entries;
  std::vector<int> values;
  for (const int* value : by_values.registry.values()) values.push_back(*value);
  EXPECT_EQ(values, (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(by_values.what, "the list of all things");
  ASSERT_EQ(by_entries.registry.entries().size(), 4u);
  EXPECT_EQ(by_entries.registry.entries()[1].description, "the first");
  EXPECT_EQ(by_entries.loads, 1);
}

TEST(Registry, NamesOfEntriesOnDemandAreTaken) {
  OnDemand on_demand;
  expect_error(ErrorCode::bad_input, {"thing 'late'", "twice", "first built in, then by this program"},
               [&] { on_demand.registry.add("late", "", 9); });
  expect_error(ErrorCode::bad_input, {"thing 'late'", "built in and cannot be replaced, since it is cast in stone"},
               [&] { on_demand.registry.replace("late", "", 9); });
  expect_error(ErrorCode::misuse, {"thing 'first'", "cannot be reserved"},
               [&] { on_demand.registry.add_on_demand({"first"}, nullptr); });
  EXPECT_EQ(on_demand.registry.find("late"), 2);
  Registry<int> replaceable("thing");
  expect_error(ErrorCode::misuse, {"cannot be loaded on demand", "replaced"},
               [&] { replaceable.add_on_demand({"late"}, [](const std::string&) {}); });
}

TEST(Registry, EntriesThatCannotBeLoadedAreAnErrorAndTriedAgain) {
  OnDemand on_demand;
  on_demand.is_missing = true;
  for (int time = 0; time < 2; ++time) {
    expect_error(ErrorCode::unavailable, {"thing 'late' needs a file that is missing"},
                 [&] { on_demand.registry.find_if("late"); });
    expect_error(ErrorCode::unavailable, {"the list of all things needs"}, [&] { on_demand.registry.entries(); });
  }
  EXPECT_EQ(on_demand.registry.names(), all_names);
  on_demand.is_missing = false;
  EXPECT_EQ(on_demand.registry.find("late"), 2);

  Registry<int> registry("thing", {"", "since it is cast in stone"});
  registry.add_on_demand({"absent"}, [](const std::string&) {});
  expect_error(ErrorCode::unavailable, {"thing 'absent'", "does not contain 'absent'", "another version"},
               [&] { registry.find("absent"); });
}

TEST(Registry, ThreadsMayLoadOnDemandAtOnce) {
  for (int time = 0; time < 20; ++time) {
    OnDemand on_demand;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        if (t == 3) {
          EXPECT_EQ(on_demand.registry.entries().size(), 4u);
        } else {
          EXPECT_EQ(on_demand.registry.find(t ? "late" : "later"), t ? 2 : 3);
        }
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(on_demand.registry.names(), all_names);
  }
}

}  // namespace
}  // namespace voussoir
