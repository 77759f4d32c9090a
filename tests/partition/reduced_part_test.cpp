#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <numeric>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/analysis/part_recovery.hpp>
#include <voussoir/framework/domain/generalised_node.hpp>
#include <voussoir/framework/domain/superelement_instance.hpp>
#include <voussoir/framework/io/superelement/reduced_part_file.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/partition/domain_partitioner.hpp>
#include <voussoir/partition/reduce_part.hpp>
#include <voussoir/solvers/eigen/eigen_solvers.hpp>
#include <voussoir/solvers/static_problem.hpp>

namespace voussoir {
namespace {

constexpr double gravity[3] = {1.5, -0.5, -9.81};

/// A distorted cantilever with loads of several kinds; the first element of each cell column is cut off by `half()`.
void fill_beam(Domain& domain, bool clamped = true) {
  BoxMesh mesh;
  mesh.cells = {6, 2, 2};
  mesh.upper = {3, 1, 1};
  mesh.distortion = 0.1;
  add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 210e3, 0.3, 7.85e-3, 1.2e-5));
  if (clamped) domain.prescribe("xmin", "all");
  domain.add_load_case("push").nodal("xmax", "uz", -3.0).pressure("ymax", 2.0).traction("zmax", {0.5, 0, 0});
  domain.add_load_case("warm").temperature("xmax", 100.0);
  domain.add_load_case("weight").gravity("", {gravity[0], gravity[1], gravity[2]});
}

std::shared_ptr<const ReducedPart> through_file(const ReducedPart& part) {
  return read_reduced_part_bytes(reduced_part_bytes(part), part.name + ".vsup");
}

StepResult solve(const Domain& domain, const std::vector<std::pair<std::string, double>>& cases,
                 const std::string& backend = "openmp", const std::string& solver = "direct") {
  StaticOptions options;
  options.backend = backend;
  options.solver = solver;
  auto analysis = make_static_analysis(domain, options);
  Step step{"step", {}, 1.0};
  for (const auto& [name, factor] : cases) step.load_cases[name] = factor;
  analysis->add_step(step);
  return analysis->run().at(0);
}

ModeSet modes_of(const Domain& domain, int count, const std::string& backend = "openmp") {
  ModalOptions options;
  options.backend = backend;
  options.solver = "lanczos";
  EigenRequest request;
  request.modes = count;
  return make_modal_analysis(domain, options)->solve(request);
}

/// Largest difference at the nodes that `some` has, over the largest value.
double difference(const Domain& domain, const NodalField& some, const Domain& whole, const NodalField& all) {
  double largest = 0, apart = 0;
  for (std::int32_t n = 0; n < domain.node_count(); ++n) {
    if (is_generalised_node(domain, n)) continue;
    const std::int32_t other = whole.node_index(domain.node_id(n));
    for (int c = 0; c < some.width(); ++c) {
      if (std::isnan(some.at(n, c))) continue;
      apart = std::max(apart, std::abs(some.at(n, c) - all.at(other, some.components[static_cast<std::size_t>(c)])));
    }
  }
  for (const double v : all.values)
    if (!std::isnan(v)) largest = std::max(largest, std::abs(v));
  return apart / largest;
}

std::string error_of(const std::function<void()>& work, ErrorCode code = ErrorCode::bad_input) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

/// A beam in two parts, and the model that consists of them.
struct TwoParts {
  explicit TwoParts(const ReduceOptions& options, bool clamped = true, const std::string& backend = "openmp") {
    fill_beam(whole, clamped);
    subdomains = make_subdomains(whole, DomainPartitioner(whole).partition(CoordinateBisection(), 2));
    for (const auto& subdomain : subdomains) {
      ReduceOptions own = options;
      own.name = "part" + std::to_string(subdomain->part());
      parts.push_back(through_file(reduce_part(*subdomain, Backend::open(backend), own)));
      SuperelementOptions placing;
      placing.add_nodes = true;
      instances.push_back(add_superelement(model, parts.back(), placing));
    }
    for (const char* name : {"push", "warm"}) {
      LoadCase& load = model.add_load_case(name);
      for (const auto& instance : instances) instance->apply(load, name);
    }
    model.add_load_case("weight").gravity("", {gravity[0], gravity[1], gravity[2]});
  }
  Domain whole, model;
  std::vector<std::unique_ptr<Subdomain>> subdomains;
  std::vector<std::shared_ptr<const ReducedPart>> parts;
  std::vector<std::shared_ptr<SuperelementInstance>> instances;
};

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
  const std::string text = error_of([&] { solve(two.model, {{"push", 1.0}}); }, ErrorCode::singular);
  EXPECT_NE(text.find("all 6 rigid ways"), std::string::npos) << text;
  const ModeSet own = modes_of(two.model, 7);
  // Four modes are on two nodes with three unknowns each: two of these are filled up, and nobody needs to know.
  for (const std::string& note : own.report.notes) EXPECT_EQ(note.find("no mass"), std::string::npos) << note;
  for (int m = 0; m < 6; ++m) EXPECT_TRUE(own.report.modes[static_cast<std::size_t>(m)].free) << m;
  EXPECT_FALSE(own.report.modes[6].free);
}

TEST(ReducedPart, RefusesInterfacesThatDoNotFit) {
  ReduceOptions options;
  options.modes = 2;
  const TwoParts two(options);
  const auto part = two.parts[1];
  Domain empty;
  EXPECT_NE(error_of([&] { add_superelement(empty, part); }).find("has no node"), std::string::npos);
  {
    Domain moved;
    SuperelementOptions placing;
    placing.add_nodes = true;
    const double* const x = part->interface_coordinates.data();
    moved.add_node(part->interface_nodes[0], x[0] + 1e-3, x[1], x[2]);
    const std::string text = error_of([&] { add_superelement(moved, part, placing); });
    EXPECT_NE(text.find("node " + std::to_string(part->interface_nodes[0])), std::string::npos) << text;
    EXPECT_NE(text.find("apart"), std::string::npos) << text;
    placing.tolerance = 1e-2;
    EXPECT_NO_THROW(add_superelement(moved, part, placing));
  }
  {
    Domain flat;  // elements with other unknowns at an interface node
    const double* const x = part->interface_coordinates.data();
    flat.add_node(part->interface_nodes[0], x[0], x[1], x[2]);
    flat.add_node(100000, x[0] + 1, x[1], x[2]);
    flat.add_block("heat", "plane_spring")
        .set_section("kx", 1)
        .set_section("ky", 1)
        .add(1, {part->interface_nodes[0], Id{100000}});
    SuperelementOptions placing;
    placing.add_nodes = true;
    EXPECT_NE(error_of([&] { add_superelement(flat, part, placing); }).find("unknowns ux uy here"), std::string::npos);
  }
  Domain again;
  SuperelementOptions placing;
  placing.add_nodes = true;
  const auto instance = add_superelement(again, part, placing);
  EXPECT_NE(error_of([&] { add_superelement(again, part, placing); }).find("block of this name"), std::string::npos);
  EXPECT_NE(error_of([&] { instance->apply(again.add_load_case("x"), "pull"); }, ErrorCode::not_found).find("'push'"),
            std::string::npos);
  again.add_load_case("spin").centrifugal("", 3.0, {0, 0, 0}, {0, 0, 1});
  for (std::size_t i = 0; i < 4; ++i) again.prescribe_at(part->interface_nodes[i], "all");
  EXPECT_NE(error_of([&] { solve(again, {{"spin", 1.0}}); }).find("centrifugal"), std::string::npos);
}

TEST(ReducedPart, RefusesPartsThatCannotBeReduced) {
  Domain domain;
  fill_beam(domain);
  const auto backend = Backend::open("openmp");
  EXPECT_NE(error_of([&] { reduce_part(domain, "xmin", backend); }).find("support on its interface"),
            std::string::npos);
  EXPECT_NE(error_of([&] { reduce_part(domain, "nowhere", backend); }, ErrorCode::not_found).find("nowhere"),
            std::string::npos);
  ReduceOptions negative;
  negative.modes = -1;
  error_of([&] { reduce_part(domain, "xmax", backend, negative); });
  // Without the support, the inside of a part that is cut off from its interface can move.
  Domain loose;
  BoxMesh mesh;
  mesh.cells = {2, 1, 1};
  add_box_mesh(loose, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1.0, 0.3, 1.0));
  loose.add_node(1000, 5, 5, 5);
  loose.add_node(1001, 6, 5, 5);
  loose.add_block("adrift", "spring")
      .set_section("kx", 1)
      .set_section("ky", 1)
      .set_section("kz", 1)
      .add(500, {Id{1000}, Id{1001}});
  const std::string text = error_of([&] { reduce_part(loose, "xmax", backend); }, ErrorCode::singular);
  EXPECT_NE(text.find("node 100"), std::string::npos) << text;
  loose.add_node(1002, 7, 5, 5);
  loose.add_node_set("unused", {Id{1002}});
  EXPECT_NE(error_of([&] { reduce_part(loose, "unused", backend); }).find("no element of the part uses"),
            std::string::npos);
  Domain moved;
  add_box_mesh(moved, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1.0, 0.3));
  moved.prescribe("xmin", "ux", 0.1);
  EXPECT_NE(error_of([&] { reduce_part(moved, "xmax", backend); }).find("other than zero"), std::string::npos);
  Domain massless;
  add_box_mesh(massless, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1.0, 0.3));
  ReduceOptions some;
  some.modes = 2;
  EXPECT_NE(error_of([&] { reduce_part(massless, "xmax", backend, some); }).find("density"), std::string::npos);
  const ReducedPart still = reduce_part(massless, "xmax", backend);
  EXPECT_TRUE(still.mass.empty());
  EXPECT_TRUE(still.accelerations.empty());
}

TEST(ReducedPart, RefusesHeatSources) {
  Domain whole;
  BoxMesh mesh;
  mesh.type = "heat.hex8";
  mesh.cells = {2, 1, 1};
  auto metal = std::make_shared<Material>("metal");
  metal->set("conductivity", 50.0);
  add_box_mesh(whole, mesh).set_material(metal);
  ReduceOptions options;
  options.name = "block";
  const auto part = std::make_shared<ReducedPart>(reduce_part(whole, "xmax", Backend::open("openmp"), options));
  Domain model;
  SuperelementOptions placing;
  placing.add_nodes = true;
  add_superelement(model, part, placing);
  for (const Id node : part->interface_nodes) model.prescribe_at(node, part->unknowns.front());
  model.add_load_case("source").heat_source("", 1e5);
  const std::string text = error_of([&] { solve(model, {{"source", 1.0}}); });
  EXPECT_NE(text.find("superelement 'block'"), std::string::npos) << text;
  EXPECT_NE(text.find("load case of the part"), std::string::npos) << text;
}

TEST(ReducedPart, RefusesDampingOfMaterials) {
  Domain domain;
  BoxMesh mesh;
  mesh.cells = {2, 1, 1};
  auto steel = std::make_shared<IsotropicMaterial>("steel", 1.0, 0.3, 1.0);
  steel->set_damping({0.0, 1e-4});
  add_box_mesh(domain, mesh).set_material(steel);
  const std::string text = error_of([&] { reduce_part(domain, "xmax", Backend::open("openmp")); });
  EXPECT_NE(text.find("material 'steel'"), std::string::npos) << text;
  EXPECT_NE(text.find("damping"), std::string::npos) << text;
}

TEST(ReducedPart, AxisymmetricPartsBelongToAxisymmetricModels) {
  const auto fill = [](Domain& domain, const char* type, double lower) {
    BoxMesh mesh;
    mesh.type = type;
    mesh.cells = {2, 2, 1};
    mesh.lower = {lower, 0, 0};
    mesh.upper = {lower + 1, 1, 1};
    ElementBlock& block = add_box_mesh(domain, mesh);
    block.set_material(std::make_shared<IsotropicMaterial>("steel", 210e3, 0.3, 7.85e-9));
    if (mesh.type.starts_with("plane")) block.set_section("thickness", 1.0);
  };
  for (const bool axisymmetric : {true, false}) {
    Domain whole;
    fill(whole, axisymmetric ? "axisymmetric.quad4" : "plane_strain.quad4", 1);
    const auto part = through_file(reduce_part(whole, "xmax", Backend::open("openmp")));
    EXPECT_EQ(part->axisymmetric, axisymmetric);
    EXPECT_TRUE(part->follows_rigid_motions);
    SuperelementOptions placing;
    placing.add_nodes = true;
    for (const bool other : {true, false}) {
      Domain model;
      // Other node numbers than those of the part: what does not fit are the elements.
      model.add_node(1000, 9, 9, 0);
      fill(model, other ? "axisymmetric.quad4" : "plane_strain.quad4", 2);
      if (axisymmetric == other)
        EXPECT_NO_THROW(add_superelement(model, part, placing));
      else
        EXPECT_NE(error_of([&] { add_superelement(model, part, placing); }).find("axisymmetric"), std::string::npos);
    }
  }
}

TEST(ReducedPart, LumpedMassesAreRefused) {
  ReduceOptions options;
  options.modes = 2;
  TwoParts two(options);
  ModalOptions lumped;
  lumped.backend = "openmp";
  lumped.mass = MassKind::lumped;
  EigenRequest request;
  request.modes = 2;
  EXPECT_NE(error_of([&] { make_modal_analysis(two.model, lumped)->solve(request); }).find("cannot be lumped"),
            std::string::npos);
}

TEST(ReducedPart, AllNodesMayBeOnTheInterface) {
  Domain domain;
  BoxMesh mesh;
  mesh.cells = {1, 1, 1};
  add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1.0, 0.3, 1.0));
  std::vector<std::int32_t> all(8);
  std::iota(all.begin(), all.end(), 0);
  ReduceOptions options;
  options.modes = 3;  // there are none
  const ReducedPart part = reduce_part(domain, all, Backend::open("openmp"), options);
  EXPECT_EQ(part.size(), 24u);
  EXPECT_EQ(part.modes(), 0u);
  EXPECT_TRUE(part.follows_rigid_motions);
  EXPECT_NEAR(part.rigid_mass[0], 1.0, 1e-12);
}

TEST(ReducedPartFile, RestoresEveryNumber) {
  ReduceOptions options;
  options.modes = 4;
  options.stresses = true;
  Domain whole;
  fill_beam(whole);
  const Subdomain half(whole, DomainPartitioner(whole).partition(CoordinateBisection(), 2), 1);
  const ReducedPart part = reduce_part(half, Backend::open("openmp"), options);
  const std::string bytes = reduced_part_bytes(part);
  const auto read = read_reduced_part_bytes(bytes, "part.vsup");
  EXPECT_EQ(reduced_part_bytes(*read), bytes);
  EXPECT_EQ(read->stiffness, part.stiffness);
  EXPECT_EQ(read->mass, part.mass);
  EXPECT_EQ(read->recovery, part.recovery);
  EXPECT_EQ(read->stress_recovery, part.stress_recovery);
  EXPECT_EQ(read->row, part.row);
  EXPECT_EQ(read->rigid_mass, part.rigid_mass);
  ASSERT_EQ(read->loads.size(), 3u);
  EXPECT_EQ(read->load("warm").force, part.load("warm").force);
  EXPECT_EQ(read->load("warm").stress, part.load("warm").stress);
  EXPECT_EQ(read->accelerations[2].displacement, part.accelerations[2].displacement);
}

/// The bytes with other text in their header, and the checksum of that.
std::string with_header(const std::string& bytes, const std::string& from, const std::string& to) {
  const std::size_t second = bytes.find("\nheader ") + 1, begin = bytes.find('\n', second) + 1;
  std::string header = bytes.substr(begin, std::stoul(bytes.substr(second + 7)));
  const std::size_t length = header.size(), at = header.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  header.replace(at, from.size(), to);
  char line[64];
  std::snprintf(line, sizeof line, "header %zu %016llx\n", header.size(),
                static_cast<unsigned long long>(part_checksum(header)));
  return bytes.substr(0, second) + line + header + bytes.substr(begin + length);
}

void fill_plate(Domain& domain, const std::string& type, double lower) {
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {3, 2, 1};
  mesh.lower = {lower, 0, 0};
  mesh.upper = {lower + 1, 1, 1};
  add_box_mesh(domain, mesh)
      .set_material(std::make_shared<IsotropicMaterial>("steel", 210e3, 0.3, 7.85e-9))
      .set_section("thickness", 1.0);
}

/// A plate whose side xmax is the interface.
ReducedPart reduced_plate(const std::string& type, int modes = 0) {
  Domain domain;
  fill_plate(domain, type, 0);
  ReduceOptions options;
  options.name = "plate";
  options.modes = modes;
  return reduce_part(domain, "xmax", Backend::open("openmp"), options);
}

TEST(ReducedPartFile, RejectsForgedCountsAndBytesAfterTheEnd) {
  const std::string good = reduced_part_bytes(reduced_plate("plane_stress.quad4", 2));
  EXPECT_NO_THROW(read_reduced_part_bytes(with_header(good, "\"plate\"", "\"other\""), "x"));
  const auto text = [&](const std::string& from, const std::string& to) {
    return error_of([&] { read_reduced_part_bytes(with_header(good, from, to), "x"); });
  };
  EXPECT_NE(text("\"interface_nodes\": 3", "\"interface_nodes\": 4").find("gives 4 for 'interface_nodes'"),
            std::string::npos);
  EXPECT_NE(text("\"modes\": 2", "\"modes\": 0").find("gives 0 for 'modes'"), std::string::npos);
  EXPECT_NE(text("\"elements\": 6", "\"elements\": 5").find("fewer elements"), std::string::npos);
  EXPECT_NE(text("\"elements\": 6", "\"elements\": 7").find("more elements"), std::string::npos);
  EXPECT_NE(text("\"offset\": 0", "\"offset\": 8").find("overlap or leave gaps"), std::string::npos);
  EXPECT_NE(text("\"plane\": \"stress\"", "\"plane\": \"strange\"").find("strange"), std::string::npos);
  EXPECT_NE(text("\"plane\"", "\"pläne\"").find("plane stress or in plane strain"), std::string::npos);
  EXPECT_NE(error_of([&] { read_reduced_part_bytes(good + "x", "x"); }).find("1 bytes follow"), std::string::npos);
  EXPECT_NE(error_of([&] { read_reduced_part_bytes(good + good, "x"); }).find("bytes follow"), std::string::npos);
  // The same numbers in another shape: 8 × 8 as 64 × 1.
  const std::string shape = good.substr(good.find("\"stiffness\""), 200);
  const std::size_t from = shape.find('['), to = shape.find(']');
  ASSERT_LT(to, shape.size());
  EXPECT_NE(text(shape.substr(0, to + 1), shape.substr(0, from) + "[64, 1]").find("another shape"), std::string::npos);
}

TEST(ReducedPart, TellsPlaneStressFromPlaneStrain) {
  EXPECT_EQ(reduced_plate("plane_stress.quad8").plane, "stress");
  EXPECT_EQ(reduced_plate("plane_strain.quad4").plane, "strain");
  const auto part = through_file(reduced_plate("plane_strain.quad4"));
  EXPECT_EQ(part->plane, "strain");
  SuperelementOptions placing;
  placing.add_nodes = true;
  for (const bool same : {true, false}) {
    Domain model;
    model.add_node(1000, 9, 9, 0);
    fill_plate(model, same ? "plane_strain.quad4" : "plane_stress.quad4", 2);
    if (same)
      EXPECT_NO_THROW(add_superelement(model, part, placing));
    else
      EXPECT_NE(error_of([&] { add_superelement(model, part, placing); }).find("plane strain, and block"),
                std::string::npos);
  }
  // Between superelements, too.
  Domain model;
  add_superelement(model, part, placing);
  placing.name = "other";
  const auto other = through_file(reduced_plate("plane_stress.quad4"));
  EXPECT_NE(error_of([&] { add_superelement(model, other, placing); }).find("plane stress, and block"),
            std::string::npos);
  Domain mixed;
  fill_plate(mixed, "plane_strain.quad4", 0);
  mixed.add_block("stress", "plane_stress.quad4");
  EXPECT_NO_THROW(reduce_part(mixed, "xmax", Backend::open("openmp"))) << "an empty block says nothing";
}

TEST(ReducedPartFile, NoticesDamage) {
  Domain domain;
  BoxMesh mesh;
  mesh.cells = {2, 1, 1};
  add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1.0, 0.3, 1.0));
  ReduceOptions options;
  options.modes = 1;
  const std::string good = reduced_part_bytes(reduce_part(domain, "xmax", Backend::open("openmp"), options));
  EXPECT_NO_THROW(read_reduced_part_bytes(good, "x"));
  for (std::size_t i = 0; i < good.size(); i += i < 200 ? 1 : 97) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x11);
    EXPECT_THROW(read_reduced_part_bytes(bad, "x"), Error) << "byte " << i;
  }
  for (std::size_t length = 0; length < good.size(); length += 101)
    EXPECT_THROW(read_reduced_part_bytes(std::string_view(good).substr(0, length), "x"), Error) << length;
  std::string newer = good;
  newer[std::string("voussoir superelement ").size()] = '2';
  EXPECT_NE(error_of([&] { read_reduced_part_bytes(newer, "wing.vsup"); }).find("version 2"), std::string::npos);
  // Of a program that did not write this key: a part with uz is not axisymmetric.
  const std::string old = with_header(good, "\"axisymmetric\"", "\"axisymmetrie\"");
  EXPECT_FALSE(read_reduced_part_bytes(old, "old.vsup")->axisymmetric);
  EXPECT_NE(error_of([&] { read_reduced_part("there/is/none.vsup"); }, ErrorCode::io).find("none.vsup"),
            std::string::npos);
}

}  // namespace
}  // namespace voussoir
