// Jobs whose mesh is read in slices: the sums of the systems of all parts are those of the whole model, no process has
// the whole mesh, and errors are those of one process.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>

#include <voussoir/framework/domain/material.hpp>
#include <voussoir/framework/io/gmsh/gmsh_slice.hpp>
#include <voussoir/framework/io/gmsh/gmsh_writer.hpp>
#include <voussoir/framework/io/job/job_file.hpp>
#include <voussoir/partition/domain_partitioner.hpp>
#include <voussoir/partition/element_graph.hpp>
#include <voussoir/partition/process/sliced_job.hpp>

#include "../thread_processes.hpp"
#include "part_systems.hpp"
#include "support/expect_error.hpp"
#include "support/scratch_folder.hpp"

namespace voussoir {
namespace {

using testing::empty_scratch_folder;
using testing::expect_error;
using testing::expect_parts_add_up;
using testing::on_threads;

/// A bar of hexahedra in two halves, above and below; numbers of nodes and elements have gaps, and descend.
struct Bar {
  int nx = 6, ny = 3, nz = 4;
  Id node(int i, int j, int k) const { return 50000 - 3 * (i + (nx + 1) * (j + (ny + 1) * k)); }

  std::unique_ptr<Domain> domain() const {
    auto made = std::make_unique<Domain>();
    Domain& domain = *made;
    for (int k = 0; k <= nz; ++k)
      for (int j = 0; j <= ny; ++j)
        for (int i = 0; i <= nx; ++i) domain.add_node(node(i, j, k), 1.0 * i, 0.7 * j + 0.01 * i * k, 0.5 * k);
    ElementBlock& below = domain.add_block("below", "solid.hex8");
    ElementBlock& above = domain.add_block("above", "solid.hex8");
    Id id = 9000;
    for (int k = 0; k < nz; ++k)
      for (int j = 0; j < ny; ++j)
        for (int i = 0; i < nx; ++i)
          (2 * k < nz ? below : above)
              .add(id -= 2,
                   {node(i, j, k), node(i + 1, j, k), node(i + 1, j + 1, k), node(i, j + 1, k), node(i, j, k + 1),
                    node(i + 1, j, k + 1), node(i + 1, j + 1, k + 1), node(i, j + 1, k + 1)});
    const double middle = 0.25 * nz;
    domain.add_surface_where("left", [](double x, double, double) { return x < 1e-9; });
    domain.add_surface_where("right", [&](double x, double, double) { return x > nx - 1e-9; });
    domain.add_surface_where("top", [&](double, double, double z) { return z > 0.5 * nz - 1e-9; });
    std::vector<FaceRef> seam;  // between the halves
    for (std::int32_t e = 0; e < below.size(); ++e)
      if (domain.coordinates()[3 * static_cast<std::size_t>(below.nodes(e)[4]) + 2] > middle - 1e-9)
        seam.push_back({0, e, 1});
    domain.add_surface("seam", seam);
    domain.add_node_set("corners", {node(nx, 0, 0), node(nx, ny, nz), node(2, 0, nz)});
    return made;
  }
};

constexpr const char* bar_job = R"({
  "mesh": "bar.msh",
  "materials": {"steel": {"young": 200, "poisson": 0.3, "density": 2, "expansion": 1e-3},
                "lead": {"young": 20, "poisson": 0.4, "density": 5, "expansion": 2e-3}},
  "sections": [{"group": "below", "physics": "solid", "material": "steel"},
               {"group": "above", "physics": "solid", "material": "lead"}],
  "supports": [{"group": "left", "all": 0}, {"group": "corners", "uz": 0.01}],
  "initial_temperature": [{"group": "below", "value": 3}, {"group": "above", "value": 3}],
  "loads": [{"name": "a", "group": "top", "pressure": 2}, {"name": "a", "group": "right", "total_force": [1, 2, 3]},
            {"name": "a", "gravity": [0, 0, -1]}, {"name": "a", "group": "seam", "traction": [0.5, 0, 0]},
            {"name": "a", "group": "top", "nodal_force": [0, 0.1, 0]}, {"name": "a", "group": "above", "temperature": 40},
            {"name": "a", "group": "seam", "total_force": [0, 0, 7]}]
})";

std::filesystem::path write_job(const std::string& folder_name, const Domain& domain, const std::string& text,
                                GmshFormat format = GmshFormat::binary_4_1) {
  const auto folder = empty_scratch_folder(folder_name);
  write_gmsh(domain, folder / "bar.msh", {true, format});
  std::ofstream(folder / "bar.json") << text;
  return folder / "bar.json";
}

/// Makes the partitioner of a process.
using MakePartitioner = std::function<std::unique_ptr<ProcessGraphPartitioner>(Processes&)>;

std::vector<SlicedPart> read_slices(const std::filesystem::path& path, int count, const MakePartitioner& make = {}) {
  std::vector<SlicedPart> parts(static_cast<std::size_t>(count));
  std::exception_ptr error;
  std::mutex mutex;
  on_threads(count, [&](Processes& processes) {
    try {
      const auto partitioner = make ? make(processes) : nullptr;
      parts[static_cast<std::size_t>(processes.own())] = read_sliced_job(processes, path, partitioner.get());
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (processes.is_first()) error = std::current_exception();
    }
  });
  if (error) std::rethrow_exception(error);
  return parts;
}

std::vector<ProcessPart> parts_of(const std::vector<SlicedPart>& slices) {
  std::vector<ProcessPart> parts;
  for (const SlicedPart& slice : slices) parts.push_back(decode(encode(slice.part), "a part"));
  return parts;
}

TEST(SlicedJob, SystemsOfPartsAddUpToThatOfTheWholeModel) {
  const auto path = write_job("sliced_bar", *Bar().domain(), bar_job);
  const Job whole = read_job_file(path);
  for (const int count : {1, 2, 3, 5}) {
    SCOPED_TRACE(count);
    const std::vector<ProcessPart> parts = parts_of(read_slices(path, count));
    expect_parts_add_up(whole, parts);
    std::int64_t elements = 0;
    for (const ProcessPart& part : parts) {
      EXPECT_TRUE(part.has_elements(0));
      elements += part.job.domains[0]->element_count();
      EXPECT_EQ(part.whole_nodes, whole.domains[0]->node_count());
      for (std::size_t b = 0; b < 2; ++b) {
        const ElementBlock& own = std::as_const(*part.job.domains[0]).block(b);
        const ElementBlock& all = std::as_const(*whole.domains[0]).block(b);
        EXPECT_EQ(part.domains[0].block_sizes[b], all.size());
        for (std::int32_t e = 0; e < own.size(); ++e)
          EXPECT_EQ(own.id(e), all.id(static_cast<std::int32_t>(part.domains[0].whole_elements[b][e])));
      }
      for (std::int32_t n = 0; n < part.node_count(); ++n)
        EXPECT_EQ(part.job.domains[0]->node_id(n),
                  whole.domains[0]->node_id(static_cast<std::int32_t>(part.whole[static_cast<std::size_t>(n)])));
    }
    EXPECT_EQ(elements, whole.domains[0]->element_count());
  }
}

/// Keeps the graphs of all processes, and gives the vertices in turn to all parts but those left empty.
class TakingTurns : public ProcessGraphPartitioner {
 public:
  TakingTurns(ProcessGraph& kept, std::int64_t first, int empty) : kept_(kept), first_(first), empty_(empty) {}
  std::string name() const override { return "in turn"; }
  std::vector<std::int32_t> partition(const ProcessGraph& graph, int parts) override {
    kept_ = graph;
    std::vector<std::int32_t> part;
    for (std::size_t v = 0; v < graph.weight.size(); ++v)
      part.push_back(static_cast<std::int32_t>((first_ + static_cast<std::int64_t>(v)) % std::max(1, parts - empty_)));
    return part;
  }

 private:
  ProcessGraph& kept_;
  std::int64_t first_;
  int empty_;
};

TEST(SlicedJob, GraphsAreThoseOfTheWholeMeshAndEmptyPartsAreFilled) {
  const auto path = write_job("sliced_graph", *Bar().domain(), bar_job);
  const Job whole = read_job_file(path);
  const ElementGraph expected = element_graph(*whole.domains[0]);
  for (const int count : {1, 2, 4}) {
    SCOPED_TRACE(count);
    std::vector<ProcessGraph> graphs(static_cast<std::size_t>(count));
    const auto slices = read_slices(path, count, [&](Processes& processes) {
      return std::make_unique<TakingTurns>(graphs[static_cast<std::size_t>(processes.own())], processes.own(), 1);
    });
    std::map<std::pair<std::int64_t, std::int64_t>, std::int32_t> edges;
    std::int64_t vertex = 0, shared = 0;
    for (const ProcessGraph& graph : graphs) {
      ASSERT_EQ(graph.row_start.size(), graph.weight.size() + 1);
      for (std::size_t v = 0; v < graph.weight.size(); ++v, ++vertex) {
        EXPECT_EQ(graph.weight[v], 64);
        for (auto k = graph.row_start[v]; k < graph.row_start[v + 1]; ++k)
          edges[{vertex, graph.column[static_cast<std::size_t>(k)]}] = graph.shared_nodes[static_cast<std::size_t>(k)];
      }
    }
    EXPECT_EQ(vertex, expected.vertices());
    EXPECT_EQ(edges.size(), expected.column.size());
    for (const auto& [edge, nodes] : edges) {
      const auto back = edges.find({edge.second, edge.first});
      ASSERT_TRUE(back != edges.end() && edge.first != edge.second);
      EXPECT_EQ(back->second, nodes);
      shared += nodes;
    }
    EXPECT_EQ(shared, std::accumulate(expected.shared_nodes.begin(), expected.shared_nodes.end(), std::int64_t{0}));
    ASSERT_EQ(slices[0].quality.parts.size(), static_cast<std::size_t>(count));
    std::int64_t elements = 0;
    for (const PartQuality& part : slices[0].quality.parts) {
      EXPECT_GT(part.elements, 0);
      elements += part.elements;
    }
    EXPECT_EQ(elements, expected.vertices());
    expect_parts_add_up(whole, parts_of(slices));
  }
}

TEST(SlicedJob, QualityIsThatOfThePartition) {
  const auto path = write_job("sliced_quality", *Bar().domain(), bar_job);
  const Job whole = read_job_file(path);
  const auto slices = read_slices(path, 3);
  std::vector<std::int32_t> part_of(static_cast<std::size_t>(whole.domains[0]->element_count()));
  std::map<Id, std::int32_t> of_id;
  for (const SlicedPart& slice : slices)
    for (std::size_t b = 0; b < 2; ++b)
      for (std::int32_t e = 0; e < std::as_const(*slice.part.job.domains[0]).block(b).size(); ++e)
        of_id[std::as_const(*slice.part.job.domains[0]).block(b).id(e)] = slice.part.part;
  std::size_t element = 0;
  for (std::size_t b = 0; b < 2; ++b)
    for (std::int32_t e = 0; e < std::as_const(*whole.domains[0]).block(b).size(); ++e)
      part_of[element++] = of_id.at(std::as_const(*whole.domains[0]).block(b).id(e));
  const PartitionQuality expected =
      examine_partition(*whole.domains[0], DomainPartitioner(*whole.domains[0]).partition(UserPartition(part_of), 3));
  const PartitionQuality& found = slices[0].quality;
  EXPECT_EQ(found.interface_nodes, expected.interface_nodes);
  EXPECT_NEAR(found.imbalance, expected.imbalance, 1e-12);
  for (std::size_t p = 0; p < 3; ++p) {
    EXPECT_EQ(found.parts[p].elements, expected.parts[p].elements);
    EXPECT_EQ(found.parts[p].nodes, expected.parts[p].nodes);
    EXPECT_EQ(found.parts[p].interface_nodes, expected.parts[p].interface_nodes);
    EXPECT_EQ(found.parts[p].neighbours, expected.parts[p].neighbours);
  }
}

/// Heat flows through both halves; only the one below, or the one above, carries loads. The groups on the left, on the
/// right and between the halves are partly at elements of the other half.
TEST(SlicedJob, HeatAndStructureMayCoverDifferentBodies) {
  for (const std::string carries : {"below", "above"}) {
    SCOPED_TRACE(carries);
    const std::string job = R"({"mesh": "bar.msh",
      "materials": {"m": {"young": 200, "poisson": 0.3, "conductivity": 3, "expansion": 1e-3}},
      "sections": [{"group": "below", "physics": "heat", "material": "m"}, {"group": "above", "physics": "heat", "material": "m"},
                   {"group": ")" +
                            carries + R"(", "physics": "solid", "material": "m"}],
      "supports": [{"name": "cold", "group": "left", "T": 0}, {"name": "held", "group": "left", "all": 0}],
      "loads": [{"name": "hot", "group": "right", "heat_flux": 2}, {"name": "push", "group": "seam", "nodal_force": [0, 0, 1]}],
      "steps": [{"name": "h", "analysis": "heat", "supports": ["cold"], "loads": {"hot": 1}},
                {"name": "s", "analysis": "static", "supports": ["held"], "loads": {"push": 1}, "temperatures_from": "h"}]})";
    const auto path = write_job("sliced_bodies", *Bar().domain(), job);
    const Job whole = read_job_file(path);
    ASSERT_EQ(whole.domains.size(), 2u);
    for (const int count : {1, 2, 3, 4}) {
      SCOPED_TRACE(count);
      const std::vector<ProcessPart> parts = parts_of(read_slices(path, count));
      for (std::size_t d = 0; d < 2; ++d) expect_parts_add_up(whole, parts, "openmp:1", d);
    }
  }
}

TEST(SlicedJob, NodesThatAProcessHasFallWithTheNumberOfProcesses) {
  Bar bar;
  bar.nx = 48;
  bar.ny = bar.nz = 6;
  const auto path = write_job("sliced_long_bar", *bar.domain(), bar_job);
  std::int64_t before = 0;
  for (const int count : {1, 2, 4, 8}) {
    std::int64_t most = 0;
    for (const SlicedPart& part : read_slices(path, count)) most = std::max(most, part.most_nodes);
    // Nodes that the process looks after, and those of its slice or of its part with a layer of neighbours.
    if (before > 0) {
      EXPECT_LT(static_cast<double>(most), 0.72 * static_cast<double>(before)) << count;
    }
    before = most;
  }
}

TEST(SlicedJob, ErrorsAreThoseOfOneProcess) {
  const auto made = Bar().domain();
  const Domain& domain = *made;
  const auto expect_same = [&](std::string from, const std::string& to) {
    std::string text = bar_job;
    text.replace(text.find(from), from.size(), to);
    SCOPED_TRACE(to);
    const auto path = write_job("sliced_errors", domain, text);
    std::string expected;
    try {
      read_job_file(path);
    } catch (const Error& error) {
      expected = error.text();
    }
    ASSERT_FALSE(expected.empty());
    try {
      read_slices(path, 3);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_NE(error.text().find(expected), std::string::npos) << error.text() << "\n" << expected;
    }
  };
  expect_same("\"group\": \"left\"", "\"group\": \"lft\"");
  expect_same("\"group\": \"seam\", \"traction\": [0.5, 0, 0]", "\"group\": \"seam\", \"pressure\": 3");
  expect_same("{\"group\": \"above\", \"physics\": \"solid\", \"material\": \"lead\"}",
              "{\"group\": \"below\", \"physics\": \"heat\", \"material\": \"lead\"}");
}

TEST(SlicedJob, RefusesWhatItCannotRead) {
  const auto made = Bar().domain();
  const Domain& domain = *made;
  expect_error(ErrorCode::bad_input, {"this is a text file", "Mesh.Binary=1", "bar.msh"},
               [&] { read_slices(write_job("sliced_text", domain, bar_job, GmshFormat::ascii_4_1), 2); });
  std::string text = bar_job;
  text.insert(text.find("\"loads\""), "\"equations\": [],");
  expect_error(ErrorCode::unavailable, {"'equations' cannot be read in slices"},
               [&] { read_slices(write_job("sliced_equations", domain, text), 2); });
  Bar small;
  small.nx = 2;
  small.ny = 1;
  small.nz = 2;
  const auto path = write_job("sliced_many", *small.domain(), bar_job);
  expect_error(ErrorCode::bad_input, {"too few elements for so many processes"}, [&] { read_slices(path, 6); });
  std::filesystem::remove(path.parent_path() / "bar.msh");
  expect_error(ErrorCode::io, {"the file cannot be opened", "bar.msh"}, [&] { read_slices(path, 2); });
}

/// Numbers the elements of each block of a binary file of version 4.1 from 1.
void number_each_block_from_1(const std::filesystem::path& mesh) {
  std::ifstream in(mesh, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  in.close();
  std::size_t at = bytes.find("$Elements\n") + 10;
  const auto number = [&](std::size_t place) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + place, sizeof value);
    return value;
  };
  const std::uint64_t blocks = number(at);
  at += 32;
  for (std::uint64_t b = 0; b < blocks; ++b) {
    std::int32_t type = 0;
    std::memcpy(&type, bytes.data() + at + 8, sizeof type);
    const std::map<std::int32_t, std::size_t> nodes{{15, 1}, {3, 4}, {5, 8}};
    const std::uint64_t count = number(at + 12);
    at += 20;
    for (std::uint64_t e = 1; e <= count; ++e, at += 8 * (1 + nodes.at(type)))
      std::memcpy(bytes.data() + at, &e, sizeof e);
  }
  std::ofstream(mesh, std::ios::binary) << bytes;
}

TEST(SlicedJob, ElementsWithoutSectionsMayHaveTheNumbersOfOthers) {
  Bar bar;
  auto made = std::make_unique<Domain>();
  {
    const auto halves = bar.domain();
    const auto x = halves->coordinates();
    for (std::int32_t n = 0; n < halves->node_count(); ++n)
      made->add_node(halves->node_id(n), x[3 * static_cast<std::size_t>(n)], x[3 * static_cast<std::size_t>(n) + 1],
                     x[3 * static_cast<std::size_t>(n) + 2]);
    ElementBlock& body = made->add_block("body", "solid.hex8");
    for (std::size_t b = 0; b < 2; ++b)
      for (std::int32_t e = 0; e < std::as_const(*halves).block(b).size(); ++e) {
        std::vector<Id> nodes;
        for (const std::int32_t n : std::as_const(*halves).block(b).nodes(e)) nodes.push_back(halves->node_id(n));
        body.add(std::as_const(*halves).block(b).id(e), nodes);
      }
    made->add_surface_where("left", [](double x0, double, double) { return x0 < 1e-9; });
    made->add_surface_where("right", [&](double x0, double, double) { return x0 > bar.nx - 1e-9; });
  }
  const auto path = write_job("sliced_numbers", *made, R"({"mesh": "bar.msh",
    "materials": {"m": {"young": 200, "poisson": 0.3}}, "sections": [{"group": "body", "physics": "solid", "material": "m"}],
    "supports": [{"group": "left", "all": 0}], "loads": [{"name": "a", "group": "right", "total_force": [1, 2, 3]}]})");
  number_each_block_from_1(path.parent_path() / "bar.msh");
  const Job whole = read_job_file(path);
  for (const int count : {1, 2, 3}) {
    SCOPED_TRACE(count);
    expect_parts_add_up(whole, parts_of(read_slices(path, count)));
  }
}

TEST(SlicedJob, DamagedMeshesAreRefused) {
  const auto path = write_job("sliced_damaged", *Bar().domain(), bar_job);
  const auto mesh = path.parent_path() / "bar.msh";
  const auto size = std::filesystem::file_size(mesh);
  for (const double fraction : {0.001, 0.01, 0.1, 0.5, 0.9, 0.999}) {
    std::filesystem::resize_file(mesh, static_cast<std::uintmax_t>(fraction * static_cast<double>(size)));
    EXPECT_THROW(read_slices(path, 2), Error) << fraction;
    write_gmsh(*Bar().domain(), mesh, {true, GmshFormat::binary_4_1});
  }
}

TEST(GmshSlice, SlicesMakeUpTheWholeFile) {
  const auto path = write_job("slices", *Bar().domain(), bar_job).parent_path() / "bar.msh";
  const GmshMesh whole = read_gmsh(path);
  for (const int count : {1, 2, 5}) {
    std::vector<Id> nodes;
    std::vector<double> coordinates;
    std::vector<std::vector<Id>> elements(whole.batches.size());
    for (int s = 0; s < count; ++s) {
      const GmshSlice slice = read_gmsh_slice(path, s, count);
      ASSERT_EQ(slice.mesh.batches.size(), whole.batches.size());
      ASSERT_EQ(slice.mesh.groups.size(), whole.groups.size());
      EXPECT_LE(slice.mesh.node_ids.size(), whole.node_ids.size() / static_cast<std::size_t>(count) + 1);
      nodes.insert(nodes.end(), slice.mesh.node_ids.begin(), slice.mesh.node_ids.end());
      coordinates.insert(coordinates.end(), slice.mesh.coordinates.begin(), slice.mesh.coordinates.end());
      for (std::size_t b = 0; b < whole.batches.size(); ++b) {
        EXPECT_EQ(slice.batch_sizes[b], static_cast<std::int64_t>(whole.batches[b].ids.size()));
        EXPECT_EQ(slice.mesh.batches[b].groups, whole.batches[b].groups);
        for (std::size_t e = 0; e < slice.places[b].size(); ++e)
          EXPECT_EQ(slice.places[b][e], static_cast<std::int64_t>(elements[b].size() + e));
        elements[b].insert(elements[b].end(), slice.mesh.batches[b].ids.begin(), slice.mesh.batches[b].ids.end());
      }
    }
    EXPECT_EQ(nodes, whole.node_ids);
    EXPECT_EQ(coordinates, whole.coordinates);
    for (std::size_t b = 0; b < whole.batches.size(); ++b) EXPECT_EQ(elements[b], whole.batches[b].ids);
  }
}

}  // namespace
}  // namespace voussoir
