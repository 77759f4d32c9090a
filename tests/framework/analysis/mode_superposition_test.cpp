#include "framework/analysis/superposition_models.hpp"

#include <voussoir/solvers/static_problem.hpp>

#include "support/expect_error.hpp"

// The response by all modes is that of M u″ + C u′ + K u = f, integrated without modes; with fewer modes, what is left
// out is what is said of it.

namespace voussoir {
namespace {

using test::DirectIntegration;
using testing::expect_error;

const Amplitude shaking({{0, 0}, {0.1, 2}, {0.25, -1.5}, {0.4, 0.5}, {0.6, 0}});
const Amplitude pushing({{0, 0.5}, {0.2, 1}, {0.2, -1}, {0.5, 0.3}});

double largest(const Eigen::VectorXd& v) { return v.cwiseAbs().maxCoeff(); }

/// All of a model's modes, with what is to be compared.
struct Whole {
  explicit Whole(const Domain& d, MassKind mass = MassKind::consistent, const std::string& backend = "openmp:2")
      : analysis(test::modes_of_model(d, test::free_unknowns(d), backend, mass)),
        direct(analysis->model(), mass),
        modes(make_mode_superposition(*analysis)) {}

  void add_base(int direction, const Amplitude& amplitude) {
    modes.add_base_acceleration(ModeSet::direction_names()[static_cast<std::size_t>(direction)], amplitude);
    direct.add_base(direction, amplitude);
  }
  void add_tip(const Amplitude& amplitude) {
    modes.add_load_case("tip", amplitude);
    direct.add_load(direct.nodal_loads("tip"), amplitude);
  }

  std::unique_ptr<ModalAnalysis> analysis;
  DirectIntegration direct;
  ModeSuperposition modes;
};

/// Displacements, rates, reactions and stresses of both are the same at a time.
void expect_same(Whole& w, const SuperposedHistory& history, std::size_t k, double tolerance, Eigen::VectorXd u0 = {},
                 Eigen::VectorXd v0 = {}) {
  const AnalysisModel& model = w.analysis->model();
  const DirectIntegration::State s = w.direct.at(history.times()[k], u0, v0);
  const auto field = [&](ModalQuantity q, MotionFrame f) { return test::on_equations(model, history.field(k, q, f)); };
  EXPECT_LT(largest(field(ModalQuantity::displacement, MotionFrame::relative) - s.u), tolerance * largest(s.u));
  EXPECT_LT(largest(field(ModalQuantity::velocity, MotionFrame::relative) - s.v), tolerance * largest(s.v));
  EXPECT_LT(largest(field(ModalQuantity::acceleration, MotionFrame::relative) - s.a), tolerance * largest(s.a));
  EXPECT_LT(largest(field(ModalQuantity::acceleration, MotionFrame::absolute) - s.absolute),
            tolerance * largest(s.absolute));

  const StepResult result = history.state(k);
  Eigen::VectorXd balance = w.direct.out_of_balance(s);
  const double scale = largest(balance);
  Eigen::VectorXd reduced = balance;
  for (const AffineDependency& d : model.constraints().dependent)
    for (std::size_t i = 0; i < d.others.size(); ++i) reduced[d.others[i]] += d.coefficients[i] * balance[d.equation];
  for (std::int32_t e = 0; e < model.equation_count(); ++e)
    if (model.is_prescribed(e)) {
      const double reaction = result.reactions.at(model.place(e).node, model.place(e).component);
      EXPECT_NEAR(reaction, reduced[e], tolerance * scale) << model.equation_label(e);
    }
  // Stresses by the elements at the displacements of direct integration.
  Vector u = model.make_vector();
  u.from_host({s.u.data(), static_cast<std::size_t>(s.u.size())});
  const std::vector<double> stresses = model.backend().recover(model.device_model(), 0, ElementState(u));
  ASSERT_EQ(result.points.size(), 1u);
  const PointField& field_of_points = result.points[0];
  ASSERT_EQ(stresses.size(), field_of_points.values.size());
  const std::size_t width = field_of_points.names.size();
  double most = 0, off = 0;
  for (std::size_t i = 0; i < stresses.size(); ++i)
    if (const std::string& name = field_of_points.names[i % width];
        name.size() != 1 && name != "volume" && name != "energy") {
      most = std::max(most, std::abs(stresses[i]));
      off = std::max(off, std::abs(stresses[i] - field_of_points.values[i]));
    }
  EXPECT_GT(most, 0);
  EXPECT_LT(off, tolerance * most);
}

TEST(ModeSuperposition, AllModesAreDirectIntegration) {
  for (const bool constrained : {false, true}) {
    for (const MassKind mass : {MassKind::consistent, MassKind::lumped}) {
      Domain d;
      test::add_block_on_supports(d, constrained, constrained);
      Whole w(d, mass);
      w.direct.damping = 0.8 * w.direct.mass_matrix + 0.004 * w.direct.stiffness;
      w.modes.set_damping(ModalDamping::rayleigh(0.8, 0.004));
      w.add_base(0, shaking);
      w.add_base(2, Amplitude({{0, 1}, {0.3, -1}}));
      w.add_tip(pushing);
      for (const bool correction : {false, true}) {
        w.modes.set_static_correction(correction);
        const SuperposedHistory history = w.modes.time_history(std::vector<double>{0.05, 0.2, 0.33, 0.9});
        for (std::size_t k = 0; k < history.count(); ++k) expect_same(w, history, k, 1e-7);
      }
    }
  }
}

/// Γ² of all modes and so on: C = M Φ diag(2 a) Φᵀ M of the free equations, whatever the ratios.
TEST(ModeSuperposition, DampingByRatiosIsTheSameMatrix) {
  Domain d;
  test::add_block_on_supports(d, false, false);
  Whole w(d);
  std::vector<double> ratios;
  const int modes = w.analysis->modes().count();
  for (int m = 0; m < modes; ++m) ratios.push_back(0.02 + 0.3 * m / modes);
  w.modes.set_damping(ModalDamping::ratios(ratios));
  // K Φ diag(2 ζ/ω) Φᵀ M: on the free equations it is the damping of the modes, and it balances within the structure.
  const AnalysisModel& model = w.analysis->model();
  for (int m = 0; m < modes; ++m) {
    const Eigen::VectorXd shape = test::on_equations(model, w.analysis->modes().shapes[static_cast<std::size_t>(m)]);
    const double omega = std::sqrt(w.analysis->modes().eigenvalue(m));
    w.direct.damping += 2 * ratios[static_cast<std::size_t>(m)] / omega * (w.direct.stiffness * shape) *
                        (w.direct.mass_matrix * shape).transpose();
  }
  w.add_base(1, shaking);
  w.add_tip(pushing);
  const SuperposedHistory history = w.modes.time_history(std::vector<double>{0.07, 0.25, 0.8});
  for (std::size_t k = 0; k < history.count(); ++k) {
    expect_same(w, history, k, 1e-7);
    // Base shear: reactions and loads sum to mass times absolute acceleration.
    const DirectIntegration::State s = w.direct.at(history.times()[k]);
    const StepResult result = history.state(k, false);
    EXPECT_TRUE(result.points.empty());
    for (int c = 0; c < 3; ++c) {
      const double inertia = w.direct.rigid(c).dot(w.direct.mass_matrix * s.absolute);
      EXPECT_NEAR(result.reaction_sum[static_cast<std::size_t>(c)] + w.direct.rigid(c).dot(s.force), inertia,
                  1e-7 * largest(w.direct.mass_matrix * s.absolute));
    }
  }
}

TEST(ModeSuperposition, RigidBodiesAndRotationsOfTheBase) {
  Domain d;
  test::add_block_with_rigid_end(d);
  Whole w(d);
  w.direct.damping = 0.3 * w.direct.mass_matrix + 0.002 * w.direct.stiffness;
  w.modes.set_damping(ModalDamping::rayleigh(0.3, 0.002));
  w.add_base(1, shaking);
  w.add_base(3, Amplitude({{0, 0.5}, {0.4, -0.3}}));
  w.add_base(5, shaking);
  w.add_tip(pushing);
  const SuperposedHistory history = w.modes.time_history(std::vector<double>{0.1, 0.33, 0.8});
  for (std::size_t k = 0; k < history.count(); ++k) expect_same(w, history, k, 1e-7);
}

/// A bent frame of two beams, clamped at one end.
TEST(ModeSuperposition, Beams) {
  Domain d;
  d.add_node(1, 0, 0, 0);
  d.add_node(2, 0.2, 0.1, 1);
  d.add_node(3, 1.1, 0.3, 1.2);
  ElementBlock& frame = d.add_block("frame", "beam");
  frame.set_material(std::make_shared<IsotropicMaterial>("steel", 1e4, 0.3, 1))
      .set_section(CrossSection::rectangle(0.1, 0.15, 0.3));
  frame.set_section("shear_modulus", 4000).set_section("orientation_x", 0).set_section("orientation_y", 1);
  frame.set_section("orientation_z", 0);
  frame.add(1, {1, 2});
  frame.add(2, {2, 3});
  d.add_node_set("foot", {1});
  d.prescribe("foot", "all");
  d.add_load_case("tip").nodal_at(3, "uy", 0.2).nodal_at(3, "rx", 0.1);
  Whole w(d);
  w.direct.damping = 0.3 * w.direct.mass_matrix + 0.002 * w.direct.stiffness;
  w.modes.set_damping(ModalDamping::rayleigh(0.3, 0.002));
  w.add_base(0, shaking);
  w.add_base(4, shaking);
  w.add_tip(pushing);
  const SuperposedHistory history = w.modes.time_history(std::vector<double>{0.1, 0.33, 0.8});
  for (std::size_t k = 0; k < history.count(); ++k) expect_same(w, history, k, 1e-6);
  const PointExtremes forces = history.point_extremes().front();
  EXPECT_EQ(forces.names, (std::vector<std::string>{"N", "Vy", "Vz", "T", "My", "Mz"}));
  const StepResult last = history.state(2);
  EXPECT_GE(forces.at(0, 0, "My").maximum, last.points[0].at(0, 0, "My") * (1 - 1e-9));
  EXPECT_LE(forces.at(0, 0, "My").minimum, last.points[0].at(0, 0, "My") * (1 + 1e-9));
}

TEST(ModeSuperposition, PlaneModels) {
  Domain d;
  for (int i = 0; i < 3; ++i) {
    d.add_node(2 * i + 1, i, 0);
    d.add_node(2 * i + 2, i, 1);
  }
  ElementBlock& sheet = d.add_block("sheet", "plane_stress.quad4");
  sheet.set_material(std::make_shared<IsotropicMaterial>("steel", 100, 0.3, 1)).set_section("thickness", 0.1);
  sheet.add(1, {1, 3, 4, 2});
  sheet.add(2, {3, 5, 6, 4});
  d.add_node_set("foot", {1, 2});
  d.prescribe("foot", "all");
  d.add_load_case("tip").nodal_at(6, "uy", 0.2);
  Whole w(d);
  w.direct.damping = 0.002 * w.direct.stiffness;
  w.modes.set_damping(ModalDamping::rayleigh(0, 0.002));
  w.add_base(1, shaking);
  w.add_base(5, shaking);
  w.add_tip(pushing);
  const SuperposedHistory history = w.modes.time_history(std::vector<double>{0.1, 0.8});
  for (std::size_t k = 0; k < history.count(); ++k) expect_same(w, history, k, 1e-7);
  expect_error(ErrorCode::bad_input, {"along z", "plane"}, [&] { w.modes.add_base_acceleration("z", shaking); });
}

TEST(ModeSuperposition, StartsFromDisplacementsAndVelocitiesAndGoesOn) {
  Domain d;
  test::add_block_on_supports(d);
  Whole w(d);
  w.direct.damping = 0.004 * w.direct.stiffness;
  w.modes.set_damping(ModalDamping::rayleigh(0, 0.004));
  const AnalysisModel& model = w.analysis->model();
  Eigen::VectorXd u0 = Eigen::VectorXd::LinSpaced(w.direct.free_count, -0.1, 0.2);
  Eigen::VectorXd v0 = Eigen::VectorXd::LinSpaced(w.direct.free_count, 3, -1);
  const auto field = [&](const Eigen::VectorXd& free) {
    const Eigen::VectorXd all = w.direct.transformation * free;
    NodalField f = w.analysis->modes().shapes.front();
    for (std::int32_t e = 0; e < model.equation_count(); ++e)
      f.values[static_cast<std::size_t>(model.place(e).node) * f.components.size() +
               static_cast<std::size_t>(model.place(e).component)] = all[e];
    return f;
  };
  w.modes.set_initial_displacement(field(u0));
  w.modes.set_initial_velocity(field(v0));
  w.add_tip(pushing);
  const SuperposedHistory history = w.modes.time_history(std::vector<double>{0.1, 0.3});
  for (std::size_t k = 0; k < history.count(); ++k) expect_same(w, history, k, 1e-7, u0, v0);
  EXPECT_NEAR(w.modes.truncation().initial_displacement, 1, 1e-9);
  EXPECT_NEAR(w.modes.truncation().initial_velocity, 1, 1e-9);

  // From the end of one history to another.
  w.modes.set_start(0.3);
  w.modes.set_initial_state(history.end());
  const SuperposedHistory more = w.modes.time_history(std::vector<double>{0.45, 0.7});
  for (std::size_t k = 0; k < more.count(); ++k) expect_same(w, more, k, 1e-7, u0, v0);

  // With a third of the modes, the share is what they have of uᵀMu.
  Whole few(d);
  few.modes.set_initial_velocity(field(v0));
  few.modes.select_modes(1, 10);
  const Eigen::VectorXd v = w.direct.transformation * v0;
  double seen = 0;
  for (std::size_t m = 0; m < 10; ++m)
    seen += std::pow(test::on_equations(model, w.analysis->modes().shapes[m]).dot(w.direct.mass_matrix * v), 2);
  const double share = few.modes.truncation().initial_velocity;
  EXPECT_LT(share, 1);
  EXPECT_NEAR(share, seen / v.dot(w.direct.mass_matrix * v), 1e-9);
}

TEST(ModeSuperposition, GroundMotionIsIntegratedExactly) {
  Domain d;
  test::add_block_on_supports(d, false, false);
  Whole w(d);
  // a = 2 until t = 1, then 0: v = 2 t, u = t², and 2 and 1 + 2 (t − 1).
  w.modes.add_base_acceleration("x", Amplitude({{0, 1}, {1, 1}, {1, 0}}), 2);
  const SuperposedHistory history = w.modes.time_history(std::vector<double>{0.5, 1.5});
  const Id clamped = d.node_id(d.node_set("xmin").front());
  const auto of_base = [&](ModalQuantity q) { return history.history(clamped, "ux", q, MotionFrame::absolute); };
  EXPECT_NEAR(of_base(ModalQuantity::displacement)[0], 0.25, 1e-14);
  EXPECT_NEAR(of_base(ModalQuantity::displacement)[1], 2, 1e-14);
  EXPECT_NEAR(of_base(ModalQuantity::velocity)[0], 1, 1e-14);
  EXPECT_NEAR(of_base(ModalQuantity::velocity)[1], 2, 1e-14);
  EXPECT_EQ(of_base(ModalQuantity::acceleration)[0], 2);
  EXPECT_EQ(of_base(ModalQuantity::acceleration)[1], 0);
  EXPECT_EQ(history.history(clamped, "ux")[0], 0);
  // The histories of a node are what the fields have.
  const Id tip = d.node_id(d.node_count() - 1);
  for (const auto quantity : {ModalQuantity::displacement, ModalQuantity::velocity, ModalQuantity::acceleration})
    for (const auto frame : {MotionFrame::relative, MotionFrame::absolute}) {
      const double in_field = history.field(1, quantity, frame).at(d.node_count() - 1, "ux");
      EXPECT_NEAR(history.history(tip, "ux", quantity, frame)[1], in_field, 1e-12 * std::abs(in_field));
    }
}

TEST(ModeSuperposition, RefusesWhatItDoesNotCover) {
  const auto refused = [](std::initializer_list<std::string> pieces, const auto& change, const auto& use) {
    Domain d;
    test::add_block_on_supports(d, false, false);
    change(d);
    const auto analysis = test::modes_of_model(d, 4);
    expect_error(ErrorCode::bad_input, pieces, [&] {
      ModeSuperposition modes = make_mode_superposition(*analysis);
      use(modes);
    });
  };
  const auto nothing = [](auto&) {};
  const Id tip = 16;
  refused(
      {"node 1", "other than zero"},
      [](Domain& d) {
        d.clear_supports();
        d.prescribe("xmin", "all", 0.1);
      },
      nothing);
  refused(
      {"constant other than zero"},
      [&](Domain& d) {
        d.add_equation({{tip, "uy", 1}, {tip - 1, "uy", -1}}, 0.1);
      },
      nothing);
  refused(
      {"'hot'", "temperatures"}, [](Domain& d) { d.add_load_case("hot").temperature("xmax", 10); },
      [](ModeSuperposition& m) { m.add_load_case("hot"); });
  refused(
      {"damping of its own", "'rubber'"},
      [](Domain& d) {
        auto damped = std::make_shared<IsotropicMaterial>("rubber", 1000, 0.3, 2);
        damped->set_damping({0.1, 0});
        d.block(std::size_t{0}).set_material(damped);
      },
      nothing);
  refused(
      {"along y", "node 16", "does not hold"},
      [&](Domain& d) {
        d.add_equation({{tip, "uy", 1}, {tip - 1, "uz", -0.5}});
      },
      [](ModeSuperposition& m) { m.add_base_acceleration("y", Amplitude()); });
  refused({"modes 3 to 5", "1 to 4"}, nothing, [](ModeSuperposition& m) { m.select_modes(3, 5); });
  refused({"no mode has a frequency"}, nothing, [](ModeSuperposition& m) { m.select_frequencies(1e6, 2e6); });
  refused({"accelerogram begins at -1"}, nothing, [](ModeSuperposition& m) {
    m.add_base_acceleration("x", Accelerogram({-1, 1}, {0, 1}));
    m.time_history(std::vector<double>{1});
  });
  refused({"another model"}, nothing, [](ModeSuperposition& m) {
    m.set_initial_velocity({"velocity", {"ux"}, {0, 1}});
  });
}

TEST(ModeSuperposition, RefusesModesOfAnotherModel) {
  Domain d, other;
  test::add_block_on_supports(d, false, false);
  test::add_block_on_supports(other, false, false);
  other.block(std::size_t{0}).set_material(std::make_shared<IsotropicMaterial>("soft", 900, 0.3, 2));
  const auto analysis = test::modes_of_model(d, 4), of_other = test::modes_of_model(other, 4);
  expect_error(ErrorCode::bad_input, {"mode 1", "eigenvalue"},
               [&] { ModeSuperposition(of_other->model(), analysis->modes()); });
  expect_error(ErrorCode::bad_input, {"mode 1", "consistent or lumped"},
               [&] { ModeSuperposition(analysis->model(), analysis->modes(), MassKind::lumped); });
  // What the eigen-solver did not find is not passed over.
  ModeSet doubtful = analysis->modes();
  doubtful.report.completeness = Completeness::incomplete;
  doubtful.report.statement = "INCOMPLETE: 4 of 5";
  const std::string text = ModeSuperposition(analysis->model(), doubtful).truncation().text();
  EXPECT_NE(text.find("modes are missing: INCOMPLETE: 4 of 5"), std::string::npos) << text;
  doubtful.report.converged = false;
  expect_error(ErrorCode::bad_input, {"tolerance"}, [&] { ModeSuperposition(analysis->model(), doubtful); });
  // And a model that has changed.
  ModeSuperposition modes = make_mode_superposition(*analysis);
  d.add_load_case("late").nodal_at(16, "ux", 1);
  expect_error(ErrorCode::misuse, {"has changed"}, [&] { modes.add_base_acceleration("x", Amplitude()); });
}

TEST(ModeSuperposition, FreeBodiesHaveNoStaticCorrection) {
  Domain d;
  test::add_block_on_supports(d, false, false);
  d.clear_supports();
  const auto analysis = test::modes_of_model(d, 10);
  ModeSuperposition modes = make_mode_superposition(*analysis);
  modes.add_load_case("tip", Amplitude(), 3);
  EXPECT_FALSE(modes.static_correction());
  EXPECT_NE(modes.truncation().text().find("no static correction, because"), std::string::npos)
      << modes.truncation().text();
  // The centre of mass moves by F t²/(2 m), whatever the other modes do: F = (1.5, 0, 0.7) · 3, m = 2 · 2.4.
  const SuperposedHistory history = modes.time_history(std::vector<double>{2});
  const AnalysisModel& model = analysis->model();
  const DirectIntegration direct(model);
  const Eigen::VectorXd u = test::on_equations(model, history.field(0, ModalQuantity::displacement));
  EXPECT_NEAR(direct.rigid(0).dot(direct.mass_matrix * u), 4.5 * 2, 1e-8);
  EXPECT_NEAR(direct.rigid(2).dot(direct.mass_matrix * u), 2.1 * 2, 1e-8);
  modes.set_static_correction(true);
  expect_error(ErrorCode::singular, {"static correction", "free motion"},
               [&] { modes.time_history(std::vector<double>{2}); });
}

// A state in modal coordinates means nothing in other modes, however many there are.
TEST(ModeSuperposition, GoesOnWithTheSameModesOnly) {
  Domain d, other;
  test::add_block_on_supports(d);
  test::add_block_on_supports(other, false);
  const auto analysis = test::modes_of_model(d, 6), of_other = test::modes_of_model(other, 6);
  ModeSuperposition first = make_mode_superposition(*analysis);
  first.add_load_case("tip");
  first.select_modes(1, 3);
  const ModalPoint end = first.time_history(even_times(0, 1, 0.1)).end();
  ModeSuperposition next = make_mode_superposition(*analysis);
  next.select_modes(2, 4);
  expect_error(ErrorCode::bad_input, {"initial state", "other modes", "select the same"},
               [&] { next.set_initial_state(end); });
  next.select_modes(1, 3);
  next.set_initial_state(end);
  EXPECT_NEAR(next.time_history(std::vector<double>{0}).point(0).displacement[1], end.displacement[1],
              1e-14 * std::abs(end.displacement[1]));
  ModeSuperposition elsewhere = make_mode_superposition(*of_other);
  elsewhere.select_modes(1, 3);
  expect_error(ErrorCode::bad_input, {"initial state", "another solution"}, [&] { elsewhere.set_initial_state(end); });
  // Modes that are found again by the same request are the same, and a point made by hand is taken as it is.
  const auto again = test::modes_of_model(d, 6);
  ModeSuperposition same = make_mode_superposition(*again);
  same.select_modes(1, 3);
  EXPECT_NO_THROW(same.set_initial_state(end));
  ModalPoint by_hand;
  by_hand.displacement = by_hand.velocity = {1, 2, 3};
  EXPECT_NO_THROW(elsewhere.set_initial_state(by_hand));
}

}  // namespace
}  // namespace voussoir
