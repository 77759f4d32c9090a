#include <fmt/core.h>

#include <algorithm>

#include <voussoir/apps/bench/divided_system.hpp>
#include <voussoir/apps/bench/paper_table.hpp>
#include <voussoir/apps/terminal/terminal.hpp>
#include <voussoir/solvers/cg_solver.hpp>
#include <voussoir/solvers/preconditioners/jacobi.hpp>
#include <voussoir/solvers/soe/sparse_soe.hpp>

// Table 5 of FEStudio's paper: CG on several GPUs, for four matrices of a public collection. Ours are generated with
// about as many equations and entries per row.

namespace voussoir::app {
namespace {

/// The numbers of devices of the table.
constexpr std::array<int, 5> published_devices{1, 2, 4, 6, 8};

struct PublishedMatrix {
  std::string name;
  std::string type;           // of our elements, for as many entries per row
  std::array<int, 3> cells;   // for as many equations
  double core;                // their seconds on a CPU
  std::array<double, 5> gpu;  // and on so many devices
};

/// The specifications to compare; a backend that always has one device stands for itself.
std::vector<std::string> compared_backends(const std::string& backend) {
  try {
    return device_lists(backend, published_devices);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unavailable) throw;
    return {backend};
  }
}

struct DeviceSolve {
  double seconds = 0;  // set-up of the preconditioner and iterations
  int iterations = 0;
};

/// CG with Jacobi to 1e-8, after a solve that warms up.
DeviceSolve solve_by_cg(DividedSystem& system, const std::string& what) {
  DeviceSolve result;
  SolveReport report;
  const auto run = [&] {
    system.backend->fill(system.soe->x(), 0.0);
    report = CgSolver(std::make_shared<JacobiPreconditioner>()).solve(*system.soe);
  };
  run();
  result.seconds = system.backend->time(run);
  result.iterations = report.iterations;
  if (!report.converged) throw Error(ErrorCode::internal, what + ": CG did not converge: " + report.reason);
  require_alike(report.true_residual, 1.1e-8, what);
  return result;
}

/// Seconds of an iteration on one core.
double core_iteration(const BenchRig& rig, const Domain& domain) {
  constexpr int sample = 10;
  DividedSystem system(rig, domain, "openmp:1", std::make_unique<BsrSOE>());
  JacobiPreconditioner jacobi;
  jacobi.set_up(*system.soe);
  CgRequest request;
  request.relative_tolerance = 0;
  request.max_iterations = sample;
  request.keep_history = false;
  int done = 0;
  const double seconds = system.backend->time([&] {
    system.backend->fill(system.soe->x(), 0.0);
    done = system.backend->cg(system.soe->matrix(), jacobi.inverse(), system.soe->b(), system.soe->x(), request)
               .iterations;
  });
  return seconds / std::max(done, 1);
}

void matrix_lines(BenchRig& rig, const PublishedMatrix& theirs, PaperTable& table) {
  const auto domain = make_box(theirs.type, Scale(rig)(theirs.cells, false));
  domain->add_load_case("end").traction("xmax", {0, 0, -1e6});
  double one = 0;
  std::string size;
  int iterations = 0;
  for (const std::string& spec : compared_backends(rig.setup().backend)) {
    DividedSystem system(rig, *domain, spec, std::make_unique<BsrSOE>());
    const auto devices = static_cast<int>(system.distribution.devices.size());
    const DeviceSolve ours = solve_by_cg(system, theirs.name + " on " + spec);
    if (devices == 1) {
      one = ours.seconds;
      iterations = ours.iterations;
      const HostMatrix matrix = system.soe->sparse_matrix()->to_host();
      const auto entries = static_cast<std::int64_t>(matrix.column.size()) * matrix.block_size * matrix.block_size;
      size = fmt::format("{} (ours {} / {})", theirs.name, system.model->equation_count(), entries);
    }
    const auto* place = std::find(published_devices.begin(), published_devices.end(), devices);
    const double known = place == published_devices.end() ? 0 : theirs.gpu[place - published_devices.begin()];
    table.add({size, fmt::format("{}", devices), known, ours.seconds, ours.iterations,
               ours.seconds / std::max(ours.iterations, 1),
               readable_bytes(static_cast<double>(system.distribution.bytes_per_product)),
               fmt::format("{:.2f}×", one / ours.seconds)});
  }
  const double core = core_iteration(rig, *domain);
  table.add({size, "one core", theirs.core, core * iterations, iterations, core, "–",
             fmt::format("{:.2f}×", one / (core * iterations))});
}

}  // namespace

void paper_table_five(BenchRig& rig) {
  PaperTable table("devices", "Table 5: CG on several devices",
                   {"matrix", "devices", "theirs", "ours", "iterations", "ours, iteration", "halo per product",
                    "speed-up over one device"});
  const std::string hex = "solid.hex8.full";
  for (const PublishedMatrix& theirs : std::vector<PublishedMatrix>{
           {"Flan_1565, 1 564 794 / 117 406 044", hex, {400, 100, 12}, 1675.5, {144.6, 101.4, 77.9, 83.5, 95.5}},
           {"audikw_1, 943 695 / 77 651 847", "solid.tet10", {34, 33, 33}, 846.5, {85.3, 66.4, 57.1, 65.7, 78.9}},
           {"Emilia_923, 923 136 / 41 005 206", "solid.tet4", {67, 67, 66}, 706.5, {94.7, 78.6, 74.1, 86.3, 107.7}},
           {"inline_1, 503 712 / 36 816 342", hex, {240, 69, 9}, 1537, {166.3, 163.9, 169.0, 220.3, 279.1}}})
    matrix_lines(rig, theirs, table);
  table.put(
      rig,
      "Theirs: Tesla M2090; equations / entries of the matrices. Ours: stiffness matrices of clamped boxes of "
      "elements of steel with about as many equations and entries, as generated by this program, in 3 × 3 blocks; "
      "CG with Jacobi to 1e-8 (true residual checked), including the set-up of the preconditioner. Their "
      "preconditioner is an approximate inverse, and their tolerance is not known: compare the columns by the "
      "number of devices, not with each other. Devices on one GPU or CPU are logical ones, which work one after "
      "the other. One core is timed for ten iterations and scaled to all of them.");
}

}  // namespace voussoir::app
