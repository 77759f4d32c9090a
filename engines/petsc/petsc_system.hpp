#pragma once
#include <petscksp.h>

#include <cstdint>
#include <span>
#include <vector>

#include <voussoir/partition/process/engine.hpp>

namespace voussoir::petsc {

/// A view of a vector's own numbers.
class Numbers {
 public:
  explicit Numbers(Vec vector);
  ~Numbers();
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
  double& operator[](std::size_t i) { return values_[i]; }

 private:
  Vec vector_;
  PetscScalar* values_ = nullptr;
};

/// What rows and columns of equations that are not free get in a matrix.
enum class Diagonal {
  stiff,  ///< the largest diagonal entry of the process, so that the matrix stays regular
  zero    ///< nothing, as in a mass matrix
};
/// What is stored of rows and columns of equations that are not free: only the diagonal, or zeros as well, so that
/// nodes whose unknowns all follow each other have dense blocks. PETSc makes the graph of its smoothed aggregation much
/// faster from dense blocks; factorisations would have to fill the zeros in.
enum class FixedEntries { diagonal, blocks };

/// The numbering of a system: vectors of the whole system and of a process's own equations, and matrices.
class PetscSystem {
 public:
  /// Throws Error (unavailable) for more equations than PETSc's integers can count.
  PetscSystem(MPI_Comm communicator, const SystemShare& share);
  ~PetscSystem();
  PetscSystem(const PetscSystem&) = delete;
  PetscSystem& operator=(const PetscSystem&) = delete;

  /// A new vector of the whole system.
  Vec make_vector() const;
  /// Puts or adds numbers of local equations into a vector that was cleared before.
  void to_global(std::span<const double> local, InsertMode mode, Vec global);
  /// The numbers of local equations, 0 where they are not free.
  void to_local(Vec global, std::span<double> local);

  /// The sum of the parts' matrices, stored by rows, whose memory is used again where possible.
  Mat assemble(const SystemShare& share, HostMatrix matrix, Diagonal diagonal,
               FixedEntries fixed = FixedEntries::diagonal);
  /// The parts' matrices, not summed (MATIS).
  Mat keep_parts(const SystemShare& share);
  /// Tells PETSc the near-null space.
  void add_motions(const SystemShare& share, Mat matrix);

 private:
  MPI_Comm communicator_;
  Vec whole_ = nullptr, local_ = nullptr;
  VecScatter scatter_ = nullptr;  // from the whole system to the local equations
  std::vector<std::uint8_t> free_;
};

}  // namespace voussoir::petsc
