#include <voussoir/apps/exit_code.hpp>

#include <csignal>

#include <algorithm>

namespace voussoir::app {

ExitCode exit_code(const Error& error) {
  switch (error.code()) {
    case ErrorCode::bad_input:
    case ErrorCode::misuse:
    case ErrorCode::not_found:
    case ErrorCode::inverted:
      return ExitCode::input;
    case ErrorCode::singular:
    case ErrorCode::not_converged:
    case ErrorCode::not_finite:
      return ExitCode::no_solution;
    case ErrorCode::unavailable:
    case ErrorCode::out_of_memory:
    case ErrorCode::device:
      return ExitCode::machine;
    case ErrorCode::io:
      return ExitCode::files;
    case ErrorCode::cancelled:
      return ExitCode::interrupted;
    case ErrorCode::internal:
      return ExitCode::defect;
  }
  return ExitCode::defect;
}

ExitCode exit_code_of_signal(int signal) { return signal == SIGTERM ? ExitCode::terminated : ExitCode::interrupted; }

ExitCode worse(ExitCode a, ExitCode b) { return std::max(a, b); }

const std::vector<ExitCodeText>& exit_codes() {
  static const std::vector<ExitCodeText> all{
      {ExitCode::ok, "all went well"},
      {ExitCode::input, "the model or an argument is at fault; the message says where and what to do"},
      {ExitCode::command_line, "the command line is at fault"},
      {ExitCode::no_solution, "no solution: something can move freely, or the solver did not reach its tolerance"},
      {ExitCode::machine, "too little memory, a failed device, or something that this machine or build lacks"},
      {ExitCode::files, "a file cannot be read or written, or results are there already (--force replaces them)"},
      {ExitCode::defect, "a fault of the program itself: please report it"},
      {ExitCode::interrupted, "stopped by Ctrl-C; the message says what was kept"},
      {ExitCode::terminated, "stopped by SIGTERM; likewise"}};
  return all;
}

}  // namespace voussoir::app
