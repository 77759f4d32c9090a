#include <voussoir/jobs/piece_files.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

#include <voussoir/framework/io/vtk/pvd_writer.hpp>
#include <voussoir/framework/io/vtk/pvtu_writer.hpp>
#include <voussoir/jobs/detail/load_case_index.hpp>
#include <voussoir/jobs/detail/nan.hpp>
#include <voussoir/jobs/detail/shared_means.hpp>
#include <voussoir/jobs/detail/step_fields.hpp>
#include <voussoir/jobs/detail/vtu_series.hpp>

namespace voussoir {
namespace {

/// A field with the unknowns of the whole model; those that the part lacks are NaN.
NodalField widened(const NodalField& field, const std::vector<std::string>& names, const std::string& name,
                   std::size_t nodes) {
  NodalField wide{name, names, std::vector<double>(nodes * names.size(), detail::nan)};
  for (std::size_t c = 0; c < field.components.size(); ++c) {
    const auto column = static_cast<std::size_t>(wide.component_index(field.components[c]));
    for (std::size_t n = 0; n < nodes; ++n)
      wide.values[n * names.size() + column] = field.values[n * field.components.size() + c];
  }
  return wide;
}

}  // namespace

struct PieceFiles::State {
  const ProcessPart& part;
  OutputOptions options;
  detail::LoadCaseIndex load_cases;
  detail::VtuSeries vtus;
  std::vector<std::filesystem::path> written;
  // Of the step that was begun:
  std::size_t step = 0;
  StepResult result;
  NodalField acting;
  detail::StepFields fields;
  std::optional<detail::SharedMeans> means;
  std::vector<Range> ranges;  // of fields.nodal, after the neighbours have sent theirs
  bool begun = false;

  State(const ProcessPart& p, OutputOptions o)
      : part(p), options(std::move(o)), load_cases(p.job), vtus(p.job, options) {
    if (options.name.empty()) options.name = part.job.name;
  }

  const JobStep& asked() const { return part.job.steps[step]; }
  const Domain& domain() const { return *part.job.domains[asked().domain]; }
  const DomainShare& share() const { return part.domains[asked().domain]; }
  std::string stem(std::size_t which) const {
    return part.job.steps.size() > 1 ? options.name + "_step" + std::to_string(which + 1) : options.name;
  }

  /// The temperatures that act, in all parts or in none.
  std::vector<double> temperatures(const NodalField* heat) const {
    const auto& heated = share().heated_cases;
    const bool given = std::find(heated.begin(), heated.end(), asked().load_case) != heated.end();
    if (!given && !asked().heated_by) return {};
    std::vector<double> values = detail::acting_temperatures(part.job, asked(), load_cases.find(asked()), heat);
    return values.empty() ? domain().initial_temperatures() : values;
  }

  void take(std::size_t which, StepResult found, const NodalField* heat) {
    step = which;
    result = std::move(found);
    const auto nodes = static_cast<std::size_t>(part.node_count());
    result.unknowns = widened(result.unknowns, share().unknown_names, field_name(share().unknown_names), nodes);
    result.reactions = widened(result.reactions, share().unknown_names, "reaction", nodes);
    acting = {"temperature", {"T"}, temperatures(heat)};
    detail::complete_points(domain(), share(), result.points);
    fields = detail::make_step_fields(part.job, asked(), result, false);
    means.emplace(part, asked().domain, result.points, fields.nodal);
    begun = true;
  }

  void find_ranges() {
    ranges.clear();
    for (const NodalField& field : fields.nodal) {
      std::vector<Range> found = ranges_of(domain(), field, reported_nodes(part.job, domain()));
      for (Range& range : found)
        if (range.quantity == "magnitude") range.quantity = "flux";
      join_ranges(ranges, found);
    }
  }

  /// The parts that have elements of a step's model.
  std::vector<std::int32_t> parts_with_elements(std::size_t which) const {
    std::vector<std::int32_t> list;
    const auto& elements = part.domains[part.job.steps.at(which).domain].part_elements;
    for (std::int32_t p = 0; p < part.parts; ++p)
      if (elements[static_cast<std::size_t>(p)] > 0) list.push_back(p);
    return list;
  }

  void write(const std::string& file) {
    if (!options.vtu || !part.has_elements(asked().domain)) return;
    vtus.write(step, file, result, acting, ErrorEstimate{}, fields);
    written.push_back(options.folder / file);
  }
};

PieceFiles::PieceFiles(const ProcessPart& part, OutputOptions options)
    : state_(std::make_unique<State>(part, std::move(options))) {}
PieceFiles::~PieceFiles() = default;

std::vector<std::string> PieceFiles::begin_step(std::size_t step, StepResult result, const NodalField* heat) {
  const JobStep& asked = state_->part.job.steps.at(step);
  if (has_states(asked.procedure))
    throw Error(ErrorCode::unavailable,
                "pieces are written of statics and steady heat, not of " + to_string(asked.procedure), asked.where);
  state_->take(step, std::move(result), heat);
  return state_->means->messages();
}

void PieceFiles::end_step(std::span<const std::string> received) {
  if (!state_->begun || received.size() != state_->part.shared.size())
    throw Error(ErrorCode::misuse, "end_step() needs begin_step() and a message from each neighbour");
  state_->begun = false;
  state_->means->join(received);
  state_->find_ranges();
  state_->write(piece_name(state_->step, state_->part.part));
}

std::vector<std::filesystem::path> PieceFiles::write_list(std::size_t step) {
  const ProcessPart& part = state_->part;
  const std::vector<std::int32_t> with_elements = state_->parts_with_elements(step);
  if (!state_->options.vtu || with_elements.empty() || with_elements.front() != part.part) return {};
  std::vector<std::string> pieces;
  for (const std::int32_t p : with_elements) pieces.push_back(piece_name(step, p));
  const std::filesystem::path& folder = state_->options.folder;
  const std::string list = state_->stem(step) + ".pvtu";
  write_pvtu(folder / list, pieces, folder / piece_name(step, part.part), state_->options.overwrite);
  std::vector<PvdEntry> series;  // of all steps so far, whichever part has written their lists
  for (std::size_t i = 0; i <= step; ++i) {
    if (has_states(part.job.steps[i].procedure)) continue;
    double time = part.job.steps[i].total_time;
    if (!std::isfinite(time)) time = static_cast<double>(i + 1);
    if (!series.empty() && !(time > series.back().time)) time = series.back().time + 1;
    series.push_back({time, state_->stem(i) + ".pvtu"});
  }
  const std::string steps = state_->options.name + ".pvd";
  write_pvd(folder / steps, series, state_->options.overwrite || series.size() > 1);
  return {folder / list, folder / steps};
}

const StepResult& PieceFiles::result() const { return state_->result; }
const std::vector<double>& PieceFiles::acting_temperatures() const { return state_->acting.values; }
const std::vector<Range>& PieceFiles::ranges() const { return state_->ranges; }
bool PieceFiles::has_element_means() const { return state_->fields.too_many_materials; }

std::vector<std::string> PieceFiles::file_names(std::size_t step) const {
  std::vector<std::string> names;
  if (!state_->options.vtu) return names;
  for (const std::int32_t p : state_->parts_with_elements(step)) names.push_back(piece_name(step, p));
  names.push_back(state_->stem(step) + ".pvtu");
  names.push_back(state_->options.name + ".pvd");
  return names;
}

std::string PieceFiles::piece_name(std::size_t step, int part) const {
  std::string number = std::to_string(part);
  if (number.size() < 4) number.insert(0, 4 - number.size(), '0');
  return state_->stem(step) + "_p" + number + ".vtu";
}

const std::vector<std::filesystem::path>& PieceFiles::written() const { return state_->written; }

}  // namespace voussoir
