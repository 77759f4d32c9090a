#include <voussoir/apps/commands/load_option.hpp>

#include <voussoir/backends/user_library.hpp>

namespace voussoir::app {

void add_load_option(CLI::App& command, const std::string& group) {
  // Names are checked when the whole command line has been read; this callback runs before.
  command
      .add_option_function<std::string>(
          "--load", [](const std::string& file) { load_library(file); },
          "Shared library that adds elements, solvers, preconditioners, partitioners; may be given several times")
      ->type_name("FILE")
      ->trigger_on_parse()
      ->group(group);
}

}  // namespace voussoir::app
