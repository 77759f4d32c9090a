#include <voussoir/apps/bench/calibrate.hpp>

#include <fmt/core.h>

#include <fstream>

#include <voussoir/apps/bench/table.hpp>
#include <voussoir/apps/terminal/printing.hpp>
#include <voussoir/apps/terminal/terminal.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/solvers/cost/calibration.hpp>

namespace voussoir::app {
namespace {

std::string unit_of(const std::string& operation) {
  const auto is = [&](std::string_view name) { return operation == name; };
  if (is(operations::to_device) || is(operations::to_host) || is(operations::slab_in) || is(operations::slab_out) ||
      is(operations::staged_in) || is(operations::staged_out) || is(operations::new_array))
    return "byte";
  if (operation.starts_with("product bsr") || is(operations::csr) || is(operations::amg_set_up) ||
      is(operations::amg_cycle) || is(operations::factor_linear))
    return "number";
  if (operation.starts_with("slab tile") || is(operations::stencil)) return "cell";
  if (operation.starts_with("stage ") || is(operations::diffusion) || is(operations::source)) return "node";
  if (is(operations::cg)) return "equation";
  if (is(operations::factor)) return "flop";
  if (operation.starts_with("sweep ")) return "unknown";
  for (const char* what : {"pattern ", "integrate ", "assemble ", "product "})
    if (operation.starts_with(what)) return "element";
  return "entry";
}

/// "1.25 G/s" from seconds per unit.
std::string rate_text(double seconds_per_unit) {
  if (!(seconds_per_unit > 0)) return "–";
  double rate = 1 / seconds_per_unit;
  const char* prefix = "";
  for (const char* next : {"k", "M", "G", "T"}) {
    if (rate < 1000) break;
    rate /= 1000;
    prefix = next;
  }
  return fmt::format("{:.3g} {}/s", rate, prefix);
}

/// A dash stands for what the times do not show: a rate that the latency hides, a cache that no size reaches.
void print_profile(const MachineProfile& profile) {
  show("\n{:<36} {:>9} {:>12} {:>9} {:>12} {:<9} {:>6}\n", "operation", "latency", "in cache", "up to", "in memory",
       "unit", "noise");
  for (const auto& [name, cost] : profile.costs) {
    const auto cached = cost.cached_rate(), bytes = cost.cache_bytes();
    show("{:<36} {:>9} {:>12} {:>9} {:>12} {:<9} {:>4.0f} %{}\n", name, readable_time(cost.latency),
         cached ? rate_text(*cached) : "–", bytes ? readable_bytes(*bytes) : "–",
         cost.resolved() ? rate_text(cost.streaming_rate()) : "–", unit_of(name), 100 * cost.noise,
         cost.width > 1 ? fmt::format("  {:.0f} in flight", cost.width)
         : cost.queued  ? "  queued"
                        : "");
  }
  for (const std::string& note : profile.notes) show("note: {}\n", note);
}

}  // namespace

void bench_calibrate(const CostBench& options) {
  const auto backend = Backend::open(options.backend);
  show("Backend: {}\nMachine: {}\n", backend->describe(), machine_name());
  CalibrationOptions how;
  how.quick = options.quick;
  const Stopwatch watch;
  const MachineProfile profile = calibrate(backend, how);
  print_profile(profile);
  show("\nMeasured in {:.1f} s\n", watch.seconds());
  if (!options.json.empty()) save_profile(profile, options.json);
  if (options.quick)
    show(
        "Quick: sizes up to 4 MB only, so that rates in memory are those of caches. It is not kept; without --quick it "
        "is\n");
  else
    show("Kept in {}\n", save_profile(profile).string());
}

}  // namespace voussoir::app
