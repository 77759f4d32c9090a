#pragma once
#include <voussoir/backends/openmp/sparse_matrix.hpp>
#include <voussoir/backends/openmp/symmetric_matrix.hpp>

namespace voussoir::cpu {

/// Gives a matrix the pattern of its model's elements, and room for values. Also for one that has a pattern, when the
/// elements have changed.
void make_pattern(const DeviceModel& model, CpuSymmetricMatrix& matrix);
void make_pattern(const DeviceModel& model, CpuSparseMatrix& matrix);

}  // namespace voussoir::cpu
