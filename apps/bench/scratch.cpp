#include <voussoir/apps/bench/scratch.hpp>

#include <fmt/core.h>
#include <unistd.h>

#include <fstream>
#include <system_error>

namespace voussoir::app {

namespace fs = std::filesystem;

Scratch::Scratch(const char* workload)
    : path(fs::temp_directory_path() / fmt::format("voussoir-bench-{}.{}", workload, getpid())) {
  fs::create_directories(path);
}

Scratch::~Scratch() {
  std::error_code ignored;  // nothing sensible can be done about a leftover here
  fs::remove_all(path, ignored);
}

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(fs::file_size(path), '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  return text;
}

}  // namespace voussoir::app
