#include <voussoir/apps/terminal/terminal.hpp>

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <random>
#include <string_view>

#include <voussoir/framework/io/safe_text.hpp>

namespace voussoir::app {
namespace {

int handle(Stream stream) { return stream == Stream::out ? STDOUT_FILENO : STDERR_FILENO; }

/// Begins a colour in text that printable() has yet to see. Sixteen random digits tell our own colours from escape
/// sequences in names of files.
const std::string& colour_mark() {
  static const std::string mark = [] {
    std::random_device random;
    return fmt::format("\x1b{:08x}{:08x}[", random(), random());
  }();
  return mark;
}

std::string painted(const char* code, const std::string& text, Stream stream) {
  return wants_colour(stream) ? fmt::format("{0}{1}m{2}{0}0m", colour_mark(), code, text) : text;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  for (std::size_t at; (at = text.find(colour_mark())) != text.npos;) {
    result += printable_text(text.substr(0, at)) + "\x1b[";
    text.remove_prefix(at + colour_mark().size());
    const std::size_t end = text.find('m') + 1;
    result += text.substr(0, end);
    text.remove_prefix(end);
  }
  return result + printable_text(text);
}

bool is_terminal(Stream stream) {
  // The terminal of a process that mpirun started is made by mpirun, which passes on to files and pipes what it gets.
  if (std::getenv("OMPI_COMM_WORLD_SIZE") || std::getenv("PMI_SIZE")) return false;
  const char* kind = std::getenv("TERM");
  return isatty(handle(stream)) && kind && std::string_view(kind) != "dumb";
}

bool wants_colour(Stream stream) {
  const char* no_colour = std::getenv("NO_COLOR");
  return is_terminal(stream) && !(no_colour && *no_colour);
}

int terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string bold(const std::string& text, Stream stream) { return painted("1", text, stream); }
std::string red(const std::string& text, Stream stream) { return painted("31;1", text, stream); }
std::string yellow(const std::string& text, Stream stream) { return painted("33", text, stream); }

std::string readable_bytes(double bytes) {
  if (bytes >= 1e10) return fmt::format("{:.0f} GB", bytes / 1e9);
  if (bytes >= 1e9) return fmt::format("{:.1f} GB", bytes / 1e9);
  if (bytes >= 1e6) return fmt::format("{:.0f} MB", bytes / 1e6);
  return fmt::format("{:.0f} kB", bytes / 1e3);
}

std::string readable_seconds(double seconds) {
  if (seconds < 1) return fmt::format("{:.2f} s", seconds);
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  const long long whole = std::llround(seconds);
  if (whole < 7200) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string readable_count(long long count) {
  std::string digits = fmt::format("{}", count);
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (count < 0 ? 1 : 0); at -= 3)
    digits.insert(static_cast<std::size_t>(at), " ");
  return digits;
}

std::string counted(long long count, const std::string& what) {
  return readable_count(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace voussoir::app
