#include <voussoir/jobs/detail/state_view.hpp>

#include <cmath>
#include <utility>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/jobs/detail/modal_files.hpp>

namespace voussoir::detail {
namespace {

/// The amplitudes of a field with a real and an imaginary part.
NodalField amplitudes(const NodalField& real, const NodalField& imaginary, const std::string& name) {
  NodalField field = real;
  field.name = name;
  for (std::size_t i = 0; i < field.values.size(); ++i)
    field.values[i] = std::hypot(real.values[i], imaginary.values[i]);
  return field;
}

}  // namespace

std::vector<double> temperatures_of(const Job& job, const JobStep& step, const StepState& state) {
  return state.temperatures.empty() ? acting_temperatures(job, step, state.at) : state.temperatures;
}

StateView::StateView(const Job& job, const JobStep& step, StepState& state, std::vector<double> temperatures)
    : domain_(*job.domains[step.domain]),
      step_(step),
      state_(state),
      acting_{"temperature", {"T"}, std::move(temperatures)} {
  // Invariants of the parts of a harmonic stress are no amplitudes, and those of combined peaks are no peaks.
  if (step.procedure == Procedure::modal_dynamic || is_integrated(step.procedure))
    fields_ = make_step_fields(job, step, state.result, false);
}

void StateView::write(const std::filesystem::path& file, VtuMesh& mesh, bool overwrite) {
  VtuWriter writer(domain_);
  writer.reuse(mesh);
  VtuOptions how;
  how.overwrite = overwrite;
  writer.comment(std::string(state_word(step_.procedure)) + " " + short_number(state_.at, 9));
  if (!acting_.values.empty()) writer.add(acting_);
  for (const StepFields::Shown& shown : fields_.shown)
    writer.add_components(*shown.of, shown.name, shown.first, shown.count);
  for (auto& [name, values] : fields_.cells) writer.add_cells(name, std::move(values));
  if (state_.imaginary) {
    amplitude_ = amplitudes(state_.result.unknowns, state_.imaginary->unknowns, "amplitude");
    writer.add(state_.result.unknowns, "displacement_real").add(state_.imaginary->unknowns, "displacement_imaginary");
    writer.add(amplitude_, "displacement_amplitude");
  } else {
    writer.add(state_.result.unknowns);
    if (!state_.result.reactions.values.empty()) writer.add(state_.result.reactions);
    if (state_.velocity.width() > 0) writer.add(state_.velocity, "velocity");
  }
  if (step_.procedure == Procedure::spectrum && !state_.result.points.empty())
    writer.add_element_means(state_.result.points, {"sxx", "syy", "szz", "sxy", "syz", "sxz"});
  writer.write(file, how);
}

}  // namespace voussoir::detail
