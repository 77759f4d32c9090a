// The kit of domain decomposition: maps, interface classes, part matrices, Schur complements, coarse spaces.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/partition/coarse_space.hpp>
#include <voussoir/partition/domain_partitioner.hpp>
#include <voussoir/partition/schur_complement.hpp>
#include <voussoir/solvers/direct/factorization.hpp>
#include <voussoir/solvers/direct/host_system.hpp>

#include "support/expect_error.hpp"
#include "support/random_model.hpp"

namespace voussoir {
namespace {

using testing::expect_error;
using testing::RandomModel;

void add_cube(Domain& domain, int cells, const char* type = "solid.hex8") {
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = {cells, cells, cells};
  add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1000.0, 0.3, 2.0));
}

Partition bisected(const Domain& domain, int parts) {
  return DomainPartitioner(domain).cut_equations().partition(CoordinateBisection(), parts);
}

struct Numbered {
  explicit Numbered(const Domain& domain, const char* backend = "openmp:2")
      : model(domain, Backend::open(backend), TransformationHandler(), PlainNumberer()) {}
  AnalysisModel model;
};

/// The matrix as the backend assembles it.
SymmetricCsr from_backend(const AnalysisModel& model, const Decomposition& decomposition) {
  std::vector<std::int32_t> place;
  for (std::int32_t e = 0; e < model.equation_count(); ++e) place.push_back(decomposition.unknown(e));
  const auto matrix = model.backend().make_matrix(model.device_model(), 1);
  const std::vector<double> factors = model.batch_factors(std::vector<double>(model.domain().load_case_count(), 1.0));
  MatrixTerms terms;
  terms.batch_factors = factors;
  model.backend().assemble(model.device_model(), ElementState(), terms, *matrix);
  return upper_triangle(matrix->to_host(), place);
}

std::vector<double> numbers(std::size_t count, double seed) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = std::sin(seed + 1.7 * static_cast<double>(i * i % 97));
  return values;
}

TEST(Decomposition, ACubeInEightHasTwelveFacesSixEdgesAndACorner) {
  Domain domain;
  add_cube(domain, 4);
  Numbered numbered(domain);
  const Decomposition decomposition(numbered.model, bisected(domain, 8));
  std::map<InterfaceKind, int> count;
  std::map<InterfaceKind, std::size_t> nodes;
  std::size_t unknowns = 0;
  for (const InterfaceClass& one : interface_classes(decomposition)) {
    ++count[one.kind];
    nodes[one.kind] += one.nodes.size();
    unknowns += one.unknowns.size();
    EXPECT_EQ(one.parts.size(), one.kind == InterfaceKind::face ? 2u : one.kind == InterfaceKind::edge ? 4u : 8u);
  }
  EXPECT_EQ(count[InterfaceKind::face], 12);
  EXPECT_EQ(count[InterfaceKind::edge], 6);
  EXPECT_EQ(count[InterfaceKind::corner], 1);
  EXPECT_EQ(nodes[InterfaceKind::face], 12u * 4);
  EXPECT_EQ(nodes[InterfaceKind::edge], 6u * 2);
  EXPECT_EQ(unknowns, decomposition.interface().size());
  EXPECT_EQ(unknowns, 3u * (125 - 64)) << "all nodes but the eight cubes of 2 × 2 × 2 that no other part has";
}

TEST(Decomposition, MapsAreConsistent) {
  Domain domain;
  add_cube(domain, 3);
  domain.prescribe("xmin", "all");
  Numbered numbered(domain, "debug:2");
  const Decomposition decomposition(numbered.model, bisected(domain, 5));
  EXPECT_EQ(decomposition.size(), numbered.model.free_equation_count());
  std::vector<int> times(static_cast<std::size_t>(decomposition.size()), 0);
  for (int p = 0; p < 5; ++p) {
    EXPECT_EQ(decomposition.interior(p).size() + decomposition.boundary(p).size(), decomposition.unknowns(p).size());
    for (const std::int32_t u : decomposition.unknowns(p)) ++times[static_cast<std::size_t>(u)];
    const auto boundary = decomposition.boundary(p), places = decomposition.interface_places(p);
    for (std::size_t i = 0; i < boundary.size(); ++i)
      EXPECT_EQ(decomposition.unknowns(p)[static_cast<std::size_t>(boundary[i])],
                decomposition.interface()[static_cast<std::size_t>(places[i])]);
  }
  for (std::int32_t u = 0; u < decomposition.size(); ++u)
    EXPECT_EQ(static_cast<std::size_t>(times[static_cast<std::size_t>(u)]), decomposition.parts_of(u).size());
  const PartMatrices matrices = PartMatrices::at_rest(decomposition);
  // Weights of every kind are a partition of unity.
  for (const Weighting kind : {Weighting::owner, Weighting::multiplicity, Weighting::stiffness}) {
    std::vector<double> sum(static_cast<std::size_t>(decomposition.size()), 0.0);
    for (int p = 0; p < 5; ++p) {
      const auto unknowns = decomposition.unknowns(p);
      const PartMap map({unknowns.begin(), unknowns.end()}, part_weights(decomposition, p, kind, &matrices));
      map.extend_weighted(std::vector<double>(unknowns.size(), 1.0), sum);
    }
    for (const double s : sum) EXPECT_NEAR(s, 1.0, 1e-14);
  }
}

// Rigid bodies, oblique supports and equations across all interfaces: the sum of the parts is the matrix.
TEST(PartMatrices, AddUpToTheMatrixOfTheModelWhateverTheConstraints) {
  int solvable = 0;
  for (std::uint32_t seed = 1; seed <= 12; ++seed)
    for (const char* backend : {"openmp:2", "debug:2"}) {
      Domain domain;
      SCOPED_TRACE(RandomModel(seed).build(domain) + " on " + backend);
      std::unique_ptr<Numbered> made;
      try {
        made = std::make_unique<Numbered>(domain, backend);
      } catch (const Error& error) {  // some of them contradict themselves
        ASSERT_EQ(error.code(), ErrorCode::bad_input) << error.what();
        continue;
      }
      ++solvable;
      const Numbered& numbered = *made;
      const int parts = static_cast<int>(std::min<std::int64_t>(6, domain.element_count()));
      const Decomposition decomposition(numbered.model, bisected(domain, parts));
      const SymmetricCsr sum = PartMatrices::at_rest(decomposition).assembled();
      const SymmetricCsr whole = from_backend(numbered.model, decomposition);
      ASSERT_EQ(sum.n, whole.n);
      const std::vector<double> x = numbers(static_cast<std::size_t>(sum.n), 0.3);
      std::vector<double> a(x.size()), b(x.size());
      multiply(sum, x, a);
      multiply(whole, x, b);
      double apart = 0, largest = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        apart = std::max(apart, std::abs(a[i] - b[i]));
        largest = std::max(largest, std::abs(b[i]));
      }
      EXPECT_LT(apart, 1e-11 * largest);
    }
  EXPECT_GT(solvable, 12);
}

TEST(PartMatrices, FloatingPartsHaveTheirRigidMotionsInTheNullSpace) {
  Domain domain;
  add_cube(domain, 4);
  domain.prescribe("xmin", "all");
  Numbered numbered(domain);
  const Decomposition decomposition(numbered.model, bisected(domain, 2));
  const PartMatrices matrices = PartMatrices::at_rest(decomposition);
  // The first bisection is across x, and the part with the clamp is held.
  const auto residual = [&](int p) {
    std::vector<std::int32_t> equations;
    for (const std::int32_t u : decomposition.unknowns(p))
      equations.push_back(decomposition.equations()[static_cast<std::size_t>(u)]);
    double largest = 0;
    for (const auto& motion : rigid_motions(numbered.model, equations)) {
      std::vector<double> force(motion.size());
      multiply(matrices.neumann(p), motion, force);
      for (const double f : force) largest = std::max(largest, std::abs(f));
    }
    return largest;
  };
  EXPECT_EQ(rigid_motions(numbered.model, decomposition.equations()).size(), 6u);
  EXPECT_GT(residual(0), 1.0);
  EXPECT_LT(residual(1), 1e-10);
}

TEST(SchurComplement, ImplicitAndExplicitProductsAgreeAndCondensedLoadsGiveTheSolution) {
  Domain domain;
  add_cube(domain, 4);
  domain.prescribe("xmin", "all");
  for (const char* backend : {"openmp:2", "debug:2", "debug:3"}) {
    SCOPED_TRACE(backend);
    Numbered numbered(domain, backend);
    const Decomposition decomposition(numbered.model, bisected(domain, 4));
    const PartMatrices matrices = PartMatrices::at_rest(decomposition);
    Backend& device = numbered.model.backend();
    const SchurComplement schur(device, matrices);
    const auto stored = explicit_schur_complement(device, matrices);
    const std::vector<double> x = numbers(schur.unknowns(), 1.1);
    Vector in(schur.layout()), a(schur.layout()), in2(stored->layout()), b(stored->layout());
    in.from_host(x);
    in2.from_host(x);
    schur.apply(in, a);
    stored->apply(in2, b);
    const auto y = a.to_host(), z = b.to_host();
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], z[i], 1e-9 * 1000);

    const SymmetricCsr whole = matrices.assembled();
    const auto factor = Factorization::make();
    factor->factorise(whole);
    const std::vector<double> f = numbers(static_cast<std::size_t>(whole.n), 0.7);
    std::vector<double> u = f;
    factor->solve(u);
    std::vector<double> on_interface;
    for (const std::int32_t i : decomposition.interface()) on_interface.push_back(u[static_cast<std::size_t>(i)]);
    std::vector<double> product(on_interface.size());
    schur.multiply(on_interface, product);
    const std::vector<double> g = schur.condense(f), back = schur.expand(on_interface, f);
    for (std::size_t i = 0; i < g.size(); ++i) EXPECT_NEAR(product[i], g[i], 1e-10);
    for (std::size_t i = 0; i < u.size(); ++i) EXPECT_NEAR(back[i], u[i], 1e-12);
  }
}

TEST(CoarseSpace, SolvesExactlyInItsSpan) {
  Domain domain;
  add_cube(domain, 4);
  domain.prescribe("xmin", "all");
  Numbered numbered(domain);
  const Decomposition decomposition(numbered.model, bisected(domain, 4));
  const FullRows matrix = full_rows(PartMatrices::at_rest(decomposition).assembled());
  for (const int layers : {0, 1, 2}) {
    std::vector<Overlap> sets;
    for (int p = 0; p < 4; ++p) sets.push_back(with_overlap(matrix, decomposition.unknowns(p), layers));
    const auto unity = partition_of_unity(sets, layers, decomposition.size());
    CoarseSpace coarse = rigid_coarse_space(decomposition, sets, unity);
    EXPECT_EQ(coarse.size(), 24);
    coarse.set_up(matrix);
    // Q A z = z for z in the span: a rigid translation of all parts together is one.
    std::vector<double> z(static_cast<std::size_t>(decomposition.size())), r(z.size(), 0.0), back(z.size(), 0.0);
    for (std::size_t i = 0; i < z.size(); ++i)
      z[i] = numbered.model.place(decomposition.equations()[i]).component == 1 ? 2.5 : 0.0;
    for (std::size_t i = 0; i < z.size(); ++i)
      for (auto k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k)
        r[i] += matrix.value[static_cast<std::size_t>(k)] *
                z[static_cast<std::size_t>(matrix.column[static_cast<std::size_t>(k)])];
    coarse.correct(r, back);
    for (std::size_t i = 0; i < z.size(); ++i) EXPECT_NEAR(back[i], z[i], 1e-10);
  }
  expect_error(ErrorCode::bad_input, {"overlap", "-1"}, [&] { with_overlap(matrix, decomposition.unknowns(0), -1); });
}

TEST(Decomposition, RejectsWhatItCannotDivide) {
  Domain domain, other;
  add_cube(domain, 2);
  add_cube(other, 3);
  domain.prescribe("xmin", "all");
  Numbered numbered(domain);
  expect_error(ErrorCode::misuse, {"another domain"}, [&] { Decomposition(numbered.model, bisected(other, 2)); });
  const AnalysisModel penalty(domain, Backend::open("openmp:2"), PenaltyHandler(), PlainNumberer());
  expect_error(ErrorCode::bad_input, {"penalty", "transformation"},
               [&] { Decomposition(penalty, bisected(domain, 2)); });
}

}  // namespace
}  // namespace voussoir
