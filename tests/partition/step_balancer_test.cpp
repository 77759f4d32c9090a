// Models on several devices that are divided again while an analysis in time runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <voussoir/framework/analysis/explicit_analysis.hpp>
#include <voussoir/framework/domain/plastic_material.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/framework/model/device_distribution.hpp>
#include <voussoir/framework/model/divided_numberer.hpp>
#include <voussoir/partition/step_balancer.hpp>
#include <voussoir/solvers/transient_problem.hpp>

#include "support/expect_error.hpp"

namespace voussoir {
namespace {

using testing::expect_error;

/// Times of devices with these speeds: the artificial devices of the tests.
StepBalancer::Measure devices_of_speed(std::vector<double> speeds) {
  return [speeds](Backend&, const Layout& layout) {
    std::vector<double> seconds;
    for (int d = 0; d < layout.devices(); ++d) seconds.push_back(layout.owned(d) / speeds[static_cast<std::size_t>(d)]);
    return seconds;
  };
}

StepBalancer::Options eager(std::vector<double> speeds) {
  StepBalancer::Options options;
  options.first_check = 2;
  options.least_gain = 0;
  options.measure = devices_of_speed(std::move(speeds));
  return options;
}

std::shared_ptr<PlasticMaterial> soft_metal() {
  auto metal = std::make_shared<PlasticMaterial>("metal", std::vector<HardeningPoint>{{2, 0}, {4, 1}});
  metal->set("young", 1000.0).set("poisson", 0.3).set("density", 2.0);
  return metal;
}

void add_balanced_bar(Domain& d, const std::string& type) {
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {12, 1, 1};
  mesh.upper = {6, 1, 1};
  mesh.distortion = 0.1;
  if (type.starts_with("finite"))
    add_box_mesh(d, mesh).set_material(soft_metal());
  else
    add_box_mesh(d, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1000.0, 0.3, 2.0));
  d.prescribe("xmin", "all");
  d.add_load_case("push").traction("xmax", {1, 0.5, -2});
}

/// What a run ends with.
struct BalancedEnd {
  std::vector<double> values;  // displacements, velocities, energies
  std::vector<double> history;
  DeviceDistribution distribution;
  int results = 0;
};

template <class AnalysisInTime>
void take_end(AnalysisInTime& analysis, const HistoryRecorder& tip, BalancedEnd& end) {
  for (int rate = 0; rate < 2; ++rate) {
    const auto field = analysis.integrator().motion(analysis.model(), analysis.state(), rate).values;
    end.values.insert(end.values.end(), field.begin(), field.end());
  }
  end.history = tip.values(0);
  end.distribution = device_distribution(analysis.model().device_model());
}

BalancedEnd shake_implicitly(const std::string& backend, StepBalancer* balancer) {
  Domain d;
  add_balanced_bar(d, "solid.hex8");
  const auto opened = Backend::open(backend);
  const auto tip = std::make_shared<HistoryRecorder>();
  tip->add(d.node_id(d.node_count() - 1), "uz");
  BalancedEnd end;
  const auto make = [&](const std::shared_ptr<DofNumberer>& numberer) {
    TransientOptions options;
    options.solver = "direct";
    options.damping = {0.1, 0.001};
    options.method = "hht";
    Analysis::Collaborators parts = make_transient_analysis(d, opened, options)->collaborators();
    if (numberer) parts.numberer = numberer;
    auto made = std::make_unique<TransientAnalysis>(d, std::move(parts));
    made->loads().add_load_case("push", Amplitude({{0, 0}, {0.5, 1}, {0.6, 0}}));
    made->set_steps({.end = 1.2, .step = 0.1, .times = {0.4}});
    made->set_recovery(false);
    made->add_recorder(tip);
    made->finished = [&](double, const StepResult&) { ++end.results; };
    return made;
  };
  const auto analysis = run_balanced(
      make, [](TransientAnalysis& a) { a.start(); }, balancer);
  EXPECT_EQ(analysis->report().steps, 12);
  EXPECT_FALSE(analysis->watch);
  take_end(*analysis, *tip, end);
  return end;
}

BalancedEnd hit_explicitly(const std::string& backend, StepBalancer* balancer) {
  Domain d;
  add_balanced_bar(d, "finite_solid.hex8");
  const auto opened = Backend::open(backend);
  const auto tip = std::make_shared<HistoryRecorder>();
  tip->add(d.node_id(d.node_count() - 1), "uz");
  BalancedEnd end;
  const auto make = [&](const std::shared_ptr<DofNumberer>& numberer) {
    Analysis::Collaborators parts;
    parts.backend = opened;
    parts.numberer = numberer;
    auto made = std::make_unique<ExplicitAnalysis>(d, std::move(parts));
    made->loads().add_load_case("push", Amplitude({{0, 0}, {0.1, 1}, {9, 1}}));
    ExplicitSteps steps;
    steps.end = 0.6;
    steps.step = 0.01;
    steps.report_every = 5;
    steps.times = {0.33};
    made->set_steps(steps);
    made->set_recovery(false);
    made->add_recorder(tip);
    made->finished = [&](double, const StepResult&) { ++end.results; };
    return made;
  };
  const auto analysis = run_balanced(
      make, [](ExplicitAnalysis& a) { a.start(); }, balancer);
  take_end(*analysis, *tip, end);
  const EnergyBalance& e = analysis->energies();
  EXPECT_GT(e.plastic, 0);  // elements have a history
  for (const double x : {e.kinetic, e.internal, e.external, e.plastic}) end.values.push_back(x);
  return end;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  double size = 0, difference = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    size = std::max(size, std::abs(b[i]));
    difference = std::max(difference, std::abs(a[i] - b[i]));
  }
  return difference / size;
}

void expect_same_run(const BalancedEnd& moved, const BalancedEnd& stayed) {
  EXPECT_LT(largest_difference(moved.values, stayed.values), 1e-12);
  EXPECT_LT(largest_difference(moved.history, stayed.history), 1e-12);
  EXPECT_EQ(moved.results, stayed.results);
}

TEST(StepBalancer, ImplicitStepsFollowASlowDevice) {
  const BalancedEnd stayed = shake_implicitly("debug:3", nullptr);
  StepBalancer balancer(eager({1, 1, 0.25}));
  const BalancedEnd moved = shake_implicitly("debug:3", &balancer);
  EXPECT_GE(balancer.divisions(), 1);
  EXPECT_GT(balancer.moved_nodes(), 0);
  ASSERT_FALSE(balancer.notes().empty());
  EXPECT_NE(balancer.notes()[0].find("nodes moved to other devices"), std::string::npos) << balancer.notes()[0];
  // Shares of 4 : 4 : 1, as well as layers of four nodes allow it.
  const auto& devices = moved.distribution.devices;
  EXPECT_LE(devices[2].equations, 0.6 * stayed.distribution.devices[2].equations);
  EXPECT_GT(devices[0].equations, stayed.distribution.devices[0].equations);
  expect_same_run(moved, stayed);
}

TEST(StepBalancer, ExplicitStepsCarryTheirHistoryAlong) {
  const BalancedEnd stayed = hit_explicitly("debug:2", nullptr);
  StepBalancer balancer(eager({3, 1}));
  const BalancedEnd moved = hit_explicitly("debug:2", &balancer);
  EXPECT_GE(balancer.divisions(), 1);
  EXPECT_NEAR(moved.distribution.devices[0].equations / (3.0 * moved.distribution.devices[1].equations), 1, 0.35);
  expect_same_run(moved, stayed);
}

TEST(StepBalancer, EqualDevicesKeepTheirNodes) {
  StepBalancer balancer(eager({1, 1, 1}));
  const BalancedEnd end = shake_implicitly("debug:3", &balancer);
  EXPECT_GT(balancer.measurements(), 0);
  EXPECT_EQ(balancer.divisions(), 0);
  EXPECT_EQ(balancer.moved_nodes(), 0);
  EXPECT_TRUE(balancer.notes().empty());
  EXPECT_EQ(end.values, shake_implicitly("debug:3", nullptr).values);  // the same bits
}

TEST(StepBalancer, AChangeMustPay) {
  Domain d;
  add_balanced_bar(d, "solid.hex8");
  const auto backend = Backend::open("debug:2");
  const AnalysisModel model(d, backend, TransformationHandler(), DividedNumberer());
  const auto options = [&] {
    StepBalancer::Options o = eager({3, 1});
    o.first_check = 10;
    o.least_gain = 2;
    return o;
  };
  {
    StepBalancer balancer(options());
    balancer.set_up_took(1);
    // Half of the time is saved at best: less than 4 s that are left do not pay for 1 s of setting up, twice.
    EXPECT_FALSE(balancer.after_step(model, {.steps = 10, .seconds_left = 3.9}));
    EXPECT_EQ(balancer.measurements(), 0);
    EXPECT_FALSE(balancer.after_step(model, {.steps = 19, .seconds_left = 1e6}));  // checked next after 20
    EXPECT_EQ(balancer.measurements(), 0);
    EXPECT_TRUE(balancer.after_step(model, {.steps = 20, .seconds_left = 1e6}));
    EXPECT_EQ(balancer.measurements(), 3);  // what seems out of balance is measured again
    ASSERT_TRUE(balancer.numberer());
  }
  {
    // 3 : 1 is an imbalance of 1.5, which saves a third of the time.
    StepBalancer balancer(options());
    balancer.set_up_took(1);
    EXPECT_FALSE(balancer.after_step(model, {.steps = 10, .seconds_left = 5.5}));
    EXPECT_EQ(balancer.measurements(), 1);
    EXPECT_TRUE(balancer.after_step(model, {.steps = 20, .seconds_left = 6.5}));
  }
  {
    // A device that was slow once: the shortest times count.
    StepBalancer::Options o = options();
    int calls = 0;
    o.measure = [&calls](Backend&, const Layout&) {
      return ++calls == 1 ? std::vector<double>{1, 9} : std::vector<double>{1, 1};
    };
    StepBalancer balancer(o);
    EXPECT_FALSE(balancer.after_step(model, {.steps = 10, .seconds_left = 1e6}));
    EXPECT_EQ(calls, 2);
  }
  const AnalysisModel one(d, Backend::open("debug"), TransformationHandler(), DividedNumberer());
  StepBalancer alone(eager({1}));
  EXPECT_FALSE(alone.after_step(one, {.steps = 100, .seconds_left = 1e6}));
  EXPECT_EQ(alone.measurements(), 0);
}

TEST(StepBalancer, RefusesWhatItCannotDo) {
  for (const auto& change : std::vector<std::function<void(StepBalancer::Options&)>>{
           [](auto& o) { o.tolerance = 0.9; }, [](auto& o) { o.tolerance = std::nan(""); },
           [](auto& o) { o.first_check = 0; }, [](auto& o) { o.longest_wait = 0; },
           [](auto& o) { o.least_gain = -1; }}) {
    StepBalancer::Options options;
    change(options);
    expect_error(ErrorCode::bad_input, {"balancing between steps"}, [&] { StepBalancer balancer(options); });
  }
  Domain d;
  add_balanced_bar(d, "solid.hex8");
  const AnalysisModel model(d, Backend::open("debug:2"), TransformationHandler(), DividedNumberer());
  StepBalancer::Options options = eager({1, 1});
  options.measure = [](Backend&, const Layout&) { return std::vector<double>{1}; };
  StepBalancer balancer(options);
  expect_error(ErrorCode::misuse, {"1 times", "2 devices"},
               [&] { (void)balancer.after_step(model, {.steps = 10, .seconds_left = 1}); });
  const auto make = [&](const std::shared_ptr<DofNumberer>&) {
    Analysis::Collaborators parts;
    parts.backend = Backend::open("openmp:1");
    return std::make_unique<ExplicitAnalysis>(d, std::move(parts));
  };
  expect_error(ErrorCode::misuse, {"finished"}, [&] {
    (void)run_balanced(
        make, [](ExplicitAnalysis& a) { a.start(); }, nullptr);
  });
}

}  // namespace
}  // namespace voussoir
