// The cantilever of the benchmarks, solved by PETSc: CG preconditioned by its algebraic multigrid, GAMG.
//
//     mpirun -n 2 petsc_gamg 21 [options of PETSc]
//
// A box of 10 × 1 × 1 m with 10n × n × n plain Hex8 (2×2×2 points), clamped at its end x = 0 and with a traction of
// (0, 0, −1e6) Pa on the other. The program stands alone and knows nothing of Voussoir: it is PETSc as somebody would
// use it who reads its manual. It prints one line of JSON with times, iterations, memory and the displacement of the
// tip. The exit code is 1 where CG did not converge, or where the tip is not where another program puts it too.

#include <petscksp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <type_traits>
#include <vector>

namespace {

static_assert(std::is_same_v<PetscScalar, double>, "PETSc for real numbers in double precision is needed");

constexpr double young = 210e9, poisson = 0.3, traction_z = -1e6;
constexpr double relative_tolerance = 1e-8;
/// How far the tip may be from the reference; an iteration to 1e-8 leaves less than a hundredth of this.
constexpr double tip_tolerance = 1e-6;

struct Tip {
  int n;
  double displacement;
};
constexpr Tip known_tips[] = {
#include "cantilever_tips.inc"
};

/// Where the loaded end goes on this mesh; 0 where nobody said.
double reference_tip(int n) {
  for (const Tip& tip : known_tips)
    if (tip.n == n) return tip.displacement;
  return 0;
}

/// Nodes i, j, k along x, y, z. The clamped plane i = 0 has no unknowns; the others are numbered plane by plane, and
/// each rank has some planes of its own, one after the other.
struct Grid {
  PetscInt n;             // elements along y and z
  PetscInt first, owned;  // planes of this rank: first, first + 1, …, numbered from 1
  PetscInt planes() const { return 10 * n; }
  PetscInt plane_nodes() const { return (n + 1) * (n + 1); }
  PetscInt node(PetscInt i, PetscInt j, PetscInt k) const { return ((i - 1) * (n + 1) + j) * (n + 1) + k; }
  PetscInt last() const { return first + owned - 1; }
  double spacing() const { return 1.0 / static_cast<double>(n); }
};

Grid share_of_rank(PetscInt n, int rank, int ranks) {
  const PetscInt planes = 10 * n;
  const PetscInt begin = planes * rank / ranks, end = planes * (rank + 1) / ranks;
  return {n, begin + 1, end - begin};
}

using Point = std::array<double, 3>;
using Corners = std::array<Point, 8>;
/// Rows and columns node by node, three components each.
using ElementMatrix = std::array<std::array<double, 24>, 24>;

constexpr std::array<std::array<int, 3>, 8> corner_steps{
    {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}}};

/// Derivatives of the eight shape functions by ξ, η, ζ at the eight points of the 2×2×2 rule.
std::array<std::array<Point, 8>, 8> reference_gradients() {
  std::array<std::array<Point, 8>, 8> gradients{};
  for (std::size_t q = 0; q < 8; ++q) {
    Point at{};
    for (std::size_t d = 0; d < 3; ++d) at[d] = (2 * corner_steps[q][d] - 1) / std::sqrt(3.0);
    for (std::size_t a = 0; a < 8; ++a) {
      Point sign{}, value{};
      for (std::size_t d = 0; d < 3; ++d) {
        sign[d] = 2 * corner_steps[a][d] - 1;
        value[d] = 1 + sign[d] * at[d];
      }
      gradients[q][a] = {sign[0] * value[1] * value[2] / 8, sign[1] * value[0] * value[2] / 8,
                         sign[2] * value[0] * value[1] / 8};
    }
  }
  return gradients;
}

/// Derivatives by x, y, z of the shape functions at one point, and what the point weighs.
double spatial_gradients(const Corners& x, const std::array<Point, 8>& reference, std::array<Point, 8>& spatial) {
  double J[3][3] = {};
  for (std::size_t a = 0; a < 8; ++a)
    for (std::size_t r = 0; r < 3; ++r)
      for (std::size_t d = 0; d < 3; ++d) J[r][d] += reference[a][r] * x[a][d];
  const double c0 = J[1][1] * J[2][2] - J[1][2] * J[2][1], c1 = J[1][2] * J[2][0] - J[1][0] * J[2][2],
               c2 = J[1][0] * J[2][1] - J[1][1] * J[2][0];
  const double determinant = J[0][0] * c0 + J[0][1] * c1 + J[0][2] * c2, s = 1 / determinant;
  const double inverse[3][3] = {
      {c0 * s, (J[0][2] * J[2][1] - J[0][1] * J[2][2]) * s, (J[0][1] * J[1][2] - J[0][2] * J[1][1]) * s},
      {c1 * s, (J[0][0] * J[2][2] - J[0][2] * J[2][0]) * s, (J[0][2] * J[1][0] - J[0][0] * J[1][2]) * s},
      {c2 * s, (J[0][1] * J[2][0] - J[0][0] * J[2][1]) * s, (J[0][0] * J[1][1] - J[0][1] * J[1][0]) * s}};
  for (std::size_t a = 0; a < 8; ++a)
    for (std::size_t d = 0; d < 3; ++d)
      spatial[a][d] =
          inverse[d][0] * reference[a][0] + inverse[d][1] * reference[a][1] + inverse[d][2] * reference[a][2];
  return determinant;
}

/// The stiffness of one element: λ g_a g_bᵀ + μ g_b g_aᵀ + μ (g_a · g_b) I for each pair of nodes and each point.
void integrate(const Corners& x, const std::array<std::array<Point, 8>, 8>& reference, ElementMatrix& matrix) {
  constexpr double lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson)), mu = young / (2 * (1 + poisson));
  for (auto& row : matrix) row.fill(0);
  std::array<Point, 8> g;
  for (std::size_t q = 0; q < 8; ++q) {
    const double weight = spatial_gradients(x, reference[q], g);
    for (std::size_t a = 0; a < 8; ++a)
      for (std::size_t b = a; b < 8; ++b) {
        const double shear = mu * weight * (g[a][0] * g[b][0] + g[a][1] * g[b][1] + g[a][2] * g[b][2]);
        for (std::size_t r = 0; r < 3; ++r) {
          for (std::size_t c = 0; c < 3; ++c)
            matrix[3 * a + r][3 * b + c] += weight * (lambda * g[a][r] * g[b][c] + mu * g[b][r] * g[a][c]);
          matrix[3 * a + r][3 * b + r] += shear;
        }
      }
  }
  for (std::size_t r = 0; r < 24; ++r)
    for (std::size_t c = 0; c < r; ++c) matrix[r][c] = matrix[c][r];
}

/// An empty matrix with exactly the room that it needs.
PetscErrorCode create_matrix(const Grid& grid, Mat* matrix) {
  PetscFunctionBeginUser;
  const PetscInt local = grid.owned * grid.plane_nodes();
  std::vector<PetscInt> inside(static_cast<std::size_t>(local)), outside(inside.size());
  const auto neighbours = [](PetscInt at, PetscInt lowest, PetscInt highest) {
    return 1 + PetscInt(at > lowest) + PetscInt(at < highest);
  };
  std::size_t row = 0;
  for (PetscInt i = grid.first; i <= grid.last(); ++i)
    for (PetscInt j = 0; j <= grid.n; ++j)
      for (PetscInt k = 0; k <= grid.n; ++k, ++row) {
        const PetscInt around = neighbours(j, 0, grid.n) * neighbours(k, 0, grid.n);
        const PetscInt own = neighbours(i, grid.first, grid.last());
        inside[row] = around * own;
        outside[row] = around * (neighbours(i, 1, grid.planes()) - own);
      }
  PetscCall(MatCreate(PETSC_COMM_WORLD, matrix));
  PetscCall(MatSetSizes(*matrix, 3 * local, 3 * local, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetBlockSize(*matrix, 3));
  PetscCall(MatSetType(*matrix, MATAIJ));
  PetscCall(MatSetFromOptions(*matrix));
  PetscCall(MatXAIJSetPreallocation(*matrix, 3, inside.data(), outside.data(), nullptr, nullptr));
  PetscFunctionReturn(PetscErrorCode{});
}

/// Integrates every element that touches a plane of this rank. Those on the border between two ranks are thus
/// integrated by both, which is cheaper than sending matrices about.
PetscErrorCode assemble(const Grid& grid, Mat matrix) {
  PetscFunctionBeginUser;
  const auto reference = reference_gradients();
  const double h = grid.spacing();
  ElementMatrix element;
  Corners x;
  std::array<PetscInt, 8> rows, columns;
  for (PetscInt i = grid.first - 1; i < std::min(grid.last() + 1, grid.planes()); ++i)
    for (PetscInt j = 0; j < grid.n; ++j)
      for (PetscInt k = 0; k < grid.n; ++k) {
        for (std::size_t a = 0; a < 8; ++a) {
          const PetscInt ni = i + corner_steps[a][0], nj = j + corner_steps[a][1], nk = k + corner_steps[a][2];
          x[a] = {h * static_cast<double>(ni), h * static_cast<double>(nj), h * static_cast<double>(nk)};
          // PETSc passes over negative numbers: those of clamped nodes, and of rows that another rank adds up.
          columns[a] = ni == 0 ? -1 : grid.node(ni, nj, nk);
          rows[a] = ni < grid.first || ni > grid.last() ? -1 : columns[a];
        }
        integrate(x, reference, element);
        PetscCall(MatSetValuesBlocked(matrix, 8, rows.data(), 8, columns.data(), element[0].data(), ADD_VALUES));
      }
  PetscCall(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(matrix, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(PetscErrorCode{});
}

/// Forces of the traction on the end x = 10: each face gives a quarter of its own to each of its nodes.
PetscErrorCode load(const Grid& grid, Vec force) {
  PetscFunctionBeginUser;
  const double quarter = traction_z * grid.spacing() * grid.spacing() / 4;
  if (grid.last() == grid.planes())
    for (PetscInt j = 0; j <= grid.n; ++j)
      for (PetscInt k = 0; k <= grid.n; ++k) {
        const int faces = (1 + (j > 0 && j < grid.n)) * (1 + (k > 0 && k < grid.n));
        PetscCall(VecSetValue(force, 3 * grid.node(grid.planes(), j, k) + 2, quarter * faces, INSERT_VALUES));
      }
  PetscCall(VecAssemblyBegin(force));
  PetscCall(VecAssemblyEnd(force));
  PetscFunctionReturn(PetscErrorCode{});
}

/// The six ways in which the body could move as a whole, from which GAMG makes its coarse spaces.
PetscErrorCode set_rigid_bodies(const Grid& grid, Mat matrix) {
  PetscFunctionBeginUser;
  Vec coordinates;
  PetscCall(MatCreateVecs(matrix, &coordinates, nullptr));
  PetscCall(VecSetBlockSize(coordinates, 3));
  PetscScalar* array = nullptr;
  PetscCall(VecGetArray(coordinates, &array));
  PetscScalar* x = array;
  for (PetscInt i = grid.first; i <= grid.last(); ++i)
    for (PetscInt j = 0; j <= grid.n; ++j)
      for (PetscInt k = 0; k <= grid.n; ++k)
        for (const PetscInt step : {i, j, k}) *x++ = grid.spacing() * static_cast<double>(step);
  PetscCall(VecRestoreArray(coordinates, &array));
  MatNullSpace bodies;
  PetscCall(MatNullSpaceCreateRigidBody(coordinates, &bodies));
  PetscCall(MatSetNearNullSpace(matrix, bodies));
  PetscCall(MatNullSpaceDestroy(&bodies));
  PetscCall(VecDestroy(&coordinates));
  PetscFunctionReturn(PetscErrorCode{});
}

/// The most memory that this process has had, in bytes.
double peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0) return 1024.0 * std::strtod(line.c_str() + 6, nullptr);
  return 0;
}

/// All that is printed.
struct Report {
  double start_bytes = 0, peak_bytes = 0;  // of all ranks: before the work, and at most
  double assembly = 0, setup = 0, solve = 0;
  PetscInt iterations = 0;
  bool converged = false;
  double residual = 0, tip = 0;
  double complexity = std::nan("");  // entries of all levels' matrices over those of the finest
};

/// Time that all ranks have come to.
double now() {
  MPI_Barrier(PETSC_COMM_WORLD);
  return MPI_Wtime();
}

double sum_of_ranks(double value) {
  double sum = 0;
  MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD);
  return sum;
}

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

/// Whether the tip is where it should be; true where nobody knows.
bool tip_is_right(int n, double tip) {
  const double reference = reference_tip(n);
  return reference == 0 || std::fabs(tip - reference) <= tip_tolerance * std::fabs(reference);
}

/// A number as JSON has it, which knows no NaN.
std::string json(const char* format, double value) {
  if (!std::isfinite(value)) return "null";
  char text[40];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

const char* json(bool value) { return value ? "true" : "false"; }

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
