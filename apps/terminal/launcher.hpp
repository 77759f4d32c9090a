#pragma once

// What an MPI launcher, such as mpirun, tells its processes before MPI is initialised.

namespace voussoir::app {

/// The number that a launcher has given to this process; 0 without a launcher.
int launched_number();
/// The number of processes that a launcher has started; 1 without a launcher.
int launched_processes();

}  // namespace voussoir::app
