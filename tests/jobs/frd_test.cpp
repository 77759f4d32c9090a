#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>

#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/framework/io/frd/frd_writer.hpp>
#include <voussoir/framework/io/job/job_file.hpp>

#include "job_models.hpp"
#include "support/expect_error.hpp"
#include "support/job_samples.hpp"

// Results in CalculiX's format against those that CalculiX 2.20 wrote of the same decks (tests/jobs/frd).

namespace voussoir {
namespace {

namespace fs = std::filesystem;
using testing::expect_error;
using testing::run_and_write;

class Frd : public testing::FolderTest {
 protected:
  OutputOptions with_frd() const {
    OutputOptions options = here();
    options.frd = true;
    return options;
  }
};

/// An .frd file, read by its columns.
struct FrdFile {
  struct Element {
    int type, material;
    std::vector<int> nodes;
    bool operator==(const Element&) const = default;
  };
  struct Result {
    int step;
    double time;
    std::string name;
    std::vector<std::string> heads;  ///< lines that say what the components are
    std::map<int, std::vector<double>> values;
  };
  std::map<int, std::array<double, 3>> nodes;
  std::map<int, Element> elements;
  std::vector<Result> results;
  bool complete = false;

  const Result* find(int step, const std::string& name) const {
    for (const Result& r : results)
      if (r.step == step && r.name == name) return &r;
    return nullptr;
  }
};

FrdFile read_frd(const fs::path& path) {
  FrdFile file;
  std::ifstream in(path);
  EXPECT_TRUE(in) << path;
  char mode = ' ';
  std::size_t announced = 0, seen = 0;
  int step = 0, current = 0;
  double time = 0;
  const auto numbers = [](const std::string& line) {
    std::vector<double> values;
    for (std::size_t at = 13; at + 12 <= line.size(); at += 12) values.push_back(std::stod(line.substr(at, 12)));
    return values;
  };
  for (std::string line; std::getline(in, line);) {
    const std::string key = line.substr(0, 6);
    if (key == "    2C" || key == "    3C") {
      mode = line[4];
      announced = std::stoul(line.substr(6, 30));
      seen = 0;
      EXPECT_EQ(std::stoi(line.substr(36)), 1);  // the long text format
    } else if (key == "  100C") {
      time = std::stod(line.substr(12, 12));
      announced = std::stoul(line.substr(24, 12));
      step = std::stoi(line.substr(58, 5));
      seen = 0;
      EXPECT_EQ(std::stoi(line.substr(7, 5)), 100 + step);
    } else if (key.substr(0, 3) == " -4") {
      mode = 'r';
      std::string name = line.substr(5, 8);
      name.erase(name.find_last_not_of(' ') + 1);
      file.results.push_back({step, time, name, {line}, {}});
    } else if (key.substr(0, 3) == " -5") {
      file.results.back().heads.push_back(line);
    } else if (key.substr(0, 3) == " -1") {
      ++seen;
      current = std::stoi(line.substr(3, 10));
      if (mode == '2') {
        const auto x = numbers(line);
        file.nodes[current] = {x.at(0), x.at(1), x.at(2)};
      } else if (mode == '3') {
        file.elements[current] = {std::stoi(line.substr(13, 5)), std::stoi(line.substr(23, 5)), {}};
      } else {
        file.results.back().values[current] = numbers(line);
      }
    } else if (key.substr(0, 3) == " -2") {
      for (std::size_t at = 3; at < line.size(); at += 10)
        file.elements[current].nodes.push_back(std::stoi(line.substr(at, 10)));
    } else if (key.substr(0, 3) == " -3") {
      EXPECT_EQ(seen, announced);
      mode = ' ';
    } else if (line.find("9999") == 1) {
      file.complete = true;
    }
  }
  return file;
}

/// Runs a deck of tests/jobs/frd and compares with CalculiX's file, result by result.
void compare(const std::string& name, const OutputOptions& options, const std::vector<std::string>& quantities) {
  const fs::path data = fs::path(VSR_TEST_SOURCE_DIR) / "tests/jobs/frd";
  Job job = read_deck(data / (name + ".inp"));
  ResultFiles results(job, options);
  results.finish(run_job(job, testing::plainly(), {}, results), {});
  const FrdFile theirs = read_frd(data / (name + ".frd")), ours = read_frd(options.folder / (name + ".frd"));
  EXPECT_TRUE(ours.complete);
  EXPECT_EQ(ours.nodes, theirs.nodes);
  ASSERT_EQ(ours.elements.size(), theirs.elements.size());
  for (const auto& [id, element] : theirs.elements) EXPECT_EQ(ours.elements.at(id), element) << id;
  for (std::size_t step = 1; step <= job.steps.size(); ++step)
    for (const std::string& quantity : quantities) {
      SCOPED_TRACE(name + ", step " + std::to_string(step) + ", " + quantity);
      const auto* wanted = theirs.find(static_cast<int>(step), quantity);
      const auto* found = ours.find(static_cast<int>(step), quantity);
      ASSERT_TRUE(wanted);
      ASSERT_TRUE(found);
      EXPECT_EQ(found->heads, wanted->heads);
      EXPECT_EQ(found->time, wanted->time);
      ASSERT_EQ(found->values.size(), wanted->values.size());
      double largest = 0;
      for (const auto& [node, values] : wanted->values)
        for (const double v : values) largest = std::max(largest, std::abs(v));
      EXPECT_GT(largest, 0);
      // CalculiX carries stresses to nodes with numbers of five digits.
      for (const auto& [node, values] : wanted->values) {
        ASSERT_EQ(found->values.at(node).size(), values.size());
        for (std::size_t k = 0; k < values.size(); ++k)
          EXPECT_NEAR(found->values.at(node)[k], values[k], 1e-4 * largest) << "node " << node << ", " << k;
      }
    }
}

TEST_F(Frd, SolidsOfEveryShapeAgreeWithCalculix) {
  compare("solids", with_frd(), {"DISP", "STRESS", "TOSTRAIN", "FORC"});
}
TEST_F(Frd, PlaneShapesAgreeWithCalculix) { compare("plane", with_frd(), {"DISP", "STRESS", "TOSTRAIN", "FORC"}); }
TEST_F(Frd, StressThatVariesAgreesWithCalculix) {
  compare("hex20", with_frd(), {"DISP", "NDTEMP", "STRESS", "TOSTRAIN", "FORC"});
}
TEST_F(Frd, PlasticStrainAgreesWithCalculix) {
  compare("plastic", with_frd(), {"DISP", "STRESS", "TOSTRAIN", "FORC", "PE"});
}
TEST_F(Frd, HeatAgreesWithCalculix) { compare("heat", with_frd(), {"NDTEMP", "FLUX", "RFL"}); }

TEST_F(Frd, IsWrittenWhereItIsAskedFor) {
  Job job = testing::pulled_bar();
  ResultFiles without(job, here());
  run_and_write(job, without);
  EXPECT_FALSE(fs::exists(folder_ / "bar.frd"));
  OutputOptions options = with_frd();
  options.name = "again";
  ResultFiles with(job, options);
  run_and_write(job, with);
  EXPECT_TRUE(fs::exists(folder_ / "again.frd"));
  EXPECT_EQ(std::count(with.written().begin(), with.written().end(), folder_ / "again.frd"), 1);
  EXPECT_NE(with.json().find("again.frd"), std::string::npos);
  expect_error(ErrorCode::io, {"exist already", "--force"}, [&] { ResultFiles(job, options); });
}

TEST_F(Frd, AHeatedBodyIsOneMeshForBothAnalyses) {
  Job job = read_job_text(
      R"({"mesh": "m", "materials": {"m": {"young": 100, "poisson": 0, "conductivity": 1, "expansion": 0.01}},
    "sections": [{"group": "plate", "physics": "plane_stress", "material": "m"},
                 {"group": "plate", "physics": "plane_heat", "material": "m"}],
    "supports": [{"group": "lower", "T": 10}, {"group": "lower", "ux": 0, "uy": 0}],
    "loads": [{"name": "flux", "group": "right", "heat_flux": 4}],
    "steps": [{"name": "warm", "analysis": "heat"}, {"name": "bend", "analysis": "static", "temperatures_from": "warm"}]})",
      "warm.json", testing::mesh_of(testing::square()));
  ResultFiles results(job, with_frd());
  run_and_write(job, results);
  const FrdFile file = read_frd(folder_ / "warm.frd");
  EXPECT_EQ(file.nodes.size(), 4u);
  EXPECT_EQ(file.elements.size(), 2u);
  EXPECT_EQ(file.elements.at(5).type, 7);
  ASSERT_TRUE(file.find(1, "NDTEMP"));
  ASSERT_TRUE(file.find(2, "NDTEMP"));  // what the second step is heated by
  EXPECT_EQ(file.find(1, "NDTEMP")->values, file.find(2, "NDTEMP")->values);
  EXPECT_TRUE(file.find(2, "DISP"));
  EXPECT_FALSE(file.find(1, "DISP"));
}

TEST_F(Frd, NodesWithoutStressAreLeftOut) {
  // A truss from the square's corner to a node beside it.
  Domain domain;
  for (const auto& [id, x, y] :
       std::vector<std::tuple<Id, double, double>>{{1, 0, 0}, {2, 1, 0}, {3, 1, 1}, {4, 0, 1}, {9, 2, 0}})
    domain.add_node(id, x, y, 0);
  domain.add_block("plate", "plane_stress.quad4").add(1, {1, 2, 3, 4});
  domain.add_block("bar", "plane_truss").add(2, {2, 9});
  FrdWriter writer(folder_ / "x.frd", false, {{&domain, domain.node_count()}});
  writer.begin_step(1, 0.25);
  NodalField field{"stress", {"sxx", "syy", "szz", "sxy", "syz", "sxz"}, std::vector<double>(30, 1.5)};
  for (int k = 0; k < 6; ++k) field.values[24 + k] = std::nan("");
  field.values[0] = -1e-120;  // exponents of three digits keep the columns
  field.values[1] = -3.14159265e150;
  field.values[2] = 1e-320;
  writer.add(domain, FrdQuantity::stress, field);
  writer.add(domain, FrdQuantity::flux, field);  // has none of these components
  EXPECT_FALSE(fs::exists(folder_ / "x.frd"));
  writer.commit();
  const FrdFile file = read_frd(folder_ / "x.frd");
  EXPECT_EQ(file.elements.at(2).type, 11);
  ASSERT_EQ(file.results.size(), 1u);
  EXPECT_EQ(file.results[0].time, 0.25);
  EXPECT_EQ(file.results[0].values.size(), 4u);
  EXPECT_EQ(file.results[0].values.at(1)[0], -1e-120);
  EXPECT_EQ(file.results[0].values.at(1)[1], -3.1416e150);
  EXPECT_EQ(file.results[0].values.at(1)[2], 0);
  EXPECT_EQ(file.results[0].values.at(1)[3], 1.5);
  Domain other;
  other.add_node(3000000000, 0, 0, 0);
  expect_error(ErrorCode::bad_input, {"node 3000000000", "2147483647"}, [&] {
    FrdWriter(folder_ / "y.frd", false, {{&other, 1}});
  });
  EXPECT_FALSE(fs::exists(folder_ / "y.frd"));
}

TEST_F(Frd, CalculixGraphixReadsIt) {
  if (std::system("command -v cgx > /dev/null 2>&1") != 0) GTEST_SKIP() << "cgx is not installed";
  compare("solids", with_frd(), {"DISP"});
  {
    std::ofstream commands(folder_ / "read.fbd");
    commands << "read solids.frd\nprnt info\nquit\n";
  }
  const std::string call =
      "cd '" + folder_.string() + "' && timeout 60 cgx -bg read.fbd < /dev/null 2>&1 | head -c 100000";
  std::FILE* pipe = ::popen(call.c_str(), "r");
  ASSERT_TRUE(pipe);
  std::string said;
  char part[4096];
  for (std::size_t n; (n = std::fread(part, 1, sizeof(part), pipe)) > 0;) said.append(part, n);
  ::pclose(pipe);
  EXPECT_NE(said.find(" n:63 e:6 "), std::string::npos) << said;  // nodes, elements
  EXPECT_NE(said.find(" ds:9 "), std::string::npos) << said;      // results
  EXPECT_EQ(said.find("ERROR"), std::string::npos) << said;
}

}  // namespace
}  // namespace voussoir
