#include <algorithm>
#include <cmath>
#include <functional>
#include <istream>
#include <map>
#include <ostream>

#include <voussoir/framework/analysis/analysis_state.hpp>
#include <voussoir/framework/analysis/detail/element_history.hpp>
#include <voussoir/framework/analysis/detail/saved_numbers.hpp>
#include <voussoir/framework/analysis/state_record.hpp>
#include <voussoir/framework/detail/fnv_hash.hpp>

// States as records, whose values are in the domain's numbering.

namespace voussoir {
namespace {

/// Equations in the order of the domain's nodes.
std::vector<std::int32_t> equations_by_node(const AnalysisModel& model) {
  const auto nodes = model.numbered_nodes();
  const auto first = model.first_equation();
  std::vector<std::int32_t> position(static_cast<std::size_t>(model.domain().node_count()), -1);
  for (std::size_t k = 0; k < nodes.size(); ++k)
    position[static_cast<std::size_t>(nodes[k])] = static_cast<std::int32_t>(k);
  std::vector<std::int32_t> equations;
  equations.reserve(static_cast<std::size_t>(model.equation_count()));
  for (const std::int32_t k : position)
    if (k >= 0)
      for (std::int32_t e = first[static_cast<std::size_t>(k)]; e < first[static_cast<std::size_t>(k) + 1]; ++e)
        equations.push_back(e);
  return equations;
}

/// Says which nodes have which unknowns, by the user's numbers.
std::uint64_t node_fingerprint(const AnalysisModel& model) {
  std::uint64_t hash = detail::fnv_hash({});
  std::int32_t last = -1;
  for (const std::int32_t e : equations_by_node(model)) {
    const auto [node, component] = model.place(e);
    const Id id = model.domain().node_id(node);
    const char begins_node = node != last;
    hash = detail::fnv_hash({&begins_node, 1}, hash);
    if (begins_node) hash = detail::fnv_hash({reinterpret_cast<const char*>(&id), sizeof(id)}, hash);
    if (!model.nodes_have_first_unknowns()) {
      const auto unknown = static_cast<char>(component);
      hash = detail::fnv_hash({&unknown, 1}, hash);
    }
    last = node;
  }
  return hash;
}

std::vector<double> by_node(const std::vector<std::int32_t>& equations, const Vector& x) {
  if (!x.layout()) return {};
  if (x.columns() != 1)
    throw Error(ErrorCode::misuse, "states with several columns cannot be saved; save their columns one by one");
  const std::vector<double> values = x.to_host();
  std::vector<double> ordered(values.size());
  for (std::size_t i = 0; i < ordered.size(); ++i) ordered[i] = values[static_cast<std::size_t>(equations[i])];
  return ordered;
}

Vector from_nodes(const AnalysisModel& model, const std::vector<std::int32_t>& equations,
                  const std::vector<double>& ordered) {
  if (ordered.empty()) return {};
  if (ordered.size() != equations.size())
    detail::refuse_state("it has " + std::to_string(ordered.size()) + " unknowns where the model has " +
                         std::to_string(equations.size()));
  std::vector<double> values(ordered.size());
  for (std::size_t i = 0; i < ordered.size(); ++i) values[static_cast<std::size_t>(equations[i])] = ordered[i];
  Vector x = model.make_vector();
  x.from_host(values);
  return x;
}

/// Temperatures of the nodes that have unknowns, in the order of the domain's nodes; and back.
std::vector<std::size_t> positions_by_node(const AnalysisModel& model) {
  const auto nodes = model.numbered_nodes();
  std::vector<std::size_t> positions(nodes.size());
  for (std::size_t k = 0; k < positions.size(); ++k) positions[k] = k;
  std::sort(positions.begin(), positions.end(), [&](std::size_t a, std::size_t b) { return nodes[a] < nodes[b]; });
  return positions;
}

std::vector<double> temperatures_by_node(const AnalysisModel& model, const NodalValues* values) {
  const std::vector<double> numbers = detail::nodal_numbers(model, values);
  std::vector<double> ordered;
  if (numbers.empty()) return ordered;
  for (const std::size_t k : positions_by_node(model)) ordered.push_back(numbers[k]);
  return ordered;
}

/// Where the saved model had no temperature, nodes have their initial one; or the unknown, if that is what they follow.
std::shared_ptr<const NodalValues> temperatures_from_nodes(const AnalysisModel& model,
                                                           const std::vector<double>& ordered, const Vector& unknowns) {
  if (ordered.empty()) return nullptr;
  const auto positions = positions_by_node(model);
  if (ordered.size() != positions.size()) detail::refuse_state("its temperatures are those of another model");
  const bool complete = std::none_of(ordered.begin(), ordered.end(), [](double t) { return std::isnan(t); });
  if (!complete && unknowns.layout() && model.follows_unknown_temperature()) return model.temperatures_from(unknowns);
  const auto nodes = model.numbered_nodes();
  std::vector<double> numbers(ordered.size());
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    const std::size_t k = positions[i];
    numbers[k] = std::isnan(ordered[i]) ? model.domain().initial_temperature(nodes[k]) : ordered[i];
  }
  return std::make_shared<const NodalValues>(model.device_model().nodal_values(numbers));
}

StateRecord::Model model_of(const AnalysisModel& model) {
  return {model.unknown_names(), model.domain().node_count(), node_fingerprint(model)};
}

void check_model(const AnalysisModel& model, const StateRecord::Model& saved) {
  if (saved.unknown_names != model.unknown_names()) {
    std::string list;
    for (const auto& name : saved.unknown_names) list += " " + name;
    detail::refuse_state("it was saved for a model with the unknowns" + list);
  }
  if (saved.node_count != model.domain().node_count())
    detail::refuse_state("it was saved for a model with " + std::to_string(saved.node_count) +
                         " nodes, and this one has " + std::to_string(model.domain().node_count()));
  if (saved.fingerprint != node_fingerprint(model))
    detail::refuse_state("it was saved for a model whose nodes have other numbers or other unknowns");
}

/// By the names of load cases, so that cases without a factor may come and go.
std::vector<double> factors_of(const AnalysisModel& model, const StateRecord& record) {
  std::map<std::string, double, std::less<>> saved(record.case_factors.begin(), record.case_factors.end());
  std::vector<double> factors;
  for (const auto& load_case : model.domain().load_cases()) {
    const auto found = saved.find(load_case->name());
    factors.push_back(found == saved.end() ? 0.0 : found->second);
    if (found != saved.end()) saved.erase(found);
  }
  for (const auto& [name, factor] : saved)
    if (factor != 0)
      detail::refuse_state("load case '" + name + "' acts in it, and the model has no load case of this name");
  return factors;
}

std::vector<StateRecord::History> history_records(const AnalysisModel& model, const AnalysisState& state) {
  std::vector<StateRecord::History> records;
  if (!state.history) return records;
  for (std::size_t b = 0; b < model.batches().size(); ++b) {
    const ElementProgram& program = *model.device_model().part(0).batches[b].program;
    if (program.history_count() == 0) continue;
    const BatchOrigin& origin = model.batches()[b];
    records.push_back({model.domain().block(static_cast<std::size_t>(origin.block)).name(), std::string(program.name()),
                       detail::history_numbers(model, static_cast<int>(b), state.history.get())});
  }
  return records;
}

std::shared_ptr<const ElementHistory> history_of(const AnalysisModel& model, const StateRecord& record) {
  if (record.history.empty()) return nullptr;
  std::vector<std::vector<double>> numbers;
  std::map<std::string, std::size_t, std::less<>> batch_of;  // by the names of blocks
  for (std::size_t b = 0; b < model.batches().size(); ++b) {
    numbers.push_back(detail::history_numbers(model, static_cast<int>(b), nullptr));
    const BatchOrigin& origin = model.batches()[b];
    if (origin.kind == BatchOrigin::Kind::block)
      batch_of.emplace(model.domain().block(static_cast<std::size_t>(origin.block)).name(), b);
  }
  for (const StateRecord::History& saved : record.history) {
    const auto found = batch_of.find(saved.block);
    if (found == batch_of.end())
      detail::refuse_state("it has the history of block '" + saved.block + "', which the model does not have");
    const std::size_t b = found->second;
    if (model.device_model().part(0).batches[b].program->name() != saved.type ||
        saved.numbers.size() != numbers[b].size())
      detail::refuse_state("the history of block '" + saved.block + "' is that of other elements (" + saved.type + ")");
    numbers[b] = saved.numbers;
  }
  return detail::make_history(model, numbers);
}

}  // namespace

StatePlaces state_places(const AnalysisModel& model) {
  StatePlaces places;
  places.model = model_of(model);
  for (const std::int32_t e : equations_by_node(model)) {
    const auto at = model.place(e);
    places.nodes.push_back(at.node);
    places.unknowns.push_back(static_cast<std::int32_t>(at.component));
  }
  const auto nodes = model.numbered_nodes();
  for (const std::size_t k : positions_by_node(model)) places.temperature_nodes.push_back(nodes[k]);
  return places;
}

StateRecord record_of(const AnalysisModel& model, const AnalysisState& state, std::array<bool, 4> shares) {
  StateRecord record;
  record.model = model_of(model);
  record.name = state.name;
  record.time = state.time;
  record.time_step = state.time_step;
  record.prescribed_factor = state.prescribed_factor;
  for (std::size_t c = 0; c < state.case_factors.size(); ++c)
    record.case_factors.emplace_back(model.domain().load_case(c).name(), state.case_factors[c]);
  const auto equations = equations_by_node(model);
  const Vector* const vectors[] = {&state.unknowns, &state.rate, &state.second_rate, &state.loads};
  for (std::size_t k = 0; k < shares.size(); ++k) record.vectors[k] = {by_node(equations, *vectors[k]), shares[k]};
  record.temperature = temperatures_by_node(model, state.temperature.get());
  record.history = history_records(model, state);
  return record;
}

void save_state(const AnalysisModel& model, const AnalysisState& state, std::ostream& to) {
  write_record(record_of(model, state), to);
}

AnalysisState restore_state(const AnalysisModel& model, std::istream& from) {
  const StateRecord record = read_record(from);
  if (record.model) check_model(model, *record.model);
  const auto equations = equations_by_node(model);
  AnalysisState state;
  state.name = record.name;
  state.time = record.time;
  state.time_step = record.time_step;
  state.prescribed_factor = record.prescribed_factor;
  state.case_factors = factors_of(model, record);
  Vector* const vectors[] = {&state.unknowns, &state.rate, &state.second_rate, &state.loads};
  for (std::size_t k = 0; k < record.vectors.size(); ++k)
    *vectors[k] = from_nodes(model, equations, record.vectors[k].values);
  state.temperature = temperatures_from_nodes(model, record.temperature, state.unknowns);
  state.history = history_of(model, record);
  state.committed_ = std::make_unique<StateValues>(static_cast<const StateValues&>(state).clone());
  return state;
}

}  // namespace voussoir
