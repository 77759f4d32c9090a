// The program of decomposition_method.md: additive Schwarz with a coarse space, written with the kit of `partition`, as
// a preconditioner of one's own; and a Schur complement with an interface solver of one's own. Both are measured beside
// the methods of the library. Fails where an answer is wrong.

#include <voussoir/framework/analysis/integrator.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/partition/coarse_space.hpp>
#include <voussoir/partition/decomposition_options.hpp>
#include <voussoir/partition/decomposition_study.hpp>
#include <voussoir/partition/domain_partitioner.hpp>
#include <voussoir/partition/host_operator.hpp>
#include <voussoir/partition/part_solver.hpp>
#include <voussoir/partition/schur_complement.hpp>
#include <voussoir/solvers/direct/factorization.hpp>
#include <voussoir/solvers/registries.hpp>

#include <cmath>
#include <cstdio>
#include <memory>
#include <numeric>
#include <vector>

using namespace voussoir;

namespace {

// [method] z = Σ R_pᵀ A_p⁻¹ R_p r + Z (ZᵀAZ)⁻¹ Zᵀ r
class MySchwarz final : public HostOperator {
 public:
  MySchwarz(const Decomposition& decomposition, const SymmetricCsr& matrix, int overlap)
      : HostOperator(decomposition.model().device_model().layout(),
                     {decomposition.equations().begin(), decomposition.equations().end()}) {
    const FullRows rows = full_rows(matrix);
    std::vector<Overlap> sets;
    for (int p = 0; p < decomposition.parts(); ++p) {
      sets.push_back(with_overlap(rows, decomposition.unknowns(p), overlap));
      maps_.emplace_back(sets.back().unknowns);
      solvers_.push_back(make_part_solver("direct"));
      solvers_.back()->set_up(submatrix(matrix, sets.back().unknowns), "part " + std::to_string(p),
                              [](std::int64_t i) { return "local unknown " + std::to_string(i); });
    }
    coarse_ = rigid_coarse_space(decomposition, sets, partition_of_unity(sets, overlap, decomposition.size()));
    coarse_.set_up(rows);
  }

  void multiply(std::span<const double> r, std::span<double> z) const override {
    std::fill(z.begin(), z.end(), 0.0);
    for (std::size_t p = 0; p < maps_.size(); ++p) {
      std::vector<double> own(maps_[p].size());
      maps_[p].restrict(r, own);
      solvers_[p]->solve(own);
      maps_[p].extend(own, z);
    }
    coarse_.correct(r, z);
  }
  std::size_t bytes() const override { return coarse_.bytes(); }
  std::string describe() const override { return "my Schwarz, coarse space of " + std::to_string(coarse_.size()); }

 private:
  std::vector<PartMap> maps_;
  std::vector<std::unique_ptr<PartSolver>> solvers_;
  CoarseSpace coarse_;
};

class MyPreconditioner final : public Preconditioner {
 public:
  explicit MyPreconditioner(const std::string& options)
      : options_(DecompositionOptions::parse(options, {"parts", "cut", "overlap"}, "preconditioner 'mine'")) {}
  std::string name() const override { return "mine"; }
  void set_up(const LinearSOE& soe) override {
    decomposition_ = std::make_unique<Decomposition>(soe.model(), make_partition(soe.model(), options_));
    inverse_ =
        std::make_unique<MySchwarz>(*decomposition_, assembled_matrix(soe, *decomposition_, name()), options_.overlap);
  }
  const Operator* inverse() const override { return inverse_.get(); }

 private:
  DecompositionOptions options_;
  std::unique_ptr<Decomposition> decomposition_;
  std::unique_ptr<MySchwarz> inverse_;
};
VSR_REGISTER(preconditioners, "mine", "additive Schwarz of a tutorial",
             PreconditionerFactory{[](const std::string& o) { return std::make_shared<MyPreconditioner>(o); }});
// [method]

/// A plate of 48 × 48 elements, clamped at one side and pulled at the other.
void build(Domain& domain) {
  BoxMesh mesh;
  mesh.type = "plane_stress.quad4";
  mesh.cells = {48, 48, 1};
  add_box_mesh(domain, mesh)
      .set_material(std::make_shared<IsotropicMaterial>("steel", 210e9, 0.3))
      .set_section("thickness", 0.01);
  domain.prescribe("xmin", "all");
  domain.add_load_case("pull").traction("xmax", {1e6, 2e5, 0});
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// Substructuring with an interface solver of one's own; returns the relative error.
double schur_by_hand(const Domain& domain, const std::shared_ptr<Backend>& backend, int& iterations) {
  // [schur] The model, its parts, and the Schur complement of the interface.
  const AnalysisModel model(domain, backend, TransformationHandler(), PlainNumberer());
  const Partition partition = DomainPartitioner(domain).cut_equations().partition(CoordinateBisection(), 4);
  const Decomposition decomposition(model, partition);
  const PartMatrices matrices = PartMatrices::at_rest(decomposition);
  const SchurComplement schur(*backend, matrices);
  std::vector<double> f(static_cast<std::size_t>(decomposition.size()));
  for (std::size_t i = 0; i < f.size(); ++i) f[i] = std::cos(0.1 * static_cast<double>(i));

  // Conjugate gradients, S u = g, without a preconditioner.
  const std::vector<double> g = schur.condense(f);
  std::vector<double> u(g.size(), 0.0), r = g, p = g, q(g.size());
  double rr = product(r, r);
  for (iterations = 0; std::sqrt(rr) > 1e-12 * std::sqrt(product(g, g)) && iterations < 1000; ++iterations) {
    schur.multiply(p, q);
    const double alpha = rr / product(p, q), before = rr;
    for (std::size_t i = 0; i < u.size(); ++i) u[i] += alpha * p[i], r[i] -= alpha * q[i];
    rr = product(r, r);
    for (std::size_t i = 0; i < u.size(); ++i) p[i] = r[i] + rr / before * p[i];
  }
  const std::vector<double> x = schur.expand(u, f);
  // [schur]
  const SymmetricCsr whole = matrices.assembled();
  return relative_residual(whole, x, f);
}

int study() {
  Domain domain;
  build(domain);
  const auto backend = Backend::open("openmp");
  // [study]
  StudyOptions options;
  options.parts = {4, 16, 64};
  options.cuts = {"rcb"};
  options.methods = {"mine", "asm", "asm2", "bddc", "amg"};
  const std::vector<StudyRow> rows = run_study(domain, backend, options);
  std::printf("%s", study_text(rows).c_str());
  study_table(rows).write("decomposition_method.csv", true);
  // [study]
  int wrong = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].converged || !(rows[i].error < 1e-6)) ++wrong, std::printf("%s is wrong\n", rows[i].method.c_str());
    // The same operations as those of the library, so the same iterations.
    if (rows[i].method == "mine" && rows[i].iterations != rows[i + 2].iterations)
      ++wrong, std::printf("mine and asm2 differ\n");
  }
  int iterations = 0;
  const double residual = schur_by_hand(domain, backend, iterations);
  std::printf("\nSchur complement of 4 parts, CG by hand: %d iterations, residual %.1e\n", iterations, residual);
  return residual < 1e-9 ? wrong : wrong + 1;
}

}  // namespace

int main() {
  try {
    return study() == 0 ? 0 : 1;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
