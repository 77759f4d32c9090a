#include <fmt/core.h>

#include <algorithm>

#include <voussoir/apps/bench/workloads.hpp>
#include <voussoir/backends/projection_services.hpp>
#include <voussoir/solvers/amg/amg_preconditioner.hpp>
#include <voussoir/solvers/soe/sparse_soe.hpp>

// What eigen-solvers do with blocks of vectors. Projections XᵀKX are checked against products of the CPU backend with
// single columns.

namespace voussoir::app {
namespace {

constexpr int columns = 27;  // the modes below 200 Hz of the paper's pump
constexpr double projection_tolerance = 1e-11;
/// Bytes per second from pinned host memory to a GPU, as measured on the machine of the targets.
constexpr double bus = 55.2e9;

/// Double-precision flops per second of tensor cores, by datasheet; 0 where the name says nothing.
double tensor_rate(const std::string& device) {
  for (const auto& [name, rate] : {std::pair{"H200", 67e12}, {"H100", 67e12}, {"A100", 19.5e12}})
    if (device.find(name) != std::string::npos) return rate;
  return 0;
}

double floor_with_tensors(const BenchRig& rig, double bytes, double flops) {
  const double rate = tensor_rate(rig.device());
  return rate > 0 ? std::max(rig.floor(bytes), flops / rate) : rig.floor(bytes, flops);
}

/// A block of vectors, and some columns of the projection on it.
class Subspace {
 public:
  Subspace(const BenchModel& model, const Reference& reference) : x(model.analysis_model().make_vector(columns)) {
    const std::vector<double> start = model.rough(5);
    const std::size_t n = start.size();
    std::vector<double> values(n * columns, 0.0);
    for (std::size_t i = 0; i < n; ++i)
      if (model.analysis_model().is_free(static_cast<std::int32_t>(i)))
        for (std::size_t c = 0; c < columns; ++c) values[i * columns + c] = start[(i + 17 * c) % n];
    x.from_host(values);
    std::vector<double> one(n);
    for (const std::size_t c : checked) {
      for (std::size_t i = 0; i < n; ++i) one[i] = values[i * columns + c];
      const std::vector<double> product = reference.product(one);
      std::vector<double> dots(columns, 0.0);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t b = 0; b < columns; ++b) dots[b] += values[i * columns + b] * product[i];
      expected_.insert(expected_.end(), dots.begin(), dots.end());
    }
  }

  void compare(const std::vector<double>& result, BenchRow& row) const {
    std::vector<double> found;
    for (const std::size_t c : checked)
      for (std::size_t b = 0; b < columns; ++b) found.push_back(result[b * columns + c]);
    row.difference = std::max(row.difference, relative_difference(found, expected_));
    row.tolerance = projection_tolerance;
  }

  Vector x;

 private:
  static constexpr std::size_t checked[] = {0, columns / 2, columns - 1};
  std::vector<double> expected_;
};

/// Times the projection of an operator; with `peer`, a product and dot products beside it.
void time_projection(const BenchRig& rig, const BenchModel& model, const Operator& matrix, const Subspace& space,
                     bool peer, BenchRow& row) {
  Backend& backend = model.backend();
  auto& service = backend.service<ProjectionServices>();
  std::vector<double> result(columns * columns);
  row.seconds = rig.measure(backend, [&] { service.project(matrix, space.x, result); });
  space.compare(result, row);
  if (!peer) return;
  Vector y = model.analysis_model().make_vector(columns);
  const double seconds = rig.measure(backend, [&] {
    matrix.apply(space.x, y);
    backend.block_dot(space.x, y, result);
  });
  space.compare(result, row);
  row.peers.emplace_back("product and block_dot", seconds);
}

/// Flops of YᵀX, of which half is needed where it is symmetric.
double dot_flops(double rows) { return rows * columns * (columns + 1.0); }

void projection_rows(BenchRig& rig, const BenchModel& model, const Subspace& space) {
  Backend& backend = model.backend();
  const double dofs = model.program().dofs(), vectors = model.vector_bytes(columns);
  const double element_flops = model.elements() * (2 * dofs * dofs * columns + dot_flops(dofs));
  const double nodes_bytes = 4.0 * model.program().nodes() * model.elements();
  rig.row(fmt::format("projection on {} columns, element matrices", columns), [&](BenchRow& row) {
    auto matrix = backend.make_element_operator(model.device(), ElementProduct::gather);
    backend.assemble(model.device(), nullptr, {}, *matrix);
    time_projection(rig, model, *matrix, space, !rig.setup().quick, row);
    row.floor = floor_with_tensors(rig, model.matrix_bytes() + nodes_bytes + vectors, element_flops);
    row.target = rig.target(1.6e-3);
    row.note = "paper, 1.86 M unknowns: 4.36 s";
  });
  rig.row(fmt::format("projection on {} columns, blocks of 3 × 3", columns), [&](BenchRow& row) {
    auto matrix = backend.make_matrix(model.device(), 3);
    backend.assemble(model.device(), nullptr, {}, *matrix);
    time_projection(rig, model, *matrix, space, true, row);
    const double half = (model_h_blocks(rig.setup().size) + model.nodes()) / 2;
    row.floor = rig.floor(76 * half + vectors, 18 * half * columns);
    row.target = rig.target(1.0e-3);
  });
  rig.row(fmt::format("projection on {} columns, nothing stored", columns), [&](BenchRow& row) {
    auto matrix = backend.make_element_operator(model.device(), ElementProduct::matrix_free);
    backend.assemble(model.device(), nullptr, {}, *matrix);
    time_projection(rig, model, *matrix, space, false, row);
    const double flops = shared_flops_per_point + columns * (flops_per_point - shared_flops_per_point);
    row.floor = rig.floor(model.geometry_bytes() + vectors, flops * model.program().points() * model.elements());
    row.note = "a product and block_dot";
  });
  rig.row(fmt::format("projection on {} columns, streamed from host memory", columns), [&](BenchRow& row) {
    ElementMatrixStore store(backend, model.device(), nullptr, {});
    auto& service = backend.service<ProjectionServices>();
    std::vector<double> result(columns * columns);
    row.seconds = rig.measure(backend, [&] { service.project(model.device(), store, space.x, result); });
    space.compare(result, row);
    row.floor = floor_with_tensors(rig, model.matrix_bytes() + nodes_bytes + vectors, element_flops);
    if (!backend.memory(0)->shares_host_memory())
      row.floor = std::max(row.floor, static_cast<double>(store.bytes()) / bus);
    row.note = fmt::format("{:.1f} GB/s", static_cast<double>(store.bytes()) / row.seconds * 1e-9);
  });
}

/// XᵀY and Y += X C.
void block_rows(BenchRig& rig, const BenchModel& model, int width) {
  Backend& backend = model.backend();
  const auto n = static_cast<std::size_t>(model.equations()), w = static_cast<std::size_t>(width);
  const std::vector<double> start = model.rough(7);
  std::vector<double> values(n * w);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t c = 0; c < w; ++c) values[i * w + c] = start[(i + 29 * c) % n];
  Vector x = model.analysis_model().make_vector(width), y = model.analysis_model().make_vector(width);
  x.from_host(values);
  rig.row(fmt::format("block_dot, {} × {} columns", width, width), [&](BenchRow& row) {
    backend.copy(x, y);
    std::vector<double> result(w * w), expected(w, 0.0);
    row.seconds = rig.measure(backend, [&] { backend.block_dot(x, y, result); });
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t c = 0; c < w; ++c) expected[c] += values[i * w] * values[i * w + c];
    row.difference = relative_difference(std::vector(result.begin(), result.begin() + width), expected);
    row.tolerance = projection_tolerance;
    row.floor = floor_with_tensors(rig, 2 * model.vector_bytes(width), 2.0 * width * width * model.equations());
  });
  rig.row(fmt::format("block_axpy, {} × {} columns", width, width), [&](BenchRow& row) {
    std::vector<double> factors(w * w);
    for (std::size_t k = 0; k < factors.size(); ++k) factors[k] = 0.1 + 1e-3 * static_cast<double>(k);
    row.seconds = rig.measure(backend, [&] { backend.block_axpy(x, factors, y); });
    backend.fill(y, 0.0);
    backend.block_axpy(x, factors, y);
    const std::vector<double> found = y.to_host();
    std::vector<double> sums, some;
    for (std::size_t i = 0; i < n; i += 1001)
      for (std::size_t c = 0; c < w; ++c) {
        double sum = 0;
        for (std::size_t k = 0; k < w; ++k) sum += values[i * w + k] * factors[k * w + c];
        sums.push_back(sum);
        some.push_back(found[i * w + c]);
      }
    row.difference = relative_difference(some, sums);
    row.tolerance = projection_tolerance;
    row.floor = floor_with_tensors(rig, 3 * model.vector_bytes(width), 2.0 * width * width * model.equations());
  });
}

/// A multigrid cycle for a block of vectors beside the same number of cycles for one.
void cycle_rows(BenchRig& rig, const BenchModel& model, int width) {
  Backend& backend = model.backend();
  const AnalysisModel& equations = model.analysis_model();
  BsrSOE soe;
  soe.set_model(equations);
  soe.form({}, {});
  AmgPreconditioner amg;
  amg.set_up(soe);
  const auto n = static_cast<std::size_t>(model.equations()), w = static_cast<std::size_t>(width);
  std::vector<double> start = model.rough(11), values(n * w);
  for (std::size_t i = 0; i < n; ++i)
    if (!equations.is_free(static_cast<std::int32_t>(i))) start[i] = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t c = 0; c < w; ++c) values[i * w + c] = start[i] * (1 + static_cast<double>(c));
  Vector one = equations.make_vector(), one_result = equations.make_vector();
  Vector block = equations.make_vector(width), block_result = equations.make_vector(width);
  one.from_host(start);
  block.from_host(values);
  rig.row(fmt::format("multigrid cycle for {} columns", width), [&](BenchRow& row) {
    row.seconds = rig.measure(backend, [&] { amg.inverse()->apply(block, block_result); });
    const double single = rig.measure(backend, [&] { amg.inverse()->apply(one, one_result); });
    row.peers.emplace_back(fmt::format("{} cycles for one", width), single * width);
    row.note = fmt::format("{:.2f} of a single one per column", row.seconds / (width * single));
    row.figures = {{"per_column_of_single", row.seconds / (width * single)}};
    row.target = rig.target(0.4 * width * single);
    row.floor = rig.floor(static_cast<double>(amg.inverse()->bytes_moved()) + 2 * model.vector_bytes(width));
    std::vector<double> expected = one_result.to_host(), found = block_result.to_host(), last(n);
    for (std::size_t i = 0; i < n; ++i) {
      last[i] = found[i * w + w - 1];
      expected[i] *= width;
    }
    row.difference = relative_difference(last, expected);
    row.tolerance = 1e-5;  // single precision
  });
}

}  // namespace

void bench_modes(BenchRig& rig) {
  BenchModel model(rig.open(), make_model_h(rig.setup().size));
  rig.table().begin("modes", model.describe());
  {
    const Reference reference(model.domain());
    const Subspace space(model, reference);
    projection_rows(rig, model, space);
  }
  block_rows(rig, model, 27);
  block_rows(rig, model, 32);
  cycle_rows(rig, model, 32);
}

}  // namespace voussoir::app
