#pragma once

namespace voussoir::petsc {

/// While it lives, OpenBLAS works with at most so many threads. PETSc's vectors call BLAS, and threads of OpenBLAS that
/// wait for work occupy processors that the backend of this process, or other processes, need. The number is left alone
/// where the user has set OPENBLAS_NUM_THREADS, where OpenBLAS shares its threads with OpenMP, and for other BLAS
/// libraries.
class BlasThreads {
 public:
  explicit BlasThreads(int most);
  ~BlasThreads();
  BlasThreads(const BlasThreads&) = delete;
  BlasThreads& operator=(const BlasThreads&) = delete;

 private:
  int before_ = 0;  // 0: left alone
};

}  // namespace voussoir::petsc
