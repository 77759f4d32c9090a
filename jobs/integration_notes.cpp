#include <voussoir/jobs/detail/integration_notes.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/analysis/process_group.hpp>
#include <voussoir/framework/domain/plastic_material.hpp>

namespace voussoir::detail {
namespace {

constexpr double missed_share = 0.02, created_share = 0.02;

/// ∫ |A| over the step, and the same by the trapezoidal rule with equal increments.
struct Areas {
  double exact = 0, sampled = 0;
};

Areas areas_of(const Amplitude& amplitude, double period, double increment) {
  Areas areas;
  std::vector<double> times{0};
  for (const Amplitude::Point& point : amplitude.points())
    if (point.first > 0 && point.first < period && point.first > times.back()) times.push_back(point.first);
  times.push_back(period);
  for (std::size_t i = 1; i < times.size(); ++i) {
    const double from = amplitude.at(times[i - 1]), to = amplitude.before(times[i]), h = times[i] - times[i - 1];
    // A line that crosses zero is two triangles.
    areas.exact += from * to >= 0 ? 0.5 * h * std::abs(from + to)
                                  : 0.5 * h * (from * from + to * to) / (std::abs(from) + std::abs(to));
  }
  const auto count = static_cast<std::int64_t>(std::max(1.0, std::round(period / increment)));
  const double h = period / static_cast<double>(count);
  for (std::int64_t i = 0; i <= count; ++i) {
    const double time = static_cast<double>(i) * h;
    const double value = 0.5 * (std::abs(amplitude.before(time)) + std::abs(amplitude.at(time)));
    areas.sampled += (i == 0 || i == count ? 0.5 : 1.0) * h * value;
  }
  return areas;
}

/// Whether two points within the step are closer to each other than an increment.
bool is_fast(const Amplitude& amplitude, double period, double increment) {
  const auto points = amplitude.points();
  for (std::size_t i = 1; i < points.size(); ++i)
    if (points[i].first > 0 && points[i - 1].first < period && points[i].first - points[i - 1].first < increment &&
        points[i].second != points[i - 1].second)
      return true;
  return false;
}

}  // namespace

std::vector<std::string> notes_on_missed_pulses(const DynamicStep& request, double increment) {
  std::vector<std::string> notes;
  const double period = request.times.period;
  const auto look = [&](const Amplitude& amplitude, const std::string& what) {
    if (!is_fast(amplitude, period, increment)) return;
    const Areas areas = areas_of(amplitude, period, increment);
    const double apart = areas.exact > 0 ? (areas.sampled - areas.exact) / areas.exact : 0;
    if (std::abs(apart) <= missed_share) return;
    notes.push_back("the amplitude of " + what + " changes faster than increments of " + short_number(increment, 3) +
                    " can follow: its integral over the step is taken " + short_number(100 * std::abs(apart), 3) +
                    (apart < 0 ? " % too small" : " % too large") + "; use shorter increments");
  };
  for (const StepLoad& load : request.loads)
    if (!load.course) look(load.amplitude, "load case '" + load.load_case + "'");
  for (const MovedSupports& moved : request.moved) look(moved.displacement, "a moving support");
  for (const BaseMotion& base : request.base) look(base.acceleration, "the motion of the base");
  return notes;
}

std::vector<std::string> notes_on_held_motions(const AnalysisModel& model, const DynamicStep& request,
                                               const std::function<std::string(std::int32_t node)>& name) {
  std::vector<std::string> notes;
  if (request.displacement.empty() && request.velocity.empty()) return notes;
  std::set<std::pair<std::int32_t, std::string>> held;
  for (std::int32_t e = 0; e < model.equation_count(); ++e)
    if (model.is_prescribed(e))
      held.insert({model.place(e).node, model.unknown_names()[static_cast<std::size_t>(model.place(e).component)]});
  const auto look = [&](const std::vector<InitialMotion>& motions, const std::string& what) {
    const InitialMotion* first = nullptr;
    std::size_t count = 0;
    for (const InitialMotion& motion : motions) {
      if (motion.value == 0 || !held.contains({motion.node, motion.unknown})) continue;
      if (!first) first = &motion;
      ++count;
    }
    if (first)
      notes.push_back("initial " + what + " of " + std::to_string(count) +
                      (count == 1 ? " supported unknown is" : " supported unknowns are") + " not used (" +
                      (count == 1 ? "" : "the first: ") + first->unknown + " of node " + name(first->node) +
                      "): supports have the motion that is prescribed");
  };
  look(request.displacement, "displacements");
  look(request.velocity, "velocities");
  return notes;
}

std::string note_on_created_energy(const EnergyBalance& energies) {
  const double created = -energies.numerical(), scale = energies.scale();
  if (!(created > created_share * scale)) return "";
  return "the integration has created energy, " + short_number(100 * created / scale, 3) +
         " % of the largest, and its results are not reliable: use shorter increments, and give supports amplitudes "
         "without sudden changes";
}

std::vector<std::string> notes_on_hardening(const AnalysisModel& model, const Domain& domain,
                                            const std::function<StepResult()>& end) {
  std::vector<std::string> notes;
  const auto plastic_of = [&](std::size_t b) {
    return dynamic_cast<const PlasticMaterial*>(domain.block(b).material().get());
  };
  ProcessGroup* const group = ProcessGroup::of(model);
  bool any = group && group->any(model.has_history());
  for (std::size_t b = 0; b < domain.block_count() && !group; ++b) any = any || plastic_of(b);
  if (!any) return notes;
  std::vector<double> strains(domain.block_count(), 0.0);
  const StepResult last = end();
  for (const PointField& field : last.points) {
    if (!field.has("peeq")) continue;
    double& strain = strains[static_cast<std::size_t>(field.block)];
    const auto width = field.names.size();
    for (auto at = static_cast<std::size_t>(field.name_index("peeq")); at < field.values.size(); at += width)
      strain = std::max(strain, field.values[at]);
  }
  // All parts of a model have the same blocks, whose elements are divided.
  for (double& strain : strains)
    if (group) strain = group->maximum(strain);
  std::map<const PlasticMaterial*, double> largest;
  for (std::size_t b = 0; b < domain.block_count(); ++b)
    if (const PlasticMaterial* const material = plastic_of(b))
      largest[material] = std::max(largest[material], strains[b]);
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    const auto found = largest.find(plastic_of(b));
    if (found == largest.end()) continue;
    const PlasticMaterial& material = *found->first;
    // A table of one row is a choice, not a table that ended.
    if (material.table().size() > 1 && found->second > material.last_strain())
      notes.push_back("the equivalent plastic strain of material '" + material.name() + "' reaches " +
                      short_number(found->second, 4) + ", beyond the end of its hardening table at " +
                      short_number(material.last_strain(), 4) + ", where the yield stress is constant");
    largest.erase(found);
  }
  return notes;
}

}  // namespace voussoir::detail
