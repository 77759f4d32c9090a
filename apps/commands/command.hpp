#pragma once
#include <CLI/CLI.hpp>

// Each file of this folder adds one command to the program.

namespace voussoir::app {

void add_run_command(CLI::App& program);
void add_modal_command(CLI::App& program);
void add_heat_command(CLI::App& program);
void add_check_command(CLI::App& program);
void add_plan_command(CLI::App& program);
void add_mesh_command(CLI::App& program);
void add_partition_command(CLI::App& program);
void add_study_command(CLI::App& program);
void add_solve_command(CLI::App& program);
void add_reduce_command(CLI::App& program);
void add_info_command(CLI::App& program);
void add_demo_command(CLI::App& program);
void add_bench_command(CLI::App& program);
void add_help_command(CLI::App& program);
void add_completion_command(CLI::App& program);
void add_man_command(CLI::App& program);

/// The whole program: every command with its options and help.
void build_program(CLI::App& program);

}  // namespace voussoir::app
