#include <Eigen/Dense>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <new>

#include <voussoir/backends/threads.hpp>
#include <voussoir/solvers/detail/free_node.hpp>
#include <voussoir/solvers/preconditioners/fsai.hpp>

namespace voussoir {
namespace {

/// z = Gᵀ (G r)
class FsaiOperator final : public Operator {
 public:
  FsaiOperator(std::shared_ptr<Backend> backend, std::unique_ptr<SparseMatrix> g, std::unique_ptr<SparseMatrix> gt)
      : backend_(std::move(backend)), g_(std::move(g)), gt_(std::move(gt)) {
    work_for(1);
  }
  bool replayable() const override { return true; }
  const std::shared_ptr<const Layout>& layout() const override { return g_->layout(); }
  void apply(const Vector& r, Vector& z) const override {
    Vector& work = work_for(r.columns());
    g_->apply(r, work);
    gt_->apply(work, z);
  }
  double apply_dot(const Vector& r, Vector& z) const override {
    apply(r, z);
    return backend_->dot(r, z);
  }
  std::size_t bytes() const override {
    std::size_t sum = g_->bytes() + gt_->bytes();
    for (const auto& entry : work_)
      for (int d = 0; d < backend_->devices(); ++d) sum += entry.second.part(d).bytes();
    return sum;
  }
  std::size_t bytes_moved() const override { return g_->bytes_moved() + gt_->bytes_moved(); }
  std::string describe() const override { return "factorised sparse approximate inverse, " + g_->describe(); }

 private:
  Vector& work_for(int columns) const {
    Vector& work = work_[columns];
    if (!work.layout()) work = Vector(g_->layout(), columns);
    return work;
  }

  std::shared_ptr<Backend> backend_;
  std::unique_ptr<SparseMatrix> g_, gt_;
  mutable std::map<int, Vector> work_;  // by columns
};

/// Scalar rows of a block matrix.
HostMatrix scalar_rows(const HostMatrix& a) {
  if (a.block_size == 1) return a;
  const int s = a.block_size;
  HostMatrix r;
  r.row_start.reserve(a.block_rows() * s + 1);
  r.row_start.push_back(0);
  r.column.reserve(a.value.size());
  r.value.reserve(a.value.size());
  for (std::int64_t i = 0; i < a.block_rows(); ++i)
    for (int k = 0; k < s; ++k) {
      for (auto b = a.row_start[i]; b < a.row_start[i + 1]; ++b)
        for (int l = 0; l < s; ++l) {
          r.column.push_back(a.column[b] * s + l);
          r.value.push_back(a.value[(b * s + k) * s + l]);
        }
      r.row_start.push_back(static_cast<std::int64_t>(r.column.size()));
    }
  return r;
}

HostMatrix transposed(const HostMatrix& g) {
  HostMatrix t;
  const auto n = g.block_rows();
  t.row_start.assign(n + 1, 0);
  for (std::int32_t c : g.column) ++t.row_start[c + 1];
  for (std::int64_t i = 0; i < n; ++i) t.row_start[i + 1] += t.row_start[i];
  t.column.resize(g.column.size());
  t.value.resize(g.value.size());
  auto cursor = t.row_start;
  for (std::int64_t i = 0; i < n; ++i)
    for (auto k = g.row_start[i]; k < g.row_start[i + 1]; ++k) {
      const auto at = cursor[g.column[k]]++;
      t.column[at] = static_cast<std::int32_t>(i);
      t.value[at] = g.value[k];
    }
  return t;
}

/// Solves for rows of G; one for each thread.
struct RowSolver {
  const HostMatrix& a;
  Eigen::MatrixXd small;
  Eigen::VectorXd y;

  /// Row i of G on its pattern J, whose last column is i: the solution of A(J, J) y = e_i, scaled to make
  /// (G A Gᵀ)_ii = 1. False where A(J, J) is not positive definite.
  bool solve(const std::int32_t* pattern, std::int32_t size, double* row) {
    small.setZero(size, size);
    for (std::int32_t p = 0; p < size; ++p) {
      // Both lists ascend: one walk finds the common columns.
      auto k = a.row_start[pattern[p]];
      const auto end = a.row_start[pattern[p] + 1];
      for (std::int32_t q = 0; q <= p; ++q) {
        while (k < end && a.column[k] < pattern[q]) ++k;
        if (k < end && a.column[k] == pattern[q]) small(p, q) = a.value[k];
      }
    }
    y.setZero(size);
    y[size - 1] = 1;
    const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>, Eigen::Lower> llt(small);
    if (llt.info() == Eigen::Success) llt.solveInPlace(y);
    if (llt.info() != Eigen::Success || !(y[size - 1] > 0)) return false;
    const double scale = 1 / std::sqrt(y[size - 1]);
    for (std::int32_t p = 0; p < size; ++p) row[p] = scale * y[p];
    return true;
  }
};

}  // namespace

void FsaiPreconditioner::set_up(const LinearSOE& soe) {
  inverse_.reset();
  if (!soe.sparse_matrix())
    throw Error(ErrorCode::misuse, "fsai needs a stored matrix; the SOE '" + soe.name() +
                                       "' has none. Use csr or bsr, or the chebyshev preconditioner");
  HostMatrix a = scalar_rows(soe.sparse_matrix()->to_host());
  const auto n = a.block_rows();
  std::vector<double> diagonal(n, 0.0);
  for (std::int64_t i = 0; i < n; ++i)
    for (auto k = a.row_start[i]; k < a.row_start[i + 1]; ++k)
      if (a.column[k] == i) diagonal[i] = a.value[k];

  HostMatrix g;
  g.row_start.assign(n + 1, 0);
  const auto kept = [&](std::int64_t i, std::int64_t k) {
    const std::int32_t j = a.column[k];
    return j == i || (j < i && a.value[k] != 0 && a.value[k] * a.value[k] >= drop_ * drop_ * diagonal[i] * diagonal[j]);
  };
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t count = 0;
    for (auto k = a.row_start[i]; k < a.row_start[i + 1]; ++k) count += kept(i, k);
    g.row_start[i + 1] = g.row_start[i] + count;
  }
  g.column.resize(g.row_start[n]);
  g.value.resize(g.row_start[n]);

  std::atomic<std::int64_t> bad{n};
  // An exception must not leave a parallel region; only std::bad_alloc is possible.
  std::atomic<bool> short_of_memory{false};
  const int wanted = soe.model().backend().threads();
  const int team = wanted > 0 ? wanted : default_threads();
#pragma omp parallel num_threads(team)
  {
    RowSolver solver{a, {}, {}};
#pragma omp for schedule(dynamic, 256)
    for (std::int64_t i = 0; i < n; ++i) try {
        std::int32_t* pattern = g.column.data() + g.row_start[i];
        const auto size = static_cast<std::int32_t>(g.row_start[i + 1] - g.row_start[i]);
        std::int32_t at = 0;
        for (auto k = a.row_start[i]; k < a.row_start[i + 1]; ++k)
          if (kept(i, k)) pattern[at++] = a.column[k];
        if (solver.solve(pattern, size, g.value.data() + g.row_start[i])) continue;
        std::int64_t seen = bad;
        while (i < seen && !bad.compare_exchange_weak(seen, i)) {
        }
      } catch (const std::bad_alloc&) {
        short_of_memory = true;
      }
  }
  if (short_of_memory)
    throw Error(ErrorCode::out_of_memory,
                "out of memory for the fsai preconditioner; use block-jacobi or chebyshev, which need less");
  if (bad < n) {
    detail::require_resistance(soe, static_cast<std::int32_t>(bad.load()));
    throw Error(ErrorCode::singular,
                "the stiffness around this unknown is not positive: the model is under-constrained, or a material is "
                "not stable",
                soe.model().equation_label(static_cast<std::int32_t>(bad.load())));
  }
  a = HostMatrix();
  Backend& backend = soe.model().backend();
  const auto& layout = soe.matrix().layout();
  auto gt = backend.make_matrix(layout, transposed(g));
  inverse_ =
      std::make_unique<FsaiOperator>(soe.model().shared_backend(), backend.make_matrix(layout, g), std::move(gt));
}

}  // namespace voussoir
