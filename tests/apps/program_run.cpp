#include "program_run.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>

#include "support/scratch_folder.hpp"

namespace voussoir::testing {
namespace {

using Clock = std::chrono::steady_clock;

/// Reads what there is; false at the end.
bool take(int handle, std::string& text) {
  char buffer[4096];
  const ssize_t n = read(handle, buffer, sizeof buffer);
  if (n <= 0) return false;  // a terminal whose other side is closed is an error, and the end
  text.append(buffer, static_cast<std::size_t>(n));
  return true;
}

}  // namespace

Outcome run_program(const std::vector<std::string>& arguments, const RunSettings& settings) {
  const std::string program = settings.program.empty() ? VSR_TEST_PROGRAM : settings.program.string();
  int out[2], error[2];
  if (pipe(out) != 0) return {};
  if (settings.terminal) {
    winsize size{40, 100, 0, 0};
    if (openpty(&error[0], &error[1], nullptr, nullptr, &size) != 0) return {};
  } else if (pipe(error) != 0) {
    return {};
  }
  const pid_t child = fork();
  if (child < 0) return {};
  if (child == 0) {
    dup2(out[1], STDOUT_FILENO);
    dup2(error[1], STDERR_FILENO);
    for (int handle : {out[0], out[1], error[0], error[1]}) close(handle);
    if (const int nothing = open("/dev/null", O_RDONLY); nothing >= 0) dup2(nothing, STDIN_FILENO);
    if (!settings.folder.empty() && chdir(settings.folder.c_str()) != 0) _exit(126);
    if (settings.terminal) setenv("TERM", "xterm", 1);
    for (const std::string& variable : settings.environment) putenv(const_cast<char*>(variable.c_str()));
    std::vector<char*> words{const_cast<char*>(program.c_str())};
    for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    if (settings.address_space > 0) {
      const rlimit limit{settings.address_space, settings.address_space};
      setrlimit(RLIMIT_AS, &limit);
    }
    execv(program.c_str(), words.data());
    _exit(127);
  }
  close(out[1]);
  close(error[1]);
  Outcome outcome;
  const auto start = Clock::now();
  bool out_open = true, error_open = true, sent = settings.signal == 0;
  while (out_open || error_open) {
    pollfd handles[2] = {{out_open ? out[0] : -1, POLLIN, 0}, {error_open ? error[0] : -1, POLLIN, 0}};
    poll(handles, 2, 20);
    if (handles[0].revents) out_open = take(out[0], outcome.out);
    if (handles[1].revents) error_open = take(error[0], outcome.error);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const bool due =
        (!settings.when.empty() && (contains(outcome.out, settings.when) || contains(outcome.error, settings.when))) ||
        (settings.after >= 0 && seconds >= settings.after);
    if (settings.limit_seconds > 0 && seconds > settings.limit_seconds) kill(child, SIGKILL);
    if (!sent && due) {
      kill(child, settings.signal);
      sent = true;
    }
  }
  close(out[0]);
  close(error[0]);
  int status = 0;
  waitpid(child, &status, 0);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

std::filesystem::path fresh_folder(const std::string& name) { return voussoir::testing::empty_scratch_folder(name); }

void write_text(const std::filesystem::path& path, const std::string& text) { std::ofstream(path) << text; }

std::string read_text(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::vector<std::string> files_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string cantilever_deck(int nx, int ny, int nz, const std::vector<double>& factors) {
  std::ostringstream deck;
  const auto node = [&](int i, int j, int k) { return 1 + i + (nx + 1) * (j + (ny + 1) * k); };
  deck << "*HEADING\nA cantilever\n*NODE, NSET=ALL\n";
  for (int k = 0; k <= nz; ++k)
    for (int j = 0; j <= ny; ++j)
      for (int i = 0; i <= nx; ++i) deck << node(i, j, k) << ", " << i << ", " << j << ", " << k << "\n";
  deck << "*ELEMENT, TYPE=C3D8, ELSET=BEAM\n";
  int element = 0;
  for (int k = 0; k < nz; ++k)
    for (int j = 0; j < ny; ++j)
      for (int i = 0; i < nx; ++i)
        deck << ++element << ", " << node(i, j, k) << ", " << node(i + 1, j, k) << ", " << node(i + 1, j + 1, k) << ", "
             << node(i, j + 1, k) << ", " << node(i, j, k + 1) << ", " << node(i + 1, j, k + 1) << ", "
             << node(i + 1, j + 1, k + 1) << ", " << node(i, j + 1, k + 1) << "\n";
  deck << "*NSET, NSET=CLAMP\n";
  for (int k = 0; k <= nz; ++k)
    for (int j = 0; j <= ny; ++j) deck << node(0, j, k) << ",\n";
  deck << "*NSET, NSET=TIP\n";
  for (int k = 0; k <= nz; ++k)
    for (int j = 0; j <= ny; ++j) deck << node(nx, j, k) << ",\n";
  deck << "*MATERIAL, NAME=STEEL\n*ELASTIC\n210000., 0.3\n*SOLID SECTION, ELSET=BEAM, MATERIAL=STEEL\n"
       << "*BOUNDARY\nCLAMP, 1, 3\n";
  for (const double factor : factors)
    deck << "*STEP\n*STATIC\n*CLOAD\nTIP, 1, " << factor << "\n*NODE PRINT, NSET=TIP\nU\n*END STEP\n";
  return deck.str();
}

}  // namespace voussoir::testing
