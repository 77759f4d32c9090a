// mpirun -n N process_pieces FOLDER DECK…
//
// Solves each deck on one process by our own direct solver and writes the usual files, and solves it on all processes,
// each of which writes its own piece: once with parts that process 0 sends, and once with parts that each process reads
// from a file. Compares results.json, the tables and all arrays of the pieces with those of one process.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/jobs/piece_results.hpp>
#include <voussoir/partition/process/part_file.hpp>

#include "support/vtu_file.hpp"

namespace {

using namespace voussoir;
using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr double tolerance = 1e-9;

void require(bool condition, const std::string& text) {
  if (!condition) throw Error(ErrorCode::internal, text);
}

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  require(in.good(), path.string() + " is missing");
  std::stringstream all;
  all << in.rdbuf();
  return all.str();
}

/// The largest number in a document.
double largest_in(const Json& value) {
  if (value.is_number()) return std::abs(value.get<double>());
  double largest = 0;
  if (value.is_structured())
    for (const auto& item : value.items())
      if (item.key() != "node" && item.key() != "nodes" && item.key() != "centre")
        largest = std::max(largest, largest_in(item.value()));
  return largest;
}

void compare_json(const Json& a, const Json& b, const std::string& where, double size) {
  if (a.is_number() && b.is_number()) {
    require(std::abs(a.get<double>() - b.get<double>()) <= tolerance * std::max(size, std::abs(a.get<double>())),
            where + ": " + a.dump() + " and " + b.dump());
  } else if (a.is_structured()) {
    require(a.size() == b.size() && a.type() == b.type(), where + ": " + a.dump() + " and " + b.dump());
    for (const auto& item : a.items()) {
      require(a.is_array() || b.contains(item.key()), where + " has no " + item.key());
      // Of values that are equal but for rounding either node may be named.
      if (item.key() == "node" || (item.key() == "name" && where.find("extremes") != std::string::npos)) continue;
      compare_json(item.value(), a.is_array() ? b[std::stoul(item.key())] : b[item.key()], where + "/" + item.key(),
                   item.key() == "nodes" || item.key() == "centre" ? 0 : size);
    }
  } else {
    require(a == b, where + ": " + a.dump() + " and " + b.dump());
  }
}

/// The kind of a quantity, whose values are compared with the largest of all of its kind.
std::string kind_of(const std::string& quantity) {
  static const std::set<std::string> stresses{"sxx", "syy",   "szz",        "sxy",        "syz",
                                              "sxz", "mises", "principal1", "principal2", "principal3"};
  if (stresses.contains(quantity)) return "stress";
  if (quantity[0] == 'q' || quantity == "flux") return "flux";
  if (quantity[0] == 'u' || quantity == "displacement") return "displacement";
  return quantity[0] == 'r' ? "rotation" : quantity;
}

/// `reactions` are the largest ones at a node, per step: sums may vanish.
void compare_documents(const Json& alone, const Json& pieces, const std::vector<double>& reactions) {
  compare_json(alone["sizes"]["nodes"], pieces["sizes"]["nodes"], "nodes", 0);
  compare_json(alone["sizes"]["elements"], pieces["sizes"]["elements"], "elements", 0);
  compare_json(alone["sizes"]["elements_by_type"], pieces["sizes"]["elements_by_type"], "types", 0);
  compare_json(alone["job"], pieces["job"], "job", 0);
  require(alone["steps"].size() == pieces["steps"].size(), "another number of steps");
  for (std::size_t s = 0; s < alone["steps"].size(); ++s) {
    const Json &a = alone["steps"][s], &b = pieces["steps"][s];
    const std::string where = "step " + std::to_string(s + 1) + "/";
    for (const char* key : {"number", "name", "title", "procedure", "time"})
      compare_json(a[key], b[key], where + key, 0);
    double force = reactions[s];
    for (const char* key : {"load_sum", "reaction_sum", "reactions_by_node_set", "supports"})
      force = std::max(force, largest_in(a[key]));
    if (a.contains("energy")) compare_json(a["energy"], b["energy"], where + "energy", 0);
    std::map<std::string, double> sizes;
    for (const auto& item : a["extremes"].items())
      sizes[kind_of(item.key())] = std::max(sizes[kind_of(item.key())], largest_in(item.value()));
    // Loads that balance each other leave sums and reactions of zero, beside stresses that are not.
    force = std::max({force, 1e-3 * sizes["stress"], 1e-3 * sizes["flux"]});
    for (const char* key : {"load_sum", "reaction_sum", "reactions_by_node_set", "supports"})
      compare_json(a[key], b[key], where + key, force);
    require(a["extremes"].size() == b["extremes"].size(), where + "other extremes");
    for (const auto& item : a["extremes"].items()) {
      require(b["extremes"].contains(item.key()), where + "no extremes of " + item.key());
      compare_json(item.value(), b["extremes"][item.key()], where + "extremes/" + item.key(),
                   sizes[kind_of(item.key())]);
    }
  }
}

/// Tables of numbers and words, compared word by word.
void compare_tables(const fs::path& a, const fs::path& b) {
  const std::string one = text_of(a), other = text_of(b);
  const auto words = [](std::string text) {
    std::replace(text.begin(), text.end(), ',', ' ');
    std::istringstream in(text);
    std::vector<std::string> list;
    for (std::string word; in >> word;) list.push_back(word);
    return list;
  };
  const std::vector<std::string> left = words(one), right = words(other);
  require(left.size() == right.size(), a.string() + " has another size than " + b.string());
  const auto number = [](const std::string& word) {
    char* end = nullptr;
    const double value = std::strtod(word.c_str(), &end);
    return *end ? std::nan("") : value;
  };
  double largest = 0;
  for (const std::string& word : left)
    if (const double value = number(word); std::isfinite(value)) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < left.size(); ++i) {
    const double x = number(left[i]), y = number(right[i]);
    require(left[i] == right[i] || std::abs(x - y) <= 1e-6 * std::abs(x) + 1e-9 * largest,
            a.string() + ": " + left[i] + " and " + right[i]);
  }
}

std::vector<std::string> arrays_in(const std::string& head, const std::string& section) {
  std::vector<std::string> names;
  const std::size_t end = head.find("</" + section + ">");
  for (std::size_t at = head.find("<" + section); (at = head.find(" Name=\"", at)) < end;) {
    at += 7;
    names.push_back(head.substr(at, head.find('"', at) - at));
  }
  return names;
}

std::map<std::int64_t, std::vector<double>> values_by_id(const VtuFile& file, const std::string& ids,
                                                         const std::string& array) {
  std::vector<double> values;
  const std::string type = file.attribute(array, "type");
  if (type == "Float64") values = file.array<double>(array);
  if (type == "Int32")
    for (const std::int32_t v : file.array<std::int32_t>(array)) values.push_back(v);
  if (type == "Int64")
    for (const std::int64_t v : file.array<std::int64_t>(array)) values.push_back(static_cast<double>(v));
  const auto keys = file.array<std::int64_t>(ids);
  const std::size_t width = values.size() / keys.size();
  std::map<std::int64_t, std::vector<double>> result;
  for (std::size_t i = 0; i < keys.size(); ++i)
    result[keys[i]].assign(values.begin() + static_cast<std::ptrdiff_t>(i * width),
                           values.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
  return result;
}

/// Values below `least` are what rounding leaves of zero.
void compare_array(const VtuFile& whole, const std::vector<VtuFile>& pieces, const std::string& ids,
                   const std::string& array, double least = 1e-300) {
  const auto expected = values_by_id(whole, ids, array);
  double largest = least;
  for (const auto& [id, values] : expected)
    for (const double v : values)
      if (!std::isnan(v)) largest = std::max(largest, std::abs(v));
  std::map<std::int64_t, std::vector<double>> seen;
  for (const VtuFile& piece : pieces)
    for (const auto& [id, values] : values_by_id(piece, ids, array)) {
      const auto right = expected.find(id);
      const std::string where = array + " of " + std::to_string(id);
      require(right != expected.end() && right->second.size() == values.size(), where + " is not in the whole file");
      const auto [known, is_new] = seen.emplace(id, values);
      for (std::size_t c = 0; c < values.size(); ++c) {
        const bool empty = std::isnan(values[c]);
        require(empty == std::isnan(right->second[c]), where + " is not a number in one of the files");
        if (empty) continue;
        require(std::abs(values[c] - right->second[c]) <= tolerance * largest, where + " differs");
        require(is_new || known->second[c] == values[c], where + " differs in two pieces");
      }
    }
  // Nodes that no element uses are in no piece.
  for (const auto& [id, values] : expected)
    require(seen.contains(id) || ids == "node_id", array + " of " + std::to_string(id) + " is in no piece");
}

/// The largest value of arrays at nodes whose names begin in this way.
double largest_value(const VtuFile& file, const std::string& name) {
  double largest = 0;
  for (const std::string& array : arrays_in(file.head(), "PointData"))
    if (array.starts_with(name))
      for (const double value : file.array<double>(array))
        if (!std::isnan(value)) largest = std::max(largest, std::abs(value));
  return largest;
}

void compare_pieces(const fs::path& whole_path, const fs::path& list_path) {
  const VtuFile whole(whole_path);
  const std::string list = text_of(list_path);
  std::vector<VtuFile> pieces;
  for (std::size_t at = 0; (at = list.find("Source=\"", at)) != std::string::npos;) {
    at += 8;
    pieces.emplace_back(list_path.parent_path() / list.substr(at, list.find('"', at) - at));
  }
  require(!pieces.empty(), list_path.string() + " lists no pieces");
  std::size_t cells = 0;
  for (const VtuFile& piece : pieces) {
    cells += piece.array<std::int64_t>("element_id").size();
    for (const char* section : {"PointData", "CellData", "Points"})
      require(arrays_in(piece.head(), section) == arrays_in(list, std::string("P") + section),
              list_path.string() + " has other arrays than its pieces");
  }
  require(cells == whole.array<std::int64_t>("element_id").size(), "cells are not there exactly once");
  for (const std::string& array : arrays_in(whole.head(), "PointData"))
    if (array.starts_with("reaction"))
      compare_array(whole, pieces, "node_id", array, 1e-3 * std::max(largest_value(whole, "stress"), 1e-300));
    else if (array != "node_id")
      compare_array(whole, pieces, "node_id", array);
  compare_array(whole, pieces, "node_id", "Points");
  for (const std::string& array : arrays_in(whole.head(), "CellData"))
    if (array != "element_id" && !array.starts_with("error")) compare_array(whole, pieces, "element_id", array);
}

void compare_folders(const fs::path& alone, const fs::path& pieces, const std::string& name, std::size_t steps) {
  const auto stem = [&](std::size_t s) { return steps > 1 ? name + "_step" + std::to_string(s + 1) : name; };
  std::vector<double> reactions;
  for (std::size_t s = 0; s < steps; ++s)
    reactions.push_back(largest_value(VtuFile(alone / (stem(s) + ".vtu")), "reaction"));
  compare_documents(Json::parse(text_of(alone / (name + ".results.json"))),
                    Json::parse(text_of(pieces / (name + ".results.json"))), reactions);
  for (const auto& entry : fs::directory_iterator(alone)) {
    const std::string ending = entry.path().extension().string();
    if (ending == ".csv" || ending == ".dat") compare_tables(entry.path(), pieces / entry.path().filename());
  }
  for (std::size_t s = 0; s < steps; ++s) compare_pieces(alone / (stem(s) + ".vtu"), pieces / (stem(s) + ".pvtu"));
  const std::string series = text_of(pieces / (name + ".pvd"));
  require(series.find(".pvtu") != std::string::npos, "the .pvd file lists no pieces");
}

OutputOptions into(const fs::path& folder) {
  OutputOptions output;
  output.folder = folder;
  output.overwrite = true;
  return output;
}

void solve_pieces(Engine& engine, ReceivedPart& own, const ProcessOptions& options, const fs::path& folder) {
  PieceResults results(engine.processes(), own.part, into(folder));
  const ProcessJobResult result = run_process_part(engine, own, options, {}, results);
  agree(engine.processes(), [&] {
    if (!results.files()) return;
    RunRecord record;
    record.processes = result.parts;
    record.whole_sizes = results.sizes();
    results.files()->finish(result.job, record);
  });
}

void compare_deck(Engine& engine, const std::string& deck, const fs::path& folder, const ProcessOptions& options) {
  Processes& processes = engine.processes();
  const std::string name = fs::path(deck).stem().string();
  const fs::path file = folder / (name + ".vpart");
  Job job;
  std::size_t steps = 0;
  agree(processes, [&] {
    if (!processes.is_first()) return;
    fs::remove_all(folder);
    fs::create_directories(folder);
    Job alone = read_deck(deck);
    job = read_deck(deck);
    steps = job.steps.size();
    StaticOptions how;
    how.backend = "openmp:1";
    how.solver = "direct";
    ResultFiles files(alone, into(folder / "alone"));
    const JobResult result = run_job(alone, how, {}, files);
    files.finish(result, {how, 0});
    write_part_file(file, JobDivision(job, processes.count()), true);
  });
  ReceivedPart sent = divide_process_job(engine, &job, options, {});
  solve_pieces(engine, sent, options, folder / "sent");
  ReceivedPart read = read_process_part(engine, file.string());
  solve_pieces(engine, read, options, folder / "read");
  agree(processes, [&] {
    if (!processes.is_first()) return;
    compare_folders(folder / "alone", folder / "sent", name, steps);
    compare_folders(folder / "alone", folder / "read", name, steps);
    require(!::testing::Test::HasFailure(), "a VTU file is wrong");
    fs::remove_all(folder);
    std::printf("%s: pieces agree\n", deck.c_str());
    std::fflush(stdout);
  });
}

}  // namespace

int main(int count, char** words) {
  ProcessOptions options;
  options.backend = "openmp:1";
  options.engine.method = "mumps";
  int failed = 0;
  try {
    const auto engine = open_engine("petsc");
    for (int i = 2; i < count; ++i) {
      try {
        compare_deck(*engine, words[i], fs::path(words[1]) / fs::path(words[i]).stem(), options);
      } catch (const SharedError& error) {
        ++failed;
        if (engine->processes().is_first()) std::printf("%s FAILED: %s\n", words[i], error.what());
      } catch (const std::exception& error) {
        std::printf("%s FAILED on process %d alone: %s\n", words[i], engine->processes().own(), error.what());
        std::fflush(stdout);
        engine->processes().abort(2);
      }
    }
  } catch (const std::exception& error) {
    std::printf("FAILED: %s\n", error.what());
    return 1;
  }
  return failed > 0 || count < 3;
}
