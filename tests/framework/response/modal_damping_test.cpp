#include <voussoir/framework/response/modal_damping.hpp>

#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace voussoir {
namespace {

TEST(ModalDamping, AddsRatiosAndRayleighsFactors) {
  ModalDamping damping = ModalDamping::ratio(0.02);
  damping += ModalDamping::rayleigh(0.4, 0.001);
  damping += ModalDamping::ratios({0.01, 0.03});
  const std::vector<double> omegas{2, 50};
  const auto ratios = damping.damping_ratios(omegas);
  EXPECT_DOUBLE_EQ(ratios[0], 0.02 + 0.4 / (2 * 2) + 0.001 * 2 / 2 + 0.01);
  EXPECT_DOUBLE_EQ(ratios[1], 0.02 + 0.4 / (2 * 50) + 0.001 * 50 / 2 + 0.03);
  const auto decays = damping.decays(omegas);
  EXPECT_DOUBLE_EQ(decays[0], ratios[0] * 2);
  EXPECT_DOUBLE_EQ(decays[1], ratios[1] * 50);
}

TEST(ModalDamping, RayleighGoesThroughTwoRatios) {
  const auto damping = ModalDamping::rayleigh_through(6, 0.05, 40, 0.03);
  const std::vector<double> omegas{6, 40};
  const auto ratios = damping.damping_ratios(omegas);
  EXPECT_NEAR(ratios[0], 0.05, 1e-16);
  EXPECT_NEAR(ratios[1], 0.03, 1e-16);
}

TEST(ModalDamping, RigidModesAreDampedByTheMassAlone) {
  ModalDamping damping = ModalDamping::ratio(0.1);
  const std::vector<double> rigid{0};
  EXPECT_EQ(damping.decays(rigid)[0], 0);
  damping += ModalDamping::rayleigh(0.6, 1);
  EXPECT_EQ(damping.decays(rigid)[0], 0.3);
  testing::expect_error(ErrorCode::bad_input, {"mode 1 is rigid"}, [&] { damping.damping_ratios(rigid); });
}

TEST(ModalDamping, CompositeIsTheMeanByStrainEnergy) {
  const std::vector<double> parts{0.02, 0.10}, energies{3, 0, 1, 5};
  const auto ratios = ModalDamping::composite(parts, energies).damping_ratios(std::vector<double>{1, 2});
  EXPECT_DOUBLE_EQ(ratios[0], 0.75 * 0.02 + 0.25 * 0.10);
  EXPECT_DOUBLE_EQ(ratios[1], 0.10);
  const std::vector<double> none{1, 0, 1, 0};
  testing::expect_error(ErrorCode::bad_input, {"mode 2"}, [&] { ModalDamping::composite(parts, none); });
}

TEST(ModalDamping, RefusesWhatIsNotDamping) {
  const auto refused = [](const std::string& piece, auto make) {
    testing::expect_error(ErrorCode::bad_input, {"modal damping", piece}, make);
  };
  refused("damping ratio", [] { ModalDamping::ratio(-0.01); });
  refused("mode 2", [] { ModalDamping::ratios({0.1, -0.1}); });
  refused("alpha", [] { ModalDamping::rayleigh(-1, 0); });
  refused("negative factor", [] { ModalDamping::rayleigh_through(1, 0.01, 2, 0.5); });
  refused("two different", [] { ModalDamping::rayleigh_through(1, 0.01, 1, 0.01); });
  refused("2 modes, but 3", [] { ModalDamping::ratios({0.1, 0.1}).decays(std::vector<double>{1, 2, 3}); });
  refused("cannot be added", [] { ModalDamping::ratios({0.1}) += ModalDamping::ratios({0.1, 0.2}); });
}

}  // namespace
}  // namespace voussoir
