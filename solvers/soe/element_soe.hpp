#pragma once
#include <memory>
#include <vector>

#include <voussoir/framework/analysis/linear_soe.hpp>

namespace voussoir {

/// A system whose matrix is stored as element matrices and never assembled. Products are computed element by element,
/// in gather or scatter form.
class ElementSOE : public LinearSOE {
 public:
  explicit ElementSOE(ElementProduct product = ElementProduct::gather) : product_(product) {}  ///< form of the products
  std::string name() const override { return product_ == ElementProduct::scatter ? "element-scatter" : "element"; }
  void form(const ElementState& state, const MatrixTerms& terms) override;
  const Operator& matrix() const override;
  const ElementOperator* element_operator() const override { return operator_.get(); }
  /// The assembled matrix, computed from the state and the terms of the last form().
  std::unique_ptr<SparseMatrix> assembled() const override;

 protected:
  void size_changed() override;

 private:
  ElementProduct product_;
  std::unique_ptr<ElementOperator> operator_;
  KeptElementState state_;  // of the last form()
  MatrixTerms terms_;
  std::vector<double> batch_factors_, mass_factors_;
  bool is_formed_ = false;
};

/// A system whose tangents are stored at the integration points of the elements: less than element matrices for all but
/// the smallest elements, and a product evaluates neither geometry nor material. For laws that are expensive to
/// evaluate (plasticity, energies).
class PointSOE : public ElementSOE {
 public:
  PointSOE() : ElementSOE(ElementProduct::points) {}
  std::string name() const override { return "point"; }
};

/// A matrix-free system: every product integrates the elements again. Needs the least memory, and on a GPU often the
/// least time.
class MatrixFreeSOE : public ElementSOE {
 public:
  MatrixFreeSOE() : ElementSOE(ElementProduct::matrix_free) {}
  std::string name() const override { return "matrix-free"; }
};

}  // namespace voussoir
