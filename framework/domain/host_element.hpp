#pragma once
#include <voussoir/backends/element_program.hpp>

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

// Elements written in the classical style: a class derived from HostElement whose virtual functions compute one element
// at a time on the CPU. For prototypes and existing formulations; a kernel (elements/kernel/element_kernel.hpp) is
// faster and runs on every backend natively.
//
//   class Bar : public voussoir::HostElement {
//    public:
//     int nodes() const override { return 2; }
//     std::vector<std::string> unknown_names() const override { return {"ux", "uy", "uz"}; }
//     std::vector<std::string> parameter_names() const override { return {"young", "area"}; }
//     void tangent(const voussoir::HostElementData& e, std::span<double> matrix) const override;
//   };
//   voussoir::register_host_element("bar", "line2", std::make_shared<Bar>());

namespace voussoir {

/// What an element sees of itself.
struct HostElementData {
  std::span<const std::array<double, 3>> x;  ///< node positions
  std::span<const double> u;                 ///< unknowns, node by node
  /// In the order of parameter_names(), at the mean nodal temperature. Those whose names begin with "expansion" are the
  /// mean coefficients between the initial temperature and this one: times the change of temperature, thermal strain.
  std::span<const double> parameters;
  /// Of each node; empty where the model has none. It is the unknown T where the model has that unknown.
  std::span<const double> temperature;
  std::span<const double> initial_temperature;  ///< of each node, where thermal strain is zero; empty with temperature
  double reference_temperature = 0;             ///< the mean initial temperature of the nodes
};

/// One element's mathematics. Functions are const and may be called from several threads at once. Matrices are full,
/// by rows, dofs × dofs with the unknowns node by node, and zero when a function is called; so are vectors.
class HostElement {
 public:
  virtual ~HostElement() = default;

  virtual int nodes() const = 0;  ///< of one element; constant
  /// One name per unknown of a node, e.g. {"ux", "uy", "uz"}.
  virtual std::vector<std::string> unknown_names() const = 0;
  /// Numbers that a material or section must supply.
  virtual std::vector<std::string> parameter_names() const { return {}; }

  /// The tangent stiffness. Where symmetric(), an unsymmetric one is an Error.
  virtual void tangent(const HostElementData& element, std::span<double> matrix) const = 0;
  /// Internal minus external forces. Default: tangent times unknowns.
  virtual void residual(const HostElementData& element, std::span<double> force) const;

  /// False where tangents are not symmetric: the system is then solved by methods for such systems.
  virtual bool symmetric() const { return true; }
  /// True promises a residual that is linear in the unknowns: an analysis then need not check its balance again.
  virtual bool linear() const { return false; }

  virtual bool has_mass() const { return false; }  ///< whether mass() is defined
  /// Consistent mass; called where has_mass(). A lumped mass is made of it by HRZ lumping.
  virtual void mass(const HostElementData& element, std::span<double> matrix) const;

  virtual bool takes_body_load() const { return false; }  ///< whether body_load() is defined
  /// External force of a body load; called where takes_body_load().
  virtual void body_load(const HostElementData& element, const BodyLoad& load, std::span<double> force) const;

  /// Names of the results that recover() writes at each of points() points. Default: none.
  virtual std::vector<std::string> recovered_names() const { return {}; }
  /// Points of an element; constant. Default: one if anything is recovered.
  virtual int points() const { return recovered_names().empty() ? 0 : 1; }
  /// Results at the points, point by point in the order of recovered_names(). Called where there are names; the default
  /// throws Error (misuse).
  virtual void recover(const HostElementData& element, std::span<double> results) const;

  /// A positive number unless the element is inside out or has no size; such an element is reported to the user.
  virtual double health(const HostElementData&) const { return 1; }
};

/// A HostElement as backends see it: one element at a time, by virtual calls.
class HostElementProgram final : public ElementProgram {
 public:
  /// `name` of the element type, for messages.
  HostElementProgram(std::string name, std::shared_ptr<const HostElement> element);

  const std::string& name() const override { return name_; }
  Route route() const override { return Route::host; }
  int nodes() const override { return nodes_; }
  int components() const override { return static_cast<int>(unknown_names_.size()); }
  std::span<const std::string> unknown_names() const override {
    return unknown_names_;
  }  ///< as declared by the element
  std::span<const std::string> parameter_names() const override {
    return parameter_names_;
  }  ///< as declared by the element
  int lanes() const override { return 1; }
  bool has_mass() const override { return element_->has_mass(); }                ///< as declared by the element
  bool takes_body_load() const override { return element_->takes_body_load(); }  ///< as declared by the element
  bool linear() const override { return element_->linear(); }
  bool symmetric() const override { return element_->symmetric(); }

  ElementStatus tangent(const ElementView&, int first, int count, double* out) const override;
  ElementStatus mass(const ElementView&, MassKind, int first, int count, double* out) const override;
  ElementStatus residual(const ElementView&, int first, int count, double* out) const override;
  ElementStatus action(const ElementView&, const double* direction, int first, int count, double* out) const override;
  ElementStatus body_load(const ElementView&, const BodyLoad&, int first, int count, double* out) const override;

  int points() const override { return points_; }
  std::span<const std::string> recovered_names() const override {
    return recovered_names_;
  }  ///< as declared by the element
  ElementStatus recover(const ElementView&, int first, int count, double* out) const override;
  std::span<const double> extrapolation() const override { return {}; }

  /// The element that this program calls.
  const HostElement& element() const { return *element_; }

 private:
  /// Calls compute(element data, node numbers of the element, its result) for each element.
  template <class Compute>
  ElementStatus run(const ElementView&, int first, int count, int values, double* out, const Compute& compute) const;
  /// Throws Error (misuse) where a matrix is not symmetric.
  void require_symmetric(std::span<const double> full, const char* what) const;
  /// Stores a matrix as backends expect it: its upper triangle, or all of it where symmetric() is false.
  void store(std::span<const double> full, const char* what, double* out) const;

  std::string name_;
  std::shared_ptr<const HostElement> element_;
  int nodes_;
  int points_;
  std::vector<std::string> unknown_names_, parameter_names_, recovered_names_;
};

/// Adds a HostElement to the ElementLibrary under a name. `shape` names its topology, "" where it has none.
///
/// A type stays until the process ends, so a name is given once: registering the same object again is harmless, but
/// any other under that name is an Error, bad_input, even where it is of the same class, for two objects of one class
/// may compute different things. Register once and keep the object, or give each object a unique name.
void register_host_element(const std::string& name, const std::string& shape,
                           std::shared_ptr<const HostElement> element);

}  // namespace voussoir
