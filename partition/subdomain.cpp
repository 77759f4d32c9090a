#include <voussoir/partition/subdomain.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/domain/block_parameter.hpp>
#include <voussoir/framework/domain/node_unknowns.hpp>
#include <voussoir/partition/equation_groups.hpp>

namespace voussoir {

std::vector<std::int32_t> parts_of_equation_nodes(const Domain& whole, const Partition& partition) {
  std::vector<std::int32_t> part_of(whole.node_count(), -1);
  if (whole.equations().empty()) return part_of;
  const EquationGroups groups = equation_groups(whole);
  std::vector<std::int32_t> part_of_group(groups.count, -1);
  for (std::size_t q = 0; q < whole.equations().size(); ++q)
    for (const auto& term : whole.equations()[q].terms) {
      if (!groups.has_elements[term.node]) continue;
      std::int32_t& part = part_of_group[groups.of_equation[q]];
      if (part < 0) part = partition.owner(term.node);
      if (part != partition.owner(term.node) || partition.on_interface(term.node))
        throw Error(ErrorCode::bad_input,
                    "the equation crosses the interface of part " + std::to_string(part) +
                        "; keep the elements at its nodes, and at those of equations that share nodes without elements "
                        "with it, in one part (DomainPartitioner does)",
                    whole.equations()[q].label);
    }
  for (std::size_t q = 0; q < whole.equations().size(); ++q)
    for (const auto& term : whole.equations()[q].terms)
      if (!groups.has_elements[term.node]) part_of[term.node] = std::max(0, part_of_group[groups.of_equation[q]]);
  return part_of;
}

namespace {

/// Whether some element at a node, of one part, has an unknown.
class UnknownsOfNodes {
 public:
  UnknownsOfNodes(const Domain& whole, const Partition& partition) : whole_(whole), partition_(partition) {
    Names first;
    for (std::size_t b = 0; b < whole.block_count(); ++b) {
      if (whole.block(b).size() == 0) continue;
      const auto names = whole.block(b).type().program().unknown_names();
      if (first.empty()) first.assign(names.begin(), names.end());
      uniform_ = uniform_ && std::equal(names.begin(), names.end(), first.begin(), first.end());
    }
  }
  bool has(std::int32_t node, int part, const std::string& unknown) {
    if (uniform_) return true;  // the usual case; what does not exist at all is found when the part is numbered
    if (unknown == "all") return true;
    if (sets_.empty()) collect();
    const auto k = std::find(names_.begin(), names_.end(), unknown) - names_.begin();
    return k < static_cast<std::ptrdiff_t>(names_.size()) && sets_[place(node, part)].has(static_cast<int>(k));
  }

 private:
  using Names = std::vector<std::string>;

  /// The place of a node in a part, which it belongs to, among the parts of all nodes.
  std::size_t place(std::int32_t node, int part) const {
    const auto parts = partition_.parts_of_node(node);
    const auto* const at = std::lower_bound(parts.data(), parts.data() + parts.size(), part);
    return static_cast<std::size_t>(at - partition_.parts_of_node(0).data());
  }
  void collect() {
    names_ = node_unknowns(whole_).names;
    const auto last = partition_.parts_of_node(whole_.node_count() - 1);
    sets_.resize(static_cast<std::size_t>(last.data() + last.size() - partition_.parts_of_node(0).data()));
    for (std::size_t b = 0; b < whole_.block_count(); ++b) {
      const ElementBlock& block = whole_.block(b);
      if (block.size() == 0) continue;
      UnknownSet own;
      for (const std::string& name : block.type().program().unknown_names())
        own.add(static_cast<int>(std::find(names_.begin(), names_.end(), name) - names_.begin()));
      for (std::int32_t e = 0; e < block.size(); ++e) {
        const int part = partition_.part({static_cast<std::int32_t>(b), e});
        for (const std::int32_t n : block.nodes(e)) sets_[place(n, part)].add(own);
      }
    }
  }

  const Domain& whole_;
  const Partition& partition_;
  bool uniform_ = true;
  Names names_;
  std::vector<UnknownSet> sets_;  // per node and part of it
};

/// Builds the domain of a part.
struct Builder {
  const Domain& whole;
  const Partition& partition;
  int part;
  Domain& domain;
  const std::vector<std::int32_t>& whole_nodes;
  std::vector<std::vector<std::int32_t>>& whole_elements;
  const std::vector<std::int32_t>& part_of_equation_node;
  UnknownsOfNodes& unknowns;
  std::vector<std::vector<std::int32_t>> local_element;  // per block, per element of the whole; −1 elsewhere

  bool is_here(std::int32_t node) const {
    if (part_of_equation_node[node] >= 0) return part_of_equation_node[node] == part;
    const auto parts = partition.parts_of_node(node);
    return std::binary_search(parts.begin(), parts.end(), part);
  }

  /// Whether the part has the node, if only without unknowns.
  bool is_listed(std::int32_t node) const { return std::binary_search(whole_nodes.begin(), whole_nodes.end(), node); }

  void add_mesh() {
    std::vector<Id> ids;
    std::vector<double> x;
    for (std::int32_t n : whole_nodes) {
      ids.push_back(whole.node_id(n));
      const auto at = whole.coordinates().subspan(3 * static_cast<std::size_t>(n), 3);
      x.insert(x.end(), at.begin(), at.end());
    }
    domain.add_nodes(ids, x);
    domain.set_reference_temperature(whole.reference_temperature());
    for (std::int32_t n : whole_nodes)
      if (whole.initial_temperature(n) != whole.reference_temperature())
        domain.set_initial_temperature_at(whole.node_id(n), whole.initial_temperature(n));

    for (std::size_t b = 0; b < whole.block_count(); ++b) {
      const ElementBlock& from = whole.block(b);
      ElementBlock& to = domain.add_block(from.name(), from.type_name());
      to.set_material(from.material()).set_orientation(from.orientation());
      for (const auto& [name, value] : from.section()) to.set_section(name, value);
      local_element.emplace_back(from.size(), -1);
      whole_elements.emplace_back();
      std::vector<Id> element_ids, nodes;
      for (std::int32_t e = 0; e < from.size(); ++e) {
        if (partition.part({static_cast<std::int32_t>(b), e}) != part) continue;
        local_element[b][e] = static_cast<std::int32_t>(whole_elements[b].size());
        whole_elements[b].push_back(e);
        element_ids.push_back(from.id(e));
        for (std::int32_t n : from.nodes(e)) nodes.push_back(whole.node_id(n));
      }
      if (!element_ids.empty()) to.add_many(element_ids, nodes);
      for (const auto& [name, values] : from.per_element()) {
        if (static_cast<std::int32_t>(values.size()) != from.size())
          throw Error(ErrorCode::bad_input,
                      std::to_string(values.size()) + " values of " + name + " for " + std::to_string(from.size()) +
                          " elements",
                      "block '" + from.name() + "'");
        std::vector<double> own;
        for (std::int32_t e : whole_elements[b]) own.push_back(values[e]);
        to.set_per_element(name, std::move(own));
      }
    }
  }

  void add_sets() {
    for (const std::string& name : whole.node_set_names()) {
      std::vector<Id> own;
      for (std::int32_t n : whole.node_set(name))
        if (is_listed(n)) own.push_back(whole.node_id(n));
      if (!own.empty()) domain.add_node_set(name, own);
    }
    for (const std::string& name : whole.element_set_names()) {
      std::vector<Id> own;
      for (const ElementRef& ref : whole.element_set(name))
        if (local_element[ref.block][ref.element] >= 0) own.push_back(whole.block(ref.block).id(ref.element));
      if (!own.empty()) domain.add_element_set(name, own);
    }
    for (const std::string& name : whole.surface_names()) {
      std::vector<FaceRef> own;
      for (const FaceRef& f : whole.surface(name))
        if (const std::int32_t e = local_element[f.block][f.element]; e >= 0) own.push_back({f.block, e, f.face});
      if (!own.empty()) domain.add_surface(name, own);
    }
  }

  /// Whether the part has an unknown of a node that it has. Nodes that only equations use have what these name.
  bool has_unknown(std::int32_t node, const std::string& unknown) {
    return part_of_equation_node[node] >= 0 || unknowns.has(node, part, unknown);
  }

  /// Whether the part has a displacement that an oblique support names, at a node that it has.
  bool has_displacement(const ObliqueSupport& support) {
    const char* const names[] = {"ux", "uy", "uz"};
    for (int k = 0; k < 3; ++k)
      if (support.direction[static_cast<std::size_t>(k)] != 0 && has_unknown(support.node, names[k])) return true;
    return false;
  }

  void require_unknowns(std::int32_t node, const std::string& what) const {
    if (partition.owner(node) < 0 && part_of_equation_node[node] < 0)
      throw Error(ErrorCode::bad_input, what + ": no element uses the node, so it has no unknowns",
                  whole.node_label(node));
  }

  void add_constraints() {
    for (const Prescribed& p : whole.prescribed()) {
      require_unknowns(p.node, "support");
      if (is_here(p.node) && has_unknown(p.node, p.unknown))
        domain.prescribe_at(whole.node_id(p.node), p.unknown, p.value);
    }
    // On the interface every part has the support, and all solve it for the same unknown: no equation is there to
    // change their choice.
    for (const ObliqueSupport& o : whole.oblique_supports()) {
      require_unknowns(o.node, "oblique support");
      if (is_here(o.node) && has_displacement(o)) domain.prescribe_along(whole.node_id(o.node), o.direction, o.value);
    }
    for (const ConstraintEquation& equation : whole.equations()) {
      if (!is_here(equation.terms.front().node)) continue;  // the others are where the first is
      std::vector<Domain::EquationTerm> terms;
      for (const auto& term : equation.terms)
        terms.push_back({whole.node_id(term.node), term.unknown, term.coefficient});
      domain.add_equation(terms, equation.constant, equation.label);
    }
    for (const std::int32_t n : whole_nodes)
      if (const RotationNode* rotation = whole.rotation_node(n); rotation && is_listed(rotation->reference))
        domain.set_rotation_node(whole.node_id(n), whole.node_id(rotation->reference), rotation->hidden);
  }

  /// The part that gets what exists once at a node.
  int receiver(std::int32_t node, const std::string& unknown, const std::string& load_case) {
    require_unknowns(node, "load case '" + load_case + "'");
    if (part_of_equation_node[node] >= 0) return part_of_equation_node[node];
    for (std::int32_t p : partition.parts_of_node(node))
      if (unknowns.has(node, p, unknown)) return p;
    return partition.owner(node);  // nobody has the unknown: the owner's model will say so
  }

  void add_loads() {
    for (const auto& from : whole.load_cases()) {
      LoadCase& to = domain.add_load_case(from->name());
      for (const auto& load : from->nodal_loads())
        if (receiver(load.node, load.unknown, from->name()) == part)
          to.nodal_at(whole.node_id(load.node), load.unknown, load.value);
      for (const auto& load : from->surface_loads()) add_surface_load(to, load);
      for (const auto& load : from->body_loads()) add_body_load(to, load);
      add_temperatures(*from, to);
    }
  }

  void add_surface_load(LoadCase& to, const LoadCase::Surface& load) {
    const auto names = domain.surface_names();
    if (!std::binary_search(names.begin(), names.end(), load.surface)) return;
    const auto& v = load.values;
    if (load.kind == "pressure")
      to.pressure(load.surface, v[0]);
    else if (load.kind == "traction")
      to.traction(load.surface, {v[0], v[1], v[2]});
    else if (load.kind == "flux")
      to.heat_flux(load.surface, v[0]);
    else if (load.kind == "convection")
      to.convection(load.surface, v[0], v[1]);
    else if (load.kind == "radiation")
      to.radiation(load.surface, v[0], v[1], v[2]);
    else
      throw Error(ErrorCode::internal, "surface loads of kind '" + load.kind + "' cannot be divided",
                  "load case '" + to.name() + "'");
  }

  /// Whether an element of the given domain and set carries body loads.
  static bool carries(const Domain& of, const std::string& element_set) {
    if (element_set.empty()) {
      for (std::size_t b = 0; b < of.block_count(); ++b)
        if (of.block(b).size() > 0 && of.block(b).type().program().takes_body_load()) return true;
      return false;
    }
    const auto names = of.element_set_names();
    if (!std::binary_search(names.begin(), names.end(), element_set)) return false;
    for (const ElementRef& ref : of.element_set(element_set))
      if (of.block(ref.block).type().program().takes_body_load()) return true;
    return false;
  }

  /// Whether gravity and rotation act on an element of a block: it has a density, or a mass without one.
  static bool has_weight(const ElementBlock& block, const std::vector<std::int32_t>& elements) {
    if (elements.empty() || !block.type().program().takes_body_load()) return false;
    const ElementBlock::Parameters p = block.parameters();
    return std::any_of(elements.begin(), elements.end(),
                       [&](std::int32_t e) { return block_parameter(block, p, "density", e, 1.0) != 0; });
  }

  static bool has_weight(const Domain& of, const std::string& element_set) {
    std::vector<std::vector<std::int32_t>> elements(of.block_count());
    if (element_set.empty()) {
      for (std::size_t b = 0; b < of.block_count(); ++b)
        for (std::int32_t e = 0; e < of.block(b).size(); ++e) elements[b].push_back(e);
    } else {
      for (const ElementRef& ref : of.element_set(element_set))
        elements[static_cast<std::size_t>(ref.block)].push_back(ref.element);
    }
    for (std::size_t b = 0; b < of.block_count(); ++b)
      if (has_weight(of.block(b), elements[b])) return true;
    return false;
  }

  void add_body_load(LoadCase& to, const LoadCase::Body& body) {
    if (!carries(domain, body.element_set)) {
      if (carries(whole, body.element_set)) return;
      throw Error(ErrorCode::bad_input, "no element of the set can carry a body load (it needs a volume and a density)",
                  "load case '" + to.name() + "'" +
                      (body.element_set.empty() ? "" : ", element set '" + body.element_set + "'"));
    }
    // Without a density, the model of the part would refuse the load, which acts in others.
    if (body.load.source == 0 && !has_weight(domain, body.element_set) && has_weight(whole, body.element_set)) return;
    const BodyLoad& b = body.load;
    const auto triple = [](const double* v) { return std::array<double, 3>{v[0], v[1], v[2]}; };
    if (b.acceleration[0] != 0 || b.acceleration[1] != 0 || b.acceleration[2] != 0)
      to.gravity(body.element_set, triple(b.acceleration));
    if (b.angular_velocity_squared != 0)
      to.centrifugal(body.element_set, std::sqrt(b.angular_velocity_squared), triple(b.axis_point),
                     triple(b.axis_direction));
    if (b.source != 0) to.heat_source(body.element_set, b.source);
  }

  void add_temperatures(const LoadCase& from, LoadCase& to) {
    const auto& given = from.temperatures();
    if (given.empty()) return;
    for (const std::int32_t n : whole_nodes)
      if (static_cast<std::size_t>(n) < given.size() && !std::isnan(given[n]))
        to.temperature_at(whole.node_id(n), given[n]);
  }
};

}  // namespace

Subdomain::Subdomain(const Domain& whole, const Partition& partition, int part,
                     std::span<const std::int32_t> further_nodes)
    : part_(part), domain_(std::make_unique<Domain>()) {
  if (part < 0 || part >= partition.parts())
    throw Error(ErrorCode::misuse,
                "part " + std::to_string(part) + " does not exist; there are " + std::to_string(partition.parts()));
  if (static_cast<std::int64_t>(partition.part_of_element().size()) != whole.element_count())
    throw Error(ErrorCode::misuse, "the partition belongs to another domain: the numbers of elements differ");
  whole_nodes_.assign(partition.nodes(part).begin(), partition.nodes(part).end());
  const std::vector<std::int32_t> part_of_equation_node = parts_of_equation_nodes(whole, partition);
  const auto by_elements = static_cast<std::ptrdiff_t>(whole_nodes_.size());
  for (std::int32_t n = 0; n < whole.node_count(); ++n)
    if (part_of_equation_node[n] == part) whole_nodes_.push_back(n);
  std::inplace_merge(whole_nodes_.begin(), whole_nodes_.begin() + by_elements, whole_nodes_.end());
  if (!further_nodes.empty()) {
    whole_nodes_.insert(whole_nodes_.end(), further_nodes.begin(), further_nodes.end());
    std::sort(whole_nodes_.begin(), whole_nodes_.end());
    whole_nodes_.erase(std::unique(whole_nodes_.begin(), whole_nodes_.end()), whole_nodes_.end());
  }
  for (std::size_t k = 0; k < whole_nodes_.size(); ++k)
    (partition.on_interface(whole_nodes_[k]) ? interface_ : interior_).push_back(static_cast<std::int32_t>(k));
  UnknownsOfNodes unknowns(whole, partition);
  Builder builder{whole, partition, part, *domain_, whole_nodes_, whole_elements_, part_of_equation_node, unknowns, {}};
  builder.add_mesh();
  builder.add_sets();
  builder.add_constraints();
  builder.add_loads();
}

std::int32_t Subdomain::local_node(std::int32_t whole_node) const {
  const auto it = std::lower_bound(whole_nodes_.begin(), whole_nodes_.end(), whole_node);
  return it != whole_nodes_.end() && *it == whole_node ? static_cast<std::int32_t>(it - whole_nodes_.begin()) : -1;
}

std::vector<std::unique_ptr<Subdomain>> make_subdomains(const Domain& whole, const Partition& partition) {
  std::vector<std::unique_ptr<Subdomain>> parts;
  for (int p = 0; p < partition.parts(); ++p) parts.push_back(std::make_unique<Subdomain>(whole, partition, p));
  return parts;
}

}  // namespace voussoir
