#pragma once
#include <mpi.h>
#include <petscsys.h>

#include <exception>
#include <new>
#include <string>

#include <voussoir/backends/error.hpp>

namespace voussoir::petsc {

/// Throws Error (device) where a call of MPI has failed.
inline void check_mpi(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(ErrorCode::device, std::string("MPI failed in ") + what + ": " + std::string(text, length));
}

/// Throws an Error where a call of PETSc has failed: out_of_memory, or internal with PETSc's own words.
void check_petsc(PetscErrorCode code, const char* what);

/// Keeps an Error that was thrown in a function that PETSc has called: check_petsc() throws it again when PETSc
/// returns.
void keep_error(const Error& error);

/// Catches what PETSc says of an error, for check_petsc(), instead of printing it.
PetscErrorCode keep_petsc_error(MPI_Comm, int line, const char* function, const char* file, PetscErrorCode code,
                                PetscErrorType kind, const char* message, void*);

/// Runs what may throw inside a function that PETSc calls. `without_memory` is what PETSc is told if memory is short.
template <class Work>
PetscErrorCode guarded(const char* without_memory, const Work& work) {
  try {
    work();
    return 0;
  } catch (const std::bad_alloc&) {
    return PetscError(PETSC_COMM_SELF, __LINE__, "voussoir", __FILE__, PETSC_ERR_MEM, PETSC_ERROR_INITIAL, "%s",
                      without_memory);
  } catch (const Error& error) {
    keep_error(error);
    return PetscError(PETSC_COMM_SELF, __LINE__, "voussoir", __FILE__, PETSC_ERR_LIB, PETSC_ERROR_INITIAL, "%s",
                      error.what());
  } catch (const std::exception& error) {
    return PetscError(PETSC_COMM_SELF, __LINE__, "voussoir", __FILE__, PETSC_ERR_LIB, PETSC_ERROR_INITIAL, "%s",
                      error.what());
  }
}

}  // namespace voussoir::petsc

/// Calls a function of MPI or PETSc; a failure is an Error.
#define VSR_MPI(call) ::voussoir::petsc::check_mpi((call), #call)
#define VSR_PETSC(call) ::voussoir::petsc::check_petsc((call), #call)
