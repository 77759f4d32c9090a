#pragma once
#include <petscmat.h>

#include <voussoir/engines/petsc/petsc_system.hpp>
#include <voussoir/partition/process/engine.hpp>

namespace voussoir::petsc {

/// The sum of the matrices of all processes, stored by rows: each process keeps the rows of its own equations. Rows of
/// other processes' equations are sent to their owners, who add what they receive in the order of the processes, so
/// that sums have the same bits in each run. Rows that no process has an equation for get a unit diagonal with
/// Diagonal::stiff. Collective.
///
/// Next to the matrices themselves, only rows of shared equations are copied.
Mat assemble_rows(MPI_Comm communicator, const SystemShare& share, const HostMatrix& entries, Diagonal diagonal,
                  FixedEntries fixed);

/// What the diagonal of equations that are not free gets with Diagonal::stiff: the largest diagonal entry of the
/// process, or 1 where there is none.
double stiff_diagonal(const SystemShare& share, const HostMatrix& entries);

}  // namespace voussoir::petsc
