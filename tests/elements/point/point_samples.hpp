#pragma once
#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <voussoir/framework/domain/shape_topology.hpp>

#include "elements/element_run.hpp"
#include "support/dense_algebra.hpp"

// Types, parameters, shapes and fields that the tests of point elements share.

namespace voussoir::testing::point {

using testing::ElementRun;
using Nodes = std::vector<std::array<double, 3>>;
using Parameters = std::map<std::string, double>;

inline const double pi = std::acos(-1.0);

/// Whether the first part of a name is one of these: the stock point elements by physics.
inline bool is_physics(const std::string& type, const std::vector<std::string>& physics) {
  return std::find(physics.begin(), physics.end(), type.substr(0, type.find('.'))) != physics.end();
}
inline const std::vector<std::string> isotropic = {"solid", "plane_stress", "plane_strain", "axisymmetric"};
inline const std::vector<std::string> orthotropic = {"orthotropic_solid", "orthotropic_plane_stress",
                                                     "orthotropic_plane_strain", "orthotropic_axisymmetric"};
inline const std::vector<std::string> conduction = {"heat",
                                                    "plane_heat",
                                                    "axisymmetric_heat",
                                                    "orthotropic_heat",
                                                    "orthotropic_plane_heat",
                                                    "orthotropic_axisymmetric_heat"};

inline std::vector<const ElementType*> types(std::vector<std::string> physics,
                                             const std::vector<std::string>& more = {},
                                             const std::vector<std::string>& still_more = {}) {
  physics.insert(physics.end(), more.begin(), more.end());
  physics.insert(physics.end(), still_more.begin(), still_more.end());
  std::vector<const ElementType*> result;
  for (const ElementType* type : ElementLibrary::instance().all())
    if (is_physics(type->name(), physics)) result.push_back(type);
  return result;
}

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
inline bool ring(const ElementType& type) { return has(type.name(), "axisymmetric"); }
inline int dimension(const ElementType& type) { return shape_topology(type.shape()).dim; }

inline const double young = 210.0, poisson = 0.3, density = 7.8, expansion = 1.2e-5, thickness = 0.7;

inline Eigen::Matrix3d plane_axes(double angle) {
  Eigen::Matrix3d a = Eigen::Matrix3d::Identity();
  a(0, 0) = a(1, 1) = std::cos(angle);
  a(0, 1) = std::sin(angle);
  a(1, 0) = -a(0, 1);
  return a;
}
inline Eigen::Matrix3d material_axes(bool space) {
  if (!space) return plane_axes(0.4);
  return plane_axes(0.4) * Eigen::AngleAxisd(0.7, Eigen::Vector3d(1, 2, 2).normalized()).toRotationMatrix();
}

inline Parameters parameters(bool space) {
  Parameters p = {{"young", young},
                  {"poisson", poisson},
                  {"density", density},
                  {"expansion", expansion},
                  {"E1", 140},
                  {"E2", 10},
                  {"E3", 12},
                  {"nu12", 0.3},
                  {"nu13", 0.25},
                  {"nu23", 0.4},
                  {"G12", 5},
                  {"G13", 4.5},
                  {"G23", 3.5},
                  {"expansion1", 1e-6},
                  {"expansion2", 2e-5},
                  {"expansion3", 3e-5},
                  {"conductivity", 3},
                  {"k1", 5},
                  {"k2", 2},
                  {"k3", 1},
                  {"specific_heat", 2},
                  {"thickness", thickness}};
  const Eigen::Matrix3d axes = material_axes(space);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) p["axis" + std::to_string(i + 1) + std::to_string(j + 1)] = axes(i, j);
  return p;
}

/// A crooked element: the reference cell sheared, moved to x > 0, every node pushed a little, middle nodes too.
inline Nodes crooked(const ElementType& type, unsigned seed = 1, double push = 0.08) {
  const ShapeTopology& t = shape_topology(type.shape());
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> some(-push, push);
  Eigen::Matrix3d a;
  a << 1.1, 0.2, -0.1, 0.1, 0.9, 0.15, -0.05, 0.1, 1.2;
  Nodes x(t.nodes);
  for (int i = 0; i < t.nodes; ++i) {
    const Eigen::Vector3d xi(t.reference_nodes[i].data());
    const Eigen::Vector3d y = a * xi;
    for (int k = 0; k < t.dim; ++k) x[i][k] = y[k] + some(random) * (i < t.corners ? 1.0 : 0.5) + (k == 0 ? 3.0 : 0.0);
    for (int k = t.dim; k < 3; ++k) x[i][k] = 0;
  }
  return x;
}

/// A parallelepiped, or what becomes of a plane or wedge-shaped reference cell under an affine map.
inline Nodes straight(const ElementType& type, const Eigen::Matrix3d& a) {
  const ShapeTopology& t = shape_topology(type.shape());
  Nodes x(t.nodes);
  for (int i = 0; i < t.nodes; ++i) {
    const Eigen::Vector3d y = a * Eigen::Vector3d(t.reference_nodes[i].data());
    for (int k = 0; k < 3; ++k) x[i][k] = k < t.dim ? y[k] + (k == 0 ? 3.0 : 0.0) : 0.0;
  }
  return x;
}

inline double reference_volume(const ElementType& type) {
  const std::string& s = type.shape();
  if (has(s, "tri")) return 0.5;
  if (has(s, "quad")) return 4;
  if (has(s, "tet")) return 1.0 / 6;
  if (has(s, "wedge")) return 1;
  return 8;
}

/// A displacement field linear in position that a type can strain by: in a ring u_r = g r, or its hoop strain varies.
inline Eigen::Matrix3d linear_field(const ElementType& type) {
  Eigen::Matrix3d g;
  g << 0.3, -0.5, 0.2, 0.7, 0.4, 0.1, -0.3, 0.6, -0.8;
  if (dimension(type) == 2) g.row(2).setZero(), g.col(2).setZero();
  if (ring(type)) g(0, 1) = 0;
  return g;
}
/// The 3 × 3 gradient that the field has in the body.
inline Eigen::Matrix3d body_gradient(const ElementType& type, const Eigen::Matrix3d& g) {
  Eigen::Matrix3d b = g;
  if (ring(type)) b(2, 2) = g(0, 0);
  return b;
}

inline void displace(ElementRun& run, const ElementType& type, const Nodes& x, const Eigen::Matrix3d& g,
                     int element = 0) {
  const int c = type.program().components();
  for (std::size_t a = 0; a < x.size(); ++a)
    for (int i = 0; i < c; ++i)
      run.unknowns(element)[a * c + i] =
          g.row(i).dot(Eigen::Vector3d(x[a].data())) + (ring(type) && i == 0 ? 0.0 : 0.1);
}

inline Eigen::Matrix3d tensor(ElementRun& run, const std::string& letter, int point) {
  Eigen::Matrix3d t;
  const char* names[3][3] = {{"xx", "xy", "xz"}, {"xy", "yy", "yz"}, {"xz", "yz", "zz"}};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) t(i, j) = run.recovered(letter + names[i][j], point);
  return t;
}

}  // namespace voussoir::testing::point
