#pragma once
#include <cstdint>

#include <voussoir/backends/element_program.hpp>

namespace voussoir::cpu {

/// Element vectors from a block of `columns` nodal vectors: columns · dofs() values per element, [group][dof][column]
/// [lane]. Missing lanes of the last group repeat its last element.
void spread_groups(const ElementProgram& program, const ElementView& view, const double* x, int columns, int first,
                   int count, double* out);

/// out = (element matrices) · (element vectors) for a run of whole groups; `vectors` and `out` may be the same. Each
/// matrix serves all columns while it is in the cache.
void multiply_groups(const ElementProgram& program, const double* matrices, const double* vectors, int columns,
                     int count, double* out);

}  // namespace voussoir::cpu
