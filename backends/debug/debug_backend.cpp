#include <voussoir/backends/debug/debug_backend.hpp>

#include <string>

#include <voussoir/backends/debug/debug_memory.hpp>
#include <voussoir/backends/openmp/cpu_backend.hpp>

namespace voussoir {

std::shared_ptr<Backend> make_debug_backend(int devices) {
  constexpr int threads = 2;  // enough to show work that is shared out wrongly
  const std::string name = devices == 1 ? "debug" : "debug:" + std::to_string(devices);
  const std::string text = "debug: " + std::to_string(devices) + (devices == 1 ? " pseudo-device" : " pseudo-devices") +
                           " with separate, guarded memory, " + std::to_string(threads) + " threads";
  return std::make_shared<CpuBackend>(name, text, DebugMemory::make(devices), threads);
}

}  // namespace voussoir
