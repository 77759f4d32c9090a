#include <voussoir/backends/plugin.hpp>
#include <voussoir/engines/petsc/petsc_engine.hpp>

#include <voussoir/backends/version.hpp>

namespace {

voussoir::Engine* open_petsc(const char* options) { return new voussoir::petsc::PetscEngine(options); }

// The file has the name of a backend's plugin, too, so it answers those who ask for one.
voussoir::BackendProbe probe_petsc() {
  return {false, "an engine for several processes, not a backend; use `mpirun -n N voussoir run FILE --engine petsc`"};
}

voussoir::Backend* open_no_backend(const char*) {
  throw voussoir::Error(voussoir::ErrorCode::unavailable, probe_petsc().reason);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const voussoir::EnginePlugin* voussoir_engine_plugin() {
  static const voussoir::EnginePlugin plugin{voussoir::abi_number, "petsc", VOUSSOIR_VERSION, open_petsc};
  return &plugin;
}

extern "C" __attribute__((visibility("default"))) const voussoir::BackendPlugin* voussoir_backend_plugin() {
  static const voussoir::BackendPlugin plugin{voussoir::backend_plugin_abi, "petsc", VOUSSOIR_VERSION, probe_petsc,
                                              open_no_backend};
  return &plugin;
}
