#include <voussoir/backends/cuda/multigrid/finest_rows.hpp>
#include <voussoir/backends/cuda/multigrid/services.hpp>
#include <voussoir/backends/detail/node_table.hpp>

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
  return model.uniform_components() > 0 ? model.uniform_components()
                                        : voussoir::detail::NodeTable(model).most_components();
}

}  // namespace

LevelMatrix CudaMultigrid::rows_of(const DeviceModel& model, const SparseMatrix& matrix) {
  const CudaSparseMatrix& own = own_matrix(matrix);
  LevelMatrix rows;
  rows.rows = rows.columns = model.node_count();
  rows.height = rows.width = height_of(model, matrix);
  if (model.devices() > 1)
    take_gathered_rows(model, matrix, memory(), rows);
  else if (rows.height == matrix.block_size())
    take_block_rows(own, memory(), rows);
  else
    take_equation_rows(model, own, memory(), rows);
  return rows;
}

void CudaMultigrid::update_rows(const DeviceModel& model, const SparseMatrix& matrix, LevelMatrix& rows, bool single) {
  const CudaSparseMatrix& own = own_matrix(matrix);
  if (rows.rows != model.node_count() || rows.height != height_of(model, matrix))
    throw Error(ErrorCode::misuse, "multigrid: these rows are not those of the model and the matrix");
  const bool by_blocks = model.devices() == 1 && rows.height == matrix.block_size();
  if (single && by_blocks) {
    rows.value = Array<double>();
    if (static_cast<std::int64_t>(rows.single_value.size()) != rows.entries())
      rows.single_value = array<float>(rows.entries());
    refill_block_rows(own, memory(), rows);
    return;
  }
  rows.single_value = Array<float>();
  if (static_cast<std::int64_t>(rows.value.size()) != rows.entries()) rows.value = array<double>(rows.entries());
  if (model.devices() > 1)
    refill_gathered_rows(model, matrix, memory(), rows);
  else if (by_blocks)
    refill_block_rows(own, memory(), rows);
  else
    refill_equation_rows(model, own, memory(), rows);
  if (single) to_single(rows);
}

}  // namespace voussoir::cuda
