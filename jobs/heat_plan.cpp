#include <voussoir/jobs/heat_plan.hpp>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/backends/version.hpp>
#include <voussoir/framework/io/safe_text.hpp>
#include <voussoir/jobs/detail/planned_backend.hpp>
#include <voussoir/jobs/memory_estimate.hpp>
#include <voussoir/solvers/stencil/jacobi_iteration.hpp>
#include <voussoir/solvers/stencil/stationary_heat.hpp>

namespace voussoir {
namespace {

/// Sums predictions; unknown if one of them is.
class PredictedSum {
 public:
  PredictedSum& add(double count, const std::optional<double>& seconds) {
    if (count == 0) return *this;
    if (seconds && sum_)
      *sum_ += count * *seconds;
    else
      sum_.reset();
    return *this;
  }
  std::optional<double> value() const { return sum_; }

 private:
  std::optional<double> sum_ = 0.0;
};

/// Predictions of the parts of a step, for one job.
class HeatStepModel {
 public:
  HeatStepModel(const CostModel& model, const HeatJob& job)
      : model_(model), job_(job), nodes_(static_cast<double>(job.grid.node_count())) {}

  std::optional<double> douglas() const {
    PredictedSum sum;
    sum.add(1, differences(job_.grid.dimensions()));
    for (int axis = 0; axis < job_.grid.dimensions(); ++axis) sum.add(1, sweep(axis));
    return sum.add(1, update()).add(1, sources()).add(1, points()).value();
  }
  std::optional<double> peaceman_rachford() const {
    PredictedSum sum;
    sum.add(2, differences(1)).add(1, sweep(0)).add(1, sweep(1));
    return sum.add(job_.sources.empty() ? 0 : 1, update()).add(1, sources()).add(1, points()).value();
  }
  std::optional<double> explicit_euler() const {
    PredictedSum sum;
    return sum.add(1, differences(job_.grid.dimensions())).add(1, sources()).add(1, points()).value();
  }
  std::optional<double> long_vectors() const {
    PredictedSum sum;
    return sum.add(1, model_.long_vectors(job_.grid.nodes(0) - 2, 1, false)).add(1, points()).value();
  }
  /// An iteration; time tiles are those of the machine.
  std::optional<double> jacobi() const { return model_.operation(operations::stencil, nodes_, 24 * nodes_); }

  /// Memory that is filled for the first time, temperatures from the host, and matrices of several materials.
  std::optional<double> set_up(double fields) const {
    return model_.operation(operations::new_array, 8 * nodes_ * fields, 8 * nodes_ * fields);
  }

 private:
  /// Differences along so many axes: one pass for one material. Of several materials each axis is a pass, which reads
  /// two coefficients too, twice the bytes.
  std::optional<double> differences(int axes) const {
    const auto pass = model_.operation(operations::diffusion, nodes_, 16 * nodes_);
    PredictedSum sum;
    return sum.add(job_.regions.empty() ? 1 : 2.0 * axes, pass).value();
  }
  std::optional<double> sweep(int axis) const {
    const bool own = !job_.regions.empty();
    const auto name = axis == 0 ? (own ? operations::sweep_own : operations::sweep)
                                : (own ? operations::sweep_own_across : operations::sweep_across);
    return model_.operation(name, nodes_, (own ? 40 : 16) * nodes_);
  }
  std::optional<double> update() const { return model_.operation(operations::axpy, nodes_, 16 * nodes_); }
  /// Steady sources are one sum; others are computed at every step, which is a pass over the nodes for each.
  std::optional<double> sources() const {
    if (job_.sources.empty()) return 0.0;
    double changing = 0;
    for (const GridTerm& source : job_.sources) changing += source.kind != SourceKind::steady;
    PredictedSum sum;
    if (changing > 0)
      sum.add(static_cast<double>(job_.sources.size()), model_.operation(operations::source, nodes_, 16 * nodes_));
    return sum.add(job_.regions.empty() ? 1 : 2, update()).value();
  }
  /// Temperatures of points come to the host after every step.
  std::optional<double> points() const {
    if (job_.points.empty()) return 0.0;
    const OperationCost* wait = model_.profile().find(operations::dot);
    if (!wait) return std::nullopt;
    return wait->latency;
  }

  const CostModel& model_;
  const HeatJob& job_;
  double nodes_;
};

/// Fields of a scheme: temperatures, a second field, sources and what is summed of them, coefficients, and values on
/// their way to files.
double heat_fields(const HeatJob& job, const std::string& scheme) {
  double fields = 2 + (job.sources.empty() ? 0 : 1) + 1;
  const bool implicit = scheme == "douglas" || scheme == "peaceman-rachford";
  if (!job.regions.empty()) {
    const double axes = job.grid.dimensions();
    fields +=
        axes * (implicit ? 3 : 2) + 3 + axes + 1;  // on the devices, then conductivities and capacities on the host
  }
  if (scheme == "long-vectors") fields += 3;
  if (scheme == "stationary") fields += 4;
  return fields;
}

/// Iterations of Jacobi's method from the bounds of the spectrum: what reduces every part of the error to the
/// tolerance. Chebyshev's factors are repeated in cycles of 32, as JacobiIteration does.
IterationAssumption assumed_jacobi_iterations(const HeatJob& job) {
  const StencilSpectrum spectrum = stencil_spectrum(stationary_problem(job.grid, job.material));
  const double a = spectrum.least, b = spectrum.most;
  const double digits = std::log(std::clamp(job.stationary_options.tolerance, 1e-16, 0.5));
  constexpr int cycle = 32;
  double iterations = 1;
  if (a > 0 && b > a)
    iterations = job.stationary_options.chebyshev ? cycle * digits / std::log(chebyshev_reduction(cycle, a, b))
                                                  : digits / std::log1p(-a);
  iterations = std::clamp(std::ceil(iterations), 1.0, static_cast<double>(job.stationary_options.max_iterations));
  return {iterations,
          "iterations from the bounds of the spectrum of the grid: fields that are smooth at the beginning need them, "
          "others fewer"};
}

HeatBackendPlan plan_heat_backend(const HeatJob& job, const std::string& specification) {
  HeatBackendPlan plan;
  const auto opened = detail::open_planned(specification, plan);
  if (!opened) return plan;
  const CostModel& model = opened->model;
  const std::string own = job.stationary ? "stationary" : to_string(job.options.scheme);
  std::vector<std::string> names = heat_scheme_names();
  if (job.stationary) names = {"stationary"};
  const double limit = job.stationary        ? 0
                       : job.regions.empty() ? GridHeatAnalysis::explicit_limit(job.grid, job.material)
                                             : GridHeatAnalysis::explicit_limit(job.grid, job.materials());
  const MainMemory machine = main_memory();
  for (const std::string& name : names) {
    const bool is_explicit = name == "explicit" || name == "long-vectors";
    if (name == "peaceman-rachford" && job.grid.dimensions() != 2) continue;
    if (name == "long-vectors" && own != name) continue;  // for comparison only, and for few grids
    double step = job.options.time_step, steps = static_cast<double>(job.steps);
    std::string note;
    if (is_explicit && step > limit) {
      steps = std::ceil(step * steps / limit);
      step = step * static_cast<double>(job.steps) / steps;
      note = "smaller steps, which explicit schemes need";
    }
    HeatSchemePlan scheme = predict_heat(model, job, name, step, steps);
    scheme.note = note;
    scheme.fits = machine.available <= 0 || scheme.memory < machine.available;
    scheme.chosen = name == own;
    plan.schemes.push_back(std::move(scheme));
  }
  std::stable_sort(plan.schemes.begin(), plan.schemes.end(), [](const HeatSchemePlan& a, const HeatSchemePlan& b) {
    return a.seconds.value_or(1e300) < b.seconds.value_or(1e300);
  });
  return plan;
}

}  // namespace

HeatSchemePlan predict_heat(const CostModel& model, const HeatJob& job, const std::string& scheme, double time_step,
                            double steps) {
  HeatSchemePlan plan;
  plan.scheme = scheme;
  const HeatStepModel parts(model, job);
  const double fields = heat_fields(job, scheme);
  plan.memory = 8 * fields * static_cast<double>(job.grid.node_count());
  plan.set_up_seconds = parts.set_up(fields - 1);
  if (scheme == "stationary") {
    plan.count = assumed_jacobi_iterations(job);
    plan.steps = plan.count->iterations;
    plan.step_seconds = parts.jacobi();
  } else {
    plan.time_step = time_step;
    plan.steps = steps;
    plan.step_seconds = scheme == "douglas"             ? parts.douglas()
                        : scheme == "peaceman-rachford" ? parts.peaceman_rachford()
                        : scheme == "explicit"          ? parts.explicit_euler()
                                                        : parts.long_vectors();
  }
  if (plan.step_seconds && plan.set_up_seconds) plan.seconds = *plan.set_up_seconds + plan.steps * *plan.step_seconds;
  return plan;
}

HeatPlan plan_heat_job(const HeatJob& job, const std::vector<std::string>& backends, const std::string& source) {
  if (backends.empty()) throw Error(ErrorCode::misuse, "name at least one backend");
  HeatPlan plan;
  plan.name = job.name;
  plan.title = job.title;
  plan.source = source;
  plan.nodes = job.grid.node_count();
  for (const std::string& backend : backends) plan.backends.push_back(plan_heat_backend(job, backend));
  plan.notes.emplace_back("files are not counted");
  if (!job.stationary)
    plan.notes.emplace_back(
        "schemes other than the job's are given the job's steps, or those that they allow; their errors differ");
  return plan;
}

RunPrediction predict_heat_run(const HeatJob& job, const Backend& backend) {
  RunPrediction prediction;
  ProfileSearch found = find_profile(backend);
  prediction.note = found.note;
  if (!found.profile) return prediction;
  const CostModel model(std::move(*found.profile));
  const HeatSchemePlan plan = predict_heat(model, job, job.stationary ? "stationary" : to_string(job.options.scheme),
                                           job.options.time_step, static_cast<double>(job.steps));
  PredictedSum steps;
  prediction.stages.push_back({"setup", plan.set_up_seconds});
  prediction.stages.push_back({"steps", steps.add(plan.steps, plan.step_seconds).value()});
  prediction.iterations = plan.count;
  return prediction;
}

std::string to_json(const HeatPlan& plan) {
  using Json = nlohmann::ordered_json;
  const auto or_null = [](const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); };
  Json backends = Json::array();
  for (const HeatBackendPlan& b : plan.backends) {
    Json schemes = Json::array();
    for (const HeatSchemePlan& s : b.schemes) {
      Json object{{"scheme", s.scheme},
                  {"steps", s.steps},
                  {"predicted_seconds", or_null(s.seconds)},
                  {"predicted_set_up_seconds", or_null(s.set_up_seconds)},
                  {"predicted_step_seconds", or_null(s.step_seconds)},
                  {"predicted_bytes", s.memory},
                  {"fits", s.fits},
                  {"chosen", s.chosen}};
      if (s.time_step > 0) object["time_step"] = s.time_step;
      if (s.count) object["assumption"] = s.count->text;
      if (!s.note.empty()) object["note"] = s.note;
      schemes.push_back(std::move(object));
    }
    backends.push_back({{"backend", b.backend},
                        {"device", b.device},
                        {"usable", b.usable},
                        {"measured_profile", b.usable && !b.is_assumption},
                        {"profile", b.profile_note},
                        {"schemes", schemes}});
  }
  const Json root{{"voussoir", version()}, {"file", plan.source},  {"name", plan.name},  {"title", plan.title},
                  {"nodes", plan.nodes},   {"backends", backends}, {"notes", plan.notes}};
  return printable_json(root.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace voussoir
