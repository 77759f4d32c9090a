// A plugin from an earlier time. Its functions must never be called, so it has none.
#include <voussoir/backends/plugin.hpp>

extern "C" const voussoir::BackendPlugin* voussoir_backend_plugin() {
  static const voussoir::BackendPlugin plugin{voussoir::backend_plugin_abi - 1, "oldplugin", "0.0.1", nullptr, nullptr};
  return &plugin;
}
