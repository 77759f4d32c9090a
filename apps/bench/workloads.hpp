#pragma once
#include <voussoir/apps/bench/rig.hpp>

// The workloads of `voussoir bench`, on Model H: a cube of size³ Hex8 with 2 × 2 × 2 points, one face clamped.

namespace voussoir::app {

std::unique_ptr<Domain> make_model_h(int size);
/// Pairs of neighbouring nodes in Model H, a node and itself included: blocks of its matrix, however many are stored.
double model_h_blocks(int size);

/// Products with stored matrices: blocks, single entries, several columns, meshes without structure.
void bench_spmv(BenchRig& rig);
/// Products with nothing stored.
void bench_matrix_free(BenchRig& rig);
/// Products with stored element matrices.
void bench_ebe(BenchRig& rig);
/// What eigen-solvers do with blocks of vectors: projections of the stiffness, products and sums.
void bench_modes(BenchRig& rig);
/// Iterations of CG, large and small, and a whole solve.
void bench_cg(BenchRig& rig);
void bench_amg(BenchRig& rig);
/// Integration of element matrices, each way that the backend knows.
void bench_integrate(BenchRig& rig);
/// Patterns, and integration into a stored matrix.
void bench_assemble(BenchRig& rig);

/// Batches of tridiagonal systems, periodic or not.
void bench_sweeps(BenchRig& rig);
/// Jacobi iterations on a grid, in memory and streamed from host memory, and the explicit scheme on long vectors.
void bench_stencils(BenchRig& rig);

/// Elements as users write them, beside the library's own.
void bench_user_element(BenchRig& rig);

/// Steps of explicit dynamics, and of Newmark's method with multigrid.
void bench_explicit(BenchRig& rig);

/// A whole job, from a deck of the pump to its result files.
void bench_job(BenchRig& rig);

/// The tables of FEStudio's paper (docs/benchmarks/paper_tables.md) on this machine, theirs and ours side by side.
void bench_paper_tables(BenchRig& rig);

/// The same model on 1, 2, 4 and 8 devices.
void bench_devices(BenchRig& rig);
/// The same model and numbers of devices: CG on every storage, with and without overlap of halos and products.
void bench_overlap(BenchRig& rig);

/// Dense interiors of parts, their Schur complements and solutions.
void bench_condensation(BenchRig& rig);

/// Flops per integration point that a product takes where nothing is stored: an estimate for a trilinear brick whose
/// geometry is computed anew (0.06 ms for Model H at 34 TFLOP/s), not a count of instructions. Elements with more nodes
/// need more, so their floors are low.
inline constexpr double flops_per_point = 430;
/// Those of them that the columns of a block of vectors can share: Jacobian, cofactors, determinant.
inline constexpr double shared_flops_per_point = 100;

/// Bytes that a product must move with `blocks` of b × b numbers stored by rows: each number, each index and each
/// vector entry once.
double stored_product_bytes(double blocks, int b, double rows, int columns);

}  // namespace voussoir::app
