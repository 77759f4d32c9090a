#pragma once
#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include <voussoir/partition/process/engine.hpp>

namespace voussoir::petsc {

/// Sums of the numbers of those equations that several processes have. One of them represents an equation: the process
/// that stores its row or, as that need not have the equation, the lowest one that has it. It receives the numbers of
/// the others, adds them to its own in the order of the processes, and sends the sum back: the same bits on all
/// processes and in every run.
class InterfaceSum {
 public:
  InterfaceSum(MPI_Comm communicator, const SystemShare& share);  ///< collective

  /// Local numbers of the equations that other processes have, too, ascending.
  const std::vector<std::int32_t>& equations() const { return equations_; }
  /// For each local equation, whether this process represents it.
  const std::vector<std::uint8_t>& represents() const { return represents_; }
  /// Replaces the numbers of these equations by their sums. Collective.
  void add(std::span<double> values) const;
  /// The same for a vector of all local equations.
  void add_in(std::span<double> local) const;

 private:
  /// Another process, and where the numbers that it has in common with this one are among those of equations_.
  struct Neighbour {
    int process = 0;
    std::vector<std::int32_t> places;
  };

  MPI_Comm communicator_;
  std::vector<std::int32_t> equations_;
  std::vector<std::uint8_t> represents_;
  std::vector<Neighbour> representatives_;  // of equations of this process
  std::vector<Neighbour> sharers_;          // of equations that this process represents
};

}  // namespace voussoir::petsc
