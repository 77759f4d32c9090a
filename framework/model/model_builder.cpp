#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>

#include <voussoir/framework/domain/shape_topology.hpp>
#include <voussoir/framework/model/analysis_model.hpp>
#include <voussoir/framework/model/detail/symmetry.hpp>
#include <voussoir/framework/model/penalty.hpp>

// How a Domain becomes an AnalysisModel: blocks and loads to batches, nodes to equations, supports to a plan, all of it
// to the backend.

namespace voussoir {
namespace {

/// The load element for faces of a block: "pressure.quad4", "plane_pressure.line2", "axisymmetric_pressure.line3".
std::string load_type(const ElementBlock& block, const std::string& kind, const std::string& face_shape) {
  const auto& topology = shape_topology(block.type().shape());
  std::string geometry;
  if (topology.dim == 2) geometry = block.type().program().axisymmetric() ? "axisymmetric_" : "plane_";
  return geometry + kind + "." + face_shape;
}

/// The value of a parameter of one element of a block, at its lowest temperature; `otherwise` where it has none.
double block_parameter(const ElementBlock& block, const ElementBlock::Parameters& p, const std::string& name,
                       std::int32_t element, double otherwise) {
  const auto names = block.type().program().parameter_names();
  const auto k = std::find(names.begin(), names.end(), name) - names.begin();
  if (k == static_cast<std::ptrdiff_t>(names.size())) return otherwise;
  const std::size_t record = p.record.empty() ? 0 : p.record[element];
  return p.records[record * p.rows * (names.size() + 1) + 1 + k];
}

/// Whether elements of a program feel a body load at all: forces act on displacements, heat on a temperature.
bool feels(const ElementProgram& program, const BodyLoad& load) {
  if (!program.takes_body_load()) return false;
  return load.source != 0 ? program.components() == 1 : program.unknown_names()[0] == "ux";
}

}  // namespace

/// Holds what is needed while the model is built, and nothing afterwards.
struct AnalysisModel::Builder {
  AnalysisModel& model;
  const Domain& domain;
  std::vector<std::uint8_t> components;  // per domain node
  std::vector<BatchDescription> batches;
  std::vector<std::vector<std::int32_t>> connectivity;  // per batch, in domain nodes until number() is called

  std::vector<double> initial_temperature;  // of the domain's nodes; empty where all have the same
  double start_temperature = 0;

  explicit Builder(AnalysisModel& m) : model(m), domain(m.domain_), components(m.domain_.node_count(), 0) {}

  /// Nodes that no element uses do not count.
  void take_initial_temperatures() {
    std::vector<double> t = domain.initial_temperatures();
    bool known = false, same = true;
    for (std::size_t n = 0; n < t.size(); ++n) {
      if (components[n] == 0) continue;
      if (!known) start_temperature = t[n];
      known = true;
      same = same && t[n] == start_temperature;
    }
    if (!same) initial_temperature = std::move(t);
  }

  void add_batch(std::shared_ptr<const ElementProgram> program, std::vector<std::int32_t> nodes,
                 std::vector<double> parameters, std::vector<std::int32_t> record, int rows, BatchOrigin origin) {
    BatchDescription b;
    b.program = std::move(program);
    b.parameters = std::move(parameters);
    b.record = std::move(record);
    b.table_rows = rows;
    b.expansion_reference = domain.reference_temperature();
    if (origin.kind == BatchOrigin::Kind::block || origin.kind == BatchOrigin::Kind::body_load)
      if (const auto& material = domain.block(origin.block).material())
        b.expansion_reference = material->expansion_reference().value_or(b.expansion_reference);
    batches.push_back(std::move(b));
    connectivity.push_back(std::move(nodes));
    model.origins_.push_back(std::move(origin));
  }

  /// The model's unknowns are the longest list of any element; all others must be beginnings of it.
  void take_unknowns(const ElementProgram& program, const std::string& where) {
    const auto names = program.unknown_names();
    auto& all = model.unknown_names_;
    const std::size_t common = std::min(names.size(), all.size());
    if (!std::equal(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(common), all.begin()))
      throw Error(ErrorCode::bad_input,
                  "its unknowns (" + names[0] + ", …) are incompatible with those of the previous blocks (" + all[0] +
                      ", …); use a separate analysis for them",
                  where);
    if (names.size() > all.size()) all.assign(names.begin(), names.end());
  }

  void add_blocks() {
    for (std::size_t i = 0; i < domain.block_count(); ++i) {
      const ElementBlock& block = domain.block(i);
      const std::string where = "block '" + block.name() + "'";
      if (block.size() == 0) continue;
      const auto& program = block.type().shared_program();
      take_unknowns(*program, where);
      if (const std::string defect = program->defect(); !defect.empty())
        throw Error(ErrorCode::misuse, "element type '" + program->name() + "' is wrong: " + defect, where);
      auto p = block.parameters();
      if (p.rows > 1) model.depends_on_temperature_ = true;
      if (program->reads_temperature()) model.laws_read_temperature_ = true;
      for (std::int32_t n : block.connectivity())
        components[n] = std::max<std::uint8_t>(components[n], static_cast<std::uint8_t>(program->components()));
      BatchOrigin origin;
      origin.block = static_cast<int>(i);
      add_batch(program, {block.connectivity().begin(), block.connectivity().end()}, std::move(p.records),
                std::move(p.record), p.rows, std::move(origin));
    }
    if (batches.empty()) throw Error(ErrorCode::bad_input, "the domain has no elements; add a block and fill it");
  }

  void add_surface_loads() {
    for (std::size_t c = 0; c < domain.load_case_count(); ++c) {
      for (const auto& load : domain.load_case(c).surface_loads()) {
        // Faces of one block and one shape make one batch.
        std::map<std::pair<int, std::string>, std::vector<FaceRef>> groups;
        for (const FaceRef& f : domain.surface(load.surface)) {
          const auto& shape = shape_topology(domain.block(f.block).type().shape());
          groups[{f.block, shape.faces[f.face].shape}].push_back(f);
        }
        for (const auto& [key, faces] : groups) add_faces(static_cast<int>(c), load, key.first, key.second, faces);
      }
    }
  }

  void add_faces(int load_case, const LoadCase::Surface& load, int block_index, const std::string& face_shape,
                 const std::vector<FaceRef>& faces) {
    const ElementBlock& block = domain.block(block_index);
    const std::string where = "surface '" + load.surface + "', load case '" + domain.load_case(load_case).name() + "'";
    if (face_shape.empty())
      throw Error(ErrorCode::bad_input,
                  "elements of block '" + block.name() + "' have no faces to load; use nodal loads", where);
    const ElementType* type = ElementLibrary::instance().find_if(load_type(block, load.kind, face_shape));
    if (!type)
      throw Error(ErrorCode::bad_input,
                  "there is no " + load.kind + " load for faces of " + block.type_name() + " elements", where);
    take_unknowns(type->program(), where);
    const auto& shape = shape_topology(block.type().shape());
    const auto names = type->program().parameter_names();
    if (load.kind == "traction" && type->program().components() == 2 && load.values[2] != 0)
      throw Error(ErrorCode::bad_input, "a traction along z cannot act on plane elements", where);
    const bool has_thickness = !names.empty() && names.back() == "thickness";
    const auto block_parameters = block.parameters();
    std::vector<double> parameters;
    std::vector<std::int32_t> record, nodes;
    BatchOrigin origin;
    origin.kind = BatchOrigin::Kind::surface_load;
    origin.block = block_index;
    origin.load_case = load_case;
    for (const FaceRef& f : faces) {
      for (int local : shape.faces[f.face].nodes) nodes.push_back(block.nodes(f.element)[local]);
      origin.elements.push_back({f.block, f.element});
      if (parameters.empty() || has_thickness) {
        parameters.push_back(0.0);  // temperature of the only row
        for (std::size_t k = 0; k + (has_thickness ? 1 : 0) < names.size(); ++k)
          parameters.push_back(k < load.values.size() ? load.values[k] : 0.0);
        if (has_thickness) parameters.push_back(block_parameter(block, block_parameters, "thickness", f.element, 1.0));
      }
      if (has_thickness) record.push_back(static_cast<std::int32_t>(record.size()));
    }
    add_batch(type->shared_program(), std::move(nodes), std::move(parameters), std::move(record), 1, std::move(origin));
  }

  /// Body loads on whole blocks use the block's own batch; on parts of one, a batch of those elements.
  void add_body_loads() {
    for (std::size_t c = 0; c < domain.load_case_count(); ++c) {
      const LoadCase& load_case = domain.load_case(c);
      for (const auto& load : load_case.body_loads()) {
        std::map<int, std::vector<std::int32_t>> members;
        if (load.element_set.empty()) {
          for (std::size_t b = 0; b < domain.block_count(); ++b)
            for (std::int32_t e = 0; e < domain.block(b).size(); ++e) members[static_cast<int>(b)].push_back(e);
        } else {
          for (const ElementRef& ref : domain.element_set(load.element_set)) members[ref.block].push_back(ref.element);
        }
        const std::string where = "load case '" + load_case.name() + "'" +
                                  (load.element_set.empty() ? "" : ", element set '" + load.element_set + "'");
        bool any = false, heavy = false;
        for (auto& [b, elements] : members) {
          const ElementBlock& block = domain.block(b);
          const ElementProgram& program = block.type().program();
          if (!feels(program, load.load)) continue;
          any = true;
          if (program.components() == 2 && load.load.acceleration[2] != 0)
            throw Error(ErrorCode::bad_input,
                        "gravity along z cannot act on the plane elements of block '" + block.name() + "'", where);
          auto p = block.parameters();
          for (std::size_t i = 0; i < elements.size() && !heavy; ++i)
            heavy = load.load.source != 0 || block_parameter(block, p, "density", elements[i], 1.0) != 0;
          BatchOrigin origin;
          origin.kind = BatchOrigin::Kind::body_load;
          origin.block = b;
          origin.load_case = static_cast<int>(c);
          origin.body = load.load;
          if (static_cast<std::int32_t>(elements.size()) == block.size()) {
            whole_body_loads.push_back(std::move(origin));
            continue;
          }
          std::vector<std::int32_t> nodes, record;
          for (std::int32_t e : elements) {
            nodes.insert(nodes.end(), block.nodes(e).begin(), block.nodes(e).end());
            origin.elements.push_back({b, e});
            if (!p.record.empty()) record.push_back(p.record[e]);
          }
          add_batch(block.type().shared_program(), std::move(nodes), std::move(p.records), std::move(record), p.rows,
                    std::move(origin));
        }
        if (!any)
          throw Error(ErrorCode::bad_input,
                      load.load.source != 0
                          ? "a heat source needs elements that conduct heat, and there are none"
                          : "gravity and rotation need elements with mass and displacements, and there are none",
                      where);
        if (!heavy)
          throw Error(ErrorCode::bad_input,
                      "all elements under this load have density 0, so it would have no effect; set 'density'", where);
      }
    }
  }
  std::vector<BatchOrigin> whole_body_loads;

  /// Matrices are stored by halves, and solved by methods for symmetric ones.
  void check_symmetry() const {
    for (std::size_t b = 0; b < batches.size(); ++b) {
      const BatchOrigin& origin = model.origins_[b];
      if (origin.kind == BatchOrigin::Kind::body_load) continue;  // elements of a block that has a batch
      detail::BatchSample sample;
      sample.batch = &batches[b];
      sample.nodes = connectivity[b];
      sample.coordinates = domain.coordinates();
      sample.initial_temperature = initial_temperature;
      sample.start_temperature = start_temperature;
      const detail::Asymmetry found = detail::find_asymmetry(sample);
      if (found.element < 0) continue;
      char size[32];
      std::snprintf(size, sizeof size, "%.2g", found.size);
      throw Error(ErrorCode::misuse,
                  "the tangent of element type '" + batches[b].program->name() + "' is not symmetric (by " + size +
                      " of its entries" + (found.at_rest ? "" : ", away from zero unknowns") +
                      "), and only symmetric ones are supported; a law must satisfy A : dflux(B) = B : dflux(A)",
                  domain.element_label(model.element_of(static_cast<int>(b), found.element)));
    }
  }

  /// Nodes that no element uses have the unknowns that equations name. What no equation names beside them is held,
  /// since nothing gives it stiffness.
  void add_equation_nodes() {
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
  std::vector<Place> idle;  // unknowns of nodes without elements that nothing names

  void number(const DofNumberer& numberer) {
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

  NodeGraph make_graph(std::int32_t nodes) const {
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

  /// The equation of a named unknown at a node, or an Error that says why there is none.
  std::int32_t require_equation(std::int32_t node, const std::string& unknown, const std::string& what) const {
    const std::int32_t equation = model.equation(node, unknown);
    if (equation >= 0) return equation;
    const auto& names = model.unknown_names_;
    std::string text;
    if (components[node] == 0) {
      text = "no element uses the node, so it has no unknowns";
    } else {
      text = "the node has no unknown '" + unknown + "'; it has ";
      for (int i = 0; i < components[node]; ++i) text += (i ? ", " : "") + names[i];
    }
    throw Error(ErrorCode::bad_input, what + ": " + text, domain.node_label(node));
  }

  void constrain(const ConstraintHandler& handler) {
    auto& m = model;
    NumberedConstraints c;
    c.equation_count = m.equation_count();
    c.label = [&m](std::int32_t e) { return m.equation_label(e); };
    for (const auto& p : domain.prescribed()) {
      if (p.unknown == "all") {
        if (components[p.node] == 0) require_equation(p.node, p.unknown, "support");
        for (int k = 0; k < components[p.node]; ++k)
          c.single.push_back({m.first_equation_[m.position_[p.node]] + k, p.value});
      } else {
        c.single.push_back({require_equation(p.node, p.unknown, "support"), p.value});
      }
    }
    if (!idle.empty()) {
      std::vector<std::uint8_t> prescribed(c.equation_count, 0);
      for (const auto& s : c.single) prescribed[s.equation] = 1;
      for (const Place& p : idle) {
        const std::int32_t equation = m.first_equation_[m.position_[p.node]] + p.component;
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
    m.plan_ = handler.plan(c);
    m.held_ = m.plan_.held;
    m.dependent_of_.assign(m.equation_count(), -1);
    for (std::size_t i = 0; i < m.plan_.dependent.size(); ++i)
      m.dependent_of_[m.plan_.dependent[i].equation] = static_cast<std::int32_t>(i);
    if (!m.plan_.springs.empty()) add_springs(handler.spring_factor() * largest_diagonal());
  }

  /// A rotation is compared with displacements by the longest lever with which an equation names one.
  std::vector<double> comparable_scale(const NumberedConstraints& c) const {
    const auto& names = model.unknown_names_;
    if (c.multi.empty() || names[0] != "ux") return {};
    const auto is_rotation = [&](std::int32_t equation) {
      const Place at = model.place(equation);
      return at.component >= 3 || domain.rotation_node(at.node);
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

  /// Largest diagonal entry of the elements' tangents.
  double largest_diagonal() const {
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
        for (int i = 0, at = 0; i < program.dofs(); at += program.dofs() - i, ++i)
          for (int l = 0; l < count; ++l)
            largest = std::max(largest, std::abs(k[static_cast<std::size_t>(at) * lanes + l]));
      }
    }
    return largest;
  }

  /// Springs that touch the same number of nodes make one batch; those of supports are apart from those of equations,
  /// so that reactions can be told from the forces of equations.
  void add_springs(double stiffness) {
    auto& m = model;
    struct Group {
      std::vector<std::int32_t> nodes;
      std::vector<double> parameters;
    };
    using Key = std::pair<bool, int>;  // a support, number of nodes
    std::map<Key, Group> groups;
    const int width = static_cast<int>(m.unknown_names_.size());
    std::map<Key, std::vector<double>> constants;
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
      constants[key].push_back(spring.constant);
    }
    for (auto& [key, group] : groups) {
      const int count = key.second;
      // All nodes of a spring get as many components as the widest: those beyond a node's own have coefficient zero and
      // must not exist, so a batch is only as wide as its narrowest node.
      int narrow = width;
      for (std::int32_t n : group.nodes) narrow = std::min<int>(narrow, components[n]);
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
            if (k < narrow)
              parameters.push_back(c);
            else if (c != 0)
              throw Error(ErrorCode::bad_input,
                          "the penalty handler cannot tie rotations in a model where other constrained nodes have "
                          "none; use the "
                          "transformation handler",
                          domain.node_label(group.nodes[s * count + a]));
          }
        parameters.push_back(from[old_stride - 2]);
        parameters.push_back(from[old_stride - 1]);
      }
      BatchOrigin origin;
      origin.kind = BatchOrigin::Kind::constraint;
      origin.support = key.first;
      m.spring_constants_.push_back(std::move(constants[key]));
      add_batch(make_penalty_program(count, narrow, {m.unknown_names_.begin(), m.unknown_names_.begin() + narrow}),
                std::move(group.nodes), std::move(parameters), std::move(record), 1, std::move(origin));
    }
  }

  void upload() {
    auto& m = model;
    ModelDescription d;
    std::vector<double> coordinates(3 * m.node_at_.size());
    for (std::size_t k = 0; k < m.node_at_.size(); ++k)
      std::copy_n(domain.coordinates().begin() + 3 * static_cast<std::ptrdiff_t>(m.node_at_[k]), 3,
                  coordinates.begin() + static_cast<std::ptrdiff_t>(3 * k));
    d.coordinates = coordinates;
    std::vector<double> initial;
    if (!initial_temperature.empty())
      for (const std::int32_t n : m.node_at_) initial.push_back(initial_temperature[n]);
    d.initial_temperature = initial;
    d.start_temperature = start_temperature;
    d.first_equation = m.first_equation_;
    d.held = m.held_;
    for (const auto& a : m.plan_.dependent) {
      Dependency dependency{a.equation, {}, {}};
      for (std::size_t k = 0; k < a.others.size(); ++k)
        if (!m.held_[a.others[k]]) {
          dependency.others.push_back(a.others[k]);
          dependency.coefficients.push_back(a.coefficients[k]);
        }
      d.dependencies.push_back(std::move(dependency));
    }
    for (std::size_t b = 0; b < batches.size(); ++b) {
      for (auto& n : connectivity[b]) n = m.position_[n];
      batches[b].nodes = connectivity[b];
    }
    d.batches = std::move(batches);
    m.device_model_ = m.backend_->make_model(d);
  }
};

AnalysisModel::AnalysisModel(const Domain& domain, std::shared_ptr<Backend> backend, const ConstraintHandler& handler,
                             const DofNumberer& numberer)
    : domain_(domain), backend_(std::move(backend)) {
  if (!backend_) throw Error(ErrorCode::misuse, "an AnalysisModel needs a backend; get one from Backend::open()");
  Builder builder(*this);
  builder.add_blocks();
  builder.add_surface_loads();
  for (std::size_t k = 0; k < unknown_names_.size(); ++k)
    if (unknown_names_[k] == "T") temperature_component_ = static_cast<int>(k);
  builder.add_body_loads();
  builder.take_initial_temperatures();
  builder.check_symmetry();
  builder.add_equation_nodes();
  builder.number(numberer);
  builder.constrain(handler);
  for (const auto& load_case : domain.load_cases())
    for (const auto& load : load_case->nodal_loads())
      builder.require_equation(load.node, load.unknown, "load case '" + load_case->name() + "'");
  builder.upload();
  whole_body_loads_ = std::move(builder.whole_body_loads);
  domain_revision_ = domain.revision();
  if (temperature_component_ >= 0)
    for (const auto& load_case : domain.load_cases())
      if (!load_case->temperatures().empty())
        throw Error(ErrorCode::bad_input,
                    "temperatures cannot be given as a load if temperature is an unknown; prescribe 'T' instead",
                    "load case '" + load_case->name() + "'");
}

}  // namespace voussoir
