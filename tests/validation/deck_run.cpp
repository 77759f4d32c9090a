#include "validation/deck_run.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "support/vtu_file.hpp"

namespace voussoir::validation {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path.string() + " is not there");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::string field;
  std::stringstream rest(line);
  while (std::getline(rest, field, ',')) fields.push_back(field);
  if (!line.empty() && line.back() == ',') fields.emplace_back();
  return fields;
}

double number_of(const std::string& field) {
  char* end = nullptr;
  const double value = std::strtod(field.c_str(), &end);
  return field.empty() || *end ? std::nan("") : value;
}

}  // namespace

fs::path deck_folder() { return fs::path(VSR_TEST_SOURCE_DIR) / "tests" / "validation" / "decks"; }

std::size_t Table::column(const std::string& name) const {
  const auto it = std::find(columns.begin(), columns.end(), name);
  if (it == columns.end()) throw std::runtime_error("the table has no column " + name);
  return static_cast<std::size_t>(it - columns.begin());
}

double Table::at(double id, const std::string& name) const {
  for (const auto& row : rows)
    if (row.at(0) == id) return row.at(column(name));
  throw std::runtime_error("the table has no row " + std::to_string(id));
}

double Table::only(const std::string& name) const {
  if (rows.size() != 1) throw std::runtime_error("the table has " + std::to_string(rows.size()) + " rows, not one");
  return rows[0].at(column(name));
}

double Table::least(const std::string& name) const {
  double value = HUGE_VAL;
  for (const auto& row : rows) value = std::min(value, row.at(column(name)));
  return value;
}

double Table::greatest(const std::string& name) const {
  double value = -HUGE_VAL;
  for (const auto& row : rows) value = std::max(value, row.at(column(name)));
  return value;
}

DeckRun::DeckRun(const std::string& name, const std::string& arguments) {
  static std::atomic<int> count{0};
  const fs::path deck = name.ends_with(".inp") ? fs::path(name) : deck_folder() / (name + ".inp");
  name_ = deck.stem().string();
  folder_ =
      fs::path(testing::TempDir()) / ("voussoir_deck_" + std::to_string(getpid()) + "_" + std::to_string(count++));
  const std::string command = std::string("\"") + VSR_TEST_PROGRAM + "\" run \"" + deck.string() + "\" --output \"" +
                              folder_.string() + "\" " + arguments + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) throw std::runtime_error("cannot start " + command);
  std::string text;
  std::array<char, 4096> buffer;
  while (const std::size_t n = fread(buffer.data(), 1, buffer.size(), pipe)) text.append(buffer.data(), n);
  const int status = pclose(pipe);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error(command + " ended with " + std::to_string(WEXITSTATUS(status)) + ":\n" + text);
  results_ = nlohmann::json::parse(text_of(folder_ / (name_ + ".results.json")));
}

DeckRun::~DeckRun() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

Table DeckRun::table(const std::string& name, int step) const {
  const std::string stem = (step ? name_ + "_step" + std::to_string(step) : name_) + "_" + name;
  // Tables in the axes of nodes and elements, which CalculiX prints unless told otherwise, say so in their name.
  const std::size_t total = stem.ends_with("_total") ? stem.size() - 6 : stem.size();
  const fs::path local = folder_ / (stem.substr(0, total) + "_local" + stem.substr(total) + ".csv");
  std::stringstream text(text_of(fs::exists(local) ? local : folder_ / (stem + ".csv")));
  Table table;
  std::string line;
  std::getline(text, line);
  table.columns = fields_of(line);
  while (std::getline(text, line)) {
    std::vector<double>& row = table.rows.emplace_back();
    for (const std::string& field : fields_of(line)) row.push_back(number_of(field));
  }
  return table;
}

double DeckRun::at(int node, const std::string& field, int component) const {
  const VtuFile picture(folder_ / (name_ + ".vtu"));
  const auto ids = picture.array<std::int64_t>("node_id");
  const auto found = std::find(ids.begin(), ids.end(), node);
  if (found == ids.end()) throw std::runtime_error("no node " + std::to_string(node) + " in the picture");
  const std::size_t width = std::stoul(picture.attribute(field, "NumberOfComponents"));
  return picture.array<double>(field).at((found - ids.begin()) * width + component);
}

std::string DeckRun::dat() const { return text_of(folder_ / (name_ + ".dat")); }

std::vector<int> nodes_of_element(const std::string& deck, int element) {
  std::stringstream text(text_of(deck_folder() / (deck + ".inp")));
  std::string line;
  bool inside = false;
  while (std::getline(text, line)) {
    if (line.starts_with("*"))
      inside = line.starts_with("*ELEMENT,");
    else if (inside && std::stoi(line) == element) {
      std::vector<int> nodes;
      for (const std::string& field : fields_of(line)) nodes.push_back(std::stoi(field));
      nodes.erase(nodes.begin());
      return nodes;
    }
  }
  throw std::runtime_error(deck + " has no element " + std::to_string(element));
}

}  // namespace voussoir::validation
