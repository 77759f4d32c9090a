// The cantilever of the benchmarks in PETSc: its mesh, its element matrices, its load, and what is printed of a run.
#pragma once
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

namespace cantilever {

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

/// Reference displacement of the loaded end on this mesh; 0 if it is not known.
inline double reference_tip(int n) {
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

inline Grid share_of_rank(PetscInt n, int rank, int ranks) {
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

/// Derivatives of the eight shape functions with respect to ξ, η, ζ at the eight points of the 2×2×2 rule.
inline std::array<std::array<Point, 8>, 8> reference_gradients() {
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

/// Derivatives of the shape functions with respect to x, y, z at one point, and the weight of the point.
inline double spatial_gradients(const Corners& x, const std::array<Point, 8>& reference,
                                std::array<Point, 8>& spatial) {
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
inline void integrate(const Corners& x, const std::array<std::array<Point, 8>, 8>& reference, ElementMatrix& matrix) {
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

/// An empty matrix with exact preallocation.
inline PetscErrorCode create_matrix(const Grid& grid, Mat* matrix) {
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
/// integrated by both, which is cheaper than communicating matrices.
inline PetscErrorCode assemble(const Grid& grid, Mat matrix) {
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
          // PETSc ignores negative numbers: those of clamped nodes, and of rows that another rank assembles.
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

/// Nodal forces of the traction on the end x = 10: each face contributes a quarter of its force to each of its nodes.
inline PetscErrorCode load(const Grid& grid, Vec force) {
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

/// The six rigid-body motions, from which GAMG builds its coarse spaces.
inline PetscErrorCode set_rigid_bodies(const Grid& grid, Mat matrix) {
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

/// The peak memory of this process, in bytes.
inline double peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0) return 1024.0 * std::strtod(line.c_str() + 6, nullptr);
  return 0;
}

/// The time after all ranks have reached this point.
inline double now() {
  MPI_Barrier(PETSC_COMM_WORLD);
  return MPI_Wtime();
}

inline double sum_of_ranks(double value) {
  double sum = 0;
  MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD);
  return sum;
}

/// Whether the displacement of the tip agrees with the reference; true if there is no reference.
inline bool tip_is_right(int n, double tip) {
  const double reference = reference_tip(n);
  return reference == 0 || std::fabs(tip - reference) <= tip_tolerance * std::fabs(reference);
}

/// A number as JSON; null for NaN, which JSON does not have.
inline std::string json(const char* format, double value) {
  if (!std::isfinite(value)) return "null";
  char text[40];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

inline const char* json(bool value) { return value ? "true" : "false"; }

}  // namespace cantilever
