#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include <voussoir/framework/analysis/part_recovery.hpp>

#include "partition/reduced_beam.hpp"

// Solutions of models with reduced parts against those of the whole model.

namespace voussoir {
namespace {

using testing::difference;
using testing::fill_beam;
using testing::modes_of;
using testing::solve;
using testing::text_of_error;
using testing::through_file;
using testing::TwoParts;

TEST(ReducedPart, StaticsGiveTheSolutionOfTheWholeModelInsideToo) {
  for (const int modes : {0, 5}) {
    ReduceOptions options;
    options.modes = modes;
    options.stresses = true;
    const TwoParts two(options);
    EXPECT_EQ(two.parts[0]->modes(), static_cast<std::size_t>(modes));
    for (const auto& cases : std::vector<std::vector<std::pair<std::string, double>>>{
             {{"push", 1.0}}, {{"warm", 2.0}}, {{"weight", 1.0}}, {{"push", -0.5}, {"warm", 1.0}, {"weight", 2.0}}}) {
      const StepResult reference = solve(two.whole, cases), result = solve(two.model, cases);
      EXPECT_LT(difference(two.model, result.unknowns, two.whole, reference.unknowns), 1e-10);
      std::vector<double> factors(3, 0.0);
      for (const auto& [name, factor] : cases)
        for (std::size_t c = 0; c < 3; ++c)
          if (two.model.load_case(c).name() == name) factors[c] = factor;
      double largest = 0;
      for (const double v : reference.points[0].values) largest = std::max(largest, std::abs(v));
      for (std::size_t p = 0; p < 2; ++p) {
        const PartRecovery recovery(two.instances[p]);
        const NodalField inside = recovery.displacements(two.model, result.unknowns, factors);
        EXPECT_LT(difference(recovery.mesh(), inside, two.whole, reference.unknowns), 1e-10);
        const auto stresses = recovery.stresses(two.model, result.unknowns, factors);
        ASSERT_EQ(stresses.size(), 1u);
        for (std::int32_t e = 0; e < recovery.mesh().block(0).size(); ++e)
          for (const std::string& name : ReducedPart::stress_names()) {
            double mean = 0;
            for (int q = 0; q < reference.points[0].points; ++q)
              mean += reference.points[0].at(two.whole, recovery.mesh().block(0).id(e), q, name) /
                      reference.points[0].points;
            EXPECT_NEAR(stresses[0].at(e, 0, name), mean, 1e-10 * largest);
          }
      }
    }
  }
}

TEST(ReducedPart, StandsBesideOrdinaryElements) {
  Domain whole;
  fill_beam(whole);
  const StepResult reference = solve(whole, {{"push", 1.0}, {"weight", 1.0}});
  const ModeSet all = modes_of(whole, 3);
  const Partition cut = DomainPartitioner(whole).partition(CoordinateBisection(), 2);
  for (const char* backend : {"openmp:1", "debug:2"}) {
    SCOPED_TRACE(backend);
    Subdomain kept(whole, cut, 0);
    const Subdomain other(whole, cut, 1);
    ReduceOptions options;
    options.modes = 12;
    const auto part = std::make_shared<ReducedPart>(reduce_part(other, Backend::open(backend), options));
    const auto instance = add_superelement(kept.domain(), part);
    instance->apply(*kept.domain().load_cases()[0], "push");
    // Gravity acts on all elements of the kept domain, so on the superelement as well.
    const StepResult result = solve(kept.domain(), {{"push", 1.0}, {"weight", 1.0}}, backend);
    EXPECT_LT(difference(kept.domain(), result.unknowns, whole, reference.unknowns), 1e-10);
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(result.reaction_sum[c], reference.reaction_sum[c], 1e-9 * std::abs(reference.reaction_sum[2]));
      EXPECT_NEAR(result.load_sum[c], reference.load_sum[c], 1e-9 * std::abs(reference.load_sum[2]));
    }
    const ModeSet modes = modes_of(kept.domain(), 3, backend);
    for (int m = 0; m < 3; ++m) EXPECT_NEAR(modes.frequency(m), all.frequency(m), 1e-4 * all.frequency(m));
  }
}

TEST(ReducedPart, IterativeSolversTakeIt) {
  ReduceOptions options;
  options.modes = 4;
  const TwoParts two(options);
  const StepResult reference = solve(two.whole, {{"push", 1.0}});
  for (const char* solver : {"cg+jacobi", "cg+block-jacobi"}) {
    const StepResult result = solve(two.model, {{"push", 1.0}}, "openmp", solver);
    EXPECT_LT(difference(two.model, result.unknowns, two.whole, reference.unknowns), 1e-6) << solver;
  }
}

TEST(ReducedPart, RigidMotionsHaveTheMassOfTheWholePart) {
  Domain whole;
  fill_beam(whole, false);
  const Partition cut = DomainPartitioner(whole).partition(CoordinateBisection(), 2);
  const Subdomain half(whole, cut, 0), other(whole, cut, 1);
  for (const int modes : {0, 3}) {
    ReduceOptions options;
    options.modes = modes;
    const ReducedPart part = reduce_part(half, Backend::open("openmp"), options);
    EXPECT_TRUE(part.follows_rigid_motions);
    const std::size_t n = part.size(), edge = part.interface_size();
    std::vector<std::vector<double>> motion(6, std::vector<double>(n, 0.0));
    for (std::size_t i = 0; i < edge; ++i) {
      const double* const x = part.interface_coordinates.data() + 3 * (i / 3);
      const std::size_t c = i % 3;
      motion[c][i] = 1;
      motion[3 + (c + 2) % 3][i] = -x[(c + 1) % 3];  // u = e × x
      motion[3 + (c + 1) % 3][i] = x[(c + 2) % 3];
    }
    const double mass = part.rigid_mass[0];
    const ReducedPart rest = reduce_part(other, Backend::open("openmp"), options);
    EXPECT_NEAR(mass + rest.rigid_mass[0], 7.85e-3 * 3, 1e-13);
    for (std::size_t a = 0; a < 6; ++a)
      for (std::size_t b = 0; b < 6; ++b) {
        double sum = 0, strain = 0;
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t j = 0; j < n; ++j) {
            sum += motion[a][i] * part.mass[i * n + j] * motion[b][j];
            strain += motion[a][i] * part.stiffness[i * n + j] * motion[b][j];
          }
        EXPECT_NEAR(sum, part.rigid_mass[a * 6 + b], 1e-11 * mass) << a << " " << b;
        EXPECT_NEAR(strain, 0, 1e-8 * 210e3) << a << " " << b;
      }
  }
  Domain held;
  fill_beam(held, true);
  const Subdomain clamped(held, DomainPartitioner(held).partition(CoordinateBisection(), 2), 0);
  EXPECT_FALSE(reduce_part(clamped, Backend::open("openmp")).follows_rigid_motions);
}

TEST(ReducedPart, FrequenciesConvergeFromAboveAndEffectiveMassesAreRight) {
  for (const bool clamped : {true, false}) {
    SCOPED_TRACE(clamped);
    Domain whole;
    fill_beam(whole, clamped);
    constexpr int count = 10;
    const ModeSet reference = modes_of(whole, count);
    std::vector<double> before(count, HUGE_VAL);
    for (const int modes : {0, 4, 50}) {
      SCOPED_TRACE(modes);
      ReduceOptions options;
      options.modes = modes;
      TwoParts two(options, clamped);
      const ModeSet own = modes_of(two.model, count);
      ASSERT_GE(own.count(), clamped ? 5 : 8);
      for (int m = 0; m < own.count(); ++m) {
        const double slack = 1e-6 * reference.frequency(count - 1);
        EXPECT_GE(own.frequency(m), reference.frequency(m) - slack) << m;
        EXPECT_LE(own.frequency(m), before[static_cast<std::size_t>(m)] + slack) << m;
        before[static_cast<std::size_t>(m)] = own.frequency(m);
      }
      // All mass is there, whatever the number of modes; that at supports inside a part is not.
      for (int d = 0; d < 6 && !clamped; ++d)
        EXPECT_NEAR(own.total_mass[static_cast<std::size_t>(d)], reference.total_mass[static_cast<std::size_t>(d)],
                    1e-9 * reference.total_mass[0]);
      if (modes < 50) continue;
      for (int m = 0; m < 6; ++m)
        EXPECT_NEAR(own.frequency(m), reference.frequency(m), 2e-4 * reference.frequency(count - 1)) << m;
    }
  }
}

TEST(ReducedPart, EffectiveMassesOfASupportedModelAreThoseOfTheWhole) {
  // Supports are in the model that uses the parts, so the parts follow rigid motions.
  Domain whole;
  fill_beam(whole, false);
  const Partition cut = DomainPartitioner(whole).partition(CoordinateBisection(), 2);
  Subdomain kept(whole, cut, 0);
  const Subdomain other(whole, cut, 1);
  ReduceOptions options;
  options.modes = 40;
  add_superelement(kept.domain(), std::make_shared<ReducedPart>(reduce_part(other, Backend::open("openmp"), options)));
  whole.prescribe("xmin", "all");
  kept.domain().prescribe("xmin", "all");
  const ModeSet reference = modes_of(whole, 5), own = modes_of(kept.domain(), 5);
  for (int d = 0; d < 6; ++d)
    EXPECT_NEAR(own.total_mass[static_cast<std::size_t>(d)], reference.total_mass[static_cast<std::size_t>(d)],
                1e-9 * reference.total_mass[0]);
  for (int m = 0; m < 5; ++m)
    for (int d = 0; d < 3; ++d)
      EXPECT_NEAR(own.effective_mass(m, d), reference.effective_mass(m, d), 2e-3 * reference.total_mass[0])
          << m << " " << d;
}

TEST(ReducedPart, CutOffFrequencyTakesAllModesBelow) {
  Domain whole;
  fill_beam(whole);
  const Subdomain half(whole, DomainPartitioner(whole).partition(CoordinateBisection(), 2), 1);
  ReduceOptions options;
  options.modes = 6;
  const ReducedPart six = reduce_part(half, Backend::open("openmp"), options);
  options.modes = 0;
  options.below = 0.5 * (frequency_of(six.eigenvalues[3]) + frequency_of(six.eigenvalues[4]));
  const ReducedPart below = reduce_part(half, Backend::open("openmp"), options);
  ASSERT_EQ(below.modes(), 4u);
  for (std::size_t m = 0; m < 4; ++m) EXPECT_NEAR(below.eigenvalues[m], six.eigenvalues[m], 1e-7 * six.eigenvalues[m]);
  options.below = 1e-3 * frequency_of(six.eigenvalues[0]);
  EXPECT_EQ(reduce_part(half, Backend::open("openmp"), options).modes(), 0u);
}

TEST(ReducedPart, NestsInAnotherPart) {
  // The last third is reduced, connected to the middle one, and both are reduced to the interface with the first.
  Domain whole;
  fill_beam(whole);
  const StepResult reference = solve(whole, {{"push", 1.0}, {"weight", 1.0}});
  const ModeSet all = modes_of(whole, 3);
  std::vector<std::int32_t> third;
  for (std::int32_t e = 0; e < whole.block(0).size(); ++e) {
    double x = 0;
    for (const std::int32_t n : whole.block(0).nodes(e)) x += whole.coordinates()[3 * static_cast<std::size_t>(n)] / 8;
    third.push_back(static_cast<std::int32_t>(x));
  }
  const Partition cut = DomainPartitioner(whole).partition(UserPartition(third), 3);
  const auto subdomains = make_subdomains(whole, cut);
  ReduceOptions options;
  options.modes = 20;
  options.name = "tip";
  const auto tip = through_file(reduce_part(*subdomains[2], Backend::open("openmp"), options));

  Domain& middle = subdomains[1]->domain();
  const auto inner = add_superelement(middle, tip);
  inner->apply(*middle.load_cases()[0], "push");
  std::vector<std::int32_t> interface;
  for (const std::int32_t n : subdomains[0]->interface_nodes())
    interface.push_back(middle.node_index(subdomains[0]->domain().node_id(n)));
  options.name = "outer";
  options.modes = 30;
  const auto both = through_file(reduce_part(middle, interface, Backend::open("openmp"), options));

  Domain& root = subdomains[0]->domain();
  const auto outer = add_superelement(root, both);
  outer->apply(*root.load_cases()[0], "push");
  const StepResult result = solve(root, {{"push", 1.0}, {"weight", 1.0}});
  EXPECT_LT(difference(root, result.unknowns, whole, reference.unknowns), 1e-10);
  const std::vector<double> factors{1.0, 0.0, 1.0};
  const PartRecovery outer_recovery(outer), inner_recovery(inner);
  const NodalField in_middle = outer_recovery.displacements(root, result.unknowns, factors);
  SuperelementInstance::Acting acting = outer->acting(root, factors);
  const auto of_inner = inner->acting(middle, acting.load_factors);
  const NodalField in_tip =
      inner_recovery.displacements(outer_recovery.mesh(), in_middle, {of_inner.load_factors, acting.acceleration});
  EXPECT_LT(difference(inner_recovery.mesh(), in_tip, whole, reference.unknowns), 1e-10);
  const ModeSet own = modes_of(root, 3);
  for (int m = 0; m < 3; ++m) {
    EXPECT_GE(own.frequency(m), all.frequency(m) * (1 - 1e-7));
    EXPECT_LE(own.frequency(m), all.frequency(m) * (1 + 1e-3));
  }
}

TEST(ReducedPart, FreeMotionsOfModelsThatUseItAreFound) {
  ReduceOptions options;
  options.modes = 4;
  const TwoParts two(options, false);
  const std::string text = text_of_error([&] { solve(two.model, {{"push", 1.0}}); }, ErrorCode::singular);
  EXPECT_NE(text.find("all 6 rigid ways"), std::string::npos) << text;
  const ModeSet own = modes_of(two.model, 7);
  // Four modes are on two nodes with three unknowns each: two of these are filled up, and nobody needs to know.
  for (const std::string& note : own.report.notes) EXPECT_EQ(note.find("no mass"), std::string::npos) << note;
  for (int m = 0; m < 6; ++m) EXPECT_TRUE(own.report.modes[static_cast<std::size_t>(m)].free) << m;
  EXPECT_FALSE(own.report.modes[6].free);
}

}  // namespace
}  // namespace voussoir
