#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <voussoir/framework/domain/domain.hpp>
#include <voussoir/framework/domain/shape_functions.hpp>

namespace voussoir {

/// A place inside an element.
struct ElementPoint {
  ElementRef element;        ///< that contains the point
  std::array<double, 3> xi;  ///< in the reference cell of the element's shape
};

/// Finds the elements of a domain that contain a point. The domain must outlive it and keep its nodes and elements.
class PointLocator {
 public:
  /// Sorts the elements of a domain, which must outlive the locator and not change.
  explicit PointLocator(const Domain& domain);

  const Domain& domain() const { return *domain_; }  ///< as given
  /// The elements that contain the point: one for each material that meets there, in the order of the materials' names.
  /// Solids and plane elements take precedence over lines. Empty if the point is
  /// outside of the body. A millionth of the body's size counts as inside, since coordinates are rounded.
  std::vector<ElementPoint> find(const std::array<double, 3>& point) const;
  /// How far a point is from the body, as corners of elements span it.
  double distance(const std::array<double, 3>& point) const;
  /// The shape functions of a block's elements.
  const ShapeFunctions& functions(std::int32_t block) const {
    return functions_.at(domain_->block(block).type().shape());
  }

 private:
  bool contains(ElementRef element, const std::array<double, 3>& point, ElementPoint& found) const;
  std::size_t cell_of(const std::array<double, 3>& point) const;
  std::array<std::int64_t, 3> cell_index(const std::array<double, 3>& point) const;

  const Domain* domain_;
  std::map<std::string, ShapeFunctions> functions_;  // by shape
  std::array<double, 3> low_{}, high_{};
  double tolerance_ = 0;
  std::array<std::int64_t, 3> cells_{1, 1, 1};
  std::vector<std::int64_t> first_;     // of each cell of a grid over the body,
  std::vector<ElementRef> candidates_;  // the elements whose box touches it
};

}  // namespace voussoir
