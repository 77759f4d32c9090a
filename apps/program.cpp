#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/apps/commands/command.hpp>
#include <voussoir/apps/commands/nearest_word.hpp>
#include <voussoir/apps/exit_code.hpp>
#include <voussoir/apps/terminal/printing.hpp>
#include <voussoir/backends/version.hpp>

// The program as a whole: its commands, and the help that ties them together.

namespace voussoir::app {
namespace {

std::string footer() {
  std::string text = R"(Start here:
  voussoir demo                        a pump on a frame, solved and drawn
  voussoir mesh box box.inp            a model to play with
  voussoir check box.inp               what is in it, and is it sound?
  voussoir run box.inp                 solve it; then open box.vtu in ParaView
  voussoir help run                    everything about one command

Exit codes:
)";
  for (const ExitCodeText& code : exit_codes())
    text += fmt::format("  {:>3}  {}\n", static_cast<int>(code.code), code.text);
  return text;
}

/// The commands that there are so far, for completion.
std::string choices(const CLI::App& program) {
  std::string text;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; }))
    text += (text.empty() ? "" : "|") + command->get_name();
  return text;
}

}  // namespace

void add_help_command(CLI::App& program) {
  CLI::App* help = program.add_subcommand("help", "Show help for a command");
  auto names = std::make_shared<std::vector<std::string>>();
  help->add_option("COMMAND", *names, "The command (`voussoir help mesh box`); without one, help for the program")
      ->type_name(choices(program));
  help->callback([names, &program] {
    const CLI::App* command = &program;
    std::string before;
    for (const std::string& name : *names) {
      before += (before.empty() ? "" : " ") + command->get_name();
      const auto below = command->get_subcommands([](const CLI::App*) { return true; });
      const auto found =
          std::find_if(below.begin(), below.end(), [&](const CLI::App* c) { return c->get_name() == name; });
      if (found == below.end()) {
        std::vector<std::string> known;
        for (const CLI::App* each : below) known.push_back(each->get_name());
        throw CLI::ValidationError(
            "COMMAND", known.empty() ? "'" + before + "' has no subcommands" : no_such_command(name, known));
      }
      command = *found;
    }
    // Not App::help(), which would go on to the command that was given: `help` itself.
    print(command == &program
              ? program.get_formatter()->make_help(&program, program.get_name(), CLI::AppFormatMode::Normal)
              : command->help(before));
  });
}

void build_program(CLI::App& program) {
  program.name("voussoir");
  program.description(
      "Voussoir: finite elements written once, run on interchangeable compute backends.\n"
      "It reads Abaqus and CalculiX decks and Gmsh meshes, solves statics and heat conduction, steady and "
      "transient, finds natural frequencies and modes, computes dynamics by modes or in time steps, conducts heat "
      "through regular grids, and writes results for ParaView, spreadsheets and scripts.");
  program.set_version_flag("--version", "voussoir " + version(), "Show the version");
  program.set_help_flag("-h,--help", "Show this help");
  program.get_formatter()->column_width(30);
  program.require_subcommand(1);
  add_run_command(program);
  add_check_command(program);
  add_plan_command(program);
  add_modal_command(program);
  add_heat_command(program);
  add_mesh_command(program);
  add_partition_command(program);
  add_study_command(program);
  add_solve_command(program);
  add_reduce_command(program);
  add_demo_command(program);
  add_info_command(program);
  add_bench_command(program);
  add_completion_command(program);
  add_man_command(program);
  add_help_command(program);  // the last, since it knows those before it
  program.footer(footer());
}

}  // namespace voussoir::app
