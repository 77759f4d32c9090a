#include <voussoir/jobs/piece_results.hpp>

#include <algorithm>
#include <array>
#include <optional>

#include <voussoir/jobs/detail/modal_files.hpp>
#include <voussoir/jobs/detail/mode_pieces.hpp>
#include <voussoir/jobs/detail/part_contribution.hpp>
#include <voussoir/jobs/detail/part_records.hpp>
#include <voussoir/jobs/detail/state_pieces.hpp>
#include <voussoir/jobs/detail/table_csv.hpp>
#include <voussoir/jobs/piece_files.hpp>

namespace voussoir {
namespace {

void refuse_for_pieces(const Job& job, const OutputOptions& options) {
  const auto refuse = [&](const std::string& what, const std::string& where) {
    throw Error(ErrorCode::unavailable,
                what +
                    " cannot be written by processes that have only parts of the model; run the deck itself without "
                    "--pieces",
                where);
  };
  for (const JobStep& step : job.steps) {
    const bool frequency = step.procedure == Procedure::frequency;
    if (has_states(step.procedure) && !frequency && !is_integrated(step.procedure))
      refuse("results of " + to_string(step.procedure), step.where);
    if (frequency && !step.prints.empty()) refuse("tables of modes", step.where);
  }
  if (options.frd) refuse("an .frd file", job.source);
  if (options.pictures != Pictures::none) refuse("pictures", job.source);
  if (!job.points.empty()) refuse("results at points", job.points.front().where);
  if (!job.paths.empty()) refuse("results along paths", job.paths.front().where);
}

/// Requests in local axes that no part has stay as requests in global axes; the values are the same.
void simplify_requests(Processes& processes, Job& job) {
  std::vector<PrintRequest*> local;
  std::vector<std::int64_t> turned;
  agree(processes, [&] {
    for (JobStep& step : job.steps)
      for (PrintRequest& request : step.prints) {
        if (!request.local) continue;
        const Domain& domain = *job.domains[step.domain];
        const bool there =
            request.set.empty() || (request.at == PrintRequest::At::nodes ? domain.has_node_set(request.set)
                                                                          : domain.has_element_set(request.set));
        local.push_back(&request);
        turned.push_back(there && std::any_of(request.quantities.begin(), request.quantities.end(),
                                              [&](const std::string& quantity) {
                                                return detail::is_turned(job, step, request, quantity);
                                              }));
      }
  });
  processes.maximum(turned);
  for (std::size_t i = 0; i < local.size(); ++i) local[i]->local = turned[i] != 0;
}

WholeSizes sizes_of_whole(Processes& processes, const ProcessPart& part) {
  WholeSizes sizes;
  std::array<double, 1> auxiliary{};
  if (part.job.own_nodes > 0)
    for (std::int32_t n = part.job.own_nodes; n < part.node_count(); ++n) auxiliary[0] += part.owns(n);
  processes.sum(auxiliary);
  sizes.nodes = part.whole_nodes - static_cast<std::int64_t>(auxiliary[0]);
  for (std::size_t d = 0; d < part.domains.size(); ++d) {
    std::int64_t elements = 0;
    for (std::size_t b = 0; b < part.domains[d].block_sizes.size(); ++b) {
      elements += part.domains[d].block_sizes[b];
      sizes.elements_by_type[std::as_const(*part.job.domains[d]).block(b).type_name()] +=
          part.domains[d].block_sizes[b];
    }
    sizes.elements = std::max(sizes.elements, elements);
  }
  return sizes;
}

}  // namespace

struct PieceResults::State {
  Processes& processes;
  ProcessPart& part;
  std::optional<PieceFiles> pieces;
  std::optional<ResultFiles> files;  // on process 0
  WholeSizes sizes;
  OutputOptions output;
  detail::StatePieces states;
  std::size_t last = 0;  // the step whose states are being written

  State(Processes& all, ProcessPart& own, OutputOptions options)
      : processes(all), part(own), output(options), states(all, own, output) {
    agree(processes, [&] { refuse_for_pieces(part.job, options); });
    simplify_requests(processes, part.job);
    sizes = sizes_of_whole(processes, part);
    agree(processes, [&] {
      pieces.emplace(part, options);
      if (!processes.is_first()) return;
      OutputOptions rest = options;
      rest.merges_parts = true;
      rest.vtu = false;
      rest.in_background = false;
      for (std::size_t s = 0; s < part.job.steps.size(); ++s)
        for (const std::string& name : names_of_pieces(s, options))
          if (std::find(rest.piece_files.begin(), rest.piece_files.end(), name) == rest.piece_files.end())
            rest.piece_files.push_back(name);
      files.emplace(part.job, rest);
    });
    agree(processes, [&] {  // on machines that do not share the folder
      std::error_code error;
      if (!options.vtu || options.folder.empty()) return;
      std::filesystem::create_directories(options.folder, error);
      if (error)
        throw Error(ErrorCode::io, "the folder cannot be created: " + error.message(),
                    "folder '" + options.folder.string() + "'");
    });
  }

  std::string stem(std::size_t step, const OutputOptions& options) const {
    const std::string name = options.name.empty() ? part.job.name : options.name;
    return part.job.steps.size() > 1 ? name + "_step" + std::to_string(step + 1) : name;
  }

  /// Files of a step that are known before it is solved: of the first mode, where it finds modes.
  std::vector<std::string> names_of_pieces(std::size_t step, const OutputOptions& options) const {
    const JobStep& asked = part.job.steps[step];
    if (is_integrated(asked.procedure)) {
      if (!options.vtu) return {};
      std::vector<std::string> names = states.files(step, 1);
      names.push_back(detail::state_list_name(stem(step, options), asked.procedure));
      return names;
    }
    if (asked.procedure != Procedure::frequency) return pieces->file_names(step);
    return options.vtu ? detail::mode_piece_files(part, asked.domain, stem(step, options), 1)
                       : std::vector<std::string>();
  }

  void write_modes(std::size_t step, ModeSet own) {
    const std::size_t domain = part.job.steps[step].domain;
    const auto& names = part.domains[domain].unknown_names;
    for (NodalField& shape : own.shapes) {
      agree(processes, [&] { detail::give_all_unknowns(shape, names, field_name(names), part.node_count()); });
      detail::complete_shared_nodes(processes, part, {&shape});
    }
    detail::orient_modes_of_parts(processes, part, domain, own);
    detail::write_mode_pieces(processes, part, domain, own, stem(step, output), output);
    agree(processes, [&] {
      if (!files) return;
      const auto written = output.vtu ? detail::mode_piece_files(part, domain, stem(step, output), own.count())
                                      : std::vector<std::string>();
      files->write_merged_modes(step, std::make_shared<const ModeSet>(std::move(own)), written);
    });
  }

  detail::PartContribution contribution(std::size_t step) const {
    const JobStep& asked = part.job.steps[step];
    const Domain& domain = *part.job.domains[asked.domain];
    const StepResult& result = pieces->result();
    const std::int32_t nodes = reported_nodes(part.job, domain);
    const bool heated = asked.procedure == Procedure::statics && !pieces->acting_temperatures().empty();
    detail::PartContribution own;
    detail::add_ranges(part, domain, ranges_of(domain, result.unknowns, nodes), own.ranges);
    detail::add_ranges(part, domain, pieces->ranges(), own.ranges);
    if (heated)
      detail::add_ranges(part, domain, ranges_of(domain, {"temperature", {"T"}, pieces->acting_temperatures()}, nodes),
                         own.ranges);
    detail::add_supports(part, domain, result, own);
    detail::add_tables(part, step, result, heated ? pieces->acting_temperatures() : std::vector<double>(), own);
    if (pieces->has_element_means())
      own.notes.push_back(
          "the model has so many materials that pieces show the mean stress of each element instead of nodal stresses, "
          "whose extremes are left out");
    return own;
  }

  void write_pieces(std::size_t step, StepResult own, const NodalField* heat) {
    std::vector<std::string> sent;
    std::vector<int> neighbours;
    agree(processes, [&] {
      sent = pieces->begin_step(step, std::move(own), heat);
      for (const SharedNodes& shared : part.shared) neighbours.push_back(shared.part);
    });
    const std::vector<std::string> received = processes.exchange(neighbours, sent);
    agree(processes, [&] { pieces->end_step(received); });
    agree(processes, [&] { pieces->write_list(step); });  // all pieces are there
  }

  void merge(std::size_t step) {
    detail::PartContribution own;
    agree(processes, [&] { own = contribution(step); });
    detail::ContributionMerger merger = detail::merge_contributions(processes, own);
    agree(processes, [&] {
      if (!files) return;
      files->write_merged_step(step, merger.summary(part.job, step, pieces->result()), merger.take_tables(),
                               pieces->file_names(step), merger.notes());
    });
  }

  /// The tables of a state, merged on process 0.
  detail::ContributionMerger tables_of(std::size_t step, const StepState& state, bool imaginary) {
    detail::PartContribution own;
    agree(processes, [&] {
      const NodalField* const velocity =
          imaginary && state.imaginary_velocity ? &*state.imaginary_velocity : &state.velocity;
      detail::PrintSelection selection;
      selection.prints = &state.prints;
      if (velocity->width() > 0) selection.velocity = velocity;
      detail::add_tables(part, step, imaginary ? *state.imaginary : state.result, states.temperatures(step, state), own,
                         selection);
    });
    return detail::merge_contributions(processes, own);
  }

  void write_state(std::size_t step, StepState own) {
    const bool viewed = output.vtu && own.for_viewers;
    const bool printed =
        output.tables && std::any_of(own.prints.begin(), own.prints.end(), [](char wanted) { return wanted != 0; });
    if (viewed) settle();
    detail::ContributionMerger real, imaginary;
    if (printed) real = tables_of(step, own, false);
    if (printed && own.imaginary) imaginary = tables_of(step, own, true);
    std::string number;
    agree(processes, [&] {
      if (!files) return;
      StepState head;
      head.at = own.at;
      head.time = own.time;
      head.for_viewers = viewed;
      head.prints = own.prints;
      std::vector<std::string> notes = real.notes();
      notes.insert(notes.end(), imaginary.notes().begin(), imaginary.notes().end());
      files->write_merged_state(step, head, real.take_tables(), imaginary.take_tables(), notes);
      number = std::to_string(files->state_count());
    });
    if (!viewed) return;
    processes.broadcast(number);
    states.write(step, std::stoul(number), std::move(own));
    last = step;
    if (!output.in_background) settle();
  }

  void settle() {
    const std::vector<std::string> names = states.settle();
    agree(processes, [&] {
      if (!files || names.empty()) return;
      files->take_pieces(names);
      files->list_states(last);
    });
  }

  void end_states(std::size_t step, StepResponse response) {
    settle();
    std::string count = std::to_string(files ? files->state_count() : 0);
    processes.broadcast(count);
    agree(processes, [&] {
      const std::size_t written = std::stoul(count);
      states.end(step, written);
      if (!files) return;
      for (std::size_t n = 1; n <= written; ++n) files->take_pieces(states.files(step, n));  // those of a run before
      files->end(step, std::move(response));
    });
  }
};

PieceResults::PieceResults(Processes& processes, ProcessPart& part, const OutputOptions& options)
    : state_(std::make_unique<State>(processes, part, options)) {}
PieceResults::~PieceResults() = default;

void PieceResults::step(std::size_t step, StepResult own, const NodalField* heat) {
  const JobStep& asked = state_->part.job.steps[step];
  detail::complete_fields(state_->processes, state_->part, asked.domain, own);
  if (asked.procedure == Procedure::statics) detail::take_moments_off_parts(state_->processes, state_->part, own);
  state_->write_pieces(step, std::move(own), heat);
  state_->merge(step);
}

void PieceResults::modes(std::size_t step, ModeSet own) { state_->write_modes(step, std::move(own)); }

void PieceResults::state(std::size_t step, StepState own) { state_->write_state(step, std::move(own)); }

void PieceResults::end(std::size_t step, StepResponse response) { state_->end_states(step, std::move(response)); }

void PieceResults::settle() { state_->settle(); }

ResultFiles* PieceResults::files() { return state_->files ? &*state_->files : nullptr; }
const WholeSizes& PieceResults::sizes() const { return state_->sizes; }

}  // namespace voussoir
