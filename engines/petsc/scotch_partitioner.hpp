#pragma once
#include <mpi.h>

#include <memory>

#include <voussoir/partition/process/process_graph.hpp>

namespace voussoir::petsc {

/// Whether this build of the engine has PT-Scotch.
bool has_scotch();
/// A partitioner of graphs by PT-Scotch. Throws Error (unavailable) where the engine was built without it.
///
/// C. Chevalier, F. Pellegrini: PT-Scotch: a tool for efficient parallel graph ordering. Parallel Computing 34 (2008).
std::unique_ptr<ProcessGraphPartitioner> make_scotch_partitioner(MPI_Comm communicator);

}  // namespace voussoir::petsc
