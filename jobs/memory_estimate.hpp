#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <voussoir/framework/domain/domain.hpp>

// How much memory a model will need, before anything is allocated for it.

namespace voussoir {

/// What the need for memory follows from. Counted from the mesh, in a time that grows with the number of elements.
struct ModelSize {
  std::int64_t nodes = 0;                   ///< that elements use
  std::int64_t elements = 0;                ///< of all blocks
  std::int64_t equations = 0;               ///< unknowns of all these nodes
  int components = 0;                       ///< most unknowns that a node has
  bool uniform = true;                      ///< every node has as many
  int dimension = 0;                        ///< of the elements that fill the model: 1 lines, 2 plane, 3 solid
  std::int64_t node_pairs = 0;              ///< pairs of different nodes that share an element, each pair once
  std::int64_t blocks_of_elements = 0;      ///< Σ nodes² of the elements
  std::int64_t connectivity = 0;            ///< Σ nodes of the elements
  std::int64_t element_matrix_numbers = 0;  ///< Σ numbers in half an element matrix
  std::int64_t recovered_numbers = 0;       ///< Σ values at the points of the elements: stresses, strains, …
  /// Nodes in one layer of the mesh, on average, when it is peeled layer by layer from an end: how thick it is.
  double layer = 0;
};
ModelSize model_size(const Domain& domain);

/// The memory of one solver and storage format for a model, in bytes.
struct MemoryEstimate {
  std::string solver;                                     ///< "direct", "cg+block-jacobi", …
  std::string storage;                                    ///< "bsr", "csr", "matrix-free", …
  double model = 0;                                       ///< mesh, numbering, vectors, one step's results
  double matrix = 0;                                      ///< the stored matrix
  double work = 0;                                        ///< factor or preconditioner, including temporary memory
  double total() const { return model + matrix + work; }  ///< at the peak
};

/// The peak host memory of each combination, with the CPU backends (openmp, debug). With n
/// nodes, c unknowns per node, N = c n equations, p node pairs, 8 bytes per number and 4 per index:
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
/// The factor is the least certain: within a third on compact and slender boxes, more on bodies with thin walls.
/// Whole runs with multigrid were within a seventh, but for thin walls, whose sparse inverse nothing here foresees: a
/// frame of Hex20 took 455 MB where 293 were estimated.
std::vector<MemoryEstimate> estimate_memory(const ModelSize& size);

/// What setting up multigrid needs at its peak, beyond model and matrix: the whole matrix in blocks, (2 p + n)(8 c² +
/// 4), and 18 · 8 c m n for the prolongator, its product with the matrix and the coarser level, with m rigid motions:
/// six in solids, three in the plane, one for heat. The 18 was measured: between 14 and 22 on boxes, plates and a
/// frame.
double amg_set_up_bytes(const ModelSize& size);

/// Main memory of this machine in bytes, all of it and what this process may still take; 0 where the system does not
/// tell.
struct MainMemory {
  double all = 0;
  double available = 0;  ///< bytes that the process can still allocate
};
MainMemory main_memory();

}  // namespace voussoir
