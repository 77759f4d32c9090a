#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <optional>

#include <voussoir/apps/bench/divided_system.hpp>
#include <voussoir/apps/bench/workloads.hpp>
#include <voussoir/apps/terminal/terminal.hpp>
#include <voussoir/backends/halo_traffic.hpp>
#include <voussoir/backends/one_reduction_cg.hpp>
#include <voussoir/solvers/amg/amg_preconditioner.hpp>
#include <voussoir/solvers/cg_solver.hpp>
#include <voussoir/solvers/cost/device_prediction.hpp>
#include <voussoir/solvers/preconditioners/jacobi.hpp>
#include <voussoir/solvers/soe/element_soe.hpp>
#include <voussoir/solvers/soe/sparse_soe.hpp>

// One model on 1, 2, 4 and 8 devices: what iterations and solves take more than on one, and what is exchanged.

namespace voussoir::app {
namespace {

/// What rows of several devices are compared with: the same on one.
struct OneDevice {
  double seconds = 0;
  int iterations = 0;
  std::vector<double> solution;
  std::vector<std::pair<double, DeviceDistribution>> measured;  // of each number of devices
};

/// What is exchanged while `work` runs once.
HaloTraffic traffic_of(const DividedSystem& system, const std::function<void()>& work) {
  const HaloTraffic before = halo_traffic();
  work();
  system.backend->wait();
  return halo_traffic() - before;
}

void add_figures(BenchRow& row, const DividedSystem& system, const HaloTraffic& counted) {
  row.figures.emplace_back("devices", static_cast<double>(system.distribution.devices.size()));
  row.figures.emplace_back("predicted_bytes_per_exchange", static_cast<double>(system.distribution.bytes_per_product));
  row.figures.emplace_back("exchanges", static_cast<double>(counted.exchanges));
  row.figures.emplace_back("counted_bytes", static_cast<double>(counted.bytes));
  row.figures.emplace_back("imbalance", system.distribution.imbalance());
  row.figures.emplace_back("numbering_seconds", system.numbering);
}

/// Adds what the partition predicts and what was counted while `work`, which only multiplies by the matrix, ran once;
/// they must agree.
void count_exchanges(BenchRow& row, const DividedSystem& system, const std::function<void()>& work) {
  const HaloTraffic counted = traffic_of(system, work);
  add_figures(row, system, counted);
  const std::int64_t predicted = system.distribution.bytes_per_product;
  if (counted.bytes != counted.exchanges * predicted)
    throw Error(ErrorCode::internal, fmt::format("{} bytes were exchanged in {} exchanges, but {} per exchange are "
                                                 "predicted from the partition",
                                                 counted.bytes, counted.exchanges, predicted));
}

/// The same for a solution by CG with multigrid, whose cycles exchange the halos of coarser levels, too. One cycle must
/// exchange what the division of its levels predicts, and the solution that of whole cycles and products. A GPU may
/// begin more iterations than it reports: how many is found from the number of exchanges and from their bytes.
void count_multigrid_exchanges(BenchRow& row, const DividedSystem& system, const AmgPreconditioner& amg,
                               const SolveReport& report, const std::function<void()>& solve) {
  const HaloTraffic predicted = amg.cycle_traffic();
  Vector r = system.model->make_vector(), z = system.model->make_vector();
  system.backend->fill(r, 1.0);
  const HaloTraffic cycle = traffic_of(system, [&] { amg.inverse()->apply(r, z); });
  row.figures.emplace_back("predicted_exchanges_per_cycle", static_cast<double>(predicted.exchanges));
  row.figures.emplace_back("predicted_bytes_per_cycle", static_cast<double>(predicted.bytes));
  if (cycle != predicted)
    throw Error(
        ErrorCode::internal,
        fmt::format("a cycle exchanged {} bytes in {} exchanges, but {} bytes in {} exchanges are predicted from "
                    "the division of its levels",
                    cycle.bytes, cycle.exchanges, predicted.bytes, predicted.exchanges));
  const HaloTraffic counted = traffic_of(system, solve);
  add_figures(row, system, counted);
  const std::int64_t product = system.distribution.bytes_per_product;
  const std::int64_t more = predicted.bytes - predicted.exchanges * product;  // than as many products
  std::int64_t cycles = report.iterations;
  if (more != 0) cycles = (counted.bytes - counted.exchanges * product) / more;
  const std::int64_t products = counted.exchanges - cycles * predicted.exchanges;
  row.figures.emplace_back("cycles", static_cast<double>(cycles));
  row.figures.emplace_back("products", static_cast<double>(products));
  const bool enough = product == 0 || (cycles >= report.iterations && products > report.iterations);
  if (!enough || counted.bytes != cycles * predicted.bytes + products * product)
    throw Error(
        ErrorCode::internal,
        fmt::format("{} bytes were exchanged in {} exchanges, which are not those of {} iterations or a few more "
                    "with {} bytes per product, and {} bytes in {} exchanges per cycle",
                    counted.bytes, counted.exchanges, report.iterations, product, predicted.bytes,
                    predicted.exchanges));
}

void compare(BenchRow& row, const DividedSystem& system, int iterations, OneDevice& one, double tolerance) {
  const std::vector<double> solution = system.solution();
  const std::size_t devices = system.distribution.devices.size();
  if (devices == 1) one = {row.seconds, iterations, solution, {}};
  one.measured.emplace_back(row.seconds, system.distribution);
  row.note = fmt::format("{} iterations", iterations);
  row.figures.emplace_back("iterations", iterations);
  if (one.solution.empty() || devices == 1) return;
  row.difference = relative_difference(solution, one.solution);
  row.tolerance = tolerance;
  const double overhead = row.seconds / one.seconds - 1;
  row.note += fmt::format(" (one device: {}), {:+.1f} % of one device, {} per exchange", one.iterations, 100 * overhead,
                          readable_bytes(static_cast<double>(system.distribution.bytes_per_product)));
  row.figures.emplace_back("overhead", overhead);
}

constexpr int timed_cg_iterations = 100, compared_cg_iterations = 10;
constexpr std::array<int, 4> compared_devices{1, 2, 4, 8};

/// Switches overlap on or off while it lives; without a choice, nothing is changed. What the user has set comes back.
class OverlapChoice {
 public:
  explicit OverlapChoice(std::optional<bool> choice) : made_(choice.has_value()) {
    if (!made_) return;
    if (const char* before = std::getenv(variable)) before_ = before;
    setenv(variable, *choice ? "1" : "0", 1);
  }
  ~OverlapChoice() {
    if (made_ && before_)
      setenv(variable, before_->c_str(), 1);
    else if (made_)
      unsetenv(variable);
  }
  OverlapChoice(const OverlapChoice&) = delete;
  OverlapChoice& operator=(const OverlapChoice&) = delete;

 private:
  static constexpr const char* variable = "VOUSSOIR_OVERLAP";
  bool made_;
  std::optional<std::string> before_;
};

/// How an iteration of CG is measured.
struct IterationChoice {
  int reductions = 2;
  std::optional<bool> overlap;  ///< of halos and products; none: as the backend chooses
};

template <class Soe>
void jacobi_row(BenchRig& rig, const Domain& domain, const std::string& spec, const std::string& what, OneDevice& one,
                const IterationChoice& choice = {}) {
  rig.row(spec + ", " + what, [&](BenchRow& row) {
    const OverlapChoice overlap(choice.overlap);
    DividedSystem system(rig, domain, spec, std::make_unique<Soe>());
    JacobiPreconditioner preconditioner;
    preconditioner.set_up(*system.soe);
    const auto iterate = [&](int count) {
      CgRequest request;
      request.relative_tolerance = 0;
      request.max_iterations = count;
      request.keep_history = false;
      system.backend->fill(system.soe->x(), 0.0);
      Backend& backend = *system.backend;
      const Operator &a = system.soe->matrix(), *inverse = preconditioner.inverse();
      const CgOutcome outcome = choice.reductions == 1
                                    ? one_reduction_cg(backend, a, inverse, system.soe->b(), system.soe->x(), request)
                                    : backend.cg(a, inverse, system.soe->b(), system.soe->x(), request);
      return outcome.iterations;
    };
    int done = 0;
    const int timed = rig.setup().quick ? compared_cg_iterations : timed_cg_iterations;
    row.seconds = rig.measure(*system.backend, [&] { done = iterate(timed); });
    row.seconds /= std::max(done, 1);
    count_exchanges(row, system, [&] { iterate(compared_cg_iterations); });
    compare(row, system, done, one, 1e-10);
  });
}

void multigrid_rows(BenchRig& rig, const Domain& domain, const std::string& spec, OneDevice& one_setup,
                    OneDevice& one_solve) {
  std::unique_ptr<DividedSystem> system;
  // Small models have divided levels, too, where nothing is compared but answers and halos.
  const AmgOptions options = AmgOptions::parse(rig.setup().quick ? "coarsest=60,gather=60" : "");
  auto amg = std::make_shared<AmgPreconditioner>(options);
  CgSolver solver(amg, {1e-10, 1000});
  SolveReport report;
  rig.row(spec + ", multigrid, set-up", [&](BenchRow& row) {
    system = std::make_unique<DividedSystem>(rig, domain, spec, std::make_unique<BsrSOE>());
    report = solver.solve(*system->soe);  // kernels are loaded and pools are filled
    row.seconds = rig.measure(*system->backend, [&] {
      AmgPreconditioner fresh(options);
      fresh.set_up(*system->soe);
    });
    add_figures(row, *system, {});
    compare(row, *system, report.iterations, one_setup, 1e-6);
    std::size_t most = 0;
    for (int d = 0; d < system->backend->devices(); ++d)
      most = std::max(most, system->backend->memory(d)->bytes_peak());
    row.figures.emplace_back("largest_device_peak_bytes", static_cast<double>(most));
  });
  rig.row(spec + ", multigrid CG, solve to 1e-10", [&](BenchRow& row) {
    if (!system) throw Error(ErrorCode::unavailable, "the set-up failed");
    const auto solve = [&] {
      system->backend->fill(system->soe->x(), 0.0);
      report = solver.solve(*system->soe);
    };
    row.seconds = rig.measure(*system->backend, solve);
    count_multigrid_exchanges(row, *system, *amg, report, solve);
    compare(row, *system, report.iterations, one_solve, 1e-6);
    if (!report.converged) throw Error(ErrorCode::internal, "CG did not converge: " + report.reason);
  });
}

/// Whether all devices of a specification are logical ones of one device, which work one after the other.
bool is_shared(const std::string& spec) {
  const std::size_t colon = spec.find(':');
  if (colon == std::string::npos || spec.starts_with("debug")) return true;
  const std::string list = spec.substr(colon + 1), first = list.substr(0, list.find(','));
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    if (list.substr(at, comma - at) != first) return false;
    at = comma + 1;
  }
  return true;
}

/// What was measured with logical devices, predicted for as many real ones: P logical devices take P times as long as
/// one of them, and real ones wait for each other.
void predicted_rows(BenchRig& rig, const std::string& what, const OneDevice& one, int reductions = 2) {
  for (const DeviceLink& link : usual_links())
    for (const auto& [seconds, distribution] : one.measured) {
      const std::size_t devices = distribution.devices.size();
      if (devices < 2) continue;
      rig.row(fmt::format("predicted for {} real devices with {}, {}", devices, link.name, what), [&](BenchRow& row) {
        const IterationPrediction predicted =
            predict_iteration(distribution, seconds / static_cast<double>(devices), link, {.reductions = reductions});
        row.seconds = predicted.seconds();
        row.note = fmt::format("{:.1f} × one device: compute {:.1f} µs, halos {:.1f} µs, sums {:.1f} µs",
                               one.seconds / predicted.seconds(), 1e6 * predicted.compute, 1e6 * predicted.exchange,
                               1e6 * predicted.reduction);
        row.figures = {{"devices", static_cast<double>(devices)},
                       {"link_bytes_per_second", link.bytes_per_second},
                       {"link_latency", link.latency},
                       {"compute_seconds", predicted.compute},
                       {"exchange_seconds", predicted.exchange},
                       {"reduction_seconds", predicted.reduction},
                       {"speedup", one.seconds / predicted.seconds()}};
      });
    }
}

}  // namespace

void bench_devices(BenchRig& rig) {
  const auto domain = make_model_h(rig.setup().size);
  domain->add_load_case("end").traction("xmax", {0, 0, -1e6});
  rig.table().begin("devices", fmt::format("{} nodes, {} elements on 1, 2, 4 and 8 devices", domain->node_count(),
                                           domain->element_count()));
  std::vector<std::string> lists;
  try {
    lists = device_lists(rig.setup().backend, compared_devices);
  } catch (const Error&) {
    rig.row("several devices", [&](BenchRow&) { (void)device_lists(rig.setup().backend, compared_devices); });
    return;
  }
  OneDevice stored, fewer_sums, free, setup, solve;
  for (const std::string& spec : lists) jacobi_row<BsrSOE>(rig, *domain, spec, "Jacobi-CG, 3 × 3 blocks", stored);
  for (const std::string& spec : lists)
    jacobi_row<BsrSOE>(rig, *domain, spec, "the same with one reduction", fewer_sums, {1, {}});
  for (const std::string& spec : lists)
    jacobi_row<MatrixFreeSOE>(rig, *domain, spec, "Jacobi-CG, nothing stored", free);
  for (const std::string& spec : lists) multigrid_rows(rig, *domain, spec, setup, solve);
  if (!std::all_of(lists.begin(), lists.end(), is_shared)) return;
  predicted_rows(rig, "Jacobi-CG, 3 × 3 blocks", stored);
  predicted_rows(rig, "the same with one reduction", fewer_sums, 1);
  predicted_rows(rig, "Jacobi-CG, nothing stored", free);
}

namespace {

template <class Soe>
void overlap_rows(BenchRig& rig, const Domain& domain, const std::vector<std::string>& lists, const std::string& what) {
  OneDevice one;
  for (std::size_t k = 0; k < lists.size(); ++k) {
    if (k == 0) {
      jacobi_row<Soe>(rig, domain, lists[k], what, one);
      continue;
    }
    jacobi_row<Soe>(rig, domain, lists[k], what + ", without overlap", one, {2, false});
    jacobi_row<Soe>(rig, domain, lists[k], what + ", with overlap", one, {2, true});
  }
}

}  // namespace

void bench_overlap(BenchRig& rig) {
  const auto domain = make_model_h(rig.setup().size);
  domain->add_load_case("end").traction("xmax", {0, 0, -1e6});
  rig.table().begin("overlap", fmt::format("{} nodes, {} elements: iterations of Jacobi-CG on several devices, halos "
                                           "exchanged before and during products",
                                           domain->node_count(), domain->element_count()));
  std::vector<std::string> lists;
  try {
    lists = device_lists(rig.setup().backend, compared_devices);
  } catch (const Error&) {
    rig.row("several devices", [&](BenchRow&) { (void)device_lists(rig.setup().backend, compared_devices); });
    return;
  }
  if (rig.setup().quick) lists.resize(std::min<std::size_t>(lists.size(), 2));
  overlap_rows<BsrSOE>(rig, *domain, lists, "3 × 3 blocks");
  overlap_rows<ElementSOE>(rig, *domain, lists, "element matrices");
  overlap_rows<PointSOE>(rig, *domain, lists, "tangents at points");
  overlap_rows<MatrixFreeSOE>(rig, *domain, lists, "nothing stored");
}

}  // namespace voussoir::app
