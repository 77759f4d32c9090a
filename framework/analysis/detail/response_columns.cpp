#include <voussoir/framework/analysis/detail/response_columns.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <voussoir/backends/host_memory.hpp>
#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/analysis/step.hpp>

namespace voussoir::detail {
namespace {

/// Balance of a superposed state: what statics and inertia have, and damping forces as K times a motion.
class SuperposedBalance final : public StaticIntegrator {
 public:
  SuperposedBalance(MassKind mass, Vector damping) : damping_(std::move(damping)) { set_mass_kind(mass); }
  Vector out_of_balance(const AnalysisModel& model, const AnalysisState& state) override {
    Vector r = StaticIntegrator::out_of_balance(model, state);
    if (!damping_.layout()) return r;
    std::vector<double> factors;
    for (const BatchOrigin& origin : model.batches())
      factors.push_back(origin.kind == BatchOrigin::Kind::block ? 1 : 0);
    model.translating(
        [&] { model.backend().residual(model.device_model(), ElementState(damping_), factors, false, r); });
    return r;
  }

 private:
  Vector damping_;
};

const std::vector<std::string>& stress_components() {
  static const std::vector<std::string> names{"sxx", "syy", "szz", "sxy", "syz", "sxz"};
  return names;
}

/// What is superposed of what a program recovers: stresses, or all that depends linearly on displacements.
std::vector<std::string> superposed_names(std::span<const std::string> recovered, bool& stress) {
  const auto has = [&](const std::string& name) {
    return std::find(recovered.begin(), recovered.end(), name) != recovered.end();
  };
  stress = std::all_of(stress_components().begin(), stress_components().end(), has);
  if (stress) return stress_components();
  std::vector<std::string> names;
  for (const std::string& name : recovered) {
    static const std::vector<std::string> others{"x", "y", "z", "volume", "energy"};
    if (std::find(others.begin(), others.end(), name) == others.end()) names.push_back(name);
  }
  return names;
}

/// The elements of a block that a request names, by index within the block.
std::vector<std::int32_t> requested(const Domain& domain, std::int32_t block, const std::string& set) {
  std::vector<std::int32_t> elements;
  if (set.empty()) {
    for (std::int32_t e = 0; e < domain.block(static_cast<std::size_t>(block)).size(); ++e) elements.push_back(e);
    return elements;
  }
  for (const ElementRef& ref : domain.element_set(set))
    if (ref.block == block) elements.push_back(ref.element);
  std::sort(elements.begin(), elements.end());
  return elements;
}

}  // namespace

ResponseColumns::ResponseColumns(std::shared_ptr<const SuperpositionBasis> basis, std::vector<int> modes,
                                 ModalSystem system, double alpha, std::vector<int> patterns, bool corrected)
    : basis_(std::move(basis)),
      modes_(std::move(modes)),
      system_(std::move(system)),
      alpha_(alpha),
      patterns_(std::move(patterns)),
      corrected_(corrected) {}

std::vector<double> ResponseColumns::displacement_coordinates(const ModalPoint& point) const {
  std::vector<double> c(point.displacement);
  if (!corrected_) return c;
  for (std::size_t i = 0; i < mode_count(); ++i) {
    const double omega = system_.omegas()[i];
    for (std::size_t j = 0; j < pattern_count(); ++j) c[i] -= modal_load(i, j) * point.loads[j] / omega / omega;
  }
  c.insert(c.end(), point.loads.begin(), point.loads.end());
  return c;
}

std::vector<double> ResponseColumns::reaction_coordinates(const ModalPoint& point) const {
  std::vector<double> c = displacement_coordinates(point);
  c.resize(mode_count());
  for (std::size_t i = 0; i < mode_count(); ++i)
    if (const double omega = system_.omegas()[i]; omega > 0)
      c[i] += (2 * system_.decays()[i] - alpha_) / omega / omega * point.velocity[i];
  c.insert(c.end(), point.loads.begin(), point.loads.end());
  return c;
}

std::vector<double> ResponseColumns::motion_coordinates(const ModalPoint& point, ModalQuantity quantity,
                                                        MotionFrame frame) const {
  std::vector<double> c = quantity == ModalQuantity::displacement ? displacement_coordinates(point)
                          : quantity == ModalQuantity::velocity   ? point.velocity
                                                                  : point.acceleration;
  if (frame == MotionFrame::relative) return c;
  for (std::size_t j = 0; j < pattern_count(); ++j)
    c.push_back(pattern(j).direction < 0                  ? 0
                : quantity == ModalQuantity::displacement ? point.ground_displacement[j]
                : quantity == ModalQuantity::velocity     ? point.ground_velocity[j]
                                                          : point.loads[j]);
  return c;
}

Vector ResponseColumns::from_modes(std::span<const double> coefficients) const {
  std::vector<double> all(static_cast<std::size_t>(basis_->modes()), 0.0);
  for (std::size_t i = 0; i < mode_count(); ++i) all[static_cast<std::size_t>(modes_[i])] = coefficients[i];
  return basis_->combination(all);
}

Vector ResponseColumns::displacement(const ModalPoint& point) const {
  const std::vector<double> c = displacement_coordinates(point);
  Vector u = from_modes(c);
  for (std::size_t j = 0; corrected_ && j < pattern_count(); ++j)
    model().backend().axpy(c[mode_count() + j], pattern(j).statics, u);
  return u;
}

Vector ResponseColumns::displacement_column(std::size_t column) const {
  return column < mode_count() ? basis_->shape(modes_[column]) : pattern(column - mode_count()).statics.clone();
}

NodalField ResponseColumns::motion(const ModalPoint& point, ModalQuantity quantity, MotionFrame frame) const {
  Vector u = quantity == ModalQuantity::displacement
                 ? displacement(point)
                 : from_modes(quantity == ModalQuantity::velocity ? point.velocity : point.acceleration);
  if (frame == MotionFrame::absolute) {
    const std::vector<double> c = motion_coordinates(point, quantity, frame);
    for (std::size_t j = 0; j < pattern_count(); ++j)
      if (const double factor = c[c.size() - pattern_count() + j]; factor != 0)
        model().backend().axpy(factor, basis_->rigid_motion(pattern(j).direction), u);
  }
  const std::string name = field_name(model().unknown_names());
  return field_of(u.to_host(), quantity == ModalQuantity::displacement ? name
                               : quantity == ModalQuantity::velocity   ? "velocity"
                                                                       : "acceleration");
}

ColumnValues ResponseColumns::motion_columns(ModalQuantity quantity, MotionFrame frame) const {
  ColumnValues columns;
  const std::size_t count = adds_statics(quantity) ? displacement_columns() : mode_count();
  for (std::size_t c = 0; c < count; ++c) columns.push_back(displacement_column(c).to_host());
  if (frame == MotionFrame::absolute)
    for (std::size_t j = 0; j < pattern_count(); ++j)
      columns.push_back(pattern(j).direction < 0
                            ? std::vector<double>(static_cast<std::size_t>(model().equation_count()), 0.0)
                            : basis_->rigid_motion(pattern(j).direction).to_host());
  return columns;
}

std::vector<double> ResponseColumns::motion_entries(std::int32_t equation, ModalQuantity quantity,
                                                    MotionFrame frame) const {
  Backend& backend = model().backend();
  std::vector<double> unit(static_cast<std::size_t>(model().equation_count()), 0.0);
  unit[static_cast<std::size_t>(equation)] = 1;
  Vector one = model().make_vector();
  one.from_host(unit);
  std::vector<double> all(static_cast<std::size_t>(basis_->modes())), entries;
  backend.block_dot(basis_->shapes(), one, all);
  for (const int m : modes_) entries.push_back(all[static_cast<std::size_t>(m)]);
  for (std::size_t j = 0; adds_statics(quantity) && j < pattern_count(); ++j)
    entries.push_back(backend.dot(pattern(j).statics, one));
  for (std::size_t j = 0; frame == MotionFrame::absolute && j < pattern_count(); ++j)
    entries.push_back(pattern(j).direction < 0 ? 0 : backend.dot(basis_->rigid_motion(pattern(j).direction), one));
  return entries;
}

StepResult ResponseColumns::result_of(Vector unknowns, Vector acceleration, Vector damping,
                                      std::span<const double> loads, const std::string& name, bool recover) const {
  AnalysisState state;
  state.name = name;
  state.unknowns = std::move(unknowns);
  state.second_rate = std::move(acceleration);
  state.case_factors.assign(model().domain().load_case_count(), 0.0);
  for (std::size_t j = 0; j < loads.size(); ++j)
    if (const int load_case = pattern(j).load_case; load_case >= 0)
      state.case_factors[static_cast<std::size_t>(load_case)] += loads[j];
  state.loads = basis_->zeros();
  model().add_loads(state.case_factors, state.elements(), state.loads);
  SuperposedBalance balance(basis_->mass_kind(), std::move(damping));
  SolveReport report;
  report.converged = true;
  report.solver = "mode superposition";
  report.reason = std::to_string(mode_count()) + " modes" + (corrected_ ? ", with static correction" : "");
  return make_step_result(model(), balance, state, report, recover);
}

StepResult ResponseColumns::state(const ModalPoint& point, const std::string& name, bool recover) const {
  std::vector<double> motion(mode_count()), damping(mode_count(), 0.0);
  bool damped = false;
  for (std::size_t i = 0; i < mode_count(); ++i) {
    motion[i] = point.acceleration[i] + alpha_ * point.velocity[i];
    if (const double omega = system_.omegas()[i]; omega > 0)
      damping[i] = (2 * system_.decays()[i] - alpha_) / omega / omega * point.velocity[i];
    damped = damped || damping[i] != 0;
  }
  Vector acceleration = from_modes(motion);
  for (std::size_t j = 0; j < pattern_count(); ++j)
    if (pattern(j).direction >= 0)
      model().backend().axpy(point.loads[j], basis_->rigid_motion(pattern(j).direction), acceleration);
  return result_of(displacement(point), std::move(acceleration), damped ? from_modes(damping) : Vector(), point.loads,
                   name, recover);
}

std::vector<std::size_t> ResponseColumns::reaction_places(ColumnValues& columns) const {
  std::vector<std::size_t> places;
  const auto take = [&](const StepResult& result) {
    if (columns.empty())
      for (std::size_t k = 0; k < result.reactions.values.size(); ++k)
        if (!std::isnan(result.reactions.values[k])) places.push_back(k);
    std::vector<double>& column = columns.emplace_back();
    for (const std::size_t k : places) column.push_back(result.reactions.values[k]);
    column.insert(column.end(), result.reaction_sum.begin(), result.reaction_sum.end());
  };
  columns.clear();
  Backend& backend = model().backend();
  const std::vector<double> unloaded(pattern_count(), 0.0);
  for (std::size_t i = 0; i < mode_count(); ++i) {
    const double omega = system_.omegas()[i];
    Vector acceleration = basis_->shape(modes_[i]);
    backend.scale(-omega * omega, acceleration);
    take(result_of(basis_->shape(modes_[i]), std::move(acceleration), {}, unloaded, "", false));
  }
  for (std::size_t j = 0; j < pattern_count(); ++j) {
    Vector acceleration = basis_->zeros();
    if (!corrected_) {
      std::vector<double> modal(mode_count());
      for (std::size_t i = 0; i < mode_count(); ++i) modal[i] = modal_load(i, j);
      acceleration = from_modes(modal);
    }
    if (pattern(j).direction >= 0) backend.axpy(1.0, basis_->rigid_motion(pattern(j).direction), acceleration);
    std::vector<double> loads(pattern_count(), 0.0);
    loads[j] = 1;
    take(result_of(corrected_ ? pattern(j).statics.clone() : basis_->zeros(), std::move(acceleration), {}, loads, "",
                   false));
  }
  return places;
}

void ResponseColumns::fill_points(int batch, PointColumns& chunk) const {
  const ElementProgram& program = model().domain().block(static_cast<std::size_t>(chunk.block)).type().program();
  const auto recovered = program.recovered_names();
  std::vector<std::size_t> from;
  for (const std::string& name : chunk.names)
    from.push_back(static_cast<std::size_t>(std::find(recovered.begin(), recovered.end(), name) - recovered.begin()));
  const std::size_t points = static_cast<std::size_t>(chunk.points), width = recovered.size();
  chunk.columns.assign(displacement_columns(), {});
  for (std::size_t c = 0; c < chunk.columns.size(); ++c) {
    const Vector u = displacement_column(c);
    const std::vector<double> values =
        model().translating([&] { return model().backend().recover(model().device_model(), batch, ElementState(u)); });
    std::vector<double>& column = chunk.columns[c];
    column.reserve(chunk.elements.size() * points * from.size());
    for (const std::int32_t e : chunk.elements)
      for (std::size_t p = 0; p < points; ++p)
        for (const std::size_t k : from)
          column.push_back(values[(static_cast<std::size_t>(e) * points + p) * width + k]);
  }
}

void ResponseColumns::visit_points(const PointRequest& request,
                                   const std::function<void(const PointColumns&)>& visit) const {
  const Domain& domain = model().domain();
  if (!(request.memory_bytes > 0))
    throw Error(ErrorCode::bad_input, "the memory for values at points must be positive", "mode superposition");
  const double limit = std::min(request.memory_bytes, 0.5 * available_host_memory().bytes);
  double needed = 0;
  std::vector<std::pair<int, PointColumns>> blocks;
  for (std::size_t b = 0; b < model().batches().size(); ++b) {
    if (model().batches()[b].kind != BatchOrigin::Kind::block) continue;
    PointColumns columns;
    columns.block = model().batches()[b].block;
    const ElementProgram& program = domain.block(static_cast<std::size_t>(columns.block)).type().program();
    columns.points = program.points();
    columns.names = superposed_names(program.recovered_names(), columns.stress);
    if (columns.points == 0 || columns.names.empty()) continue;
    columns.elements = requested(domain, columns.block, request.element_set);
    if (columns.elements.empty()) continue;
    needed += static_cast<double>(columns.elements.size()) * columns.points *
              static_cast<double>(columns.names.size() * displacement_columns() * sizeof(double));
    blocks.emplace_back(static_cast<int>(b), std::move(columns));
  }
  if (needed > limit * request.most_passes)
    throw Error(ErrorCode::out_of_memory,
                "the values of all modes at the points take " + short_number(needed / 1e9, 3) + " GB, and " +
                    std::to_string(request.most_passes) + " passes of " + short_number(limit / 1e9, 3) +
                    " GB are not enough; name a smaller element set, allow more memory or more passes, or superpose "
                    "fewer modes",
                "mode superposition");
  for (auto& [batch, all] : blocks) {
    const double each = static_cast<double>(all.points) *
                        static_cast<double>(all.names.size() * displacement_columns() * sizeof(double));
    const auto most = static_cast<std::size_t>(std::max(1.0, std::floor(limit / each)));
    const std::vector<std::int32_t> elements = std::move(all.elements);
    for (std::size_t first = 0; first < elements.size(); first += most) {
      const std::size_t last = std::min(elements.size(), first + most);
      all.elements.assign(elements.begin() + static_cast<std::ptrdiff_t>(first),
                          elements.begin() + static_cast<std::ptrdiff_t>(last));
      fill_points(batch, all);
      visit(all);
    }
  }
}

NodalField ResponseColumns::field_of(const std::vector<double>& values, const std::string& name) const {
  NodalField field{name, model().unknown_names(), {}};
  const std::size_t width = field.components.size();
  field.values.assign(static_cast<std::size_t>(model().domain().node_count()) * width,
                      std::numeric_limits<double>::quiet_NaN());
  const auto nodes = model().numbered_nodes();
  const auto first = model().first_equation();
  for (std::size_t k = 0; k < nodes.size(); ++k)
    for (std::int32_t e = first[k]; e < first[k + 1]; ++e)
      field.values[static_cast<std::size_t>(nodes[k]) * width + static_cast<std::size_t>(model().component(k, e))] =
          values[static_cast<std::size_t>(e)];
  return field;
}

std::int32_t ResponseColumns::equation_of(Id node, const std::string& unknown) const {
  const std::int32_t index = model().domain().node_index(node);
  const std::int32_t e = model().equation(index, unknown);
  if (e < 0)
    throw Error(ErrorCode::not_found, "the node has no unknown '" + unknown + "'", model().domain().node_label(index));
  return e;
}

}  // namespace voussoir::detail
