#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <numeric>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/domain/generalised_node.hpp>
#include <voussoir/framework/domain/shape_topology.hpp>
#include <voussoir/jobs/detail/check_mesh.hpp>

namespace voussoir::detail {
namespace {

constexpr std::size_t most_listed = 100;
using Severity = Finding::Severity;

/// Elements of a block that its program refuses, and why the first one is.
struct Refused {
  ElementFault fault = ElementFault::none;
  std::vector<Id> ids;
  std::int64_t count = 0;
};

/// Runs the program of a block over its elements at zero unknowns, group by group. A group that is refused is looked at
/// element by element, since a program names only the first.
void run_program(const Domain& domain, const ElementBlock& block, Refused& inverted, Refused& wrong) {
  const ElementProgram& program = block.type().program();
  const ElementBlock::Parameters parameters = block.parameters();
  const int lanes = program.lanes(), nodes = program.nodes();
  ElementView view;
  view.element_count = block.size();
  view.nodes = block.connectivity().data();
  view.coordinates = domain.coordinates().data();
  const std::vector<double> initial = domain.initial_temperatures();
  view.initial_temperature = initial.data();
  view.parameters = parameters.records.data();
  view.record = parameters.record.empty() ? nullptr : parameters.record.data();
  view.table_rows = parameters.rows;
  const std::int32_t groups = (block.size() + lanes - 1) / lanes;
  std::vector<char> refused(static_cast<std::size_t>(groups), 0);
  // Elements of route host are a user's own code, which need not be ready for threads, and which may throw.
  const bool threads = program.route() != Route::host;
  std::exception_ptr failure;
#pragma omp parallel if (threads)
  {
    std::vector<double> forces(static_cast<std::size_t>(program.dofs()) * lanes);
#pragma omp for schedule(static)
    for (std::int32_t g = 0; g < groups; ++g) {
      const std::int32_t first = g * lanes, count = std::min(lanes, block.size() - first);
      try {
        refused[g] = program.residual(view, first, count, forces.data()).fault != ElementFault::none;
      } catch (...) {
#pragma omp critical
        failure = std::current_exception();
      }
    }
  }
  if (failure) std::rethrow_exception(failure);
  std::vector<double> forces(static_cast<std::size_t>(program.dofs()) * lanes);
  for (std::int32_t g = 0; g < groups; ++g) {
    if (!refused[g]) continue;
    for (std::int32_t e = g * lanes; e < std::min((g + 1) * lanes, block.size()); ++e) {
      ElementView one = view;
      one.element_count = 1;
      one.nodes = view.nodes + static_cast<std::ptrdiff_t>(e) * nodes;
      if (view.record) one.record = view.record + e;
      const ElementStatus status = program.residual(one, 0, 1, forces.data());
      if (status.fault == ElementFault::none) continue;
      Refused& kind = status.fault == ElementFault::inverted ? inverted : wrong;
      if (kind.count++ == 0) kind.fault = status.fault;
      if (kind.ids.size() < most_listed) kind.ids.push_back(block.id(e));
    }
  }
}

/// A number for a set of nodes that does not depend on their order.
std::uint64_t fingerprint(std::vector<std::int32_t>& sorted) {
  std::sort(sorted.begin(), sorted.end());
  std::uint64_t h = 1469598103934665603u;
  for (std::int32_t n : sorted) h = (h ^ static_cast<std::uint32_t>(n)) * 1099511628211u;
  return h;
}

/// Joins what belongs together and tells whether two things do (union–find).
class Joined {
 public:
  explicit Joined(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0); }
  std::int32_t find(std::int32_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::int32_t a, std::int32_t b) { parent_[find(a)] = find(b); }

 private:
  std::vector<std::int32_t> parent_;
};

/// How near two nodes must be to count as being at one place: far below any edge, far above rounding.
double same_place(const Domain& domain) {
  const auto x = domain.coordinates();
  double lower[3], upper[3], largest = 0;
  for (int k = 0; k < 3; ++k) {
    lower[k] = std::numeric_limits<double>::infinity();
    upper[k] = -lower[k];
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    lower[i % 3] = std::min(lower[i % 3], x[i]);
    upper[i % 3] = std::max(upper[i % 3], x[i]);
    largest = std::max(largest, std::abs(x[i]));
  }
  double shortest = std::hypot(upper[0] - lower[0], upper[1] - lower[1], upper[2] - lower[2]);
  const double diagonal = shortest;
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    const ElementBlock& block = domain.block(b);
    const std::string& shape = ElementLibrary::instance().find(block.type_name()).shape();
    if (shape.empty()) continue;
    const ShapeTopology& topology = shape_topology(shape);
    for (std::int32_t e = 0; e < block.size(); ++e)
      for (const auto& edge : topology.edges) {
        const double *p = &x[3 * static_cast<std::size_t>(block.nodes(e)[edge[0]])],
                     *q = &x[3 * static_cast<std::size_t>(block.nodes(e)[edge[1]])];
        const double l = std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
        if (l > 0) shortest = std::min(shortest, l);
      }
  }
  return std::max(std::min(1e-6 * diagonal, 1e-3 * shortest), 8 * std::numeric_limits<double>::epsilon() * largest);
}

}  // namespace

std::string list_of(const std::vector<std::string>& names, std::int64_t count) {
  constexpr std::size_t shown = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), shown); ++i) text += (i ? " " : "") + names[i];
  if (count > static_cast<std::int64_t>(std::min(names.size(), shown)))
    text += " … (" + std::to_string(count) + " in all)";
  return text;
}

namespace {

std::vector<std::string> element_names(const InstanceNumbers& names, const std::vector<Id>& ids) {
  std::vector<std::string> list;
  for (const Id id : ids) list.push_back(names.element(id));
  return list;
}

/// "element 4", "elements 4 7"
std::string named_elements(const InstanceNumbers& names, const std::vector<Id>& ids, std::int64_t count) {
  return (count == 1 ? "element " : "elements ") + list_of(element_names(names, ids), count);
}

}  // namespace

void find_refused_elements(const Domain& domain, const InstanceNumbers& names, std::vector<Finding>& findings) {
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    const ElementBlock& block = domain.block(b);
    if (block.size() == 0) continue;
    const std::string where = "block '" + block.name() + "'";
    try {
      Refused inverted, wrong;
      run_program(domain, block, inverted, wrong);
      if (inverted.count > 0)
        findings.push_back({Severity::error,
                            "inverted",
                            "inverted, or without volume: " + named_elements(names, inverted.ids, inverted.count) +
                                ". Their nodes are in the wrong order, or one of them is misplaced",
                            where,
                            inverted.ids,
                            {}});
      if (wrong.count > 0)
        findings.push_back({Severity::error,
                            "parameters",
                            std::string(wrong.fault == ElementFault::bad_parameter
                                            ? "invalid material or section properties (a negative modulus, a "
                                              "Poisson's ratio outside (-1, 0.5), no area …): "
                                            : "values that are not finite: ") +
                                named_elements(names, wrong.ids, wrong.count),
                            where,
                            wrong.ids,
                            {}});
    } catch (const Error& error) {
      findings.push_back(
          {Severity::error, "parameters", error.text(), error.where().empty() ? where : error.where(), {}, {}});
    } catch (const std::exception& error) {
      findings.push_back({Severity::error, "element", error.what(), where, {}, {}});
    }
  }
}

void find_duplicate_elements(const Domain& domain, const InstanceNumbers& names, std::vector<Finding>& findings) {
  struct Entry {
    std::uint64_t hash;
    ElementRef ref;
  };
  std::vector<Entry> entries;
  entries.reserve(static_cast<std::size_t>(domain.element_count()));
  std::vector<std::int32_t> sorted;
  const auto nodes_of = [&](ElementRef ref) { return domain.block(ref.block).nodes(ref.element); };
  for (std::size_t b = 0; b < domain.block_count(); ++b)
    for (std::int32_t e = 0; e < domain.block(b).size(); ++e) {
      const auto nodes = domain.block(b).nodes(e);
      // Springs and masses are often laid side by side on purpose.
      if (nodes.size() < 3) break;
      sorted.assign(nodes.begin(), nodes.end());
      entries.push_back({fingerprint(sorted), {static_cast<std::int32_t>(b), e}});
    }
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.hash < b.hash; });
  std::vector<Id> ids;
  std::int64_t count = 0;
  std::string first;
  for (std::size_t i = 1; i < entries.size(); ++i) {
    if (entries[i].hash != entries[i - 1].hash) continue;
    const auto p = nodes_of(entries[i - 1].ref), q = nodes_of(entries[i].ref);
    if (!std::is_permutation(p.begin(), p.end(), q.begin(), q.end())) continue;
    const auto id = [&](ElementRef r) { return domain.block(r.block).id(r.element); };
    if (count++ == 0)
      first = names.element(id(entries[i].ref)) + " has the nodes of " + names.element(id(entries[i - 1].ref));
    if (ids.size() < most_listed) ids.push_back(id(entries[i].ref));
  }
  if (count == 0) return;
  std::sort(ids.begin(), ids.end());
  findings.push_back({Severity::warning,
                      "duplicate elements",
                      "duplicate elements, whose stiffness counts twice: " + list_of(element_names(names, ids), count) +
                          " (element " + first + "). Delete one of each, unless this is intended",
                      {},
                      ids,
                      {}});
}

void find_coincident_nodes(const Domain& domain, const InstanceNumbers& names, std::vector<Finding>& findings) {
  const std::int32_t n = domain.node_count();
  if (n < 2) return;
  std::vector<char> used(static_cast<std::size_t>(n), 0);
  Joined joined(static_cast<std::size_t>(n));
  for (const ConstraintEquation& equation : domain.equations())
    for (const auto& term : equation.terms) joined.join(term.node, equation.terms.front().node);
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    const ElementBlock& block = domain.block(b);
    for (std::int32_t node : block.connectivity()) used[node] = 1;
    // Two nodes of one line may be at one place, as in a spring of no length. Solids join theirs only by being flat.
    if (block.nodes_per_element() == 2)
      for (std::int32_t e = 0; e < block.size(); ++e) joined.join(block.nodes(e)[0], block.nodes(e)[1]);
  }
  const double tolerance = same_place(domain);
  if (!(tolerance > 0) || !std::isfinite(tolerance)) return;
  const auto x = domain.coordinates();
  std::vector<std::int32_t> order;
  for (std::int32_t i = 0; i < n; ++i)
    if (used[i] && !is_generalised_node(domain, i)) order.push_back(i);
  std::int64_t count = 0;
  std::vector<Id> ids;
  std::string first;
  // Nodes of one cell are compared. A second grid, moved by half a cell, finds most pairs that the first one cuts
  // apart.
  std::vector<std::pair<std::int32_t, std::int32_t>> found;
  for (const double shift : {0.0, 0.5}) {
    const auto key = [&](std::int32_t node) {
      std::array<double, 3> cell;
      for (int k = 0; k < 3; ++k)
        cell[k] = std::floor(x[3 * static_cast<std::size_t>(node) + k] / (4 * tolerance) + shift);
      return cell;
    };
    std::vector<std::pair<std::array<double, 3>, std::int32_t>> keyed;
    keyed.reserve(order.size());
    for (std::int32_t node : order) keyed.emplace_back(key(node), node);
    std::sort(keyed.begin(), keyed.end());
    for (std::size_t i = 1; i < keyed.size(); ++i) {
      if (keyed[i].first != keyed[i - 1].first) continue;
      const std::int32_t a = keyed[i - 1].second, b = keyed[i].second;
      const double *p = &x[3 * static_cast<std::size_t>(a)], *q = &x[3 * static_cast<std::size_t>(b)];
      if (std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]) > tolerance || joined.find(a) == joined.find(b)) continue;
      found.emplace_back(a, b);
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  for (const auto& [a, b] : found) {
    if (count++ == 0) first = "nodes " + names.node(domain.node_id(a)) + " and " + names.node(domain.node_id(b));
    if (ids.size() < most_listed) ids.push_back(domain.node_id(b));
  }
  if (count == 0) return;
  findings.push_back({Severity::hint,
                      "coincident nodes",
                      std::to_string(count) + (count == 1 ? " pair" : " pairs") +
                          " of coincident nodes that are not connected (" + first +
                          "): if the parts should be connected, merge these nodes or tie them",
                      {},
                      {},
                      ids});
}

std::int64_t find_unused_nodes(const Domain& domain, const InstanceNumbers& names, std::int32_t own,
                               std::vector<Finding>& findings) {
  std::vector<char> used(static_cast<std::size_t>(domain.node_count()), 0);
  for (std::size_t b = 0; b < domain.block_count(); ++b)
    for (std::int32_t node : domain.block(b).connectivity()) used[node] = 1;
  for (const ConstraintEquation& equation : domain.equations())
    for (const auto& term : equation.terms) used[term.node] = 1;
  std::int64_t count = 0;
  std::vector<Id> ids;
  const std::int32_t end = own > 0 ? std::min(own, domain.node_count()) : domain.node_count();
  for (std::int32_t i = 0; i < end; ++i) {
    if (used[i]) continue;
    ++count;
    if (ids.size() < most_listed) ids.push_back(domain.node_id(i));
  }
  if (count == 0) return 0;
  std::vector<std::string> list;
  for (const Id id : ids) list.push_back(names.node(id));
  findings.push_back({Severity::hint,
                      "unused nodes",
                      std::string("no element uses node") + (count == 1 ? " " : "s ") + list_of(list, count),
                      {},
                      {},
                      ids});
  return count;
}

void judge_quality(const Domain& domain, const InstanceNumbers& names, const MeshQuality& quality,
                   std::vector<Finding>& findings) {
  const auto id = [&](ElementRef r) { return domain.block(r.block).id(r.element); };
  if (quality.folded_count > 0) {
    std::vector<Id> ids;
    for (const ElementRef& ref : quality.folded)
      if (ids.size() < most_listed) ids.push_back(id(ref));
    findings.push_back({Severity::warning,
                        "folded",
                        "flat, folded or inverted at a corner: " + named_elements(names, ids, quality.folded_count) +
                            ". Stresses there are unreliable",
                        {},
                        ids,
                        {}});
  } else if (quality.measured > 0 && quality.smallest_scaled_jacobian < 0.1) {
    findings.push_back({Severity::hint,
                        "distorted",
                        "element " + names.element(id(quality.worst)) + " is strongly distorted (scaled Jacobian " +
                            short_number(quality.smallest_scaled_jacobian, 3) + "; 1 is best, 0 is degenerate)",
                        {},
                        {id(quality.worst)},
                        {}});
  }
  if (quality.measured > 0 && quality.largest_aspect_ratio > 100)
    findings.push_back({Severity::hint,
                        "long",
                        "element " + names.element(id(quality.longest)) + " is " +
                            short_number(quality.largest_aspect_ratio, 3) +
                            " times as long as it is thick: iterative solvers will converge slowly",
                        {},
                        {id(quality.longest)},
                        {}});
}

}  // namespace voussoir::detail
