#pragma once
#include <string>
#include <vector>

#include <voussoir/backends/error.hpp>

namespace voussoir::app {

/// How the program ends, for scripts. These numbers are a promise: help, man page and docs show exit_codes().
enum class ExitCode {
  ok = 0,
  input = 1,         ///< the model, a file's content or an argument is at fault
  command_line = 2,  ///< the command line is
  no_solution = 3,   ///< the equations have no solution, or it was not reached
  machine = 4,       ///< too little memory, a device failed, or this machine lacks what was asked for
  files = 5,         ///< a file cannot be read or written, or results are there already
  defect = 6,        ///< a fault of the program itself
  interrupted = 130,
  terminated = 143
};

/// The code for an error.
ExitCode exit_code(const Error& error);
/// The code for a signal that ended the program.
ExitCode exit_code_of_signal(int signal);
/// Of two codes the one that a script should see: the larger.
ExitCode worse(ExitCode a, ExitCode b);

/// All codes with what they mean, for people.
struct ExitCodeText {
  ExitCode code;
  std::string text;
};
const std::vector<ExitCodeText>& exit_codes();

/// Thrown by a command that has told everything itself, to end the program.
struct Exit {
  ExitCode code;
};

}  // namespace voussoir::app
