#pragma once
#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <vector>

#include <voussoir/framework/model/analysis_model.hpp>

// Connected parts of a model, their rigid motions, and words for them.

namespace voussoir::detail {

using Vec3d = Eigen::Vector3d;

/// Which motions of a part cost no energy, by what the unknowns mean.
enum class Kinematics {
  solid,         // six rigid motions
  plane,         // three
  axisymmetric,  // one: along the axis
  scalar,        // one: the same temperature, head or potential everywhere
  unknown        // nothing is known; nothing is checked
};

int mode_count(Kinematics kinematics);

/// Unknowns that move together when nothing resists: all displacements and rotations, or one temperature, head or
/// potential.
struct Field {
  Kinematics kinematics = Kinematics::unknown;
  std::string name;      ///< of its first unknown
  std::vector<int> own;  ///< which of the field's unknowns each of the model's is, or −1
};
/// The fields of a model whose motions are known. Nothing is known of several unknowns that are not mechanical, unless
/// each has elements of its own.
std::vector<Field> fields_of(const AnalysisModel& model);

/// A node's place among the modes of a part: where it is, whether its first unknowns are a rotation, and whether rigid
/// motions leave it alone, because its unknowns are generalised coordinates.
struct Spot {
  Vec3d offset;
  bool turns;
  bool still;
};

/// A part: its nodes (positions in the numbering), and where its modes are centred and how they are scaled.
struct Part {
  std::vector<std::int32_t> positions;
  Vec3d centre = Vec3d::Zero();
  double radius = 1;
};

/// Value of a field's rigid motion at a place, for one of the model's unknowns: modes are translations, then rotations
/// about the part's centre over its radius.
double mode_value(const Field& field, int mode, int component, const Spot& spot, double radius);

Spot spot_of(const AnalysisModel& model, const Part& part, std::int32_t domain_node);

/// The parts that `part_of` has, a number for each position in the numbering.
std::vector<Part> make_parts(const AnalysisModel& model, const std::vector<std::int32_t>& part_of);

/// A node that the user knows.
bool is_known(const AnalysisModel& model, std::int32_t domain_node);
std::size_t known_nodes(const AnalysisModel& model);

/// "can move along x", "can rotate about an axis along z through (0, 1, 0)": words for a combination of rigid motions.
std::string motion_text(const Field& field, const Part& part, const Eigen::VectorXd& c);
/// "it", or "the part with node 17 (8 of 120 nodes)".
std::string part_text(const AnalysisModel& model, const Part& part, std::size_t part_count);

}  // namespace voussoir::detail
