#pragma once
#include <cstdint>

#include <voussoir/backends/openmp/sparse_kernels.hpp>

namespace voussoir::cpu {

/// Block rows of the upper half of a symmetric matrix. The first block of a row is that of the diagonal, whole; each of
/// the others stands for its mirror image as well. Columns of the row's own tile come first and are counted from the
/// first row of the matrix; the last `outer[row]` ones lie outside the tile and are counted in the tile's list of them.
struct SymmetricRows {
  BlockRows rows;
  const std::int32_t* outer = nullptr;
};

/// The two vectors of a product as a tile sees them: entries of its own rows where they are, the others gathered in
/// the order of the tile's list.
struct TileVectors {
  const double* x = nullptr;        ///< counted from the first row of the matrix
  double* y = nullptr;              ///< the same; entries of the tile's rows are zero at the start
  const double* outer_x = nullptr;  ///< counted in the tile's list
  double* outer_y = nullptr;        ///< the same; zero at the start
};

/// y += A x for the rows of a tile, mirror images included. `columns` vectors have their entries of one equation side
/// by side; the matrix is read from memory once, however many they are.
void multiply_tile(const SymmetricRows& a, RowRange tile, int columns, const TileVectors& vectors);

}  // namespace voussoir::cpu
