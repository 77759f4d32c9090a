#include <voussoir/jobs/detail/process_stress_step.hpp>

#include <algorithm>
#include <optional>

#include <voussoir/framework/io/checkpoint/bytes.hpp>
#include <voussoir/jobs/detail/part_records.hpp>
#include <voussoir/jobs/detail/stress_curves.hpp>

namespace voussoir::detail {

/// Gives each part the times and temperatures of some states, and applies the supports of the first of them.
void ProcessStressStep::heat(std::size_t step, const std::vector<HeatedState>& states, std::size_t first,
                             std::size_t last) {
  const std::string bytes = processes_.distribute([&](int p) {
    const std::vector<std::int64_t>& nodes = places_[static_cast<std::size_t>(p)].nodes;
    ByteWriter out;
    for (std::size_t i = first; i < last; ++i) {
      std::vector<double> own;
      own.reserve(nodes.size());
      for (const std::int64_t n : nodes) own.push_back(states[i].temperatures[static_cast<std::size_t>(n)]);
      out.put(states[i].time).put(own);
    }
    return out.take();
  });
  const JobStep& asked = part_.job.steps[step];
  agree(processes_, [&] {
    Domain& domain = *part_.job.domains[asked.domain];
    ByteReader in(bytes, "temperatures of a part");
    times_.clear();
    while (!in.at_end()) {
      times_.push_back(in.get<double>());
      std::vector<double> temperatures = in.list<double>();
      fill_temperatures(domain, temperatures);
      heating_[times_.size() - 1]->temperature_field(std::move(temperatures));
    }
    apply_supports_at(asked, std::get<ThermalStressStep>(asked.modal), times_.front(), domain);
  });
}

std::size_t ProcessStressStep::make_cases(const JobStep& asked, std::size_t states) {
  // A part may have none of the supports that move; those of the whole model decide which states have one matrix.
  const bool moved = !std::get<ThermalStressStep>(asked.modal).moved.empty();
  const std::size_t together = processes_.any(moved) ? 1 : most_stress_states;
  heating_.clear();
  agree(processes_, [&] {
    for (std::size_t k = 0; k < std::min(together, states); ++k)
      heating_.push_back(&new_stress_case(*part_.job.domains[asked.domain],
                                          "temperatures " + std::to_string(k + 1) + " in '" + asked.name + "'"));
  });
  return together;
}

void ProcessStressStep::run(std::size_t step, std::vector<HeatedState> states, ProcessStatics& analysis) {
  if (part_receiver_) return run_parts(step, std::move(states), analysis);
  const JobStep& asked = part_.job.steps[step];
  const auto& request = std::get<ThermalStressStep>(asked.modal);
  const auto count = static_cast<std::size_t>(processes_.maximum(static_cast<std::int64_t>(states.size())));
  const std::size_t together = make_cases(asked, count);
  std::optional<StressCurves> curves;
  agree(processes_, [&] {
    if (whole_) curves.emplace(*whole_, whole_->steps[step]);
    if (whole_)
      for (HeatedState& state : states) fill_temperatures(*whole_->domains[asked.domain], state.temperatures);
  });
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t first = i - i % together;
    if (i == first) heat(step, states, first, std::min(first + together, count));
    const double time = times_[i - first];
    const StepResult own = analysis.solve(stress_step(request, time, heating_[i - first]->name()), i + 1 == count);
    StepResult merged = gather_step(processes_, part_, places_, whole_, asked.domain, own);
    agree(processes_, [&] {
      if (!whole_) return;
      curves->take(curves->digest(merged.unknowns), request.start + time);
      receiver_->state(step, stress_state(std::move(merged), request.start + time, std::move(states[i])));
    });
  }
  agree(processes_, [&] {
    if (whole_) receiver_->end(step, curves->finish(count));
  });
}

/// Gives the load cases of a part the temperatures of some states, and applies the supports of the first of them.
void ProcessStressStep::heat_parts(std::size_t step, const std::vector<HeatedState>& states, std::size_t first,
                                   std::size_t last) {
  const JobStep& asked = part_.job.steps[step];
  agree(processes_, [&] {
    for (std::size_t i = first; i < last; ++i) heating_[i - first]->temperature_field(states[i].temperatures);
    apply_supports_at(asked, std::get<ThermalStressStep>(asked.modal), states[first].time,
                      *part_.job.domains[asked.domain]);
  });
}

void ProcessStressStep::run_parts(std::size_t step, std::vector<HeatedState> states, ProcessStatics& analysis) {
  const JobStep& asked = part_.job.steps[step];
  const auto& request = std::get<ThermalStressStep>(asked.modal);
  const std::size_t together = make_cases(asked, states.size());
  DividedCurveNodes nodes = DividedCurveNodes::find(processes_, part_, asked);
  std::optional<StressCurves> curves;
  agree(processes_, [&] {
    for (HeatedState& state : states) fill_temperatures(*part_.job.domains[asked.domain], state.temperatures);
    curves.emplace(part_.job, asked, std::move(nodes.nodes), std::move(nodes.local));
  });
  for (std::size_t i = 0; i < states.size(); ++i) {
    const std::size_t first = i - i % together;
    if (i == first) heat_parts(step, states, first, std::min(first + together, states.size()));
    const double time = states[i].time;
    StepResult own = analysis.solve(stress_step(request, time, heating_[i - first]->name()), i + 1 == states.size());
    complete_fields(processes_, part_, asked.domain, own);
    MotionDigest digest;
    agree(processes_, [&] { digest = curves->digest(own.unknowns); });
    digest = merge_digests(processes_, part_, asked.domain, std::move(digest));
    agree(processes_, [&] {
      if (processes_.is_first()) curves->take(digest, request.start + time);
    });
    part_receiver_->state(step, stress_state(std::move(own), request.start + time, std::move(states[i])));
  }
  StepResponse response;
  agree(processes_, [&] {
    if (processes_.is_first()) response = curves->finish(states.size());
  });
  part_receiver_->end(step, std::move(response));
}

}  // namespace voussoir::detail
