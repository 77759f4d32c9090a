#include <voussoir/partition/process/engine.hpp>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <iostream>
#include <system_error>

#include <voussoir/backends/host_memory.hpp>
#include <voussoir/backends/plugin.hpp>

namespace voussoir {
namespace {

[[noreturn]] void engine_unavailable(const std::string& name, const std::string& reason) {
  throw Error(ErrorCode::unavailable, "engine '" + name + "' is not available: " + reason);
}

std::string loader_error() {
  const char* text = dlerror();
  return text ? text : "the loader gave no reason";
}

/// Whether the loader failed for want of memory, by its message.
bool lacks_memory(const std::string& reason) {
  for (const char* const words : {"failed to map segment", "cannot allocate", "annot allocate memory", "out of memory"})
    if (reason.find(words) != std::string::npos) return true;
  return false;
}

/// Loads a library so that it prefers what it is linked with to what the program has loaded: our direct solver comes
/// with a sequential MUMPS and a stand-in for MPI, whose functions have the names of the real ones.
void* load_engine(const std::string& file) { return dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND); }

/// Whether there is memory for a library to start. If a constructor of one of its libraries fails to allocate memory,
/// the process ends at once, so a child process tries it first. Only where allocations can fail.
bool can_start(const std::string& file) {
  if (!available_host_memory().allocation_fails) return true;
  const pid_t child = fork();
  if (child < 0) return true;  // it cannot be tried
  if (child == 0) {
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    const int nowhere = ::open("/dev/null", O_WRONLY);
    if (nowhere >= 0) dup2(nowhere, STDERR_FILENO);
    load_engine(file);  // if it is not found, or cannot be mapped, the loader will say so below
    _exit(0);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Whether the program has a copy of a variable of a system library, as programs for x86-64 have that name it in code
/// compiled without -fPIC. What is loaded as above sees the library's own variable instead.
bool is_copied(const char* library, const char* variable, const void* address) {
  void* const handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (!handle) return false;
  void* const original = dlsym(handle, variable);
  dlclose(handle);
  return original && original != address;
}

/// MPI would see two environments, and release memory that is not its own; libraries that write to std::cout at the end
/// would find no stream there.
void refuse_copied_variables(const std::string& name) {
  const char* copied = is_copied("libc.so.6", "environ", static_cast<const void*>(&environ)) ? "environ"
                       : is_copied("libstdc++.so.6", "_ZSt4cout", &std::cout)                ? "std::cout"
                                                                                             : nullptr;
  if (copied)
    engine_unavailable(name, "this program has its own copy of the variable " + std::string(copied) +
                                 ", which the libraries of MPI do not see; compile it with -fPIC, and link the C++ "
                                 "library as a shared one");
}

struct EngineLibrary {
  void* handle;
  std::string file;
};

EngineLibrary find_engine(const std::string& name) {
  const std::string file = "libvoussoir_" + name + ".so";
  std::string searched;
  for (const std::string& folder : plugin_search_path()) {
    const std::filesystem::path path = std::filesystem::path(folder) / file;
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) {
      if (!can_start(path.string()))
        throw Error(ErrorCode::out_of_memory,
                    "out of memory while the engine '" + name + "' was loaded; raise the limit of memory (ulimit -v)");
      if (void* handle = load_engine(path.string())) return {handle, path.string()};
      const std::string reason = loader_error();
      if (lacks_memory(reason))
        throw Error(ErrorCode::out_of_memory, "out of memory while the engine '" + name + "' was loaded (" + reason +
                                                  "); raise the limit of memory (ulimit -v)");
      engine_unavailable(name, path.string() + " cannot be loaded (" + reason +
                                   "); install its dependencies, or rebuild it for this machine");
    }
    searched += folder + ", ";
  }
  if (void* handle = load_engine(file)) return {handle, file};
  engine_unavailable(name, file + " was not found (searched " + searched +
                               "the system's library folders). Build Voussoir with -DVOUSSOIR_PETSC=ON for the engine "
                               "'petsc', or set VOUSSOIR_PLUGIN_PATH to the folder that has it");
}

const EnginePlugin& examine_engine(const EngineLibrary& library, const std::string& name) {
  dlerror();
  void* const symbol = dlsym(library.handle, engine_plugin_symbol);
  if (!symbol) engine_unavailable(name, library.file + " does not export the function " + engine_plugin_symbol);
  const EnginePlugin* const plugin = reinterpret_cast<EnginePluginEntry>(symbol)();
  if (!plugin) engine_unavailable(name, library.file + " has no description");
  if (plugin->abi != abi_number)
    engine_unavailable(name, library.file + " has plugin ABI " + std::to_string(plugin->abi) +
                                 ", and this library expects " + std::to_string(abi_number) + "; rebuild the plugin");
  if (!plugin->name || name != plugin->name || !plugin->open)
    engine_unavailable(name, library.file + " contains another engine; rebuild the plugin");
  return *plugin;
}

}  // namespace

std::vector<std::string> process_environment() {
  std::vector<std::string> all;
  for (char** entry = environ; entry && *entry; ++entry) all.emplace_back(*entry);
  return all;
}

std::unique_ptr<Engine> open_engine(const std::string& name, const std::string& options) {
  if (name.empty() || name.find('/') != std::string::npos)
    throw Error(ErrorCode::not_found, "there is no engine '" + name + "'; use 'petsc'");
  refuse_copied_variables(name);
  static std::atomic<bool> opened = false;
  const EnginePlugin& plugin = examine_engine(find_engine(name), name);
  if (opened.exchange(true))
    throw Error(ErrorCode::misuse, "an engine can be started once in a process, since MPI cannot start again");
  std::unique_ptr<Engine> engine(plugin.open(options.c_str()));
  if (!engine) engine_unavailable(name, "its plugin started no engine and gave no reason");
  return engine;
}

}  // namespace voussoir
