#include <voussoir/framework/model/analysis_model.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>

#include <voussoir/backends/number_text.hpp>

namespace voussoir {
std::int32_t AnalysisModel::free_equation_count() const {
  std::int32_t count = 0;
  for (std::int32_t e = 0; e < equation_count(); ++e) count += is_free(e);
  return count;
}

std::int32_t AnalysisModel::equation(std::int32_t node, std::string_view unknown) const {
  const std::int32_t at = position_[node];
  if (at < 0) return -1;
  const auto it = std::find(unknown_names_.begin(), unknown_names_.end(), unknown);
  if (it == unknown_names_.end()) return -1;
  const auto component = static_cast<int>(it - unknown_names_.begin());
  const UnknownSet set = node_unknowns_[at];
  return set.has(component) ? first_equation_[at] + set.slot(component) : -1;
}

AnalysisModel::Place AnalysisModel::place(std::int32_t equation) const {
  const auto at =
      std::upper_bound(first_equation_.begin(), first_equation_.end(), equation) - first_equation_.begin() - 1;
  return {node_at_[at], component(static_cast<std::size_t>(at), equation)};
}

std::string AnalysisModel::equation_label(std::int32_t equation) const {
  const Place at = place(equation);
  const RotationNode* rotation = domain_.rotation_node(at.node);
  if (!rotation) return domain_.node_label(at.node) + ", " + unknown_names_[at.component];
  if (rotation->reference == at.node) return domain_.node_label(at.node) + ", a generalised coordinate";
  const bool plane = std::find(unknown_names_.begin(), unknown_names_.end(), "uz") == unknown_names_.end();
  const int axis = plane ? 2 : at.component;
  const std::string about = std::string("rotation about ") + "xyz"[axis];
  if (rotation->hidden)
    return domain_.node_label(at.node) + ", " + about + " (degree of freedom " + std::to_string(axis + 4) + ")";
  return domain_.node_label(at.node) + ", " + unknown_names_[at.component] + " (" + about + " of " +
         domain_.node_label(rotation->reference) + ")";
}

std::vector<std::int32_t> AnalysisModel::unused_nodes() const {
  std::vector<std::int32_t> unused;
  for (std::int32_t n = 0; n < domain_.node_count(); ++n)
    if (position_[n] < 0) unused.push_back(n);
  return unused;
}

ElementRef element_of(const BatchOrigin& origin, std::int32_t entry) {
  return origin.elements.empty() ? ElementRef{origin.block, entry} : origin.elements[entry];
}

ElementRef AnalysisModel::element_of(int batch, std::int32_t entry) const {
  return voussoir::element_of(origins_[batch], entry);
}

std::vector<double> AnalysisModel::batch_factors(std::span<const double> case_factors) const {
  std::vector<double> factors;
  for (const auto& origin : origins_) switch (origin.kind) {
      case BatchOrigin::Kind::block:
      case BatchOrigin::Kind::constraint:
        factors.push_back(1);
        break;
      case BatchOrigin::Kind::surface_load:
        factors.push_back(case_factors[origin.load_case]);
        break;
      case BatchOrigin::Kind::body_load:
        factors.push_back(0);
        break;
    }
  return factors;
}

bool AnalysisModel::same_matrix(std::span<const double> a, std::span<const double> b) const {
  for (std::size_t i = 0; i < origins_.size(); ++i)
    if (origins_[i].kind == BatchOrigin::Kind::surface_load &&
        device_model_->part(0).batches[i].program->has_tangent() &&
        a[origins_[i].load_case] != b[origins_[i].load_case])
      return false;
  if (!depends_on_temperature_ && !laws_read_temperature_) return true;
  for (std::size_t c = 0; c < domain_.load_case_count(); ++c)
    if (!domain_.load_case(c).temperatures().empty() && a[c] != b[c]) return false;
  return true;
}

bool AnalysisModel::follows_unknown_temperature() const {
  return temperature_component_ >= 0 && (depends_on_temperature_ || laws_read_temperature_ || follows_other_field_);
}

bool AnalysisModel::is_linear() const {
  if (temperature_component_ >= 0 && (depends_on_temperature_ || follows_other_field_)) return false;
  for (const ElementBatch& batch : device_model_->part(0).batches)
    if (!batch.program->linear()) return false;
  return true;
}

bool AnalysisModel::has_history() const {
  const auto& batches = device_model_->part(0).batches;
  return std::any_of(batches.begin(), batches.end(),
                     [](const ElementBatch& batch) { return batch.program->history_count() > 0; });
}

std::uint64_t AnalysisModel::next_serial() {
  static std::atomic<std::uint64_t> models{0};
  return ++models;
}

/// Load cases as vectors, at factor 1.
struct AnalysisModel::KeptLoads {
  static constexpr std::size_t most = 8;  ///< vectors
  std::vector<bool> was_used;             ///< per load case: it is kept when it is used again
  std::map<std::size_t, Vector> vectors;
};

std::shared_ptr<AnalysisModel::KeptLoads> AnalysisModel::make_kept_loads() { return std::make_shared<KeptLoads>(); }

void AnalysisModel::add_load_case(std::size_t load_case, double factor, const ElementState& state, Vector& f) const {
  if (const auto& loads = domain_.load_case(load_case).nodal_loads(); !loads.empty()) {
    std::vector<double> nodal(static_cast<std::size_t>(equation_count()), 0.0);
    for (const auto& load : loads) nodal[equation(load.node, load.unknown)] += factor * load.value;
    Vector nodal_vector = make_vector();
    nodal_vector.from_host(nodal);
    backend_->axpy(1.0, nodal_vector, f);
  }
  const auto add = [&](int batch, const BatchOrigin& origin) {
    if (origin.load_case != static_cast<int>(load_case)) return;
    BodyLoad load = origin.body;
    for (double& a : load.acceleration) a *= factor;
    load.angular_velocity_squared *= factor;
    load.source *= factor;
    translating([&] { backend_->body_load(*device_model_, batch, state, load, f); });
  };
  for (const auto& origin : whole_body_loads_)
    for (std::size_t b = 0; b < origins_.size(); ++b)
      if (origins_[b].kind == BatchOrigin::Kind::block && origins_[b].block == origin.block)
        add(static_cast<int>(b), origin);
  for (std::size_t b = 0; b < origins_.size(); ++b)
    if (origins_[b].kind == BatchOrigin::Kind::body_load) add(static_cast<int>(b), origins_[b]);
}

void AnalysisModel::add_loads(std::span<const double> case_factors, const ElementState& state, Vector& f) const {
  KeptLoads& kept = *kept_loads_;
  kept.was_used.resize(domain_.load_case_count(), false);
  for (std::size_t c = 0; c < domain_.load_case_count(); ++c) {
    const LoadCase& load_case = domain_.load_case(c);
    if (case_factors[c] == 0 || (load_case.nodal_loads().empty() && load_case.body_loads().empty())) continue;
    if (const auto found = kept.vectors.find(c); found != kept.vectors.end()) {
      backend_->axpy(case_factors[c], found->second, f);
      continue;
    }
    const bool constant = load_case.body_loads().empty() || (!depends_on_temperature_ && !laws_read_temperature_);
    if (!constant) {
      add_load_case(c, case_factors[c], state, f);
      continue;
    }
    // The same sums whether the vector is kept or not: the loads at factor 1, times the factor.
    Vector loads = make_vector();
    backend_->fill(loads, 0.0);
    add_load_case(c, 1.0, state, loads);
    backend_->axpy(case_factors[c], loads, f);
    if (kept.was_used[c] && kept.vectors.size() < KeptLoads::most) kept.vectors.emplace(c, std::move(loads));
    kept.was_used[c] = true;
  }
}

std::shared_ptr<const NodalValues> AnalysisModel::temperatures(std::span<const double> case_factors) const {
  std::vector<double> t;
  for (std::size_t c = 0; c < domain_.load_case_count(); ++c) {
    const auto& given = domain_.load_case(c).temperatures();
    if (given.empty()) continue;
    if (t.empty()) t = initial_temperatures();
    if (case_factors[c] == 0) continue;
    for (std::size_t k = 0; k < node_at_.size(); ++k) {
      const double value = static_cast<std::size_t>(node_at_[k]) < given.size() ? given[node_at_[k]] : NAN;
      if (!std::isnan(value)) t[k] += case_factors[c] * (value - domain_.initial_temperature(node_at_[k]));
    }
  }
  if (t.empty() && depends_on_temperature_) t = initial_temperatures();
  return t.empty() ? nullptr : std::make_shared<const NodalValues>(device_model_->nodal_values(t));
}

std::vector<double> AnalysisModel::initial_temperatures() const {
  std::vector<double> t(node_at_.size());
  for (std::size_t k = 0; k < t.size(); ++k) t[k] = domain_.initial_temperature(node_at_[k]);
  return t;
}

std::shared_ptr<const NodalValues> AnalysisModel::temperatures_from(const Vector& unknowns) const {
  return std::make_shared<const NodalValues>(backend_->temperatures(*device_model_, unknowns, temperature_component_));
}

std::optional<double> AnalysisModel::radiation_start() const {
  std::optional<double> start;
  for (const auto& load_case : domain_.load_cases())
    for (const auto& load : load_case->surface_loads())
      if (load.kind == "radiation") {
        const double sink = load.values[1], cold = load.values[2] + 273.15;
        start = std::max({start.value_or(sink), sink, cold});
      }
  if (start)
    for (std::int32_t e = 0; e < equation_count(); ++e)
      if (prescribed_[e] && place(e).component == temperature_component_) start = std::max(*start, plan_.value[e]);
  return start;
}

Vector AnalysisModel::initial_unknowns(double factor) const {
  std::vector<double> u(equation_count(), 0.0);
  const auto start = radiation_start();
  if (start || follows_unknown_temperature())
    for (std::size_t k = 0; k < node_at_.size(); ++k)
      if (node_unknowns_[k].has(temperature_component_))
        u[first_equation_[k] + node_unknowns_[k].slot(temperature_component_)] =
            start ? *start : domain_.initial_temperature(node_at_[k]);
  for (std::int32_t e = 0; e < equation_count(); ++e)
    if (prescribed_[e]) u[e] = factor * plan_.value[e];
  for (const auto& d : plan_.dependent) {
    double value = factor * d.constant;
    for (std::size_t k = 0; k < d.others.size(); ++k) value += d.coefficients[k] * u[d.others[k]];
    u[d.equation] = value;
  }
  Vector result = make_vector();
  result.from_host(u);
  return result;
}

Vector AnalysisModel::prescribed_unknowns() const {
  std::vector<double> u(equation_count(), 0.0);
  for (std::int32_t e = 0; e < equation_count(); ++e)
    if (prescribed_[e]) u[e] = plan_.value[e];
  for (const auto& d : plan_.dependent) {
    u[d.equation] = d.constant;
    for (std::size_t k = 0; k < d.others.size(); ++k)
      if (prescribed_[d.others[k]]) u[d.equation] += d.coefficients[k] * u[d.others[k]];
  }
  Vector result = make_vector();
  result.from_host(u);
  return result;
}

void AnalysisModel::rethrow(const ElementError& error) const {
  const BatchOrigin& origin = origins_[error.batch()];
  if (origin.kind == BatchOrigin::Kind::constraint) throw Error(error.code(), error.text(), "a constraint");
  const ElementRef ref = element_of(error.batch(), error.element());
  std::string text = error.text();
  if (error.fault() == ElementFault::bad_parameter && origin.kind == BatchOrigin::Kind::block) {
    // The numbers at the lowest temperature, so that the odd one can be seen.
    const ElementBlock& block = domain_.block(ref.block);
    const auto names = block.type().program().parameter_names();
    const auto p = block.parameters();
    const std::size_t at = (p.record.empty() ? 0 : p.record[ref.element]) * p.rows * (names.size() + 1) + 1;
    text += "; it has";
    for (std::size_t k = 0; k < names.size(); ++k)
      text += (k ? ", " : " ") + names[k] + " = " + short_number(p.records[at + k], 6);
  }
  throw Error(error.code(), text, domain_.element_label(ref));
}

}  // namespace voussoir
