#include <voussoir/framework/model/detail/rigid_frame.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include <voussoir/framework/domain/generalised_node.hpp>

namespace voussoir::detail {

RigidFrame::RigidFrame(const AnalysisModel& model) : model_(model) {
  const auto& names = model.unknown_names();
  const std::vector<std::string> known{"ux", "uy", "uz", "rx", "ry", "rz"};
  if (names.size() == 1) {
    modes_ = 1;
  } else if (names.size() <= known.size() && std::equal(names.begin(), names.end(), known.begin())) {
    for (const auto& origin : model.batches())
      if (origin.kind == BatchOrigin::Kind::block && model.domain().block(origin.block).type().program().axisymmetric())
        axisymmetric_ = true;
    modes_ = names.size() > 2 ? 6 : axisymmetric_ ? 1 : 3;
  }
  const auto nodes = model.numbered_nodes();
  if (nodes.empty()) return;
  const auto count = static_cast<std::int32_t>(nodes.size());
  for (std::int32_t k = 0; k < count; ++k) centre_ += offset(k) / static_cast<double>(count);
  double square = 0;
  for (std::int32_t k = 0; k < count; ++k) square = std::max(square, (offset(k) - centre_).squaredNorm());
  radius_ = square > 0 ? std::sqrt(square) : 1;
}

Eigen::Vector3d RigidFrame::offset(std::int32_t position) const {
  const auto node = static_cast<std::size_t>(model_.numbered_nodes()[static_cast<std::size_t>(position)]);
  const auto x = model_.domain().coordinates();
  return {x[3 * node], x[3 * node + 1], x[3 * node + 2]};
}

RigidFrame::Modes RigidFrame::at(std::int32_t position, int component) const {
  Modes row = Modes::Zero(modes_);
  if (is_generalised_node(model_.domain(), model_.numbered_nodes()[static_cast<std::size_t>(position)])) return row;
  if (modes_ == 1) {
    row[0] = axisymmetric_ ? component == 1 : component == 0;
    return row;
  }
  const Eigen::Vector3d lever = (offset(position) - centre_) / radius_;
  if (modes_ == 3) {
    row[component] = 1;
    row[2] = component == 0 ? -lever.y() : lever.x();
  } else if (component < 3) {
    row[component] = 1;
    for (int axis = 0; axis < 3; ++axis) row[3 + axis] = Eigen::Vector3d::Unit(axis).cross(lever)[component];
  } else {
    row[component] = 1 / radius_;
  }
  return row;
}

}  // namespace voussoir::detail
