#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include <voussoir/partition/process/detail/distributed_mesh.hpp>
#include <voussoir/partition/process/detail/swap_all.hpp>

namespace voussoir::detail {
namespace {

struct NodeRow {
  Id id;
  double x[3];
};

}  // namespace

NodeHomes::NodeHomes(Processes& processes, const GmshMesh& slice) : processes_(processes) {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::int64_t range[2] = {least, least};  // −lowest, highest
  for (const Id id : slice.node_ids) {
    range[0] = std::max(range[0], -id);
    range[1] = std::max(range[1], id);
  }
  processes.maximum(range);
  agree(processes, [&] {
    if (range[1] == least) throw Error(ErrorCode::bad_input, "the mesh has no nodes");
  });
  lowest_ = -range[0];
  width_ = (range[1] - lowest_) / processes.count() + 1;
  std::vector<std::vector<NodeRow>> sent(static_cast<std::size_t>(processes.count()));
  for (std::size_t n = 0; n < slice.node_ids.size(); ++n) {
    NodeRow row{slice.node_ids[n], {}};
    std::copy_n(slice.coordinates.begin() + static_cast<std::ptrdiff_t>(3 * n), 3, row.x);
    sent[static_cast<std::size_t>(home(row.id))].push_back(row);
  }
  std::vector<NodeRow> rows;
  for (const auto& from : swap_all(processes, std::move(sent))) rows.insert(rows.end(), from.begin(), from.end());
  std::sort(rows.begin(), rows.end(), [](const NodeRow& a, const NodeRow& b) { return a.id < b.id; });
  agree(processes, [&] {
    for (std::size_t n = 1; n < rows.size(); ++n)
      if (rows[n].id == rows[n - 1].id)
        throw Error(ErrorCode::bad_input,
                    "node " + std::to_string(rows[n].id) + " occurs twice; save the mesh again from Gmsh");
  });
  for (const NodeRow& row : rows) {
    ids_.push_back(row.id);
    coordinates_.insert(coordinates_.end(), row.x, row.x + 3);
  }
  parts_.resize(ids_.size());
  rank_.assign(ids_.size(), -1);
}

int NodeHomes::home(Id id) const {
  const std::int64_t at = id < lowest_ ? 0 : (id - lowest_) / width_;
  return static_cast<int>(std::clamp<std::int64_t>(at, 0, processes_.count() - 1));
}

std::size_t NodeHomes::find(Id id) const {
  const auto at = std::lower_bound(ids_.begin(), ids_.end(), id);
  return at != ids_.end() && *at == id ? static_cast<std::size_t>(at - ids_.begin()) : ids_.size();
}

std::vector<double> NodeHomes::coordinates(std::span<const Id> ids) {
  std::vector<std::vector<Id>> asked(static_cast<std::size_t>(processes_.count()));
  for (const Id id : ids) asked[static_cast<std::size_t>(home(id))].push_back(id);
  const auto questions = swap_all(processes_, std::move(asked));
  std::vector<std::vector<double>> answers(questions.size());
  agree(processes_, [&] {
    for (std::size_t p = 0; p < questions.size(); ++p)
      for (const Id id : questions[p]) {
        const std::size_t n = find(id);
        if (n == ids_.size())
          throw Error(ErrorCode::not_found, "an element has the node " + std::to_string(id) +
                                                ", which is not in the file; save the mesh again from Gmsh");
        answers[p].insert(answers[p].end(), coordinates_.begin() + static_cast<std::ptrdiff_t>(3 * n),
                          coordinates_.begin() + static_cast<std::ptrdiff_t>(3 * n + 3));
      }
  });
  const auto received = swap_all(processes_, std::move(answers));
  std::vector<std::size_t> next(received.size(), 0);
  std::vector<double> result;
  result.reserve(3 * ids.size());
  for (const Id id : ids) {
    const auto h = static_cast<std::size_t>(home(id));
    const auto at = received[h].begin() + static_cast<std::ptrdiff_t>(next[h]);
    result.insert(result.end(), at, at + 3);
    next[h] += 3;
  }
  return result;
}

void NodeHomes::announce(std::span<const Id> ids) {
  std::vector<std::vector<Id>> told(static_cast<std::size_t>(processes_.count()));
  for (const Id id : ids) told[static_cast<std::size_t>(home(id))].push_back(id);
  const auto heard = swap_all(processes_, std::move(told));
  for (std::size_t p = 0; p < heard.size(); ++p)  // ascending parts
    for (const Id id : heard[p]) parts_[find(id)].push_back(static_cast<std::int32_t>(p));
  const std::int64_t own = std::count_if(parts_.begin(), parts_.end(), [](const auto& list) { return !list.empty(); });
  const std::vector<std::int64_t> counts = gather_numbers(processes_, own);
  std::int64_t next = std::accumulate(counts.begin(), counts.begin() + processes_.own(), std::int64_t{0});
  for (std::size_t n = 0; n < ids_.size(); ++n)
    if (!parts_[n].empty()) rank_[n] = next++;
  announced_ = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

std::vector<NodeHomes::Place> NodeHomes::places(std::span<const Id> ids) {
  std::vector<std::vector<Id>> asked(static_cast<std::size_t>(processes_.count()));
  for (const Id id : ids) asked[static_cast<std::size_t>(home(id))].push_back(id);
  const auto questions = swap_all(processes_, std::move(asked));
  std::vector<std::vector<std::int64_t>> answers(questions.size());
  for (std::size_t p = 0; p < questions.size(); ++p)
    for (const Id id : questions[p]) {
      const std::size_t n = find(id);
      if (n == ids_.size()) {
        answers[p].insert(answers[p].end(), {-1, 0});
        continue;
      }
      answers[p].insert(answers[p].end(), {rank_[n], static_cast<std::int64_t>(parts_[n].size())});
      answers[p].insert(answers[p].end(), parts_[n].begin(), parts_[n].end());
    }
  const auto received = swap_all(processes_, std::move(answers));
  std::vector<std::size_t> next(received.size(), 0);
  std::vector<Place> result;
  result.reserve(ids.size());
  for (const Id id : ids) {
    const auto& from = received[static_cast<std::size_t>(home(id))];
    std::size_t& at = next[static_cast<std::size_t>(home(id))];
    Place& place = result.emplace_back();
    place.rank = from[at];
    const auto count = static_cast<std::size_t>(from[at + 1]);
    for (std::size_t k = 0; k < count; ++k) place.parts.push_back(static_cast<std::int32_t>(from[at + 2 + k]));
    at += 2 + count;
  }
  return result;
}

std::vector<NodeHomes::Use> NodeHomes::all_uses(std::vector<Use> own) {
  const auto before = [](const Use& a, const Use& b) {
    return std::pair(a.node, a.vertex) < std::pair(b.node, b.vertex);
  };
  std::vector<std::vector<Use>> told(static_cast<std::size_t>(processes_.count()));
  for (const Use& use : own) told[static_cast<std::size_t>(home(use.node))].push_back(use);
  own = {};
  std::vector<std::vector<Use>> heard = swap_all(processes_, std::move(told));
  std::vector<Use> all;
  for (const auto& from : heard) all.insert(all.end(), from.begin(), from.end());
  std::sort(all.begin(), all.end(), before);
  std::vector<std::vector<Use>> answers(heard.size());
  for (std::size_t p = 0; p < heard.size(); ++p) {
    std::vector<Id> nodes;
    for (const Use& use : heard[p]) nodes.push_back(use.node);
    heard[p] = {};
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    auto at = all.begin();
    for (const Id node : nodes) {
      at = std::lower_bound(at, all.end(), node, [](const Use& use, Id id) { return use.node < id; });
      for (; at != all.end() && at->node == node; ++at) answers[p].push_back(*at);
    }
  }
  all = {};
  std::vector<Use> result;
  for (const auto& from : swap_all(processes_, std::move(answers)))
    result.insert(result.end(), from.begin(), from.end());
  std::sort(result.begin(), result.end(), before);
  return result;
}

}  // namespace voussoir::detail
