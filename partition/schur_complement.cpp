#include <voussoir/partition/schur_complement.hpp>

#include <algorithm>

#include <voussoir/backends/error.hpp>
#include <voussoir/partition/part_threads.hpp>
#include <voussoir/solvers/direct/factorization.hpp>

namespace voussoir {

SchurComplement::SchurComplement(Backend& backend, const PartMatrices& matrices, const std::string& part_solver,
                                 Interiors interiors)
    : HostOperator(plain_layout(backend, static_cast<std::int64_t>(matrices.decomposition().interface().size()))),
      backend_(backend),
      matrices_(matrices),
      threads_(part_threads(backend)) {
  const int parts = matrices.decomposition().parts();
  interior_.resize(static_cast<std::size_t>(parts));
  if (uses_dense_interiors(backend, matrices.decomposition(), interiors, part_solver)) {
    eliminate_dense(part_solver);
    return;
  }
  for (auto& solver : interior_) {
    solver = make_part_solver(part_solver);
    require_exact(*solver, part_solver);
    if (!solver->works_side_by_side()) threads_ = 1;
  }
  for_each_part(parts, threads_, [&](int p) { factorise(p); });
}

void SchurComplement::factorise(int part) {
  const Decomposition& decomposition = matrices_.decomposition();
  PartSolver& solver = *interior_[static_cast<std::size_t>(part)];
  const auto interior = decomposition.interior(part);
  std::vector<std::int32_t> equations;
  for (const std::int32_t i : interior)
    equations.push_back(
        decomposition.equations()[static_cast<std::size_t>(decomposition.unknowns(part)[static_cast<std::size_t>(i)])]);
  solver.describe(decomposition.model(), equations);
  solver.set_up(
      submatrix(matrices_.neumann(part), interior), "part " + std::to_string(part) + " with its interface fixed",
      [&](std::int64_t i) { return decomposition.model().equation_label(equations[static_cast<std::size_t>(i)]); });
}

void SchurComplement::multiply_implicitly(int part, std::span<const double> x, std::span<double> y) const {
  const Decomposition& decomposition = matrices_.decomposition();
  const auto interior = decomposition.interior(part), boundary = decomposition.boundary(part);
  const SymmetricCsr& matrix = matrices_.neumann(part);
  const auto n = static_cast<std::size_t>(matrix.n);
  std::vector<double> full(n, 0.0), product(n), inner(interior.size());
  for (std::size_t i = 0; i < boundary.size(); ++i) full[static_cast<std::size_t>(boundary[i])] = x[i];
  voussoir::multiply(matrix, full, product);
  for (std::size_t i = 0; i < boundary.size(); ++i) {
    y[i] = product[static_cast<std::size_t>(boundary[i])];
    full[static_cast<std::size_t>(boundary[i])] = 0;
  }
  for (std::size_t i = 0; i < interior.size(); ++i) inner[i] = product[static_cast<std::size_t>(interior[i])];
  interior_[static_cast<std::size_t>(part)]->solve(inner);
  for (std::size_t i = 0; i < interior.size(); ++i) full[static_cast<std::size_t>(interior[i])] = inner[i];
  voussoir::multiply(matrix, full, product);
  for (std::size_t i = 0; i < boundary.size(); ++i) y[i] -= product[static_cast<std::size_t>(boundary[i])];
}

void SchurComplement::multiply(std::span<const double> x, std::span<double> y) const {
  if (blocks_) {
    const std::vector<double> product = multiplied(*blocks_, x);
    std::copy(product.begin(), product.end(), y.begin());
    return;
  }
  const Decomposition& decomposition = matrices_.decomposition();
  std::fill(y.begin(), y.end(), 0.0);
  std::vector<std::vector<double>> out(interior_.size());
  for_each_part(decomposition.parts(), threads_, [&](int p) {
    const auto places = decomposition.interface_places(p);
    std::vector<double> in(places.size());
    for (std::size_t i = 0; i < places.size(); ++i) in[i] = x[static_cast<std::size_t>(places[i])];
    out[static_cast<std::size_t>(p)].resize(places.size());
    multiply_part(p, in, out[static_cast<std::size_t>(p)]);
  });
  for (int p = 0; p < decomposition.parts(); ++p) {
    const auto places = decomposition.interface_places(p);
    const auto& own = out[static_cast<std::size_t>(p)];
    for (std::size_t i = 0; i < places.size(); ++i) y[static_cast<std::size_t>(places[i])] += own[i];
  }
}

std::vector<double> SchurComplement::condense(std::span<const double> f) const {
  const Decomposition& decomposition = matrices_.decomposition();
  std::vector<double> g;
  for (const std::int32_t u : decomposition.interface()) g.push_back(f[static_cast<std::size_t>(u)]);
  std::vector<std::vector<double>> products(interior_.size());
  std::vector<double> from_devices;
  if (condensed_) {
    std::size_t size = 0;
    for (int p = 0; p < decomposition.parts(); ++p) size += decomposition.boundary(p).size();
    from_devices.assign(size, 0.0);
    condensed_->condense(interior_loads(f), from_devices);
  }
  for_each_part(decomposition.parts(), threads_, [&](int p) {
    if (!on_host(p)) return;
    const auto unknowns = decomposition.unknowns(p), interior = decomposition.interior(p);
    std::vector<double>& product = products[static_cast<std::size_t>(p)];
    std::vector<double> inner, full(unknowns.size(), 0.0);
    product.resize(unknowns.size());
    for (const std::int32_t i : interior)
      inner.push_back(f[static_cast<std::size_t>(unknowns[static_cast<std::size_t>(i)])]);
    interior_[static_cast<std::size_t>(p)]->solve(inner);
    for (std::size_t i = 0; i < interior.size(); ++i) full[static_cast<std::size_t>(interior[i])] = inner[i];
    voussoir::multiply(matrices_.neumann(p), full, product);
  });
  std::size_t first = 0;
  for (int p = 0; p < decomposition.parts(); ++p) {
    const auto boundary = decomposition.boundary(p), places = decomposition.interface_places(p);
    const auto& product = products[static_cast<std::size_t>(p)];
    for (std::size_t i = 0; i < boundary.size(); ++i)
      g[static_cast<std::size_t>(places[i])] +=
          on_host(p) ? -product[static_cast<std::size_t>(boundary[i])] : from_devices[first + i];
    first += boundary.size();
  }
  return g;
}

std::vector<double> SchurComplement::expand(std::span<const double> interface_values, std::span<const double> f) const {
  const Decomposition& decomposition = matrices_.decomposition();
  std::vector<double> u(static_cast<std::size_t>(decomposition.size()), 0.0);
  for (std::size_t i = 0; i < interface_values.size(); ++i)
    u[static_cast<std::size_t>(decomposition.interface()[i])] = interface_values[i];
  if (condensed_) expand_on_devices(interface_values, f, u);
  // Each part writes its own interior.
  for_each_part(decomposition.parts(), threads_, [&](int p) {
    if (!on_host(p)) return;
    const auto unknowns = decomposition.unknowns(p), interior = decomposition.interior(p);
    const auto boundary = decomposition.boundary(p), places = decomposition.interface_places(p);
    std::vector<double> full(unknowns.size(), 0.0), product(unknowns.size()), inner;
    for (std::size_t i = 0; i < boundary.size(); ++i)
      full[static_cast<std::size_t>(boundary[i])] = interface_values[static_cast<std::size_t>(places[i])];
    voussoir::multiply(matrices_.neumann(p), full, product);
    for (const std::int32_t i : interior)
      inner.push_back(f[static_cast<std::size_t>(unknowns[static_cast<std::size_t>(i)])] -
                      product[static_cast<std::size_t>(i)]);
    interior_[static_cast<std::size_t>(p)]->solve(inner);
    for (std::size_t i = 0; i < interior.size(); ++i)
      u[static_cast<std::size_t>(unknowns[static_cast<std::size_t>(interior[i])])] = inner[i];
  });
  return u;
}

std::size_t SchurComplement::bytes() const {
  std::size_t sum = matrices_.bytes();
  for (const auto& solver : interior_) sum += solver ? solver->bytes() : 0;
  if (condensed_) sum += condensed_->bytes() + blocks_->bytes() + (separate_ ? separate_->bytes() : 0);
  for (const auto& complement : complements_) sum += complement.size() * sizeof(double);
  return sum;
}

std::string SchurComplement::describe() const {
  return "Schur complement of " + std::to_string(unknowns()) + " interface unknowns and " +
         std::to_string(interior_.size()) + " parts, " + (condensed_ ? condensed_->describe() : "implicit");
}

std::vector<double> dense_schur_complement(const PartMatrices& matrices, int part) {
  const auto boundary = matrices.decomposition().boundary(part);
  if (boundary.empty()) return {};
  const auto factor = Factorization::make(part_method(DirectMethod::automatic), {});
  const std::vector<std::int32_t> keep(boundary.begin(), boundary.end());
  factor->analyse(matrices.neumann(part), keep);
  factor->factorise(matrices.neumann(part), matrices.sizes(part));
  if (!factor->null_pivots().empty())
    throw Error(ErrorCode::singular, "the part can move while its interface is fixed", "part " + std::to_string(part));
  return factor->schur_complement();
}

std::vector<std::vector<double>> dense_schur_complements(const PartMatrices& matrices, int threads) {
  const int parts = matrices.decomposition().parts();
  std::vector<std::vector<double>> dense(static_cast<std::size_t>(parts));
  for_each_part(parts, threads,
                [&](int p) { dense[static_cast<std::size_t>(p)] = dense_schur_complement(matrices, p); });
  return dense;
}

std::unique_ptr<SparseMatrix> explicit_schur_complement(Backend& backend, const PartMatrices& matrices) {
  const Decomposition& decomposition = matrices.decomposition();
  const std::size_t n = decomposition.interface().size();
  std::vector<std::vector<std::int32_t>> columns(n);
  for (int p = 0; p < decomposition.parts(); ++p)
    for (const std::int32_t i : decomposition.interface_places(p)) {
      const auto places = decomposition.interface_places(p);
      auto& row = columns[static_cast<std::size_t>(i)];
      std::vector<std::int32_t> both;
      std::set_union(row.begin(), row.end(), places.begin(), places.end(), std::back_inserter(both));
      row = std::move(both);
    }
  HostMatrix rows;
  rows.row_start.push_back(0);
  for (const auto& row : columns) {
    rows.column.insert(rows.column.end(), row.begin(), row.end());
    rows.row_start.push_back(static_cast<std::int64_t>(rows.column.size()));
  }
  rows.value.assign(rows.column.size(), 0.0);
  const auto all = dense_schur_complements(matrices, part_threads(backend));
  for (int p = 0; p < decomposition.parts(); ++p) {
    const auto places = decomposition.interface_places(p);
    const std::vector<double>& dense = all[static_cast<std::size_t>(p)];
    for (std::size_t i = 0; i < places.size(); ++i) {
      auto at = static_cast<std::size_t>(rows.row_start[static_cast<std::size_t>(places[i])]);
      for (std::size_t j = 0; j < places.size(); ++j) {
        while (rows.column[at] != places[j]) ++at;
        rows.value[at] += dense[i * places.size() + j];
      }
    }
  }
  return backend.service<MatrixServices>().make_matrix(
      plain_layout(backend, static_cast<std::int64_t>(n), backend.devices() > 1), rows);
}

}  // namespace voussoir
