#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <voussoir/framework/domain/domain.hpp>

// Estimates of the memory that a model requires, before anything is allocated.

namespace voussoir {

/// The sizes of a model that determine its memory, counted from the mesh in a time proportional to the number of
/// elements.
struct ModelSize {
  std::int64_t nodes = 0;                   ///< nodes that elements use
  std::int64_t elements = 0;                ///< elements of all blocks
  std::int64_t equations = 0;               ///< unknowns of these nodes
  int components = 0;                       ///< largest number of unknowns of a node
  bool uniform = true;                      ///< whether every node has that number of unknowns
  int dimension = 0;                        ///< dimension of the elements: 1 lines, 2 plane, 3 solid
  std::int64_t node_pairs = 0;              ///< pairs of different nodes that share an element, each pair once
  std::int64_t blocks_of_elements = 0;      ///< Σ nodes² over the elements
  std::int64_t connectivity = 0;            ///< Σ nodes over the elements
  std::int64_t element_matrix_numbers = 0;  ///< Σ entries of half an element matrix over the elements
  std::int64_t recovered_numbers = 0;       ///< Σ values at points over the elements: stresses, strains, …
  /// Average number of nodes in one layer of a breadth-first traversal of the mesh from one end: a measure of its
  /// cross-section.
  double layer = 0;
};
/// Counts the sizes of a domain.
ModelSize model_size(const Domain& domain);

/// The memory of one solver and storage format for a model, in bytes.
struct MemoryEstimate {
  std::string solver;                                     ///< "direct", "cg+block-jacobi", …
  std::string storage;                                    ///< "bsr", "csr", "matrix-free", …
  double model = 0;                                       ///< mesh, numbering, vectors, one step's results
  double matrix = 0;                                      ///< the stored matrix
  double work = 0;                                        ///< factor or preconditioner, including temporary memory
  double total() const { return model + matrix + work; }  ///< peak memory in bytes
};

/// The peak host memory of each combination of solver and storage on the CPU backends (openmp, debug). With n nodes, c
/// unknowns per node, N = c n equations, p node pairs, 8 bytes per number and 4 per index:
///
///   bsr            (p + n) (8 c² + 4) + Σ nodes²       half of the blocks and their columns, and where elements add
///   csr            (p c² + n c (c + 1) / 2) · 12 + Σ nodes²
///   element        8 · numbers of half an element matrix
///   matrix-free    40 N
///   direct         8 · 13 c² n √layer (solids), 8 · 8 c² n log₂ layer (plane), 8 · 6 c² n (lines): nested
///                  dissection of a body with `layer` nodes across; and 4.2 times the CSR matrix on its way there
///   cg             block Jacobi 8 c N; Chebyshev 16 c N; FSAI three times the CSR matrix; multigrid what
///                  amg_set_up_bytes() says, less the results, which are made after it, but at least half of it
///
/// The factor of a direct solver is the least certain: within a third on compact and slender boxes, more on bodies with
/// thin walls. Whole runs with multigrid were within a seventh, except for thin walls, whose sparse inverse the
/// estimate does not include: a frame of Hex20 took 455 MB instead of the estimated 293.
std::vector<MemoryEstimate> estimate_memory(const ModelSize& size);

/// The peak memory of the multigrid set-up in bytes, in addition to model and matrix: the whole matrix in blocks,
/// (2 p + n)(8 c² + 4), and 18 · 8 c m n for the prolongator, its product with the matrix and the coarser level, with m
/// rigid-body modes: six in solids, three in the plane, one for heat. The 18 is measured: between 14 and 22 on boxes,
/// plates and a frame.
double amg_set_up_bytes(const ModelSize& size);

/// Main memory of this machine in bytes; 0 if the system does not report it.
struct MainMemory {
  double all = 0;        ///< installed memory
  double available = 0;  ///< memory that this process can still allocate
};
/// The main memory of this machine now.
MainMemory main_memory();

}  // namespace voussoir
