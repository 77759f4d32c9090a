// A plugin on a machine without its device.
#include <voussoir/backends/plugin.hpp>

namespace {

voussoir::BackendProbe probe() { return {false, "the driver reports 0 devices"}; }

voussoir::Backend* open(const char*) {
  throw voussoir::Error(voussoir::ErrorCode::internal, "opened although there is no device");
}

}  // namespace

extern "C" const voussoir::BackendPlugin* voussoir_backend_plugin() {
  static const voussoir::BackendPlugin plugin{voussoir::backend_plugin_abi, "nodevice", "2.0", probe, open};
  return &plugin;
}
