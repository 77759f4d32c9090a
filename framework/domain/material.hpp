#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace voussoir {

/// Rayleigh's damping: C = mass · M + stiffness · K, with the K of the elements (decks and papers: α and β).
struct RayleighDamping {
  double mass = 0;                                          ///< α, in 1/time
  double stiffness = 0;                                     ///< β, in time
  bool operator==(const RayleighDamping&) const = default;  ///< the same coefficients
};

/// A material: named numbers, each constant or a table over temperature.
///
///   Material steel("steel");
///   steel.set("young", 210e9).set("poisson", 0.3).set("density", 7850);
///   steel.set_table("expansion", {{20, 1.1e-5}, {300, 1.3e-5}});
///
/// Element types name the parameters they need. To compute parameters in another way, derive from Material and override
/// value() (and temperatures(), if they vary).
class Material {
 public:
  /// `name` keeps materials apart in results; it should be unique in a model.
  explicit Material(std::string name) : name_(std::move(name)) {}
  virtual ~Material() = default;

  const std::string& name() const { return name_; }  ///< for messages and results

  /// Sets a parameter. A name that no element type has is an Error when a block with the material is built
  /// (ElementBlock::parameters()), since it is misspelt.
  Material& set(const std::string& parameter, double value);
  /// (temperature, value) pairs, ascending in temperature; linear between, constant beyond the ends.
  Material& set_table(const std::string& parameter, std::vector<std::pair<double, double>> table);

  /// The names that were set. They are compared with those of all element types; override it where set() is also used
  /// for numbers that only value() reads.
  virtual std::vector<std::string> parameter_names() const;
  /// Whether the material defines a parameter.
  virtual bool has(std::string_view parameter) const;
  /// A parameter at a temperature. Throws Error (not_found) for one it does not know.
  virtual double value(std::string_view parameter, double temperature) const;
  /// Temperatures between which all parameters are linear, ascending; empty where nothing depends on temperature.
  virtual std::vector<double> temperatures() const;
  /// Reference temperature of the (secant) expansion coefficient: thermal strain is
  /// α(T) (T − reference) − α(T₀) (T₀ − reference), T₀ the initial temperature. It does not matter where α is constant.
  /// Without it, the Domain's reference temperature is taken.
  Material& set_expansion_reference(double temperature);
  /// Of set_expansion_reference(); none where it was not set.
  virtual std::optional<double> expansion_reference() const { return expansion_reference_; }
  /// Damping of the elements of this material, in addition to that of the whole model (Integrator::set_damping()). It
  /// acts where an integrator has rates; statics has none.
  Material& set_damping(const RayleighDamping& damping);
  virtual RayleighDamping damping() const { return damping_; }  ///< of set_damping(); zero unless set
  /// The law of this material if it differs from the element's default: "orthotropic" changes the element type
  /// solid.hex8 to orthotropic_solid.hex8. Empty: the element's default.
  virtual std::string law() const { return {}; }

 private:
  std::string name_;
  std::map<std::string, std::vector<std::pair<double, double>>, std::less<>> parameters_;
  std::optional<double> expansion_reference_;
  RayleighDamping damping_;
};

/// Isotropic linear elasticity and heat conduction. Properties that a model does not use may be omitted.
class IsotropicMaterial : public Material {
 public:
  /// Young's modulus, Poisson's ratio, mass per volume, coefficient of thermal expansion, in consistent units; further
  /// parameters by set().
  IsotropicMaterial(std::string name, double young, double poisson, double density = 0, double expansion = 0);
};

/// Different along three axes (E1 E2 E3 nu12 nu13 nu23 G12 G13 G23; k1 k2 k3): those of the element block's
/// Orientation.
class OrthotropicMaterial : public Material {
 public:
  using Material::Material;
  std::string law() const override { return "orthotropic"; }
};

}  // namespace voussoir
