#include <voussoir/jobs/detail/restart_state.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include <voussoir/framework/domain/node_unknowns.hpp>
#include <voussoir/framework/io/checkpoint/bytes.hpp>
#include <voussoir/jobs/detail/step_bytes.hpp>

namespace voussoir::detail {
namespace {

/// What errors in the bytes of a restart file name.
std::string place_in(const RestartStart& start) { return start.where + ", file '" + start.file + "'"; }

[[noreturn]] void refuse(const std::string& text, const std::string& where) {
  throw Error(ErrorCode::bad_input, "*RESTART, READ: " + text, where);
}

/// The last step that was read may be linear statics in one of the jobs and the same in increments in the other, where
/// a *DYNAMIC step begins with its end: the results are the same but for rounding.
bool is_statics(Procedure procedure) {
  return procedure == Procedure::statics || procedure == Procedure::nonlinear_statics;
}

std::vector<FingerprintPart> parts_of(RestartFingerprint from, std::size_t steps) {
  std::vector<FingerprintPart> parts = std::move(from.model);
  for (std::size_t i = 0; i < steps; ++i)
    parts.insert(parts.end(), from.steps[i].parts.begin(), from.steps[i].parts.end());
  return parts;
}

void compare(const Job& job) {
  const std::size_t steps = job.first_step();
  RestartFingerprint saved = RestartFingerprint::of(*job.restart), own = RestartFingerprint::of(job);
  if (saved.steps.size() < steps)
    refuse("the restart file has fewer steps than it should have; run the job that wrote it again", job.restart->where);
  RestartFingerprint::Step &saved_last = saved.steps[steps - 1], &own_last = own.steps[steps - 1];
  if (is_statics(own_last.procedure) && is_statics(saved_last.procedure) &&
      own_last.procedure != saved_last.procedure) {
    saved_last.parts.clear();
    own_last.parts.clear();
  }
  std::vector<FingerprintPart> before = parts_of(std::move(saved), steps), now = parts_of(std::move(own), steps);
  // Sets that only one of the decks has are not used by what both have.
  const auto is_set = [](const FingerprintPart& part) {
    return part.name.starts_with("node set ") || part.name.starts_with("element set ");
  };
  const auto keep_common = [&](std::vector<FingerprintPart>& parts, const std::vector<FingerprintPart>& others) {
    std::erase_if(parts, [&](const FingerprintPart& part) {
      return is_set(part) && std::none_of(others.begin(), others.end(),
                                          [&](const FingerprintPart& other) { return other.name == part.name; });
    });
  };
  keep_common(now, before);
  keep_common(before, now);
  const std::vector<std::string> changed = changed_parts(before, now);
  if (changed.empty()) return;
  std::string names;
  for (std::size_t i = 0; i < std::min<std::size_t>(changed.size(), 5); ++i) names += (i == 0 ? "" : "; ") + changed[i];
  refuse(
      "with the new steps, what was solved before would be different: " + names +
          ". Such a job cannot be continued; put all steps into one deck. (NLGEOM, *PLASTIC or EXPLICIT in new steps "
          "alone change the elements; sets and amplitudes that are used already must stay as they are.)",
      job.restart->where);
}

/// Whether steps and fields are those of a job: what follows uses them as indices.
void check_fields(const Job& job, const RestartState& state) {
  const auto damaged = [&](const std::string& why) {
    throw Error(ErrorCode::bad_input, "the restart file is damaged: " + why + "; run the job that wrote it again",
                place_in(*job.restart));
  };
  std::map<std::size_t, std::set<std::string>> unknowns;  // of the domains
  const auto check = [&](std::size_t step, const NodalField& field, bool may_lack) {
    if (step >= job.first_step()) damaged("it has unknowns of a step that was not solved");
    if (may_lack && field.components.empty() && field.values.empty()) return;
    const auto nodes = static_cast<std::size_t>(job.domains[job.steps[step].domain]->node_count());
    const std::string name = "a field of step " + std::to_string(step + 1);
    if (field.components.empty() || field.values.size() != nodes * field.components.size())
      damaged(name + " does not have a value for each node");
    std::set<std::string>& known = unknowns[job.steps[step].domain];
    if (known.empty()) {
      const std::vector<std::string> names = node_unknowns(*job.domains[job.steps[step].domain]).names;
      known.insert(names.begin(), names.end());
    }
    const std::set<std::string> own(field.components.begin(), field.components.end());
    if (own.size() != field.components.size() || !std::includes(known.begin(), known.end(), own.begin(), own.end()))
      damaged(name + " has other unknowns than the model");
  };
  for (const RestartState::Unknowns& found : state.unknowns) check(found.step, found.values, false);
  if (!state.motion) return;
  check(state.motion->step, state.motion->displacement, true);
  check(state.motion->step, state.motion->velocity, true);
}

/// Whether the new steps find what they continue.
void check_needs(const Job& job, const RestartState& state) {
  const std::size_t first = job.first_step();
  const auto has_unknowns = [&](std::size_t step) {
    return std::any_of(state.unknowns.begin(), state.unknowns.end(),
                       [&](const RestartState::Unknowns& u) { return u.step == step; });
  };
  for (std::size_t i = first; i < job.steps.size(); ++i) {
    const JobStep& step = job.steps[i];
    const auto fail = [&](const std::string& what) {
      refuse("the step needs " + what + ", which the restart file does not have; put all steps into one deck",
             step.where);
    };
    if (step.heated_by && *step.heated_by < first) {
      if (step.procedure == Procedure::thermal_stress || !has_unknowns(*step.heated_by))
        fail("temperatures of the step at " + job.steps[*step.heated_by].where);
    }
    if (const auto* request = std::get_if<DynamicStep>(&step.modal); request && request->continues) {
      const std::size_t before = *request->continues;
      if (before >= first) continue;
      const bool found = step.procedure == Procedure::transient_heat
                             ? has_unknowns(before)
                             : (state.motion && state.motion->step == before) || has_unknowns(before);
      if (!found) fail("the end of the step at " + job.steps[before].where);
    }
  }
}

}  // namespace

std::string RestartFingerprint::to_bytes() const {
  ByteWriter out;
  const auto put_parts = [&](const std::vector<FingerprintPart>& parts) {
    out.put(static_cast<std::uint64_t>(parts.size()));
    for (const FingerprintPart& part : parts) out.put(part.name).put(part.sum);
  };
  put_parts(model);
  out.put(static_cast<std::uint64_t>(steps.size()));
  for (const Step& step : steps) {
    out.put(static_cast<std::uint8_t>(step.procedure));
    put_parts(step.parts);
  }
  return out.take();
}

RestartFingerprint RestartFingerprint::of(const RestartStart& start) {
  ByteReader in(start.job, place_in(start));
  const auto get_parts = [&] {
    std::vector<FingerprintPart> parts;
    for (auto left = in.get<std::uint64_t>(); left > 0; --left) {
      FingerprintPart& part = parts.emplace_back();
      part.name = in.text();
      part.sum = in.get<std::uint64_t>();
    }
    return parts;
  };
  RestartFingerprint found;
  found.model = get_parts();
  for (auto left = in.get<std::uint64_t>(); left > 0; --left) {
    const auto procedure = static_cast<Procedure>(in.get<std::uint8_t>());
    found.steps.push_back({procedure, get_parts()});
  }
  in.expect_end();
  return found;
}

std::string RestartState::to_bytes() const {
  ByteWriter out;
  out.put(static_cast<std::uint64_t>(unknowns.size()));
  for (const Unknowns& u : unknowns) {
    out.put(static_cast<std::uint64_t>(u.step));
    put(out, u.values);
  }
  out.put(motion.has_value());
  if (motion) {
    out.put(static_cast<std::uint64_t>(motion->step));
    put(out, motion->displacement);
    put(out, motion->velocity);
    out.put(motion->history);
  }
  return out.take();
}

RestartState RestartState::of(const RestartStart& start) {
  ByteReader in(start.bytes, place_in(start));
  RestartState state;
  for (auto left = in.get<std::uint64_t>(); left > 0; --left) {
    const auto step = static_cast<std::size_t>(in.get<std::uint64_t>());
    state.unknowns.push_back({step, get_field(in)});
  }
  if (in.get<std::uint8_t>() != 0) {
    Motion motion;
    motion.step = static_cast<std::size_t>(in.get<std::uint64_t>());
    motion.displacement = get_field(in);
    motion.velocity = get_field(in);
    motion.history = in.text();
    state.motion = std::move(motion);
  }
  in.expect_end();
  return state;
}

int deck_step(const Job& job, std::size_t step) {
  const auto is_counted = [](const JobStep& s) { return !s.name.ends_with(", stress"); };
  return static_cast<int>(
      std::count_if(job.steps.begin(), job.steps.begin() + static_cast<std::ptrdiff_t>(step) + 1, is_counted));
}

RestartState read_restart_state(const Job& job) {
  if (job.first_step() == 0 || job.first_step() >= job.steps.size())
    throw Error(ErrorCode::misuse, "a job that continues another one has old steps and new ones", job.restart->where);
  for (const JobStep& step : job.steps)
    if (uses_modes(step.procedure))
      refuse("steps of modes are not supported in a job that continues another one; put them into a deck of their own",
             step.where);
  RestartState state = RestartState::of(*job.restart);
  compare(job);
  check_fields(job, state);
  check_needs(job, state);
  return state;
}

}  // namespace voussoir::detail
