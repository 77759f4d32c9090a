// The lowest modes of the cantilever of `voussoir bench cpu` by SLEPc (shift and invert, MUMPS), on the matrices that
// Voussoir assembles: a peer for docs/benchmarks/modes.md. Needs slepc-dev and MPI, and a built library:
//
//   mpicxx -std=c++20 -O2 tools/compare-slepc.cpp -o compare-slepc -I build/include -isystem /usr/include/eigen3
//       $(pkg-config --cflags --libs slepc petsc) -L build -lvoussoir -Wl,-rpath,build
//   OMP_NUM_THREADS=1 mpirun -n 2 ./compare-slepc N [modes]
//
// N elements across, 10 N along; the first rank assembles and writes both matrices to files that all of them load.
// The time is that of EPSSolve: analysis, factorisation and iteration.
#include <slepceps.h>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <voussoir/framework/mesh/sample_models.hpp>
#include <voussoir/voussoir.hpp>

namespace {

void check(PetscErrorCode code) {
  if (code) throw std::runtime_error("PETSc error " + std::to_string(code));
}

/// PETSc's binary files are big-endian.
template <class T>
void put(std::ofstream& file, T value) {
  auto* bytes = reinterpret_cast<char*>(&value);
  if constexpr (std::endian::native == std::endian::little)
    for (std::size_t i = 0; i < sizeof(T) / 2; ++i) std::swap(bytes[i], bytes[sizeof(T) - 1 - i]);
  file.write(bytes, sizeof(T));
}

/// The free equations of a matrix, as PETSc's MatLoad() reads them.
void write(const voussoir::SparseMatrix& matrix, const voussoir::AnalysisModel& model, const std::string& path) {
  const voussoir::HostMatrix rows = matrix.to_host();
  const int b = rows.block_size;
  std::vector<std::int32_t> number(static_cast<std::size_t>(model.equation_count()), -1);
  std::int32_t count = 0;
  for (std::int32_t e = 0; e < model.equation_count(); ++e)
    if (model.is_free(e)) number[static_cast<std::size_t>(e)] = count++;
  std::vector<std::int32_t> length, column;
  std::vector<double> value;
  for (std::int64_t i = 0; i < rows.block_rows(); ++i)
    for (int r = 0; r < b; ++r) {
      if (number[static_cast<std::size_t>(i * b + r)] < 0) continue;
      const std::size_t before = column.size();
      for (std::int64_t k = rows.row_start[static_cast<std::size_t>(i)];
           k < rows.row_start[static_cast<std::size_t>(i) + 1]; ++k)
        for (int c = 0; c < b; ++c) {
          const std::int32_t to = number[static_cast<std::size_t>(rows.column[static_cast<std::size_t>(k)]) * b + c];
          if (to < 0) continue;
          column.push_back(to);
          value.push_back(rows.value[static_cast<std::size_t>((k * b + r) * b + c)]);
        }
      length.push_back(static_cast<std::int32_t>(column.size() - before));
    }
  std::ofstream file(path, std::ios::binary);
  for (const std::int32_t head : {1211216, count, count, static_cast<std::int32_t>(column.size())}) put(file, head);
  for (const std::int32_t n : length) put(file, n);
  for (const std::int32_t n : column) put(file, n);
  for (const double v : value) put(file, v);
  if (!file) throw std::runtime_error("cannot write " + path);
}

void assemble(int n) {
  voussoir::Domain domain;
  voussoir::BoxModel box;
  box.extent = {10, 1, 1};
  box.type = "solid.hex8.full";
  box.fineness = {1.0 / n, 0};
  voussoir::add_box_model(domain, box);
  const auto backend = voussoir::Backend::open("openmp");
  const voussoir::AnalysisModel model(domain, backend, voussoir::TransformationHandler(), voussoir::PlainNumberer());
  const voussoir::EigenProblem problem(model);
  write(problem.stiffness(), model, "stiffness.petsc");
  write(problem.mass(), model, "mass.petsc");
  std::printf("%lld free unknowns\n", static_cast<long long>(problem.free_equations()));
}

Mat load(const char* path) {
  Mat matrix;
  PetscViewer file;
  check(MatCreate(PETSC_COMM_WORLD, &matrix));
  check(MatSetType(matrix, MATAIJ));
  check(PetscViewerBinaryOpen(PETSC_COMM_WORLD, path, FILE_MODE_READ, &file));
  check(MatLoad(matrix, file));
  check(PetscViewerDestroy(&file));
  check(MatSetOption(matrix, MAT_SYMMETRIC, PETSC_TRUE));
  check(MatSetOption(matrix, MAT_SPD, PETSC_TRUE));
  return matrix;
}

void solve(int modes) {
  const Mat stiffness = load("stiffness.petsc"), mass = load("mass.petsc");
  EPS solver;
  ST transform;
  KSP inner;
  PC factor;
  check(EPSCreate(PETSC_COMM_WORLD, &solver));
  check(EPSSetOperators(solver, stiffness, mass));
  check(EPSSetProblemType(solver, EPS_GHEP));
  check(EPSSetDimensions(solver, modes, PETSC_DEFAULT, PETSC_DEFAULT));
  check(EPSSetTolerances(solver, 1e-8, PETSC_DEFAULT));
  check(EPSSetTarget(solver, 0));
  check(EPSSetWhichEigenpairs(solver, EPS_TARGET_MAGNITUDE));
  check(EPSGetST(solver, &transform));
  check(STSetType(transform, STSINVERT));
  check(STGetKSP(transform, &inner));
  check(KSPSetType(inner, KSPPREONLY));
  check(KSPGetPC(inner, &factor));
  check(PCSetType(factor, PCCHOLESKY));
  check(PCFactorSetMatSolverType(factor, MATSOLVERMUMPS));
  check(EPSSetFromOptions(solver));
  const double before = MPI_Wtime();
  check(EPSSolve(solver));
  const double seconds = MPI_Wtime() - before;
  PetscInt found = 0;
  check(EPSGetConverged(solver, &found));
  int rank = 0;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  for (PetscInt i = 0; i < found; ++i) {
    PetscScalar value;
    check(EPSGetEigenvalue(solver, i, &value, nullptr));
    if (rank == 0 && (i < 3 || i == modes - 1))
      std::printf("mode %d: %.7f Hz\n", static_cast<int>(i) + 1, voussoir::frequency_of(value));
  }
  if (rank == 0) std::printf("SLEPc: %d modes in %.2f s\n", static_cast<int>(found), seconds);
}

}  // namespace

int main(int count, char** words) {
  SlepcInitialize(&count, &words, nullptr, nullptr);
  const int n = count > 1 ? std::atoi(words[1]) : 10, modes = count > 2 ? std::atoi(words[2]) : 27;
  int rank = 0;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  try {
    if (rank == 0) assemble(n);
    MPI_Barrier(PETSC_COMM_WORLD);
    solve(modes);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "compare-slepc: %s\n", error.what());
    MPI_Abort(PETSC_COMM_WORLD, 1);
  }
  SlepcFinalize();
}
