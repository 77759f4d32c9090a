#pragma once
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <voussoir/framework/model/detail/rigid_frame.hpp>

namespace voussoir::detail {

/// Rigid clusters and what holds them: to ground, to each other. Finds the motions that are left.
class RigidJoints {
 public:
  using Modes = RigidFrame::Modes;
  using Gram = RigidFrame::Gram;
  /// One condition: Σ row · motion of cluster = 0.
  using Row = std::vector<std::pair<std::int32_t, Modes>>;

  RigidJoints(int modes, std::int32_t clusters);

  void add(Row row);
  /// Points of a cluster move like this: motions that move none of its points are none.
  void add_extent(std::int32_t cluster, const Modes& row) { extent_[at(cluster)] += row * row.transpose(); }
  /// Whether the conditions on a cluster alone leave it no motion; extents need not be known.
  bool is_prescribed(std::int32_t cluster) const;

  /// Merges what hangs together and drops what is held, then solves what is left. False where too much is left.
  bool solve();
  /// After solve(): for each motion that is left, the motion of each cluster (by its number of old).
  int motion_count() const { return static_cast<int>(motions_.cols()); }
  Modes motion(int number, std::int32_t cluster);

 private:
  static constexpr std::int32_t ground = -1;
  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }
  std::int32_t find(std::int32_t cluster);
  /// Of a matrix of conditions: those of a cluster, with motions that move nothing held.
  Gram prescribed(std::int32_t cluster) const;
  bool merge_with_ground();
  bool merge_what_is_joined();
  bool joined(std::int32_t a, std::int32_t b, const Eigen::MatrixXd& pair) const;
  void simplify_rows();

  /// Conditions on two clusters: those of the first, then of the second.
  struct Pair {
    Eigen::MatrixXd gram;
    bool tested = false;  // and found not to join them, as things stand
  };

  void add(std::int32_t a, std::int32_t b, const Eigen::MatrixXd& gram);

  int modes_;
  std::vector<std::int32_t> parent_;  // ground, or a cluster that it moves with
  std::vector<Gram> ground_, extent_;
  std::vector<char> changed_;  // clusters whose ground_ has grown since it was looked at
  std::map<std::pair<std::int32_t, std::int32_t>, Pair> pairs_;
  std::vector<Row> rows_;            // conditions on three or more
  std::vector<std::int32_t> place_;  // of a cluster among those that are left
  Eigen::MatrixXd motions_;
};

}  // namespace voussoir::detail
