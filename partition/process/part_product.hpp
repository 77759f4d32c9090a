#pragma once
#include <functional>
#include <memory>
#include <span>

#include <voussoir/backends/operator.hpp>
#include <voussoir/backends/vector.hpp>

namespace voussoir {

/// What SystemShare::product is for a part with elements: a product of vectors on the host, computed by the part's
/// backend. Engines that keep their vectors on that backend use its operator instead, and copy nothing:
///
///   if (const PartProduct* own = share.product.target<PartProduct>()) own->matrix().apply(x, y);
///
/// Rows of equations that are not free are undefined.
struct PartProduct {
  std::function<const Operator&()> matrix;  ///< the operator as it is at the time of the call
  std::shared_ptr<Vector> from, to;         ///< room on the backend for the vectors of a product

  void operator()(std::span<const double> x, std::span<double> y) const {
    from->from_host(x);
    matrix().apply(*from, *to);
    to->to_host(y);
  }
};

}  // namespace voussoir
