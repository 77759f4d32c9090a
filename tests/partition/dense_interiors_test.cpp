#include <gtest/gtest.h>

#include <cmath>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/partition/dense_interiors.hpp>
#include <voussoir/partition/schur_blocks.hpp>
#include <voussoir/partition/substructuring.hpp>
#include <voussoir/solvers/static_problem.hpp>

// Interiors of parts as dense matrices on the devices, against sparse factorisations on the host.

namespace voussoir {
namespace {

void fill_block(Domain& domain) {
  BoxMesh mesh;
  mesh.cells = {8, 5, 3};
  mesh.upper = {3, 2, 1};
  add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 210e3, 0.3));
  domain.prescribe("xmin", "all");
  domain.add_load_case("push").pressure("zmax", 2.0).nodal("xmax", "uy", 1.0);
}

Decomposition divided(const AnalysisModel& model, int parts) {
  DecompositionOptions options;
  options.parts = parts;
  options.cut = "rcb";
  return Decomposition(model, make_partition(model, options));
}

double apart(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0, largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::isfinite(a[i]) ? std::abs(a[i] - b[i]) : 1e300);
    largest = std::max(largest, std::abs(b[i]));
  }
  return a.size() == b.size() ? most / largest : 1e300;
}

std::vector<double> wavy(std::size_t n) {
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i) values.push_back(std::sin(0.7 * static_cast<double>(i * i % 977)));
  return values;
}

TEST(DenseInteriors, ProductsLoadsAndSolutionsAreThoseOfSparseInteriors) {
  Domain domain;
  fill_block(domain);
  for (const char* name : {"openmp", "debug", "debug:2"}) {
    SCOPED_TRACE(name);
    const auto backend = Backend::open(name);
    const AnalysisModel model(domain, backend, TransformationHandler(), PlainNumberer());
    for (const int parts : {1, 2, 7}) {
      SCOPED_TRACE(parts);
      const Decomposition decomposition = divided(model, parts);
      const PartMatrices matrices = PartMatrices::at_rest(decomposition);
      const SchurComplement sparse(*backend, matrices), dense(*backend, matrices, "direct", Interiors::dense);
      EXPECT_EQ(sparse.blocks(), nullptr);
      ASSERT_NE(dense.blocks(), nullptr);
      EXPECT_NE(dense.describe().find("dense interiors"), std::string::npos) << dense.describe();
      const std::vector<double> f = wavy(static_cast<std::size_t>(decomposition.size())), x = wavy(sparse.unknowns());
      EXPECT_LT(apart(dense.expand(x, f), sparse.expand(x, f)), 1e-11);
      if (parts == 1) continue;
      std::vector<double> y(x.size()), expected(x.size());
      dense.multiply(x, y);
      sparse.multiply(x, expected);
      EXPECT_LT(apart(y, expected), 1e-11);
      EXPECT_LT(apart(dense.condense(f), sparse.condense(f)), 1e-11);
      std::vector<std::vector<double>> on_parts, again;
      for (int p = 0; p < parts; ++p) on_parts.push_back(wavy(decomposition.boundary(p).size()));
      again = on_parts;
      dense.multiply_parts(on_parts);
      sparse.multiply_parts(again);
      for (int p = 0; p < parts; ++p) {
        const auto& own = on_parts[static_cast<std::size_t>(p)];
        EXPECT_LT(apart(own, again[static_cast<std::size_t>(p)]), 1e-11) << p;
        // One part alone: its complement is copied to the host once, and no other one.
        const std::size_t before = dense.bytes();
        std::vector<double> one(own.size()), twice(own.size());
        dense.multiply_part(p, wavy(own.size()), one);
        EXPECT_EQ(dense.bytes(), before + own.size() * own.size() * sizeof(double)) << p;
        dense.multiply_part(p, wavy(own.size()), twice);
        EXPECT_EQ(dense.bytes(), before + own.size() * own.size() * sizeof(double)) << p;
        EXPECT_LT(apart(one, own), 1e-13) << p;
        EXPECT_EQ(one, twice) << p;
      }
    }
  }
}

TEST(DenseInteriors, AllMethodsGiveTheAnswerOfTheDirectSolver) {
  Domain domain;
  fill_block(domain);
  const auto solve_by = [&](const std::string& backend, const std::string& solver) {
    StaticOptions options;
    options.backend = backend;
    options.solver = solver;
    options.relative_tolerance = 1e-12;
    return make_static_analysis(domain, options)->run().at(0);
  };
  const StepResult reference = solve_by("openmp", "direct");
  for (const std::string method :
       {"schur:with=bddc,", "schur:with=nn,", "schur:with=jacobi,", "cg+bddc:", "cg+nn:", "feti-dp:"}) {
    const StepResult dense = solve_by("openmp", method + "parts=5,cut=rcb,interior=dense"),
                     sparse = solve_by("openmp", method + "parts=5,cut=rcb,interior=sparse");
    EXPECT_LT(apart(dense.unknowns.values, reference.unknowns.values), 1e-9) << method;
    EXPECT_NEAR(dense.report.iterations, sparse.report.iterations, 1) << method;
  }
  const StepResult divided_devices = solve_by("debug:2", "schur:parts=5,cut=rcb,interior=dense");
  EXPECT_LT(apart(divided_devices.unknowns.values, reference.unknowns.values), 1e-9);
}

TEST(DenseInteriors, SingularInteriorsAreTheSameErrorAsOnTheHost) {
  // The end of a bar moves across it freely, with the interface fixed or not.
  Domain domain;
  fill_block(domain);
  domain.add_node(9000, 4, 1, 0.3);
  domain.add_block("bar", "truss")
      .set_material(std::make_shared<IsotropicMaterial>("rod", 210e3, 0.3))
      .set_section("area", 0.1);
  domain.block("bar").add(9000, {domain.node_id(domain.node_set("xmax")[0]), 9000});
  const auto backend = Backend::open("openmp");
  const AnalysisModel model(domain, backend, TransformationHandler(), PlainNumberer());
  const Decomposition decomposition = divided(model, 5);
  const PartMatrices matrices = PartMatrices::at_rest(decomposition);
  const auto message = [&](Interiors interiors) -> std::string {
    try {
      const SchurComplement schur(*backend, matrices, "direct", interiors);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::singular);
      return error.what();
    }
    return "none";
  };
  const std::string expected = message(Interiors::sparse);
  EXPECT_NE(expected.find("with its interface fixed is singular: 2 of its motions"), std::string::npos) << expected;
  EXPECT_EQ(message(Interiors::dense), expected);
}

TEST(DenseInteriors, SoftButSoundInteriorsAreEliminatedOnTheHost) {
  // A spring of 1e-8 of the stiffness holds the end of the bar: a pivot that looks like that of a free motion.
  Domain domain;
  fill_block(domain);
  domain.add_node(9000, 4, 0, 0);
  const Id corner = domain.node_id(domain.node_set("xmax")[0]);
  domain.add_block("bar", "truss")
      .set_material(std::make_shared<IsotropicMaterial>("rod", 210e3, 0.3))
      .set_section("area", 0.1);
  domain.block("bar").add(9000, {corner, 9000});
  domain.add_node(9001, 4, 1, 0);
  domain.add_node(9002, 4, 0, 1);
  domain.add_block("soft", "truss")
      .set_material(std::make_shared<IsotropicMaterial>("thread", 2.1, 0.3))
      .set_section("area", 1e-5);
  domain.block("soft").add(9001, {9000, 9001});
  domain.block("soft").add(9002, {9000, 9002});
  for (const char* const unknown : {"ux", "uy", "uz"})
    for (const Id node : {9001, 9002}) domain.prescribe_at(node, unknown);
  const auto backend = Backend::open("openmp");
  const AnalysisModel model(domain, backend, TransformationHandler(), PlainNumberer());
  const Decomposition decomposition = divided(model, 5);
  const PartMatrices matrices = PartMatrices::at_rest(decomposition);
  const SchurComplement sparse(*backend, matrices), dense(*backend, matrices, "direct", Interiors::dense);
  const std::vector<double> f = wavy(static_cast<std::size_t>(decomposition.size())), x = wavy(sparse.unknowns());
  std::vector<double> y(x.size()), expected(x.size());
  dense.multiply(x, y);
  sparse.multiply(x, expected);
  EXPECT_LT(apart(y, expected), 1e-10);
  EXPECT_LT(apart(dense.expand(x, f), sparse.expand(x, f)), 1e-10);
  EXPECT_LT(apart(dense.condense(f), sparse.condense(f)), 1e-10);
}

TEST(DenseInteriors, ChoiceIsMadeByTheBackendAndWrongOnesAreRefused) {
  Domain domain;
  fill_block(domain);
  const auto backend = Backend::open("openmp");
  const AnalysisModel model(domain, backend, TransformationHandler(), PlainNumberer());
  const Decomposition decomposition = divided(model, 4);
  EXPECT_FALSE(uses_dense_interiors(*backend, decomposition, Interiors::automatic, "direct")) << "sparse on a CPU";
  EXPECT_FALSE(uses_dense_interiors(*backend, decomposition, Interiors::sparse, "direct"));
  EXPECT_TRUE(uses_dense_interiors(*backend, decomposition, Interiors::dense, "direct"));
  EXPECT_THROW(uses_dense_interiors(*backend, decomposition, Interiors::dense, "cg+amg"), Error);
  EXPECT_THROW(DecompositionOptions::parse("interior=full", {"interior"}, "here"), Error);
  EXPECT_EQ(DecompositionOptions::parse("interior=dense", {"interior"}, "here").interiors, Interiors::dense);
  DecompositionOptions options;
  options.interiors = Interiors::dense;
  EXPECT_TRUE(SubstructuredSystem(*backend, PartMatrices::at_rest(decomposition), options).is_explicit());
}

}  // namespace
}  // namespace voussoir
