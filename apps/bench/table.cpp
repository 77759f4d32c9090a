#include <voussoir/apps/bench/table.hpp>

#include <fmt/core.h>

#include <cstdio>

#include <voussoir/apps/terminal/printing.hpp>
#include <voussoir/apps/terminal/terminal.hpp>

namespace voussoir::app {
namespace {

constexpr std::size_t what_width = 53;

/// Pads by characters, not bytes: there are µ and × in the rows.
std::string padded(const std::string& text, std::size_t width, bool right = false) {
  std::size_t characters = 0;
  for (const char c : text) characters += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  const std::string blanks(characters < width ? width - characters : 0, ' ');
  return right ? blanks + text : text + blanks;
}

std::string verdict(const BenchRow& row) {
  if (row.wrong()) return red(fmt::format("WRONG: differs by {:.1e}", row.difference));
  if (row.target <= 0) return "";
  return row.seconds <= row.target ? "met" : yellow(fmt::format("missed, {:.2f}×", row.seconds / row.target));
}

std::string comparisons(const BenchRow& row) {
  std::string text;
  for (const auto& [name, seconds] : row.peers)
    text +=
        fmt::format("{}{} {} ({:.2f}×)", text.empty() ? "" : ", ", name, readable_time(seconds), seconds / row.seconds);
  return text;
}

}  // namespace

std::string readable_time(double seconds) {
  if (seconds < 1e-4) return fmt::format("{:.1f} µs", seconds * 1e6);
  if (seconds < 1e-1) return fmt::format("{:.3f} ms", seconds * 1e3);
  return fmt::format("{:.3f} s", seconds);
}

void BenchTable::begin(const std::string& workload, const std::string& model) {
  workload_ = workload;
  show("\n{}: {}\n", bold(workload), model);
  show("  {} {} {} {} {} {}\n", padded("", what_width), padded("ours", 10, true), padded("floor", 10, true),
       padded("floor/ours", 10, true), padded("target", 10, true), padded("differs", 8, true));
  std::fflush(stdout);
}

void BenchTable::add(BenchRow row) {
  if (row.failed || row.wrong()) ++faults_;
  nlohmann::ordered_json entry{{"workload", workload_}, {"what", row.what}};
  if (row.seconds > 0) {
    const auto or_dash = [](double seconds) { return seconds > 0 ? readable_time(seconds) : std::string("–"); };
    std::string rest = verdict(row);
    for (const std::string& part : {comparisons(row), row.note})
      if (!part.empty()) rest += (rest.empty() ? "" : "; ") + part;
    show("  {} {} {} {} {} {}  {}\n", padded(row.what, what_width), padded(readable_time(row.seconds), 10, true),
         padded(or_dash(row.floor), 10, true),
         padded(row.floor > 0 ? fmt::format("{:.2f}", row.floor / row.seconds) : "–", 10, true),
         padded(or_dash(row.target), 10, true),
         padded(row.difference >= 0 ? fmt::format("{:.0e}", row.difference) : "–", 8, true), rest);
    entry["seconds"] = row.seconds;
    if (row.floor > 0) entry["floor"] = row.floor;
    if (row.target > 0) entry["target"] = row.target;
    for (const auto& [name, seconds] : row.peers) entry["peers"][name] = seconds;
    if (row.difference >= 0) entry["difference"] = row.difference;
    if (row.wrong()) entry["wrong"] = true;
    for (const auto& [name, value] : row.figures) entry[name] = value;
  } else {
    show("  {} {}\n", padded(row.what, what_width), row.failed ? red("FAILED: " + row.problem) : "– " + row.problem);
    entry[row.failed ? "failure" : "unavailable"] = row.problem;
  }
  if (!row.note.empty()) entry["note"] = row.note;
  std::fflush(stdout);
  rows_.push_back(std::move(entry));
}

}  // namespace voussoir::app
