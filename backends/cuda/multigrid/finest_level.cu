#include <voussoir/backends/cuda/multigrid/finest_rows.hpp>
#include <voussoir/backends/cuda/multigrid/gathered_nodes.hpp>
#include <voussoir/backends/cuda/multigrid/services.hpp>

// The finest level: the rows of an assembled matrix, by nodes.

namespace voussoir::cuda {

namespace {

const CudaSparseMatrix& own_matrix(const SparseMatrix& matrix) {
  const auto* own = dynamic_cast<const CudaSparseMatrix*>(&matrix);
  if (!own) throw Error(ErrorCode::misuse, "multigrid: the matrix was not made by this backend");
  return *own;
}

/// Height of a node's block, which is that of the matrix where that goes by nodes.
int height_of(const DeviceModel& model, const SparseMatrix& matrix) {
  if (matrix.layout()->size() != model.layout()->size())
    throw Error(ErrorCode::misuse, "multigrid: the matrix has " + std::to_string(matrix.layout()->size()) +
                                       " equations and the model " + std::to_string(model.layout()->size()));
  if (matrix.block_size() == model.uniform_components()) return matrix.block_size();
  if (matrix.block_size() != 1)
    throw Error(ErrorCode::misuse, "multigrid: blocks of " + std::to_string(matrix.block_size()) +
                                       " equations are not those of the model's nodes");
  return model.uniform_components() > 0 ? model.uniform_components() : GatheredNodes(model).most_components();
}

}  // namespace

LevelMatrix CudaMultigrid::rows_of(const DeviceModel& model, const SparseMatrix& matrix) {
  const CudaSparseMatrix& own = own_matrix(matrix);
  LevelMatrix rows;
  rows.rows = rows.columns = model.node_count();
  rows.height = rows.width = height_of(model, matrix);
  if (rows.height != matrix.block_size())
    take_equation_rows(model, own, memory(), rows);
  else if (model.devices() > 1)
    take_gathered_rows(own, memory(), rows);
  else
    take_block_rows(own, memory(), rows);
  return rows;
}

void CudaMultigrid::update_rows(const DeviceModel& model, const SparseMatrix& matrix, LevelMatrix& rows, bool single) {
  const CudaSparseMatrix& own = own_matrix(matrix);
  if (rows.rows != model.node_count() || rows.height != height_of(model, matrix))
    throw Error(ErrorCode::misuse, "multigrid: these rows are not those of the model and the matrix");
  const bool by_blocks = rows.height == matrix.block_size();
  const auto entries = static_cast<std::size_t>(rows.entries());
  if (single && by_blocks) {
    rows.value = Array<double>();
    if (rows.single_value.size() != entries) rows.single_value = array<float>(rows.entries());
  } else {
    rows.single_value = Array<float>();
    if (rows.value.size() != entries) rows.value = array<double>(rows.entries());
  }
  if (!by_blocks)
    refill_equation_rows(model, own, memory(), rows);
  else if (model.devices() > 1)
    refill_gathered_rows(own, memory(), rows);
  else
    refill_block_rows(own, memory(), rows);
  if (single && !by_blocks) to_single(rows);
}

}  // namespace voussoir::cuda
