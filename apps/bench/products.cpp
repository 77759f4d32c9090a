#include <fmt/core.h>

#include <algorithm>

#include <voussoir/apps/bench/workloads.hpp>

// Products y = A x. Each is checked against the CPU backend's product of the same model before its time counts.

namespace voussoir::app {
namespace {

constexpr double product_tolerance = 1e-12;

/// Times y = A x and compares y.
void time_product(const BenchRig& rig, const BenchModel& model, const Operator& matrix, const std::vector<double>& x,
                  const std::vector<double>& expected, BenchRow& row) {
  Vector from = model.vector(x), to = model.analysis_model().make_vector();
  row.seconds = rig.measure(model.backend(), [&] { matrix.apply(from, to); });
  row.difference = relative_difference(to.to_host(), expected);
  row.tolerance = product_tolerance;
  row.figures.emplace_back("bytes_moved", static_cast<double>(matrix.bytes_moved()));
  row.figures.emplace_back("matrix_bytes", static_cast<double>(matrix.bytes()));
}

/// Whether to look for the vendor's library.
bool wants_vendors(const BenchRig& rig, const BenchModel& model) {
  return !rig.setup().quick && !model.backend().memory(0)->shares_host_memory();
}

/// Says so where a matrix keeps half of itself, and so may pass the floor of a whole one.
void note_half(const Operator& matrix, double whole_bytes, BenchRow& row) {
  const double share = static_cast<double>(matrix.bytes_moved()) / whole_bytes;
  if (share < 0.75)
    row.note += fmt::format("{}half is stored, {:.2f} of the floor's bytes move", row.note.empty() ? "" : "; ", share);
}

/// Adds the hardware vendor's products of the same matrix, those that are right.
void add_vendor_peers(const BenchRig& rig, const BenchModel& model,
                      const std::vector<std::unique_ptr<Operator>>& vendors, const std::vector<double>& x,
                      const std::vector<double>& expected, BenchRow& row) {
  for (const auto& vendor : vendors) {
    BenchRow peer;
    time_product(rig, model, *vendor, x, expected, peer);
    if (peer.wrong())
      row.note +=
          fmt::format("{}{} is wrong by {:.1e}", row.note.empty() ? "" : "; ", vendor->describe(), peer.difference);
    else
      row.peers.emplace_back(vendor->describe(), peer.seconds);
  }
}

/// A block of vectors whose columns are x, shifted by the column's number.
std::vector<double> shifted_columns(const BenchModel& model, const std::vector<double>& x, int columns) {
  const std::size_t n = x.size();
  std::vector<double> all(n * static_cast<std::size_t>(columns));
  for (std::size_t i = 0; i < n; ++i)
    for (int c = 0; c < columns; ++c)
      if (model.analysis_model().is_free(static_cast<std::int32_t>(i)))
        all[i * columns + c] = x[(i + 17 * static_cast<std::size_t>(c)) % n];
  return all;
}

std::vector<double> column(const std::vector<double>& all, int columns, int which) {
  std::vector<double> one(all.size() / static_cast<std::size_t>(columns));
  for (std::size_t i = 0; i < one.size(); ++i) one[i] = all[i * columns + which];
  return one;
}

/// Times Y = A X; the first and the last column are compared.
void time_block_product(const BenchRig& rig, const BenchModel& model, const Operator& matrix,
                        const std::vector<double>& x, int columns, const Reference& reference, BenchRow& row) {
  const std::vector<double> values = shifted_columns(model, x, columns);
  Vector from = model.analysis_model().make_vector(columns), to = model.analysis_model().make_vector(columns);
  from.from_host(values);
  row.seconds = rig.measure(model.backend(), [&] { matrix.apply(from, to); });
  const std::vector<double> found = to.to_host();
  row.tolerance = product_tolerance;
  for (const int c : {0, columns - 1})
    row.difference = std::max(
        row.difference, relative_difference(column(found, columns, c), reference.product(column(values, columns, c))));
}

/// Rows for one mesh without structure.
void unstructured_row(BenchRig& rig, const std::string& what, std::unique_ptr<Domain> domain) {
  rig.row(what, [&](BenchRow& row) {
    BenchModel model(rig.open(), std::move(domain));
    const Reference reference(model.domain());
    const std::vector<double> x = model.rough(3);
    const std::vector<double> expected = reference.product(x);
    auto bsr = model.backend().make_matrix(model.device(), 3);
    model.backend().assemble(model.device(), nullptr, {}, *bsr);
    time_product(rig, model, *bsr, x, expected, row);
    const HostMatrix whole = bsr->to_host();
    const auto blocks = static_cast<double>(whole.column.size());
    const double bytes = stored_product_bytes(blocks, 3, model.equations(), 1);
    row.floor = rig.floor(bytes);
    row.target = rig.target(1.15 * row.floor);
    row.note = fmt::format("{:.2f} M nodes, {:.1f} blocks per row", model.nodes() * 1e-6, blocks / model.nodes());
    note_half(*bsr, bytes, row);
    if (wants_vendors(rig, model))
      add_vendor_peers(rig, model, model.backend().make_vendor_matrices(model.device().layout(), whole), x, expected,
                       row);
  });
}

void element_rows(BenchRig& rig, const BenchModel& model, const Reference& reference, ElementProduct product,
                  const std::string& what, double target) {
  rig.row(what, [&](BenchRow& row) {
    auto matrix = model.backend().make_element_operator(model.device(), product);
    model.backend().assemble(model.device(), nullptr, {}, *matrix);
    const std::vector<double> x = model.rough(3);
    time_product(rig, model, *matrix, x, reference.product(x), row);
    const bool stored = product != ElementProduct::matrix_free;
    row.floor = stored ? rig.floor(model.matrix_bytes() + 4 * model.program().nodes() * model.elements() +
                                   2 * model.vector_bytes())
                       : rig.floor(model.geometry_bytes() + 2 * model.vector_bytes(),
                                   flops_per_point * model.program().points() * model.elements());
    row.target = rig.target(target);
    row.note = fmt::format("{:.2f} G unknowns/s", model.equations() / row.seconds * 1e-9);
  });
}

/// A product with a block of vectors and nothing stored.
void matrix_free_columns_row(BenchRig& rig, const BenchModel& model, const Reference& reference, int columns) {
  rig.row(fmt::format("product with {} columns, nothing stored", columns), [&](BenchRow& row) {
    auto matrix = model.backend().make_element_operator(model.device(), ElementProduct::matrix_free);
    model.backend().assemble(model.device(), nullptr, {}, *matrix);
    time_block_product(rig, model, *matrix, model.rough(3), columns, reference, row);
    const double flops = shared_flops_per_point + columns * (flops_per_point - shared_flops_per_point);
    row.floor = rig.floor(model.geometry_bytes() + 2 * columns * model.vector_bytes(),
                          flops * model.program().points() * model.elements());
    row.note = fmt::format("{:.2f} G unknowns/s", columns * model.equations() / row.seconds * 1e-9);
  });
}

}  // namespace

std::unique_ptr<Domain> make_model_h(int size) { return make_box("solid.hex8.full", {size, size, size}); }

double model_h_blocks(int size) {
  const double along = 3.0 * size + 1;  // a node and its neighbours before and behind
  return along * along * along;
}

double stored_product_bytes(double blocks, int b, double rows, int columns) {
  return blocks * (8.0 * b * b + 4) + 8 * (rows / b + 1) + 16.0 * columns * rows;
}

void bench_spmv(BenchRig& rig) {
  {
    BenchModel model(rig.open(), make_model_h(rig.setup().size));
    rig.table().begin("spmv", model.describe());
    const Reference reference(model.domain());
    const std::vector<double> x = model.rough(3);
    const std::vector<double> expected = reference.product(x);
    Backend& backend = model.backend();
    const double all = model_h_blocks(rig.setup().size);
    std::unique_ptr<SparseMatrix> bsr;
    std::vector<std::unique_ptr<Operator>> vendors;
    rig.row("product, blocks of 3 × 3", [&](BenchRow& row) {
      bsr = backend.make_matrix(model.device(), 3);
      backend.assemble(model.device(), nullptr, {}, *bsr);
      time_product(rig, model, *bsr, x, expected, row);
      const double bytes = stored_product_bytes(all, 3, model.equations(), 1);
      row.floor = rig.floor(bytes, 18 * all);
      row.target = rig.target(0.315e-3);
      note_half(*bsr, bytes, row);
      if (wants_vendors(rig, model)) vendors = backend.make_vendor_matrices(model.device().layout(), bsr->to_host());
      add_vendor_peers(rig, model, vendors, x, expected, row);
    });
    for (const int columns : {8, 32})
      rig.row(fmt::format("product with {} columns, blocks of 3 × 3", columns), [&](BenchRow& row) {
        if (!bsr) throw Error(ErrorCode::unavailable, "there is no matrix in blocks");
        time_block_product(rig, model, *bsr, x, columns, reference, row);
        row.floor = rig.floor(stored_product_bytes(all, 3, model.equations(), columns), 18 * all * columns);
        if (columns == 32) row.target = rig.target(1.2e-3);
        for (const auto& vendor : vendors) {
          if (vendor->describe().find("BSR") != std::string::npos) continue;
          BenchRow peer;
          time_block_product(rig, model, *vendor, x, columns, reference, peer);
          if (!peer.wrong()) row.peers.emplace_back(vendor->describe(), peer.seconds);
        }
      });
    vendors.clear();
    rig.row("product and x·y in one", [&](BenchRow& row) {
      if (!bsr) throw Error(ErrorCode::unavailable, "there is no matrix in blocks");
      Vector from = model.vector(x), to = model.analysis_model().make_vector();
      double sum = 0;
      row.seconds = rig.measure(backend, [&] { sum = bsr->apply_dot(from, to); });
      row.floor = rig.floor(stored_product_bytes(all, 3, model.equations(), 1));
      double wanted = 0;
      for (std::size_t i = 0; i < x.size(); ++i) wanted += x[i] * expected[i];
      row.difference = relative_difference(std::vector{sum}, std::vector{wanted});
      row.tolerance = 1e-10;
      row.note = "waits for the sum";
    });
    bsr.reset();
    rig.row("product, single entries (CSR)", [&](BenchRow& row) {
      auto csr = backend.make_matrix(model.device(), 1);
      backend.assemble(model.device(), nullptr, {}, *csr);
      time_product(rig, model, *csr, x, expected, row);
      const double bytes = stored_product_bytes(9 * all, 1, model.equations(), 1);
      row.floor = rig.floor(bytes, 18 * all);
      note_half(*csr, bytes, row);
    });
  }
  const int n = rig.setup().size, half = std::max(1, n / 2);
  unstructured_row(rig, "product, Tet4, nodes shuffled in windows of 1024",
                   shuffled(*make_box("solid.tet4", {n, n, n}, 0.15), 1024));
  unstructured_row(rig, "product, Tet10, nodes shuffled in windows of 1024",
                   shuffled(*make_box("solid.tet10", {half, half, half}, 0.15), 1024));
  if (!rig.setup().quick)
    unstructured_row(rig, "product, Tet10, nodes numbered at random",
                     shuffled(*make_box("solid.tet10", {half, half, half}, 0.15), 0));
}

void bench_matrix_free(BenchRig& rig) {
  const int n = rig.setup().size, half = std::max(1, n / 2);
  {
    BenchModel model(rig.open(), make_model_h(n));
    rig.table().begin("matrix-free", model.describe());
    const Reference reference(model.domain());
    element_rows(rig, model, reference, ElementProduct::matrix_free, "product, nothing stored", 0.105e-3);
    matrix_free_columns_row(rig, model, reference, 4);
  }
  for (const auto& [type, cells] : {std::pair{"solid.hex20", half}, {"solid.tet10", half}, {"solid.hex8", n}}) {
    BenchModel model(rig.open(), make_box(type, {cells, cells, cells}, 0.15));
    const Reference reference(model.domain());
    element_rows(rig, model, reference, ElementProduct::matrix_free,
                 fmt::format("{}, {:.2f} M unknowns", type, model.equations() * 1e-6), 0);
  }
}

void bench_ebe(BenchRig& rig) {
  BenchModel model(rig.open(), make_model_h(rig.setup().size));
  rig.table().begin("ebe", model.describe());
  const Reference reference(model.domain());
  element_rows(rig, model, reference, ElementProduct::gather, "product, element matrices, gather", 0.45e-3);
  element_rows(rig, model, reference, ElementProduct::scatter, "product, element matrices, scatter", 0.60e-3);
}

}  // namespace voussoir::app
