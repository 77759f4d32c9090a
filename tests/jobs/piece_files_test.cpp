// Pieces that several processes write, compared with the file of one process.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/framework/io/vtk/pvtu_writer.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/jobs/piece_files.hpp>

#include "support/expect_error.hpp"
#include "support/scratch_folder.hpp"
#include "support/vtu_file.hpp"

namespace voussoir {
namespace {

namespace fs = std::filesystem;
using testing::expect_error;

/// The rows of a field that a part has.
NodalField restricted(const NodalField& whole, const ProcessPart& part) {
  NodalField own{whole.name, whole.components, {}};
  for (const std::int64_t n : part.whole)
    for (int c = 0; c < whole.width(); ++c) own.values.push_back(whole.at(static_cast<std::int32_t>(n), c));
  return own;
}

/// The result of a part, as a distributed solver would have it: complete at nodes, and the points of its own elements.
StepResult restricted(const StepResult& whole, const ProcessPart& part, std::size_t domain) {
  StepResult own;
  own.step = whole.step;
  own.unknowns = restricted(whole.unknowns, part);
  own.reactions = restricted(whole.reactions, part);
  for (const PointField& field : whole.points) {
    const auto& elements = part.domains[domain].whole_elements[static_cast<std::size_t>(field.block)];
    if (elements.empty()) continue;  // a part has no results of blocks without elements
    PointField piece{field.block, field.points, field.names, {}};
    const std::size_t width = static_cast<std::size_t>(field.points) * field.names.size();
    for (const std::int64_t e : elements)
      piece.values.insert(piece.values.end(), field.values.begin() + static_cast<std::ptrdiff_t>(e * width),
                          field.values.begin() + static_cast<std::ptrdiff_t>((e + 1) * width));
    own.points.push_back(std::move(piece));
  }
  return own;
}

/// Names of the arrays of a section of a file's head.
std::vector<std::string> arrays_of(const std::string& head, const std::string& section) {
  std::vector<std::string> names;
  const std::size_t end = head.find("</" + section + ">");
  for (std::size_t at = head.find("<" + section); (at = head.find(" Name=\"", at)) < end;) {
    at += 7;
    names.push_back(head.substr(at, head.find('"', at) - at));
  }
  return names;
}

/// The numbers of an array by the id of the node or element.
std::map<std::int64_t, std::vector<double>> by_id(const VtuFile& file, const std::string& ids,
                                                  const std::string& array) {
  std::vector<double> values;
  if (file.attribute(array, "type") == "Float64") {
    values = file.array<double>(array);
  } else if (file.attribute(array, "type") == "Int32") {
    for (const std::int32_t v : file.array<std::int32_t>(array)) values.push_back(v);
  } else {
    for (const std::int64_t v : file.array<std::int64_t>(array)) values.push_back(static_cast<double>(v));
  }
  const auto keys = file.array<std::int64_t>(ids);
  const std::size_t width = values.size() / keys.size();
  std::map<std::int64_t, std::vector<double>> result;
  for (std::size_t i = 0; i < keys.size(); ++i)
    result[keys[i]].assign(values.begin() + static_cast<std::ptrdiff_t>(i * width),
                           values.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
  return result;
}

/// Compares one array of all pieces with that of the whole; pieces agree with each other to the last bit.
void expect_same_array(const VtuFile& whole, const std::vector<VtuFile>& pieces, const std::string& ids,
                       const std::string& array) {
  SCOPED_TRACE(array);
  const auto expected = by_id(whole, ids, array);
  double largest = 1e-300;
  for (const auto& [id, values] : expected)
    for (const double v : values) largest = std::max(largest, std::isnan(v) ? 0.0 : std::abs(v));
  std::map<std::int64_t, std::vector<double>> seen;
  for (const VtuFile& piece : pieces)
    for (const auto& [id, values] : by_id(piece, ids, array)) {
      ASSERT_TRUE(expected.contains(id)) << id;
      const std::vector<double>& right = expected.at(id);
      ASSERT_EQ(values.size(), right.size());
      const bool again = !seen.emplace(id, values).second;
      for (std::size_t c = 0; c < values.size(); ++c) {
        EXPECT_EQ(std::isnan(values[c]), std::isnan(right[c])) << id;
        if (std::isnan(values[c])) continue;
        EXPECT_NEAR(values[c], right[c], 1e-12 * largest) << id;
        if (again) {
          EXPECT_EQ(values[c], seen[id][c]) << id;
        }
      }
    }
  EXPECT_EQ(seen.size(), expected.size());
}

void expect_same_files(const fs::path& whole_path, const fs::path& list_path) {
  const VtuFile whole(whole_path);
  std::ifstream in(list_path);
  std::stringstream text;
  text << in.rdbuf();
  const std::string list = text.str();
  std::vector<VtuFile> pieces;
  for (std::size_t at = 0; (at = list.find("Source=\"", at)) != std::string::npos;) {
    at += 8;
    pieces.emplace_back(list_path.parent_path() / list.substr(at, list.find('"', at) - at));
  }
  ASSERT_FALSE(pieces.empty());
  std::size_t cells = 0;
  for (const VtuFile& piece : pieces) {
    cells += piece.array<std::int64_t>("element_id").size();
    for (const char* section : {"PointData", "CellData", "Points"})
      EXPECT_EQ(arrays_of(piece.head(), section), arrays_of(list, std::string("P") + section)) << section;
  }
  EXPECT_EQ(cells, whole.array<std::int64_t>("element_id").size());  // each cell once
  for (const std::string& array : arrays_of(whole.head(), "PointData"))
    if (array != "node_id") expect_same_array(whole, pieces, "node_id", array);
  expect_same_array(whole, pieces, "node_id", "Points");
  for (const std::string& array : arrays_of(whole.head(), "CellData"))
    if (array != "element_id" && !array.starts_with("error")) expect_same_array(whole, pieces, "element_id", array);
}

/// Solves a job in one process, writes its files and, from the results of parts, pieces of them.
void expect_same_results(Job job, int count, const std::string& method = "coordinate") {
  SCOPED_TRACE(job.name + ", " + std::to_string(count) + " parts");
  const JobDivision division(job, count, method);
  std::vector<ProcessPart> parts;
  for (int p = 0; p < count; ++p) parts.push_back(decode(encode(division.part(p)), "part"));
  OutputOptions whole_options, piece_options;
  whole_options.folder = testing::empty_scratch_folder("whole");
  piece_options.folder = testing::empty_scratch_folder("pieces");
  StaticOptions how;
  how.backend = "openmp:1";
  how.solver = "direct";
  ResultFiles files(job, whole_options);
  std::vector<StepResult> results;
  const JobResult done = run_job(job, how, {}, [&](std::size_t step, StepResult result) {
    results.push_back(result);
    files.write_step(step, std::move(result));
  });
  files.finish(done, {how, 0});
  std::vector<std::unique_ptr<PieceFiles>> writers;
  for (const ProcessPart& part : parts) writers.push_back(std::make_unique<PieceFiles>(part, piece_options));
  for (std::size_t s = 0; s < job.steps.size(); ++s) {
    std::vector<std::vector<std::string>> sent;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const auto heater = job.steps[s].heated_by;
      const NodalField heat = heater ? restricted(results[*heater].unknowns, parts[p]) : NodalField{};
      sent.push_back(
          writers[p]->begin_step(s, restricted(results[s], parts[p], job.steps[s].domain), heater ? &heat : nullptr));
    }
    for (std::size_t p = 0; p < parts.size(); ++p) {
      std::vector<std::string> received;
      for (const SharedNodes& shared : parts[p].shared) {
        const ProcessPart& other = parts[static_cast<std::size_t>(shared.part)];
        for (std::size_t i = 0; i < other.shared.size(); ++i)
          if (other.shared[i].part == parts[p].part) received.push_back(sent[static_cast<std::size_t>(shared.part)][i]);
      }
      writers[p]->end_step(received);
    }
    int lists = 0;
    for (const auto& writer : writers) lists += !writer->write_list(s).empty();
    EXPECT_EQ(lists, 1);
    const std::string stem = job.steps.size() > 1 ? job.name + "_step" + std::to_string(s + 1) : job.name;
    expect_same_files(whole_options.folder / (stem + ".vtu"), piece_options.folder / (stem + ".pvtu"));
  }
  EXPECT_TRUE(fs::exists(piece_options.folder / (job.name + ".pvd")));
}

TEST(PieceFiles, PiecesOfAHeatedAndThenLoadedBodyHaveTheValuesOfTheWhole) {
  const fs::path deck = fs::path(VSR_TEST_SOURCE_DIR) / "tests/validation/decks/heated_then_free_c3d20.inp";
  for (const int count : {1, 2, 3, 5}) expect_same_results(read_deck(deck), count);
}

TEST(PieceFiles, PiecesOfDecksHaveTheValuesOfTheWhole) {
  for (const char* name :
       {"cook_cps4_8x8", "rigid_end_c3d20", "tied_two", "inclined_roller", "frame_b31", "popov_t3d2"})
    for (const int count : {2, 5})
      expect_same_results(
          read_deck(fs::path(VSR_TEST_SOURCE_DIR) / "tests/validation/decks" / (std::string(name) + ".inp")), count,
          "metis");
}

/// Two materials in layers and beams on top: each has its own arrays, which parts without it have too.
Job layered_job() {
  Job job;
  job.name = "layers";
  job.domains.push_back(std::make_unique<Domain>());
  Domain& domain = *job.domains[0];
  BoxMesh mesh;
  mesh.cells = {6, 2, 2};
  mesh.upper = {6, 2, 1};
  add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 200.0, 0.3, 1.0));
  ElementBlock& soft = domain.add_block("soft", "solid.hex8");
  soft.set_material(std::make_shared<IsotropicMaterial>("rubber", 3.0, 0.4, 1.0));
  const auto at = [&](double x, double y, double z) {
    for (std::int32_t n = 0; n < domain.node_count(); ++n) {
      const double* const p = &domain.coordinates()[3 * static_cast<std::size_t>(n)];
      if (std::hypot(p[0] - x, p[1] - y, p[2] - z) < 1e-9) return domain.node_id(n);
    }
    const Id id = 1000 + domain.node_count();
    domain.add_node(id, x, y, z);
    return id;
  };
  Id element = 500;
  for (int i = 0; i < 2; ++i)  // above the first cells only
    for (int j = 0; j < 2; ++j) {
      std::vector<Id> nodes;
      for (const double z : {1.0, 2.0})
        for (const auto& [x, y] : {std::pair{0, 0}, {1, 0}, {1, 1}, {0, 1}}) nodes.push_back(at(i + x, j + y, z));
      soft.add(element++, nodes);
    }
  ElementBlock& beams = domain.add_block("beams", "beam");
  auto iron = std::make_shared<Material>("iron");
  iron->set("young", 500).set("shear_modulus", 200);
  beams.set_material(iron).set_section(CrossSection::rectangle(0.1, 0.2));
  beams.set_section("orientation_x", 0.3).set_section("orientation_y", 0.2).set_section("orientation_z", 1);
  for (const double y : {0.0, 1.0, 2.0}) beams.add(element++, {at(6, y, 1), at(7, y, 1)});
  for (const double y : {0.0, 1.0, 2.0})  // bricks do not hold the rotations of beams
    for (const char* rotation : {"rx", "ry", "rz"}) domain.prescribe_at(at(6, y, 1), rotation);
  domain.prescribe("xmin", "all");
  domain.add_load_case("push").nodal("xmax", "uz", -0.01).nodal_at(at(7, 1, 1), "uy", 0.02);
  JobStep& step = job.steps.emplace_back();
  step.name = "push";
  step.load_case = "push";
  return job;
}

TEST(PieceFiles, AllPiecesHaveTheArraysOfAllMaterialsAndUnknowns) {
  for (const int count : {1, 2, 3, 5, 8}) expect_same_results(layered_job(), count);
}

/// What a command prints; empty if it fails.
std::string printed_by(const std::string& command) {
  std::string text;
  std::FILE* pipe = ::popen((command + " 2>/dev/null").c_str(), "r");
  if (!pipe) return {};
  std::array<char, 4096> buffer;
  for (std::size_t n; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) text.append(buffer.data(), n);
  return ::pclose(pipe) == 0 ? text : std::string();
}

TEST(PieceFiles, VtkReadsTheListAsOneMesh) {
  std::string script;
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    const std::string call = std::string(python) + " " VSR_TEST_SOURCE_DIR "/tests/jobs/read_vtu.py ";
    if (printed_by(call + "probe").find("vtk") != std::string::npos) script = call + "vtk ";
  }
  if (script.empty()) GTEST_SKIP() << "python3-vtk9 is not installed: tools/install-dependencies interop";
  expect_same_results(layered_job(), 3);
  const auto seen = [&](const std::string& file) {
    return nlohmann::json::parse(printed_by(script + (testing::scratch_folder() / file).string()));
  };
  const auto whole = seen("whole/layers.vtu"), list = seen("pieces/layers.pvtu");
  EXPECT_EQ(list["cells"], whole["cells"]);
  EXPECT_EQ(list["types"], whole["types"]);
  EXPECT_NEAR(list["measure"].get<double>(), whole["measure"].get<double>(), 1e-12);
  for (const auto& [name, array] : whole["arrays"].items()) {
    ASSERT_TRUE(list["arrays"].contains(name)) << name;
    EXPECT_EQ(list["arrays"][name]["components"], array["components"]) << name;
    EXPECT_EQ(list["arrays"][name]["names"], array["names"]) << name;
  }
}

TEST(PieceFiles, RefusesWrongMessagesAndStates) {
  Job job = layered_job();
  const JobDivision division(job, 2, "coordinate");
  const ProcessPart part = division.part(0);
  OutputOptions options;
  options.folder = testing::empty_scratch_folder("refused");
  PieceFiles files(part, options);
  expect_error(ErrorCode::misuse, {"begin_step()"}, [&] { files.end_step({}); });
  StaticOptions how;
  how.backend = "openmp:1";
  const JobResult done = run_job(job, how);
  const auto sent = files.begin_step(0, restricted(done.steps[0], part, 0));
  ASSERT_EQ(sent.size(), part.shared.size());
  const std::vector<std::string> wrong(part.shared.size(), "x");
  expect_error(ErrorCode::bad_input, {"part 1", "1 bytes"}, [&] { files.end_step(wrong); });
  expect_error(ErrorCode::bad_input, {"no pieces"}, [&] { write_pvtu(options.folder / "a.pvtu", {}, "a.vtu"); });
  expect_error(ErrorCode::io, {"none.vtu"}, [&] { write_pvtu(options.folder / "a.pvtu", {"a"}, "none.vtu"); });
  expect_error(ErrorCode::bad_input, {"not a VTU"},
               [&] { write_pvtu(options.folder / "a.pvtu", {"a"}, VSR_TEST_SOURCE_DIR "/README.md"); });
  job.steps[0].procedure = Procedure::frequency;
  job.steps[0].modal = FrequencyStep{3, 0, 100};
  const ProcessPart modal = JobDivision(job, 1).part(0);
  PieceFiles of_modes(modal, options);
  expect_error(ErrorCode::unavailable, {"natural modes"}, [&] { of_modes.begin_step(0, {}); });
}

}  // namespace
}  // namespace voussoir
