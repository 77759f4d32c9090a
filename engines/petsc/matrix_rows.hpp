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
/// The option -mat_type chooses the type: aij (by default), types derived from it, or baij. With aij, the values of
/// `entries` are moved to their places in rows where this is possible, so that no second copy of the matrix exists.
Mat assemble_rows(MPI_Comm communicator, const SystemShare& share, HostMatrix entries, Diagonal diagonal,
                  FixedEntries fixed);

}  // namespace voussoir::petsc
