// Supports and equations as the plan of a constraint handler, and the springs of one that uses penalties.
#include <voussoir/framework/model/detail/model_builder.hpp>

#include <algorithm>
#include <cmath>
#include <map>

#include <voussoir/framework/model/penalty.hpp>

namespace voussoir {

std::int32_t AnalysisModel::Builder::require_equation(std::int32_t node, const std::string& unknown,
                                                      const std::string& what) const {
  const std::int32_t equation = model.equation(node, unknown);
  if (equation >= 0) return equation;
  const auto& names = model.unknown_names_;
  std::string text;
  if (unknowns[node].empty()) {
    text = "no element uses the node, so it has no unknowns";
  } else {
    text = "the node has no unknown '" + unknown + "'; it has ";
    const int count = unknowns[node].count();
    for (int i = 0; i < count; ++i) text += (i ? ", " : "") + names[unknowns[node].unknown(i)];
  }
  throw Error(ErrorCode::bad_input, what + ": " + text, domain.node_label(node));
}

NumberedConstraints AnalysisModel::Builder::numbered_constraints() const {
  const auto& m = model;
  NumberedConstraints c;
  c.equation_count = m.equation_count();
  c.label = [&m](std::int32_t e) { return m.equation_label(e); };
  for (const auto& p : domain.prescribed()) {
    if (p.unknown == "all") {
      if (unknowns[p.node].empty()) require_equation(p.node, p.unknown, "support");
      for (int k = 0; k < unknowns[p.node].count(); ++k)
        c.single.push_back({m.first_equation_[m.position_[p.node]] + k, p.value});
    } else {
      c.single.push_back({require_equation(p.node, p.unknown, "support"), p.value});
    }
  }
  if (!idle.empty()) {
    std::vector<std::uint8_t> prescribed(c.equation_count, 0);
    for (const auto& s : c.single) prescribed[s.equation] = 1;
    for (const Place& p : idle) {
      const std::int32_t equation = m.first_equation_[m.position_[p.node]] + unknowns[p.node].slot(p.component);
      if (!prescribed[equation]) c.single.push_back({equation, 0.0});
    }
  }
  for (const auto& o : domain.oblique_supports()) {
    NumberedConstraints::Multi multi;
    multi.constant = o.value;
    multi.support = true;
    multi.label = "oblique support of " + domain.node_label(o.node);
    for (int k = 0; k < 3; ++k) {
      if (std::abs(o.direction[k]) < 1e-14) continue;
      const char* const names[] = {"ux", "uy", "uz"};
      multi.equations.push_back(require_equation(o.node, names[k], "oblique support"));
      multi.coefficients.push_back(o.direction[k]);
    }
    c.multi.push_back(std::move(multi));
  }
  for (const auto& e : domain.equations()) {
    NumberedConstraints::Multi multi;
    multi.constant = e.constant;
    multi.label = e.label;
    for (const auto& term : e.terms) {
      multi.equations.push_back(require_equation(term.node, term.unknown, e.label));
      multi.coefficients.push_back(term.coefficient);
    }
    c.multi.push_back(std::move(multi));
  }
  c.scale = comparable_scale(c);
  return c;
}

void AnalysisModel::Builder::constrain(const ConstraintHandler& handler) {
  auto& m = model;
  m.plan_ = handler.plan(numbered_constraints());
  m.prescribed_ = m.plan_.prescribed;
  m.dependent_of_.assign(m.equation_count(), -1);
  for (std::size_t i = 0; i < m.plan_.dependent.size(); ++i)
    m.dependent_of_[m.plan_.dependent[i].equation] = static_cast<std::int32_t>(i);
  if (!m.plan_.springs.empty()) add_springs(handler.spring_factor() * largest_diagonal());
}

std::vector<double> AnalysisModel::Builder::comparable_scale(const NumberedConstraints& c) const {
  const auto& names = model.unknown_names_;
  if (c.multi.empty() || names[0] != "ux") return {};
  const auto is_rotation = [&](std::int32_t equation) {
    const Place at = model.place(equation);
    const std::string& name = names[at.component];
    return name == "rx" || name == "ry" || name == "rz" || domain.rotation_node(at.node);
  };
  std::vector<double> scale;
  double lever = 0;
  std::vector<std::int32_t> rotations;
  for (const auto& multi : c.multi) {
    double straight = 0, turning = 0;
    for (std::size_t k = 0; k < multi.equations.size(); ++k) {
      const bool turns = is_rotation(multi.equations[k]);
      if (turns) rotations.push_back(multi.equations[k]);
      double& largest = turns ? turning : straight;
      largest = std::max(largest, std::abs(multi.coefficients[k]));
    }
    if (straight > 0) lever = std::max(lever, turning / straight);
  }
  if (!(lever > 0) || !std::isfinite(lever)) return {};
  scale.assign(c.equation_count, 1.0);
  for (const std::int32_t equation : rotations) scale[equation] = lever;
  return scale;
}

double AnalysisModel::Builder::largest_diagonal() const {
  double largest = 0;
  for (std::size_t b = 0; b < batches.size(); ++b) {
    const ElementProgram& program = *batches[b].program;
    if (!program.has_tangent()) continue;
    const int lanes = program.lanes();
    std::vector<double> k(static_cast<std::size_t>(lanes) * program.matrix_entries());
    ElementView view;
    view.element_count = static_cast<int>(connectivity[b].size() / program.nodes());
    view.nodes = connectivity[b].data();
    view.coordinates = domain.coordinates().data();
    view.parameters = batches[b].parameters.data();
    view.record = batches[b].record.empty() ? nullptr : batches[b].record.data();
    view.table_rows = batches[b].table_rows;
    view.expansion_reference = batches[b].expansion_reference;
    view.initial_temperature = initial_temperature.empty() ? nullptr : initial_temperature.data();
    view.start_temperature = start_temperature;
    for (int e = 0; e < view.element_count; e += lanes) {
      const int count = std::min(lanes, view.element_count - e);
      program.tangent(view, e, count, k.data());
      const int dofs = program.dofs();
      for (int i = 0, at = 0; i < dofs; at += program.symmetric() ? dofs - i : dofs + 1, ++i)
        for (int l = 0; l < count; ++l)
          largest = std::max(largest, std::abs(k[static_cast<std::size_t>(at) * lanes + l]));
    }
  }
  return largest;
}

void AnalysisModel::Builder::add_springs(double stiffness) {
  auto& m = model;
  struct Group {
    std::vector<std::int32_t> nodes;
    std::vector<double> parameters;
  };
  using Key = std::pair<bool, int>;  // a support, number of nodes
  std::map<Key, Group> groups;
  const int width = static_cast<int>(m.unknown_names_.size());
  for (const auto& spring : m.plan_.springs) {
    std::map<std::int32_t, std::vector<double>> per_node;
    double scale = 0;
    for (std::size_t i = 0; i < spring.equations.size(); ++i) {
      const Place at = m.place(spring.equations[i]);
      auto& row = per_node[at.node];
      row.resize(width, 0.0);
      row[at.component] += spring.coefficients[i];
      scale = std::max(scale, std::abs(spring.coefficients[i]));
    }
    const Key key{spring.support, static_cast<int>(per_node.size())};
    Group& group = groups[key];
    group.parameters.push_back(0.0);
    for (const auto& [node, row] : per_node) {
      group.nodes.push_back(node);
      group.parameters.insert(group.parameters.end(), row.begin(), row.end());
    }
    group.parameters.push_back(stiffness / (scale * scale));
    group.parameters.push_back(spring.constant);
  }
  for (auto& [key, group] : groups) {
    const int count = key.second;
    // The elements of a batch have the unknowns that all their nodes have; the others have coefficient zero.
    std::vector<int> common;
    std::vector<std::string> names;
    for (int k = 0; k < width; ++k)
      if (std::all_of(group.nodes.begin(), group.nodes.end(), [&](std::int32_t n) { return unknowns[n].has(k); })) {
        common.push_back(k);
        names.push_back(m.unknown_names_[k]);
      }
    const std::size_t springs = group.nodes.size() / count;
    std::vector<double> parameters;
    std::vector<std::int32_t> record(springs);
    const std::size_t old_stride = 1 + static_cast<std::size_t>(count) * width + 2;
    for (std::size_t s = 0; s < springs; ++s) {
      record[s] = static_cast<std::int32_t>(s);
      const double* from = group.parameters.data() + s * old_stride;
      parameters.push_back(0.0);
      for (int a = 0; a < count; ++a)
        for (int k = 0; k < width; ++k) {
          const double c = from[1 + a * width + k];
          if (std::find(common.begin(), common.end(), k) != common.end())
            parameters.push_back(c);
          else if (c != 0)
            throw Error(ErrorCode::bad_input,
                        "the penalty handler cannot constrain '" + m.unknown_names_[k] +
                            "' in a model where other constrained nodes do not have it; use the transformation handler",
                        domain.node_label(group.nodes[s * count + a]));
        }
      parameters.push_back(from[old_stride - 2]);
      parameters.push_back(from[old_stride - 1]);
    }
    BatchOrigin origin;
    origin.kind = BatchOrigin::Kind::constraint;
    origin.support = key.first;
    add_batch(make_penalty_program(count, static_cast<int>(common.size()), std::move(names)), std::move(group.nodes),
              std::move(parameters), std::move(record), 1, std::move(origin));
  }
}

}  // namespace voussoir
