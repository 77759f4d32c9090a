#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "framework/analysis/superposition_models.hpp"
#include "support/expect_error.hpp"

// Response spectra and harmonic sweeps against dense matrices that know nothing of the class.

namespace voussoir {
namespace {

using test::DirectIntegration;
using testing::expect_error;

constexpr double pi = 3.14159265358979323846;

/// Modes of the free equations by Eigen.
struct DenseModes {
  explicit DenseModes(const DirectIntegration& direct) {
    Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::MatrixXd> solver(direct.reduced(direct.stiffness),
                                                                     direct.reduced(direct.mass_matrix));
    values = solver.eigenvalues();
    shapes = direct.transformation * solver.eigenvectors();
  }
  Eigen::VectorXd values;
  Eigen::MatrixXd shapes;
};

const ResponseSpectrum design({{0, 0.4}, {0.05, 1}, {0.5, 1}, {10, 0.1}}, ResponseSpectrum::Axis::period);

struct Spectral {
  explicit Spectral(int count) {
    test::add_block_on_supports(d, true, false);
    analysis = test::modes_of_model(d, count);
    direct = std::make_unique<DirectIntegration>(analysis->model());
    modes = std::make_unique<ModeSuperposition>(make_mode_superposition(*analysis));
    modes->set_damping(ModalDamping::ratio(0.05));
  }
  Domain d;
  std::unique_ptr<ModalAnalysis> analysis;
  std::unique_ptr<DirectIntegration> direct;
  std::unique_ptr<ModeSuperposition> modes;
};

TEST(ModeSuperpositionSpectrum, PeaksAreCombinedFromDenseModes) {
  Spectral s(5);
  const AnalysisModel& model = s.analysis->model();
  const DenseModes dense(*s.direct);
  const double factor = 9.81;
  for (const bool rest : {false, true}) {
    s.modes->set_static_correction(rest);
    const std::vector<SpectrumInput> inputs{{"x", design, factor}, {"z", design, factor}};
    const SpectrumPeaks peaks = s.modes->response_spectrum(inputs, ModalCombination::srss);
    Eigen::VectorXd u = Eigen::VectorXd::Zero(model.equation_count()), reaction = u;
    Eigen::Vector3d sums = Eigen::Vector3d::Zero();
    for (const int direction : {0, 2}) {
      const Eigen::VectorXd inertia = s.direct->mass_matrix * s.direct->rigid(direction);
      const auto add = [&](const Eigen::VectorXd& shape, const Eigen::VectorXd& force) {
        u += shape.cwiseAbs2();
        reaction += force.cwiseAbs2();
        // Sums over prescribed equations alone: the equation between two nodes has no resultant.
        for (int c = 0; c < 3; ++c) {
          double sum = 0;
          for (std::int32_t e = 0; e < model.equation_count(); ++e)
            if (model.is_prescribed(e) && model.place(e).component == c) sum += force[e];
          sums[c] += sum * sum;
        }
      };
      Eigen::VectorXd still = Eigen::VectorXd::Zero(model.equation_count()), covered = still;
      for (int m = 0; m < 5; ++m) {
        const double omega = std::sqrt(dense.values[m]), period = 2 * pi / omega;
        const double gamma = dense.shapes.col(m).dot(inertia);
        const Eigen::VectorXd shape = dense.shapes.col(m);
        const Eigen::VectorXd force = s.direct->stiffness * shape - omega * omega * (s.direct->mass_matrix * shape);
        const double q = factor * gamma * design.at_period(period) / (omega * omega);
        add(shape * q, force * q);
        still += shape * gamma / (omega * omega);
        covered += shape * gamma;
      }
      if (rest) {  // what is left of the rigid body's inertia, carried statically
        const Eigen::VectorXd solved =
            s.direct->transformation *
            s.direct->reduced(s.direct->stiffness).ldlt().solve(s.direct->transformation.transpose() * inertia);
        const Eigen::VectorXd shape = solved - still;
        const Eigen::VectorXd force =
            s.direct->stiffness * shape - s.direct->mass_matrix * (s.direct->rigid(direction) - covered);
        add(shape * factor * 0.4, force * factor * 0.4);
      }
    }
    const double size = std::sqrt(u.maxCoeff()), force_size = std::sqrt(reaction.maxCoeff());
    for (std::int32_t e = 0; e < model.equation_count(); ++e) {
      const auto at = model.place(e);
      EXPECT_NEAR(peaks.displacement.at(at.node, at.component), std::sqrt(u[e]), 1e-8 * size);
      if (model.is_prescribed(e)) {
        EXPECT_NEAR(peaks.reactions.at(at.node, at.component), std::sqrt(reaction[e]), 1e-8 * force_size);
      } else {
        EXPECT_TRUE(std::isnan(peaks.reactions.at(at.node, at.component)));
      }
    }
    for (int c = 0; c < 3; ++c)
      EXPECT_NEAR(peaks.reaction_sum[static_cast<std::size_t>(c)], std::sqrt(sums[c]),
                  1e-7 * std::sqrt(sums.maxCoeff()));
    EXPECT_NE(peaks.notes[0].find(rest ? "respond with the acceleration 3.924" : "no static correction"),
              std::string::npos)
        << peaks.notes[0];
  }
}

// With one mode the peak stress is that of the mode at its peak; and a spectrum without period 0 says what is missing.
TEST(ModeSuperpositionSpectrum, StressesOfOneModeAreThoseOfItsPeak) {
  Spectral s(1);
  const ResponseSpectrum table({{0.01, 0.4}, {10, 1}}, ResponseSpectrum::Axis::period);
  const SpectrumPeaks peaks = s.modes->response_spectrum(std::vector<SpectrumInput>{{"z", table}});
  EXPECT_NE(peaks.notes[0].find("does not begin at period 0"), std::string::npos) << peaks.notes[0];
  const ModeSet& set = s.analysis->modes();
  const double q = set.participation[0][2] * table.at_frequency(set.frequency(0)) / set.eigenvalue(0);
  const AnalysisModel& model = s.analysis->model();
  Vector u = model.make_vector();
  const Eigen::VectorXd values = test::on_equations(model, set.shapes[0]) * q;
  u.from_host({values.data(), static_cast<std::size_t>(values.size())});
  const std::vector<double> recovered = model.backend().recover(model.device_model(), 0, ElementState(u));
  const auto names = s.d.block(std::size_t{0}).type().program().recovered_names();
  const PointField& field = peaks.points.at(0);
  EXPECT_EQ(field.names, (std::vector<std::string>{"sxx", "syy", "szz", "sxy", "syz", "sxz"}));
  const std::size_t first = static_cast<std::size_t>(std::find(names.begin(), names.end(), "sxx") - names.begin());
  for (std::size_t p = 0; p < field.values.size() / 6; ++p)
    for (std::size_t c = 0; c < 6; ++c)
      EXPECT_NEAR(field.values[6 * p + c], std::abs(recovered[p * names.size() + first + c]), 1e-9);
  expect_error(ErrorCode::bad_input, {"along z", "twice"}, [&] {
    s.modes->response_spectrum(std::vector<SpectrumInput>{{"z", table}, {"z", table}});
  });
}

TEST(ModeSuperpositionSweep, AllModesAreTheDenseSolution) {
  Domain d;
  test::add_block_on_supports(d);
  const auto analysis = test::modes_of_model(d, test::free_unknowns(d));
  const AnalysisModel& model = analysis->model();
  const DirectIntegration direct(model);
  const Eigen::MatrixXd damping = 0.4 * direct.mass_matrix + 0.003 * direct.stiffness;
  ModeSuperposition modes = make_mode_superposition(*analysis);
  modes.set_damping(ModalDamping::rayleigh(0.4, 0.003));
  const std::complex<double> force(0.5, -2), ground(1, 1);
  modes.add_harmonic_load_case("tip", force, Amplitude({{0, 1}, {10, 2}}));
  modes.add_harmonic_base_acceleration("y", ground);
  for (const bool correction : {false, true}) {
    modes.set_static_correction(correction);
    const std::vector<double> frequencies{0.3, 1.7, 5, 12};
    const SuperposedSweep sweep = modes.harmonic_sweep(frequencies);
    const Id tip = d.node_id(d.node_count() - 2);
    const auto history = sweep.history(tip, "uz");
    for (std::size_t k = 0; k < frequencies.size(); ++k) {
      const double omega = 2 * pi * frequencies[k], amplitude = Amplitude({{0, 1}, {10, 2}}).at(frequencies[k]);
      const Eigen::VectorXd r = direct.rigid(1);
      const Eigen::VectorXcd load = direct.nodal_loads("tip") * (force * amplitude);
      const Eigen::VectorXcd total = load - direct.mass_matrix * r * ground;
      const std::complex<double> i(0, 1);
      const Eigen::MatrixXcd dynamic = direct.reduced(direct.stiffness) -
                                       omega * omega * direct.reduced(direct.mass_matrix) +
                                       i * omega * direct.reduced(damping);
      const Eigen::VectorXcd u =
          direct.transformation * dynamic.partialPivLu().solve(direct.transformation.transpose() * total);
      const auto field = sweep.field(k);
      const Eigen::VectorXcd found =
          test::on_equations(model, field.real) + i * test::on_equations(model, field.imaginary);
      EXPECT_LT((found - u).cwiseAbs().maxCoeff(), 1e-9 * u.cwiseAbs().maxCoeff());
      EXPECT_LT(std::abs(history[k] - u[model.equation(d.node_count() - 2, "uz")]), 1e-9 * u.cwiseAbs().maxCoeff());
      // Reactions: everything that the elements, their damping and inertia and the loads leave on the supports.
      Eigen::VectorXcd balance = direct.stiffness * u + i * omega * (damping * u) +
                                 direct.mass_matrix * (r * ground - omega * omega * u) - load;
      for (const AffineDependency& dependent : model.constraints().dependent)
        for (std::size_t n = 0; n < dependent.others.size(); ++n)
          balance[dependent.others[n]] += dependent.coefficients[n] * balance[dependent.equation];
      const auto state = sweep.state(k);
      for (std::int32_t e = 0; e < model.equation_count(); ++e) {
        if (!model.is_prescribed(e)) continue;
        const auto at = model.place(e);
        EXPECT_NEAR(state.real.reactions.at(at.node, at.component), balance[e].real(),
                    1e-8 * balance.cwiseAbs().maxCoeff());
        EXPECT_NEAR(state.imaginary.reactions.at(at.node, at.component), balance[e].imag(),
                    1e-8 * balance.cwiseAbs().maxCoeff());
      }
      EXPECT_FALSE(state.imaginary.points.empty());
      // Absolute displacement: the base moves by −a/Ω².
      const auto absolute = sweep.history(tip, "uy", ModalQuantity::displacement, MotionFrame::absolute)[k];
      EXPECT_LT(std::abs(absolute - u[model.equation(d.node_count() - 2, "uy")] + ground / (omega * omega)), 1e-9);
    }
    const auto peaks = sweep.peaks();
    const std::size_t place = static_cast<std::size_t>(d.node_count() - 2) * 3 + 2;
    double most = 0;
    for (const auto& value : history) most = std::max(most, std::abs(value));
    EXPECT_NEAR(peaks[place].amplitude, most, 1e-12 * most);
  }
  expect_error(ErrorCode::bad_input, {"frequency 0"}, [&] {
    modes.harmonic_sweep(std::vector<double>{0})
        .history(d.node_id(0), "uy", ModalQuantity::displacement, MotionFrame::absolute);
  });
}

}  // namespace
}  // namespace voussoir
