#pragma once
#include <memory>

#include <voussoir/backends/backend.hpp>

namespace voussoir::petsc {

/// Makes the part solvers of Voussoir (part_solvers(), make_part_solver()) known to PETSc as the preconditioner
/// `voussoir`, for matrices of one process: blocks of PETSc's Schwarz methods, and interiors and parts of PCBDDC.
///
///   -pc_type asm -sub_pc_type voussoir -sub_pc_voussoir_solver direct
///   -pc_bddc_dirichlet_pc_type voussoir -pc_bddc_neumann_pc_type voussoir
///
/// `-pc_voussoir_solver NAME`, with the prefix of the preconditioner, names the part solver; without it, it is direct.
/// Call it once, after PETSc has started.
void register_local_solver();

/// The backend of this process, on which part solvers work that are set up from now on (multigrid and other iterative
/// ones; factorisations stay on the host). Null: OpenMP.
void set_local_backend(std::shared_ptr<Backend> backend);

}  // namespace voussoir::petsc
