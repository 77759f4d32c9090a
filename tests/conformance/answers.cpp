#include "answers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include <voussoir/framework/analysis/integrator.hpp>
#include <voussoir/solvers/cg_solver.hpp>
#include <voussoir/solvers/preconditioners/chebyshev.hpp>
#include <voussoir/solvers/preconditioners/fsai.hpp>
#include <voussoir/solvers/preconditioners/jacobi.hpp>
#include <voussoir/solvers/static_problem.hpp>

#include "support/registered_names.hpp"

namespace voussoir::conformance {
namespace {

/// Numbers between −1 and 1 that look random and are the same everywhere.
std::vector<double> rough(std::size_t count, std::uint64_t seed) {
  std::vector<double> values(count);
  std::uint64_t state = seed;
  for (double& v : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    v = static_cast<double>(state >> 11) / 4503599627370496.0 - 1.0;
  }
  return values;
}

/// Adds row lengths, columns and values of a matrix, blocks and all.
void take_matrix(const std::string& name, const HostMatrix& m, Answers& a) {
  a.numbers[name + " rows"].assign(m.row_start.begin(), m.row_start.end());
  a.numbers[name + " columns"].assign(m.column.begin(), m.column.end());
  a.numbers[name + " values"] = m.value;
}

/// Products with one vector and with a block of five, more than any backend takes at once, zero where equations are not
/// free: what storages keep there is their own affair.
void take_products(const std::string& name, const AnalysisModel& model, const Operator& matrix, Answers& a) {
  const auto n = static_cast<std::size_t>(model.equation_count());
  Vector x = model.make_vector(), y = model.make_vector();
  x.from_host(rough(n, 11));
  model.backend().clear_constrained(model.device_model(), x);
  matrix.apply(x, y);
  a.numbers[name + " x"] = y.to_host();
  a.numbers[name + " x·Ax"] = {matrix.apply_dot(x, y)};
  Vector xs = model.make_vector(5), ys = model.make_vector(5);
  std::vector<double> five = rough(5 * n, 12);
  for (std::size_t i = 0; i < five.size(); ++i)
    if (!model.is_free(static_cast<std::int32_t>(i / 5))) five[i] = 0;
  xs.from_host(five);
  matrix.apply(xs, ys);
  a.numbers[name + " X"] = ys.to_host();
  a.numbers[name + " X·AX"] = {matrix.apply_dot(xs, ys)};
}

void take_block_diagonal(const std::string& name, const BlockDiagonal& diagonal, Answers& a) {
  auto& all = a.numbers[name];
  for (auto& part : diagonal.blocks) {
    const auto values = part.read_host();
    all.insert(all.end(), values.begin(), values.end());
  }
}

constexpr std::pair<const char*, ElementProduct> element_forms[] = {{"gather", ElementProduct::gather},
                                                                    {"scatter", ElementProduct::scatter},
                                                                    {"points", ElementProduct::points},
                                                                    {"matrix-free", ElementProduct::matrix_free}};

struct Case {
  AnalysisModel model;
  std::vector<double> factors;  // of load cases
  std::vector<double> batch_factors;

  Case(const Domain& domain, const std::shared_ptr<Backend>& backend)
      : model(domain, backend, TransformationHandler(), PlainNumberer()), factors(domain.load_case_count(), 1.0) {
    for (std::size_t i = 0; i < factors.size(); ++i) factors[i] += 0.25 * static_cast<double>(i);
    batch_factors = model.batch_factors(factors);
  }
};

}  // namespace

Answers element_products(const Domain& domain, const std::shared_ptr<Backend>& backend) {
  Answers a;
  const Case c(domain, backend);
  MatrixTerms terms;
  terms.batch_factors = c.batch_factors;
  for (const auto& [name, product] : element_forms) {
    const auto elements = backend->make_element_operator(c.model.device_model(), product);
    backend->assemble(c.model.device_model(), nullptr, terms, *elements);
    take_products(name, c.model, *elements, a);
  }
  return a;
}

Answers services(const Domain& domain, const std::shared_ptr<Backend>& backend, bool blocks, double largest) {
  Answers a;
  Case c(domain, backend);
  const AnalysisModel& model = c.model;
  const DeviceModel& device = model.device_model();
  const auto n = static_cast<std::size_t>(model.equation_count());
  Vector u = model.make_vector();
  std::vector<double> displacements = rough(n, 5);
  for (double& v : displacements) v *= largest;
  u.from_host(displacements);
  if (model.is_thermal()) {
    auto t = rough(n, 6);
    for (double& v : t) v = 200 + 150 * v;
    u.from_host(t);
  }
  ElementState state(u);
  state.temperature = model.is_thermal() ? model.temperatures_from(u) : model.temperatures(c.factors);

  MatrixTerms stiffness;
  stiffness.batch_factors = c.batch_factors;
  MatrixTerms mixture = stiffness;  // as implicit dynamics would ask for
  mixture.stiffness = 0.5;
  mixture.mass = 1000;
  MatrixTerms lumped;
  lumped.stiffness = 0;
  lumped.mass = 1;
  lumped.mass_kind = MassKind::lumped;
  lumped.batch_factors = c.batch_factors;

  auto csr = backend->make_matrix(device, 1);
  backend->assemble(device, state, mixture, *csr);
  take_matrix("K + M", csr->to_host(), a);
  backend->assemble(device, state, lumped, *csr);
  take_matrix("lumped M", csr->to_host(), a);
  backend->assemble(device, state, stiffness, *csr);
  take_matrix("K", csr->to_host(), a);
  take_products("csr", model, *csr, a);
  take_block_diagonal("csr diagonal", backend->block_diagonal(*csr, 1), a);
  if (blocks) {
    const int size = device.uniform_components();
    auto bsr = backend->make_matrix(device, size);
    backend->assemble(device, state, stiffness, *bsr);
    take_matrix("K in blocks", bsr->to_host(), a);
    take_products("bsr", model, *bsr, a);
    take_block_diagonal("bsr diagonal", backend->block_diagonal(*bsr, size), a);
  }
  for (const auto& [name, product] : element_forms) {
    auto elements = backend->make_element_operator(device, product);
    backend->assemble(device, state, stiffness, *elements);
    take_products(name, model, *elements, a);
    take_block_diagonal(std::string(name) + " diagonal", backend->block_diagonal(device, *elements, 1), a);
    if (blocks) {
      const int size = device.uniform_components();
      take_block_diagonal(std::string(name) + " block diagonal", backend->block_diagonal(device, *elements, size), a);
    }
  }

  for (const bool through : {false, true}) {
    Vector r = model.make_vector();
    backend->fill(r, 0.25);
    backend->residual(device, state, c.batch_factors, through, r);
    a.numbers[through ? "residual through equations" : "residual"] = r.to_host();
  }
  Vector f = model.make_vector();
  backend->fill(f, 0);
  model.add_loads(c.factors, state, f);
  a.numbers["loads"] = f.to_host();
  backend->expand_dependencies(device, f);
  a.numbers["expanded"] = f.to_host();
  f.from_host(rough(n, 8));
  backend->reduce_dependencies(device, f);
  a.numbers["reduced"] = f.to_host();
  backend->clear_constrained(device, f);
  a.numbers["cleared"] = f.to_host();

  for (std::size_t b = 0; b < model.batches().size(); ++b) {
    if (model.batches()[b].kind != BatchOrigin::Kind::block) continue;
    const ElementBlock& block = domain.block(model.batches()[b].block);
    const auto names = block.type().program().recovered_names();
    if (names.empty()) continue;
    const auto values = backend->recover(device, static_cast<int>(b), state);
    EXPECT_EQ(values.size(), static_cast<std::size_t>(block.size()) * block.type().program().points() * names.size());
    // Name by name: strains would drown in the rounding of stresses.
    for (std::size_t i = 0; i < values.size(); ++i)
      a.numbers[block.name() + ": " + names[i % names.size()]].push_back(values[i]);
  }
  return a;
}

Answers solutions(const Domain& domain, const std::shared_ptr<Backend>& backend, bool blocks, Solves which) {
  Answers a;
  Case c(domain, backend);
  StaticIntegrator integrator;
  AnalysisState state;
  state.case_factors = c.factors;
  integrator.begin_step(c.model, state);

  const auto solve = [&](const std::string& storage, std::shared_ptr<Preconditioner> preconditioner) {
    auto soe = make_soe(storage);
    soe->set_model(c.model);
    integrator.form_tangent(c.model, state, *soe);
    integrator.form_unbalance(c.model, state, soe->b());
    CgSolver solver(std::move(preconditioner), {1e-10, 20000});
    const SolveReport report = solver.solve(*soe);
    const std::string name = solver.name() + " on " + storage;
    EXPECT_TRUE(report.converged) << name << ": " << report.reason;
    EXPECT_LE(report.true_residual, 1.1e-10) << name;
    a.numbers[name] = soe->x().to_host();
    a.iterations[name] = report.iterations;
  };
  const std::string stored = blocks ? "bsr" : "csr";
  solve(stored, std::make_shared<BlockJacobiPreconditioner>());
  if (which == Solves::one) return a;
  solve("matrix-free", std::make_shared<BlockJacobiPreconditioner>());
  if (which == Solves::two) return a;
  solve(stored, std::make_shared<JacobiPreconditioner>());
  solve(stored, std::make_shared<BlockJacobiPreconditioner>(Precision::single));
  solve(stored, std::make_shared<FsaiPreconditioner>());
  if (which == Solves::ill_conditioned) return a;
  for (const std::string& storage : test::general_storages())
    if (!storages().find(storage).stores_matrix && storage != "matrix-free")
      solve(storage, std::make_shared<BlockJacobiPreconditioner>());
  for (const std::string& name : test::built_in(preconditioners()))
    if (name != "jacobi" && name != "block-jacobi" && name != "fsai" && name != "amg")  // above, and multigrid_test.cpp
      solve(stored, preconditioners().find(name).make(""));
  solve("matrix-free", std::make_shared<ChebyshevPreconditioner>());
  return a;
}

Answers analysis(const Domain& domain, const std::shared_ptr<Backend>& backend) {
  Answers a;
  StaticOptions options;
  options.solver = "direct";
  // The same iteration on every backend: `auto` takes the full tangent where it is computed natively, and iterations
  // that converge in different ways end at answers that differ within their tolerance.
  options.tangent = "symmetric";
  const auto results = make_static_analysis(domain, backend, options)->run();
  const StepResult& r = results.at(0);
  // Unknown by unknown: rotations are smaller than displacements. NaN stands where there is no such value.
  const auto take = [&](const NodalField& field) {
    for (std::size_t i = 0; i < field.values.size(); ++i)
      a.numbers[field.name + " " + field.components[i % field.components.size()]].push_back(
          std::isnan(field.values[i]) ? 1e-3 : field.values[i]);
  };
  take(r.unknowns);
  take(r.reactions);
  a.numbers["energy"] = {r.energy};
  a.numbers["load sum"] = r.load_sum;
  // Components of one quantity together: one that is zero by symmetry is all rounding.
  const auto quantity = [](std::string name) {
    while (!name.empty() && name.back() >= 'x' && name.back() <= 'z') name.pop_back();
    return name;
  };
  for (const PointField& field : r.points)
    for (std::size_t i = 0; i < field.values.size(); ++i)
      a.numbers["block " + std::to_string(field.block) + ": " + quantity(field.names[i % field.names.size()])]
          .push_back(field.values[i]);
  return a;
}

void expect_alike(const Answers& answers, const Answers& reference, double tolerance) {
  EXPECT_EQ(answers.numbers.size(), reference.numbers.size());
  for (const auto& [name, expected] : reference.numbers) {
    const auto it = answers.numbers.find(name);
    ASSERT_NE(it, answers.numbers.end()) << name;
    ASSERT_EQ(it->second.size(), expected.size()) << name;
    double largest = 0, worst = 0;
    std::size_t where = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      largest = std::max(largest, std::abs(expected[i]));
      const double off = std::abs(it->second[i] - expected[i]);
      if (!(off <= worst)) {
        worst = off;
        where = i;
      }
    }
    EXPECT_LE(worst, tolerance * largest)
        << name << ", number " << where << ": " << it->second[where] << " for " << expected[where];
  }
  for (const auto& [name, count] : reference.iterations)
    EXPECT_NEAR(answers.iterations.at(name), count, std::max(2, count / 25)) << name;
}

void expect_same_bits(const Answers& answers, const Answers& reference) {
  EXPECT_EQ(answers.numbers.size(), reference.numbers.size());
  for (const auto& [name, expected] : reference.numbers) {
    const auto it = answers.numbers.find(name);
    ASSERT_NE(it, answers.numbers.end()) << name;
    ASSERT_EQ(it->second.size(), expected.size()) << name;
    if (expected.empty()) continue;
    EXPECT_EQ(std::memcmp(it->second.data(), expected.data(), expected.size() * sizeof(double)), 0) << name;
  }
  EXPECT_EQ(answers.iterations, reference.iterations);
}

}  // namespace voussoir::conformance
