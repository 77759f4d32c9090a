#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include <voussoir/apps/bench/calibrate.hpp>
#include <voussoir/apps/bench/table.hpp>
#include <voussoir/apps/terminal/printing.hpp>
#include <voussoir/backends/cost_model/cost_model.hpp>
#include <voussoir/backends/host_memory.hpp>
#include <voussoir/backends/stencil_services.hpp>
#include <voussoir/backends/version.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/framework/io/picture/line_plot.hpp>
#include <voussoir/solvers/cost/calibration.hpp>
#include <voussoir/solvers/cost/pyramid_height.hpp>

// The proof of the cost model: predictions beside measurements of the same run, as in figures 1 and 2 of the paper.

namespace voussoir::app {
namespace {

using Json = nlohmann::ordered_json;

/// A prediction and the measurement that it is compared with.
struct Compared {
  std::int64_t x = 0;  ///< N, or h
  double measured = 0, predicted = 0;
  double difference() const { return (measured - predicted) / measured; }
};

double deviation_of(const std::vector<Compared>& rows) {
  std::vector<double> measured, predicted;
  for (const Compared& row : rows) {
    measured.push_back(row.measured);
    predicted.push_back(row.predicted);
  }
  return normalised_deviation(measured, predicted);
}

/// The least time of some runs of `work`: at least three, and as many as fit in the budget.
double least_time(const std::function<void()>& work, double budget) {
  work();
  double least = 1e300, spent = 0;
  for (int run = 0; run < 3 || (spent < budget && run < 40); ++run) {
    const Stopwatch watch;
    work();
    const double seconds = watch.seconds();
    least = std::min(least, seconds);
    spent += seconds;
  }
  return least;
}

std::vector<double> start_values(std::int64_t size) {
  std::vector<double> values(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>((i * 2654435761u) % 1000) * 1e-3;
  return values;
}

/// 10 … 7000, about equally spaced in log N and not only at powers of two; as large as a quarter of memory allows.
std::vector<std::int64_t> vector_sizes(bool quick) {
  std::vector<std::int64_t> sizes;
  const int count = quick ? 12 : 48;
  const double top = std::min(quick ? 700.0 : 7000.0, std::sqrt(available_host_memory().bytes / 4 / 48));
  for (int i = 0; i < count; ++i) {
    const auto n = static_cast<std::int64_t>(std::lround(10 * std::pow(top / 10, i / (count - 1.0))));
    if (sizes.empty() || n > sizes.back()) sizes.push_back(n);
  }
  return sizes;
}

std::vector<Compared> compare_long_vectors(const CostModel& model, StencilServices& stencils, Backend& backend,
                                           bool quick) {
  std::vector<Compared> rows;
  show("\nLong vectors: copy, N_t steps, copy back (formula 1)\n{:>6} {:>5} {:>11} {:>11} {:>8}\n", "N", "N_t",
       "measured", "predicted", "apart");
  for (const std::int64_t n : vector_sizes(quick)) {
    const std::int64_t side = n + 2, steps = n <= 1000 ? 100 : 10;
    auto u = start_values(side * side);
    const auto vectors = stencils.make_long_vectors(n, 0.2, u);
    Compared row;
    row.x = n;
    row.measured = least_time(
        [&] {
          vectors->write(u);
          vectors->steps(steps);
          vectors->read(u);
          backend.wait();
        },
        quick ? 0.02 : 0.3);
    const auto predicted = model.long_vectors(n, steps);
    if (!predicted)
      throw Error(ErrorCode::unavailable, "the profile lacks an operation of long vectors; see the notes above");
    row.predicted = *predicted;
    rows.push_back(row);
    show("{:>6} {:>5} {:>11} {:>11} {:>6.1f} %\n", n, steps, readable_time(row.measured), readable_time(row.predicted),
         -100 * row.difference());
  }
  return rows;
}

/// The comparison over h, and what the model chose.
struct PyramidComparison {
  std::int64_t n = 0;
  double budget = 0;
  std::vector<Compared> rows;  ///< seconds per iteration
  std::vector<std::int64_t> slabs;
  HeightChoice choice;
  double chosen_seconds = 0, best_seconds = 0;
  std::int64_t best_height = 0;
};

PyramidComparison compare_pyramids(const CostModel& model, StencilServices& stencils, Backend& backend, std::int64_t n,
                                   bool quick) {
  PyramidComparison result;
  result.n = n;
  StencilProblem problem;
  problem.nodes = {n, n, n};
  result.budget = 24.0 * static_cast<double>(problem.size()) / 4;
  const PyramidJob job = make_pyramid_job(stencils, problem, true, 8, result.budget, backend.devices());
  auto u = start_values(problem.size());
  const auto f = start_values(problem.size());
  const int top = static_cast<int>(std::max<std::int64_t>(3, n / 10));
  const auto choice = model.choose_height(job, top);
  if (!choice) throw Error(ErrorCode::unavailable, "the profile lacks an operation of pyramids; see the notes above");
  result.choice = *choice;
  std::vector<int> heights;
  const int stride = std::max(1, top / (quick ? 5 : 24));
  for (int h = 2; h <= top; h += stride) heights.push_back(h);
  heights.push_back(choice->height);
  std::sort(heights.begin(), heights.end());
  heights.erase(std::unique(heights.begin(), heights.end()), heights.end());
  show(
      "\nPyramids: {}³ points in host memory, {:.0f} MB on the device (formula 2), per iteration\n{:>6} {:>6} {:>11} "
      "{:>11} {:>8}\n",
      n, result.budget * 1e-6, "h", "R", "measured", "predicted", "apart");
  for (const int h : heights) {
    const auto best = model.choose_slab(job, h);
    if (!best) continue;
    const std::int64_t slab = best->slab;
    StencilOptions options;
    options.height = h;
    options.slab = slab;
    options.device_bytes = static_cast<std::size_t>(result.budget);
    const auto iteration = stencils.stream_jacobi(problem, u, f, options);
    const std::vector<double> weights(static_cast<std::size_t>(h), 1.0);
    Compared row;
    row.x = h;
    row.measured = least_time(
                       [&] {
                         iteration->iterate(weights);
                         backend.wait();
                       },
                       quick ? 0.05 : 1.0) /
                   h;
    row.predicted = best->seconds;
    result.rows.push_back(row);
    result.slabs.push_back(slab);
    if (h == choice->height) result.chosen_seconds = row.measured;
    if (result.best_height == 0 || row.measured < result.best_seconds) {
      result.best_seconds = row.measured;
      result.best_height = h;
    }
    show("{:>6} {:>6} {:>11} {:>11} {:>6.1f} %\n", h, slab, readable_time(row.measured), readable_time(row.predicted),
         -100 * row.difference());
  }
  return result;
}

Json rows_json(const std::vector<Compared>& rows, const char* x) {
  Json list = Json::array();
  for (const Compared& row : rows)
    list.push_back({{x, row.x}, {"measured", row.measured}, {"predicted", row.predicted}});
  return list;
}

std::string plot_of(const std::string& title, const std::string& axis, const std::string& label,
                    const std::vector<Compared>& rows, const PyramidComparison* pyramids) {
  LinePlot plot(title, axis);
  LinePlot::Points measured, predicted, apart;
  for (const Compared& row : rows) {
    const auto x = static_cast<double>(row.x);
    measured.emplace_back(x, 1e3 * row.measured);
    predicted.emplace_back(x, 1e3 * row.predicted);
    apart.emplace_back(x, -100 * row.difference());
  }
  plot.panel(label).curve("measured", measured).curve("model", predicted);
  plot.panel("model − measured [%]").curve("difference", apart);
  if (pyramids) plot.mark(pyramids->choice.height, "chosen");
  return plot.svg();
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  if (!file.flush()) throw Error(ErrorCode::io, "cannot write", path);
}

/// "plot.svg" becomes "plot-long-vectors.svg".
std::string beside(const std::string& path, const std::string& what) {
  const std::size_t dot = path.ends_with(".svg") ? path.size() - 4 : path.size();
  return path.substr(0, dot) + "-" + what + ".svg";
}

}  // namespace

void bench_model(const CostBench& options) {
  const auto backend = Backend::open(options.backend);
  StencilServices& stencils = backend->service<StencilServices>();
  show("Backend: {}\nMachine: {}\n", backend->describe(), machine_name());
  CalibrationOptions how;
  how.quick = options.quick;
  how.elements = how.solvers = false;
  const Stopwatch watch;
  const CostModel model(calibrate(backend, how));
  show("Calibrated in {:.1f} s\n", watch.seconds());
  for (const std::string& note : model.profile().notes) show("note: {}\n", note);
  const bool on_host = backend->memory(0)->shares_host_memory();
  const std::int64_t n = options.size > 0 ? options.size : options.quick ? 64 : on_host ? 240 : 640;

  const auto vectors = compare_long_vectors(model, stencils, *backend, options.quick);
  const auto pyramids = compare_pyramids(model, stencils, *backend, n, options.quick);
  const double vector_deviation = deviation_of(vectors), pyramid_deviation = deviation_of(pyramids.rows);
  const double loss = pyramids.chosen_seconds / pyramids.best_seconds - 1;
  show("\nLong vectors, N = {}…{}: normalised RMS deviation {:.1f} % over {} sizes (wanted ≤ 10 %, goal 5 %)\n",
       vectors.front().x, vectors.back().x, 100 * vector_deviation, vectors.size());
  show("Pyramids, h = {}…{}: normalised RMS deviation {:.1f} % over {} heights (wanted ≤ 10 %, goal 5 %)\n",
       pyramids.rows.front().x, pyramids.rows.back().x, 100 * pyramid_deviation, pyramids.rows.size());
  show("Chosen h = {}: {} per iteration; best of the sweep h = {}: {}; {:.1f} % more (wanted ≤ 5 %)\n",
       pyramids.choice.height, readable_time(pyramids.chosen_seconds), pyramids.best_height,
       readable_time(pyramids.best_seconds), 100 * loss);
  if (!options.json.empty()) {
    Json root{{"version", version()},
              {"machine", model.profile().machine},
              {"backend", options.backend},
              {"device", backend->describe()},
              {"date", model.profile().date},
              {"long_vectors", {{"deviation", vector_deviation}, {"rows", rows_json(vectors, "n")}}},
              {"pyramids",
               {{"points_per_side", n},
                {"device_bytes", pyramids.budget},
                {"deviation", pyramid_deviation},
                {"chosen_height", pyramids.choice.height},
                {"chosen_seconds", pyramids.chosen_seconds},
                {"best_height", pyramids.best_height},
                {"best_seconds", pyramids.best_seconds},
                {"rows", rows_json(pyramids.rows, "h")}}},
              {"profile", Json::parse(to_json(model.profile()))}};
    write_text(options.json, root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  }
  if (!options.svg.empty()) {
    write_text(beside(options.svg, "long-vectors"),
               plot_of("Explicit steps on long vectors", "N (points per side)", "time [ms]", vectors, nullptr));
    write_text(beside(options.svg, "pyramids"),
               plot_of(fmt::format("Pyramids, {}³ points, a quarter of them on the device", n), "height h",
                       "time per iteration [ms]", pyramids.rows, &pyramids));
  }
}

}  // namespace voussoir::app
