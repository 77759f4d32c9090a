#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include <voussoir/apps/bench/workloads.hpp>
#include <voussoir/apps/terminal/terminal.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>

// Integration of element matrices, and their assembly.

namespace voussoir::app {
namespace {

const char* words(Integration way) {
  switch (way) {
    case Integration::automatic:
      return "the backend's choice";
    case Integration::thread:
      return "I, a thread per element";
    case Integration::block:
      return "II, a block per element";
    case Integration::blocks:
      return "IIa, elements share a block";
    case Integration::pairs:
      return "a thread per pair of nodes";
  }
  return "";
}

/// A backend's ways of working, for a while.
class Chosen {
 public:
  Chosen(Backend& backend, const WorkChoices& choices) : backend_(backend), before_(backend.choices()) {
    backend.choose(choices);
  }
  ~Chosen() { backend_.choose(before_); }
  Chosen(const Chosen&) = delete;
  Chosen& operator=(const Chosen&) = delete;

 private:
  Backend& backend_;
  WorkChoices before_;
};

/// The difference that element matrices integrated as the backend is told make in a product.
double product_difference(const BenchModel& model, const Reference& reference) {
  auto matrix = model.backend().make_element_operator(model.device(), ElementProduct::gather);
  model.backend().assemble(model.device(), nullptr, {}, *matrix);
  const std::vector<double> x = model.rough(7);
  const Vector from = model.vector(x);
  Vector to = model.analysis_model().make_vector();
  matrix->apply(from, to);
  return relative_difference(to.to_host(), reference.product(x));
}

/// Integrates into memory: by itself where the backend can, else into an operator that keeps the matrices. An element
/// type that lacks the way that is asked for is not measured by another.
std::function<void()> integration_of(const BenchModel& model, std::unique_ptr<ElementOperator>& kept) {
  Backend& backend = model.backend();
  try {
    backend.integrate(model.device(), 0, {});
    return [&model] { model.backend().integrate(model.device(), 0, {}); };
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unavailable || backend.choices().integration != Integration::automatic) throw;
  }
  kept = backend.make_element_operator(model.device(), ElementProduct::gather);
  return [&model, &kept] { model.backend().assemble(model.device(), nullptr, {}, *kept); };
}

void integration_row(BenchRig& rig, const BenchModel& model, const Reference& reference, const std::string& what,
                     Integration way, double target) {
  rig.row(fmt::format("{}: {}", what, words(way)), [&](BenchRow& row) {
    WorkChoices choices = model.backend().choices();
    choices.integration = way;
    const Chosen chosen(model.backend(), choices);
    std::unique_ptr<ElementOperator> kept;
    const auto work = integration_of(model, kept);
    row.seconds = rig.measure(model.backend(), work);
    row.floor = rig.floor(model.matrix_bytes() + model.geometry_bytes());
    row.target = target;
    kept.reset();
    row.difference = product_difference(model, reference);
    row.tolerance = 1e-12;
    row.note = fmt::format("{:.2f} M elements, {:.0f} M elements/s", model.elements() * 1e-6,
                           model.elements() / row.seconds * 1e-6);
  });
}

void integration_rows(BenchRig& rig, std::unique_ptr<Domain> domain, const std::string& what, double target) {
  BenchModel model(rig.open(), std::move(domain));
  const Reference reference(model.domain());
  const Integration asked = rig.setup().choices.integration;
  integration_row(rig, model, reference, what, asked, target);
  if (asked != Integration::automatic) return;
  for (const Integration way : {Integration::thread, Integration::block, Integration::blocks, Integration::pairs})
    if (rig.knows(way)) integration_row(rig, model, reference, what, way, 0);
}

double assembly_difference(const BenchModel& model, const SparseMatrix& matrix, const Reference& reference) {
  const std::vector<double> x = model.rough(7);
  const Vector from = model.vector(x);
  Vector to = model.analysis_model().make_vector();
  matrix.apply(from, to);
  return relative_difference(to.to_host(), reference.product(x));
}

/// Whether assembling again gives the same bits, as far as a product shows them.
bool same_bits(const BenchModel& model, SparseMatrix& matrix) {
  const Vector x = model.vector(model.rough(9));
  Vector y = model.analysis_model().make_vector();
  const auto once = [&] {
    model.backend().assemble(model.device(), nullptr, {}, matrix);
    matrix.apply(x, y);
    return y.to_host();
  };
  return once() == once();
}

void assembly_row(BenchRig& rig, BenchModel& model, SparseMatrix* matrix, const Reference& reference,
                  const std::string& what, const WorkChoices& choices, double target) {
  rig.row(what, [&](BenchRow& row) {
    if (!matrix) throw Error(ErrorCode::unavailable, "there is no pattern");
    Backend& backend = model.backend();
    const Chosen chosen(backend, choices);
    row.seconds = rig.measure(backend, [&] { backend.assemble(model.device(), nullptr, {}, *matrix); });
    const int b = matrix->block_size();
    row.floor = rig.floor(model_h_blocks(rig.setup().size) * 9 / (b * b) * (8.0 * b * b + 4) + model.geometry_bytes());
    row.target = target;
    row.difference = assembly_difference(model, *matrix, reference);
    row.tolerance = 1e-12;
    row.note = fmt::format("{:.0f} M elements/s", model.elements() / row.seconds * 1e-6);
    if (choices.deterministic) {
      const bool same = same_bits(model, *matrix);
      row.note += same ? ", same bits twice" : ", NOT the same bits twice";
      if (!same) row.failed = true;
    }
  });
}

}  // namespace

void bench_integrate(BenchRig& rig) {
  const int n = rig.setup().size, half = std::max(1, n / 2), third = std::max(1, 3 * n / 7);
  rig.table().begin("integrate", "all element matrices, upper triangles to memory; checked by a product with them");
  integration_rows(rig, make_model_h(n), "Hex8", rig.target(0.6e-3));
  // 10⁷ quadrilaterals at the size of Model H.
  const int side = std::max(2, static_cast<int>(std::lround(3162.0 * std::pow(n / 84.0, 1.5))));
  integration_rows(rig, make_box("plane_strain.quad4.full", {side, side, 1}), "Quad4", rig.target(1.2e-3));
  integration_rows(rig, make_box("solid.hex20", {half, half, half}, 0.1), "Hex20", 0);
  integration_rows(rig, make_box("solid.tet10", {third, third, third}, 0.1), "Tet10", 0);
  integration_rows(rig, make_box("solid.hex8", {n, n, n}, 0.1), "Hex8, incompatible modes", 0);
}

void bench_assemble(BenchRig& rig) {
  BenchModel model(rig.open(), make_model_h(rig.setup().size));
  rig.table().begin("assemble", model.describe());
  const Reference reference(model.domain());
  Backend& backend = model.backend();
  const double node_numbers = 4.0 * model.program().nodes() * model.elements();
  std::unique_ptr<SparseMatrix> bsr, csr;
  const auto pattern_row = [&](const char* what, int b, std::unique_ptr<SparseMatrix>& matrix, double target) {
    rig.row(what, [&](BenchRow& row) {
      row.seconds = rig.measure(backend, [&] {
        matrix.reset();
        // What a model keeps of an earlier pattern does not count.
        model.device().backend_data().reset();
        matrix = backend.make_matrix(model.device(), b);
      });
      const double blocks = model_h_blocks(rig.setup().size) * 9 / (b * b);
      row.floor = rig.floor(node_numbers + 4 * blocks + 8 * model.equations() / b);
      row.target = rig.target(target);
      row.note = fmt::format("{:.2f} M entries of {} × {}", blocks * 1e-6, b, b);
    });
  };
  pattern_row("pattern, blocks of 3 × 3", 3, bsr, 15e-3);
  const WorkChoices before = backend.choices();
  const auto with = [&](Assembly assembly, bool deterministic) {
    WorkChoices choices = before;
    choices.assembly = assembly;
    choices.deterministic = deterministic;
    return choices;
  };
  assembly_row(rig, model, bsr.get(), reference, "integrate + assemble, blocks of 3 × 3", before, rig.target(0.8e-3));
  assembly_row(rig, model, bsr.get(), reference, "the same, sums in any order", with(before.assembly, false), 0);
  assembly_row(rig, model, bsr.get(), reference, "the same, assembled on the host", with(Assembly::host, true), 0);
  bsr.reset();
  pattern_row("pattern, single entries (CSR)", 1, csr, 0);
  assembly_row(rig, model, csr.get(), reference, "integrate + assemble, single entries (CSR)", before, 0);
  csr.reset();
  rig.row("pattern and matrix, at first", [&](BenchRow& row) {
    const auto fresh = rig.open();
    BenchModel again(fresh, make_model_h(rig.setup().size));
    const auto before_bytes = static_cast<double>(fresh->bytes_in_use());
    fresh->wait();
    const Stopwatch watch;
    auto matrix = fresh->make_matrix(again.device(), 3);
    fresh->assemble(again.device(), nullptr, {}, *matrix);
    fresh->wait();
    row.seconds = watch.seconds();
    const auto peak = static_cast<double>(fresh->bytes_peak());
    row.note = fmt::format("peak memory {}, of it model {} and matrix {}", readable_bytes(peak),
                           readable_bytes(before_bytes), readable_bytes(static_cast<double>(matrix->bytes())));
    row.figures = {
        {"peak_bytes", peak}, {"model_bytes", before_bytes}, {"matrix_bytes", static_cast<double>(matrix->bytes())}};
  });
}

}  // namespace voussoir::app
