#include <voussoir/apps/printing.hpp>

#include <fmt/core.h>

#include <cstdio>
#include <filesystem>

#include <voussoir/apps/terminal.hpp>

namespace voussoir::app {

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void print_error(const Error& error, const std::string& file) {
  // The place in the file says which file it is.
  const bool named = error.where().find(std::filesystem::path(file).filename().string()) != std::string::npos;
  fmt::print(stderr, "voussoir: {} {}{}\n", red("error:", Stream::error), named ? "" : file + ": ", error.what());
}

void Documents::print(std::size_t files) const {
  if (files == 1) {
    if (!documents_.empty()) app::print(documents_.front());
    return;
  }
  app::print("[\n");
  for (std::size_t i = 0; i < documents_.size(); ++i) app::print((i ? ",\n" : "") + documents_[i]);
  app::print("]\n");
}

}  // namespace voussoir::app
