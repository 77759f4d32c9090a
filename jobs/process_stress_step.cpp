#include <voussoir/jobs/detail/process_stress_step.hpp>

#include <algorithm>
#include <optional>

#include <voussoir/framework/io/checkpoint/bytes.hpp>
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

void ProcessStressStep::run(std::size_t step, std::vector<HeatedState> states, ProcessStatics& analysis) {
  const JobStep& asked = part_.job.steps[step];
  const auto& request = std::get<ThermalStressStep>(asked.modal);
  // A part may have none of the supports that move; those of the whole model decide which states have one matrix.
  const auto count = static_cast<std::size_t>(processes_.maximum(static_cast<std::int64_t>(states.size())));
  const std::size_t together = processes_.any(!request.moved.empty()) ? 1 : most_stress_states;
  std::optional<StressCurves> curves;
  heating_.clear();
  agree(processes_, [&] {
    if (whole_) curves.emplace(*whole_, whole_->steps[step]);
    for (std::size_t k = 0; k < std::min(together, count); ++k)
      heating_.push_back(&new_stress_case(*part_.job.domains[asked.domain],
                                          "temperatures " + std::to_string(k + 1) + " in '" + asked.name + "'"));
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
      curves->take(merged.unknowns, request.start + time);
      receiver_->state(step, stress_state(std::move(merged), request.start + time, std::move(states[i])));
    });
  }
  agree(processes_, [&] {
    if (whole_) receiver_->end(step, curves->finish(count));
  });
}

}  // namespace voussoir::detail
