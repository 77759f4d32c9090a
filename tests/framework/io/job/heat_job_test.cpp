// Heat jobs: what is read, and what is said of what is wrong.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

#include <voussoir/backends/grid_stock.hpp>
#include <voussoir/framework/io/job/heat_job.hpp>

#include "support/expect_error.hpp"
#include "support/scratch_folder.hpp"

namespace voussoir {
namespace {

using testing::expect_error;

const std::filesystem::path docs = std::filesystem::path(VSR_TEST_SOURCE_DIR) / "docs";

/// A job with one of its lines replaced.
std::string job_text(const std::string& from = "", const std::string& to = "") {
  std::string text = R"({
  "grid": {"nodes": [5, 4], "lengths": [2, 1], "origin": [-1, 0]},
  "sides": {"x-": {"temperature": [[0, 1], [2, 5]]}, "y": "periodic"},
  "material": {"conductivity": [3, 4], "density": 2, "specific_heat": 5},
  "sources": [{"box": {"lower": [0, 0], "upper": [1, 1], "value": 7}, "factor": [[0, 0], [1, 2]]}, {"constant": 3}],
  "initial": {"sine": {"amplitude": 2, "mean": 1, "waves": [0, 1]}},
  "scheme": "peaceman-rachford",
  "time": {"start": 1, "step": 0.25, "end": 3},
  "output": {"every": 2, "picture": "no"},
  "points": [{"at": [0.1, 0.2]}, {"name": "B", "at": [1, 0.99]}]
})";
  if (!from.empty()) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  }
  return text;
}

HeatJob read(const std::string& text) { return read_heat_text(text, "folder/plate.json", "folder"); }

TEST(HeatJobFile, SaysEverything) {
  const HeatJob job = read(job_text());
  EXPECT_EQ(job.name, "plate");
  EXPECT_EQ(job.grid.dimensions(), 2);
  EXPECT_EQ(job.grid.spacing(0), 0.5);
  EXPECT_EQ(job.grid.spacing(1), 0.25);
  EXPECT_EQ(job.grid.origin()[0], -1);
  EXPECT_TRUE(job.grid.is_periodic(1));
  EXPECT_EQ(job.grid.side(0).kind, SideKind::prescribed);
  EXPECT_EQ(job.grid.side(1).kind, SideKind::flux);
  for (const auto& [time, value] : {std::pair{-1.0, 1.0}, {0.0, 1.0}, {0.5, 2.0}, {2.0, 5.0}, {9.0, 5.0}})
    EXPECT_DOUBLE_EQ(job.grid.side(0).value.at({}, time), value);
  EXPECT_EQ(job.material.conductivity[1], 4);
  EXPECT_EQ(job.material.capacity(), 10);
  ASSERT_EQ(job.sources.size(), 2U);
  EXPECT_EQ(job.sources[0].program->name(), "grid.box");
  EXPECT_DOUBLE_EQ(job.sources[0].factor(0.75), 1.5);
  EXPECT_EQ(job.options.scheme, HeatScheme::peaceman_rachford);
  EXPECT_EQ(job.steps, 8);
  EXPECT_EQ(job.options.start_time, 1);
  EXPECT_EQ(job.every, 2);
  EXPECT_FALSE(job.picture);
  EXPECT_TRUE(job.vti);
  ASSERT_EQ(job.points.size(), 2U);
  EXPECT_EQ(job.points[0].name, "P1");
  EXPECT_EQ(job.points[0].node, 2 + 5 * 1);
  EXPECT_EQ(job.points[1].node, 4);  // y = 0.99 is nearest to the first row again

  const auto space = std::make_shared<const GridSpace>(job.grid, Backend::open("openmp:1"));
  GridField field(space);
  job.initial.fill(field);
  EXPECT_NEAR(field.at(5), 1 + 2, 1e-15);
  EXPECT_NEAR(field.at(0), 1, 1e-15);
}

TEST(HeatJobFile, ErrorsNameThePlace) {
  const auto refuse = [](const std::string& from, const std::string& to, std::initializer_list<std::string> pieces) {
    expect_error(ErrorCode::bad_input, pieces, [&] { read(job_text(from, to)); });
  };
  refuse("\"sides\"", "\"sidse\"", {"folder/plate.json:3, /sidse", "did you mean 'sides'?"});
  refuse("[5, 4]", "[5, 2]", {":2, /grid/nodes/1", "from 3 to"});
  refuse("[5, 4]", "[5, 4.5]", {"/grid/nodes/1", "whole number"});
  refuse("[5, 4]", "[5, 4, 3, 3]", {"/grid/nodes", "one, two or three"});
  refuse("[2, 1]", "[2]", {"/grid/lengths", "2 numbers"});
  refuse("[2, 1]", "[2, -1]", {"/grid", "along y", "-1"});
  refuse("\"x-\"", "\"x_\"", {"/sides/x_", "did you mean 'x'?"});
  refuse("\"x-\": {\"temperature\"", "\"z-\": {\"temperature\"", {"/sides/z-"});
  refuse("\"y\": \"periodic\"", "\"y-\": \"periodic\"", {"/sides/y-", "\"y\": \"periodic\""});
  refuse("\"periodic\"", "\"peridoic\"", {"/sides/y", "did you mean 'periodic'?"});
  refuse("{\"temperature\": [[0, 1], [2, 5]]}", "{\"temperature\": 1, \"flux\": 2}", {"/sides/x-", "either"});
  refuse("[[0, 1], [2, 5]]", "[[2, 1], [2, 5]]", {"/sides/x-/temperature/1", "increase"});
  refuse("[[0, 1], [2, 5]]", "[[2, 1, 3]]", {"/sides/x-/temperature/0", "pair"});
  refuse("[[0, 1], [2, 5]]", "[]", {"/sides/x-/temperature", "at least one row"});
  refuse("[3, 4]", "[3, 0]", {"/material/conductivity", "greater than zero"});
  refuse("\"density\": 2", "\"density\": 0", {"/material/density", "greater than zero"});
  refuse("\"density\": 2, ", "", {"/material", "'density' is missing"});
  refuse("{\"constant\": 3}", "{\"constant\": 3, \"box\": {}}", {"/sources/1", "one of"});
  refuse("\"upper\": [1, 1]", "\"upper\": [1, -1]", {"/sources/0/box", "below"});
  refuse("\"lower\": [0, 0], \"upper\": [1, 1]", "\"lower\": [0, 0.3], \"upper\": [1, 0.4]",
         {"/sources/0/box", "no node", "along y", "0.25 apart"});
  refuse("\"lower\": [0, 0], \"upper\": [1, 1]", "\"lower\": [2, 0], \"upper\": [3, 1]", {"/sources/0/box", "along x"});
  refuse("\"y\": \"periodic\"", "\"y\": \"periodic\", \"y+\": {\"temperature\": 5}", {"/sides/y+", "y is periodic"});
  refuse("\"grid\"", "\"mesh\": \"a.msh\", \"gird\"", {"/mesh", "voussoir run"});
  refuse("\"waves\": [0, 1]", "\"waves\": [0, 1, 2]", {"/initial/sine/waves"});
  refuse("\"peaceman-rachford\"", "\"peaceman\"", {"/scheme"});
  refuse("\"end\": 3", "\"end\": 3.1", {"/time/end", "whole number of steps", "8.4"});
  refuse("\"end\": 3", "\"end\": 0.5", {"/time/end", "later"});
  refuse("\"end\": 3", "\"end\": 3, \"steps\": 2", {"/time", "two of"});
  refuse("\"step\": 0.25, \"end\": 3", "\"step\": 0.25", {"/time", "two of"});
  refuse("\"every\": 2", "\"every\": 0", {"/output/every"});
  refuse("\"picture\": \"no\"", "\"picture\": \"maybe\"", {"/output/picture", "'yes'"});
  refuse("[0.1, 0.2]", "[7, 0.2]", {"/points/0/at", "outside the grid"});
  refuse("{\"name\": \"B\"", "{\"name\": \"P1\"", {"/points/1", "'P1'"});
  refuse("\"peaceman-rachford\"", "\"stationary\"", {"/time", "no time"});
  refuse("\"time\": {\"start\": 1, \"step\": 0.25, \"end\": 3},", "\"comment\": 1,", {"'time' is missing"});
  refuse("{\n", "{,\n", {"plate.json:1", "not JSON"});
  refuse("\"value\": 7", "\"value\": 1e999", {"plate.json:5"});
}

TEST(HeatJobFile, BoxesHaveMaterialsOfTheirOwn) {
  const auto with = [](const std::string& materials) {
    return job_text("\"sources\"", "\"materials\": " + materials + ",\n  \"sources\"");
  };
  const HeatJob job = read(with(R"([{"box": {"lower": [0, 0], "upper": [1, 1]}, "conductivity": 9},
    {"box": {"lower": [0.5, 0.25], "upper": [0.5, 0.5]}, "conductivity": [5, 6], "density": 3, "specific_heat": 7}])"));
  ASSERT_EQ(job.regions.size(), 2U);
  const GridMaterials materials = job.materials();
  EXPECT_EQ(materials.conductivity(0, 0), 3);  // x = −1: the job's own
  EXPECT_EQ(materials.conductivity(1, 0), 4);
  EXPECT_EQ(materials.conductivity(0, 2), 9);      // x = 0, on the surface of the first box
  EXPECT_EQ(materials.capacity(2), 10);            // density and specific heat of the job
  EXPECT_EQ(materials.conductivity(0, 3 + 5), 5);  // x = 0.5, y = 0.25: the later box
  EXPECT_EQ(materials.conductivity(1, 3 + 5), 6);
  EXPECT_EQ(materials.capacity(3 + 5), 21);
  EXPECT_NE(job.fingerprint, read(job_text()).fingerprint);
  EXPECT_TRUE(read(job_text()).regions.empty());

  const auto refuse = [&](const std::string& materials_text, std::initializer_list<std::string> pieces) {
    expect_error(ErrorCode::bad_input, pieces, [&] { read(with(materials_text)); });
  };
  refuse(R"([{"box": {"lower": [0, 0], "upper": [1, 1]}}])", {"/materials/0", "'conductivity' is missing"});
  refuse(R"([{"conductivity": 1}])", {"/materials/0", "'box' is missing"});
  refuse(R"([{"box": {"lower": [0, 0], "upper": [1, 1], "value": 3}, "conductivity": 1}])", {"/materials/0/box/value"});
  refuse(R"([{"box": {"lower": [0, 0.3], "upper": [1, 0.4]}, "conductivity": 1}])", {"/materials/0/box", "no node"});
  refuse(R"([{"box": {"lower": [0, 0], "upper": [1, 1]}, "conductivity": -1}])", {"/materials/0/conductivity"});
  refuse(
      R"([{"box": {"lower": [0, 0], "upper": [1, 1]}, "conductivity": 1, "density": 1e-300, "specific_heat": 1e-300}])",
      {"/materials/0", "density times specific heat"});
  for (const char* scheme : {"stationary", "long-vectors"}) {
    std::string text = with(R"([{"box": {"lower": [0, 0], "upper": [1, 1]}, "conductivity": 9}])");
    text.replace(text.find("peaceman-rachford"), 17, scheme);
    expect_error(ErrorCode::bad_input, {"/materials", scheme, "one material"}, [&] { read(text); });
  }
}

TEST(HeatJobFile, IsToldFromJobsOfFiniteElements) {
  const auto folder = testing::empty_scratch_folder("heat_kinds");
  const auto is_heat = [&](const std::string& text, const std::string& name = "a.json") {
    std::ofstream(folder / name) << text;
    return is_heat_job(folder / name);
  };
  EXPECT_TRUE(is_heat(job_text()));
  EXPECT_FALSE(is_heat(R"({"mesh": "a.msh"})"));
  EXPECT_FALSE(is_heat("{\"grid\": "));
  EXPECT_FALSE(is_heat("[1]"));
  EXPECT_FALSE(is_heat(job_text(), "a.inp"));
  EXPECT_FALSE(is_heat_job(folder / "nothing.json"));
}

// 0.3 is less than the position of the fourth of eleven nodes, 3 · 0.1, by rounding.
TEST(HeatJobFile, BoxesContainTheNodesOfTheirSurface) {
  for (const char* box : {"\"lower\": [0.1], \"upper\": [0.3]", "\"lower\": [0.7], \"upper\": [0.9]"}) {
    const HeatJob job = read(R"({"grid": {"nodes": [11], "lengths": [1]},
 "material": {"conductivity": 1, "density": 1, "specific_heat": 1}, "time": {"step": 1, "steps": 1},
 "initial": {"box": {)" + std::string(box) +
                             R"(, "value": 1, "outside": 0}}})");
    GridField field(std::make_shared<const GridSpace>(job.grid, Backend::open("openmp:1")));
    job.initial.fill(field);
    double sum = 0;
    for (std::int64_t n = 0; n < 11; ++n) sum += field.at(n);
    EXPECT_EQ(sum, 3) << box;
  }
}

TEST(HeatJobFile, StationaryJobsNeedFixedSides) {
  const std::string text = R"({"grid": {"nodes": [5], "lengths": [1]}, "sides": {"x-": SIDE},
 "material": {"conductivity": 1, "density": 1, "specific_heat": 1}, "scheme": "stationary",
 "stationary": {"tolerance": 1e-6, "method": "jacobi"}})";
  const auto with = [&](const std::string& side) {
    std::string all = text;
    return all.replace(all.find("SIDE"), 4, side);
  };
  EXPECT_FALSE(read(with("{\"temperature\": 3}")).stationary_options.chebyshev);
  expect_error(ErrorCode::bad_input, {"/scheme", "not unique"}, [&] { read(with("\"insulated\"")); });
  expect_error(ErrorCode::bad_input, {"/sides", "x-", "changes with time"},
               [&] { read(with("{\"temperature\": [[0, 1], [1, 2]]}")); });
}

TEST(HeatJobFile, FieldsOfFilesAreChecked) {
  const auto folder = testing::empty_scratch_folder("heat_fields");
  const auto job_with = [&](std::size_t count, double value) {
    const std::vector<double> values(count, value);
    std::ofstream(folder / "field.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(count * sizeof(double)));
    return read_heat_text(
        job_text("{\"sine\": {\"amplitude\": 2, \"mean\": 1, \"waves\": [0, 1]}}", "{\"file\": \"field.bin\"}"),
        "plate.json", folder);
  };
  const auto fill = [](const HeatJob& job) {
    GridField field(std::make_shared<const GridSpace>(job.grid, Backend::open("openmp:1")));
    job.initial.fill(field);
    return field.at(19);
  };
  EXPECT_EQ(fill(job_with(20, 2.5)), 2.5);
  expect_error(ErrorCode::bad_input, {"plate.json:6, /initial", "field.bin", "160"}, [&] { fill(job_with(19, 1)); });
  expect_error(ErrorCode::bad_input, {"/initial", "number 0"}, [&] { fill(job_with(20, std::nan(""))); });
  std::filesystem::remove(folder / "field.bin");
  const HeatJob job = read_heat_text(
      job_text("{\"sine\": {\"amplitude\": 2, \"mean\": 1, \"waves\": [0, 1]}}", "{\"file\": \"field.bin\"}"),
      "plate.json", folder);
  expect_error(ErrorCode::io, {"field.bin"}, [&] { fill(job); });
}

TEST(HeatJobFile, FingerprintsTellJobsApart) {
  const std::string one = read(job_text()).fingerprint;
  EXPECT_EQ(one, read(job_text("\"every\": 2", "\"every\": 3")).fingerprint);
  EXPECT_EQ(one, read(job_text("\"end\": 3", "\"end\": 5")).fingerprint);
  EXPECT_NE(one, read(job_text("\"name\": \"B\"", "\"name\": \"C\"")).fingerprint);  // its history is in the state
  EXPECT_NE(one, read(job_text("0.25", "0.125")).fingerprint);
  EXPECT_NE(one, read(job_text("\"value\": 7", "\"value\": 8")).fingerprint);
  EXPECT_NE(one, read(job_text("[5, 4]", "[5, 6]")).fingerprint);
}

TEST(HeatJobFile, TheExampleIsReadAndFollowsTheSchema) {
  const HeatJob job = read_heat_job(docs / "examples/heat/heated_plate.json");
  EXPECT_EQ(job.steps, 240);
  EXPECT_EQ(read_heat_job(docs / "examples/heat/layered_wall.json").regions.size(), 1U);
  if (std::system("python3 -c 'import jsonschema' > /dev/null 2>&1") != 0)
    GTEST_SKIP() << "python3-jsonschema is not installed";
  const auto folder = testing::empty_scratch_folder("heat_schema");
  std::ofstream(folder / "job.json") << job_text();
  std::ofstream(folder / "check.py") << R"(
import json, pathlib, sys, jsonschema
docs = pathlib.Path(sys.argv[1])
schema = json.loads((docs / 'heat.schema.json').read_text())
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)
right = list((docs / 'examples/heat').glob('*.json')) + [pathlib.Path(sys.argv[2])]
bad = [f'{p.name}: {e.message}' for p in right for e in validator.iter_errors(json.loads(p.read_text()))]
base = json.loads(pathlib.Path(sys.argv[2]).read_text())
for change in [{'sidse': 1}, {'sides': {'x-': 'closed'}}, {'scheme': 'implicit'}, {'sources': [{'constant': 1, 'box': {}}]},
               {'grid': {'nodes': [2], 'lengths': [1]}}, {'output': {'picture': True}}, {'time': {'start': 0, 'step': 1}},
               {'time': {'step': 1, 'steps': 2, 'end': 2}}, {'stationary': {'tolerance': 10}},
               {'materials': [{'conductivity': 1}]}, {'materials': [{'box': {'lower': [0, 0], 'upper': [1, 1]}}]}]:
    if validator.is_valid({**base, **change}): bad.append(f'accepted: {change}')
print('\n'.join(bad))
sys.exit(bool(bad))
)";
  EXPECT_EQ(std::system(("python3 " + (folder / "check.py").string() + " " + docs.string() + " " +
                         (folder / "job.json").string())
                            .c_str()),
            0);
}

}  // namespace
}  // namespace voussoir
