#include <voussoir/partition/process/detail/step_restriction.hpp>

#include <algorithm>
#include <unordered_map>

#include <voussoir/backends/error.hpp>

namespace voussoir::detail {
namespace {

/// The nodes of a part, and what unknowns they have in its domains.
class LocalNodes {
 public:
  LocalNodes(std::span<const std::int32_t> nodes, const Job& part) : nodes_(nodes) {
    for (const auto& domain : part.domains) {
      unknowns_.push_back(node_unknowns(*domain));
      std::vector<char>& named = named_.emplace_back(static_cast<std::size_t>(domain->node_count()), 0);
      for (const ConstraintEquation& equation : domain->equations())
        for (const ConstraintEquation::Term& term : equation.terms) named[static_cast<std::size_t>(term.node)] = 1;
    }
  }

  /// The local index of a node of the whole job, or −1.
  std::int32_t local(std::int32_t node) const {
    const auto it = std::lower_bound(nodes_.begin(), nodes_.end(), node);
    return it != nodes_.end() && *it == node ? static_cast<std::int32_t>(it - nodes_.begin()) : -1;
  }
  /// Whether a local node has an unknown in a domain. Nodes that no element uses have those that equations name.
  bool has(std::size_t domain, std::int32_t node, const std::string& unknown) const {
    const NodeUnknowns& all = unknowns_[domain];
    const UnknownSet own = all.of_node[static_cast<std::size_t>(node)];
    if (own.empty()) return named_[domain][static_cast<std::size_t>(node)] != 0;
    if (unknown == "all") return true;
    const auto k = std::find(all.names.begin(), all.names.end(), unknown) - all.names.begin();
    return k < static_cast<std::ptrdiff_t>(all.names.size()) && own.has(static_cast<int>(k));
  }
  /// Whether it has a displacement along a direction.
  bool has(std::size_t domain, std::int32_t node, const std::array<double, 3>& direction) const {
    const char* const names[] = {"ux", "uy", "uz"};
    for (std::size_t k = 0; k < 3; ++k)
      if (direction[k] != 0 && has(domain, node, names[k])) return true;
    return false;
  }

 private:
  std::span<const std::int32_t> nodes_;
  std::vector<NodeUnknowns> unknowns_;
  std::vector<std::vector<char>> named_;  // per domain and node: whether an equation names it
};

std::shared_ptr<const Supports> restricted(const Supports& from, std::size_t domain, const LocalNodes& nodes) {
  auto to = std::make_shared<Supports>();
  for (Prescribed p : from.values) {
    p.node = nodes.local(p.node);
    if (p.node >= 0 && nodes.has(domain, p.node, p.unknown)) to->values.push_back(std::move(p));
  }
  for (ObliqueSupport o : from.oblique) {
    o.node = nodes.local(o.node);
    if (o.node >= 0 && nodes.has(domain, o.node, o.direction)) to->oblique.push_back(o);
  }
  for (Supports::Kept k : from.kept) {
    k.node = nodes.local(k.node);
    if (k.node < 0) continue;
    if (k.unknown.empty() ? nodes.has(domain, k.node, k.direction) : nodes.has(domain, k.node, k.unknown))
      to->kept.push_back(std::move(k));
  }
  return to;
}

/// Entries of lists of nodes and unknowns that the part has.
template <class Entry>
void keep_local(std::vector<Entry>& list, std::size_t domain, const LocalNodes& nodes) {
  for (Entry& entry : list) entry.node = nodes.local(entry.node);
  std::erase_if(list,
                [&](const Entry& entry) { return entry.node < 0 || !nodes.has(domain, entry.node, entry.unknown); });
}

/// A list of places that becomes empty must not turn into "all supports that no other entry names".
void restrict_moved(std::vector<MovedSupports>& list, std::size_t domain, const LocalNodes& nodes) {
  std::erase_if(list, [&](MovedSupports& moved) {
    const bool all = moved.places.empty();
    keep_local(moved.places, domain, nodes);
    return !all && moved.places.empty();
  });
}

struct RequestRestriction {
  std::size_t domain;
  const LocalNodes& nodes;

  void operator()(std::monostate&) const {}
  void operator()(FrequencyStep&) const {}
  void operator()(DynamicStep& step) const {
    restrict_moved(step.moved, domain, nodes);
    keep_local(step.displacement, domain, nodes);
    keep_local(step.velocity, domain, nodes);
  }
  void operator()(ThermalStressStep& step) const { restrict_moved(step.moved, domain, nodes); }
  template <class Other>
  void operator()(Other&) const {}
};

/// Refuses places that name what their node does not have.
class PlaceCheck {
 public:
  PlaceCheck(const Domain& domain, const NodeUnknowns& unknowns) : domain_(domain), unknowns_(unknowns) {}

  void operator()(std::int32_t node, const std::string& unknown, const std::string& what) const {
    const UnknownSet own = unknowns_.of_node[static_cast<std::size_t>(node)];
    const auto& names = unknowns_.names;
    const auto k = std::find(names.begin(), names.end(), unknown) - names.begin();
    if (!own.empty() && unknown == "all") return;
    if (k < static_cast<std::ptrdiff_t>(names.size()) && own.has(static_cast<int>(k))) return;
    std::string text = "no element uses the node, so it has no unknowns";
    if (!own.empty()) {
      text = "the node has no unknown '" + unknown + "'; it has ";
      for (int i = 0; i < own.count(); ++i) text += (i ? ", " : "") + names[static_cast<std::size_t>(own.unknown(i))];
    }
    throw Error(ErrorCode::bad_input, what + ": " + text, domain_.node_label(node));
  }
  void operator()(std::int32_t node, const std::array<double, 3>& direction) const {
    const char* const names[] = {"ux", "uy", "uz"};
    for (std::size_t k = 0; k < 3; ++k)
      if (std::abs(direction[k]) >= 1e-14) (*this)(node, names[k], "oblique support");
  }

 private:
  const Domain& domain_;
  const NodeUnknowns& unknowns_;
};

void check_supports(const Job& job, const JobStep& step, const PlaceCheck& check) {
  const Domain& domain = *job.domains[step.domain];
  for (const Prescribed& p : step.supports ? step.supports->values : domain.prescribed())
    check(p.node, p.unknown, "support");
  for (const ObliqueSupport& o : step.supports ? step.supports->oblique : domain.oblique_supports())
    check(o.node, o.direction);
  if (!step.supports) return;
  for (const Supports::Kept& k : step.supports->kept) {
    if (k.unknown.empty())
      check(k.node, k.direction);
    else
      check(k.node, k.unknown, "support");
  }
}

}  // namespace

void restrict_steps(const Job& whole, std::span<const std::int32_t> nodes, Job& part) {
  const auto& [name, title, source, domains, steps, node_axes, notes, rotation_nodes, own_nodes, instances, mesh_only,
               units, points, paths, checkpoints, restart_deck, restart] = whole;
  // A new member of Job must be restricted here. Process 0 has what jobs that continue others begin with.
  const LocalNodes local(nodes, part);
  part.name = name;
  part.title = title;
  part.source = source;
  part.node_axes.systems = node_axes.systems;
  if (!node_axes.system_of.empty())
    for (const std::int32_t n : nodes) {
      const auto at = static_cast<std::size_t>(n);
      part.node_axes.system_of.push_back(at < node_axes.system_of.size() ? node_axes.system_of[at] : -1);
    }
  part.notes = notes;
  for (const std::int32_t n : rotation_nodes)
    if (const std::int32_t at = local.local(n); at >= 0) part.rotation_nodes.push_back(at);
  part.own_nodes =
      own_nodes == 0
          ? 0
          : static_cast<std::int32_t>(std::lower_bound(nodes.begin(), nodes.end(), own_nodes) - nodes.begin());
  part.instances = instances;
  part.mesh_only = mesh_only;
  part.units = units;
  part.points = points;
  part.paths = paths;
  part.checkpoints = checkpoints;

  std::unordered_map<const Supports*, std::shared_ptr<const Supports>> known;  // steps go on sharing them
  for (const JobStep& step : steps) {
    JobStep& own = part.steps.emplace_back(step);
    if (step.supports) {
      auto& supports = known[step.supports.get()];
      if (!supports) supports = restricted(*step.supports, step.domain, local);
      own.supports = supports;
    }
    std::visit(RequestRestriction{step.domain, local}, own.modal);
    // Modes are superposed where the whole model is.
    if (uses_modes(step.procedure) && step.procedure != Procedure::frequency) own.modal = std::monostate();
  }
}

void check_step_unknowns(const Job& job, const std::function<const NodeUnknowns&(std::size_t domain)>& unknowns_of) {
  for (std::size_t d = 0; d < job.domains.size(); ++d) {
    const PlaceCheck check(*job.domains[d], unknowns_of(d));
    for (const auto& load_case : job.domains[d]->load_cases())
      for (const LoadCase::Nodal& load : load_case->nodal_loads())
        check(load.node, load.unknown, "load case '" + load_case->name() + "'");
  }
  for (const JobStep& step : job.steps) {
    const PlaceCheck check(*job.domains[step.domain], unknowns_of(step.domain));
    check_supports(job, step, check);
    const std::vector<MovedSupports>* moved = nullptr;
    if (const auto* dynamic = std::get_if<DynamicStep>(&step.modal)) moved = &dynamic->moved;
    if (const auto* thermal = std::get_if<ThermalStressStep>(&step.modal)) moved = &thermal->moved;
    if (!moved) continue;
    for (const MovedSupports& supports : *moved)
      for (const MovedSupports::Place& place : supports.places) check(place.node, place.unknown, "moved support");
  }
}

}  // namespace voussoir::detail
