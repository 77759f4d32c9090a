#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/operator.hpp>

namespace voussoir {

/// An operator that computes on the host, usable on any backend: vectors are copied from the devices and back. Derive
/// from it and define multiply() for a method of one's own.
///
/// The operator acts on some equations of a layout, those of the unknowns, and is the identity on all others.
class HostOperator : public Operator {
 public:
  /// On the vectors of a layout. `equations` has the equation of each unknown; empty for all equations in order.
  explicit HostOperator(std::shared_ptr<const Layout> layout, std::vector<std::int32_t> equations = {});

  /// y = A x over the unknowns, for one vector. The spans do not overlap; y has any values before.
  virtual void multiply(std::span<const double> x, std::span<double> y) const = 0;

  const std::shared_ptr<const Layout>& layout() const override { return layout_; }
  std::size_t unknowns() const { return unknowns_; }  ///< length of the vectors of multiply()
  void apply(const Vector& x, Vector& y) const override;
  double apply_dot(const Vector& x, Vector& y) const override;
  std::size_t bytes_moved() const override { return bytes() + 2 * sizeof(double) * unknowns_; }

 private:
  std::shared_ptr<const Layout> layout_;
  std::vector<std::int32_t> equations_;
  std::size_t unknowns_;
};

/// A layout for `size` unknowns on the devices of a backend, in equal ranges and without ghosts: for vectors on the
/// interface and other systems that are not those of a model. With `coupled`, every device has all unknowns of the
/// others as ghosts, as a dense matrix needs.
std::shared_ptr<const Layout> plain_layout(Backend& backend, std::int64_t size, bool coupled = false);

}  // namespace voussoir
