#include <voussoir/jobs/detail/support_reactions.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace voussoir::detail {
namespace {

/// Single nodes have rows of their own where they are no more than this.
constexpr std::size_t most_single_nodes = 8;

class Supports {
 public:
  Supports(const Job& job, const Domain& domain, const StepResult& result)
      : job_(job), domain_(domain), reactions_(result.reactions), width_(result.reactions.width()) {
    for (int k = 0; k < 3; ++k) {
      const char* const moves[] = {"ux", "uy", "uz"};
      const char* const turns[] = {"rx", "ry", "rz"};
      force_[k] = column(moves[k]);
      turn_[k] = column(turns[k]);
    }
    bool rings = false;
    for (std::size_t b = 0; b < domain.block_count(); ++b)
      rings = rings || domain.block(b).type().program().axisymmetric();
    has_moment_ = !rings && force_[0] >= 0 && force_[1] >= 0;
    for (const std::int32_t n : job.rotation_nodes)
      if (const RotationNode* rotation = domain.rotation_node(n); rotation && rotation->hidden)
        hidden_.emplace(rotation->reference, n);
  }

  bool is_prescribed(std::int32_t node) const {
    for (int c = 0; c < width_; ++c)
      if (!std::isnan(reactions_.at(node, c))) return true;
    const auto [first, last] = hidden_.equal_range(node);
    return std::any_of(first, last, [&](const auto& entry) { return is_prescribed(entry.second); });
  }

  template <class Nodes>
  SupportReaction of(std::string name, const Nodes& nodes) const {
    SupportReaction support;
    support.name = std::move(name);
    support.nodes = static_cast<std::int64_t>(nodes.size());
    support.sum.assign(width_, 0.0);
    for (const std::int32_t n : nodes)
      for (int k = 0; k < 3; ++k) support.centre[k] += position(n)[k] / static_cast<double>(nodes.size());
    if (has_moment_) support.moment.assign(3, 0.0);
    for (const std::int32_t n : nodes) {
      std::array<double, 3> force{}, moment{};
      const bool rotation = std::binary_search(job_.rotation_nodes.begin(), job_.rotation_nodes.end(), n);
      for (int k = 0; k < 3; ++k) {
        (rotation ? moment : force)[k] = value(n, force_[k]);
        moment[k] += value(n, turn_[k]);
      }
      add_hidden(n, moment, support.sum);
      // What a node of a rigid body's rotation is held with is a moment, and belongs into no sum of forces.
      for (int c = 0; c < width_; ++c)
        if (!rotation || std::find(force_.begin(), force_.end(), c) == force_.end()) support.sum[c] += value(n, c);
      if (!has_moment_) continue;
      std::array<double, 3> arm{};
      for (int k = 0; k < 3; ++k) arm[k] = position(n)[k] - support.centre[k];
      for (int k = 0; k < 3; ++k) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        support.moment[k] += moment[k] + arm[i] * force[j] - arm[j] * force[i];
      }
    }
    return support;
  }

 private:
  /// The moments at the rotations 4 to 6 of a rigid body's reference node, which are unknowns of a node of the reader's
  /// own. In a plane it has one, about z.
  void add_hidden(std::int32_t node, std::array<double, 3>& moment, std::vector<double>& sum) const {
    const auto [first, last] = hidden_.equal_range(node);
    for (auto it = first; it != last; ++it)
      for (int k = 0; k < 3; ++k) {
        const bool plane = force_[2] < 0;
        const double held = plane ? (k == 2 ? value(it->second, force_[0]) : 0) : value(it->second, force_[k]);
        moment[k] += held;
        if (turn_[k] >= 0) sum[static_cast<std::size_t>(turn_[k])] += held;
      }
  }
  int column(const char* name) const {
    const auto it = std::find(reactions_.components.begin(), reactions_.components.end(), name);
    return it == reactions_.components.end() ? -1 : static_cast<int>(it - reactions_.components.begin());
  }
  double value(std::int32_t node, int c) const {
    if (c < 0) return 0;
    const double v = reactions_.at(node, c);
    return std::isnan(v) ? 0 : v;
  }
  const double* position(std::int32_t node) const { return &domain_.coordinates()[3 * static_cast<std::size_t>(node)]; }

  const Job& job_;
  const Domain& domain_;
  const NodalField& reactions_;
  int width_;
  std::array<int, 3> force_, turn_;
  bool has_moment_;
  std::multimap<std::int32_t, std::int32_t> hidden_;  // nodes of rotations by their reference nodes
};

}  // namespace

std::vector<SupportReaction> support_reactions(const Job& job, const Domain& domain, const StepResult& result) {
  const Supports supports(job, domain, result);
  const std::int32_t nodes = reported_nodes(job, domain);
  std::vector<char> prescribed(domain.node_count(), 0), told(domain.node_count(), 0);
  for (std::int32_t n = 0; n < nodes; ++n) prescribed[n] = supports.is_prescribed(n);
  std::vector<SupportReaction> list;
  std::set<std::vector<std::int32_t>> known;
  for (const std::string& name : domain.node_set_names()) {
    const auto set = domain.node_set(name);
    if (!std::all_of(set.begin(), set.end(), [&](std::int32_t n) { return prescribed[n] != 0; })) continue;
    if (!known.emplace(set.begin(), set.end()).second) continue;
    for (const std::int32_t n : set) told[n] = 1;
    list.push_back(supports.of(name, set));
  }
  std::vector<std::int32_t> others;
  for (std::int32_t n = 0; n < nodes; ++n)
    if (prescribed[n] && !told[n]) others.push_back(n);
  if (others.size() > most_single_nodes) {
    list.push_back(supports.of("other nodes", others));
  } else {
    for (const std::int32_t n : others)
      list.push_back(supports.of("node " + job.instances.node(domain.node_id(n)), std::vector<std::int32_t>{n}));
  }
  return list;
}

}  // namespace voussoir::detail
