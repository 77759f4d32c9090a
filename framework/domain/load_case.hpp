#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <voussoir/backends/element_program.hpp>
#include <voussoir/framework/domain/id.hpp>

namespace voussoir {

class Domain;

/// A named set of loads that act together. Steps of an analysis combine load cases with factors.
///
/// Sets, surfaces and unknowns are named; a name that does not exist, or a set that is empty, is an error at once, so
/// that no load is lost silently. Node sets are read when a load is given: nodes that join a set later do not get it.
/// Surfaces and element sets are kept by name and read when the model is built, as they are then.
class LoadCase {
 public:
  const std::string& name() const { return name_; }  ///< unique within the domain

  /// A force, moment or heat flow at every node of a set: `unknown` is "ux", "rz", "T", …
  LoadCase& nodal(const std::string& node_set, const std::string& unknown, double value);
  /// The same at one node.
  LoadCase& nodal_at(Id node, const std::string& unknown, double value);
  /// Pressure that pushes on the faces of a surface.
  LoadCase& pressure(const std::string& surface, double value);
  /// Force per area on the faces of a surface, in global directions.
  LoadCase& traction(const std::string& surface, std::array<double, 3> value);
  /// Weight: force per mass on an element set ("" for all elements).
  LoadCase& gravity(const std::string& element_set, std::array<double, 3> acceleration);
  /// Rotation with angular velocity `omega` about an axis.
  LoadCase& centrifugal(const std::string& element_set, double omega, std::array<double, 3> axis_point,
                        std::array<double, 3> axis_direction);
  /// Temperature of every node of a set, for thermal strain.
  LoadCase& temperature(const std::string& node_set, double value);
  /// The same at one node.
  LoadCase& temperature_at(Id node, double value);
  /// Temperature of every node, in the order of the domain's nodes. NaN means "not given" and is accepted only at nodes
  /// that no element uses, so that `unknowns.values` of a heat result can be passed directly.
  LoadCase& temperature_field(std::vector<double> values);
  /// What flows into the body per area of a surface, of a field with one unknown per node, whatever its name: heat,
  /// ground water, a concentration.
  LoadCase& inflow(const std::string& surface, double value);
  /// What such a field exchanges with its surroundings: coefficient · (unknown − ambient) per area leaves the body.
  LoadCase& film(const std::string& surface, double coefficient, double ambient);
  /// What is produced of such a field per volume in an element set ("" for all elements).
  LoadCase& source(const std::string& element_set, double value);
  /// Heat flowing into the body per area of a surface: inflow() of T.
  LoadCase& heat_flux(const std::string& surface, double value);
  /// Heat exchanged with a medium of temperature `sink`: film · (T − sink) per area leaves the body.
  LoadCase& convection(const std::string& surface, double film, double sink);
  /// Heat radiated to surroundings of temperature `sink`: coefficient · ((T − zero)⁴ − (sink − zero)⁴) per area leaves
  /// the body. The coefficient is the emissivity times the Stefan–Boltzmann constant; `absolute_zero` is that of the
  /// temperature scale, −273.15 for degrees Celsius.
  LoadCase& radiation(const std::string& surface, double coefficient, double sink, double absolute_zero);
  /// Heat produced per volume in an element set ("" for all elements).
  LoadCase& heat_source(const std::string& element_set, double value);

  /// A force, moment or heat flow at a node.
  struct Nodal {
    std::int32_t node;    ///< by index
    std::string unknown;  ///< that it works on: "ux", …
    double value;         ///< at load factor 1; loads on one unknown add up
  };
  /// A load on a surface.
  struct Surface {
    std::string surface;         ///< name of the surface
    std::string kind;            ///< "pressure", "traction", "flux", "convection", "radiation"
    std::vector<double> values;  ///< one per parameter of the kind, in the order of the function that adds it
  };
  /// A body load on a set of elements.
  struct Body {
    std::string element_set;  ///< "": all elements
    BodyLoad load;            ///< per volume or mass
  };
  const std::vector<Nodal>& nodal_loads() const { return nodal_; }        ///< in the order of adding
  const std::vector<Surface>& surface_loads() const { return surface_; }  ///< in the order of adding
  const std::vector<Body>& body_loads() const { return body_; }           ///< in the order of adding
  /// Per node; empty if the load case has no temperatures; NaN at nodes it does not name.
  const std::vector<double>& temperatures() const { return temperature_; }

 private:
  friend class Domain;
  LoadCase(Domain& domain, std::string name) : domain_(&domain), name_(std::move(name)) {}
  LoadCase& body(const std::string& element_set, const BodyLoad& load);
  LoadCase& surface(const std::string& surface, const char* kind, std::vector<double> values);

  Domain* domain_;
  std::string name_;
  std::vector<Nodal> nodal_;
  std::vector<Surface> surface_;
  std::vector<Body> body_;
  std::vector<double> temperature_;
};

}  // namespace voussoir
