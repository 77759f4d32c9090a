#include <voussoir/solvers/eigen/detail/eigen_blocks.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <voussoir/backends/multigrid.hpp>
#include <voussoir/backends/projection_services.hpp>
#include <voussoir/backends/splitmix64.hpp>
#include <voussoir/solvers/eigen/detail/symmetric_eigen.hpp>

namespace voussoir::detail {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Of what is left of a vector when all that it shares with others is subtracted: below this fraction it is rounding.
constexpr double nothing_left = 1e-12;
/// Directions of a block whose squared lengths differ by more than this are orthogonalised separately.
constexpr double separable = 1e-10;
/// Where xᵀMx is a smaller part of xᵀDx, with the diagonal D of M, it is rounding: x is a motion without mass.
constexpr double no_mass = 1e-11;

/// A number between −1 and 1 that follows from its arguments alone.
double scattered(std::uint64_t seed, std::uint64_t index) {
  return symmetric_unit(splitmix64(seed * splitmix_increment + index * 0xd1342543de82ef95ULL + 0x632be59bd9b4e019ULL));
}

}  // namespace

Vector EigenBlocks::random(int columns, std::uint64_t seed) const {
  const AnalysisModel& model = problem_.model();
  auto* multigrid = backend_.find<MultigridServices>();
  const auto make_values = [&](int count) {
    const auto width = static_cast<std::size_t>(count);
    std::vector<double> values(static_cast<std::size_t>(model.equation_count()) * width, 0.0);
    for (std::int32_t e = 0; e < model.equation_count(); ++e)
      if (model.is_free(e))
        for (std::size_t c = 0; c < width; ++c)
          values[static_cast<std::size_t>(e) * width + c] = scattered(seed, static_cast<std::uint64_t>(e) * 4096 + c);
    return values;
  };
  Vector x = make(columns);
  if (!multigrid || columns < 4) {
    x.from_host(make_values(columns));
    return x;
  }
  // Noise that the devices make themselves, times one column that depends on the seed.
  Vector factors = make(1);
  factors.from_host(make_values(1));
  LevelVector noise;
  noise.columns = columns;
  noise.value = backend_.make_array<double>(
      0, static_cast<std::size_t>(model.equation_count()) * static_cast<std::size_t>(columns));
  multigrid->fill_with_noise(noise);
  Vector all = make(columns);
  multigrid->give(noise, Array<std::int32_t>(), all);
  backend_.multiply(factors, all, x);
  return x;
}

Vector EigenBlocks::stiffness(const Vector& x) const {
  Vector y = make(x.columns());
  problem_.stiffness().apply(x, y);
  return y;
}

Vector EigenBlocks::mass(const Vector& x) const {
  Vector y = make(x.columns());
  problem_.mass().apply(x, y);
  return y;
}

Eigen::MatrixXd EigenBlocks::dot(const Vector& x, const Vector& y) const {
  RowMajor result(x.columns(), y.columns());
  backend_.block_dot(x, y, {result.data(), static_cast<std::size_t>(result.size())});
  return result;
}

Eigen::MatrixXd EigenBlocks::symmetric_dot(const Vector& x, const Vector& y) const {
  const Eigen::MatrixXd product = dot(x, y);
  return 0.5 * (product + product.transpose());
}

Eigen::MatrixXd EigenBlocks::projected_stiffness(const Vector& x) const {
  auto* service = backend_.find<ProjectionServices>();
  if (!service) return symmetric_dot(x, stiffness(x));
  RowMajor result(x.columns(), x.columns());
  service->project(problem_.stiffness(), x, {result.data(), static_cast<std::size_t>(result.size())});
  return 0.5 * (result + result.transpose());
}

void EigenBlocks::add(const Vector& x, const Eigen::MatrixXd& c, Vector& y) const {
  const RowMajor rows = c;
  backend_.block_axpy(x, {rows.data(), static_cast<std::size_t>(rows.size())}, y);
}

Vector EigenBlocks::combined(const Vector& x, const Eigen::MatrixXd& c) const {
  Vector y = make(static_cast<int>(c.cols()));
  backend_.fill(y, 0.0);
  add(x, c, y);
  return y;
}

Vector EigenBlocks::columns(const Vector& x, int from, int count) const {
  Vector y = make(count);
  backend_.copy_columns(x, from, count, y, 0);
  return y;
}

Vector EigenBlocks::columns(const Vector& x, std::span<const int> which) const {
  Vector y = make(static_cast<int>(which.size()));
  for (std::size_t c = 0, end = 0; c < which.size(); c = end) {
    for (end = c + 1; end < which.size() && which[end] == which[end - 1] + 1;) ++end;
    backend_.copy_columns(x, which[c], static_cast<int>(end - c), y, static_cast<int>(c));
  }
  return y;
}

Vector EigenBlocks::joined(std::span<const Vector* const> blocks) const {
  int count = 0;
  for (const Vector* block : blocks)
    if (block->layout()) count += block->columns();
  if (count == 0) return {};
  Vector y = make(count);
  int at = 0;
  for (const Vector* block : blocks) {
    if (!block->layout()) continue;
    backend_.copy_columns(*block, 0, block->columns(), y, at);
    at += block->columns();
  }
  return y;
}

void EigenBlocks::project_out(std::span<const Vector* const> blocks, Vector& x) const {
  bool any = false;
  for (const Vector* block : blocks) any = any || block->layout();
  if (!any) return;
  const Vector mx = mass(x);
  for (const Vector* block : blocks)
    if (block->layout()) add(*block, -dot(*block, mx), x);
}

// One product with M serves the projection and the Gram matrix: what is taken off is known by its coefficients.
EigenBlocks::Projected EigenBlocks::project(std::span<const Vector* const> blocks, Vector& x) const {
  const Vector mx = mass(x);
  Projected result{symmetric_dot(x, mx), {}};
  result.after = result.before;
  for (const Vector* block : blocks) {
    if (!block->layout()) continue;
    const Eigen::MatrixXd c = dot(*block, mx);
    add(*block, -c, x);
    result.after -= c.transpose() * c;
  }
  return result;
}

// A mass matrix of reduced integration has a null space that no single unknown shows. What is left of a vector in it
// has the length of a rounding error in M, and would be blown up to the length 1.
std::vector<int> EigenBlocks::columns_with_mass(const Vector& x) const {
  Vector dx = make(x.columns());
  backend_.multiply(problem_.mass_diagonal(), x, dx);
  std::vector<double> size(static_cast<std::size_t>(x.columns()));
  backend_.column_dots(x, dx, size);
  std::vector<int> kept;
  for (int c = 0; c < x.columns(); ++c)
    if (no_mass * size[static_cast<std::size_t>(c)] < 1) kept.push_back(c);
  return kept;
}

Vector EigenBlocks::with_mass(Vector x) const {
  const std::vector<int> kept = columns_with_mass(x);
  if (static_cast<int>(kept.size()) == x.columns()) return x;
  return kept.empty() ? Vector() : columns(x, kept);
}

Vector EigenBlocks::orthonormal(Vector x, std::span<const Vector* const> blocks) const {
  std::vector<Vector> parts;
  std::vector<const Vector*> all(blocks.begin(), blocks.end());
  double first = 0;  // length of the longest column as given
  constexpr int most_levels = 6;
  for (int level = 0; level < most_levels && x.layout(); ++level) {
    const Projected roughly = project(all, x);
    if (level == 0) {
      first = std::sqrt(std::max(roughly.before.diagonal().maxCoeff(), 0.0));
      if (!std::isfinite(first))
        throw Error(ErrorCode::not_finite, "a block of vectors has a value that is not finite");
      if (!(first > 0)) return {};
    }
    const SymmetricEigen s = symmetric_eigen(project(all, x).after);
    const Eigen::Index n = s.values.size();
    const double largest = s.values[n - 1];
    if (!(largest > nothing_left * nothing_left * first * first)) break;
    Eigen::Index small = 0;
    while (s.values[small] <= separable * largest) ++small;
    Vector good =
        combined(x, s.vectors.rightCols(n - small) * s.values.tail(n - small).cwiseSqrt().cwiseInverse().asDiagonal());
    good = with_mass(std::move(good));
    if (!good.layout()) break;
    const SymmetricEigen again = symmetric_eigen(project(all, good).after);
    good = combined(good, again.vectors * again.values.cwiseSqrt().cwiseInverse().asDiagonal());
    x = small > 0 ? combined(x, s.vectors.leftCols(small)) : Vector();
    parts.push_back(std::move(good));
    all.assign(blocks.begin(), blocks.end());
    for (const Vector& part : parts) all.push_back(&part);
  }
  std::vector<const Vector*> found;
  for (const Vector& part : parts) found.push_back(&part);
  return parts.size() == 1 ? std::move(parts.front()) : joined(found);
}

RitzPairs rayleigh_ritz(const EigenBlocks& blocks, const Vector& x) {
  RitzPairs pairs;
  if (!x.layout()) return pairs;
  const SymmetricEigen s = symmetric_eigen(blocks.projected_stiffness(x));
  pairs.vectors = blocks.combined(x, s.vectors);
  pairs.values.assign(s.values.data(), s.values.data() + s.values.size());
  return pairs;
}

std::vector<double> relative_residuals(const EigenBlocks& blocks, const RitzPairs& pairs, Vector* residual) {
  if (pairs.count() == 0) return {};
  return relative_residuals(blocks, pairs, blocks.stiffness(pairs.vectors), blocks.mass(pairs.vectors), residual);
}

std::vector<double> relative_residuals(const EigenBlocks& blocks, const RitzPairs& pairs, Vector r, Vector mx,
                                       Vector* residual) {
  Backend& backend = blocks.backend();
  const std::vector<double> force = backend.column_norms(r);
  std::vector<double> minus, one(pairs.values.size(), 1.0);
  for (const double value : pairs.values) minus.push_back(-value);
  backend.column_axpby(minus, mx, one, r);
  mx = {};
  std::vector<double> rest = backend.column_norms(r);
  if (residual) *residual = std::move(r);
  Vector dx = blocks.make(pairs.count());
  backend.multiply(blocks.problem().stiffness_diagonal(), pairs.vectors, dx);
  const std::vector<double> size = backend.column_norms(dx);
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (!std::isfinite(rest[i]) || !std::isfinite(force[i])) {
      rest[i] = std::numeric_limits<double>::infinity();
      continue;
    }
    const bool is_rounding = rest[i] <= 32 * std::numeric_limits<double>::epsilon() * size[i];
    rest[i] = is_rounding || !(force[i] > 0) ? 0 : rest[i] / force[i];
  }
  return rest;
}

}  // namespace voussoir::detail
