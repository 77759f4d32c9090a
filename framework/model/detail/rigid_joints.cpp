#include <voussoir/framework/model/detail/rigid_joints.hpp>

#include <algorithm>

#include <voussoir/framework/detail/dense_algebra.hpp>

namespace voussoir::detail {
namespace {

/// Rows are of order one. What rounding leaves of their squares is far below this part of them, a short lever is above.
constexpr double nothing = 1e-13;
/// Clusters that may be left for dense algebra.
constexpr std::size_t most_left = 50;

template <class Matrix>
Eigen::Index rank_of(const Matrix& gram) {
  if (gram.rows() == 0) return 0;
  const double least = nothing * std::max(1.0, gram.trace());
  return (eigenvalues_of(gram).array() > least).count();
}

}  // namespace

RigidJoints::RigidJoints(int modes, std::int32_t clusters)
    : modes_(modes),
      parent_(at(clusters)),
      ground_(at(clusters), Gram::Zero(modes, modes)),
      extent_(at(clusters), Gram::Zero(modes, modes)),
      changed_(at(clusters), 1) {
  for (std::int32_t c = 0; c < clusters; ++c) parent_[at(c)] = c;
}

std::int32_t RigidJoints::find(std::int32_t cluster) {
  while (cluster != ground && parent_[at(cluster)] != cluster) cluster = parent_[at(cluster)];
  return cluster;
}

void RigidJoints::add(Row row) {
  Row merged;
  for (auto& [cluster, modes] : row) {
    const std::int32_t root = find(cluster);
    if (root == ground) continue;
    const auto same = std::find_if(merged.begin(), merged.end(), [&](const auto& m) { return m.first == root; });
    if (same == merged.end())
      merged.emplace_back(root, modes);
    else
      same->second += modes;
  }
  if (merged.empty()) return;
  if (merged.size() == 1) {
    ground_[at(merged[0].first)] += merged[0].second * merged[0].second.transpose();
    changed_[at(merged[0].first)] = 1;
  } else if (merged.size() == 2) {
    Eigen::VectorXd both(2 * modes_);
    both << merged[0].second, merged[1].second;
    add(merged[0].first, merged[1].first, both * both.transpose());
  } else {
    rows_.push_back(std::move(merged));
  }
}

void RigidJoints::add(std::int32_t a, std::int32_t b, const Eigen::MatrixXd& gram) {
  Pair& pair = pairs_[{std::min(a, b), std::max(a, b)}];
  if (pair.gram.size() == 0) pair.gram = Eigen::MatrixXd::Zero(2 * modes_, 2 * modes_);
  pair.tested = false;
  if (a < b) {
    pair.gram += gram;
    return;
  }
  pair.gram.topLeftCorner(modes_, modes_) += gram.bottomRightCorner(modes_, modes_);
  pair.gram.bottomRightCorner(modes_, modes_) += gram.topLeftCorner(modes_, modes_);
  pair.gram.topRightCorner(modes_, modes_) += gram.bottomLeftCorner(modes_, modes_);
  pair.gram.bottomLeftCorner(modes_, modes_) += gram.topRightCorner(modes_, modes_);
}

bool RigidJoints::is_prescribed(std::int32_t cluster) const { return rank_of(ground_[at(cluster)]) == modes_; }

RigidJoints::Gram RigidJoints::prescribed(std::int32_t cluster) const {
  const Gram& extent = extent_[at(cluster)];
  const Spectrum eigen = spectrum_of(extent);
  const double least = nothing * std::max(1.0, extent.trace());
  Gram result = ground_[at(cluster)];
  for (int i = 0; i < modes_; ++i)
    if (!(eigen.values[i] > least)) result += eigen.vectors.col(i) * eigen.vectors.col(i).transpose();
  return result;
}

bool RigidJoints::merge_with_ground() {
  bool found = false;
  for (std::int32_t c = 0; c < static_cast<std::int32_t>(parent_.size()); ++c) {
    if (parent_[at(c)] != c || !changed_[at(c)]) continue;
    changed_[at(c)] = 0;
    if (rank_of(prescribed(c)) != modes_) continue;
    parent_[at(c)] = ground;
    found = true;
  }
  if (!found) return false;
  for (auto it = pairs_.begin(); it != pairs_.end();) {
    const auto [a, b] = it->first;
    const bool a_grounded = find(a) == ground, b_grounded = find(b) == ground;
    if (a_grounded && !b_grounded) ground_[at(b)] += it->second.gram.bottomRightCorner(modes_, modes_);
    if (b_grounded && !a_grounded) ground_[at(a)] += it->second.gram.topLeftCorner(modes_, modes_);
    changed_[at(a)] = changed_[at(b)] = 1;
    it = a_grounded || b_grounded ? pairs_.erase(it) : std::next(it);
  }
  simplify_rows();
  return true;
}

bool RigidJoints::joined(std::int32_t a, std::int32_t b, const Eigen::MatrixXd& pair) const {
  const Eigen::MatrixXd common = pair.topLeftCorner(modes_, modes_) + pair.topRightCorner(modes_, modes_) +
                                 pair.bottomLeftCorner(modes_, modes_) + pair.bottomRightCorner(modes_, modes_);
  if (common.cwiseAbs().maxCoeff() > 1e-9 * std::max(1.0, pair.trace())) return false;  // holds what is common, too
  // Each may move as it likes, but for what moves none of its points: do only motions of both together remain?
  Eigen::MatrixXd all = pair;
  all.topLeftCorner(modes_, modes_) += prescribed(a) - ground_[at(a)];
  all.bottomRightCorner(modes_, modes_) += prescribed(b) - ground_[at(b)];
  return 2 * modes_ - rank_of(all) == rank_of(Gram(extent_[at(a)] + extent_[at(b)]));
}

bool RigidJoints::merge_what_is_joined() {
  for (auto& [key, pair] : pairs_) {
    if (pair.tested) continue;
    pair.tested = true;
    const auto [a, b] = key;
    if (!joined(a, b, pair.gram)) continue;
    parent_[at(b)] = a;
    ground_[at(a)] += ground_[at(b)];
    extent_[at(a)] += extent_[at(b)];
    changed_[at(a)] = 1;
    // Conditions of the one with others go over to the one that stays.
    std::vector<std::pair<std::pair<std::int32_t, std::int32_t>, Pair>> moving;
    for (auto it = pairs_.begin(); it != pairs_.end();) {
      const bool of_b = it->first.first == b || it->first.second == b;
      if (of_b) moving.emplace_back(it->first, std::move(it->second));
      if (it->first.first == a || it->first.second == a) it->second.tested = false;
      it = of_b ? pairs_.erase(it) : std::next(it);
    }
    for (const auto& [old_key, old] : moving) {
      const std::int32_t first = find(old_key.first), second = find(old_key.second);
      if (first != second) add(first, second, old.gram);
    }
    simplify_rows();
    return true;
  }
  return false;
}

void RigidJoints::simplify_rows() {
  std::vector<Row> rows = std::move(rows_);
  rows_.clear();
  for (Row& row : rows) add(std::move(row));
}

bool RigidJoints::solve() {
  while (merge_with_ground() || merge_what_is_joined()) {
  }
  place_.assign(parent_.size(), -1);
  std::vector<std::int32_t> left;
  for (std::int32_t c = 0; c < static_cast<std::int32_t>(parent_.size()); ++c)
    if (parent_[at(c)] == c) {
      place_[at(c)] = static_cast<std::int32_t>(left.size());
      left.push_back(c);
    }
  if (left.size() > most_left) return false;
  const auto size = static_cast<Eigen::Index>(left.size()) * modes_;
  motions_.resize(size, 0);
  if (left.empty()) return true;
  Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(size, size);
  const auto corner = [&](std::int32_t cluster) { return static_cast<Eigen::Index>(place_[at(cluster)]) * modes_; };
  for (const std::int32_t c : left) gram.block(corner(c), corner(c), modes_, modes_) += prescribed(c);
  for (const auto& [key, whole] : pairs_) {
    const Eigen::MatrixXd& pair = whole.gram;
    const Eigen::Index a = corner(key.first), b = corner(key.second);
    gram.block(a, a, modes_, modes_) += pair.topLeftCorner(modes_, modes_);
    gram.block(a, b, modes_, modes_) += pair.topRightCorner(modes_, modes_);
    gram.block(b, a, modes_, modes_) += pair.bottomLeftCorner(modes_, modes_);
    gram.block(b, b, modes_, modes_) += pair.bottomRightCorner(modes_, modes_);
  }
  for (const Row& row : rows_)
    for (const auto& [a, of_a] : row)
      for (const auto& [b, of_b] : row) gram.block(corner(a), corner(b), modes_, modes_) += of_a * of_b.transpose();
  const Spectrum eigen = spectrum_of(gram);
  Eigen::Index free = 0;
  while (free < size && eigen.values[free] <= nothing * std::max(1.0, gram.trace())) ++free;
  motions_ = eigen.vectors.leftCols(free);
  return true;
}

RigidJoints::Modes RigidJoints::motion(int number, std::int32_t cluster) {
  const std::int32_t root = find(cluster);
  if (root == ground) return Modes::Zero(modes_);
  return motions_.block(static_cast<Eigen::Index>(place_[at(root)]) * modes_, number, modes_, 1);
}

}  // namespace voussoir::detail
