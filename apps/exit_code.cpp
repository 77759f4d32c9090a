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
      {ExitCode::ok, "success"},
      {ExitCode::input, "invalid model or argument; the message says where and what to do"},
      {ExitCode::command_line, "invalid command line"},
      {ExitCode::no_solution, "no solution: the model is under-constrained, or the solver did not reach its tolerance"},
      {ExitCode::machine, "out of memory, a failed device, or a feature that this machine or build lacks"},
      {ExitCode::files,
       "a file cannot be read or written, results already exist (--force replaces them), or another run writes them"},
      {ExitCode::defect, "internal error: please report it"},
      {ExitCode::interrupted, "stopped by Ctrl-C; the message says what was kept"},
      {ExitCode::terminated, "stopped by SIGTERM; likewise"}};
  return all;
}

}  // namespace voussoir::app
