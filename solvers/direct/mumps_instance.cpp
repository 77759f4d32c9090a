#include <voussoir/solvers/direct/detail/mumps_instance.hpp>
#ifdef VOUSSOIR_HAVE_MUMPS

#include <algorithm>
#include <mutex>
#include <string>

#include <voussoir/backends/error.hpp>
#include <voussoir/solvers/direct/detail/blas_threads.hpp>
#include <voussoir/solvers/direct/detail/guards.hpp>

namespace voussoir::detail {

namespace {

std::mutex& mumps_mutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

std::int64_t MumpsInstance::large_number(MUMPS_INT info) {
  return info < 0 ? -static_cast<std::int64_t>(info) * 1000000 : info;
}

MumpsInstance::MumpsInstance(bool symmetric, int threads) : symmetric_(symmetric), threads_(threads) { start(); }
MumpsInstance::~MumpsInstance() { stop(); }

void MumpsInstance::restart() {
  stop();
  start();
}

void MumpsInstance::start() {
  id_ = {};
  id_.sym = symmetric_ ? 2 : 0;
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
  control(16) = threads_;
}

void MumpsInstance::stop() noexcept {
  if (!started_) return;
  const std::lock_guard lock(mumps_mutex());
  id_.job = -2;
  dmumps_c(&id_);
  started_ = false;
}

int MumpsInstance::call_quietly(int job) {
  const std::lock_guard lock(mumps_mutex());
  const BlasThreads threads(job == 2 || job == 3 ? threads_ : 1);
  id_.job = job;
  dmumps_c(&id_);
  return id_.infog[0];
}

void MumpsInstance::call(int job, const char* what) {
  if (call_quietly(job) < 0) fail(what);
}

void MumpsInstance::analyse(const std::vector<std::int32_t>& order, int extra_memory_percent) {
  // Debian's MUMPS is built without METIS, so nested dissection is done outside and handed over where this build has
  // it.
  if (order.empty()) {
    control(7) = 5;  // METIS where MUMPS has it; MUMPS falls back by itself and says to what
  } else {
    control(7) = 1;
    order_.resize(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) order_[order[k]] = static_cast<MUMPS_INT>(k + 1);
    id_.perm_in = order_.data();
  }
  // Its graph, both triangles of it, and the tree of the fronts; and the values later, on their way into the fronts.
  require_room(32.0 * static_cast<double>(id_.nnz) + 400.0 * static_cast<double>(id_.n) + 16e6,
               "the analysis of a matrix of " + std::to_string(id_.n) + " equations by MUMPS");
  analysed_with_ = std::max(extra_memory_percent, 1);
  control(14) = analysed_with_;
  call(1, "analysis");
}

const char* MumpsInstance::ordering() const {
  static constexpr const char* names[] = {"AMD",  "METIS nested dissection", "AMF", "SCOTCH",
                                          "PORD", "METIS nested dissection", "QAMD"};
  const MUMPS_INT used = id_.infog[6];
  return used >= 0 && used <= 6 ? names[used] : "automatic";
}

// What the analysis foresees for the factorisation with so many percent of extra working space, and a margin for what
// it leaves out.
double MumpsInstance::factor_bytes(int extra_percent) const {
  const double foreseen = 1e6 * static_cast<double>(id_.infog[15]);
  return 1.05 * foreseen * (1 + 0.01 * extra_percent) / (1 + 0.01 * analysed_with_) + 16e6;
}

void MumpsInstance::factorise(int extra_memory_percent) {
  int extra = std::max(extra_memory_percent, 1);
  constexpr int attempts = 8;
  for (int attempt = 0;; ++attempt) {
    control(14) = extra;
    require_room(factor_bytes(extra), "the factor of " + std::to_string(id_.n) + " equations");
    const int error = call_quietly(2);
    if (error >= 0) return;
    // Its forecast of working space was too small, which happens when pivots are postponed: ask for more and go on.
    const bool too_little = error == -8 || error == -9 || error == -11 || error == -12 || error == -14 ||
                            error == -15 || error == -17 || error == -20;
    if (!too_little || attempt + 1 == attempts) fail("factorisation");
    extra = 2 * extra + 10;
  }
}

void MumpsInstance::require_room_for_solving(int columns) const {
  require_room(3.0 * sizeof(double) * static_cast<double>(id_.n) * columns + 16e6,
               "the solution of " + std::to_string(id_.n) + " equations");
}

void MumpsInstance::right_hand_sides(double* vectors, int columns) {
  id_.rhs = vectors;
  id_.nrhs = columns;
  id_.lrhs = id_.n;
}

void MumpsInstance::solve(double* vectors, int columns) {
  require_room_for_solving(columns);
  control(26) = 0;
  right_hand_sides(vectors, columns);
  call(3, "solution");
}

void MumpsInstance::fail(const char* what) const {
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
                  "the factor of " + std::to_string(id_.n) +
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
      throw Error(ErrorCode::out_of_memory,
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

}  // namespace voussoir::detail
#endif
