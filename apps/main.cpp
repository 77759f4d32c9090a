#include <fmt/core.h>

#include <exception>

#include <voussoir/apps/command.hpp>
#include <voussoir/backends/error.hpp>

int main(int argc, char** argv) {
  CLI::App program{
      "Voussoir: finite elements written once, run on interchangeable compute backends.\n\n"
      "Start with `voussoir demo`; `voussoir info` shows what this machine can run on.\n"
      "Exit codes: 0 all went well, 1 the model or the machine is at fault (see the message), 2 the command line is."};
  program.name("voussoir");
  program.set_version_flag("--version", "voussoir " VOUSSOIR_VERSION);
  program.require_subcommand(1);
  voussoir::app::add_info_command(program);
  voussoir::app::add_demo_command(program);
  voussoir::app::add_bench_command(program);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? 0 : 2;
  } catch (const voussoir::Error& error) {
    fmt::print(stderr, "voussoir: {}\n", error.what());
    return 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "voussoir: {}\n", error.what());
    return 1;
  }
  return 0;
}
