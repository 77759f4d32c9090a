#include <voussoir/jobs/detail/redivided_step.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include <voussoir/framework/io/checkpoint/bytes.hpp>
#include <voussoir/jobs/detail/nan.hpp>
#include <voussoir/jobs/detail/step_bytes.hpp>

namespace voussoir::detail {
namespace {

using Records = std::vector<std::vector<StateRecord>>;  // per part of the former division and state

/// All records in the bytes, in sequence.
std::vector<StateRecord> read_records(const std::string& bytes) {
  std::vector<StateRecord> records;
  for (std::istringstream in(bytes); in.peek() != std::istringstream::traits_type::eof();)
    records.push_back(read_record(in));
  return records;
}

std::string write_records(const std::vector<StateRecord>& records) {
  std::ostringstream out;
  for (const StateRecord& record : records) write_record(record, out);
  return out.str();
}

/// The history of elements without a model, so that the next step can read it into its own.
std::string write_history(StateRecord record) {
  if (record.history.empty()) return {};
  record.model.reset();
  record.name = "history";
  return write_records({record});
}

}  // namespace

NodalField at_nodes(const NodalField& whole, const std::vector<std::int64_t>& nodes) {
  NodalField own{whole.name, {}, {}};
  if (whole.values.empty()) return own;
  own.components = whole.components;
  const auto width = static_cast<std::ptrdiff_t>(whole.components.size());
  own.values.reserve(nodes.size() * whole.components.size());
  for (const std::int64_t node : nodes)
    own.values.insert(own.values.end(), whole.values.begin() + static_cast<std::ptrdiff_t>(node) * width,
                      whole.values.begin() + (static_cast<std::ptrdiff_t>(node) + 1) * width);
  return own;
}

SavedPlaces SavedPlaces::of(const ProcessPart& part, std::size_t domain, const AnalysisModel* model) {
  SavedPlaces places;
  places.nodes = part.whole;
  places.elements = part.domains[domain].whole_elements;
  if (model) places.numbers = state_places(*model);
  return places;
}

bool SavedPlaces::has_elements() const {
  return std::any_of(elements.begin(), elements.end(), [](const auto& block) { return !block.empty(); });
}

std::string SavedPlaces::to_bytes() const {
  ByteWriter out;
  out.put(nodes).put(static_cast<std::uint64_t>(elements.size()));
  for (const auto& block : elements) out.put(block);
  out.put(numbers.model.unknown_names).put(numbers.model.node_count).put(numbers.model.fingerprint);
  out.put(numbers.nodes).put(numbers.unknowns).put(numbers.temperature_nodes);
  return out.take();
}

SavedPlaces SavedPlaces::from_bytes(const std::string& bytes, const std::string& where) {
  ByteReader in(bytes, where);
  SavedPlaces places;
  places.nodes = in.list<std::int64_t>();
  for (auto count = in.get<std::uint64_t>(); count > 0; --count) places.elements.push_back(in.list<std::int64_t>());
  places.numbers.model.unknown_names = in.texts();
  places.numbers.model.node_count = in.get<std::int64_t>();
  places.numbers.model.fingerprint = in.get<std::uint64_t>();
  places.numbers.nodes = in.list<std::int32_t>();
  places.numbers.unknowns = in.list<std::int32_t>();
  places.numbers.temperature_nodes = in.list<std::int32_t>();
  in.expect_end();
  return places;
}

RedividedStep::RedividedStep(const ProcessPart& part, std::size_t domain, RedividedSource source)
    : source_(std::move(source)), nodes_(part.whole_nodes), names_(part.domains[domain].unknown_names) {
  const Domain& nodes_and_blocks = *part.job.domains[domain];
  for (std::size_t b = 0; b < nodes_and_blocks.block_count(); ++b)
    blocks_.push_back({nodes_and_blocks.block(b).name(), part.domains[domain].block_sizes[b]});
}

void RedividedStep::fail(const std::string& why) const {
  throw Error(ErrorCode::bad_input, source_.refusal + ": " + why + "; " + source_.advice, source_.where);
}

/// Checks what the numbers of a part are used for as indices.
void RedividedStep::add(SavedPlaces places, std::string saved) {
  const auto within = [](const auto& list, std::int64_t end) {
    return std::all_of(list.begin(), list.end(), [&](std::int64_t i) { return i >= 0 && i < end; });
  };
  const auto local = static_cast<std::int64_t>(places.nodes.size());
  const StatePlaces& numbers = places.numbers;
  bool fits = within(places.nodes, nodes_) && places.elements.size() == blocks_.size() &&
              within(numbers.nodes, local) && within(numbers.temperature_nodes, local) &&
              numbers.nodes.size() == numbers.unknowns.size() &&
              within(numbers.unknowns, static_cast<std::int64_t>(numbers.model.unknown_names.size()));
  for (std::size_t b = 0; fits && b < blocks_.size(); ++b) fits = within(places.elements[b], blocks_[b].elements);
  if (!fits) fail("a part has nodes or elements that the model does not have");
  former_.push_back({std::move(places), std::move(saved)});
}

/// The first part of the former division that has saved something.
const RedividedStep::Former& RedividedStep::first() const {
  for (const Former& part : former_)
    if (!part.saved.empty()) return part;
  fail("no part has saved a state");
}

/// Places of the unknowns of a part among those of the whole domain.
std::vector<std::size_t> RedividedStep::columns_of(const std::vector<std::string>& names) const {
  std::vector<std::size_t> columns;
  for (const std::string& name : names) {
    const auto it = std::find(names_.begin(), names_.end(), name);
    if (it == names_.end()) fail("a part has the unknown " + name + ", which the model does not have");
    columns.push_back(static_cast<std::size_t>(it - names_.begin()));
  }
  return columns;
}

/// Shares of forces are summed, and the first part that has an equation gets the sum.
void RedividedStep::move_vector(const Records& records, std::size_t state, std::size_t vector,
                                const std::vector<SavedPlaces>& parts, std::vector<StateRecord>& made) const {
  std::vector<double> whole;
  std::vector<bool> known;
  bool shares = false;
  const std::size_t width = names_.size();
  const auto place = [&](const SavedPlaces& part, const std::vector<std::size_t>& columns, std::size_t i) {
    const auto node = static_cast<std::size_t>(part.nodes[static_cast<std::size_t>(part.numbers.nodes[i])]);
    return node * width + columns[static_cast<std::size_t>(part.numbers.unknowns[i])];
  };
  for (std::size_t p = 0; p < former_.size(); ++p) {
    if (records[p].empty() || records[p][state].vectors[vector].values.empty()) continue;
    const StateRecord::Numbers& numbers = records[p][state].vectors[vector];
    const SavedPlaces& part = former_[p].places;
    if (numbers.values.size() != part.numbers.nodes.size()) fail("a state has another number of unknowns");
    whole.resize(static_cast<std::size_t>(nodes_) * width);
    known.resize(whole.size());
    shares = numbers.are_shares;
    const std::vector<std::size_t> columns = columns_of(part.numbers.model.unknown_names);
    for (std::size_t i = 0; i < numbers.values.size(); ++i) {
      const std::size_t at = place(part, columns, i);
      whole[at] = shares && known[at] ? whole[at] + numbers.values[i] : numbers.values[i];
      known[at] = true;
    }
  }
  if (whole.empty()) return;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const std::vector<std::size_t> columns = columns_of(parts[p].numbers.model.unknown_names);
    StateRecord::Numbers& numbers = made[p].vectors[vector];
    numbers.are_shares = shares;
    numbers.values.reserve(parts[p].numbers.nodes.size());
    for (std::size_t i = 0; i < parts[p].numbers.nodes.size(); ++i) {
      const std::size_t at = place(parts[p], columns, i);
      // A part without damping, say, has no share of it.
      if (!known[at] && !shares) fail("a state lacks an unknown");
      numbers.values.push_back(whole[at]);
      if (shares) whole[at] = 0;
    }
  }
}

void RedividedStep::move_temperatures(const Records& records, std::size_t state, const std::vector<SavedPlaces>& parts,
                                      std::vector<StateRecord>& made) const {
  std::vector<double> whole;
  for (std::size_t p = 0; p < former_.size(); ++p) {
    if (records[p].empty() || records[p][state].temperature.empty()) continue;
    const std::vector<double>& values = records[p][state].temperature;
    const SavedPlaces& part = former_[p].places;
    if (values.size() != part.numbers.temperature_nodes.size()) fail("a state has another number of temperatures");
    if (whole.empty()) whole.assign(static_cast<std::size_t>(nodes_), nan);
    for (std::size_t i = 0; i < values.size(); ++i)
      whole[static_cast<std::size_t>(part.nodes[static_cast<std::size_t>(part.numbers.temperature_nodes[i])])] =
          values[i];
  }
  if (whole.empty()) return;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    std::vector<double>& own = made[p].temperature;
    for (const std::int32_t node : parts[p].numbers.temperature_nodes)
      own.push_back(whole[static_cast<std::size_t>(parts[p].nodes[static_cast<std::size_t>(node)])]);
    // Where no former part had a temperature, it is the initial one.
    if (std::all_of(own.begin(), own.end(), [](double t) { return std::isnan(t); })) own.clear();
  }
}

void RedividedStep::move_history(const Records& records, std::size_t state, const std::vector<SavedPlaces>& parts,
                                 std::vector<StateRecord>& made) const {
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    std::vector<double> whole;
    std::string type;
    std::size_t count = 0;  // of numbers per element
    for (std::size_t p = 0; p < former_.size(); ++p) {
      const std::vector<std::int64_t>& elements = former_[p].places.elements[b];
      if (records[p].empty() || elements.empty()) continue;
      for (const StateRecord::History& history : records[p][state].history) {
        if (history.block != blocks_[b].name) continue;
        const std::size_t own = history.numbers.size() / elements.size();
        if (own == 0 || own * elements.size() != history.numbers.size() || (count > 0 && own != count))
          fail("the history of block '" + history.block + "' is that of other elements");
        count = own;
        type = history.type;
        whole.resize(static_cast<std::size_t>(blocks_[b].elements) * count, 0.0);
        for (std::size_t e = 0; e < elements.size(); ++e)
          std::copy_n(history.numbers.begin() + static_cast<std::ptrdiff_t>(e * count), count,
                      whole.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(elements[e]) * count));
      }
    }
    if (count == 0) continue;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      if (parts[p].elements[b].empty()) continue;
      StateRecord::History& history = made[p].history.emplace_back(StateRecord::History{blocks_[b].name, type, {}});
      for (const std::int64_t e : parts[p].elements[b])
        history.numbers.insert(history.numbers.end(),
                               whole.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(e) * count),
                               whole.begin() + static_cast<std::ptrdiff_t>((static_cast<std::size_t>(e) + 1) * count));
    }
  }
}

/// A state of each new part. Everything but its numbers is the same on all parts.
std::vector<StateRecord> RedividedStep::merge(const Records& records, std::size_t state,
                                              const std::vector<SavedPlaces>& parts) const {
  StateRecord common;
  bool found = false;
  for (const std::vector<StateRecord>& part : records) {
    if (part.empty()) continue;
    const StateRecord& own = part[state];
    if (found && (own.name != common.name || own.time != common.time || own.time_step != common.time_step ||
                  own.prescribed_factor != common.prescribed_factor || own.case_factors != common.case_factors))
      fail("the parts are not in the same state");
    if (std::exchange(found, true)) continue;
    common = own;
    common.vectors = {};
    common.temperature.clear();
    common.history.clear();
  }
  std::vector<StateRecord> made(parts.size(), common);
  for (std::size_t p = 0; p < parts.size(); ++p) made[p].model = parts[p].numbers.model;
  for (std::size_t v = 0; v < common.vectors.size(); ++v) move_vector(records, state, v, parts, made);
  move_temperatures(records, state, parts, made);
  move_history(records, state, parts, made);
  return made;
}

std::vector<std::string> RedividedStep::states_for(const std::vector<SavedPlaces>& parts) const {
  Records records;
  std::size_t count = 0;
  std::string recorded;  // what the recorder on process 0 has saved
  for (const Former& part : former_) {
    std::vector<StateRecord>& own = records.emplace_back();
    if (part.saved.empty()) continue;
    ByteReader in(part.saved, source_.where);
    const std::string states = in.text();
    own = read_records(states);
    if (own.empty() || (count > 0 && own.size() != count)) fail("the parts have saved different numbers of states");
    count = own.size();
    if (&part == &former_.front()) recorded = part.saved.substr(sizeof(std::uint64_t) + states.size());
  }
  if (count == 0) fail("no part has saved a state");
  std::vector<std::vector<StateRecord>> made(parts.size());
  for (std::size_t k = 0; k < count; ++k) {
    std::vector<StateRecord> state = merge(records, k, parts);
    for (std::vector<StateRecord>& part : records)
      if (!part.empty()) part[k] = {};
    for (std::size_t p = 0; p < parts.size(); ++p) made[p].push_back(std::move(state[p]));
  }
  std::vector<std::string> saved;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    ByteWriter out;
    if (parts[p].has_elements()) out.put(write_records(std::exchange(made[p], {})));
    if (p == 0) out.raw(recorded);
    saved.push_back(out.take());
  }
  return saved;
}

std::vector<std::string> RedividedStep::ends_for(const std::vector<SavedPlaces>& parts) const {
  ByteReader common_bytes(first().saved, source_.where);
  const StepEnd common = get_end(common_bytes);
  const std::size_t width = names_.size();
  NodalField displacement{common.displacement.name, names_, {}}, velocity{common.velocity.name, names_, {}};
  const auto add = [&](const Former& part, const NodalField& from, NodalField& to) {
    if (from.components.empty()) return;
    if (from.values.size() != part.places.nodes.size() * from.components.size()) fail("a field has other nodes");
    to.values.resize(static_cast<std::size_t>(nodes_) * width, nan);
    const std::vector<std::size_t> columns = columns_of(from.components);
    for (std::size_t n = 0; n < part.places.nodes.size(); ++n)
      for (std::size_t c = 0; c < columns.size(); ++c)
        if (const double value = from.values[n * columns.size() + c]; !std::isnan(value))
          to.values[static_cast<std::size_t>(part.places.nodes[n]) * width + columns[c]] = value;
  };
  Records history;
  for (const Former& part : former_) {
    std::vector<StateRecord>& own = history.emplace_back();
    if (part.saved.empty()) continue;
    ByteReader in(part.saved, source_.where);
    const StepEnd end = get_end(in);
    in.expect_end();
    add(part, end.displacement, displacement);
    add(part, end.velocity, velocity);
    own = read_records(end.history);
    own.resize(1);  // without a history: an empty one
  }
  std::vector<StateRecord> histories(parts.size());
  move_history(history, 0, parts, histories);
  std::vector<std::string> ends;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    ByteWriter out;
    const std::vector<std::int64_t>& nodes = parts[p].nodes;
    StepEnd end{p == 0 ? common.response : StepResponse(), at_nodes(displacement, nodes), at_nodes(velocity, nodes),
                write_history(std::move(histories[p])), common.account};
    if (parts[p].has_elements()) put(out, end);
    ends.push_back(out.take());
  }
  return ends;
}

}  // namespace voussoir::detail
