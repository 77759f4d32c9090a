#include <voussoir/jobs/piece_files.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

#include <voussoir/framework/io/vtk/pvd_writer.hpp>
#include <voussoir/framework/io/vtk/pvtu_writer.hpp>
#include <voussoir/jobs/detail/load_case_index.hpp>
#include <voussoir/jobs/detail/nan.hpp>
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

/// Adds empty fields of blocks whose elements are all in other parts, so that all pieces have the same arrays.
void complete_points(const Domain& domain, const DomainShare& share, std::vector<PointField>& points) {
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    if (share.block_sizes[b] == 0 || domain.block(b).type().program().points() == 0) continue;
    const auto block = static_cast<std::int32_t>(b);
    const auto at = std::lower_bound(points.begin(), points.end(), block,
                                     [](const PointField& f, std::int32_t which) { return f.block < which; });
    if (at != points.end() && at->block == block) continue;
    const ElementProgram& program = domain.block(b).type().program();
    const auto names = program.recovered_names();
    points.insert(at, PointField{block, program.points(), {names.begin(), names.end()}, {}});
  }
}

/// Numbers of elements that a mean at each node was taken over: those of one material that carry some values to nodes.
std::vector<double> elements_at_nodes(const Domain& domain, const std::vector<PointField>& points,
                                      const std::string& material, const std::string& name) {
  std::vector<double> count(static_cast<std::size_t>(domain.node_count()), 0.0);
  for (const PointField& field : points) {
    const ElementBlock& block = domain.block(static_cast<std::size_t>(field.block));
    if ((block.material() ? block.material()->name() : "") != material || !field.has(name)) continue;
    if (block.type().program().extrapolation().empty()) continue;
    for (const std::int32_t n : block.connectivity()) ++count[static_cast<std::size_t>(n)];
  }
  return count;
}

/// Values that follow from the mean stress or flux of a node, behind its components.
void complete_record(double* record, std::size_t base) {
  if (base == 3) {
    record[3] = std::hypot(record[0], record[1], record[2]);
    return;
  }
  std::array<double, 6> stress;
  std::copy_n(record, 6, stress.begin());
  record[6] = von_mises(stress);
  const auto principal = principal_values(stress);
  std::copy(principal.begin(), principal.end(), record + 7);
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
  std::vector<std::vector<double>> counts;  // per nodal field: elements at each node
  std::vector<Range> ranges;                // of fields.nodal, after the neighbours have sent theirs
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
    complete_points(domain(), share(), result.points);
    fields = detail::make_step_fields(part.job, asked(), result, false);
    count_elements();
    begun = true;
  }

  /// The numbers of elements for each of fields.nodal, which are sorted by material, stress before flux.
  void count_elements() {
    counts.clear();
    std::vector<std::string> materials;
    for (const PointField& field : result.points) {
      const auto& material = domain().block(static_cast<std::size_t>(field.block)).material();
      if (field.has("sxx") || field.has("qx")) materials.push_back(material ? material->name() : "");
    }
    std::sort(materials.begin(), materials.end());
    materials.erase(std::unique(materials.begin(), materials.end()), materials.end());
    for (const std::string& material : materials)
      for (const char* name : {"sxx", "qx"}) {
        const bool any = std::any_of(result.points.begin(), result.points.end(), [&](const PointField& field) {
          const ElementBlock& block = domain().block(static_cast<std::size_t>(field.block));
          return field.has(name) && (block.material() ? block.material()->name() : "") == material &&
                 !block.type().program().extrapolation().empty();
        });
        if (any) counts.push_back(elements_at_nodes(domain(), result.points, material, name));
      }
    if (!fields.nodal.empty() && counts.size() != fields.nodal.size())
      throw Error(ErrorCode::internal, "the fields at nodes do not fit the materials of the part");
    counts.resize(fields.nodal.size());  // none if elements have their means instead
  }

  static std::size_t base_of(const NodalField& field) { return field.name == "flux" ? 3 : 6; }

  /// Numbers per shared node: for each field the number of elements and the sums over them.
  std::size_t message_width() const {
    std::size_t width = 0;
    for (const NodalField& field : fields.nodal) width += 1 + base_of(field);
    return width;
  }

  /// Products are rounded before they are added to those of other parts, here as there.
  void put_own(std::int32_t node, double* to) const {
    for (std::size_t f = 0; f < fields.nodal.size(); ++f) {
      const NodalField& field = fields.nodal[f];
      const double count = counts[f][static_cast<std::size_t>(node)];
      *to++ = count;
      for (std::size_t k = 0; k < base_of(field); ++k, ++to)
        *to = count > 0 ? count * field.at(node, static_cast<int>(k)) : 0.0;
    }
  }

  std::vector<std::string> messages() const {
    std::vector<std::string> all;
    const std::size_t width = message_width();
    for (const SharedNodes& shared : part.shared) {
      std::vector<double> numbers(shared.nodes.size() * width, 0.0);
      for (std::size_t k = 0; k < shared.nodes.size(); ++k) put_own(shared.nodes[k], numbers.data() + k * width);
      all.emplace_back(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double));
    }
    return all;
  }

  /// Means at shared nodes over the elements of all parts, added in the order of the parts: the same in all of them.
  void join_means(std::span<const std::string> received) {
    const std::size_t width = message_width();
    std::vector<std::int32_t> nodes;
    for (const SharedNodes& shared : part.shared) nodes.insert(nodes.end(), shared.nodes.begin(), shared.nodes.end());
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    std::vector<double> sums(nodes.size() * width, 0.0);
    const auto place = [&](std::int32_t node) {
      return sums.data() +
             static_cast<std::size_t>(std::lower_bound(nodes.begin(), nodes.end(), node) - nodes.begin()) * width;
    };
    bool own_added = false;
    std::vector<double> own(nodes.size() * width);
    for (std::size_t i = 0; i < nodes.size(); ++i) put_own(nodes[i], own.data() + i * width);
    const auto add_own_sums = [&] {
      for (std::size_t i = 0; i < own.size(); ++i) sums[i] += own[i];
      own_added = true;
    };
    for (std::size_t i = 0; i < part.shared.size(); ++i) {
      const SharedNodes& shared = part.shared[i];
      if (shared.part > part.part && !own_added) add_own_sums();
      std::vector<double> numbers(shared.nodes.size() * width);
      if (received[i].size() != numbers.size() * sizeof(double))
        throw Error(ErrorCode::bad_input, "the message of part " + std::to_string(shared.part) + " has " +
                                              std::to_string(received[i].size()) + " bytes instead of " +
                                              std::to_string(numbers.size() * sizeof(double)));
      if (!numbers.empty()) std::memcpy(numbers.data(), received[i].data(), received[i].size());
      for (std::size_t k = 0; k < shared.nodes.size(); ++k) {
        double* const to = place(shared.nodes[k]);
        for (std::size_t c = 0; c < width; ++c) to[c] += numbers[k * width + c];
      }
    }
    if (!own_added) add_own_sums();
    for (std::size_t i = 0; i < nodes.size(); ++i) set_means(nodes[i], sums.data() + i * width);
  }

  void set_means(std::int32_t node, const double* from) {
    for (NodalField& field : fields.nodal) {
      const double count = *from++;
      const std::size_t base = base_of(field);
      double* const record = field.values.data() + static_cast<std::size_t>(node) * field.components.size();
      if (count > 0) {
        for (std::size_t k = 0; k < base; ++k) record[k] = from[k] / count;
        complete_record(record, base);
      }
      from += base;
    }
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
  return state_->messages();
}

void PieceFiles::end_step(std::span<const std::string> received) {
  if (!state_->begun || received.size() != state_->part.shared.size())
    throw Error(ErrorCode::misuse, "end_step() needs begin_step() and a message from each neighbour");
  state_->begun = false;
  state_->join_means(received);
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
