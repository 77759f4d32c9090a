#ifdef VOUSSOIR_HAVE_MUMPS
#include <dmumps_c.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <voussoir/backends/error.hpp>
#include <voussoir/solvers/direct/detail/blas_threads.hpp>
#include <voussoir/solvers/direct/detail/guards.hpp>
#include <voussoir/solvers/direct/detail/methods.hpp>
#include <voussoir/solvers/direct/detail/nested_dissection.hpp>

namespace voussoir::detail {

namespace {

// MUMPS' Fortran modules keep state that all instances share, so only one call may run at a time.
std::mutex& mumps_mutex() {
  static std::mutex mutex;
  return mutex;
}

std::int64_t large_number(MUMPS_INT info) {
  // MUMPS gives counts that do not fit as minus the number of millions.
  return info < 0 ? -static_cast<std::int64_t>(info) * 1000000 : info;
}

class MumpsFactorization final : public Factorization {
 public:
  explicit MumpsFactorization(const DirectOptions& options) : Factorization(options) { start(); }
  ~MumpsFactorization() override { stop(); }

 protected:
  bool eliminates_partially() const override { return true; }

  void do_analyse(const SymmetricCsr& matrix, std::span<const std::int32_t> boundary) override {
    // A fresh instance, because MUMPS remembers pivot lists and Schur settings of the last one.
    stop();
    start();
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

    // Debian's MUMPS is built without METIS, so nested dissection is done here and handed over where this build has it.
    const std::vector<std::int32_t> order = nested_dissection(matrix, boundary);
    if (order.empty()) {
      control(7) = 5;  // METIS where MUMPS has it; MUMPS falls back by itself and says to what
    } else {
      control(7) = 1;
      order_.resize(order.size());
      for (std::size_t k = 0; k < order.size(); ++k) order_[order[k]] = static_cast<MUMPS_INT>(k + 1);
      id_.perm_in = order_.data();
    }
    if (!boundary_.empty()) {
      control(19) = 1;
      schur_variable_.resize(boundary_.size());
      for (std::size_t b = 0; b < boundary_.size(); ++b) schur_variable_[b] = boundary_[b] + 1;
      id_.size_schur = static_cast<MUMPS_INT>(boundary_.size());
      id_.listvar_schur = schur_variable_.data();
    }
    // Its graph, both triangles of it, and the tree of the fronts; and the values later, on their way into the fronts.
    require_room(32.0 * static_cast<double>(matrix.entries()) + 400.0 * static_cast<double>(n_) + 16e6,
                 "the analysis of a matrix of " + std::to_string(n_) + " equations by MUMPS");
    control(14) = std::max(options_.extra_memory_percent, 1);
    call(1, "analysis");
    static constexpr const char* names[] = {"AMD",  "METIS nested dissection", "AMF", "SCOTCH",
                                            "PORD", "METIS nested dissection", "QAMD"};
    const MUMPS_INT used = id_.infog[6];
    statistics_.ordering = used >= 0 && used <= 6 ? names[used] : "automatic";
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
    int extra = std::max(options_.extra_memory_percent, 1);
    constexpr int attempts = 8;
    for (int attempt = 0;; ++attempt) {
      control(14) = extra;
      require_room(factor_bytes(extra), "the factor of " + std::to_string(n_) + " equations");
      const int error = call_quietly(2);
      if (error >= 0) break;
      // Its forecast of working space was too small, which happens when pivots are postponed: ask for more and go on.
      const bool too_little = error == -8 || error == -9 || error == -11 || error == -12 || error == -14 ||
                              error == -15 || error == -17 || error == -20;
      if (!too_little || attempt + 1 == attempts) fail("factorisation");
      extra = 2 * extra + 10;
    }
    // Its values are of no further use to MUMPS.
    value_.clear();
    value_.shrink_to_fit();
    id_.a = nullptr;

    Pivots pivots;
    const int found = control(24) == 1 ? id_.infog[27] : 0;
    for (int k = 0; k < found; ++k) pivots.small.push_back(id_.pivnul_list[k] - 1);
    pivots.negative = id_.infog[11];
    statistics_.flops = id_.rinfog[2];
    statistics_.factor_entries = large_number(id_.infog[28]);
    statistics_.memory_mb = id_.infog[21];
    return pivots;
  }

  void do_solve(double* vectors, int columns) override {
    require_room_for_solving(columns);
    control(26) = 0;
    right_hand_sides(vectors, columns);
    call(3, "solution");
  }

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
    require_room_for_solving(columns);
    control(26) = 1;
    right_hand_sides(vectors.data(), columns);
    id_.redrhs = reduced.data();
    id_.lredrhs = static_cast<MUMPS_INT>(boundary_.size());
    const int error = call_quietly(3);
    control(26) = 0;
    id_.redrhs = nullptr;
    if (error < 0) fail("reduction of loads");
    return reduced;
  }

 private:
  MUMPS_INT& control(int number) { return id_.icntl[number - 1]; }
  double& real_control(int number) { return id_.cntl[number - 1]; }

  /// What the analysis foresees for the factorisation with so many percent of extra working space, and a margin for
  /// what it leaves out.
  double factor_bytes(int extra_percent) const {
    const double foreseen = 1e6 * static_cast<double>(id_.infog[15]);
    const double analysed_with = 1 + 0.01 * std::max(options_.extra_memory_percent, 1);
    return 1.05 * foreseen * (1 + 0.01 * extra_percent) / analysed_with + 16e6;
  }

  void require_room_for_solving(int columns) const {
    require_room(3.0 * sizeof(double) * static_cast<double>(n_) * columns + 16e6,
                 "the solution of " + std::to_string(n_) + " equations");
  }

  void right_hand_sides(double* vectors, int columns) {
    id_.rhs = vectors;
    id_.nrhs = columns;
    id_.lrhs = static_cast<MUMPS_INT>(n_);
  }

  void start() {
    id_ = {};
    id_.sym = 2;
    id_.par = 1;
    id_.comm_fortran = -987654;  // MUMPS' own name for the communicator of a sequential program
    call(-1, "start");
    started_ = true;
    control(1) = control(2) = control(3) = -1;  // prints nothing
    control(4) = 0;
    control(6) = 0;  // no matching, no scaling: the matrix comes equilibrated, and values are not there at the analysis
    control(8) = 0;
    control(12) = 1;
    control(13) = 1;  // no parallel root, which would hide its inertia
    control(16) = options_.threads;
  }

  void stop() noexcept {
    if (!started_) return;
    const std::lock_guard lock(mumps_mutex());
    id_.job = -2;
    dmumps_c(&id_);
    started_ = false;
  }

  int call_quietly(int job) {
    const std::lock_guard lock(mumps_mutex());
    const BlasThreads threads(job == 2 || job == 3 ? options_.threads : 1);
    id_.job = job;
    dmumps_c(&id_);
    return id_.infog[0];
  }

  void call(int job, const char* what) {
    if (call_quietly(job) < 0) fail(what);
  }

  [[noreturn]] void fail(const char* what) const {
    const int error = id_.infog[0], detail = id_.infog[1];
    const std::string where = std::string("MUMPS, ") + what;
    const std::string numbers = " (MUMPS error " + std::to_string(error) + ", detail " + std::to_string(detail) + ")";
    switch (error) {
      case -5:
      case -7:
      case -13:
      case -19:
      case -22:
        throw Error(ErrorCode::out_of_memory,
                    "the factor of " + std::to_string(n_) +
                        " equations does not fit in memory; use the CG solver, a coarser mesh, or a machine with more" +
                        numbers,
                    where);
      case -8:
      case -9:
      case -11:
      case -12:
      case -14:
      case -15:
      case -17:
      case -20:
        throw Error(
            ErrorCode::out_of_memory,
            "the workspace was too small even after it was increased several times; set extra_memory_percent to "
            "several hundred or use the CG solver" +
                numbers,
            where);
      case -6:
      case -10:
        throw Error(ErrorCode::singular,
                    "the matrix is singular: restrain the model and give every node stiffness" + numbers, where);
      default:
        throw Error(ErrorCode::internal,
                    "MUMPS failed; use the direct method eigen instead, and please report this" + numbers, where);
    }
  }

  DMUMPS_STRUC_C id_{};
  bool started_ = false;
  std::int64_t n_ = 0;
  std::vector<MUMPS_INT> row_, column_, order_, schur_variable_;
  std::vector<std::int32_t> boundary_;
  std::vector<double> value_, schur_;
};

}  // namespace

std::unique_ptr<Factorization> make_mumps(const DirectOptions& options) {
  return std::make_unique<MumpsFactorization>(options);
}

}  // namespace voussoir::detail
#endif
