#pragma once
#include <memory>
#include <string>
#include <utility>

#include <voussoir/backends/backend.hpp>

namespace voussoir {

/// z = D r with D block diagonal: Jacobi preconditioners, with the inverted diagonal of a matrix. A backend's cg()
/// recognises this operator and fuses it with its own loops.
class DiagonalOperator final : public Operator {
 public:
  /// Shares ownership of the backend.
  DiagonalOperator(std::shared_ptr<Backend> backend, BlockDiagonal diagonal)
      : backend_(std::move(backend)), diagonal_(std::move(diagonal)) {}

  bool replayable() const override { return true; }
  const std::shared_ptr<const Layout>& layout() const override { return diagonal_.layout; }
  void apply(const Vector& x, Vector& y) const override { backend_->apply(diagonal_, x, y); }
  double apply_dot(const Vector& x, Vector& y) const override { return backend_->apply_dot(diagonal_, x, y); }
  std::size_t bytes() const override {
    std::size_t sum = 0;
    for (const auto& b : diagonal_.blocks) sum += b.bytes();
    for (const auto& b : diagonal_.single_blocks) sum += b.bytes();
    return sum;
  }
  std::size_t bytes_moved() const override {
    return bytes() + 2 * sizeof(double) * static_cast<std::size_t>(diagonal_.layout->size());
  }
  std::string describe() const override {
    return "diagonal blocks of size " + std::to_string(diagonal_.block_size) +
           (diagonal_.single_blocks.empty() ? "" : " in single precision");
  }

  const BlockDiagonal& diagonal() const { return diagonal_; }  ///< the blocks of D

 private:
  std::shared_ptr<Backend> backend_;
  BlockDiagonal diagonal_;
};

}  // namespace voussoir
