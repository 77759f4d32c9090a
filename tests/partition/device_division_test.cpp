// Devices own parts of the mesh: how nodes are divided, what is exchanged, and that answers do not depend on it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <voussoir/backends/device_ranges.hpp>
#include <voussoir/backends/halo_traffic.hpp>
#include <voussoir/framework/analysis/static_analysis.hpp>
#include <voussoir/framework/mesh/sample_models.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/framework/model/device_distribution.hpp>
#include <voussoir/framework/model/divided_numberer.hpp>
#include <voussoir/partition/device_division.hpp>
#include <voussoir/partition/domain_partitioner.hpp>
#include <voussoir/partition/partitioners.hpp>
#include <voussoir/solvers/static_problem.hpp>

#include "support/expect_error.hpp"
#include "support/random_model.hpp"

namespace voussoir {
namespace {

using testing::expect_error;
using testing::RandomModel;

/// A clamped bar under a traction.
void add_loaded_bar(Domain& domain, std::array<int, 3> cells, const char* type = "solid.hex8") {
  BoxMesh mesh;
  mesh.type = type;
  mesh.cells = cells;
  mesh.upper = {1.0 * cells[0], 1.0 * cells[1], 1.0 * cells[2]};
  mesh.distortion = 0.1;
  add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1000.0, 0.3, 2.0));
  domain.prescribe("xmin", "all");
  domain.add_load_case("end").traction("xmax", {0.3, 0, std::string(type).starts_with("plane") ? 0.0 : -1.0});
}

/// The same bar with its nodes in an order in which neighbours are far from each other.
void add_scattered_bar(Domain& domain, int cells) {
  Domain ordered;
  BoxMesh mesh;
  mesh.cells = {cells, cells, cells};
  const ElementBlock& from = add_box_mesh(ordered, mesh);
  const auto count = ordered.node_count();
  std::int32_t step = 97;
  while (std::gcd(step, count) != 1) ++step;
  std::vector<std::int32_t> index(static_cast<std::size_t>(count));
  for (std::int32_t k = 0; k < count; ++k) {
    const auto n = static_cast<std::int32_t>(std::int64_t{k} * step % count);
    index[static_cast<std::size_t>(n)] = k;
    const double* c = ordered.coordinates().data() + 3 * static_cast<std::ptrdiff_t>(n);
    domain.add_node(k + 1, c[0], c[1], c[2]);
  }
  ElementBlock& block = domain.add_block("bar", "solid.hex8");
  block.set_material(std::make_shared<IsotropicMaterial>("steel", 1000.0, 0.3, 2.0));
  for (std::int32_t e = 0; e < from.size(); ++e) {
    std::vector<Id> ids;
    for (const std::int32_t n : from.nodes(e)) ids.push_back(index[static_cast<std::size_t>(n)] + 1);
    block.add(e + 1, ids);
  }
}

std::shared_ptr<DividedNumberer> divided(const std::string& method, int parts = 0, std::vector<double> speeds = {}) {
  DividedNumberer::Options options;
  options.method = method;
  options.parts = parts;
  options.speeds = std::move(speeds);
  return std::make_shared<DividedNumberer>(options);
}

std::string several(int devices) { return "debug:" + std::to_string(devices); }

/// The elements of a model by the positions of their nodes in the numbering.
struct NumberedElements {
  explicit NumberedElements(const AnalysisModel& model) {
    std::vector<std::int32_t> position(static_cast<std::size_t>(model.domain().node_count()), -1);
    const auto nodes = model.numbered_nodes();
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      position[static_cast<std::size_t>(nodes[k])] = static_cast<std::int32_t>(k);
      equations.push_back(model.first_equation()[k + 1] - model.first_equation()[k]);
    }
    for (std::size_t b = 0; b < model.domain().block_count(); ++b) {
      const ElementBlock& block = model.domain().block(b);
      std::vector<std::int32_t>& own = storage.emplace_back();
      for (std::int32_t e = 0; e < block.size(); ++e)
        for (const std::int32_t n : block.nodes(e)) own.push_back(position[static_cast<std::size_t>(n)]);
      if (!own.empty()) widths.push_back(static_cast<int>(own.size()) / block.size());
    }
    for (std::size_t b = 0; b < storage.size(); ++b) elements.push_back({storage[b], widths[b]});
    for (int d = 0; d < model.device_model().devices(); ++d)
      part.insert(part.end(), static_cast<std::size_t>(model.device_model().part(d).owned_nodes), d);
  }
  std::vector<std::vector<std::int32_t>> storage;
  std::vector<int> widths;
  std::vector<ElementNodes> elements;
  std::vector<std::int32_t> equations, part;
};

TEST(DeviceDivision, BytesOfAProductAreThosePredictedFromTheParts) {
  for (const char* type : {"solid.hex8", "solid.tet10", "plane_stress.quad8"})
    for (const int devices : {2, 3, 8})
      for (const char* method : {"contiguous", "coordinate", "metis", "auto"}) {
        if (std::string(method) == "metis" && !MetisPartitioner::available()) continue;
        Domain domain;
        add_loaded_bar(domain, {4, 3, 3}, type);
        const AnalysisModel model(domain, Backend::open(several(devices)), TransformationHandler(), *divided(method));
        const NumberedElements numbered(model);
        const HaloCount predicted = count_halo(numbered.elements, numbered.part, numbered.equations, devices);
        const DeviceDistribution distribution = device_distribution(model.device_model());
        ASSERT_GT(predicted.bytes(), 0);
        for (int d = 0; d < devices; ++d) {
          const auto& device = distribution.devices[static_cast<std::size_t>(d)];
          EXPECT_EQ(device.ghost_nodes, predicted.nodes[static_cast<std::size_t>(d)]) << method << devices;
          EXPECT_EQ(device.ghost_equations, predicted.equations[static_cast<std::size_t>(d)]) << method << devices;
          EXPECT_EQ(device.neighbours, predicted.neighbours[static_cast<std::size_t>(d)]) << method << devices;
        }
        EXPECT_EQ(distribution.bytes_per_product, predicted.bytes());
        // And what a product exchanges, with one column and with three.
        for (const int columns : {1, 3}) {
          Vector x = model.make_vector(columns), y = model.make_vector(columns);
          model.backend().fill(x, 1.0);
          const auto matrix = model.backend().make_matrix(model.device_model(), 1);
          const std::vector<double> factors = model.batch_factors(std::vector<double>{1.0});
          MatrixTerms terms;
          terms.batch_factors = factors;
          model.backend().assemble(model.device_model(), ElementState(), terms, *matrix);
          const HaloTraffic before = halo_traffic();
          matrix->apply(x, y);
          EXPECT_EQ(halo_traffic() - before, (HaloTraffic{1, predicted.bytes(columns)})) << method << devices;
        }
      }
}

TEST(DeviceDivision, InteriorNodesComeFirstAndTheirRowsNeedNoOtherDevice) {
  Domain domain;
  add_loaded_bar(domain, {6, 5, 4}, "solid.tet4");
  const AnalysisModel model(domain, Backend::open("debug:3"), TransformationHandler(), DividedNumberer());
  const NumberedElements numbered(model);
  const auto on_boundary = boundary_nodes(numbered.elements, numbered.part);
  const NodeGraph graph = node_graph(numbered.elements, static_cast<std::int32_t>(numbered.part.size()));
  std::int64_t interior = 0;
  for (std::size_t n = 0; n < on_boundary.size(); ++n) {
    if (n > 0 && numbered.part[n] == numbered.part[n - 1]) {
      EXPECT_GE(on_boundary[n], on_boundary[n - 1]);
    }
    bool needs = false;
    for (auto k = graph.row_start[n]; k < graph.row_start[n + 1]; ++k)
      needs = needs ||
              numbered.part[static_cast<std::size_t>(graph.column[static_cast<std::size_t>(k)])] != numbered.part[n];
    EXPECT_EQ(needs, on_boundary[n] != 0);
    interior += on_boundary[n] == 0;
  }
  EXPECT_GT(interior, 50);
}

TEST(DeviceDivision, AScatteredNumberingIsDividedIntoConnectedPartsWithSmallHalos) {
  Domain domain;
  add_scattered_bar(domain, 12);
  for (const int devices : {2, 4, 8}) {
    const auto backend = Backend::open(several(devices));
    const AnalysisModel plain(domain, backend, TransformationHandler(), PlainNumberer());
    const AnalysisModel automatic(domain, backend, TransformationHandler(), DividedNumberer());
    const NumberedElements numbered(automatic);
    for (const int pieces : connected_pieces(numbered.elements, numbered.part, devices)) EXPECT_EQ(pieces, 1);
    // 13³ nodes: a plane of 169 nodes separates two halves, and both sides receive one.
    const auto halo = device_distribution(automatic.device_model());
    EXPECT_LT(halo.imbalance(), 1.06) << devices;
    if (devices == 2) {
      EXPECT_LE(halo.bytes_per_product, 2 * 3 * 8 * (169 + 14));
    }
    EXPECT_LT(5 * halo.bytes_per_product, 2 * device_distribution(plain.device_model()).bytes_per_product) << devices;
  }
}

TEST(DeviceDivision, AutomaticIsNeverWorseThanTheOrderAsGiven) {
  Domain domain;
  PumpModel pump;
  pump.fineness = {0, 6000};
  add_pump_model(domain, pump);
  for (const int devices : {2, 4}) {
    const auto backend = Backend::open(several(devices));
    const AnalysisModel given(domain, backend, TransformationHandler(), *divided("contiguous"));
    const AnalysisModel automatic(domain, backend, TransformationHandler(), DividedNumberer());
    EXPECT_LE(device_distribution(automatic.device_model()).bytes_per_product,
              device_distribution(given.device_model()).bytes_per_product);
    // The cost of elements is balanced, and with it, roughly, the equations.
    EXPECT_LT(device_distribution(automatic.device_model()).imbalance(), 1.25);
  }
}

struct Solved {
  std::vector<double> values;
  int iterations;
};

Solved solve(const Domain& domain, const std::string& backend, const std::string& solver, const std::string& storage,
             std::shared_ptr<DofNumberer> numberer, double tolerance = 1e-13) {
  Analysis::Collaborators c;
  c.backend = Backend::open(backend);
  c.soe = make_soe(storage);
  c.solver = make_solver(solver, tolerance);
  c.numberer = std::move(numberer);
  StaticAnalysis analysis(domain, std::move(c));
  const StepResult result = analysis.run().at(0);
  return {result.unknowns.values, result.report.iterations};
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    difference = std::max(difference, std::abs(a[i] - b[i]));
    size = std::max(size, std::abs(a[i]));
  }
  return difference / size;
}

struct Way {
  const char *solver, *storage;
};

TEST(DeviceDivision, IterationsAreThoseOfOneDevice) {
  Domain domain;
  add_loaded_bar(domain, {4, 2, 2});
  for (const Way way : {Way{"cg+jacobi", "csr"}, Way{"cg+block-jacobi", "bsr"}, Way{"cg+jacobi", "element"},
                        Way{"cg+block-jacobi", "matrix-free"}, Way{"cg+amg:coarsest=30", "bsr"},
                        Way{"cg+amg:coarsest=30", "matrix-free"}})
    for (const int devices : {2, 4, 8}) {
      const std::string what = std::string(way.solver) + " " + way.storage + " " + std::to_string(devices);
      const Solved one = solve(domain, "openmp:1", way.solver, way.storage, divided("auto", devices), 1e-8);
      const Solved many = solve(domain, several(devices), way.solver, way.storage, divided("auto"), 1e-8);
      // Sums are taken device by device, so rounding may move the last iteration by one.
      EXPECT_NEAR(many.iterations, one.iterations, 1) << what;
      EXPECT_LT(largest_difference(many.values, one.values), 1e-7) << what;
    }
}

TEST(DeviceDivision, AnswersAreThoseOfOneDeviceInAnyOrder) {
  // With a tight tolerance, since what rounding changes in an iterate shrinks with its error.
  Domain domain;
  add_loaded_bar(domain, {4, 2, 2});
  const Solved plain = solve(domain, "openmp:1", "cg+jacobi", "bsr", std::make_shared<PlainNumberer>(), 1e-13);
  for (const Way way : {Way{"cg+jacobi", "bsr"}, Way{"cg+jacobi", "matrix-free"}, Way{"cg+amg:coarsest=30", "bsr"}})
    for (const int devices : {2, 4, 8}) {
      const Solved many = solve(domain, several(devices), way.solver, way.storage, divided("auto"), 1e-13);
      EXPECT_LT(largest_difference(many.values, plain.values), 1e-12) << way.solver << way.storage << devices;
    }
}

TEST(DeviceDivision, ConstraintsAcrossPartsAreKept) {
  for (const std::uint32_t seed : {3u, 11u}) {
    Domain domain;
    const std::string what = RandomModel(seed).build(domain);
    StaticOptions options;
    options.solver = "direct";
    options.backend = "debug";
    const StepResult one = make_static_analysis(domain, options)->run().at(0);
    for (const int devices : {2, 4, 8}) {
      options.backend = several(devices);
      const StepResult many = make_static_analysis(domain, options)->run().at(0);
      EXPECT_LT(largest_difference(many.unknowns.values, one.unknowns.values), 1e-9) << what << devices;
    }
  }
}

TEST(DeviceDivision, SharesFollowTheSpeeds) {
  Domain domain;
  add_loaded_bar(domain, {16, 8, 8});
  for (const char* method : {"contiguous", "coordinate", "metis"}) {
    if (std::string(method) == "metis" && !MetisPartitioner::available()) continue;
    const AnalysisModel model(domain, Backend::open("debug:3"), TransformationHandler(),
                              *divided(method, 0, {3, 1, 2}));
    const NumberedElements numbered(model);
    const auto weights = node_weights(numbered.elements, numbered.equations);
    std::vector<double> of_part(3, 0.0);
    for (std::size_t n = 0; n < weights.size(); ++n) of_part[static_cast<std::size_t>(numbered.part[n])] += weights[n];
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    EXPECT_NEAR(of_part[0] / total, 3.0 / 6, 0.02) << method;
    EXPECT_NEAR(of_part[1] / total, 1.0 / 6, 0.02) << method;
    EXPECT_NEAR(of_part[2] / total, 2.0 / 6, 0.02) << method;
  }
}

TEST(DeviceDivision, APartitionGivesItsOwnersToTheDevices) {
  Domain domain;
  add_loaded_bar(domain, {6, 4, 4});
  const Partition partition = DomainPartitioner(domain).partition(CoordinateBisection(), 4);
  DividedNumberer::Options options;
  options.part_of_node = owners_of_nodes(partition, domain);
  const AnalysisModel model(domain, Backend::open("debug:4"), TransformationHandler(), DividedNumberer(options));
  for (int d = 0; d < 4; ++d) {
    const std::int32_t first = model.device_model().first_node(d);
    for (std::int32_t k = 0; k < model.device_model().part(d).owned_nodes; ++k)
      ASSERT_EQ(partition.owner(model.numbered_nodes()[static_cast<std::size_t>(first + k)]), d);
  }
  EXPECT_EQ(DividedNumberer(options).name(), "divided:given+plain");
}

TEST(DeviceDivision, AnyPartitionerCanDivideNodes) {
  Domain domain;
  add_loaded_bar(domain, {6, 4, 4});
  node_dividers().replace("by-hilbert", "for this test", node_divider(make_partitioner("sfc")));
  const auto backend = Backend::open("debug:4");
  const AnalysisModel model(domain, backend, TransformationHandler(), *divided("by-hilbert"));
  EXPECT_LT(device_distribution(model.device_model()).imbalance(), 1.2);
  expect_error(ErrorCode::bad_input, {"'sfc'", "equal weight"}, [&] {
    AnalysisModel(domain, backend, TransformationHandler(), *divided("by-hilbert", 0, {1, 1, 1, 2}));
  });
}

TEST(DeviceDivision, MoreDevicesThanNodesLeaveSomeWithoutAny) {
  for (const char* method : {"auto", "contiguous", "coordinate", "metis"}) {
    if (std::string(method) == "metis" && !MetisPartitioner::available()) continue;
    NodesToDivide nodes;
    nodes.coordinates = {0, 0, 0, 1, 0, 0, 2, 0, 0};
    nodes.equations = {3, 3, 3};
    const std::vector<std::int32_t> lines{0, 1, 1, 2};
    nodes.elements = {{lines, 2}};
    nodes.weight = node_weights(nodes.elements, nodes.equations);
    const auto division = divided(method)->divide(nodes, 5);
    ASSERT_EQ(division.part.size(), 3u);
    for (const std::int32_t part : division.part) EXPECT_TRUE(part >= 0 && part < 5);
    EXPECT_NE(division.part[0], division.part[2]);
  }
}

TEST(DeviceDivision, WrongInputIsRefused) {
  Domain domain;
  add_loaded_bar(domain, {2, 2, 2});
  const auto backend = Backend::open("debug:2");
  const auto number = [&](const DofNumberer& numberer) {
    AnalysisModel(domain, backend, TransformationHandler(), numberer);
  };
  expect_error(ErrorCode::bad_input, {"device 1", "speed"}, [&] { divided("auto", 0, {1, 0}); });
  expect_error(ErrorCode::bad_input, {"device 0", "speed"}, [&] { divided("auto", 0, {std::nan(""), 1}); });
  expect_error(ErrorCode::bad_input, {"3 speeds for 2 devices"}, [&] { number(*divided("auto", 0, {1, 1, 1})); });
  expect_error(ErrorCode::bad_input, {"-1 parts"}, [&] { divided("auto", -1); });
  expect_error(ErrorCode::bad_input, {"into 3 parts", "2 devices"}, [&] { number(*divided("auto", 3)); });
  expect_error(ErrorCode::not_found, {"'metiss'", "metis"}, [&] { number(*divided("metiss")); });
  DividedNumberer::Options options;
  options.part_of_node.assign(27, 2);
  expect_error(ErrorCode::bad_input, {"part 2", "0 to 1"}, [&] { number(DividedNumberer(options)); });
  options.part_of_node.assign(20, 1);
  expect_error(ErrorCode::bad_input, {"20 nodes"}, [&] { number(DividedNumberer(options)); });
  const DeviceRanges ranges({0, 27});
  expect_error(ErrorCode::misuse, {"1 ranges", "2 devices"}, [&] { number(PlainNumberer()); });
  const DeviceRanges backwards({0, 28, 27});
  expect_error(ErrorCode::misuse, {"does not ascend"}, [&] { number(PlainNumberer()); });
}

}  // namespace
}  // namespace voussoir
