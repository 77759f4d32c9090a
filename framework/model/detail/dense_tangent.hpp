#pragma once
#include <Eigen/Core>
#include <cstddef>

#include <voussoir/backends/element_program.hpp>

namespace voussoir::detail {

/// The tangent of one lane of a group, as ElementProgram::tangent() wrote it, as a full matrix.
inline void unpack_tangent(const ElementProgram& program, const double* group, int lane, Eigen::MatrixXd& matrix) {
  const int m = program.dofs();
  const bool symmetric = program.symmetric();
  const auto lanes = static_cast<std::size_t>(program.lanes());
  std::size_t at = static_cast<std::size_t>(lane);
  for (int i = 0; i < m; ++i)
    for (int j = symmetric ? i : 0; j < m; ++j, at += lanes) {
      matrix(i, j) = group[at];
      if (symmetric) matrix(j, i) = group[at];
    }
}

}  // namespace voussoir::detail
