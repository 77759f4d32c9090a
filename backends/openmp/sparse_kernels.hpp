#pragma once
#include <cstdint>

namespace voussoir::cpu {

/// Block rows of a matrix on one device, as pointers. A block is `block_size × block_size` numbers by rows.
struct BlockRows {
  int block_size = 1;
  const std::int64_t* row_start = nullptr;
  const std::int32_t* column = nullptr;
  const double* value = nullptr;
};

struct RowRange {
  std::int32_t begin = 0;
  std::int32_t end = 0;
};

/// y = A x for two stretches of block rows, by turns: reading two places at once, a core gets more out of its memory
/// than reading one. A row's result does not depend on the stretch it is in.
void multiply_rows(const BlockRows& a, RowRange one, RowRange two, const double* x, double* y);

/// Y = A X for blocks of `columns` vectors whose entries of one equation stand side by side. The matrix is read from
/// memory once, however many columns there are.
void multiply_rows(const BlockRows& a, std::int32_t begin, std::int32_t end, int columns, const double* x, double* y);

}  // namespace voussoir::cpu
