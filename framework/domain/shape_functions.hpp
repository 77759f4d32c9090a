#pragma once
#include <array>
#include <vector>

#include <voussoir/framework/domain/shape_topology.hpp>

namespace voussoir {

/// The shape functions of a shape, for work on the host: interpolation of results inside an element, and integrals over
/// it. They follow from the shape's reference nodes alone: the polynomials are the first monomials, by total degree,
/// that are independent on the nodes, and N_a is the one that is 1 at node a and 0 at the others. For all shapes here
/// these are the functions that the elements themselves use.
class ShapeFunctions {
 public:
  /// `shape` must outlive the object; those of shape_topology() do.
  explicit ShapeFunctions(const ShapeTopology& shape);

  const ShapeTopology& shape() const { return *shape_; }  ///< as given
  int nodes() const { return shape_->nodes; }             ///< of the shape
  /// N_a at ξ, for each node.
  void values(const std::array<double, 3>& xi, double* n) const;
  /// ∂N_a/∂ξ_k at ξ, three numbers for each node; those of directions that the shape does not have are 0.
  void gradients(const std::array<double, 3>& xi, double* g) const;

  /// The nearest ξ inside the reference cell.
  std::array<double, 3> clamped(std::array<double, 3> xi) const;
  /// The middle of the reference cell.
  std::array<double, 3> middle() const;

  /// A point in the reference cell and its weight.
  struct QuadraturePoint {
    std::array<double, 3> xi;  ///< in the reference cell
    double weight;             ///< sums up to the volume of the reference cell
  };
  /// A rule on the reference cell that integrates products of two shape functions exactly.
  const std::vector<QuadraturePoint>& rule() const { return rule_; }

 private:
  using Exponents = std::array<int, 3>;
  void choose_monomials();
  void make_rule();

  const ShapeTopology* shape_;
  std::vector<Exponents> monomials_;  // as many as nodes
  std::vector<double> coefficients_;  // nodes × monomials: N_a = Σ c_aj m_j
  std::vector<QuadraturePoint> rule_;
};

}  // namespace voussoir
