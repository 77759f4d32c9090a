#include <voussoir/jobs/detail/state_files.hpp>

#include <cmath>
#include <filesystem>
#include <utility>

#include <voussoir/jobs/detail/step_bytes.hpp>
#include <voussoir/jobs/detail/step_frd.hpp>

namespace voussoir::detail {

StateFiles::StateFiles(CommonFiles& files, HeatingSteps& heating, const StepProbes& probes, StepPictures& pictures,
                       PartFiles& parts)
    : files_(files),
      heating_(heating),
      probes_(probes),
      pictures_(pictures),
      parts_(parts),
      state_probes_(files.job(), probes),
      modal_(files.job(), files.options(), surroundings()) {}

ModalFiles::Surroundings StateFiles::surroundings() {
  return {[this](const std::filesystem::path& file) { files_.done(file); },
          [this](const std::string& text) { files_.append_to_dat(text); },
          [this](const std::string& text) { files_.note(text); },
          [this](std::size_t step, std::size_t request, std::size_t item) {
            return files_.names().table(step, request, item);
          }};
}

void StateFiles::modes(std::size_t step, const ModeSet& modes) {
  const Job& job = files_.job();
  modal_.modes(step, files_.stem(step), modes);
  if (files_.options().frd) write_frd_modes(files_.frd(), job, step, modes);
  if (files_.options().tables) state_probes_.add(step, modes);
  for (int m = 0; m < modes.count(); ++m)
    for (const std::filesystem::path& file :
         parts_.write(job.steps[step], files_.stem(step) + PartFiles::mode_suffix(m),
                      modes.shapes[static_cast<std::size_t>(m)], {}))
      files_.done(file);
}

void StateFiles::state(std::size_t step, StepState& state) {
  const Job& job = files_.job();
  const OutputOptions& options = files_.options();
  const Procedure procedure = job.steps[step].procedure;
  const bool in_frd =
      options.frd && state.for_viewers && (procedure == Procedure::modal_dynamic || is_integrated(procedure));
  const bool saved = checkpoints_ && is_saved(procedure);
  // Steps of statics that follow may show the temperatures at the end.
  const double end = job.steps[step].total_time;
  std::optional<NodalField> temperatures;
  if (saved && heating_.contains(step) && is_heat(procedure) && std::abs(state.time - end) <= 1e-6 * std::abs(end))
    temperatures = state.result.unknowns;
  const CommonFiles::Adding adding(files_, saved);
  if (in_frd) {
    FrdWriter& file = files_.frd();
    write_frd_state(file, job, step, ++frd_states_[step], state);
  }
  if (options.tables) state_probes_.add(step, state);
  pictures_.take_state(step, state);
  modal_.state(step, files_.stem(step), std::move(state));
  if (saved) save_added(step, adding.added(), temperatures);
}

void StateFiles::merged_state(std::size_t step, const StepState& head, std::span<const PrintTable> tables,
                              std::span<const PrintTable> imaginary, std::span<const std::string> told) {
  const bool saved = checkpoints_ && is_saved(files_.job().steps[step].procedure);
  const CommonFiles::Adding adding(files_, saved);
  for (const std::string& text : told) files_.note(text);
  if (files_.options().tables) {
    modal_.add_tables(step, head, false, tables);
    if (!imaginary.empty()) modal_.add_tables(step, head, true, imaginary);
  }
  if (head.for_viewers) modal_.add_pieces(step, files_.stem(step), head.at);
  if (saved) save_added(step, adding.added(), {});
}

void StateFiles::save_added(std::size_t step, const CommonFiles::Added& adds,
                            const std::optional<NodalField>& temperatures) {
  ByteWriter out;
  out.put(adds.dat).put(adds.frd).put(frd_states_[step]);
  const FrdWriter::Counts counts = files_.frd_counts();
  out.put(counts.states).put(counts.results).put(adds.notes);
  modal_.take_added(out);
  state_probes_.take_added(out);
  pictures_.take_added(out);
  out.put(temperatures.has_value());
  if (temperatures) put(out, *temperatures);
  checkpoints_->add_to_files(step, out.bytes());
}

void StateFiles::restore(std::size_t step, std::string_view bytes) {
  ByteReader in(bytes, "the result files of step '" + files_.job().steps[step].name + "'");
  if (const std::string text = in.text(); !text.empty()) files_.append_to_dat(text);
  const std::string text = in.text();
  frd_states_[step] = in.get<int>();
  FrdWriter::Counts counts;
  counts.states = in.get<int>();
  counts.results = in.get<int>();
  if (!text.empty()) files_.frd().append(text, counts);
  for (const std::string& told : in.texts()) files_.note(told);
  modal_.restore(step, files_.stem(step), in);
  state_probes_.restore(in);
  pictures_.restore(step, in);
  if (in.get<bool>()) heating_.keep(step, get_field(in));
  in.expect_end();
}

void StateFiles::end(std::size_t step, const StepResponse& response) {
  modal_.end(step, files_.stem(step), response);
  write_probes(step);
  for (const std::filesystem::path& file : pictures_.draw_states(step, files_.options().folder, files_.names().name()))
    files_.done(file);
  note_left_out(files_.job().steps[step].procedure);
}

void StateFiles::write_probes(std::size_t step) {
  for (const StateProbes::Table& table : state_probes_.take()) {
    files_.write(files_.stem(step) + table.suffix + ".csv", table.csv);
    if (!table.note.empty()) files_.note(table.note);
  }
}

void StateFiles::note_left_out(Procedure procedure) {
  if (procedure == Procedure::frequency) return;
  const OutputOptions& options = files_.options();
  if (options.frd && !is_in_frd(procedure)) files_.note("harmonic steps and spectra are not written to the .frd file");
  if (!parts_.empty()) files_.note("the inside of superelements is not recovered in steps over time or frequency");
  if (procedure != Procedure::spectrum) return;
  if (!probes_.empty()) files_.note("points and paths are not evaluated under response spectra");
  if (options.pictures != Pictures::none) files_.note("steps of response spectra are not drawn");
}

}  // namespace voussoir::detail
