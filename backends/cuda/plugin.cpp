#include <voussoir/backends/plugin.hpp>

#include <cctype>
#include <string>
#include <vector>

#include <voussoir/backends/cuda/cuda_backend.hpp>
#include <voussoir/backends/version.hpp>

// libvoussoir_cuda.so, seen from outside: backend "cuda" and its specifications.

namespace voussoir::cuda {

namespace {

constexpr const char* plugin_name = emulated ? "emulated" : "cuda";

std::string version_text(int v) { return std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10); }

BackendProbe probe() {
  const DriverFacts facts = driver_facts();
  if (facts.devices == 0) return {false, facts.reason};
  std::string text;
  for (int i = 0; i < facts.devices; ++i) {
    text += (i ? "; " : "") + ("GPU " + std::to_string(i) + ": ");
    try {
      const DeviceFacts device = device_facts(i);
      text += device.name + ", " + std::to_string(device.total_bytes / 1'000'000) + " MB, compute capability " +
              std::to_string(device.major) + "." + std::to_string(device.minor);
    } catch (const Error& error) {  // one that fails does not spoil the others
      text += error.text();
    }
  }
  return {true, text + "; driver for CUDA " + version_text(facts.driver)};
}

/// "0", "1", "0,1", "0,0": one logical device for each number; "process=5": the GPU of process 5 of this machine, where
/// GPUs are given out in turn.
std::vector<int> parse(const std::string& argument, int devices) {
  const std::string whole = std::string(plugin_name) + ":" + argument;
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::bad_input, "backend '" + whole + "': " + why + "; write " + plugin_name +
                                          ":0 for the first GPU, " + plugin_name + ":0,1 for two, " + plugin_name +
                                          ":0,0 for two logical devices on one");
  };
  if (const std::string key = "process="; argument.starts_with(key)) {
    const std::string number = argument.substr(key.size());
    if (number.empty() || number.size() > 6 || number.find_first_not_of("0123456789") != std::string::npos)
      refuse("'" + number + "' is not the number of a process");
    return {std::stoi(number) % devices};
  }
  std::vector<int> ordinals;
  std::string digits;
  for (std::size_t i = 0; i <= argument.size(); ++i) {
    if (i < argument.size() && argument[i] != ',') {
      if (!std::isdigit(static_cast<unsigned char>(argument[i])) || digits.size() > 3)
        refuse("'" + argument + "' is not a list of GPU numbers");
      digits += argument[i];
      continue;
    }
    if (digits.empty()) refuse("'" + argument + "' is not a list of GPU numbers");
    const int ordinal = std::stoi(digits);
    if (ordinal >= devices)
      refuse("there is no GPU " + digits + " here; there " +
             (devices == 1 ? std::string("is one, GPU 0") : "are " + std::to_string(devices) + ", from 0 on"));
    ordinals.push_back(ordinal);
    digits.clear();
  }
  return ordinals;
}

Backend* open(const char* argument) {
  const std::string text = argument ? argument : "";
  const DriverFacts facts = driver_facts();
  if (facts.devices == 0) throw Error(ErrorCode::unavailable, "backend 'cuda' is not available: " + facts.reason);
  if (text.empty()) return new CudaBackend(plugin_name, {0});
  const std::vector<int> ordinals = parse(text, facts.devices);
  std::string name;
  for (const int ordinal : ordinals) name += (name.empty() ? ":" : ",") + std::to_string(ordinal);
  return new CudaBackend(plugin_name + name, ordinals);
}

}  // namespace

}  // namespace voussoir::cuda

extern "C" __attribute__((visibility("default"))) const voussoir::BackendPlugin* voussoir_backend_plugin() {
  static const std::string version = voussoir::version();
  static const voussoir::BackendPlugin plugin{voussoir::backend_plugin_abi, voussoir::cuda::plugin_name,
                                              version.c_str(), voussoir::cuda::probe, voussoir::cuda::open};
  return &plugin;
}
