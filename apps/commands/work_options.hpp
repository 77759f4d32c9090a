#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include <voussoir/backends/backend.hpp>

namespace voussoir::app {

/// What a command line says about how a backend shall work.
struct WorkOptions {
  std::string integration = "auto";
  std::string assembly = "auto";
  bool any_order = false;

  WorkChoices choices() const;
};

/// Adds --integration, --assembly and --any-order to a group of a command's help.
void add_work_options(CLI::App& command, WorkOptions& options, const std::string& group);

}  // namespace voussoir::app
