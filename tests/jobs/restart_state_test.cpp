#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include <voussoir/jobs/detail/restart_state.hpp>

#include "column_deck.hpp"
#include "support/expect_error.hpp"

// The state in a restart file is checked before it is used: its checksum says that the file is intact, not that its
// contents make sense.

namespace voussoir {
namespace {

using testing::column_deck;
using testing::expect_error;

/// A job of two steps, of which the first was solved by another one.
struct RestartedJob {
  Job job = read_deck_text(column_deck() + step() + step(), "test.inp");
  detail::RestartState state;

  static std::string step() { return "*STEP\n*DYNAMIC, DIRECT\n0.01, 0.1\n*CLOAD\n13, 1, 1.\n*END STEP\n"; }
  RestartedJob() {
    NodalField u{"displacement", {"ux", "uy", "uz"}, {}};
    u.values.assign(3 * static_cast<std::size_t>(job.domains[0]->node_count()), 0.5);
    state.unknowns.push_back({0, u});
    state.motion = detail::RestartState::Motion{0, u, u, {}};
  }
  void restart(const detail::RestartFingerprint& before) {
    RestartStart start{"test.rin", "test.inp:1", before.to_bytes(), state.to_bytes(), 1};
    job.restart = std::make_shared<const RestartStart>(std::move(start));
  }
  detail::RestartState read() {
    restart(detail::RestartFingerprint::of(job));
    return detail::read_restart_state(job);
  }
};

TEST(RestartState, IsReadAsItWasWritten) {
  const detail::RestartState found = RestartedJob().read();
  ASSERT_EQ(found.unknowns.size(), 1u);
  EXPECT_EQ(found.unknowns[0].values.values, RestartedJob().state.unknowns[0].values.values);
  ASSERT_TRUE(found.motion);
  EXPECT_EQ(found.motion->velocity.components, RestartedJob().state.motion->velocity.components);
}

TEST(RestartState, StepsAndFieldsMustBeThoseOfTheJob) {
  const auto refused = [](const std::string& why, const std::function<void(detail::RestartState&)>& damage) {
    RestartedJob continued;
    damage(continued.state);
    expect_error(ErrorCode::bad_input, {why}, [&] { continued.read(); });
  };
  const std::string step = "a step that was not solved", size = "a value for each node";
  refused(step, [](detail::RestartState& state) { state.unknowns[0].step = 10'000'000; });
  refused(step, [](detail::RestartState& state) { state.unknowns[0].step = 1; });
  refused(step, [](detail::RestartState& state) { state.motion->step = 10'000'000; });
  refused(size, [](detail::RestartState& state) { state.unknowns[0].values = {}; });
  refused(size, [](detail::RestartState& state) { state.unknowns[0].values.values.pop_back(); });
  refused(size, [](detail::RestartState& state) { state.motion->displacement.values.clear(); });
  refused(size, [](detail::RestartState& state) { state.motion->velocity.components.clear(); });
  refused("other unknowns", [](detail::RestartState& state) { state.motion->velocity.components[1] = "T"; });
  refused("other unknowns", [](detail::RestartState& state) { state.unknowns[0].values.components[1] = "ux"; });
}

TEST(RestartState, WhatWasSolvedMustBeTheSame) {
  RestartedJob continued;
  detail::RestartFingerprint before = detail::RestartFingerprint::of(continued.job);
  ++before.model[0].sum;
  continued.restart(before);
  expect_error(ErrorCode::bad_input, {"would be different: nodes"}, [&] { detail::read_restart_state(continued.job); });
  // Then its fields need not fit.
  continued.state.unknowns[0].values.values.pop_back();
  continued.restart(before);
  expect_error(ErrorCode::bad_input, {"would be different: nodes"}, [&] { detail::read_restart_state(continued.job); });
  continued.state.unknowns[0].values.values.push_back(0);
  --before.model[0].sum;
  ++before.steps[0].parts[1].sum;
  continued.restart(before);
  expect_error(ErrorCode::bad_input, {"period of step 1"}, [&] { detail::read_restart_state(continued.job); });
  --before.steps[0].parts[1].sum;
  ++before.steps[1].parts[1].sum;  // of a step that is solved again
  continued.restart(before);
  EXPECT_NO_THROW(detail::read_restart_state(continued.job));
  before.steps.clear();
  continued.restart(before);
  expect_error(ErrorCode::bad_input, {"fewer steps"}, [&] { detail::read_restart_state(continued.job); });
}

}  // namespace
}  // namespace voussoir
