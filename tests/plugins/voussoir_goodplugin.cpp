// A plugin as it should be: its backend is the OpenMP backend under another roof.
#include <cstring>
#include <memory>
#include <string>

#include <voussoir/backends/openmp/cpu_backend.hpp>
#include <voussoir/backends/openmp/openmp_memory.hpp>
#include <voussoir/backends/plugin.hpp>

namespace {

voussoir::BackendProbe probe() { return {true, "a device made of air"}; }

voussoir::Backend* open(const char* argument) {
  if (std::strcmp(argument, "broken") == 0)
    throw voussoir::Error(voussoir::ErrorCode::device, "the device made of air is broken");
  const std::string name = *argument ? "goodplugin:" + std::string(argument) : "goodplugin";
  return new voussoir::CpuBackend(name, "goodplugin: a device made of air",
                                  {std::make_shared<voussoir::OpenMpMemory>(1)}, 1);
}

}  // namespace

extern "C" const voussoir::BackendPlugin* voussoir_backend_plugin() {
  static const voussoir::BackendPlugin plugin{voussoir::backend_plugin_abi, "goodplugin", "1.2.3", probe, open};
  return &plugin;
}
