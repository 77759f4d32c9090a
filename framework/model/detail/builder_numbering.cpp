// Equations of nodes, and their order.
#include <voussoir/framework/model/detail/model_builder.hpp>

#include <algorithm>
#include <map>

#include <voussoir/framework/domain/node_unknowns.hpp>
#include <voussoir/framework/model/divided_numberer.hpp>

namespace voussoir {

namespace {

/// Whether an element of a block has thermal strain.
bool expands(const ElementBlock& block) {
  const auto names = block.type().program().parameter_names();
  const auto parameters = block.parameters();
  for (std::size_t k = 0; k < names.size(); ++k)
    if (names[k].starts_with("expansion"))
      for (std::size_t at = k + 1; at < parameters.records.size(); at += names.size() + 1)
        if (parameters.records[at] != 0) return true;
  return false;
}

}  // namespace

void AnalysisModel::Builder::take_unknowns() {
  auto& m = model;
  NodeUnknowns all = voussoir::node_unknowns(domain);
  m.unknown_names_ = std::move(all.names);
  unknowns = std::move(all.of_node);
  for (std::size_t k = 0; k < m.unknown_names_.size(); ++k)
    if (m.unknown_names_[k] == "T") m.temperature_component_ = static_cast<int>(k);
  if (m.temperature_component_ < 0) return;
  for (std::size_t b = 0; b < batches.size(); ++b) {
    const ElementProgram& program = *batches[b].program;
    const auto names = program.unknown_names();
    if (std::find(names.begin(), names.end(), "T") != names.end()) continue;
    if (program.reads_temperature() || expands(domain.block(origins[b].block))) m.follows_other_field_ = true;
  }
}

std::vector<int> AnalysisModel::Builder::unknowns_of(const ElementProgram& program) const {
  const auto& all = model.unknown_names_;
  std::vector<int> result;
  for (const std::string& name : program.unknown_names())
    result.push_back(static_cast<int>(std::find(all.begin(), all.end(), name) - all.begin()));
  return result;
}

void AnalysisModel::Builder::add_equation_nodes() {
  const auto& names = model.unknown_names_;
  std::map<std::int32_t, UnknownSet> named;  // unknowns of each such node
  for (const auto& e : domain.equations())
    for (const auto& term : e.terms) {
      if (!unknowns[term.node].empty()) continue;
      const auto k = std::find(names.begin(), names.end(), term.unknown) - names.begin();
      if (k < static_cast<std::ptrdiff_t>(names.size())) named[term.node].add(static_cast<int>(k));
    }
  if (named.empty()) return;
  // What the others have, where that is possible: blocks of a matrix need the same number everywhere.
  UnknownSet usual;
  bool first_few = true;
  for (const UnknownSet set : unknowns) {
    if (set.empty()) continue;
    if (usual.empty() || set.count() < usual.count()) usual = set;
    first_few = first_few && set.is_first_few();
  }
  for (const auto& [node, own] : named) {
    UnknownSet all = usual;
    all.add(own);
    for (int k = 0; first_few && k < static_cast<int>(names.size()); ++k)  // and those in between
      if (own.bits() >> k) all.add(k);
    unknowns[node] = all;
    for (int k = 0; k < static_cast<int>(names.size()); ++k)
      if (all.has(k) && !own.has(k)) idle.push_back({node, k});
  }
}

void AnalysisModel::Builder::number(const DofNumberer& numberer) {
  auto& m = model;
  m.position_.assign(domain.node_count(), -1);
  std::vector<std::int32_t> active;  // domain nodes with equations
  for (std::int32_t n = 0; n < domain.node_count(); ++n)
    if (!unknowns[n].empty()) {
      m.position_[n] = static_cast<std::int32_t>(active.size());
      active.push_back(n);
    }
  NodeGraph graph;
  if (numberer.needs_graph())
    graph = make_graph(static_cast<std::int32_t>(active.size()));
  else
    graph.row_start.assign(active.size() + 1, 0);
  std::vector<std::int32_t> order = numberer.order(graph);
  if (order.size() != active.size())
    throw Error(ErrorCode::misuse, "the numberer '" + numberer.name() + "' ordered " + std::to_string(order.size()) +
                                       " of " + std::to_string(active.size()) + " nodes");
  if (const auto* divided = dynamic_cast<const DividedNumberer*>(&numberer)) divide(*divided, active, order);
  m.node_at_.resize(active.size());
  m.first_equation_.assign(active.size() + 1, 0);
  std::int64_t equation = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    m.node_at_[k] = active[order[k]];
    m.first_equation_[k] = static_cast<std::int32_t>(equation);
    equation += unknowns[m.node_at_[k]].count();
    if (equation > INT32_MAX) throw Error(ErrorCode::bad_input, "the model has more than 2^31 − 1 equations");
  }
  m.first_equation_.back() = static_cast<std::int32_t>(equation);
  std::fill(m.position_.begin(), m.position_.end(), -1);
  m.node_unknowns_.resize(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    m.position_[m.node_at_[k]] = static_cast<std::int32_t>(k);
    m.node_unknowns_[k] = unknowns[m.node_at_[k]];
    m.nodes_have_first_unknowns_ = m.nodes_have_first_unknowns_ && m.node_unknowns_[k].is_first_few();
  }
}

void AnalysisModel::Builder::divide(const DividedNumberer& numberer, const std::vector<std::int32_t>& active,
                                    std::vector<std::int32_t>& order) {
  const int devices = model.backend_->devices();
  if (devices == 1 && numberer.options().parts <= 1) return;
  NodesToDivide nodes;
  nodes.domain_node = active;
  for (const std::int32_t n : active) {
    nodes.equations.push_back(unknowns[n].count());
    for (int i = 0; i < 3; ++i)
      nodes.coordinates.push_back(domain.coordinates()[3 * static_cast<std::size_t>(n) + static_cast<std::size_t>(i)]);
  }
  const std::vector<std::vector<std::int32_t>> positions = numbered_connectivity();
  for (std::size_t b = 0; b < batches.size(); ++b)
    nodes.elements.push_back({positions[b], batches[b].program->nodes()});
  nodes.weight = node_weights(nodes.elements, nodes.equations);
  NodeGraph graph;
  nodes.graph = [&]() -> const NodeGraph& {
    if (graph.row_start.empty()) graph = node_graph(nodes.elements, nodes.nodes());
    return graph;
  };
  const DividedNumberer::Division division = numberer.divide(nodes, devices);
  PartOrder parts = order_by_parts(order, division.part, nodes.parts(), boundary_nodes(nodes.elements, division.part));
  order = std::move(parts.order);
  if (devices == 1) return;  // which owns all parts
  if (nodes.parts() != devices)
    throw Error(ErrorCode::bad_input, "the numberer '" + numberer.name() + "' divides nodes into " +
                                          std::to_string(nodes.parts()) + " parts, but there are " +
                                          std::to_string(devices) + " devices");
  first_node_of_device = std::move(parts.first);
}

NodeGraph AnalysisModel::Builder::make_graph(std::int32_t nodes) const {
  const std::vector<std::vector<std::int32_t>> positions = numbered_connectivity();
  std::vector<ElementNodes> elements;
  for (std::size_t b = 0; b < batches.size(); ++b) elements.push_back({positions[b], batches[b].program->nodes()});
  return node_graph(elements, nodes);
}

std::vector<std::vector<std::int32_t>> AnalysisModel::Builder::numbered_connectivity() const {
  std::vector<std::vector<std::int32_t>> positions(connectivity.size());
  for (std::size_t b = 0; b < connectivity.size(); ++b) {
    positions[b].reserve(connectivity[b].size());
    for (const std::int32_t n : connectivity[b]) positions[b].push_back(model.position_[n]);
  }
  return positions;
}

}  // namespace voussoir
