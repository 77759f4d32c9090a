#include <voussoir/backends/cost_model/machine_profile.hpp>

#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include <voussoir/backends/version.hpp>

namespace voussoir {

namespace operations {

std::string bsr(int components) { return "product bsr " + std::to_string(components); }

std::string of_type(std::string_view what, std::string_view element_type) {
  return std::string(what) + " " + std::string(element_type);
}

std::string slab_tile(int tile) { return "slab tile " + std::to_string(tile); }

std::string stage(std::string_view name) { return "stage " + std::string(name); }

}  // namespace operations

double ElementClass::work() const {
  const double rows = static_cast<double>(nodes) * components;
  return std::max(points, 1) * rows * rows;
}

const OperationCost* MachineProfile::find(std::string_view operation) const {
  const auto found = costs.find(operation);
  return found == costs.end() ? nullptr : &found->second;
}

std::string machine_name() {
  std::ifstream file("/proc/cpuinfo");
  std::string line, model, implementer, part;
  const auto value = [&] {
    const std::size_t colon = line.find(':');
    const std::size_t first = colon == std::string::npos ? colon : line.find_first_not_of(" \t", colon + 1);
    return first == std::string::npos ? std::string() : line.substr(first);
  };
  while (std::getline(file, line)) {
    if (model.empty() && line.starts_with("model name")) model = value();
    if (implementer.empty() && line.starts_with("CPU implementer")) implementer = value();
    if (part.empty() && line.starts_with("CPU part")) part = value();
  }
  if (model.empty() && !part.empty()) model = "ARM " + implementer + "/" + part;
  if (model.empty()) model = "unknown processor";
  return model + ", " + std::to_string(std::thread::hardware_concurrency()) + " processors";
}

std::string why_not_used(const MachineProfile& profile, const Backend& backend) {
  const auto differs = [](const std::string& what, const std::string& then, const std::string& now) {
    return "it was measured with another " + what + " ('" + then + "', now '" + now + "')";
  };
  if (profile.machine != machine_name()) return differs("machine", profile.machine, machine_name());
  if (profile.backend != backend.name()) return differs("backend", profile.backend, backend.name());
  if (profile.threads != backend.threads())
    return differs("number of threads", std::to_string(profile.threads), std::to_string(backend.threads()));
  if (profile.devices != backend.devices())
    return differs("number of devices", std::to_string(profile.devices), std::to_string(backend.devices()));
  if (profile.version != version()) return differs("version of the library", profile.version, version());
  return "";
}

ProfileSearch find_profile(const Backend& backend) {
  const std::string advice = "`voussoir bench calibrate --backend " + backend.name() + "` measures one";
  const std::filesystem::path path = profile_path(backend.name());
  const char* chosen = ::secure_getenv("VOUSSOIR_PROFILE");
  const bool named = chosen && *chosen;
  if (path.empty())
    return {std::nullopt, named ? "VOUSSOIR_PROFILE is 'none'"
                                : "there is no folder for profiles; set VOUSSOIR_CACHE_DIR or VOUSSOIR_PROFILE"};
  std::error_code problem;
  if (!std::filesystem::exists(path, problem) && named)
    return {std::nullopt, "there is no file '" + path.string() + "', which VOUSSOIR_PROFILE names; " + advice +
                              ", or unset the variable"};
  if (!std::filesystem::exists(path, problem))
    return {std::nullopt, "there is no profile of backend '" + backend.name() + "'; " + advice};
  try {
    MachineProfile profile = load_profile(path);
    if (const std::string why = why_not_used(profile, backend); !why.empty())
      return {std::nullopt, "the profile " + path.string() + " is not used: " + why + "; " + advice + " again"};
    std::string note = "profile of " + profile.date + ", " + path.string();
    return {std::move(profile), std::move(note)};
  } catch (const Error& error) {
    return {std::nullopt, std::string(error.what()) + "; it is not used; " + advice + " again"};
  }
}

}  // namespace voussoir
