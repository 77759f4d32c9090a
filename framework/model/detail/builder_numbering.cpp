// Equations of nodes, and their order.
#include <voussoir/framework/model/detail/model_builder.hpp>

#include <algorithm>
#include <map>

namespace voussoir {

void AnalysisModel::Builder::add_equation_nodes() {
  const auto& names = model.unknown_names_;
  std::map<std::int32_t, std::uint32_t> named;  // unknowns of each such node, a bit each
  for (const auto& e : domain.equations())
    for (const auto& term : e.terms) {
      if (components[term.node] != 0) continue;
      const auto k = std::find(names.begin(), names.end(), term.unknown) - names.begin();
      if (k < static_cast<std::ptrdiff_t>(names.size())) named[term.node] |= 1u << k;
    }
  if (named.empty()) return;
  // As many as the others have, where they can be: blocks of a matrix want the same number everywhere.
  int usual = static_cast<int>(names.size());
  for (const std::uint8_t c : components)
    if (c != 0) usual = std::min<int>(usual, c);
  for (const auto& [node, bits] : named) {
    int count = usual;
    while (bits >> count) ++count;
    components[node] = static_cast<std::uint8_t>(count);
    for (int k = 0; k < count; ++k)
      if (!(bits >> k & 1u)) idle.push_back({node, k});
  }
}

void AnalysisModel::Builder::number(const DofNumberer& numberer) {
  auto& m = model;
  m.position_.assign(domain.node_count(), -1);
  std::vector<std::int32_t> active;  // domain nodes with equations
  for (std::int32_t n = 0; n < domain.node_count(); ++n)
    if (components[n]) {
      m.position_[n] = static_cast<std::int32_t>(active.size());
      active.push_back(n);
    }
  NodeGraph graph;
  if (numberer.needs_graph())
    graph = make_graph(static_cast<std::int32_t>(active.size()));
  else
    graph.row_start.assign(active.size() + 1, 0);
  const std::vector<std::int32_t> order = numberer.order(graph);
  if (order.size() != active.size())
    throw Error(ErrorCode::misuse, "the numberer '" + numberer.name() + "' ordered " + std::to_string(order.size()) +
                                       " of " + std::to_string(active.size()) + " nodes");
  m.node_at_.resize(active.size());
  m.first_equation_.assign(active.size() + 1, 0);
  std::int64_t equation = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    m.node_at_[k] = active[order[k]];
    m.first_equation_[k] = static_cast<std::int32_t>(equation);
    equation += components[m.node_at_[k]];
    if (equation > INT32_MAX) throw Error(ErrorCode::bad_input, "the model has more than 2^31 − 1 equations");
  }
  m.first_equation_.back() = static_cast<std::int32_t>(equation);
  std::fill(m.position_.begin(), m.position_.end(), -1);
  for (std::size_t k = 0; k < order.size(); ++k) m.position_[m.node_at_[k]] = static_cast<std::int32_t>(k);
}

NodeGraph AnalysisModel::Builder::make_graph(std::int32_t nodes) const {
  std::vector<std::int64_t> start(nodes + 1, 0);
  for (std::size_t b = 0; b < batches.size(); ++b)
    for (std::int32_t n : connectivity[b]) ++start[model.position_[n] + 1];
  for (std::int32_t i = 0; i < nodes; ++i) start[i + 1] += start[i];
  struct Use {
    std::int32_t batch, element;
  };
  std::vector<Use> uses(start.back());
  auto cursor = start;
  for (std::size_t b = 0; b < batches.size(); ++b) {
    const int per = batches[b].program->nodes();
    for (std::size_t i = 0; i < connectivity[b].size(); ++i)
      uses[cursor[model.position_[connectivity[b][i]]]++] = {static_cast<std::int32_t>(b),
                                                             static_cast<std::int32_t>(i / per)};
  }
  NodeGraph graph;
  graph.row_start.push_back(0);
  std::vector<std::int32_t> row;
  for (std::int32_t i = 0; i < nodes; ++i) {
    row.clear();
    for (auto u = start[i]; u < start[i + 1]; ++u) {
      const int per = batches[uses[u].batch].program->nodes();
      for (int a = 0; a < per; ++a) {
        const std::int32_t j =
            model.position_[connectivity[uses[u].batch][static_cast<std::size_t>(uses[u].element) * per + a]];
        if (j != i) row.push_back(j);
      }
    }
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    graph.column.insert(graph.column.end(), row.begin(), row.end());
    graph.row_start.push_back(static_cast<std::int64_t>(graph.column.size()));
  }
  return graph;
}

}  // namespace voussoir
