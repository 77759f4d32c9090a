#include <voussoir/engines/petsc/petsc_engine.hpp>

#include <dlfcn.h>
#include <malloc.h>
#include <petscmat.h>
#include <slepcsys.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include <voussoir/backends/host_memory.hpp>
#include <voussoir/engines/petsc/calls.hpp>
#include <voussoir/engines/petsc/local_solver.hpp>
#include <voussoir/engines/petsc/petsc_modes.hpp>
#include <voussoir/engines/petsc/petsc_solver.hpp>
#include <voussoir/engines/petsc/scotch_partitioner.hpp>
#include <voussoir/partition/process/own_processors.hpp>
#include <voussoir/solvers/direct/blas_memory.hpp>

namespace voussoir::petsc {
namespace {

/// Open MPI loads components of its own, which need the symbols of libmpi: the plugin was loaded without showing them.
void show_mpi_to_its_components() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&MPI_Init_thread), &info) != 0 && info.dli_fname)
    dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}

/// Whether this process has a limit on its memory beyond which allocations fail (ulimit -v).
bool memory_is_limited() { return available_host_memory().allocation_fails; }

/// Libraries that start here do not survive a failed allocation: Open MPI ends the process or crashes. What they need
/// is checked for first.
void require_memory_to_start() {
  if (!memory_is_limited()) return;
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 1);  // otherwise each thread of MPI reserves 64 MB of addresses for its own allocations
#endif
  // MPI_Init and PETSc, threads of the program, and memory that MPI shares with each process of the machine.
  const char* const neighbours = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  const double bytes = 80e6 + 8e6 * std::max(1, neighbours ? std::atoi(neighbours) : 1) + blas_bytes_per_thread();
  const AvailableMemory room = available_host_memory();
  if (room.bytes >= bytes) return;
  const auto megabytes = [](double b) { return std::to_string(std::llround(b / 1e6)) + " MB"; };
  throw Error(ErrorCode::out_of_memory, "MPI and PETSc need about " + megabytes(bytes) + " of memory to start, and " +
                                            room.limit + " leaves " + megabytes(room.bytes) +
                                            "; raise it, or start fewer processes on this machine");
}

/// OpenBLAS retries a failed allocation forever. It keeps the memory of its first product, so that is computed here,
/// while there is memory.
void give_blas_its_memory() {
  if (!memory_is_limited()) return;
  constexpr PetscInt size = 192;  // smaller products may do without memory
  Mat a = nullptr, product = nullptr;
  VSR_PETSC(MatCreateSeqDense(PETSC_COMM_SELF, size, size, nullptr, &a));
  VSR_PETSC(MatShift(a, 1.0));
  VSR_PETSC(MatMatMult(a, a, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &product));
  VSR_PETSC(MatDestroy(&product));
  VSR_PETSC(MatDestroy(&a));
}

/// Large arrays in mappings of their own, which go back to the system when they are released. SuperLU_DIST, which
/// Debian's PETSc loads, switches that off for the whole process, and so may libraries of networks (libpsm2,
/// libinfinipath); memory between arrays of multigrid set-up would then stay with the process. What the user has set
/// is set again.
void give_large_arrays_their_own_memory() {
#ifdef __GLIBC__
  const auto choose = [](int parameter, const char* variable, int value) {
    const char* const text = std::getenv(variable);
    mallopt(parameter, text && *text ? std::atoi(text) : value);
  };
  choose(M_MMAP_MAX, "MALLOC_MMAP_MAX_", 65536);
  choose(M_MMAP_THRESHOLD, "MALLOC_MMAP_THRESHOLD_", 1 << 20);
  choose(M_TRIM_THRESHOLD, "MALLOC_TRIM_THRESHOLD_", 1 << 21);
#endif
}

/// Processes of a launcher of another MPI do not know of each other, and each would solve the whole job.
void check_launcher(int count) {
  const char* const size = std::getenv("PMI_SIZE");
  if (count > 1 || !size || std::atoi(size) < 2) return;
  char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(library, &length);
  std::string text(library, static_cast<std::size_t>(length));
  throw Error(
      ErrorCode::unavailable,
      "the launcher has started " + std::string(size) +
          " processes that do not know of each other: it belongs to another MPI than the one that the engine was "
          "built with (" +
          text.substr(0, text.find(',')) + "); use the mpirun of that MPI");
}

/// The words of a text that begin as options do, and not as negative numbers.
std::vector<std::string> option_names(const std::string& text) {
  std::vector<std::string> names;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t begin = text.find_first_not_of(" \t\n", at);
    if (begin == std::string::npos) break;
    const std::size_t end = std::min(text.find_first_of(" \t\n", begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (word.size() > 1 && word[0] == '-' && std::isalpha(static_cast<unsigned char>(word[1]))) names.push_back(word);
    at = end;
  }
  if (names.empty() && text.find_first_not_of(" \t\n") != std::string::npos)
    throw Error(ErrorCode::bad_input,
                "'" + text + "' has no option of PETSc; these begin with a minus sign: '-ksp_view'");
  return names;
}

/// Whether there are options of PETSc that choose a Krylov method or a preconditioner.
bool has_solver_options() {
  char* all = nullptr;
  VSR_PETSC(PetscOptionsGetAll(nullptr, &all));
  std::istringstream words(all ? all : "");
  PetscFree(all);
  bool any = false;
  for (std::string word; words >> word;) any = any || word.starts_with("-ksp_") || word.starts_with("-pc_");
  return any;
}

}  // namespace

PetscEngine::PetscEngine(const std::string& options) : user_options_(option_names(options)) {
  require_memory_to_start();
  show_mpi_to_its_components();
  int started = 0;
  VSR_MPI(MPI_Initialized(&started));
  if (!started) {
    int level = 0;
    VSR_MPI(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level));
    started_mpi_ = true;
  }
  VSR_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &communicator_));
  VSR_MPI(MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN));
  processes_ = std::make_unique<MpiProcesses>(communicator_);
  check_launcher(processes_->count());
  processors_ = own_processors(processes_->placement());
  blas_threads_ = std::make_unique<BlasThreads>(processors_);
  // Signals belong to the program.
  VSR_PETSC(PetscOptionsSetValue(nullptr, "-no_signal_handler", "true"));
  VSR_PETSC(SlepcInitializeNoArguments());
  VSR_PETSC(PetscPushErrorHandler(keep_petsc_error, nullptr));
  VSR_PETSC(PetscOptionsInsertString(nullptr, options.c_str()));
  user_chooses_solver_ = has_solver_options();
  give_large_arrays_their_own_memory();
  give_blas_its_memory();
  register_local_solver();
  PETSC_STDOUT = stderr;  // standard output is for results
}

PetscEngine::~PetscEngine() {
  set_local_backend(nullptr);
  processes_.reset();
  PetscPopErrorHandler();
  SlepcFinalize();
  if (communicator_ != MPI_COMM_NULL) MPI_Comm_free(&communicator_);
  if (started_mpi_) MPI_Finalize();
}

PetscErrorCode PetscEngine::ask_to_stop(const std::function<bool(int, double)>& progress, PetscInt iteration,
                                        double measure, bool& stops) const noexcept {
  int any = 0;
  try {
    any = progress && !progress(static_cast<int>(iteration), measure) ? 1 : 0;
  } catch (...) {
    any = 1;
  }
  if (MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, communicator_) != MPI_SUCCESS) return PETSC_ERR_LIB;
  stops = any != 0;
  return 0;
}

std::string PetscEngine::describe() const {
  PetscInt major = 0, minor = 0, subminor = 0;
  PetscGetVersionNumber(&major, &minor, &subminor, nullptr);
  std::string text = "PETSc " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(subminor) +
                     (sizeof(PetscInt) == 8 ? " with 64-bit integers, " : ", ");
  char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(library, &length);
  const std::string mpi(library, static_cast<std::size_t>(length));
  text += mpi.substr(0, mpi.find(','));
  return text;
}

std::vector<std::pair<std::string, std::string>> PetscEngine::methods() const {
  std::vector<std::pair<std::string, std::string>> names;
  for (const Method& method : solver_methods()) names.emplace_back(method.name, method.text);
  return names;
}

std::unique_ptr<ProcessSolver> PetscEngine::make_solver(const EngineSettings& settings) {
  return std::make_unique<PetscSolver>(*this, settings);
}

std::unique_ptr<ProcessEigenSolver> PetscEngine::make_eigen_solver(const EngineSettings& settings) {
  return std::make_unique<PetscModes>(*this, settings);
}

bool PetscEngine::has_graph_partitioner(const std::string& name) const { return name == "ptscotch" && has_scotch(); }

std::unique_ptr<ProcessGraphPartitioner> PetscEngine::make_graph_partitioner(const std::string& name) {
  if (name != "ptscotch")
    throw Error(ErrorCode::not_found, "the engine petsc has no partitioner '" + name + "' of graphs; it has ptscotch");
  return make_scotch_partitioner(communicator_);
}

void PetscEngine::set_starting_options(const std::vector<std::pair<std::string, std::string>>& options) {
  for (const std::string& name : starting_options_) VSR_PETSC(PetscOptionsClearValue(nullptr, name.c_str()));
  starting_options_.clear();
  for (const auto& [name, value] : options) {
    PetscBool given = PETSC_FALSE;
    VSR_PETSC(PetscOptionsHasName(nullptr, nullptr, name.c_str(), &given));
    if (given) continue;
    VSR_PETSC(PetscOptionsSetValue(nullptr, name.c_str(), value.c_str()));
    starting_options_.push_back(name);
  }
}

std::vector<std::string> PetscEngine::notes() const {
  PetscInt count = 0;
  char **names = nullptr, **values = nullptr;
  VSR_PETSC(PetscOptionsLeftGet(nullptr, &count, &names, &values));
  std::string unused;
  for (PetscInt i = 0; i < count; ++i) {
    const std::string name = std::string("-") + names[i];
    if (std::find(user_options_.begin(), user_options_.end(), name) != user_options_.end())
      unused += (unused.empty() ? "" : ", ") + name;
  }
  VSR_PETSC(PetscOptionsLeftRestore(nullptr, &count, &names, &values));
  if (unused.empty()) return {};
  return {"these --petsc options were not used: " + unused};
}

}  // namespace voussoir::petsc
