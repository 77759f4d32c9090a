#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <voussoir/framework/analysis/linear_soe.hpp>
#include <voussoir/framework/domain/domain.hpp>

namespace voussoir {

/// Values at nodes: one number per component for each node of the domain, in the order of its nodes. NaN where a node
/// has no such value.
struct NodalField {
  std::string name;                     ///< "displacement", "reaction", "stress", …
  std::vector<std::string> components;  ///< "ux", "sxx", "T", …
  std::vector<double> values;           ///< node by node, component by component

  int width() const { return static_cast<int>(components.size()); }  ///< number of components
  /// By indices, which are not checked.
  double at(std::int32_t node, int component) const {
    return values[static_cast<std::size_t>(node) * components.size() + component];
  }
  /// Throws Error (not_found) for a component that the field does not have.
  double at(std::int32_t node, std::string_view component) const { return at(node, component_index(component)); }
  int component_index(std::string_view component) const;  ///< throws Error (not_found)
  /// Largest absolute value of a component and the node (index) where it occurs.
  struct Extreme {
    std::int32_t node = -1;  ///< index; −1 where no node has a value
    double value = 0;        ///< with its sign
  };
  /// Throws Error (not_found); of equal values the first node counts.
  Extreme largest(std::string_view component) const;
};

/// What a field of unknowns is called: "displacement" where ux, uy or uz is among them, "rotation" where only rx, ry,
/// rz are, "temperature" for T; unknowns of users' elements by their own names ("head").
std::string field_name(const std::vector<std::string>& unknowns);

/// Sum of a component over the nodes of a set; nodes without such a value (NaN) do not count. With reactions, the force
/// that the supports of the set exert together. Throws Error (not_found) for a set or a component that does not exist.
double sum_over(const NodalField& field, const Domain& domain, const std::string& node_set, std::string_view component);

/// Values at the points of a block's elements: element by element, point by point, value by value.
struct PointField {
  std::int32_t block = 0;          ///< index of the domain's block
  int points = 0;                  ///< per element
  std::vector<std::string> names;  ///< "x", "sxx", "volume", …
  std::vector<double> values;      ///< elements × points × names

  /// By indices, which are not checked.
  double at(std::int32_t element, int point, int name) const {
    return values[(static_cast<std::size_t>(element) * points + point) * names.size() + name];
  }
  /// By index within the block and name. Throws Error (not_found) for a name that the field does not have.
  double at(std::int32_t element, int point, std::string_view name) const {
    return at(element, point, name_index(name));
  }
  /// By the user's id of the element. Throws Error (not_found) for an element that does not exist or belongs to another
  /// block, for a point beyond `points`, and for a name that the field does not have.
  double at(const Domain& domain, Id element, int point, std::string_view name) const;
  /// Throws Error (not_found) for a name that the field does not have.
  int name_index(std::string_view name) const;
  bool has(std::string_view name) const;  ///< whether it has values of this name
};

/// What one step of an analysis found.
struct StepResult {
  std::string step;      ///< name of the step
  NodalField unknowns;   ///< displacements and rotations, temperatures, or the unknowns of user elements
  NodalField reactions;  ///< forces (heat flows) exerted by supports; NaN at unknowns that are not prescribed
  /// Forces (heat flows) with which the elements resist at each node: external loads and reactions together. At a node
  /// that others depend on by equations and that has no element, the forces of those others.
  NodalField internal_forces;
  double energy = 0;             ///< stored in the elements, thermal strain taken off; 0 for heat and without recovery
  std::vector<double> load_sum;  ///< sum of external loads per unknown
  std::vector<double> reaction_sum;  ///< sum of reactions per unknown
  std::vector<PointField> points;    ///< stresses, strains, fluxes, section forces: one field per block with points
  SolveReport report;                ///< of the solver
};

/// Nodal values of a recovered quantity: carried from the points of each element to its nodes and averaged over the
/// elements of the same material. A node on a border of materials has one value per material, so the result is per
/// material.
struct MaterialField {
  std::string material;  ///< "" for blocks without one
  NodalField field;      ///< NaN at nodes that the material does not touch
};
std::vector<MaterialField> nodal_values(const Domain& domain, const std::vector<PointField>& points,
                                        const std::vector<std::string>& names);

/// sxx syy szz sxy syz sxz → the von Mises equivalent stress.
double von_mises(const std::array<double, 6>& stress);
/// Principal values, largest first, of a symmetric tensor xx yy zz xy yz xz. Shear components are those of the tensor:
/// for strain half the angle, as it is reported here.
std::array<double, 3> principal_values(const std::array<double, 6>& tensor);

/// Adds mises, principal1, principal2 and principal3 of the stress to every point of a field. A field without stress
/// (trusses, heat), or that has them already, stays as it is, so this can be called for all of StepResult::points.
void add_invariants(PointField& field);

/// Nodal stress and its invariants: sxx syy szz sxy syz sxz mises principal1 principal2 principal3.
std::vector<MaterialField> nodal_stress(const Domain& domain, const StepResult& result);
/// Nodal strain: exx eyy ezz exy eyz exz principal1 principal2 principal3.
std::vector<MaterialField> nodal_strain(const Domain& domain, const StepResult& result);
/// Nodal heat flux: qx qy qz magnitude.
std::vector<MaterialField> nodal_flux(const Domain& domain, const StepResult& result);

}  // namespace voussoir
