// Compiled only where the build asks for it: CHOLMOD's supernodal part is under the GPL, and a program that links it
// must follow that licence.
#ifdef VOUSSOIR_HAVE_CHOLMOD
#if __has_include(<suitesparse/cholmod.h>)
#include <suitesparse/cholmod.h>
#else
#include <cholmod.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <voussoir/backends/error.hpp>
#include <voussoir/solvers/direct/detail/methods.hpp>
#include <voussoir/solvers/direct/detail/nested_dissection.hpp>

namespace voussoir::detail {

namespace {

using Long = std::int64_t;  // what CHOLMOD calls SuiteSparse_long

class CholmodFactorization final : public Factorization {
 public:
  explicit CholmodFactorization(const DirectOptions& options) : Factorization(options) {
    cholmod_l_start(&common_);
    common_.print = 0;
    common_.error_handler = nullptr;
  }
  ~CholmodFactorization() override {
    if (factor_ != nullptr) cholmod_l_free_factor(&factor_, &common_);
    cholmod_l_finish(&common_);
  }

 protected:
  void do_analyse(const SymmetricCsr& matrix, std::span<const std::int32_t>) override {
    start_.assign(matrix.row_start.begin(), matrix.row_start.end());
    row_.assign(matrix.column.begin(), matrix.column.end());
    value_ = matrix.value;
    n_ = matrix.n;
    const std::vector<std::int32_t> order = nested_dissection(matrix);
    order_.assign(order.begin(), order.end());
    statistics_.ordering = order_.empty() ? "CHOLMOD's choice" : "METIS nested dissection";
    lay_out(CHOLMOD_AUTO);
  }

  Pivots do_factorise(const SymmetricCsr& matrix, double small) override {
    std::copy(matrix.value.begin(), matrix.value.end(), value_.begin());
    cholmod_sparse a = view();
    cholmod_l_factorize(&a, factor_, &common_);
    if (common_.status == CHOLMOD_NOT_POSDEF && factor_->is_ll) {
      // The supernodal method knows positive pivots only. The other one takes them as they come, and is kept from now
      // on.
      lay_out(CHOLMOD_SIMPLICIAL);
      cholmod_l_factorize(&a, factor_, &common_);
    }
    if (common_.status < CHOLMOD_OK) fail("factorisation");

    Pivots pivots;
    pivots.complete = common_.status != CHOLMOD_NOT_POSDEF && static_cast<std::int64_t>(factor_->minor) >= n_;
    const Long* equation = static_cast<const Long*>(factor_->Perm);
    const double* x = static_cast<const double*>(factor_->x);
    const std::int64_t end =
        pivots.complete ? n_ : std::min<std::int64_t>(n_, static_cast<std::int64_t>(factor_->minor) + 1);
    const auto look_at = [&](std::int64_t column, double pivot) {
      if (column >= end) return;
      const bool stopped = !pivots.complete && column == end - 1;
      if (stopped || std::abs(pivot) <= small) pivots.small.push_back(static_cast<std::int32_t>(equation[column]));
      pivots.negative += pivot < 0;
    };
    if (factor_->is_super) {
      const Long* super = static_cast<const Long*>(factor_->super);
      const Long* rows = static_cast<const Long*>(factor_->pi);
      const Long* values = static_cast<const Long*>(factor_->px);
      for (std::size_t s = 0; s < factor_->nsuper; ++s) {
        const Long height = rows[s + 1] - rows[s];
        for (Long k = super[s]; k < super[s + 1]; ++k) {
          const double root = x[values[s] + (k - super[s]) * (height + 1)];
          look_at(k, root * root);
        }
      }
      statistics_.factor_entries = static_cast<std::int64_t>(factor_->xsize);
    } else {
      const Long* start = static_cast<const Long*>(factor_->p);
      for (std::int64_t k = 0; k < end; ++k) {
        const double first = x[start[k]];
        look_at(k, factor_->is_ll ? first * first : first);
      }
      statistics_.factor_entries = static_cast<std::int64_t>(common_.lnz);
    }
    statistics_.flops = common_.fl;
    statistics_.memory_mb = static_cast<double>(common_.memory_usage) / 1e6;
    return pivots;
  }

  void do_solve(double* vectors, int columns) override {
    cholmod_dense b{};
    b.nrow = b.d = static_cast<std::size_t>(n_);
    b.ncol = static_cast<std::size_t>(columns);
    b.nzmax = b.nrow * b.ncol;
    b.x = vectors;
    b.xtype = CHOLMOD_REAL;
    b.dtype = CHOLMOD_DOUBLE;
    cholmod_dense* x = cholmod_l_solve(CHOLMOD_A, factor_, &b, &common_);
    if (x == nullptr) fail("solution");
    const double* from = static_cast<const double*>(x->x);
    std::copy(from, from + n_ * columns, vectors);
    cholmod_l_free_dense(&x, &common_);
  }

 private:
  // The rows of an upper triangle are the columns of a lower one.
  cholmod_sparse view() {
    cholmod_sparse a{};
    a.nrow = a.ncol = static_cast<std::size_t>(n_);
    a.nzmax = value_.size();
    a.p = start_.data();
    a.i = row_.data();
    a.x = value_.data();
    a.stype = -1;
    a.itype = CHOLMOD_LONG;
    a.xtype = CHOLMOD_REAL;
    a.dtype = CHOLMOD_DOUBLE;
    a.sorted = 1;
    a.packed = 1;
    return a;
  }

  void lay_out(int kind) {
    if (factor_ != nullptr) cholmod_l_free_factor(&factor_, &common_);
    common_.supernodal = kind;
    common_.final_ll = 0;
    cholmod_sparse a = view();
    if (order_.empty()) {
      factor_ = cholmod_l_analyze(&a, &common_);
    } else {
      common_.nmethods = 1;
      common_.method[0].ordering = CHOLMOD_GIVEN;
      factor_ = cholmod_l_analyze_p(&a, order_.data(), nullptr, 0, &common_);
    }
    if (factor_ == nullptr || common_.status < CHOLMOD_OK) fail("analysis");
  }

  [[noreturn]] void fail(const char* what) const {
    const std::string where = std::string("CHOLMOD, ") + what;
    const std::string number = " (CHOLMOD status " + std::to_string(common_.status) + ")";
    if (common_.status == CHOLMOD_OUT_OF_MEMORY || common_.status == CHOLMOD_TOO_LARGE) {
      throw Error(ErrorCode::out_of_memory,
                  "the factor of " + std::to_string(n_) +
                      " equations does not fit in memory; use the CG solver, a coarser mesh, or a machine with more" +
                      number,
                  where);
    }
    throw Error(ErrorCode::internal,
                "CHOLMOD failed; use the direct method eigen instead, and please report this" + number, where);
  }

  cholmod_common common_{};
  cholmod_factor* factor_ = nullptr;
  std::int64_t n_ = 0;
  std::vector<Long> start_, row_, order_;
  std::vector<double> value_;
};

}  // namespace

std::unique_ptr<Factorization> make_cholmod(const DirectOptions& options) {
  return std::make_unique<CholmodFactorization>(options);
}

}  // namespace voussoir::detail
#endif
