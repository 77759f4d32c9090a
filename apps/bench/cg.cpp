#include <fmt/core.h>

#include <algorithm>

#include <voussoir/apps/bench/workloads.hpp>
#include <voussoir/apps/terminal/terminal.hpp>
#include <voussoir/framework/analysis/integrator.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/solvers/cg_solver.hpp>
#include <voussoir/solvers/preconditioners/jacobi.hpp>
#include <voussoir/solvers/soe/element_soe.hpp>
#include <voussoir/solvers/soe/sparse_soe.hpp>

// Conjugate gradients: the time of an iteration, and whole solves.

namespace voussoir::app {
namespace {

/// Model H with something that acts on the face across from the clamped one.
std::unique_ptr<Domain> loaded_model(int size) {
  auto domain = make_model_h(size);
  domain->add_load_case("end").traction("xmax", {0, 0, -1e6});
  return domain;
}

/// A system with its right-hand side, ready to be solved.
template <class Soe>
struct System {
  Soe soe;
  AnalysisState state;

  explicit System(const AnalysisModel& model) {
    soe.set_model(model);
    state.case_factors = {1.0};
    StaticIntegrator integrator;
    integrator.begin_step(model, state);
    integrator.form_tangent(model, state, soe);
    integrator.form_unbalance(model, state, soe.b());
  }
};

CgRequest fixed_iterations(int count) {
  CgRequest request;
  request.relative_tolerance = 0;
  request.max_iterations = count;
  request.keep_history = false;
  return request;
}

std::vector<double> solution_after(LinearSOE& soe, const Operator* preconditioner, int iterations) {
  Backend& backend = soe.model().backend();
  backend.fill(soe.x(), 0.0);
  backend.cg(soe.matrix(), preconditioner, soe.b(), soe.x(), fixed_iterations(iterations));
  return soe.x().to_host();
}

/// Rounding is fed back into all that follows, so that many iterations cannot be compared closely.
constexpr int compared_iterations = 10;
/// As many as a solve takes at least, since a solve also begins, records its iterations and ends: few unknowns need
/// more of them to tell what an iteration costs.
int timed_iterations(double equations) { return equations < 1e5 ? 300 : 100; }

/// Ten iterations of the CPU backend on the same system.
template <class SomePreconditioner>
std::vector<double> reference_solution(const Domain& domain) {
  const auto backend = Backend::open("openmp");
  const AnalysisModel model(domain, backend, TransformationHandler(), PlainNumberer());
  System<BsrSOE> system(model);
  SomePreconditioner preconditioner;
  preconditioner.set_up(system.soe);
  return solution_after(system.soe, preconditioner.inverse(), compared_iterations);
}

/// What an iteration moves beside the product: q, r, the inverse diagonal read and r, z written; then x, p, z read and
/// x, p written. (Single numbers on the diagonal may as well be read twice instead of z.)
double vector_passes(double vector_bytes, double diagonal_bytes) { return 9 * vector_bytes + diagonal_bytes; }

template <class Soe, class SomePreconditioner>
void iteration_row(BenchRig& rig, BenchModel& model, int size, const std::string& what,
                   const std::vector<double>& expected, double target) {
  rig.row(what, [&](BenchRow& row) {
    System<Soe> system(model.analysis_model());
    LinearSOE& soe = system.soe;
    SomePreconditioner preconditioner;
    preconditioner.set_up(soe);
    row.difference = relative_difference(solution_after(soe, preconditioner.inverse(), compared_iterations), expected);
    row.tolerance = 1e-10;
    Backend& backend = model.backend();
    int done = 0;
    const double seconds = rig.measure(backend, [&] {
      backend.fill(soe.x(), 0.0);
      done = backend
                 .cg(soe.matrix(), preconditioner.inverse(), soe.b(), soe.x(),
                     fixed_iterations(timed_iterations(model.equations())))
                 .iterations;
    });
    row.seconds = seconds / std::max(done, 1);
    row.note = fmt::format("{} iterations", done);
    const double diagonal = std::is_same_v<SomePreconditioner, JacobiPreconditioner> ? 1 : model.components();
    const double others = vector_passes(model.vector_bytes(), diagonal * model.vector_bytes());
    const bool stored = soe.sparse_matrix() != nullptr;
    const double product = stored ? rig.floor(stored_product_bytes(model_h_blocks(size), 3, model.equations(), 1))
                                  : rig.floor(model.geometry_bytes() + 2 * model.vector_bytes(),
                                              flops_per_point * model.program().points() * model.elements());
    row.floor = product + rig.floor(others);
    row.target = target;
  });
}

/// A whole analysis: pattern, integration, assembly, preconditioner, iterations to 1e-8.
template <class Soe>
void solve_row(BenchRig& rig, const Domain& domain, const std::string& what) {
  rig.row(what, [&](BenchRow& row) {
    const auto backend = rig.open();  // a fresh one tells the memory that a solve takes
    const Stopwatch upload;
    const AnalysisModel model(domain, backend, TransformationHandler(), PlainNumberer());
    backend->wait();
    const double uploaded = upload.seconds();
    const Stopwatch forming;
    System<Soe> system(model);
    backend->wait();
    const double formed = forming.seconds();
    CgSolver solver(std::make_shared<BlockJacobiPreconditioner>());
    const Stopwatch solving;
    const SolveReport report = solver.solve(system.soe);
    row.seconds = solving.seconds();
    row.difference = report.converged ? report.true_residual : 1;
    row.tolerance = 1.1e-8;
    row.note = fmt::format("{} iterations, {}/iteration; numbering and upload {}, forming {}; peak memory {}",
                           report.iterations, readable_time(row.seconds / std::max(report.iterations, 1)),
                           readable_time(uploaded), readable_time(formed),
                           readable_bytes(static_cast<double>(backend->bytes_peak())));
    row.figures = {{"iterations", report.iterations},
                   {"upload_seconds", uploaded},
                   {"forming_seconds", formed},
                   {"peak_bytes", static_cast<double>(backend->bytes_peak())},
                   {"matrix_bytes", static_cast<double>(system.soe.matrix().bytes())}};
  });
}

}  // namespace

void bench_cg(BenchRig& rig) {
  const int large = rig.setup().size;
  {
    BenchModel model(rig.open(), loaded_model(large));
    rig.table().begin("cg", model.describe());
    const auto jacobi = reference_solution<JacobiPreconditioner>(model.domain());
    const auto block_jacobi = reference_solution<BlockJacobiPreconditioner>(model.domain());
    iteration_row<BsrSOE, JacobiPreconditioner>(rig, model, large, "iteration, blocks of 3 × 3, Jacobi", jacobi,
                                                rig.target(0.36e-3));
    iteration_row<BsrSOE, BlockJacobiPreconditioner>(rig, model, large, "iteration, blocks of 3 × 3, block Jacobi",
                                                     block_jacobi, 0);
    iteration_row<MatrixFreeSOE, JacobiPreconditioner>(rig, model, large, "iteration, nothing stored, Jacobi", jacobi,
                                                       rig.target(0.15e-3));
    iteration_row<MatrixFreeSOE, BlockJacobiPreconditioner>(rig, model, large,
                                                            "iteration, nothing stored, block Jacobi", block_jacobi, 0);
  }
  {
    const int small = std::min(14, large);
    BenchModel model(rig.open(), loaded_model(small));
    const auto jacobi = reference_solution<JacobiPreconditioner>(model.domain());
    const std::string size = fmt::format("{:.1f} k unknowns", model.equations() * 1e-3);
    iteration_row<BsrSOE, JacobiPreconditioner>(rig, model, small, "iteration, " + size + ", blocks, Jacobi", jacobi,
                                                rig.target(10e-6));
    iteration_row<MatrixFreeSOE, JacobiPreconditioner>(
        rig, model, small, "iteration, " + size + ", nothing stored, Jacobi", jacobi, rig.target(10e-6));
  }
  if (rig.setup().quick) return;
  const auto domain = loaded_model(rig.setup().size);
  solve_row<BsrSOE>(rig, *domain, "solve to 1e-8, blocks, block Jacobi");
  solve_row<MatrixFreeSOE>(rig, *domain, "solve to 1e-8, nothing stored, block Jacobi");
}

}  // namespace voussoir::app
