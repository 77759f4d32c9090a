#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace voussoir::app {

/// Adds --load, which loads a library of the user's while the command line is read, so that options that follow or
/// precede it may use the names that it registers.
void add_load_option(CLI::App& command, const std::string& group = "Options");

}  // namespace voussoir::app
