// Eigen has a few files under the LGPL; none of them is used here, and this makes the compiler say so.
#ifndef EIGEN_MPL2_ONLY
#define EIGEN_MPL2_ONLY
#endif
#include <Eigen/SparseLU>
#include <algorithm>
#include <cmath>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/solvers/direct/detail/guards.hpp>
#include <voussoir/solvers/direct/detail/mumps_instance.hpp>
#include <voussoir/solvers/direct/detail/nested_dissection.hpp>
#include <voussoir/solvers/direct/lu.hpp>

namespace voussoir {
namespace {

/// A pivot of an equilibrated matrix that is as good as zero.
constexpr double null_pivot = 1e-14;

[[noreturn]] void throw_singular(std::int64_t equation) {
  throw Error(ErrorCode::singular,
              "the matrix is singular: nothing determines this unknown; prescribe it, or add what does",
              equation < 0 ? std::string() : "equation " + std::to_string(equation));
}

/// 2^−k with the largest number of a row or column between 2^k and 2^(k+1).
double scale_of(double largest) { return largest > 0 ? std::ldexp(1.0, -std::ilogb(largest)) : 1.0; }

class EigenLu final : public LuFactorization {
 public:
  explicit EigenLu(const DirectOptions& options) : LuFactorization(options) {
    statistics_.method = "eigen";
    statistics_.ordering = "COLAMD";
  }

 protected:
  using Place = std::int64_t;
  using Sparse = Eigen::SparseMatrix<double, Eigen::ColMajor, Place>;

  void do_factorise(const GeneralCsr& matrix) override {
    const Eigen::Map<const Eigen::SparseMatrix<double, Eigen::RowMajor, Place>> rows(
        matrix.n, matrix.n, static_cast<Eigen::Index>(matrix.value.size()), matrix.row_start.data(),
        (columns_.assign(matrix.column.begin(), matrix.column.end()), columns_.data()), matrix.value.data());
    sparse_ = rows;
    detail::allocating(0, "the factors of an unsymmetric matrix", [&] {
      lu_.analyzePattern(sparse_);
      lu_.factorize(sparse_);
    });
    if (lu_.info() != Eigen::Success) throw_singular(-1);
    statistics_.factor_entries = lu_.nnzL() + lu_.nnzU();
    statistics_.memory_mb = 16e-6 * static_cast<double>(statistics_.factor_entries);
  }
  void do_solve(double* vectors, int columns) override {
    Eigen::Map<Eigen::MatrixXd> x(vectors, sparse_.rows(), columns);
    x = lu_.solve(x).eval();
  }

 private:
  std::vector<Place> columns_;
  Sparse sparse_;
  Eigen::SparseLU<Sparse, Eigen::COLAMDOrdering<Place>> lu_;
};

#ifdef VOUSSOIR_HAVE_MUMPS

class MumpsLu final : public LuFactorization {
 public:
  explicit MumpsLu(const DirectOptions& options) : LuFactorization(options), mumps_(false, options.threads) {
    statistics_.method = "mumps";
  }

 protected:
  void do_factorise(const GeneralCsr& matrix) override {
    mumps_.restart();
    row_.resize(matrix.column.size());
    column_.resize(matrix.column.size());
    for (std::int64_t i = 0; i < matrix.n; ++i)
      for (std::int64_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k) {
        row_[k] = static_cast<MUMPS_INT>(i + 1);
        column_[k] = matrix.column[k] + 1;
      }
    DMUMPS_STRUC_C& id = mumps_.data();
    id.n = static_cast<MUMPS_INT>(matrix.n);
    id.nnz = static_cast<MUMPS_INT8>(matrix.value.size());
    id.irn = row_.data();
    id.jcn = column_.data();
    mumps_.analyse(detail::nested_dissection(upper_pattern(matrix)), options_.extra_memory_percent);
    statistics_.ordering = mumps_.ordering();
    value_ = matrix.value;
    id.a = value_.data();
    mumps_.real_control(1) = options_.pivot_threshold;
    mumps_.control(24) = 1;  // looks for null pivots
    mumps_.real_control(3) = -null_pivot;
    mumps_.factorise(options_.extra_memory_percent);
    value_.clear();
    value_.shrink_to_fit();
    id.a = nullptr;
    if (id.infog[27] > 0) throw_singular(id.pivnul_list[0] - 1);
    statistics_.flops = id.rinfog[2];
    statistics_.factor_entries = detail::MumpsInstance::large_number(id.infog[28]);
    statistics_.memory_mb = id.infog[21];
  }
  void do_solve(double* vectors, int columns) override { mumps_.solve(vectors, columns); }

 private:
  /// The graph of the matrix and its transpose together.
  static SymmetricCsr upper_pattern(const GeneralCsr& matrix) {
    std::vector<std::vector<std::int32_t>> rows(static_cast<std::size_t>(matrix.n));
    for (std::int64_t i = 0; i < matrix.n; ++i) {
      rows[static_cast<std::size_t>(i)].push_back(static_cast<std::int32_t>(i));
      for (std::int64_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k) {
        const auto j = matrix.column[k];
        rows[static_cast<std::size_t>(std::min<std::int64_t>(i, j))].push_back(
            static_cast<std::int32_t>(std::max<std::int64_t>(i, j)));
      }
    }
    SymmetricCsr upper;
    upper.n = matrix.n;
    upper.row_start.push_back(0);
    for (auto& row : rows) {
      std::sort(row.begin(), row.end());
      row.erase(std::unique(row.begin(), row.end()), row.end());
      upper.column.insert(upper.column.end(), row.begin(), row.end());
      upper.row_start.push_back(static_cast<std::int64_t>(upper.column.size()));
      row = {};
    }
    return upper;
  }

  detail::MumpsInstance mumps_;
  std::vector<MUMPS_INT> row_, column_;
  std::vector<double> value_;
};

#endif

}  // namespace

GeneralCsr whole_rows(const HostMatrix& matrix, std::span<const std::int32_t> place) {
  const int s = matrix.block_size;
  GeneralCsr a;
  a.row_start.push_back(0);
  for (std::int64_t e = 0; e < matrix.block_rows() * s; ++e) {
    if (place[static_cast<std::size_t>(e)] < 0) continue;
    const std::int64_t row = e / s;
    for (auto b = matrix.row_start[static_cast<std::size_t>(row)];
         b < matrix.row_start[static_cast<std::size_t>(row) + 1]; ++b)
      for (int j = 0; j < s; ++j) {
        const std::int32_t column =
            place[static_cast<std::size_t>(matrix.column[static_cast<std::size_t>(b)]) * static_cast<std::size_t>(s) +
                  static_cast<std::size_t>(j)];
        if (column < 0) continue;
        a.column.push_back(column);
        a.value.push_back(matrix.value[static_cast<std::size_t>((b * s + e % s) * s + j)]);
      }
    a.row_start.push_back(static_cast<std::int64_t>(a.column.size()));
    ++a.n;
  }
  return a;
}

std::unique_ptr<LuFactorization> LuFactorization::make(DirectMethod method, const DirectOptions& options) {
  if (method != DirectMethod::automatic && method != DirectMethod::mumps && method != DirectMethod::eigen)
    throw Error(ErrorCode::bad_input,
                std::string("direct:") + to_string(method) +
                    " factorises symmetric matrices, and this one is not; use direct, direct:mumps or direct:eigen");
  const DirectChoice choice = choose_direct(0, 0, method);
#ifdef VOUSSOIR_HAVE_MUMPS
  if (choice.method == DirectMethod::mumps) return std::make_unique<MumpsLu>(options);
#endif
  return std::make_unique<EigenLu>(options);
}

void LuFactorization::factorise(GeneralCsr matrix) {
  const Stopwatch watch;
  factorised_ = false;
  const auto n = static_cast<std::size_t>(matrix.n);
  row_scale_.assign(n, 1.0);
  std::vector<double> largest(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    double most = 0;
    for (std::int64_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k) {
      if (!std::isfinite(matrix.value[k]))
        throw Error(ErrorCode::not_finite, "an entry of the matrix is not a finite number",
                    "equation " + std::to_string(i));
      most = std::max(most, std::abs(matrix.value[k]));
    }
    if (most == 0) throw_singular(static_cast<std::int64_t>(i));
    row_scale_[i] = scale_of(most);
    for (std::int64_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k) {
      matrix.value[k] *= row_scale_[i];
      largest[matrix.column[k]] = std::max(largest[matrix.column[k]], std::abs(matrix.value[k]));
    }
  }
  column_scale_.resize(n);
  for (std::size_t j = 0; j < n; ++j) {
    if (largest[j] == 0) throw_singular(static_cast<std::int64_t>(j));
    column_scale_[j] = scale_of(largest[j]);
  }
  for (std::size_t k = 0; k < matrix.value.size(); ++k) matrix.value[k] *= column_scale_[matrix.column[k]];
  if (n > 0) do_factorise(matrix);
  factorised_ = true;
  ++statistics_.factorisations;
  statistics_.factorise_seconds = watch.seconds();
}

void LuFactorization::solve(std::span<double> vectors, int columns) {
  const std::size_t n = row_scale_.size();
  if (!factorised_) throw Error(ErrorCode::misuse, "LuFactorization::solve: factorise() has not been called");
  if (columns < 1 || vectors.size() != n * static_cast<std::size_t>(columns))
    throw Error(ErrorCode::misuse, "LuFactorization::solve: " + std::to_string(vectors.size()) + " numbers given for " +
                                       std::to_string(columns) + " columns of " + std::to_string(n));
  if (n == 0) return;
  const Stopwatch watch;
  for (std::size_t k = 0; k < vectors.size(); ++k) vectors[k] *= row_scale_[k % n];
  do_solve(vectors.data(), columns);
  for (std::size_t k = 0; k < vectors.size(); ++k) vectors[k] *= column_scale_[k % n];
  statistics_.solve_seconds = watch.seconds();
}

}  // namespace voussoir
