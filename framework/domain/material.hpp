#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace voussoir {

/// Rayleigh damping: C = mass · M + stiffness · K, usually written α M + β K.
struct RayleighDamping {
  double mass = 0;                                          ///< α, in 1/time
  double stiffness = 0;                                     ///< β, in time
  bool operator==(const RayleighDamping&) const = default;  ///< whether both coefficients are equal
};

/// A material: named numbers, each constant or a table over temperature.
///
///   Material steel("steel");
///   steel.set("young", 210e9).set("poisson", 0.3).set("density", 7850);
///   steel.set_table("expansion", {{20, 1.1e-5}, {300, 1.3e-5}});
///
/// Each element type defines the parameters that it needs. To compute parameters in another way, derive from Material
/// and override value() (and temperatures(), if they depend on temperature).
class Material {
 public:
  /// `name` identifies the material in results and messages; it should be unique in a model.
  explicit Material(std::string name) : name_(std::move(name)) {}
  virtual ~Material() = default;

  const std::string& name() const { return name_; }  ///< identifies the material in results and messages

  /// Sets a constant parameter. A name that no element type uses is taken for a misspelling: it is an Error when a
  /// block with the material is built (ElementBlock::parameters()).
  Material& set(const std::string& parameter, double value);
  /// Sets a parameter by (temperature, value) pairs in ascending temperature. Values are interpolated linearly, and
  /// constant beyond both ends.
  Material& set_table(const std::string& parameter, std::vector<std::pair<double, double>> table);

  /// The names that were set, which are checked against those of all element types. Override it if set() is also used
  /// for numbers that only value() reads.
  virtual std::vector<std::string> parameter_names() const;
  /// Whether the material defines a parameter.
  virtual bool has(std::string_view parameter) const;
  /// The value of a parameter at a temperature. A parameter that the material does not define is an Error (not_found).
  virtual double value(std::string_view parameter, double temperature) const;
  /// The temperatures, ascending, between which all parameters are linear; empty if none depends on temperature.
  virtual std::vector<double> temperatures() const;
  /// Sets the reference temperature of the secant coefficient of thermal expansion: thermal strain is
  /// α(T) (T − reference) − α(T₀) (T₀ − reference), with T₀ the initial temperature. It has no effect if α is constant.
  /// The default is the Domain's reference temperature.
  Material& set_expansion_reference(double temperature);
  /// The temperature set by set_expansion_reference(), if any.
  virtual std::optional<double> expansion_reference() const { return expansion_reference_; }
  /// Sets the damping of the elements of this material, in addition to that of the whole model
  /// (Integrator::set_damping()). Only integrators with velocities use it; statics does not.
  Material& set_damping(const RayleighDamping& damping);
  virtual RayleighDamping damping() const { return damping_; }  ///< the damping set by set_damping(), else zero
  /// The law of the material if it is not the element's default: "orthotropic" changes the element type solid.hex8 to
  /// orthotropic_solid.hex8. Empty for the default.
  virtual std::string law() const { return {}; }

 private:
  std::string name_;
  std::map<std::string, std::vector<std::pair<double, double>>, std::less<>> parameters_;
  std::optional<double> expansion_reference_;
  RayleighDamping damping_;
};

/// A material with isotropic properties. Those that a model does not use may be omitted.
class IsotropicMaterial : public Material {
 public:
  /// Young's modulus, Poisson's ratio, density (mass per volume) and coefficient of thermal expansion, in consistent
  /// units. Further parameters, such as "conductivity", are added by set().
  IsotropicMaterial(std::string name, double young, double poisson, double density = 0, double expansion = 0);
};

/// A material with different properties along the three axes of the element block's Orientation: E1 E2 E3 nu12 nu13
/// nu23 G12 G13 G23 for elasticity, k1 k2 k3 for heat conduction.
class OrthotropicMaterial : public Material {
 public:
  using Material::Material;
  std::string law() const override { return "orthotropic"; }
};

}  // namespace voussoir
