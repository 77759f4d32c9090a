#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <voussoir/backends/abi.hpp>
#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/operator.hpp>
#include <voussoir/framework/analysis/linear_soe.hpp>
#include <voussoir/partition/process/processes.hpp>

// Engines solve one system of equations on several processes, each of which contributes the share of its own elements.
//
// An engine called NAME is a shared library libvoussoir_NAME.so, which open_engine("NAME") loads. It is searched for
// where plugins of backends are (backends/plugin.hpp) and exports one C function:
//
//   extern "C" const voussoir::EnginePlugin* voussoir_engine_plugin();
//
// libvoussoir and its public headers depend neither on MPI nor on the libraries that an engine uses.

namespace voussoir {

/// The share of one process in a system of equations: what its own elements contribute. The whole matrix and the whole
/// right-hand side are the sums over all processes, by the numbers of the equations.
struct SystemShare {
  std::int64_t size = 0;             ///< number of equations of the whole system
  std::int64_t first = 0;            ///< first equation whose row is stored on this process
  std::int64_t owned = 0;            ///< number of rows that are stored on this process, from `first` on
  int block_size = 1;                ///< unknowns of each node where all nodes have equally many; otherwise 1
  std::vector<std::int64_t> number;  ///< per local equation: its number in the whole system
  std::vector<std::uint8_t> free;    ///< per local equation: whether it is solved for; equal on all processes
  HostMatrix matrix;                 ///< by local equations; rows and columns that are not free are ignored
  /// Instead of `matrix`, where the backend of each process multiplies: y = A x by local equations, with x = 0 where
  /// equations are not free. Empty with a matrix; set on all processes or on none.
  std::function<void(std::span<const double> x, std::span<double> y)> product;
  std::vector<double> diagonal;  ///< with `product`: the diagonal of this process's A, by local equations
  bool symmetric = true;         ///< whether the whole matrix is; equal on all processes
  int modes = 0;                 ///< vectors of the near-null space; equal on all processes
  std::vector<double> motions;   ///< `modes` numbers per local equation: rigid motions, or constants
  /// Of this process, for solvers of its own part within a method of the engine; null where it has no elements.
  std::shared_ptr<Backend> backend;
};

/// Where a process runs, and with whom it shares the machine.
struct ProcessPlacement {
  std::string machine;  ///< name of the machine
  int processors = 1;   ///< processors that the process may use
  int neighbours = 1;   ///< processes on the same machine, this one included
  int position = 0;     ///< number of this process among them, from 0
  int sharers = 1;      ///< processes that may use exactly the same processors, this one included
};

/// How an engine solves.
struct EngineSettings {
  std::string method = "auto";       ///< one of Engine::methods(); auto: by the size of the system
  double relative_tolerance = 1e-8;  ///< tolerance of iterative methods
  int max_iterations = 50000;        ///< limit of iterative methods
  std::string storage = "auto";      ///< of each process's elements, a name for make_soe(); auto: a stored matrix
};

/// A solver of one engine for systems that are sums over all processes. All functions are collective.
class ProcessSolver {
 public:
  virtual ~ProcessSolver() = default;
  /// Takes a new matrix, with its numbering, and sets the method up.
  /// The share is released as soon as the engine has a matrix of its own. A method
  /// that needs a matrix throws Error (bad_input) for SystemShare::product.
  virtual void set_system(SystemShare share) = 0;
  /// Solves for a right-hand side, of which every process has its share by local equations, and puts the solution into
  /// `x`: the same numbers for an equation on all processes that have it, and 0 where equations are not free. The
  /// report is the same on all processes.
  virtual SolveReport solve(std::span<const double> b, std::span<double> x) = 0;
  /// Whether solve() starts an iteration from what `x` contains, the same numbers for an equation on all processes that
  /// have it. Otherwise, and where nobody sets it, it starts from zero. Factorisations ignore it.
  bool starts_from_x = false;
  /// Called now and then with (iteration, relative residual). Returning false on one process stops the iteration on all
  /// of them: an Error (cancelled) that all of them throw.
  std::function<bool(int, double)> progress;
};

/// A library that solves systems of equations on several processes. Objects of an engine must be destroyed before it.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::string name() const = 0;      ///< as in open_engine()
  virtual std::string describe() const = 0;  ///< the libraries with their versions
  virtual Processes& processes() = 0;        ///< the processes of this run
  virtual ProcessPlacement placement() = 0;  ///< of this process; collective
  /// Names for EngineSettings::method with one line about each; the first is "auto".
  virtual std::vector<std::pair<std::string, std::string>> methods() const = 0;
  /// Makes a solver. An unknown method is an Error (not_found).
  virtual std::unique_ptr<ProcessSolver> make_solver(const EngineSettings& settings) = 0;
  /// Remarks for the user after the last solve, such as options of the engine's library that nothing has used.
  virtual std::vector<std::string> notes() const = 0;
};

/// What the plugin of an engine exports. The first three members never move, so that a plugin with another ABI number
/// can still be named in an error.
struct EnginePlugin {
  std::int32_t abi = 0;           ///< abi_number of the headers that it was compiled with
  const char* name = nullptr;     ///< NAME of libvoussoir_NAME.so
  const char* version = nullptr;  ///< version of the plugin, for messages
  /// Starts the engine, which the caller owns. `options` are those of the engine's own library in its own syntax.
  Engine* (*open)(const char* options) = nullptr;
};

/// Type of the one function that the plugin of an engine exports.
using EnginePluginEntry = const EnginePlugin* (*)();
/// Name of that function.
inline constexpr const char* engine_plugin_symbol = "voussoir_engine_plugin";

/// The variables of this process's environment, as NAME=VALUE. Programs that open engines use this function rather than
/// the variable `environ`, of which code without -fPIC has a copy: open_engine() refuses such programs.
std::vector<std::string> process_environment();

/// Loads the plugin of an engine and starts it. Errors: unavailable, with the reason and what to do, if there is no
/// such plugin or it does not work here; bad_input for wrong options; misuse if an engine was opened before in this
/// process.
std::unique_ptr<Engine> open_engine(const std::string& name, const std::string& options = {});

}  // namespace voussoir
