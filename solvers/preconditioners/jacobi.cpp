#include <voussoir/solvers/detail/free_node.hpp>
#include <voussoir/solvers/preconditioners/inverse_diagonal.hpp>
#include <voussoir/solvers/preconditioners/jacobi.hpp>

namespace voussoir {

int node_block_size(const LinearSOE& soe) {
  constexpr int largest = 6;  // of Backend::block_diagonal()
  const int components = soe.model().device_model().uniform_components();
  return components > 0 && components <= largest ? components : 1;
}

std::unique_ptr<DiagonalOperator> inverse_diagonal(const LinearSOE& soe, int block_size, Precision precision) {
  Backend& backend = soe.model().backend();
  BlockDiagonal diagonal =
      soe.sparse_matrix() ? backend.block_diagonal(*soe.sparse_matrix(), block_size)
                          : backend.block_diagonal(soe.model().device_model(), *soe.element_operator(), block_size);
  try {
    backend.invert(diagonal);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::singular) throw;
    // The backend knows equation numbers; the user knows nodes.
    const std::string prefix = "equation ";
    if (error.where().rfind(prefix, 0) != 0) throw;
    const auto equation = static_cast<std::int32_t>(std::stoll(error.where().substr(prefix.size())));
    detail::require_resistance(soe, equation);
    throw Error(ErrorCode::singular,
                "no element gives this unknown any stiffness; prescribe it, or add an element that does",
                soe.model().equation_label(equation));
  }
  if (precision == Precision::single) backend.to_single(diagonal);
  return std::make_unique<DiagonalOperator>(soe.model().shared_backend(), std::move(diagonal));
}

void JacobiPreconditioner::set_up(const LinearSOE& soe) {
  inverse_.reset();
  inverse_ = inverse_diagonal(soe, 1, precision_);
}

void BlockJacobiPreconditioner::set_up(const LinearSOE& soe) {
  inverse_.reset();
  inverse_ = inverse_diagonal(soe, node_block_size(soe), precision_);
}

}  // namespace voussoir
