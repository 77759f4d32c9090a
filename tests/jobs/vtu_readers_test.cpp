#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include <voussoir/framework/domain/shape_topology.hpp>

#include "job_models.hpp"

// What ParaView's and meshio's readers see in our files.

namespace voussoir {
namespace {

using Json = nlohmann::json;

/// What a command prints; empty where it fails.
std::string output_of(const std::string& command) {
  std::string text;
  std::FILE* pipe = ::popen((command + " 2>/dev/null").c_str(), "r");
  if (!pipe) return {};
  std::array<char, 4096> buffer;
  for (std::size_t n; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) text.append(buffer.data(), n);
  return ::pclose(pipe) == 0 ? text : std::string();
}

/// The script under a Python that has the reader; empty where none has. The system's own is asked too, since another
/// one may stand before it on the path.
std::string script_with(const std::string& reader) {
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    const std::string script = std::string(python) + " " VSR_TEST_SOURCE_DIR "/tests/jobs/read_vtu.py ";
    if (output_of(script + "probe").find(reader) != std::string::npos) return script + reader + " ";
  }
  return {};
}

struct Shape {
  const char* type;
  int vtk;
  const char* meshio;
};
const std::vector<Shape> shapes = {{"plane_stress.tri3", 5, "triangle"},
                                   {"plane_stress.tri6", 22, "triangle6"},
                                   {"plane_stress.quad4.full", 9, "quad"},
                                   {"plane_stress.quad8", 23, "quad8"},
                                   {"solid.tet4", 10, "tetra"},
                                   {"solid.tet10", 24, "tetra10"},
                                   {"solid.wedge6", 13, "wedge"},
                                   {"solid.wedge15", 26, "wedge15"},
                                   {"solid.hex8.full", 12, "hexahedron"},
                                   {"solid.hex20", 25, "hexahedron20"}};

class VtuReaders : public testing::FolderTest {
 protected:
  /// A bar of every shape, pulled to the length 4.2, as NAME.vtu.
  void write_all() {
    for (const Shape& shape : seen_) {
      Job job;
      job.name = shape.type;
      job.domains.push_back(std::make_unique<Domain>());
      Domain& domain = *job.domains[0];
      testing::add_bar(domain, shape.type);
      auto supports = std::make_shared<Supports>();
      for (const char* u : {"ux", "uy"})
        for (const Prescribed& p : testing::hold(domain, "xmin", u)) supports->values.push_back(p);
      if (domain.has_node_set("zmin"))
        for (const Prescribed& p : testing::hold(domain, "xmin", "uz")) supports->values.push_back(p);
      for (const Prescribed& p : testing::hold(domain, "xmax", "ux", 0.2)) supports->values.push_back(p);
      JobStep step;
      step.name = "step 1";
      step.supports = supports;
      job.steps.push_back(step);
      ResultFiles files(job, here());
      testing::run_and_write(job, files);
      nodes_.push_back(domain.node_count());
      cells_.push_back(domain.element_count());
      const ElementBlock& block = domain.block(0);
      std::vector<int> first;
      for (const int local : shape_topology(block.type().shape()).vtk_order) first.push_back(block.nodes(0)[local]);
      first_cell_.push_back(first);
      command_ += "'" + (folder_ / (job.name + ".vtu")).string() + "' ";
    }
  }
  std::vector<Json> read_with(const std::string& reader) {
    write_all();
    std::istringstream lines(output_of(script_with(reader) + command_));
    std::vector<Json> list;
    for (std::string line; std::getline(lines, line);) list.push_back(Json::parse(line));
    return list;
  }

  std::vector<Shape> seen_ = shapes;
  std::string command_;
  std::vector<std::int64_t> nodes_, cells_;
  std::vector<std::vector<int>> first_cell_;
};

TEST_F(VtuReaders, VtkReadsEveryShape) {
  if (script_with("vtk").empty()) GTEST_SKIP() << "python3-vtk9 is not installed: tools/install-dependencies interop";
  const auto seen = read_with("vtk");
  ASSERT_EQ(seen.size(), shapes.size());
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    SCOPED_TRACE(shapes[i].type);
    const Json& file = seen[i];
    EXPECT_EQ(file["points"], nodes_[i]);
    EXPECT_EQ(file["cells"], cells_[i]);
    EXPECT_EQ(file["types"], Json::array({shapes[i].vtk}));
    EXPECT_EQ(file["cell_points"], Json(first_cell_[i]));
    // Only the right order of nodes gives the right volume (4 × 1 × 1).
    EXPECT_NEAR(file["measure"].get<double>(), 4.0, 1e-9);
    EXPECT_EQ(file["arrays"]["displacement"]["components"], 3);
    EXPECT_NEAR(file["arrays"]["displacement"]["last"][0].get<double>(), 0.2, 1e-10);
    EXPECT_EQ(file["arrays"]["stress"]["names"], Json::array({"sxx", "syy", "szz", "sxy", "syz", "sxz"}));
    EXPECT_NEAR(file["arrays"]["stress"]["last"][0].get<double>(), 10.0, 1e-8);
    EXPECT_NEAR(file["arrays"]["mises"]["last"][0].get<double>(), 10.0, 1e-8);
    EXPECT_EQ(file["arrays"]["principal"]["components"], 3);
    EXPECT_EQ(file["arrays"]["reaction"]["components"], 3);
  }
}

TEST_F(VtuReaders, MeshioReadsEveryShapeItKnows) {
  if (script_with("meshio").empty())
    GTEST_SKIP() << "python3-meshio is not installed: tools/install-dependencies interop";
  // meshio has no quadratic wedge; VTK, above, reads it.
  std::erase_if(seen_, [](const Shape& shape) { return std::string(shape.type) == "solid.wedge15"; });
  const auto seen = read_with("meshio");
  ASSERT_EQ(seen.size(), seen_.size());
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    SCOPED_TRACE(seen_[i].type);
    const Json& file = seen[i];
    EXPECT_EQ(file["points"], nodes_[i]);
    EXPECT_EQ(file["cells"], cells_[i]);
    EXPECT_EQ(file["types"], Json::array({seen_[i].meshio}));
    EXPECT_NEAR(file["arrays"]["displacement"]["last"][0].get<double>(), 0.2, 1e-10);
    EXPECT_EQ(file["arrays"]["stress"]["components"], 6);
    EXPECT_NEAR(file["arrays"]["mises"]["last"][0].get<double>(), 10.0, 1e-8);
  }
}

}  // namespace
}  // namespace voussoir
