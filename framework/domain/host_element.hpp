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

/// The data of one element, passed to the functions of HostElement. Spans are valid during the call.
struct HostElementData {
  std::span<const std::array<double, 3>> x;  ///< coordinates of each node
  std::span<const double> u;                 ///< unknowns, node by node
  /// Values in the order of parameter_names(), at the mean nodal temperature. Parameters whose names begin with
  /// "expansion" are mean coefficients between the initial temperature and this one: multiplied by the temperature
  /// change they give the thermal strain.
  std::span<const double> parameters;
  /// Temperature of each node; empty if the model has no temperatures. The unknown T, if the model has it.
  std::span<const double> temperature;
  /// Temperature of each node at which thermal strain is zero; empty if `temperature` is.
  std::span<const double> initial_temperature;
  double reference_temperature = 0;  ///< the mean initial temperature of the nodes
};

/// Base class of elements written with virtual functions. Functions are const and may be called from several threads at
/// once. Matrices are full, by rows, dofs × dofs with the unknowns ordered node by node. Matrices and vectors are
/// filled with zeros before a function is called.
class HostElement {
 public:
  virtual ~HostElement() = default;

  virtual int nodes() const = 0;  ///< nodes per element; must not change
  /// One name per unknown of a node, e.g. {"ux", "uy", "uz"}.
  virtual std::vector<std::string> unknown_names() const = 0;
  /// Names of the parameters that the material or section must define.
  virtual std::vector<std::string> parameter_names() const { return {}; }

  /// The tangent stiffness. If symmetric() is true, an unsymmetric matrix is an Error (misuse).
  virtual void tangent(const HostElementData& element, std::span<double> matrix) const = 0;
  /// Internal minus external forces. Default: tangent times unknowns.
  virtual void residual(const HostElementData& element, std::span<double> force) const;

  /// False if tangents are not symmetric: the system is then solved by methods for unsymmetric matrices.
  virtual bool symmetric() const { return true; }
  /// True if the residual is linear in the unknowns, so that an analysis solves once and does not check the balance.
  virtual bool linear() const { return false; }

  virtual bool has_mass() const { return false; }  ///< whether mass() is overridden
  /// Consistent mass; called only if has_mass(). Lumped masses are derived from it by HRZ lumping.
  virtual void mass(const HostElementData& element, std::span<double> matrix) const;

  virtual bool takes_body_load() const { return false; }  ///< whether body_load() is overridden
  /// External force of a body load; called only if takes_body_load().
  virtual void body_load(const HostElementData& element, const BodyLoad& load, std::span<double> force) const;

  /// Names of the results that recover() writes at each of points() points. Default: none.
  virtual std::vector<std::string> recovered_names() const { return {}; }
  /// Points per element; must not change. Default: one if anything is recovered.
  virtual int points() const { return recovered_names().empty() ? 0 : 1; }
  /// Results at the points, point by point in the order of recovered_names(). Called only if there are names; the
  /// default throws Error (misuse).
  virtual void recover(const HostElementData& element, std::span<double> results) const;

  /// Positive for a valid element; zero or negative for one that is inside out or has no size, which is reported as an
  /// Error (inverted).
  virtual double health(const HostElementData&) const { return 1; }
};

/// The ElementProgram of a HostElement, with one virtual call per element. Members whose meaning the base class defines
/// pass on what the element declares.
class HostElementProgram final : public ElementProgram {
 public:
  /// `name` is that of the element type, for messages. Sizes and names are read from the element once, here.
  HostElementProgram(std::string name, std::shared_ptr<const HostElement> element);

  const std::string& name() const override { return name_; }
  Route route() const override { return Route::host; }
  int nodes() const override { return nodes_; }
  int components() const override { return static_cast<int>(unknown_names_.size()); }
  std::span<const std::string> unknown_names() const override { return unknown_names_; }
  std::span<const std::string> parameter_names() const override { return parameter_names_; }
  int lanes() const override { return 1; }
  bool has_mass() const override { return element_->has_mass(); }
  bool takes_body_load() const override { return element_->takes_body_load(); }
  bool linear() const override { return element_->linear(); }
  bool symmetric() const override { return element_->symmetric(); }

  ElementStatus tangent(const ElementView&, int first, int count, double* out) const override;
  ElementStatus mass(const ElementView&, MassKind, int first, int count, double* out) const override;
  ElementStatus residual(const ElementView&, int first, int count, double* out) const override;
  ElementStatus action(const ElementView&, const double* direction, int first, int count, double* out) const override;
  ElementStatus body_load(const ElementView&, const BodyLoad&, int first, int count, double* out) const override;

  int points() const override { return points_; }
  std::span<const std::string> recovered_names() const override { return recovered_names_; }
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

/// Adds a HostElement to the ElementLibrary under a name. `shape` is the name of a ShapeTopology, or "" if it has none.
///
/// A type stays registered until the process ends. Registering the same object again has no effect; registering another
/// object under the same name is an Error (bad_input), even if it is of the same class, because two objects of one
/// class may compute different things. Register once and keep the object, or give each object a unique name.
void register_host_element(const std::string& name, const std::string& shape,
                           std::shared_ptr<const HostElement> element);

}  // namespace voussoir
