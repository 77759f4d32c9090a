#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <voussoir/backends/operator.hpp>

namespace voussoir {

/// A matrix of a Matrix Market file.
struct MarketMatrix {
  std::int64_t rows = 0;     ///< number of rows
  std::int64_t columns = 0;  ///< number of columns
  bool symmetric = false;    ///< whether the file calls it symmetric; `entries` has both triangles in any case
  bool is_array = false;     ///< whether the file lists all entries (array) and not only some (coordinate)
  HostMatrix entries;        ///< by rows, columns ascending, block size 1; those of an array are all there

  /// All entries column by column, with zeros for those that are not in the file.
  std::vector<double> by_columns() const;
};

/// Reads a Matrix Market file: coordinate or array, real or integer, general or symmetric. Complex, pattern, hermitian
/// and skew-symmetric matrices are rejected by name. Exponents may be written with E or D.
///
/// A file that cannot be read is an Error (io). Everything else that does not fit is an Error (bad_input) with file and
/// line: a wrong header, text among the numbers, positions outside the matrix, a duplicate entry, an entry above
/// the diagonal of a symmetric matrix, values that are not finite, too few or too many entries.
MarketMatrix read_matrix_market(const std::filesystem::path& path);

/// The same, from text; `name` stands for the file in messages.
MarketMatrix parse_matrix_market(std::string_view text, const std::string& name);

/// Writes columns of equal length as an array of real numbers, exactly. `values` has one column after the other; a
/// comment, without line breaks, is written to the second line. An existing file is replaced only with `overwrite`.
void write_matrix_market(const std::filesystem::path& path, std::int64_t rows, std::span<const double> values,
                         const std::string& comment, bool overwrite);

}  // namespace voussoir
