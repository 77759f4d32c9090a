#pragma once
#include <array>
#include <vector>

#include <voussoir/framework/domain/shape_topology.hpp>

namespace voussoir {

/// The shape functions of a shape on the host, for interpolating results inside an element and integrating over it.
/// They are computed from the reference nodes alone: the basis consists of the first monomials, by total degree, that
/// are linearly independent on the nodes, and N_a is the combination that is 1 at node a and 0 at the others. For all
/// built-in shapes these are the functions that the elements use.
class ShapeFunctions {
 public:
  /// `shape` must outlive the object; those of shape_topology() do.
  explicit ShapeFunctions(const ShapeTopology& shape);

  const ShapeTopology& shape() const { return *shape_; }  ///< the shape passed to the constructor
  int nodes() const { return shape_->nodes; }             ///< number of nodes of the shape
  /// Writes N_a(ξ) for each node to n[a].
  void values(const std::array<double, 3>& xi, double* n) const;
  /// Writes ∂N_a/∂ξ_k at ξ to g[3 a + k]; zero for directions that the shape does not have.
  void gradients(const std::array<double, 3>& xi, double* g) const;

  /// The point of the reference cell nearest to ξ.
  std::array<double, 3> clamped(std::array<double, 3> xi) const;
  /// The centre of the reference cell.
  std::array<double, 3> middle() const;

  /// A point in the reference cell and its weight.
  struct QuadraturePoint {
    std::array<double, 3> xi;  ///< position in the reference cell; unused coordinates are 0
    double weight;             ///< the weights of a rule sum to the volume of the reference cell
  };
  /// A quadrature rule on the reference cell that integrates products of two shape functions exactly.
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
