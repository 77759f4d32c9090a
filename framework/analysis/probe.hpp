#pragma once
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <voussoir/framework/analysis/point_locator.hpp>
#include <voussoir/framework/analysis/results.hpp>

namespace voussoir {

/// A point where results are wanted.
struct ProbePoint {
  std::string name;                         ///< for tables
  std::array<double, 3> position{0, 0, 0};  ///< x, y, z
  std::string where;                        ///< origin, for messages: "job.json:12, /points/0"
};

/// A straight path along which results are wanted.
struct ProbePath {
  std::string name;                     ///< for tables and files
  std::array<double, 3> from{0, 0, 0};  ///< where it begins
  std::array<double, 3> to{0, 0, 0};    ///< where it ends
  int points = 101;                     ///< evenly along it, both ends included
  std::string where;                    ///< origin, for messages

  std::array<double, 3> position(int i) const;  ///< of point i, from 0
  double length() const;                        ///< between the ends
};

/// Results at one place on one side of a border of materials.
struct ProbeValues {
  std::array<double, 3> position{0, 0, 0};  ///< x, y, z
  double distance = 0;                      ///< along a path
  std::string material;                     ///< on this side; "" for none
  Id element = 0;                           ///< the user's number of the element that contains the place
  std::vector<double> values;               ///< in the order of Probe::names(); NaN where the element does not have one
};

/// Results of a step at any place of the body: displacements (temperatures), interpolated by the shape functions of the
/// element that contains the place, and stress (heat flux), interpolated in the same way between the nodal values of
/// nodal_stress() (nodal_flux()). Invariants are those of the interpolated stress. On a border of materials each has
/// its own values.
///
///   const PointLocator locator(domain);
///   const Probe probe(locator, result);
///   const double mises = probe.at({0.1, 0, 0.02}).front().values[probe.index("mises")];
class Probe {
 public:
  /// `locator` must live as long as the probe; the result may go.
  Probe(const PointLocator& locator, const StepResult& result);

  /// The unknowns; sxx … sxz, mises, principal1 … principal3; qx qy qz and flux (its length); axial_stress, N, Vy, Vz,
  /// torque, My and Mz of bars and beams: those that some element of the model has.
  const std::vector<std::string>& names() const;
  /// Throws Error (not_found) for a name that there is not.
  std::size_t index(std::string_view name) const;

  /// One entry for each material that meets at the point. Throws Error (bad_input) for a point outside of the body,
  /// with its distance.
  std::vector<ProbeValues> at(const std::array<double, 3>& point) const;
  /// Along a path; points outside the body are omitted. Throws Error (bad_input) if all are outside.
  std::vector<ProbeValues> along(const ProbePath& path) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

/// Throws Error (bad_input) for a point that is in none of the bodies, with its distance from the nearest, and for a
/// path of which no point is in one, that has no length or fewer than two points.
void check_probe(const std::vector<const PointLocator*>& locators, const ProbePoint& point);
void check_probe(const std::vector<const PointLocator*>& locators, const ProbePath& path);

}  // namespace voussoir
