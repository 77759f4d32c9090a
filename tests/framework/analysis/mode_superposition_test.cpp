#include "framework/analysis/superposition_models.hpp"

#include <voussoir/framework/analysis/step.hpp>
#include <voussoir/solvers/static_problem.hpp>

// The response by all modes is that of M u″ + C u′ + K u = f, integrated without modes; with fewer modes, what is left
// out is what is said of it.

namespace voussoir {
namespace {

using test::DirectIntegration;

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
void expect_same(Whole& w, const SuperposedHistory& history, std::size_t k, double tolerance,
                 Eigen::VectorXd u0 = {}, Eigen::VectorXd v0 = {}) {
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
    if (model.is_prescribed(e))
      EXPECT_NEAR(result.reactions.at(model.place(e).node, model.place(e).component), reduced[e], tolerance * scale)
          << model.equation_label(e);
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
    if (field_of_points.names[i % width][0] == 's') {
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

}  // namespace
}  // namespace voussoir
