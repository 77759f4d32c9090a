#pragma once
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/backends/backend.hpp>

// Backends that live in plugins and take part in the tests: the CUDA backend where a GPU is usable, its emulation where
// that was built, and what the environment variable VOUSSOIR_TEST_BACKENDS adds.

namespace voussoir::further {

/// While it lives, plugins are also looked for where the build puts the emulated CUDA backend.
class EmulationPath {
 public:
  EmulationPath() {
#if defined(VSR_TEST_EMULATION_DIR)
    if (const char* path = std::getenv(variable)) {
      before_ = path;
      had_ = true;
    }
    setenv(variable, (had_ ? before_ + ":" + VSR_TEST_EMULATION_DIR : std::string(VSR_TEST_EMULATION_DIR)).c_str(), 1);
#endif
  }
  ~EmulationPath() {
#if defined(VSR_TEST_EMULATION_DIR)
    if (had_)
      setenv(variable, before_.c_str(), 1);
    else
      unsetenv(variable);
#endif
  }
  EmulationPath(const EmulationPath&) = delete;
  EmulationPath& operator=(const EmulationPath&) = delete;

 private:
  static constexpr const char* variable = "VOUSSOIR_PLUGIN_PATH";
  std::string before_;
  bool had_ = false;
};

/// "cuda,cuda:0,0" has two specifications: a comma before a digit belongs to the one before it.
inline std::vector<std::string> split_specifications(const std::string& text) {
  std::vector<std::string> all;
  std::string one;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const bool more = i + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[i + 1]));
    if (i < text.size() && (text[i] != ',' || more)) {
      one += text[i];
    } else if (!one.empty()) {
      all.push_back(one);
      one.clear();
    }
  }
  return all;
}

/// What this machine says about its GPUs.
inline const BackendInfo& cuda_info() {
  static const BackendInfo info = [] {
    for (const BackendInfo& one : Backend::available())
      if (one.name == "cuda") return one;
    return BackendInfo{"cuda", false, "this build knows no such backend"};
  }();
  return info;
}

/// How the CUDA backend and its emulation are tried: as one device, and as two logical ones on it.
inline std::vector<std::string> forms(const std::string& name) { return {name, name + ":0,0"}; }

/// Specifications, each once.
inline std::vector<std::string> specifications() {
  std::vector<std::string> all;
  const auto add = [&](const std::vector<std::string>& more) {
    for (const std::string& one : more)
      if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
  };
#if defined(VSR_TEST_EMULATION_DIR)
  add(forms("emulated"));
#endif
  if (cuda_info().usable) add(forms("cuda"));
  if (const char* more = std::getenv("VOUSSOIR_TEST_BACKENDS")) add(split_specifications(more));
  return all;
}

inline std::shared_ptr<Backend> open(const std::string& specification) {
  const EmulationPath path;
  return Backend::open(specification);
}

}  // namespace voussoir::further
