#include <voussoir/partition/coarse_space.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/solvers/direct/factorization.hpp>

namespace voussoir {
namespace {

/// 0, 1, 2 for displacements, 3, 4, 5 for rotations, −1 for anything else.
int rigid_component(const std::string& unknown) {
  constexpr std::array<const char*, 6> names{"ux", "uy", "uz", "rx", "ry", "rz"};
  for (std::size_t i = 0; i < names.size(); ++i)
    if (unknown == names[i]) return static_cast<int>(i);
  return -1;
}

/// Whether the elements of a model are bodies of revolution, which can move freely along their axis, y, only.
bool is_body_of_revolution(const AnalysisModel& model) {
  for (const BatchOrigin& origin : model.batches())
    if (origin.kind == BatchOrigin::Kind::block &&
        model.domain().block(static_cast<std::size_t>(origin.block)).type().program().axisymmetric())
      return true;
  return false;
}

/// Middle and half extent of the nodes of some equations.
struct Surroundings {
  std::array<double, 3> centre{0, 0, 0};
  double length = 1;

  Surroundings(const AnalysisModel& model, std::span<const std::int32_t> equations) {
    std::array<double, 3> low, high;
    low.fill(std::numeric_limits<double>::infinity());
    high.fill(-std::numeric_limits<double>::infinity());
    const auto x = model.domain().coordinates();
    for (const std::int32_t e : equations) {
      const auto node = static_cast<std::size_t>(model.place(e).node);
      for (std::size_t i = 0; i < 3; ++i) {
        low[i] = std::min(low[i], x[3 * node + i]);
        high[i] = std::max(high[i], x[3 * node + i]);
      }
    }
    double longest = 0;
    for (std::size_t i = 0; i < 3 && !equations.empty(); ++i) {
      centre[i] = 0.5 * (low[i] + high[i]);
      longest = std::max(longest, 0.5 * (high[i] - low[i]));
    }
    if (longest > 0) length = longest;
  }
};

}  // namespace

std::vector<std::vector<double>> rigid_motions(const AnalysisModel& model, std::span<const std::int32_t> equations) {
  const auto& names = model.unknown_names();
  std::vector<int> component;
  std::array<bool, 6> has{};
  std::vector<std::size_t> constant(names.size(), 0);
  std::size_t others = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    component.push_back(rigid_component(names[i]));
    if (component[i] >= 0)
      has[static_cast<std::size_t>(component[i])] = true;
    else
      constant[i] = others++;
  }
  // A rotation is a motion of the model if it has both displacements across its axis, or the rotation itself. A body of
  // revolution has the translation along its axis alone.
  const bool revolves = is_body_of_revolution(model), plane = !has[2];
  std::array<int, 6> motion{};
  int count = 0;
  for (std::size_t m = 0; m < 6; ++m) {
    const bool exists = revolves ? m == 1 : m < 3 ? has[m] : (has[(m + 1) % 3] && has[(m + 2) % 3]) || has[m];
    motion[m] = exists ? count++ : -1;
  }
  std::vector<std::vector<double>> vectors(static_cast<std::size_t>(count) + others,
                                           std::vector<double>(equations.size(), 0.0));
  const Surroundings around(model, equations);
  const auto x = model.domain().coordinates();
  for (std::size_t i = 0; i < equations.size(); ++i) {
    const AnalysisModel::Place place = model.place(equations[i]);
    int c = component[static_cast<std::size_t>(place.component)];
    if (c < 0) {
      vectors[static_cast<std::size_t>(count) + constant[static_cast<std::size_t>(place.component)]][i] = 1;
      continue;
    }
    // The displacements of a rotation node are rotations; in a plane, ux is the rotation about z.
    if (c < 3 && model.domain().rotation_node(place.node)) c = plane ? 5 : c + 3;
    const auto set = [&](int m, double value) {
      if (motion[static_cast<std::size_t>(m)] >= 0)
        vectors[static_cast<std::size_t>(motion[static_cast<std::size_t>(m)])][i] = value;
    };
    if (c >= 3) {
      set(c, 1 / around.length);
      continue;
    }
    set(c, 1);
    const auto arm = [&](int k) {
      return (x[3 * static_cast<std::size_t>(place.node) + static_cast<std::size_t>(k)] -
              around.centre[static_cast<std::size_t>(k)]) /
             around.length;
    };
    // u = ω × r: rotation about axis k moves direction (k+1) by −r(k+2) and direction (k+2) by r(k+1).
    set(3 + (c + 2) % 3, -arm((c + 1) % 3));
    set(3 + (c + 1) % 3, arm((c + 2) % 3));
  }
  return vectors;
}

std::vector<std::vector<double>> orthonormal_basis(std::vector<std::vector<double>> vectors, double tolerance) {
  const auto dot = [](const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  };
  std::vector<std::vector<double>> basis;
  for (auto& v : vectors) {
    const double before = std::sqrt(dot(v, v));
    if (!(before > 0)) continue;
    for (int pass = 0; pass < 2; ++pass)
      for (const auto& q : basis) {
        const double part = dot(q, v);
        for (std::size_t i = 0; i < v.size(); ++i) v[i] -= part * q[i];
      }
    const double after = std::sqrt(dot(v, v));
    if (!(after > tolerance * before)) continue;
    for (double& value : v) value /= after;
    basis.push_back(std::move(v));
  }
  return basis;
}

CoarseSpace::CoarseSpace() = default;
CoarseSpace::~CoarseSpace() = default;
CoarseSpace::CoarseSpace(CoarseSpace&&) noexcept = default;
CoarseSpace& CoarseSpace::operator=(CoarseSpace&&) noexcept = default;

void CoarseSpace::add(std::span<const std::int32_t> unknowns, std::span<const double> values) {
  if (unknowns.size() != values.size())
    throw Error(ErrorCode::misuse, std::to_string(values.size()) + " values for " + std::to_string(unknowns.size()) +
                                       " unknowns of a coarse vector");
  unknown_.insert(unknown_.end(), unknowns.begin(), unknowns.end());
  value_.insert(value_.end(), values.begin(), values.end());
  first_.push_back(unknown_.size());
  factor_.reset();
  lu_.reset();
}

GeneralCsr CoarseSpace::product(const FullRows& matrix) const {
  const auto n = static_cast<std::size_t>(matrix.size());
  for (const std::int32_t u : unknown_)
    if (u < 0 || static_cast<std::size_t>(u) >= n)
      throw Error(ErrorCode::misuse,
                  "a coarse vector has the unknown " + std::to_string(u) + ", which the matrix does not have");
  // The columns of each unknown.
  std::vector<std::size_t> first(n + 1, 0);
  for (const std::int32_t u : unknown_) ++first[static_cast<std::size_t>(u) + 1];
  for (std::size_t u = 0; u < n; ++u) first[u + 1] += first[u];
  std::vector<std::pair<std::int32_t, double>> column(unknown_.size());
  auto cursor = first;
  for (std::int32_t j = 0; j < size(); ++j)
    for (auto k = first_[static_cast<std::size_t>(j)]; k < first_[static_cast<std::size_t>(j) + 1]; ++k)
      column[cursor[static_cast<std::size_t>(unknown_[k])]++] = {j, value_[k]};

  GeneralCsr coarse;
  coarse.n = size();
  coarse.row_start.push_back(0);
  std::vector<double> product(n, 0.0), row(static_cast<std::size_t>(size()), 0.0);
  std::vector<std::int32_t> touched, met;  // columns of the entries in row j of ZᵀA, and in row j of ZᵀAZ
  std::vector<char> is_touched(n, 0), is_met(row.size(), 0);
  for (std::int32_t j = 0; j < size(); ++j) {
    touched.clear();
    for (auto k = first_[static_cast<std::size_t>(j)]; k < first_[static_cast<std::size_t>(j) + 1]; ++k) {
      const auto u = static_cast<std::size_t>(unknown_[k]);
      for (auto e = matrix.row_start[u]; e < matrix.row_start[u + 1]; ++e) {
        const auto v = static_cast<std::size_t>(matrix.column[static_cast<std::size_t>(e)]);
        if (!is_touched[v]) {
          is_touched[v] = 1;
          touched.push_back(static_cast<std::int32_t>(v));
        }
        product[v] += value_[k] * matrix.value[static_cast<std::size_t>(e)];
      }
    }
    std::sort(touched.begin(), touched.end());
    met.assign(1, j);
    is_met[static_cast<std::size_t>(j)] = 1;
    for (const std::int32_t v : touched) {
      const auto at = static_cast<std::size_t>(v);
      for (auto k = first[at]; k < first[at + 1]; ++k) {
        const auto i = static_cast<std::size_t>(column[k].first);
        row[i] += product[at] * column[k].second;
        if (!is_met[i]) {
          is_met[i] = 1;
          met.push_back(column[k].first);
        }
      }
      product[at] = 0;
      is_touched[at] = 0;
    }
    std::sort(met.begin(), met.end());
    for (const std::int32_t i : met) {
      const auto at = static_cast<std::size_t>(i);
      coarse.column.push_back(i);
      coarse.value.push_back(row[at]);
      row[at] = 0;
      is_met[at] = 0;
    }
    coarse.row_start.push_back(static_cast<std::int64_t>(coarse.column.size()));
  }
  return coarse;
}

namespace {

/// The upper triangle of a matrix whose diagonal entries are all stored.
SymmetricCsr upper_half(const GeneralCsr& matrix) {
  SymmetricCsr upper;
  upper.n = matrix.n;
  upper.row_start.push_back(0);
  for (std::int64_t i = 0; i < matrix.n; ++i) {
    for (auto k = static_cast<std::size_t>(matrix.row_start[static_cast<std::size_t>(i)]);
         k < static_cast<std::size_t>(matrix.row_start[static_cast<std::size_t>(i) + 1]); ++k) {
      if (matrix.column[k] < i) continue;
      upper.column.push_back(matrix.column[k]);
      upper.value.push_back(matrix.value[k]);
    }
    upper.row_start.push_back(static_cast<std::int64_t>(upper.column.size()));
  }
  return upper;
}

/// The identity matrix.
FullRows identity_rows(std::int32_t size) {
  FullRows rows;
  for (std::int32_t i = 0; i < size; ++i) {
    rows.column.push_back(i);
    rows.value.push_back(1);
    rows.row_start.push_back(i + 1);
  }
  return rows;
}

}  // namespace

void CoarseSpace::set_up(const FullRows& matrix) {
  factor_.reset();
  lu_.reset();
  const SymmetricCsr coarse = upper_half(product(matrix));
  if (size() == 0) return;
  factor_ = Factorization::make(DirectMethod::automatic, {});
  factor_->factorise(coarse);
}

void CoarseSpace::set_up_unsymmetric(const FullRows& matrix) {
  factor_.reset();
  lu_.reset();
  if (size() == 0) return;
  // LU does not find which vectors depend on others. The factorisation of ZᵀZ does.
  const auto gram = Factorization::make(DirectMethod::automatic, {});
  gram->factorise(upper_half(product(identity_rows(matrix.size()))));
  leave_out(gram->null_pivots());
  lu_ = LuFactorization::make(DirectMethod::automatic, {});
  try {
    lu_->factorise(product(matrix));
  } catch (const Error& error) {
    lu_.reset();
    if (error.code() != ErrorCode::singular) throw;
    throw Error(error.code(), "the matrix of the coarse space is singular; use the method with one level");
  }
}

void CoarseSpace::leave_out(std::span<const std::int32_t> vectors) {
  if (vectors.empty()) return;
  std::vector<std::size_t> first{0};
  std::size_t to = 0, next = 0;
  for (std::size_t j = 0; j + 1 < first_.size(); ++j) {
    if (next < vectors.size() && static_cast<std::size_t>(vectors[next]) == j) {
      ++next;
      continue;
    }
    for (auto k = first_[j]; k < first_[j + 1]; ++k, ++to) {
      unknown_[to] = unknown_[k];
      value_[to] = value_[k];
    }
    first.push_back(to);
  }
  unknown_.resize(to);
  value_.resize(to);
  first_ = std::move(first);
}

void CoarseSpace::correct(std::span<const double> r, std::span<double> z) const {
  if (size() == 0) return;
  if (!factor_ && !lu_) throw Error(ErrorCode::misuse, "set_up() comes before correct()");
  const Stopwatch watch;
  std::vector<double> small(static_cast<std::size_t>(size()), 0.0);
  for (std::size_t j = 0; j < small.size(); ++j)
    for (auto k = first_[j]; k < first_[j + 1]; ++k) small[j] += value_[k] * r[static_cast<std::size_t>(unknown_[k])];
  if (lu_)
    lu_->solve(small);
  else
    factor_->solve(small);
  for (std::size_t j = 0; j < small.size(); ++j)
    for (auto k = first_[j]; k < first_[j + 1]; ++k) z[static_cast<std::size_t>(unknown_[k])] += value_[k] * small[j];
  seconds_ += watch.seconds();
}

std::size_t CoarseSpace::bytes() const {
  return unknown_.size() * (sizeof(std::int32_t) + sizeof(double)) +
         (factor_ ? static_cast<std::size_t>(factor_->statistics().factor_entries) * 12 : 0) +
         (lu_ ? static_cast<std::size_t>(lu_->statistics().factor_entries) * 12 : 0);
}

CoarseSpace rigid_coarse_space(const Decomposition& decomposition, std::span<const Overlap> sets,
                               const std::vector<std::vector<double>>& weights) {
  CoarseSpace space;
  for (std::size_t p = 0; p < sets.size(); ++p) {
    std::vector<std::int32_t> equations;
    for (const std::int32_t u : sets[p].unknowns)
      equations.push_back(decomposition.equations()[static_cast<std::size_t>(u)]);
    auto motions = rigid_motions(decomposition.model(), equations);
    for (auto& motion : motions)
      for (std::size_t i = 0; i < motion.size(); ++i) motion[i] *= weights[p][i];
    for (const auto& vector : orthonormal_basis(std::move(motions))) space.add(sets[p].unknowns, vector);
  }
  return space;
}

}  // namespace voussoir
