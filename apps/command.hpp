#pragma once
#include <CLI/CLI.hpp>

// Each file of this folder adds one command to the program.

namespace voussoir::app {

void add_info_command(CLI::App& program);
void add_demo_command(CLI::App& program);
void add_bench_command(CLI::App& program);

}  // namespace voussoir::app
