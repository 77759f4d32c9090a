#ifdef VOUSSOIR_HAVE_MUMPS
#include <dmumps_c.h>

#include <algorithm>
#include <string>
#include <voussoir/backends/error.hpp>
#include <voussoir/solvers/direct/detail/guards.hpp>
#include <voussoir/solvers/direct/detail/methods.hpp>
#include <voussoir/solvers/direct/detail/mumps_instance.hpp>
#include <voussoir/solvers/direct/detail/nested_dissection.hpp>

namespace voussoir::detail {

namespace {

class MumpsFactorization final : public Factorization {
 public:
  explicit MumpsFactorization(const DirectOptions& options)
      : Factorization(options), mumps_(true, options.threads), id_(mumps_.data()) {}

 protected:
  bool eliminates_partially() const override { return true; }

  void do_analyse(const SymmetricCsr& matrix, std::span<const std::int32_t> boundary) override {
    mumps_.restart();
    n_ = matrix.n;
    boundary_.assign(boundary.begin(), boundary.end());
    row_.resize(matrix.column.size());
    column_.resize(matrix.column.size());
    for (std::int64_t i = 0; i < n_; ++i) {
      for (std::int64_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k) {
        row_[k] = static_cast<MUMPS_INT>(i + 1);
        column_[k] = matrix.column[k] + 1;
      }
    }
    id_.n = static_cast<MUMPS_INT>(n_);
    id_.nnz = matrix.entries();
    id_.irn = row_.data();
    id_.jcn = column_.data();
    id_.a = nullptr;

    if (!boundary_.empty()) {
      control(19) = 1;
      schur_variable_.resize(boundary_.size());
      for (std::size_t b = 0; b < boundary_.size(); ++b) schur_variable_[b] = boundary_[b] + 1;
      id_.size_schur = static_cast<MUMPS_INT>(boundary_.size());
      id_.listvar_schur = schur_variable_.data();
    }
    mumps_.analyse(nested_dissection(matrix, boundary), options_.extra_memory_percent);
    statistics_.ordering = mumps_.ordering();
  }

  Pivots do_factorise(const SymmetricCsr& matrix, double small) override {
    value_ = matrix.value;
    id_.a = value_.data();
    real_control(1) = options_.pivot_threshold;
    control(24) = small > 0 ? 1 : 0;  // looks for null pivots
    real_control(3) = -small;         // negative: absolute, since the matrix is equilibrated already
    if (!boundary_.empty()) {
      const std::size_t numbers = boundary_.size() * boundary_.size();
      allocating(static_cast<double>(numbers) * sizeof(double), "a Schur complement",
                 [&] { schur_.assign(numbers, 0.0); });
      id_.schur = schur_.data();
    }
    mumps_.factorise(options_.extra_memory_percent);
    // Its values are of no further use to MUMPS.
    value_.clear();
    value_.shrink_to_fit();
    id_.a = nullptr;

    Pivots pivots;
    const int found = control(24) == 1 ? id_.infog[27] : 0;
    for (int k = 0; k < found; ++k) pivots.small.push_back(id_.pivnul_list[k] - 1);
    pivots.negative = id_.infog[11];
    statistics_.flops = id_.rinfog[2];
    statistics_.factor_entries = MumpsInstance::large_number(id_.infog[28]);
    statistics_.memory_mb = id_.infog[21];
    return pivots;
  }

  void do_solve(double* vectors, int columns) override { mumps_.solve(vectors, columns); }

  std::vector<double> do_schur_complement() override {
    // MUMPS fills one triangle of a symmetric matrix only: the lower one by rows.
    const std::size_t m = boundary_.size();
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < i; ++j) schur_[j * m + i] = schur_[i * m + j];
    }
    // Kept by MUMPS as well, which reads it when it reduces right-hand sides; so a copy is given away.
    return schur_;
  }

  std::vector<double> do_reduce(const double* rhs, int columns) override {
    std::vector<double> vectors(rhs, rhs + n_ * columns);
    std::vector<double> reduced(boundary_.size() * static_cast<std::size_t>(columns), 0.0);
    mumps_.require_room_for_solving(columns);
    control(26) = 1;
    mumps_.right_hand_sides(vectors.data(), columns);
    id_.redrhs = reduced.data();
    id_.lredrhs = static_cast<MUMPS_INT>(boundary_.size());
    const int error = mumps_.call_quietly(3);
    control(26) = 0;
    id_.redrhs = nullptr;
    if (error < 0) mumps_.fail("reduction of loads");
    return reduced;
  }

 private:
  MUMPS_INT& control(int number) { return mumps_.control(number); }
  double& real_control(int number) { return mumps_.real_control(number); }

  MumpsInstance mumps_;
  DMUMPS_STRUC_C& id_;
  std::int64_t n_ = 0;
  std::vector<MUMPS_INT> row_, column_, schur_variable_;
  std::vector<std::int32_t> boundary_;
  std::vector<double> value_, schur_;
};

}  // namespace

std::unique_ptr<Factorization> make_mumps(const DirectOptions& options) {
  return std::make_unique<MumpsFactorization>(options);
}

}  // namespace voussoir::detail
#endif
