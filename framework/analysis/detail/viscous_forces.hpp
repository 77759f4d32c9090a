#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include <voussoir/framework/analysis/central_differences.hpp>

namespace voussoir::detail {

/// The forces of bulk viscosity of all solid elements of a model, computed on the host. An element has one rate of
/// volumetric strain, that at its centre; in blocks that are not linear, it is that of the deformed element.
///
/// Density and wave speed follow from the element itself: with its lumped mass m and its tangent K at rest,
/// c² = max uᵀKu / m over the uniaxial strains u = x_i e_i. The characteristic length L = 2 / √(n λ), with λ the
/// largest eigenvalue of Σ ∇N ⊗ ∇N at the centre of an element of n nodes, is the shortest edge of a brick: L / c is
/// the time in which a dilatational wave crosses the element.
class ViscousForces {
 public:
  /// Throws Error (bad_input) that names the block with solid elements for which there is no viscosity: those with
  /// other than 4, 6 or 8 nodes, and plane and axisymmetric ones. Trusses, beams, springs and masses have none.
  ViscousForces(const AnalysisModel& model, const BulkViscosity& coefficients);

  /// f = forces at displacements u and velocities v, on all equations. Throws Error (bad_input) that names an inverted
  /// element.
  void form(const Vector& u, const Vector& v, Vector& f);
  /// CentralDifferences::viscous_ratio() of the last call of form().
  double largest_ratio() const { return largest_ratio_; }
  void set_largest_ratio(double ratio) { largest_ratio_ = ratio; }  ///< of a saved state

  /// The damping matrix of the linear term with the coefficient 1: gradients of the volume and a factor per element.
  struct Matrix {
    std::vector<double> gradient;  ///< ∇N at the centres, 3 per node of each element
    std::vector<double> factor;    ///< of each element
  };
  Matrix unit_matrix(const Vector& u) const;                              ///< at displacements u
  void multiply(const Matrix& matrix, const Vector& x, Vector& y) const;  ///< y = C x on all equations

 private:
  /// The elements of one block.
  struct Group {
    int block = 0;
    int nodes = 8;
    bool deforms = false;            // whether elements are evaluated in their deformed shape
    std::vector<std::int32_t> node;  // places in node_equation_, element by element
    std::vector<double> mass, speed;
    std::size_t first_entry = 0;    // of its elements in lists over nodes of elements
    std::size_t first_element = 0;  // in lists over elements
  };
  /// An element at its centre.
  struct Centre {
    double gradient[8][3];
    double volume;
    double length;
  };
  void take_block(std::size_t batch, Group& group);
  void find_moduli(std::size_t batch, Group& group) const;
  void list_entries();
  Centre centre_of(const Group& group, std::size_t element, const std::vector<double>& u) const;
  template <class Visit>
  void over_elements(const Visit& visit) const;
  void sum_to_equations(const std::vector<double>& forces, Vector& f) const;
  [[noreturn]] void refuse_element(const Group& group, std::size_t element, const char* text) const;

  const AnalysisModel& model_;
  BulkViscosity coefficients_;
  std::vector<Group> groups_;
  std::vector<std::array<std::int32_t, 3>> node_equation_;  // of ux, uy, uz
  std::vector<double> node_position_;                       // 3 per node
  std::vector<std::size_t> first_at_;                       // of each node in entry_at_, and the total
  std::vector<std::size_t> entry_at_;                       // entries of elements at each node, in element order
  std::size_t entries_ = 0, elements_ = 0;
  double largest_ratio_ = 0;
};

}  // namespace voussoir::detail
