#include <voussoir/jobs/detail/restart_state.hpp>

#include <algorithm>
#include <utility>
#include <variant>

#include <voussoir/framework/io/checkpoint/bytes.hpp>
#include <voussoir/jobs/detail/step_bytes.hpp>

namespace voussoir::detail {
namespace {

[[noreturn]] void refuse(const std::string& text, const std::string& where) {
  throw Error(ErrorCode::bad_input, "*RESTART, READ: " + text, where);
}

/// The last step that was read may be linear statics in one of the jobs and the same in increments in the other, where
/// a *DYNAMIC step begins with its end: the results are the same but for rounding.
bool is_statics(const JobStep& step) {
  return step.procedure == Procedure::statics || step.procedure == Procedure::nonlinear_statics;
}

/// Of the last step: "statics of step 3" stands for all that it is made of.
bool is_of_step(const std::string& part, std::size_t step) {
  return part.find(" of step " + std::to_string(step + 1) + " (") != std::string::npos;
}

void compare(const Job& job, const RestartState& state) {
  const std::size_t steps = job.first_step();
  std::vector<FingerprintPart> before = state.fingerprint, now = restart_fingerprint(job, steps);
  const auto procedure = [&](const std::vector<FingerprintPart>& parts) {
    const auto found = std::find_if(parts.begin(), parts.end(),
                                    [](const FingerprintPart& part) { return part.name == "the last procedure"; });
    return found == parts.end() ? std::uint64_t{0} : found->sum;
  };
  if (is_statics(job.steps[steps - 1]) && procedure(before) != procedure(now)) {
    const auto last = [&](const FingerprintPart& part) {
      return is_of_step(part.name, steps - 1) || part.name == "the last procedure";
    };
    std::erase_if(before, last);
    std::erase_if(now, last);
  }
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

std::string RestartState::to_bytes() const {
  ByteWriter out;
  out.put(static_cast<std::uint64_t>(fingerprint.size()));
  for (const FingerprintPart& part : fingerprint) out.put(part.name).put(part.sum);
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
  ByteReader in(start.bytes, start.where + ", file '" + start.file + "'");
  RestartState state;
  for (auto left = in.get<std::uint64_t>(); left > 0; --left) {
    FingerprintPart part;
    part.name = in.text();
    part.sum = in.get<std::uint64_t>();
    state.fingerprint.push_back(std::move(part));
  }
  for (auto left = in.get<std::uint64_t>(); left > 0; --left) {
    const auto step = static_cast<std::size_t>(in.get<std::uint64_t>());
    state.unknowns.push_back({step, get_field(in)});
  }
  if (in.get<bool>()) {
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
  compare(job, state);
  check_needs(job, state);
  return state;
}

}  // namespace voussoir::detail
