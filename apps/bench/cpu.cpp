#include <voussoir/apps/bench/cpu.hpp>

#include <fmt/core.h>
#include <omp.h>
#include <sys/mman.h>

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/Sparse>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/backends/threads.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/solvers/cg_solver.hpp>
#include <voussoir/solvers/direct/choice.hpp>
#include <voussoir/solvers/preconditioners/jacobi.hpp>
#include <voussoir/solvers/soe/element_soe.hpp>
#include <voussoir/solvers/soe/sparse_soe.hpp>
#include <voussoir/voussoir.hpp>

// The benchmark of the CPU backend. Every row is a ratio of two times taken in the same run: ours against the floor
// (the bytes that must move over the bandwidth that the machine shows for a triad), and ours against a peer.

namespace voussoir::app {
namespace {

/// Median time of some runs after a first one that warms up.
double median_seconds(int runs, const std::function<void()>& work) {
  work();
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) {
    const Stopwatch watch;
    work();
    times.push_back(watch.seconds());
  }
  std::nth_element(times.begin(), times.begin() + runs / 2, times.end());
  return times[runs / 2];
}

}  // namespace

double triad_bandwidth(int threads) {
  const std::int64_t n = 40'000'000;
  std::unique_ptr<double[]> a(new double[n]), b(new double[n]), c(new double[n]);
#pragma omp parallel for num_threads(threads)
  for (std::int64_t i = 0; i < n; ++i) {
    a[i] = 0;
    b[i] = double(i % 7);
    c[i] = 1.5;
  }
  const double seconds = median_seconds(7, [&] {
#pragma omp parallel for num_threads(threads)
    for (std::int64_t i = 0; i < n; ++i) a[i] = b[i] + 3.0 * c[i];
  });
  return 3.0 * sizeof(double) * n / seconds;
}

namespace {

/// Reading alone, best of several ways (one, two and four streams per thread, with and without prefetching far ahead):
/// bytes per second. A product hardly writes, and on some processors reads alone are slower than a triad's mixture.
double read_bandwidth(int threads) {
  const std::int64_t n = 60'000'000;
  constexpr std::size_t huge_page = std::size_t{2} << 20;
  const std::size_t bytes = (n * sizeof(double) + huge_page - 1) / huge_page * huge_page;
  std::unique_ptr<double, decltype(&std::free)> data(static_cast<double*>(std::aligned_alloc(huge_page, bytes)),
                                                     &std::free);
  if (!data) throw Error(ErrorCode::out_of_memory, "out of memory for the array used to measure bandwidth");
  madvise(data.get(), bytes, MADV_HUGEPAGE);
  double* a = data.get();
#pragma omp parallel for num_threads(threads)
  for (std::int64_t i = 0; i < n; ++i) a[i] = 1e-3 * double(i % 11);
  volatile double sink = 0;
  double best = 0;
  for (const int streams : {1, 2, 4})
    for (const std::int64_t ahead : {0, 4096}) {
      const double seconds = median_seconds(5, [&] {
        double total = 0;
#pragma omp parallel num_threads(threads) reduction(+ : total)
        {
          const std::int64_t share = n / threads / streams / 16 * 16;
          const double* mine = a + omp_get_thread_num() * share * streams;
          double sum[16] = {};
          for (std::int64_t i = 0; i < share; i += 16)
            for (int s = 0; s < streams; ++s) {
              const double* p = mine + s * share + i;
              if (ahead) {
                __builtin_prefetch(p + ahead, 0, 1);
                __builtin_prefetch(p + ahead + 8, 0, 1);
              }
              for (int k = 0; k < 16; ++k) sum[k] += p[k];
            }
          for (double v : sum) total += v;
        }
        sink = sink + total;
      });
      best = std::max(best, double(n) * sizeof(double) / seconds);
    }
  return best;
}

/// The cantilever 10 × 1 × 1 m with 10n × n × n plain Hex8, clamped at one end, loaded at the other.
void build_cantilever(Domain& domain, int n) {
  BoxMesh box;
  box.type = "solid.hex8.full";
  box.cells = {10 * n, n, n};
  box.upper = {10, 1, 1};
  add_box_mesh(domain, box).set_material(std::make_shared<IsotropicMaterial>("steel", 210e9, 0.3, 7850));
  domain.prescribe("xmin", "all");
  domain.add_load_case("tip").traction("xmax", {0, 0, -1e6});
}

Eigen::SparseMatrix<double, Eigen::RowMajor> to_eigen(const HostMatrix& m) {
  Eigen::SparseMatrix<double, Eigen::RowMajor> a(m.block_rows(), m.block_rows());
  a.resizeNonZeros(static_cast<Eigen::Index>(m.value.size()));
  for (std::int64_t i = 0; i <= m.block_rows(); ++i) a.outerIndexPtr()[i] = static_cast<int>(m.row_start[i]);
  std::copy(m.column.begin(), m.column.end(), a.innerIndexPtr());
  std::copy(m.value.begin(), m.value.end(), a.valuePtr());
  return a;
}

void row(const std::string& what, const std::string& ours, const std::string& against, double ratio,
         const std::string& wanted, bool met) {
  fmt::print("  {:<46} {:>16} {:>26} {:>8.2f}  {:<10} {}\n", what, ours, against, ratio, wanted,
             met ? "met" : "MISSED");
}

int threads_of(const Backend& backend) {
  const std::string name = backend.name();
  const auto colon = name.find(':');
  return colon == std::string::npos ? default_threads() : std::atoi(name.c_str() + colon + 1);
}

/// Peak memory of a CG solve in a process of its own, as that process reports it: what the kernel tells a parent of its
/// child includes the parent's own size, from before the child became another program.
double peak_of_child(const CpuBench& options, const std::string& storage) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = "'" + program + "' bench --backend " + options.backend + " --memory-size " +
                              std::to_string(options.memory_size) + " --child " + storage;
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) throw Error(ErrorCode::device, "cannot start the process that measures memory");
  double kilobytes = 0;
  const int read = std::fscanf(pipe, "%lf", &kilobytes);
  if (pclose(pipe) != 0 || read != 1) throw Error(ErrorCode::device, "the process that measures memory failed");
  return 1024 * kilobytes;
}

/// A row that nothing is demanded of.
void remark(const std::string& what, double floor_seconds, double ratio) {
  fmt::print("  {:<46} {:>16} {:>26} {:>8.2f}\n", what, "", fmt::format("floor {:.2f} ms", floor_seconds * 1e3), ratio);
}

/// max |a − b| over max |a|
double difference(const std::vector<double>& a, const Eigen::VectorXd& b) {
  double apart = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    apart = std::max(apart, std::abs(a[i] - b[static_cast<Eigen::Index>(i)]));
    size = std::max(size, std::abs(a[i]));
  }
  return apart / size;
}

/// The measurements on one cantilever, stage by stage.
class CpuStages {
 public:
  CpuStages(const CpuBench& options, const std::shared_ptr<Backend>& backend, int threads)
      : options_(options), backend_(backend), threads_(threads) {
    build_cantilever(domain_, options.size);
    model_ = std::make_unique<AnalysisModel>(domain_, backend, TransformationHandler(), PlainNumberer());
    soe_.set_model(*model_);
    state_.case_factors = {1.0};
    integrator_.begin_step(*model_, state_);
  }

  void print_head() const {
    fmt::print("Cantilever n = {}: {} equations, {} Hex8 (2×2×2)\n\n", options_.size, model_->equation_count(),
               domain_.element_count());
    fmt::print("  {:<46} {:>16} {:>26} {:>8}  {:<10}\n", "", "ours", "against", "ratio", "wanted");
  }
  void assembly();
  void products(double triad, double reads);
  void cg_iteration(double triad);
  void solvers();
  void memory() const;

 private:
  struct Solve {
    double seconds;
    int iterations;
    double residual;
    bool converged;
  };
  Solve timed(const std::string& solver);
  double vector_bytes() const { return sizeof(double) * double(model_->equation_count()); }

  const CpuBench& options_;
  std::shared_ptr<Backend> backend_;
  int threads_;
  Domain domain_;
  std::unique_ptr<AnalysisModel> model_;
  BsrSOE soe_;
  StaticIntegrator integrator_;
  AnalysisState state_;
  double all_bytes_ = 0;                                // of a product with all blocks
  Eigen::SparseMatrix<double, Eigen::RowMajor> eigen_;  // the same matrix
};

// Integration and assembly, by one thread and by all.
void CpuStages::assembly() {
  {
    auto one = Backend::open("openmp:1");
    AnalysisModel model_one(domain_, one, TransformationHandler(), PlainNumberer());
    BsrSOE soe_one;
    soe_one.set_model(model_one);
    AnalysisState state_one;
    state_one.case_factors = {1.0};
    integrator_.begin_step(model_one, state_one);
    const double seconds = median_seconds(3, [&] { integrator_.form_tangent(model_one, state_one, soe_one); });
    const double rate = double(domain_.element_count()) / seconds * 1e-6;
    row("integrate + assemble Hex8, one core", fmt::format("{:.3f} M el/s", rate), "0.4 M el/s", rate / 0.4, ">= 1",
        rate >= 0.4);
  }
  const double seconds = median_seconds(3, [&] { integrator_.form_tangent(*model_, state_, soe_); });
  fmt::print("  {:<46} {:>16}\n", fmt::format("integrate + assemble Hex8, {} threads", threads_),
             fmt::format("{:.3f} M el/s", domain_.element_count() / seconds * 1e-6));
}

void CpuStages::products(double triad, double reads) {
  Vector x = model_->make_vector(), y = model_->make_vector();
  std::vector<double> values(model_->equation_count());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(0.37 * double(i));
  x.from_host(values);
  const double spmv = median_seconds(15, [&] { soe_.matrix().apply(x, y); });
  // The floor is that of a matrix with all its blocks: each block, index and vector entry once. Storing half of a
  // symmetric matrix moves less, which is how a product can pass it.
  {
    const HostMatrix all = soe_.sparse_matrix()->to_host();
    all_bytes_ = double(all.value.size()) * sizeof(double) + double(all.column.size()) * sizeof(std::int32_t) +
                 double(all.row_start.size()) * sizeof(std::int64_t) + 2 * vector_bytes();
  }
  const double floor = all_bytes_ / triad;
  row("BSR product against all blocks over triad", fmt::format("{:.2f} ms", spmv * 1e3),
      fmt::format("floor {:.2f} ms", floor * 1e3), floor / spmv, ">= 0.80", floor / spmv >= 0.8);
  const double moved = double(soe_.matrix().bytes_moved());
  remark("  against the bytes that it moves, over triad", moved / triad, moved / triad / spmv);
  remark("  against all blocks, over reading alone", all_bytes_ / reads, all_bytes_ / reads / spmv);

  CsrSOE csr;
  csr.set_model(*model_);
  integrator_.form_tangent(*model_, state_, csr);
  eigen_ = to_eigen(csr.sparse_matrix()->to_host());
  const Eigen::VectorXd ex = Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
  Eigen::VectorXd ey;
  const double eigen_spmv = median_seconds(9, [&] { ey = eigen_ * ex; });
  if (!(difference(y.to_host(), ey) <= 1e-12))
    throw Error(ErrorCode::internal, "the timed product differs from Eigen's");
  row("BSR product against Eigen's CSR product", fmt::format("{:.2f} ms", spmv * 1e3),
      fmt::format("Eigen {:.2f} ms", eigen_spmv * 1e3), eigen_spmv / spmv, "> 1", eigen_spmv > spmv);
  MatrixFreeSOE free;
  free.set_model(*model_);
  integrator_.form_tangent(*model_, state_, free);
  const double seconds = median_seconds(7, [&] { free.matrix().apply(x, y); });
  fmt::print("  {:<46} {:>16}\n", "matrix-free product",
             fmt::format("{:.1f} ms, {:.2f} M el/s", seconds * 1e3, domain_.element_count() / seconds * 1e-6));
}

void CpuStages::cg_iteration(double triad) {
  integrator_.form_unbalance(*model_, state_, soe_.b());
  BlockJacobiPreconditioner block_jacobi;
  block_jacobi.set_up(soe_);
  CgRequest request;
  request.relative_tolerance = 0;
  request.max_iterations = 100;
  request.keep_history = false;
  const double hundred = median_seconds(3, [&] {
    backend_->fill(soe_.x(), 0.0);
    backend_->cg(soe_.matrix(), block_jacobi.inverse(), soe_.b(), soe_.x(), request);
  });
  // Besides product and preconditioner an iteration reads p, q, x, r, writes x, r (one pass) and reads z, p, writes p.
  const double others = double(block_jacobi.inverse()->bytes_moved()) + 9 * vector_bytes();
  const double floor = (all_bytes_ + others) / triad, moved = double(soe_.matrix().bytes_moved());
  row("CG iteration (block Jacobi), all blocks over triad", fmt::format("{:.2f} ms", hundred * 10),
      fmt::format("floor {:.2f} ms", floor * 1e3), hundred / 100 / floor, "<= 1.20", hundred / 100 <= 1.2 * floor);
  remark("  against the bytes that it moves, over triad", (moved + others) / triad,
         hundred / 100 / ((moved + others) / triad));
}

CpuStages::Solve CpuStages::timed(const std::string& solver) {
  backend_->fill(soe_.x(), 0.0);
  auto s = make_solver(solver, 1e-8);
  const Stopwatch watch;
  const SolveReport report = s->solve(soe_);
  return {watch.seconds(), report.iterations, report.true_residual, report.converged};
}

void CpuStages::solvers() {
  const Solve ours = timed("cg+jacobi");
  if (!ours.converged || ours.residual > 1.1e-8) throw Error(ErrorCode::internal, "the timed CG did not converge");
  Eigen::ConjugateGradient<Eigen::SparseMatrix<double, Eigen::RowMajor>, Eigen::Lower | Eigen::Upper,
                           Eigen::DiagonalPreconditioner<double>>
      cg;
  cg.setTolerance(1e-8);
  cg.setMaxIterations(50000);
  const std::vector<double> b = soe_.b().to_host();
  const Stopwatch watch;
  cg.compute(eigen_);
  const Eigen::VectorXd solution =
      cg.solve(Eigen::Map<const Eigen::VectorXd>(b.data(), static_cast<Eigen::Index>(b.size())));
  const double eigen_seconds = watch.seconds();
  if (cg.info() != Eigen::Success) throw Error(ErrorCode::internal, "Eigen's timed CG did not converge");
  if (!(difference(soe_.x().to_host(), solution) <= 1e-5))
    throw Error(ErrorCode::internal, "the timed CG and Eigen's differ");
  row("CG+Jacobi to 1e-8 against Eigen's", fmt::format("{:.2f} s, {} it", ours.seconds, ours.iterations),
      fmt::format("Eigen {:.2f} s, {} it", eigen_seconds, cg.iterations()), eigen_seconds / ours.seconds, "> 1",
      eigen_seconds > ours.seconds);
  for (const char* other : {"cg+block-jacobi", "cg+chebyshev", "cg+fsai", "direct"}) {
    // Minutes and gigabytes, with few unknowns already where there is no MUMPS.
    const int most = why_unavailable(DirectMethod::mumps).empty() ? 400'000 : 40'000;
    if (std::string(other) == "direct" && model_->equation_count() > most) continue;
    const Solve its = timed(other);
    fmt::print("  {:<46} {:>16}   true residual {:.1e}{}\n", other,
               fmt::format("{:.2f} s, {} it", its.seconds, its.iterations), its.residual,
               its.converged ? "" : " NOT CONVERGED");
  }
}

void CpuStages::memory() const {
  const double n = options_.memory_size;
  const double blocks = (3 * 10 * n + 1) * (3 * n + 1) * (3 * n + 1);  // 27 neighbours inside, fewer at the sides
  const double matrix = blocks * (9 * sizeof(double) + sizeof(std::int32_t));
  const double peak = peak_of_child(options_, "bsr"), peak_free = peak_of_child(options_, "matrix-free");
  const auto mb = [](double bytes) { return fmt::format("{:.0f} MB", bytes * 1e-6); };
  row(fmt::format("CG solve n = {}, peak memory against BSR matrix", options_.memory_size), mb(peak), mb(matrix),
      peak / matrix, "<= 1.50", peak <= 1.5 * matrix);
  row("the same, matrix-free", mb(peak_free), mb(matrix), peak_free / matrix, "<= 0.40", peak_free <= 0.4 * matrix);
}

}  // namespace

void bench_cpu_child(const CpuBench& options, const std::string& storage) {
  Domain domain;
  build_cantilever(domain, options.memory_size);
  StaticOptions how;
  how.backend = options.backend;
  how.storage = storage;
  how.solver = "cg+block-jacobi";
  auto analysis = make_static_analysis(domain, how);
  analysis->set_recovery(false);
  analysis->run();
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) std::printf("%s\n", line.c_str() + 6);
}

void bench_cpu(const CpuBench& options) {
  auto backend = Backend::open(options.backend);
  const int threads = threads_of(*backend);
  Eigen::setNbThreads(threads);
  fmt::print("Backend: {}\n", backend->describe());
  const double triad = triad_bandwidth(threads), triad_one = triad_bandwidth(1);
  const double reads = read_bandwidth(threads);
  fmt::print("Triad: {:.1f} GB/s with {} threads, {:.1f} GB/s with one. Reading alone: {:.1f} GB/s\n\n", triad * 1e-9,
             threads, triad_one * 1e-9, reads * 1e-9);

  CpuStages stages(options, backend, threads);
  stages.print_head();
  stages.assembly();
  stages.products(triad, reads);
  stages.cg_iteration(triad);
  if (options.quick) return;
  stages.solvers();
  stages.memory();
}

}  // namespace voussoir::app
