#include <voussoir/framework/model/detail/part_motions.hpp>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/domain/generalised_node.hpp>

namespace voussoir::detail {
namespace {

Vec3d position_of(const AnalysisModel& model, std::int32_t domain_node) {
  const auto x = model.domain().coordinates();
  const std::size_t n = domain_node;
  return {x[3 * n], x[3 * n + 1], x[3 * n + 2]};
}

std::string number(double value) { return short_number(std::abs(value) < 1e-12 ? 0.0 : value, 4); }

std::string vector_text(const Vec3d& v) {
  return "(" + number(v.x()) + ", " + number(v.y()) + ", " + number(v.z()) + ")";
}

std::string axis_text(Vec3d v) {
  v.normalize();
  const char* names[] = {"x", "y", "z"};
  for (int i = 0; i < 3; ++i)
    if (std::abs(v[i]) > 1 - 1e-9) return names[i];
  return vector_text(v);
}

}  // namespace

namespace {

bool is_axisymmetric(const AnalysisModel& model) {
  for (const auto& origin : model.batches())
    if (origin.kind == BatchOrigin::Kind::block && model.domain().block(origin.block).type().program().axisymmetric())
      return true;
  return false;
}

/// Whether some block has an unknown for itself, as heat elements have T.
bool stands_alone(const AnalysisModel& model, const std::string& name) {
  for (const auto& origin : model.batches()) {
    if (origin.kind != BatchOrigin::Kind::block) continue;
    const auto names = model.domain().block(origin.block).type().program().unknown_names();
    if (names.size() == 1 && names[0] == name) return true;
  }
  return false;
}

}  // namespace

std::vector<Field> fields_of(const AnalysisModel& model) {
  const auto& names = model.unknown_names();
  const std::vector<std::string> solid{"ux", "uy", "uz", "rx", "ry", "rz"};
  std::vector<Field> fields;
  Field mechanical{Kinematics::unknown, names[0], std::vector<int>(names.size(), -1)};
  int count = 0;
  for (; count < static_cast<int>(std::min(names.size(), solid.size())) && names[count] == solid[count]; ++count)
    mechanical.own[count] = count;
  if (count > 2) mechanical.kinematics = Kinematics::solid;
  if (count == 2) mechanical.kinematics = is_axisymmetric(model) ? Kinematics::axisymmetric : Kinematics::plane;
  if (count > 1) fields.push_back(mechanical);
  for (std::size_t k = count > 1 ? count : 0; k < names.size(); ++k) {
    if (names.size() > 1 && !stands_alone(model, names[k])) continue;
    Field scalar{Kinematics::scalar, names[k], std::vector<int>(names.size(), -1)};
    scalar.own[k] = 0;
    fields.push_back(std::move(scalar));
  }
  return fields;
}

int mode_count(Kinematics k) {
  switch (k) {
    case Kinematics::solid:
      return 6;
    case Kinematics::plane:
      return 3;
    case Kinematics::axisymmetric:
    case Kinematics::scalar:
      return 1;
    case Kinematics::unknown:
      return 0;
  }
  return 0;
}

double mode_value(const Field& field, int mode, int unknown, const Spot& spot, double radius) {
  const int component = field.own[unknown];
  if (component < 0 || spot.still) return 0;
  const Vec3d& offset = spot.offset;
  switch (field.kinematics) {
    case Kinematics::scalar:
      return 1;
    case Kinematics::axisymmetric:
      return component == 1 && !spot.turns ? 1 : 0;
    case Kinematics::plane:
      if (spot.turns) return mode == 2 && component == 0 ? 1 / radius : 0;
      if (mode < 2) return component == mode ? 1 : 0;
      return (component == 0 ? -offset.y() : offset.x()) / radius;
    case Kinematics::solid: {
      if (spot.turns) return component == mode - 3 ? 1 / radius : 0;
      if (mode < 3) return component == mode ? 1 : 0;
      Vec3d axis = Vec3d::Zero();
      axis[mode - 3] = 1;
      if (component >= 3) return component - 3 == mode - 3 ? 1 / radius : 0;
      return axis.cross(offset)[component] / radius;
    }
    case Kinematics::unknown:
      break;
  }
  return 0;
}

Spot spot_of(const AnalysisModel& model, const Part& part, std::int32_t domain_node) {
  return {position_of(model, domain_node) - part.centre, model.domain().rotation_node(domain_node) != nullptr,
          is_generalised_node(model.domain(), domain_node)};
}

bool is_known(const AnalysisModel& model, std::int32_t domain_node) {
  const RotationNode* rotation = model.domain().rotation_node(domain_node);
  return !rotation || !rotation->hidden;
}

std::size_t known_nodes(const AnalysisModel& model) {
  std::size_t count = 0;
  for (const std::int32_t n : model.numbered_nodes()) count += is_known(model, n);
  return count;
}

std::vector<Part> make_parts(const AnalysisModel& model, const std::vector<std::int32_t>& part_of) {
  std::vector<Part> parts(part_of.empty() ? 0 : 1 + *std::max_element(part_of.begin(), part_of.end()));
  const auto nodes = model.numbered_nodes();
  for (std::size_t k = 0; k < part_of.size(); ++k) parts[part_of[k]].positions.push_back(static_cast<std::int32_t>(k));
  for (Part& part : parts) {
    for (std::int32_t k : part.positions) part.centre += position_of(model, nodes[k]);
    part.centre /= static_cast<double>(part.positions.size());
    double r2 = 0;
    for (std::int32_t k : part.positions) r2 = std::max(r2, (position_of(model, nodes[k]) - part.centre).squaredNorm());
    part.radius = r2 > 0 ? std::sqrt(r2) : 1;
  }
  return parts;
}

std::string motion_text(const Field& field, const Part& part, const Eigen::VectorXd& c) {
  if (field.kinematics == Kinematics::scalar)
    return field.name == "T" ? "has no prescribed temperature" : "has '" + field.name + "' fixed nowhere";
  if (field.kinematics == Kinematics::axisymmetric) return "can move along the axis (uy)";
  Vec3d shift = Vec3d::Zero(), turn = Vec3d::Zero();
  if (field.kinematics == Kinematics::plane) {
    shift = {c[0], c[1], 0};
    turn = {0, 0, c[2] / part.radius};
  } else {
    shift = c.head<3>();
    turn = c.tail<3>() / part.radius;
  }
  if (turn.norm() * part.radius < 1e-6 * shift.norm()) return "can move along " + axis_text(shift);
  const Vec3d through = part.centre + turn.cross(shift) / turn.squaredNorm();
  std::string text = "can rotate about an axis along " + axis_text(turn) + " through " + vector_text(through);
  if (std::abs(shift.dot(turn)) > 1e-6 * shift.norm() * turn.norm()) text += " while translating along it";
  return text;
}

std::string part_text(const AnalysisModel& model, const Part& part, std::size_t part_count) {
  if (part_count == 1) return "it";
  const auto nodes = model.numbered_nodes();
  Id lowest = std::numeric_limits<Id>::max();
  std::size_t count = 0;
  for (std::int32_t k : part.positions)
    if (is_known(model, nodes[k])) {
      lowest = std::min(lowest, model.domain().node_id(nodes[k]));
      ++count;
    }
  if (count == 0) return "the " + model.equation_label(model.first_equation()[part.positions.front()]) + ",";
  return "the part with node " + std::to_string(lowest) + " (" + std::to_string(count) + " of " +
         std::to_string(known_nodes(model)) + " nodes)";
}

}  // namespace voussoir::detail
