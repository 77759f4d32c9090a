#pragma once
#include <Eigen/Core>
#include <cstdint>

#include <voussoir/framework/model/analysis_model.hpp>

namespace voussoir::detail {

/// Rigid motions of a whole model, about one centre: translations, then rotations over its radius; one number where
/// there is one way to move (along the axis, a constant temperature).
class RigidFrame {
 public:
  static constexpr int most_modes = 6;
  using Modes = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, most_modes, 1>;
  using Gram = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, most_modes, most_modes>;

  explicit RigidFrame(const AnalysisModel& model);

  /// 0 where the unknowns are not known to have rigid motions.
  int modes() const { return modes_; }
  /// Nodes that two elements must share so that what is rigid in each is rigid in both; 0 where a shared node with
  /// rotations does.
  int face_corners() const { return modes_ == 6 ? 3 : modes_ == 3 ? 2 : 1; }
  /// What the modes do to component `component` of the node at `position` in the numbering.
  Modes at(std::int32_t position, int component) const;

 private:
  Eigen::Vector3d offset(std::int32_t position) const;

  const AnalysisModel& model_;
  int modes_ = 0;
  bool axisymmetric_ = false;
  Eigen::Vector3d centre_ = Eigen::Vector3d::Zero();
  double radius_ = 1;
};

}  // namespace voussoir::detail
