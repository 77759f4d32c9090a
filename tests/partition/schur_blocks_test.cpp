#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include <voussoir/backends/dense_block_services.hpp>
#include <voussoir/backends/error.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/partition/host_operator.hpp>
#include <voussoir/partition/schur_blocks.hpp>
#include <voussoir/partition/substructuring.hpp>
#include <voussoir/solvers/static_problem.hpp>

namespace voussoir {
namespace {

void fill_plate(Domain& domain) {
  BoxMesh mesh;
  mesh.cells = {9, 6, 2};
  mesh.upper = {3, 2, 0.5};
  add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 210e3, 0.3));
  domain.prescribe("xmin", "all");
  domain.add_load_case("push").pressure("zmax", 2.0).nodal("xmax", "uy", 1.0);
}

StepResult solve_by(const Domain& domain, const std::string& backend, const std::string& solver) {
  StaticOptions options;
  options.backend = backend;
  options.solver = solver;
  options.relative_tolerance = 1e-12;
  return make_static_analysis(domain, options)->run().at(0);
}

double apart(const NodalField& a, const NodalField& b) {
  double most = 0, largest = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    most = std::max(most, std::abs(a.values[i] - b.values[i]));
    largest = std::max(largest, std::abs(b.values[i]));
  }
  return most / largest;
}

TEST(SchurBlocks, MultiplyAsTheImplicitForm) {
  Domain domain;
  fill_plate(domain);
  for (const char* name : {"openmp", "openmp:1", "debug", "debug:2", "debug:3"}) {
    SCOPED_TRACE(name);
    const auto backend = Backend::open(name);
    const AnalysisModel model(domain, backend, TransformationHandler(), PlainNumberer());
    for (const int parts : {2, 5, 7}) {
      DecompositionOptions options;
      options.parts = parts;
      options.cut = "rcb";
      const Decomposition decomposition(model, make_partition(model, options));
      const PartMatrices matrices = PartMatrices::at_rest(decomposition);
      const SchurComplement implicit_form(*backend, matrices);
      const auto blocks = make_schur_blocks(*backend, matrices);
      std::size_t numbers = 0;
      for (int p = 0; p < parts; ++p) numbers += decomposition.boundary(p).size() * decomposition.boundary(p).size();
      EXPECT_EQ(schur_block_bytes(decomposition), 8 * numbers);
      EXPECT_GE(blocks->bytes(), 8 * numbers);
      std::mt19937 random(7);
      std::uniform_real_distribution<double> number(-1, 1);
      std::vector<double> values(implicit_form.unknowns()), expected(values.size());
      for (double& v : values) v = number(random);
      implicit_form.multiply(values, expected);
      Vector x(blocks->layout()), y(blocks->layout());
      x.from_host(values);
      double product = 0, dot = blocks->apply_dot(x, y), largest = 0;
      const std::vector<double> found = y.to_host();
      for (const double v : expected) largest = std::max(largest, std::abs(v));
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_NEAR(found[i], expected[i], 1e-11 * largest);
        product += values[i] * found[i];
      }
      EXPECT_NEAR(dot, product, 1e-10 * std::abs(product));
      // Two columns at once.
      std::vector<double> two;
      for (const double v : values) two.insert(two.end(), {v, -2 * v});
      Vector x2(blocks->layout(), 2), y2(blocks->layout(), 2);
      x2.from_host(two);
      blocks->apply(x2, y2);
      const std::vector<double> both = y2.to_host();
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(both[2 * i], found[i]);
        EXPECT_EQ(both[2 * i + 1], -2 * found[i]);
      }
    }
  }
}

TEST(SchurBlocks, TheSolverGivesTheSameAnswer) {
  Domain domain;
  fill_plate(domain);
  const StepResult reference = solve_by(domain, "openmp", "direct");
  for (const auto& [backend, with] :
       {std::pair{"openmp", "bddc"}, std::pair{"openmp", "nn"}, std::pair{"debug:2", "bddc"}}) {
    const std::string base = std::string("schur:parts=5,cut=rcb,with=") + with;
    const StepResult implicit_form = solve_by(domain, backend, base),
                     explicit_form = solve_by(domain, backend, base + ",schur=explicit");
    EXPECT_LT(apart(explicit_form.unknowns, reference.unknowns), 1e-10) << with << " on " << backend;
    EXPECT_LT(apart(explicit_form.unknowns, implicit_form.unknowns), 1e-10) << with << " on " << backend;
    EXPECT_NEAR(explicit_form.report.iterations, implicit_form.report.iterations, 1) << with;
  }
}

TEST(SchurBlocks, FormIsChosenByBytes) {
  Domain domain;
  fill_plate(domain);
  const auto backend = Backend::open("openmp");
  const AnalysisModel model(domain, backend, TransformationHandler(), PlainNumberer());
  DecompositionOptions options;
  options.parts = 2;
  options.cut = "rcb";
  const Decomposition decomposition(model, make_partition(model, options));
  const auto is_explicit = [&](const std::string& form) {
    options.schur = form;
    return SubstructuredSystem(*backend, PartMatrices::at_rest(decomposition), options).is_explicit();
  };
  EXPECT_FALSE(is_explicit("implicit"));
  EXPECT_TRUE(is_explicit("explicit"));
  // Two halves of a plate share few unknowns, so the dense blocks are smaller than matrices and factors.
  EXPECT_TRUE(is_explicit("auto"));
  EXPECT_THROW(DecompositionOptions::parse("schur=dense", {"schur"}, "here"), Error);
}

TEST(DenseBlocks, WrongOnesAreRefused) {
  const auto backend = Backend::open("debug:2");
  auto& service = backend->service<DenseBlockServices>();
  const auto layout = plain_layout(*backend, 4, true);
  const auto make = [&](std::vector<std::int32_t> equations, std::size_t numbers, const auto& where) {
    const std::vector<DenseBlock> blocks{{std::move(equations), std::vector<double>(numbers, 1.0)}};
    return service.make_block_sum(*backend, where, blocks);
  };
  EXPECT_THROW(make({0, 1}, 3, layout), Error);
  EXPECT_THROW(make({0, 4}, 4, layout), Error);
  EXPECT_THROW(make({1, 1}, 4, layout), Error);
  EXPECT_THROW(make({0, 3}, 4, plain_layout(*backend, 4, false)), Error) << "equation 3 is no ghost of device 0";
  const auto sum = make({3, 0}, 4, layout);
  Vector x(layout), y(layout);
  x.from_host(std::vector<double>{1, 10, 100, 1000});
  sum->apply(x, y);
  EXPECT_EQ(y.to_host(), (std::vector<double>{1001, 0, 0, 1001}));
}

}  // namespace
}  // namespace voussoir
