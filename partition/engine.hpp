#pragma once
#include <memory>
#include <string>
#include <vector>

#include <voussoir/backends/abi.hpp>
#include <voussoir/framework/analysis/linear_soe.hpp>
#include <voussoir/partition/process_part.hpp>
#include <voussoir/partition/processes.hpp>

// Engines solve one system of equations on several processes, each of which has formed the share of its own elements.
//
// An engine called NAME is a shared library libvoussoir_NAME.so that open_engine("NAME") loads. It is searched for where
// plugins of backends are (backends/plugin.hpp) and exports one C function:
//
//   extern "C" const voussoir::EnginePlugin* voussoir_engine_plugin();
//
// libvoussoir and its public headers know nothing of MPI or of the libraries that an engine uses.

namespace voussoir {

/// How an engine solves.
struct EngineSettings {
  std::string method = "auto";       ///< a method of the engine, Engine::methods(); auto: by the size of the system
  double relative_tolerance = 1e-8;  ///< tolerance of iterative methods
  int max_iterations = 50000;        ///< limit of iterative methods
};

/// A library that solves systems of equations on several processes.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::string name() const = 0;      ///< as in open_engine()
  virtual std::string describe() const = 0;  ///< the libraries with their versions, and the number of processes
  virtual Processes& processes() = 0;        ///< the processes of this run
  /// Names for EngineSettings::method with one line about each, the first is "auto".
  virtual std::vector<std::pair<std::string, std::string>> methods() const = 0;
  /// A solver of systems whose matrices and right-hand sides are sums over all processes. Each process passes the
  /// system of its own part, whose model must be numbered from the part's domain. solve() is collective; the solution
  /// and the report are the same on all processes where they share nodes. The part must outlive the solver.
  virtual std::shared_ptr<Solver> make_solver(const ProcessPart& part, std::size_t domain,
                                              const EngineSettings& settings) = 0;
  /// Remarks for the user since the last call, such as options of the engine that nothing has used.
  virtual std::vector<std::string> take_notes() = 0;
};

/// What a plugin with an engine exports. The first three members never move.
struct EnginePlugin {
  std::int32_t abi = 0;           ///< abi_number of the headers that it was compiled with
  const char* name = nullptr;     ///< NAME of libvoussoir_NAME.so
  const char* version = nullptr;  ///< version of the plugin, for messages
  /// Starts the engine, which the caller owns; at most one at a time. `options` are those of the engine's own library,
  /// in its own syntax. May throw Error.
  Engine* (*open)(const char* options) = nullptr;
};

/// Loads the plugin of an engine and starts it. Errors: unavailable, with the reason and what to do, if there is no such
/// plugin or it does not work here; bad_input for wrong options. An engine can be opened once in a process.
std::unique_ptr<Engine> open_engine(const std::string& name, const std::string& options = {});

}  // namespace voussoir
