#include <voussoir/jobs/detail/farthest_node.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace voussoir::detail {

FarthestNode::FarthestNode(std::vector<char> counts, const std::vector<char>& hidden, std::size_t most_values)
    : width_(counts.size()), most_values_(most_values), counts_(std::move(counts)) {
  for (std::size_t n = 0; n < hidden.size(); ++n)
    if (!hidden[n]) nodes_.push_back(static_cast<std::int32_t>(n));
  reach_.assign(nodes_.size(), 0.0);
}

std::vector<double> FarthestNode::add(const std::vector<double>& values) {
  std::vector<double> kept;
  kept.reserve(nodes_.size() * width_);
  for (const std::int32_t node : nodes_)
    for (std::size_t c = 0; c < width_; ++c) kept.push_back(values[static_cast<std::size_t>(node) * width_ + c]);
  add_kept(kept);
  return kept;
}

void FarthestNode::add_kept(std::vector<double> kept) {
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    for (std::size_t c = 0; c < width_; ++c)
      if (const double size = std::abs(kept[i * width_ + c]); counts_[c] && size > reach_[i]) reach_[i] = size;
  states_.push_back(std::move(kept));
  // One node is kept in any case: its motion is as long as the other histories.
  while (nodes_.size() > 1 && states_.size() * nodes_.size() * width_ > most_values_) give_up_half();
}

void FarthestNode::give_up_half() {
  std::vector<std::size_t> order(nodes_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return reach_[a] > reach_[b]; });
  order.resize((order.size() + 1) / 2);
  std::sort(order.begin(), order.end());
  const auto pick = [&](auto& list) {
    for (std::size_t i = 0; i < order.size(); ++i) list[i] = list[order[i]];
    list.resize(order.size());
    list.shrink_to_fit();
  };
  for (std::vector<double>& state : states_) {
    for (std::size_t i = 0; i < order.size(); ++i)
      for (std::size_t c = 0; c < width_; ++c) state[i * width_ + c] = state[order[i] * width_ + c];
    state.resize(order.size() * width_);
    state.shrink_to_fit();
  }
  pick(nodes_);
  pick(reach_);
}

bool FarthestNode::has(std::int32_t node) const { return std::binary_search(nodes_.begin(), nodes_.end(), node); }

std::int32_t FarthestNode::farthest() const {
  const auto it = std::max_element(reach_.begin(), reach_.end());
  return it == reach_.end() || !(*it > 0) ? -1 : nodes_[static_cast<std::size_t>(it - reach_.begin())];
}

std::vector<double> FarthestNode::curve(std::int32_t node, std::size_t component) const {
  const auto place = static_cast<std::size_t>(std::lower_bound(nodes_.begin(), nodes_.end(), node) - nodes_.begin());
  std::vector<double> values;
  values.reserve(states_.size());
  for (const std::vector<double>& state : states_) values.push_back(state[place * width_ + component]);
  return values;
}

}  // namespace voussoir::detail
