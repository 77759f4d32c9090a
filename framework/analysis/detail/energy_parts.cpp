#include <voussoir/framework/analysis/detail/energy_parts.hpp>

#include <algorithm>
#include <string_view>

#include <voussoir/framework/analysis/process_group.hpp>

namespace voussoir::detail {
namespace {

/// Where a name is in a list; −1 if it is not.
int place_of(std::span<const std::string> names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

/// Whether elements have one point, and modes of motion that it does not see.
bool has_hourglass_control(const ElementType& type) {
  const std::string& shape = type.shape();
  return type.program().points() == 1 && (shape == "hex8" || shape == "quad4") &&
         type.program().unknown_names()[0] == "ux";
}

/// Σ volume · value of one of the recovered quantities.
double volume_integral(const std::vector<double>& values, std::size_t width, int volume, int quantity) {
  double sum = 0;
  for (std::size_t at = 0; at + width <= values.size(); at += width)
    sum += values[at + static_cast<std::size_t>(volume)] * values[at + static_cast<std::size_t>(quantity)];
  return sum;
}

/// Σ volume · flux : gradient of the points. A negative result marks names of another kind.
double work_at_points(const std::vector<double>& values, std::span<const std::string> names, bool& known) {
  const int volume = place_of(names, "volume"), strain = place_of(names, "exx"), stress = place_of(names, "sxx"),
            gradient = place_of(names, "g1x"), flux = place_of(names, "q1x");
  known = volume >= 0 && ((strain >= 0 && stress >= 0) || (gradient >= 0 && flux >= 0));
  double sum = 0;
  const std::size_t width = names.size();
  for (std::size_t at = 0; known && at + width <= values.size(); at += width) {
    const double* const point = values.data() + at;
    double work = 0;
    if (strain >= 0)
      for (int k = 0; k < 6; ++k) work += (k < 3 ? 1 : 2) * point[strain + k] * point[stress + k];
    else
      for (int k = 0; k < flux - gradient; ++k) work -= point[gradient + k] * point[flux + k];  // −flux is recovered
    sum += point[volume] * work;
  }
  return sum;
}

}  // namespace

EnergyParts energy_parts(const AnalysisModel& model, const AnalysisState& state) {
  EnergyParts parts;
  Backend& backend = model.backend();
  for (std::size_t b = 0; b < model.batches().size(); ++b) {
    const BatchOrigin& origin = model.batches()[b];
    if (origin.kind != BatchOrigin::Kind::block) continue;
    const ElementType& type = model.domain().block(static_cast<std::size_t>(origin.block)).type();
    const auto names = type.program().recovered_names();
    const int plastic = place_of(names, "plastic_energy"), volume = place_of(names, "volume");
    const bool flows = plastic >= 0 && volume >= 0, controlled = has_hourglass_control(type);
    if (!flows && !controlled) continue;
    const std::vector<double> values =
        model.translating([&] { return backend.recover(model.device_model(), static_cast<int>(b), state.elements()); });
    if (flows) parts.plastic += volume_integral(values, names.size(), volume, plastic);
    if (!controlled) continue;
    if (const int own = place_of(names, "hourglass_energy"); own >= 0 && volume >= 0) {
      parts.hourglass += volume_integral(values, names.size(), volume, own);
      continue;
    }
    bool known = false;
    const double at_points = work_at_points(values, names, known);
    if (!known) continue;
    std::vector<double> factors(model.batches().size(), 0.0);
    factors[b] = 1;
    Vector force = model.make_vector();
    backend.fill(force, 0.0);
    model.translating([&] { backend.residual(model.device_model(), state.elements(), factors, false, force); });
    parts.hourglass += 0.5 * (backend.dot(state.unknowns, force) - at_points);
  }
  parts.plastic = sum_of_all(model, parts.plastic);
  parts.hourglass = sum_of_all(model, parts.hourglass);
  return parts;
}

namespace {

/// Whether the elements of this process have a stored energy, or are linear.
bool part_has_stored_energy(const AnalysisModel& model) {
  if (model.has_history()) return false;
  for (const BatchOrigin& origin : model.batches()) {
    if (origin.kind == BatchOrigin::Kind::constraint) return false;
    if (origin.kind != BatchOrigin::Kind::block) continue;
    const ElementType& type = model.domain().block(static_cast<std::size_t>(origin.block)).type();
    const auto names = type.program().recovered_names();
    const bool recovers = place_of(names, "energy") >= 0 && place_of(names, "volume") >= 0;
    const std::string family = type.name().substr(0, type.name().find('.'));
    if (!type.program().linear() && !(recovers && family.ends_with("finite_solid"))) return false;
  }
  return true;
}

}  // namespace

bool has_stored_energy(const AnalysisModel& model) {
  return !all_linear(model) && !on_any(model, !part_has_stored_energy(model));
}

std::optional<double> stored_energy(const AnalysisModel& model, const AnalysisState& state) {
  if (!has_stored_energy(model)) return std::nullopt;
  Backend& backend = model.backend();
  double sum = 0;
  std::vector<double> factors(model.batches().size(), 0.0);
  bool others = false;
  for (std::size_t b = 0; b < model.batches().size(); ++b) {
    const BatchOrigin& origin = model.batches()[b];
    if (origin.kind != BatchOrigin::Kind::block) continue;
    const ElementProgram& program = model.domain().block(static_cast<std::size_t>(origin.block)).type().program();
    const auto names = program.recovered_names();
    const int energy = place_of(names, "energy"), volume = place_of(names, "volume");
    if (energy >= 0 && volume >= 0) {
      const std::vector<double> values = model.translating(
          [&] { return backend.recover(model.device_model(), static_cast<int>(b), state.elements()); });
      sum += volume_integral(values, names.size(), volume, energy);
    } else if (program.has_tangent()) {
      factors[b] = 1;
      others = true;
    }
  }
  if (!others) return sum_of_all(model, sum);
  Vector force = model.make_vector();
  backend.fill(force, 0.0);
  model.translating([&] { backend.residual(model.device_model(), state.elements(), factors, false, force); });
  return sum_of_all(model, sum + 0.5 * backend.dot(state.unknowns, force));
}

}  // namespace voussoir::detail
