#pragma once
#include <memory>

#include <voussoir/framework/analysis/linear_soe.hpp>

namespace voussoir::detail {

/// z = D r with D block diagonal.
class DiagonalOperator final : public Operator {
 public:
  DiagonalOperator(std::shared_ptr<Backend> backend, BlockDiagonal diagonal)
      : backend_(std::move(backend)), diagonal_(std::move(diagonal)) {}

  const std::shared_ptr<const Layout>& layout() const override { return diagonal_.layout; }
  void apply(const Vector& x, Vector& y) const override { backend_->apply(diagonal_, x, y); }
  double apply_dot(const Vector& x, Vector& y) const override { return backend_->apply_dot(diagonal_, x, y); }
  std::size_t bytes() const override {
    std::size_t sum = 0;
    for (const auto& b : diagonal_.blocks) sum += b.bytes();
    return sum;
  }
  std::size_t bytes_moved() const override { return bytes() + 2 * sizeof(double) * static_cast<std::size_t>(diagonal_.layout->size()); }
  std::string describe() const override { return "diagonal blocks of size " + std::to_string(diagonal_.block_size); }

 private:
  std::shared_ptr<Backend> backend_;
  BlockDiagonal diagonal_;
};

/// The inverted diagonal blocks of an SOE's matrix; a singular block is an Error that names node and unknown.
std::unique_ptr<DiagonalOperator> inverse_diagonal(const LinearSOE& soe, int block_size);

}  // namespace voussoir::detail
