#include <voussoir/framework/io/deck/detail/parse/frd_temperatures.hpp>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/io/deck/detail/parse/fields.hpp>

// The format is that of CalculiX GraphiX: fixed columns. A data set begins with "1PSTEP" (number, increment, step) and
// "100C", whose last number says how the lines are written, and names its quantity in a line " -4"; lines " -1"
// have a node and its values of twelve characters; " -3" ends the set.

namespace voussoir::deck {
namespace {

std::string_view columns(std::string_view line, std::size_t from, std::size_t count) {
  return from < line.size() ? trimmed(line.substr(from, count)) : std::string_view{};
}

/// The words of a line.
std::vector<std::string_view> words(std::string_view line) {
  std::vector<std::string_view> result;
  for (std::size_t i = 0; i < line.size();) {
    while (i < line.size() && is_blank(line[i])) ++i;
    const std::size_t first = i;
    while (i < line.size() && !is_blank(line[i])) ++i;
    if (i > first) result.push_back(line.substr(first, i - first));
  }
  return result;
}

}  // namespace

std::vector<std::pair<Id, double>> frd_temperatures(std::string_view text, std::optional<int> step,
                                                    const std::string& file) {
  std::vector<std::pair<Id, double>> found;
  std::size_t number = 0;
  Id at_step = 0, format = 1;
  bool reading = false, any = false;
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorCode::bad_input, what, file + ":" + std::to_string(number));
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    const std::string_view start = trimmed(line);
    if (start.starts_with("1PSTEP")) {
      const auto w = words(start);
      at_step = 0;
      if (w.size() >= 4) read_integer(w[3], at_step);
    } else if (start.starts_with("100C")) {
      const auto w = words(start);
      if (w.size() < 2 || read_integer(w[w.size() - 1], format) != NumberFault::none)
        fail("this line of a result file cannot be read");
    } else if (start.starts_with("-4")) {
      const auto w = words(start);
      reading = w.size() > 1 && w[1] == "NDTEMP" && (!step || at_step == *step);
      if (!reading) continue;
      if (format > 1) fail("this result file is binary; have CalculiX write text (OUTPUT=ASCII)");
      found.clear();
      any = true;
    } else if (start == "-3") {
      reading = false;
    } else if (reading && line.starts_with(" -1")) {
      const std::size_t width = format == 0 ? 5 : 10;
      Id node = 0;
      double value = 0;
      if (read_integer(columns(line, 3, width), node) != NumberFault::none ||
          read_real(columns(line, 3 + width, 12), value) != NumberFault::none)
        fail("this line of a result file has no node and temperature");
      found.emplace_back(node, value);
    }
  }
  if (!any || found.empty())
    throw Error(ErrorCode::bad_input,
                step ? "the result file has no temperatures (NT) of step " + std::to_string(*step)
                     : std::string("the result file has no temperatures; write them with *NODE FILE and NT"),
                file);
  return found;
}

}  // namespace voussoir::deck
