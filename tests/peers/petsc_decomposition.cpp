// The cantilever of the benchmarks, solved by PETSc with methods of domain decomposition, one part for each rank.
//
//     mpirun -n 2 petsc_decomposition bddc 12 [options of PETSc]
//     mpirun -n 2 petsc_decomposition asm 12 [options of PETSc]
//
// Parts are slabs of elements across the length of the bar, as Voussoir's cut rcb makes them. bddc is PCBDDC on a
// MATIS, with averages over edges and faces against the rigid body modes; asm is PCASM, not restricted, whose parts are
// their elements with one further layer around them. Parts are factorised by MUMPS, as in Voussoir. The program stands
// alone and prints one line of JSON, as petsc_gamg does.

#include "petsc_cantilever.hpp"

using namespace cantilever;

namespace {

struct Run {
  double start_bytes = 0, peak_bytes = 0;
  double assembly = 0, setup = 0, solve = 0;
  PetscInt iterations = 0;
  bool converged = false;
  double residual = 0, tip = 0;
  double largest = 0, smallest = 0;  // eigenvalues of the preconditioned matrix, as CG estimates them
};

/// The planes of nodes that the elements of a rank have, without the clamped one.
struct Slab {
  PetscInt first_element, last_element;  // along x, the last excluded
  PetscInt first() const { return first_element == 0 ? 1 : first_element; }
  PetscInt last() const { return last_element; }
};

Slab slab_of_rank(PetscInt n, int rank, int ranks) { return {10 * n * rank / ranks, 10 * n * (rank + 1) / ranks}; }

/// The sum of a rank's elements, without what others add: what BDDC is made of.
PetscErrorCode create_unassembled(const Grid& grid, const Slab& slab, Mat* matrix) {
  PetscFunctionBeginUser;
  const PetscInt per_plane = grid.plane_nodes(), local = (slab.last() - slab.first() + 1) * per_plane;
  std::vector<PetscInt> nodes(static_cast<std::size_t>(local));
  for (PetscInt k = 0; k < local; ++k)
    nodes[static_cast<std::size_t>(k)] = grid.node(slab.first(), 0, 0) + k;  // planes are numbered one after the other
  ISLocalToGlobalMapping map;
  PetscCall(ISLocalToGlobalMappingCreate(PETSC_COMM_WORLD, 3, local, nodes.data(), PETSC_COPY_VALUES, &map));
  const PetscInt owned = 3 * grid.owned * per_plane, all = 3 * grid.planes() * per_plane;
  PetscCall(MatCreateIS(PETSC_COMM_WORLD, 3, owned, owned, all, all, map, map, matrix));
  PetscCall(MatISSetPreallocation(*matrix, 81, nullptr, 81, nullptr));
  PetscCall(ISLocalToGlobalMappingDestroy(&map));
  const auto reference = reference_gradients();
  const double h = grid.spacing();
  ElementMatrix element;
  Corners x;
  std::array<PetscInt, 8> rows;
  for (PetscInt i = slab.first_element; i < slab.last_element; ++i)
    for (PetscInt j = 0; j < grid.n; ++j)
      for (PetscInt k = 0; k < grid.n; ++k) {
        for (std::size_t a = 0; a < 8; ++a) {
          const PetscInt ni = i + corner_steps[a][0], nj = j + corner_steps[a][1], nk = k + corner_steps[a][2];
          x[a] = {h * static_cast<double>(ni), h * static_cast<double>(nj), h * static_cast<double>(nk)};
          rows[a] = ni == 0 ? -1 : grid.node(ni, nj, nk) - grid.node(slab.first(), 0, 0);
        }
        integrate(x, reference, element);
        PetscCall(MatSetValuesBlockedLocal(*matrix, 8, rows.data(), 8, rows.data(), element[0].data(), ADD_VALUES));
      }
  PetscCall(MatAssemblyBegin(*matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(*matrix, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(PetscErrorCode{});
}

/// The unknowns of some planes of nodes.
PetscErrorCode planes(const Grid& grid, PetscInt first, PetscInt last, IS* set) {
  PetscFunctionBeginUser;
  PetscCall(
      ISCreateStride(PETSC_COMM_SELF, 3 * (last - first + 1) * grid.plane_nodes(), 3 * grid.node(first, 0, 0), 1, set));
  PetscFunctionReturn(PetscErrorCode{});
}

PetscErrorCode create_solver(const Grid& grid, const Slab& slab, const std::string& method, Mat matrix, KSP* solver) {
  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, solver));
  PetscCall(KSPSetOperators(*solver, matrix, matrix));
  PetscCall(KSPSetType(*solver, KSPCG));
  PetscCall(KSPSetComputeEigenvalues(*solver, PETSC_TRUE));
  PetscCall(KSPSetNormType(*solver, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(*solver, relative_tolerance, PETSC_DEFAULT, PETSC_DEFAULT, 20000));
  PC pc;
  PetscCall(KSPGetPC(*solver, &pc));
  const auto set = [](const char* name, const char* value) -> PetscErrorCode {
    PetscBool given = PETSC_FALSE;
    PetscFunctionBeginUser;
    PetscCall(PetscOptionsHasName(nullptr, nullptr, name, &given));
    if (!given) PetscCall(PetscOptionsSetValue(nullptr, name, value));
    PetscFunctionReturn(PetscErrorCode{});
  };
  if (method == "bddc") {
    PetscCall(PCSetType(pc, PCBDDC));
    PetscCall(set("-pc_bddc_use_faces", "1"));
    PetscCall(set("-pc_bddc_use_edges", "1"));
    // A slab has no corners. Averages keep it from floating only as unknowns of their own, by a change of basis.
    PetscCall(set("-pc_bddc_use_change_of_basis", "1"));
    PetscCall(set("-pc_bddc_use_change_on_faces", "1"));
    for (const char* kind : {"dirichlet", "neumann"}) {
      PetscCall(set((std::string("-pc_bddc_") + kind + "_pc_type").c_str(), "cholesky"));
      PetscCall(set((std::string("-pc_bddc_") + kind + "_pc_factor_mat_solver_type").c_str(), "mumps"));
    }
  } else {
    PetscCall(PCSetType(pc, PCASM));
    IS with_layer, own;
    PetscCall(planes(grid, std::max<PetscInt>(1, slab.first() - (slab.first_element > 0)),
                     std::min(grid.planes(), slab.last() + 1), &with_layer));
    PetscCall(planes(grid, grid.first, grid.last(), &own));
    PetscCall(PCASMSetLocalSubdomains(pc, 1, &with_layer, &own));
    PetscCall(PCASMSetOverlap(pc, 0));  // the sets have it already
    PetscCall(PCASMSetType(pc, PC_ASM_BASIC));
    PetscCall(ISDestroy(&with_layer));
    PetscCall(ISDestroy(&own));
    PetscCall(set("-sub_pc_type", "cholesky"));
    PetscCall(set("-sub_pc_factor_mat_solver_type", "mumps"));
  }
  PetscCall(KSPSetFromOptions(*solver));
  PetscFunctionReturn(PetscErrorCode{});
}

PetscErrorCode judge(Mat matrix, Vec force, Vec displacement, KSP solver, Run& run) {
  PetscFunctionBeginUser;
  KSPConvergedReason reason;
  PetscCall(KSPGetConvergedReason(solver, &reason));
  run.converged = reason > 0;
  PetscCall(KSPGetIterationNumber(solver, &run.iterations));
  PetscCall(KSPComputeExtremeSingularValues(solver, &run.largest, &run.smallest));
  double work = 0, norm = 0, total = 0;
  PetscCall(VecDot(force, displacement, &work));
  PetscCall(VecSum(force, &total));
  run.tip = work / total;
  Vec rest;
  PetscCall(VecDuplicate(force, &rest));
  PetscCall(MatMult(matrix, displacement, rest));
  PetscCall(VecAYPX(rest, -1, force));
  PetscCall(VecNorm(rest, NORM_2, &run.residual));
  PetscCall(VecNorm(force, NORM_2, &norm));
  run.residual /= norm;
  PetscCall(VecDestroy(&rest));
  PetscFunctionReturn(PetscErrorCode{});
}

PetscErrorCode analyse(const Grid& grid, const Slab& slab, const std::string& method, Run& run) {
  PetscFunctionBeginUser;
  const double start = now();
  Mat matrix;
  Vec force, displacement;
  if (method == "bddc") {
    PetscCall(create_unassembled(grid, slab, &matrix));
  } else {
    PetscCall(create_matrix(grid, &matrix));
    PetscCall(assemble(grid, matrix));
  }
  PetscCall(MatCreateVecs(matrix, &displacement, &force));
  PetscCall(load(grid, force));
  const double assembled = now();
  PetscCall(set_rigid_bodies(grid, matrix));
  KSP solver;
  PetscCall(create_solver(grid, slab, method, matrix, &solver));
  PetscCall(KSPSetUp(solver));
  PetscCall(KSPSetUpOnBlocks(solver));
  const double ready = now();
  PetscCall(KSPSolve(solver, force, displacement));
  const double solved = now();
  run.assembly = assembled - start;
  run.setup = ready - assembled;
  run.solve = solved - ready;
  PetscCall(judge(matrix, force, displacement, solver, run));
  PetscCall(KSPDestroy(&solver));
  PetscCall(VecDestroy(&displacement));
  PetscCall(VecDestroy(&force));
  PetscCall(MatDestroy(&matrix));
  PetscFunctionReturn(PetscErrorCode{});
}

void print(int n, int ranks, const std::string& method, const Run& run) {
  const long long nodes = (10LL * n + 1) * (n + 1) * (n + 1);
  std::printf("{\"tool\": \"PETSc %d.%d.%d CG+%s\", \"n\": %d, \"dof\": %lld, \"ranks\": %d, ", PETSC_VERSION_MAJOR,
              PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR, method == "bddc" ? "BDDC" : "ASM", n, 3 * nodes, ranks);
  std::printf("\"assembly_s\": %.4f, \"setup_s\": %.4f, \"solve_s\": %.4f, \"total_s\": %.4f, ", run.assembly,
              run.setup, run.solve, run.assembly + run.setup + run.solve);
  std::printf("\"iterations\": %lld, \"converged\": %s, \"true_residual\": %s, \"condition\": %s, ",
              static_cast<long long>(run.iterations), json(run.converged), json("%.3e", run.residual).c_str(),
              json("%.4g", run.smallest > 0 ? run.largest / run.smallest : std::nan("")).c_str());
  std::printf("\"tip\": %s, \"tip_right\": %s, \"start_bytes\": %.0f, \"peak_bytes\": %.0f}\n",
              json("%.10e", run.tip).c_str(), reference_tip(n) == 0 ? "null" : json(tip_is_right(n, run.tip)),
              run.start_bytes, run.peak_bytes);
}

}  // namespace

int main(int count, char** arguments) {
  const std::string method = count > 1 ? arguments[1] : "";
  const int n = count > 2 ? std::atoi(arguments[2]) : 0;
  if ((method != "bddc" && method != "asm") || n < 1 || n > 200) {
    std::fprintf(stderr,
                 "petsc_decomposition: give the method and the mesh: petsc_decomposition bddc|asm N, N from 1 "
                 "to 200\n");
    return 2;
  }
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&count, &arguments, nullptr, nullptr));
  int rank = 0, ranks = 1;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  if (ranks > 10 * n) {
    if (rank == 0) std::fprintf(stderr, "petsc_decomposition: %d ranks for %d slabs of elements\n", ranks, 10 * n);
    PetscCall(PetscFinalize());
    return 2;
  }
  Run run;
  run.start_bytes = sum_of_ranks(peak_bytes());
  PetscCall(analyse(share_of_rank(n, rank, ranks), slab_of_rank(n, rank, ranks), method, run));
  run.peak_bytes = sum_of_ranks(peak_bytes());
  if (rank == 0) print(n, ranks, method, run);
  PetscCall(PetscFinalize());
  return run.converged && tip_is_right(n, run.tip) ? 0 : 1;
}
