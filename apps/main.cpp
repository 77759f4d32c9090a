#include <fmt/core.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include <voussoir/apps/commands/command.hpp>
#include <voussoir/apps/commands/engine_run.hpp>
#include <voussoir/apps/commands/nearest_word.hpp>
#include <voussoir/apps/commands/result_options.hpp>
#include <voussoir/apps/exit_code.hpp>
#include <voussoir/apps/terminal/launcher.hpp>
#include <voussoir/apps/terminal/printing.hpp>
#include <voussoir/apps/terminal/signals.hpp>
#include <voussoir/apps/terminal/terminal.hpp>
#include <voussoir/backends/threads.hpp>

namespace {

using voussoir::app::ExitCode;

ExitCode complain(ExitCode code, const std::string& text) {
  voussoir::app::show_error("voussoir: {} {}\n", voussoir::app::red("error:", voussoir::app::Stream::error), text);
  return code;
}

/// What is wrong with a command line, with the commands where none of them was meant.
ExitCode wrong_command_line(const CLI::App& program, const CLI::ParseError& error) {
  // All processes that mpirun has started have the same command line, and the first one reports what is wrong with it.
  if (voussoir::app::launched_number() != 0) return voussoir::app::silent_exit(ExitCode::command_line);
  std::string text = error.what();
  std::string path;
  const CLI::App* command = &program;
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().back();
    path += command->get_name() + " ";
  }
  std::vector<std::string> below;
  for (const CLI::App* each : command->get_subcommands([](const CLI::App*) { return true; }))
    below.push_back(each->get_name());
  if (!below.empty()) {
    // The word that is no command was laid aside, and what is told is that a command is missing.
    const std::vector<std::string> rest = command->remaining();
    if (!rest.empty() && !rest.front().starts_with("-")) {
      text = voussoir::app::no_such_command(rest.front(), below);
    } else {
      if (!rest.empty()) text = "there is no option '" + rest.front() + "' here, or it precedes its command";
      text += ". There are the commands ";
      for (std::size_t i = 0; i < below.size(); ++i) text += (i ? ", " : "") + below[i];
    }
  }
  voussoir::app::show_error("voussoir: {}\nSee voussoir {}--help\n", text, path);
  return ExitCode::command_line;
}

ExitCode run(int argc, char** argv) {
  CLI::App program;
  try {
    voussoir::default_threads();  // limits an absurd OMP_NUM_THREADS before any thread starts
    voussoir::app::watch_signals();
    voussoir::app::build_program(program);
    const auto words = voussoir::app::with_omitted_values({argv, argv + argc});
    std::vector<const char*> list;
    for (const std::string& word : words) list.push_back(word.c_str());
    program.parse(static_cast<int>(list.size()), list.data());
  } catch (const CLI::Success& request) {
    std::ostringstream text;  // help or version
    program.exit(request, text, text);
    voussoir::app::print(text.str());
  } catch (const CLI::ParseError& error) {
    return wrong_command_line(program, error);
  } catch (const voussoir::app::Exit& exit) {
    return exit.code;
  } catch (const voussoir::Error& error) {
    return complain(voussoir::app::exit_code(error), error.what());
  } catch (const std::bad_alloc&) {
    const std::string process = voussoir::app::launched_processes() > 1
                                    ? "process " + std::to_string(voussoir::app::launched_number()) + " of " +
                                          std::to_string(voussoir::app::launched_processes()) + ": "
                                    : "";
    return complain(ExitCode::machine, process + "out of memory");
  } catch (const std::filesystem::filesystem_error& error) {
    return complain(ExitCode::files, error.what());
  } catch (const std::system_error& error) {
    // What a print throws on a full disk; end_of_output() tells of it.
    if (std::ferror(stdout) || std::ferror(stderr)) return ExitCode::files;
    return complain(ExitCode::machine,
                    std::string("the system refused to create a thread or another resource: ") + error.what());
  } catch (const std::exception& error) {
    return complain(ExitCode::defect, error.what());
  }
  return ExitCode::ok;
}

/// A script that reads what is printed must learn that not all of it arrived.
ExitCode end_of_output(ExitCode code) {
  errno = 0;
  std::cout.flush();
  const bool lost = std::fflush(stdout) != 0;
  const int reason = errno;
  if (!lost && !std::ferror(stdout)) return code;
  return voussoir::app::worse(
      code, complain(ExitCode::files, std::string("standard output could not be written") +
                                          (lost && reason ? std::string(": ") + std::strerror(reason) : std::string()) +
                                          "; the output is incomplete"));
}

}  // namespace

int main(int argc, char** argv) {
  // A write beyond the limit of a file's size (ulimit -f) fails like one on a full disk, and is told like that.
  std::signal(SIGXFSZ, SIG_IGN);
  return static_cast<int>(end_of_output(run(argc, argv)));
}
