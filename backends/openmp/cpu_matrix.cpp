#include <voussoir/backends/openmp/cpu_matrix.hpp>

#include <algorithm>

#include <voussoir/backends/openmp/checks.hpp>

namespace voussoir::cpu {

std::vector<std::int32_t> share_pieces(const std::int64_t* start, std::int32_t rows, std::int32_t rows_per_piece,
                                       int threads) {
  const std::int32_t pieces = (rows + rows_per_piece - 1) / rows_per_piece;
  std::vector<std::int32_t> first(static_cast<std::size_t>(threads) + 1, pieces);
  first[0] = 0;
  std::int32_t piece = 0;
  for (int t = 1; t < threads; ++t) {
    const std::int64_t goal = start[rows] / threads * t;
    while (piece < pieces && start[std::min(rows, piece * rows_per_piece)] < goal) ++piece;
    first[static_cast<std::size_t>(t)] = piece;
  }
  return first;
}

CpuMatrix::CpuMatrix(std::shared_ptr<const Layout> layout, int block_size, int threads)
    : layout_(std::move(layout)), block_size_(block_size), threads_(threads) {
  if (block_size_ < 1 || block_size_ > 6)
    throw Error(ErrorCode::misuse, "block sizes go from 1 to 6, not " + std::to_string(block_size_));
  for (int d = 0; d < layout_->devices(); ++d)
    if (layout_->owned(d) % block_size_ != 0 || layout_->ghosts(d) % block_size_ != 0)
      throw Error(ErrorCode::misuse, "the equations of device " + std::to_string(d) + " do not fall into blocks of " +
                                         std::to_string(block_size_));
}

void CpuMatrix::require_fitting(const Vector& x, const Vector& y, const char* what) const {
  require_layout(*layout_, x, what);
  require_alike(x, y, what);
  if (&x == &y) throw Error(ErrorCode::misuse, std::string(what) + ": a product needs two different vectors");
}

std::size_t CpuMatrix::vector_bytes() const {
  std::size_t entries = 0;
  for (int d = 0; d < layout_->devices(); ++d)
    entries += static_cast<std::size_t>(layout_->local_size(d) + layout_->owned(d));
  return sizeof(double) * entries;
}

std::string CpuMatrix::describe() const {
  const std::string size = std::to_string(block_size_);
  return (block_size_ == 1 ? std::string("CSR matrix") : "BSR matrix of " + size + "×" + size + " blocks") + storage() +
         ", " + std::to_string(layout_->size()) + " equations, " + std::to_string(stored_blocks()) +
         (block_size_ == 1 ? " entries, " : " blocks, ") + readable_bytes(bytes());
}

}  // namespace voussoir::cpu
