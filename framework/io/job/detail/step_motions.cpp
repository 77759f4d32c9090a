#include <voussoir/framework/io/job/detail/step_motions.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/io/job/detail/modal_steps.hpp>

namespace voussoir::job {

void MotionReader::read(const Json& json, const JobStep& step, DynamicStep& request) {
  SupportPlaces ends;
  if (!request.continues) support_at_.clear();
  const std::set<std::size_t> moves = read_support_motions(json, step, request, ends);
  if (!request.continues) {
    read_initial(json, "initial_displacement", step, request.displacement);
    read_initial(json, "initial_velocity", step, request.velocity);
  } else if (json.has("initial_displacement") || json.has("initial_velocity")) {
    json.at("continue").fail("a step that continues another one has no initial displacement or velocity");
  }
  const std::vector<std::size_t> acts = actions_.supports_of(json, step.domain);
  refuse_late_supports(json, acts, request.continues.has_value());
  for (const std::size_t i : acts) {
    const Support& support = actions_.support(i);
    const bool zero =
        (!support.along || support.along->second == 0) &&
        std::all_of(support.values.begin(), support.values.end(), [](const auto& v) { return v.second == 0; });
    const bool moved = moves.contains(i);
    if (!zero && !moved && step.procedure == Procedure::nonlinear_statics && !support.along) {
      ramp_support(i, request, ends);
      continue;
    }
    if (!zero && !moved)
      json.fail("the support '" + support.name +
                "' prescribes a value other than zero, which would jump at the beginning; give its course by "
                "'support_motions'");
    if (moved || support.along) continue;
    for (const Prescribed& p : prescribed_values(support)) check_start(json, support.name, p, p.value);
  }
  support_at_ = std::move(ends);
}

/// Reads "support_motions". Puts the places where supports end into `ends` and returns the supports that move.
std::set<std::size_t> MotionReader::read_support_motions(const Json& json, const JobStep& step, DynamicStep& request,
                                                         SupportPlaces& ends) const {
  std::set<std::size_t> moves;
  if (!json.has("support_motions")) return moves;
  for (const auto& [name, motion] : json.at("support_motions").members()) {
    MovedSupports moved;
    moved.displacement = read_amplitude(motion);
    for (const std::size_t i : actions_.find_supports(motion, name, step.domain)) {
      if (actions_.support(i).along)
        motion.fail("the support '" + name +
                    "' acts along a direction, and such supports cannot move; use supports along the axes");
      for (const Prescribed& p : prescribed_values(actions_.support(i))) {
        moved.places.push_back({p.node, p.unknown});
        check_start(motion, name, p, p.value * moved.displacement.at(0));
        ends[{p.node, p.unknown}] = p.value * moved.displacement.at(request.times.period);
      }
      moves.insert(i);
    }
    request.moved.push_back(std::move(moved));
  }
  return moves;
}

/// Reads the displacements or velocities of nodes at the beginning under `key`, if the step has it.
void MotionReader::read_initial(const Json& json, const char* key, const JobStep& step,
                                std::vector<InitialMotion>& motions) const {
  if (!json.has(key)) return;
  Body& body = model_.body(step.domain);
  for (const Json& item : json.at(key).items()) {
    item.allow({"group", "unknown", "value"});
    const Json group = item.at("group");
    const std::string set = body.node_set(model_.groups().select(group, {0, 1, 2, 3}, "motions are of"), group);
    const std::string unknown = item.at("unknown").choice({"ux", "uy", "uz", "rx", "ry", "rz"});
    for (const std::int32_t node : body.domain().node_set(set))
      motions.push_back({node, unknown, item.at("value").number()});
  }
}

/// A node that was free in the step that is continued has moved, and a support would take it back with a jump.
void MotionReader::refuse_late_supports(const Json& json, const std::vector<std::size_t>& acts, bool continues) {
  std::set<std::pair<std::int32_t, std::string>> supported;
  std::set<std::size_t> along;
  for (const std::size_t i : acts) {
    bool is_new = false;
    if (actions_.support(i).along) {
      along.insert(i);
      is_new = !supported_along_.count(i);
    } else {
      for (const Prescribed& p : prescribed_values(actions_.support(i))) {
        supported.insert({p.node, p.unknown});
        is_new = is_new || !supported_.count({p.node, p.unknown});
      }
    }
    if (continues && is_new)
      json.fail("the support '" + actions_.support(i).name +
                "' holds unknowns that were free in the step before, which this step continues: it would jump to its "
                "place, since nodes have moved; let it act from the first step on");
  }
  supported_ = std::move(supported);
  supported_along_ = std::move(along);
}

/// In nonlinear statics, a support goes from where it is to what is prescribed.
void MotionReader::ramp_support(std::size_t support, DynamicStep& request, SupportPlaces& ends) const {
  std::map<double, MovedSupports> groups;  // by where they begin, as a share of what is prescribed
  for (const Prescribed& p : prescribed_values(actions_.support(support))) {
    if (p.value == 0) continue;
    const auto before = support_at_.find({p.node, p.unknown});
    MovedSupports& moved = groups[before == support_at_.end() ? 0.0 : before->second / p.value];
    moved.places.push_back({p.node, p.unknown});
    ends[{p.node, p.unknown}] = p.value;
  }
  for (auto& [begin, moved] : groups) {
    moved.displacement = Amplitude({{0, begin}, {request.times.period, 1}});
    request.moved.push_back(std::move(moved));
  }
}

/// Supports begin where the step before has left them, which is at zero unless that step is continued.
void MotionReader::check_start(const Json& json, const std::string& name, const Prescribed& place, double value) const {
  const auto before = support_at_.find({place.node, place.unknown});
  const double at = before == support_at_.end() ? 0.0 : before->second;
  if (std::abs(value - at) > 1e-6 * std::max(std::abs(value), std::abs(at)))
    json.fail("the support '" + name + "' would jump from " + short_number(at, 6) + " to " + short_number(value, 6) +
              " (" + place.unknown + ") at the beginning of the step; give it a motion in 'support_motions' that " +
              "begins where the support is");
}

}  // namespace voussoir::job
