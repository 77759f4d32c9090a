#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/domain/node_unknowns.hpp>
#include <voussoir/partition/domain_partitioner.hpp>
#include <voussoir/partition/element_costs.hpp>
#include <voussoir/partition/equation_groups.hpp>
#include <voussoir/partition/partitioners.hpp>
#include <voussoir/partition/process/detail/step_restriction.hpp>
#include <voussoir/partition/process/process_part.hpp>
#include <voussoir/partition/subdomain.hpp>

namespace voussoir {
namespace {

using Parts = std::vector<std::int32_t>;

/// The domain that the others follow: the one with most elements, of equal ones the first.
std::size_t leading_domain(const Job& job) {
  std::size_t leading = 0;
  for (std::size_t d = 1; d < job.domains.size(); ++d)
    if (job.domains[d]->element_count() > job.domains[leading]->element_count()) leading = d;
  return leading;
}

/// Calls visit(element id, group) for the elements at nodes of the equations of a domain.
template <class Visit>
void for_elements_of_equations(const Domain& domain, const Visit& visit) {
  if (domain.equations().empty()) return;
  const EquationGroups groups = equation_groups(domain);
  std::vector<Parts> groups_of(static_cast<std::size_t>(domain.node_count()));
  for (std::size_t q = 0; q < domain.equations().size(); ++q)
    for (const auto& term : domain.equations()[q].terms)
      groups_of[static_cast<std::size_t>(term.node)].push_back(groups.of_equation[q]);
  for (std::size_t b = 0; b < domain.block_count(); ++b)
    for (std::int32_t e = 0; e < domain.block(b).size(); ++e)
      for (const std::int32_t n : domain.block(b).nodes(e))
        for (const std::int32_t group : groups_of[static_cast<std::size_t>(n)]) visit(domain.block(b).id(e), group);
}

/// The element of another domain that has the same number and the same nodes; −1 as block if there is none.
ElementRef twin_of(const Domain& other, Id id, std::span<const std::int32_t> nodes) {
  try {
    const ElementRef ref = other.element_ref(id);
    const auto theirs = other.block(static_cast<std::size_t>(ref.block)).nodes(ref.element);
    if (std::equal(theirs.begin(), theirs.end(), nodes.begin(), nodes.end())) return ref;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::not_found) throw;
  }
  return {-1, -1};
}

/// The parts of the elements of a domain that follow those of the leading one: an element with a twin there has its
/// part, and any other one the lowest part of its nodes.
Parts follow(const Domain& domain, const Domain& leading, const Partition& partition) {
  Parts parts;
  parts.reserve(static_cast<std::size_t>(domain.element_count()));
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    const ElementBlock& block = domain.block(b);
    for (std::int32_t e = 0; e < block.size(); ++e) {
      const ElementRef twin = twin_of(leading, block.id(e), block.nodes(e));
      std::int32_t part = -1;
      if (twin.block >= 0) part = partition.part(twin);
      for (const std::int32_t n : block.nodes(e))
        if (part < 0) part = partition.owner(n);
      parts.push_back(std::max(part, 0));
    }
  }
  // Elements at one equation stay in one part; those that have twins are together already.
  std::map<std::int32_t, std::int32_t> part_of_group;
  std::vector<std::int64_t> first{0};
  for (std::size_t b = 0; b < domain.block_count(); ++b) first.push_back(first.back() + domain.block(b).size());
  for_elements_of_equations(domain, [&](Id id, std::int32_t group) {
    const ElementRef ref = domain.element_ref(id);
    std::int32_t& part = parts[static_cast<std::size_t>(first[static_cast<std::size_t>(ref.block)] + ref.element)];
    part = part_of_group.emplace(group, part).first->second;
  });
  return parts;
}

/// The costs of the elements of the leading domain, with those of their twins, which follow them.
std::vector<double> costs_with_twins(const Job& job, std::size_t leading) {
  const Domain& domain = *job.domains[leading];
  std::vector<double> costs;
  std::vector<std::size_t> first;
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    first.push_back(costs.size());
    costs.insert(costs.end(), static_cast<std::size_t>(domain.block(b).size()), element_cost(domain.block(b)));
  }
  for (std::size_t d = 0; d < job.domains.size(); ++d)
    for (std::size_t b = 0; d != leading && b < job.domains[d]->block_count(); ++b) {
      const ElementBlock& block = std::as_const(*job.domains[d]).block(b);
      const double cost = element_cost(block);
      for (std::int32_t e = 0; e < block.size(); ++e)
        if (const ElementRef twin = twin_of(domain, block.id(e), block.nodes(e)); twin.block >= 0)
          costs[first[static_cast<std::size_t>(twin.block)] + static_cast<std::size_t>(twin.element)] += cost;
    }
  return relative_costs(std::move(costs));
}

}  // namespace

struct JobDivision::State {
  const Job& job;
  int parts = 1, filled = 0;
  std::size_t leading = 0;                  // the domain that the others follow
  std::vector<double> costs;                // of its elements, until they are the weights of its partition
  std::vector<Partition> partitions;        // per domain
  std::vector<Parts> equation_nodes;        // per domain: part of each node that only equations use, or −1
  std::vector<Parts> nodes;                 // per part, ascending
  std::vector<std::int64_t> first_of_node;  // per node, where its parts begin
  Parts parts_of_node;                      // ascending for each node
  std::vector<std::int64_t> global_node;    // per node; −1: in no part
  std::vector<std::int64_t> ownership;      // of nodes
  struct Unknowns {
    NodeUnknowns of;  // nodes that only equations use have all names
    std::vector<std::int64_t> first, ownership;
    int nodal = 0;
  };
  std::vector<Unknowns> unknowns;  // per domain

  State(const Job& j, int count) : job(j), parts(count) {
    if (parts < 1)
      throw Error(ErrorCode::bad_input, std::to_string(parts) + " parts were requested; at least 1 is needed");
    check_divisible(job);
    leading = leading_domain(job);
    costs = costs_with_twins(job, leading);
  }

  void divide(const std::string& method) {
    const Domain& domain = *job.domains[leading];
    DomainPartitioner partitioner(domain);
    partitioner.set_weights(costs);
    for (std::size_t d = 0; d < job.domains.size(); ++d) {
      if (d == leading) continue;
      std::map<std::int32_t, std::vector<Id>> together;
      for_elements_of_equations(*job.domains[d], [&](Id id, std::int32_t group) {
        const ElementRef own = job.domains[d]->element_ref(id);
        const auto own_nodes = job.domains[d]->block(static_cast<std::size_t>(own.block)).nodes(own.element);
        if (twin_of(domain, id, own_nodes).block >= 0) together[group].push_back(id);
      });
      for (const auto& [group, elements] : together) partitioner.keep_together(elements);
    }
    const int possible = static_cast<int>(std::min<std::int64_t>(parts, partitioner.group_count()));
    const Partition found = partitioner.partition(*make_partitioner(method), possible);
    std::vector<Parts> all(job.domains.size());
    for (std::size_t d = 0; d < job.domains.size(); ++d)
      all[d] = d == leading ? Parts(found.part_of_element().begin(), found.part_of_element().end())
                            : follow(*job.domains[d], domain, found);
    put_recorder_first(all, possible);
    take(std::move(all));
  }

  /// Process 0 records steps in increments, and has elements of their models where some part has.
  void put_recorder_first(std::vector<Parts>& all, int filled_parts) const {
    std::vector<int> models(static_cast<std::size_t>(filled_parts), 0);  // per part: how many of these models it has
    for (std::size_t d = 0; d < job.domains.size(); ++d) {
      const bool recorded = std::any_of(job.steps.begin(), job.steps.end(), [&](const JobStep& step) {
        return step.domain == d && std::holds_alternative<DynamicStep>(step.modal);
      });
      std::vector<char> seen(models.size(), 0);
      for (const std::int32_t part : all[d])
        if (recorded && !std::exchange(seen[static_cast<std::size_t>(part)], char{1}))
          ++models[static_cast<std::size_t>(part)];
    }
    const auto best = static_cast<std::int32_t>(std::max_element(models.begin(), models.end()) - models.begin());
    if (best == 0) return;
    for (Parts& list : all)
      for (std::int32_t& part : list)
        if (part == 0 || part == best) part = best - part;
  }

  void take(std::vector<Parts> all) {
    if (all.size() != job.domains.size())
      throw Error(ErrorCode::misuse, "the division needs a list of parts for each of the job's " +
                                         std::to_string(job.domains.size()) + " models");
    for (std::size_t d = 0; d < job.domains.size(); ++d) {
      partitions.push_back(Partition::with_empty_parts(
          *job.domains[d], std::move(all[d]), parts, d == leading ? std::move(costs) : element_costs(*job.domains[d])));
      equation_nodes.push_back(parts_of_equation_nodes(*job.domains[d], partitions.back()));
    }
    for (int p = 0; p < parts; ++p)
      for (const Partition& partition : partitions)
        if (partition.element_count(p) > 0) {
          ++filled;
          break;
        }
    collect_nodes();
    number_nodes();
    for (std::size_t d = 0; d < job.domains.size(); ++d) unknowns.push_back(number_unknowns(d));
  }

  void collect_nodes() {
    const std::int32_t count = job.domains.front()->node_count();
    nodes.resize(static_cast<std::size_t>(parts));
    first_of_node.push_back(0);
    Parts own;
    for (std::int32_t n = 0; n < count; ++n) {
      own.clear();
      for (std::size_t d = 0; d < partitions.size(); ++d) {
        const auto list = partitions[d].parts_of_node(n);
        own.insert(own.end(), list.begin(), list.end());
        if (const std::int32_t p = equation_nodes[d][static_cast<std::size_t>(n)]; p >= 0) own.push_back(p);
      }
      std::sort(own.begin(), own.end());
      own.erase(std::unique(own.begin(), own.end()), own.end());
      for (const std::int32_t p : own) nodes[static_cast<std::size_t>(p)].push_back(n);
      parts_of_node.insert(parts_of_node.end(), own.begin(), own.end());
      first_of_node.push_back(static_cast<std::int64_t>(parts_of_node.size()));
    }
  }

  std::span<const std::int32_t> parts_at(std::int32_t node) const {
    const auto first = static_cast<std::size_t>(first_of_node[static_cast<std::size_t>(node)]);
    return std::span(parts_of_node)
        .subspan(first, static_cast<std::size_t>(first_of_node[static_cast<std::size_t>(node) + 1]) - first);
  }

  /// Numbers per node, contiguous for each owner, where each node has `width(node)` of them.
  template <class Width>
  std::vector<std::int64_t> contiguous(std::vector<std::int64_t>& ranges, const Width& width) const {
    const auto count = static_cast<std::int32_t>(first_of_node.size()) - 1;
    ranges.assign(static_cast<std::size_t>(parts) + 1, 0);
    for (std::int32_t n = 0; n < count; ++n)
      if (!parts_at(n).empty()) ranges[static_cast<std::size_t>(parts_at(n).front()) + 1] += width(n);
    for (std::size_t p = 0; p < static_cast<std::size_t>(parts); ++p) ranges[p + 1] += ranges[p];
    std::vector<std::int64_t> next(ranges.begin(), ranges.end() - 1), first(static_cast<std::size_t>(count), -1);
    for (std::int32_t n = 0; n < count; ++n) {
      if (parts_at(n).empty()) continue;
      std::int64_t& at = next[static_cast<std::size_t>(parts_at(n).front())];
      first[static_cast<std::size_t>(n)] = at;
      at += width(n);
    }
    return first;
  }

  void number_nodes() {
    global_node = contiguous(ownership, [](std::int32_t) { return 1; });
  }

  Unknowns number_unknowns(std::size_t d) const {
    Unknowns result;
    result.of = node_unknowns(*job.domains[d]);
    const UnknownSet all = UnknownSet::first(static_cast<int>(result.of.names.size()));
    for (std::size_t n = 0; n < equation_nodes[d].size(); ++n)
      if (equation_nodes[d][n] >= 0) result.of.of_node[n] = all;
    result.first = contiguous(result.ownership,
                              [&](std::int32_t n) { return result.of.of_node[static_cast<std::size_t>(n)].count(); });
    std::optional<int> same;
    for (std::size_t n = 0; n < global_node.size(); ++n) {
      if (global_node[n] < 0) continue;
      const int own = result.of.of_node[n].count();
      if (same && *same != own) return result;
      same = own;
    }
    result.nodal = same.value_or(0);
    return result;
  }

  DomainShare share(std::size_t d, std::int32_t part, const Subdomain& subdomain) const {
    DomainShare share;
    const Unknowns& from = unknowns[d];
    share.unknown_names = from.of.names;
    share.ownership = from.ownership;
    share.nodal_unknowns = from.nodal;
    for (int p = 0; p < parts; ++p) share.part_elements.push_back(partitions[d].element_count(p));
    for (const auto& loads : job.domains[d]->load_cases())
      if (!loads->temperatures().empty()) share.heated_cases.push_back(loads->name());
    for (const std::int32_t n : nodes[static_cast<std::size_t>(part)]) {
      share.unknowns.push_back(from.of.of_node[static_cast<std::size_t>(n)]);
      share.first_unknown.push_back(from.first[static_cast<std::size_t>(n)]);
    }
    for (std::size_t b = 0; b < job.domains[d]->block_count(); ++b) {
      share.block_sizes.push_back(std::as_const(*job.domains[d]).block(b).size());
      const auto own = subdomain.whole_elements(b);
      share.whole_elements.emplace_back(own.begin(), own.end());
    }
    return share;
  }

  std::vector<SharedNodes> shared_of(std::int32_t part) const {
    std::map<std::int32_t, std::vector<std::pair<std::int64_t, std::int32_t>>> by_part;  // (global, local)
    const Parts& own = nodes[static_cast<std::size_t>(part)];
    for (std::size_t k = 0; k < own.size(); ++k)
      for (const std::int32_t other : parts_at(own[k]))
        if (other != part)
          by_part[other].push_back({global_node[static_cast<std::size_t>(own[k])], static_cast<std::int32_t>(k)});
    std::vector<SharedNodes> result;
    for (auto& [other, list] : by_part) {
      std::sort(list.begin(), list.end());
      SharedNodes& entry = result.emplace_back();
      entry.part = other;
      for (const auto& [global, local] : list) entry.nodes.push_back(local);
    }
    return result;
  }

  ProcessPart make(std::int32_t part) const {
    ProcessPart result;
    result.part = part;
    result.parts = parts;
    result.whole_nodes = static_cast<std::int64_t>(global_node.size());
    const Parts& own = nodes[static_cast<std::size_t>(part)];
    result.whole.assign(own.begin(), own.end());
    result.ownership = ownership;
    for (const std::int32_t n : own) {
      result.global_node.push_back(global_node[static_cast<std::size_t>(n)]);
      result.owner.push_back(parts_at(n).front());
    }
    result.shared = shared_of(part);
    for (std::size_t d = 0; d < job.domains.size(); ++d) {
      Subdomain subdomain(*job.domains[d], partitions[d], part, own);
      result.domains.push_back(share(d, part, subdomain));
      result.job.domains.push_back(subdomain.take_domain());
    }
    detail::restrict_steps(job, own, result.job);
    return result;
  }
};

JobDivision::JobDivision(const Job& job, int parts, const std::string& method)
    : state_(std::make_unique<State>(job, parts)) {
  state_->divide(method);
  detail::check_step_unknowns(job,
                              [&](std::size_t domain) -> const NodeUnknowns& { return state_->unknowns[domain].of; });
}

JobDivision::JobDivision(const Job& job, int parts, std::vector<std::vector<std::int32_t>> part_of_element)
    : state_(std::make_unique<State>(job, parts)) {
  state_->take(std::move(part_of_element));
  detail::check_step_unknowns(job,
                              [&](std::size_t domain) -> const NodeUnknowns& { return state_->unknowns[domain].of; });
}

JobDivision::~JobDivision() = default;
JobDivision::JobDivision(JobDivision&&) noexcept = default;

int JobDivision::parts() const { return state_->parts; }
int JobDivision::filled_parts() const { return state_->filled; }
const Partition& JobDivision::partition(std::size_t domain) const { return state_->partitions.at(domain); }

ProcessPart JobDivision::part(int part) const {
  if (part < 0 || part >= state_->parts)
    throw Error(ErrorCode::misuse,
                "part " + std::to_string(part) + " does not exist; there are " + std::to_string(state_->parts));
  return state_->make(part);
}

}  // namespace voussoir
