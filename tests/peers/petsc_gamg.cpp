// The cantilever of the benchmarks, solved by PETSc: CG preconditioned by its algebraic multigrid, GAMG.
//
//     mpirun -n 2 petsc_gamg 21 [options of PETSc]
//
// A box of 10 × 1 × 1 m with 10n × n × n plain Hex8 (2×2×2 points), clamped at its end x = 0 and with a traction of
// (0, 0, −1e6) Pa on the other. The program stands alone and knows nothing of Voussoir: it is PETSc as somebody would
// use it who reads its manual. It prints one line of JSON with times, iterations, memory and the displacement of the
// tip. The exit code is 1 where CG did not converge, or where the tip is not where another program puts it too.

#include "petsc_cantilever.hpp"

using namespace cantilever;

namespace {

/// All that is printed.
struct Report {
  double start_bytes = 0, peak_bytes = 0;  // of all ranks: before the work, and at most
  double assembly = 0, setup = 0, solve = 0;
  PetscInt iterations = 0;
  bool converged = false;
  double residual = 0, tip = 0;
  double complexity = std::nan("");  // entries of all levels' matrices over those of the finest
};

/// CG and GAMG with PETSc's defaults, until the true residual norm has fallen by 1e-8.
PetscErrorCode create_solver(Mat matrix, KSP* solver) {
  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, solver));
  PetscCall(KSPSetOperators(*solver, matrix, matrix));
  PetscCall(KSPSetType(*solver, KSPCG));
  PetscCall(KSPSetNormType(*solver, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(*solver, relative_tolerance, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PC multigrid;
  PetscCall(KSPGetPC(*solver, &multigrid));
  PetscCall(PCSetType(multigrid, PCGAMG));
  PetscCall(KSPSetFromOptions(*solver));
  PetscFunctionReturn(PetscErrorCode{});
}

/// What is left of the force, relative to it; and the load-weighted mean displacement of the loaded end.
PetscErrorCode judge(Mat matrix, Vec force, Vec displacement, Report& report) {
  PetscFunctionBeginUser;
  double work = 0, norm = 0, total = 0;
  PetscCall(VecDot(force, displacement, &work));
  PetscCall(VecSum(force, &total));
  report.tip = work / total;
  Vec rest;
  PetscCall(VecDuplicate(force, &rest));
  PetscCall(MatMult(matrix, displacement, rest));
  PetscCall(VecAYPX(rest, -1, force));
  PetscCall(VecNorm(rest, NORM_2, &report.residual));
  PetscCall(VecNorm(force, NORM_2, &norm));
  report.residual /= norm;
  PetscCall(VecDestroy(&rest));
  PetscFunctionReturn(PetscErrorCode{});
}

PetscErrorCode analyse(const Grid& grid, Report& report) {
  PetscFunctionBeginUser;
  const double start = now();
  Mat matrix;
  Vec force, displacement;
  PetscCall(create_matrix(grid, &matrix));
  PetscCall(assemble(grid, matrix));
  PetscCall(MatCreateVecs(matrix, &displacement, &force));
  PetscCall(load(grid, force));
  const double assembled = now();
  KSP solver;
  PetscCall(set_rigid_bodies(grid, matrix));
  PetscCall(create_solver(matrix, &solver));
  PetscCall(KSPSetUp(solver));
  const double ready = now();
  PetscCall(KSPSolve(solver, force, displacement));
  const double solved = now();

  report.assembly = assembled - start;
  report.setup = ready - assembled;
  report.solve = solved - ready;
  KSPConvergedReason reason;
  PetscCall(KSPGetConvergedReason(solver, &reason));
  report.converged = reason > 0;
  PetscCall(KSPGetIterationNumber(solver, &report.iterations));
  PC multigrid;
  PetscCall(KSPGetPC(solver, &multigrid));
  PetscBool is_gamg = PETSC_FALSE;  // the command line may have asked for another
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(multigrid), PCGAMG, &is_gamg));
  PetscReal grid_complexity = 0;
  if (is_gamg) PetscCall(PCMGGetGridComplexity(multigrid, &grid_complexity, &report.complexity));
  PetscCall(judge(matrix, force, displacement, report));
  PetscCall(KSPDestroy(&solver));
  PetscCall(VecDestroy(&displacement));
  PetscCall(VecDestroy(&force));
  PetscCall(MatDestroy(&matrix));
  PetscFunctionReturn(PetscErrorCode{});
}

void print(int n, int ranks, const Report& report) {
  const long long nodes = (10LL * n + 1) * (n + 1) * (n + 1);
  std::printf("{\"tool\": \"PETSc %d.%d.%d CG+GAMG\", \"n\": %d, \"dof\": %lld, \"ranks\": %d, ", PETSC_VERSION_MAJOR,
              PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR, n, 3 * nodes, ranks);
  std::printf("\"assembly_s\": %.4f, \"setup_s\": %.4f, \"solve_s\": %.4f, \"total_s\": %.4f, ", report.assembly,
              report.setup, report.solve, report.assembly + report.setup + report.solve);
  std::printf("\"iterations\": %lld, \"converged\": %s, \"true_residual\": %s, \"operator_complexity\": %s, ",
              static_cast<long long>(report.iterations), json(report.converged), json("%.3e", report.residual).c_str(),
              json("%.3f", report.complexity).c_str());
  std::printf("\"tip\": %s, \"tip_right\": %s, \"start_bytes\": %.0f, \"peak_bytes\": %.0f}\n",
              json("%.10e", report.tip).c_str(), reference_tip(n) == 0 ? "null" : json(tip_is_right(n, report.tip)),
              report.start_bytes, report.peak_bytes);
}

}  // namespace

int main(int count, char** arguments) {
  const int n = count > 1 ? std::atoi(arguments[1]) : 0;
  if (n < 1 || n > 200) {
    std::fprintf(stderr, "petsc_gamg: say how fine the mesh is: petsc_gamg N [options of PETSc], N from 1 to 200\n");
    return 2;
  }
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&count, &arguments, nullptr, nullptr));
  int rank = 0, ranks = 1;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  if (ranks > 10 * n) {
    if (rank == 0) std::fprintf(stderr, "petsc_gamg: %d ranks are more than the mesh has planes, %d\n", ranks, 10 * n);
    PetscCall(PetscFinalize());
    return 2;
  }
  Report report;
  report.start_bytes = sum_of_ranks(peak_bytes());
  PetscCall(analyse(share_of_rank(n, rank, ranks), report));
  report.peak_bytes = sum_of_ranks(peak_bytes());
  if (rank == 0) print(n, ranks, report);
  PetscCall(PetscFinalize());
  return report.converged && tip_is_right(n, report.tip) ? 0 : 1;
}
