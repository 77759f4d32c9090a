#pragma once
#include <mpi.h>

#include <voussoir/partition/process/engine.hpp>

namespace voussoir::petsc {

/// Throws a SharedError (singular) that names the motion if the whole model can move as a rigid body, or have any
/// temperature, without resistance: motions of SystemShare::motions that are zero wherever equations are not free, and
/// that the matrix does not resist. Iterative methods may converge for such a system, to any of its solutions.
/// Collective. Costs a sum over constrained equations, and a few products if supports leave a motion.
///
/// Motions of one of several bodies, and mechanisms, are not found.
void refuse_free_motion(MPI_Comm communicator, const SystemShare& share);

}  // namespace voussoir::petsc
