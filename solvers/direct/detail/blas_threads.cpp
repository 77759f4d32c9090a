#include <voussoir/solvers/direct/detail/blas_threads.hpp>
#ifdef VOUSSOIR_HAVE_MUMPS
#include <omp.h>

#include <algorithm>
#include <string>
#include <vector>
#include <voussoir/solvers/direct/blas_memory.hpp>
#include <voussoir/solvers/direct/detail/guards.hpp>

// Present where the BLAS is OpenBLAS; with another one the number of threads is left alone.
extern "C" {
void openblas_set_num_threads(int) __attribute__((weak));
int openblas_get_num_threads(void) __attribute__((weak));
int openblas_get_parallel(void) __attribute__((weak));
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
            const double*, const int*, const double*, double*, const int*) __attribute__((weak));
}

namespace voussoir::detail {

namespace {

/// The number to which openblas_set_num_threads() is set back. Where OpenBLAS uses OpenMP (2), that function also sets
/// the number of threads of OpenMP, which OpenBLAS follows and which others in this process use.
int present_threads() {
  const bool uses_openmp = openblas_get_parallel != nullptr && openblas_get_parallel() == 2;
  return uses_openmp ? omp_get_max_threads() : openblas_get_num_threads();
}

/// Threads whose working memory OpenBLAS has. Used under the lock of MUMPS.
int ready = 0;

/// Makes OpenBLAS start its threads and take their memory.
void prepare(int threads) {
  if (threads <= ready || dgemm_ == nullptr) return;
  require_room((threads - ready + 1) * blas_bytes_per_thread(),
               "OpenBLAS with " + std::to_string(threads) + (threads == 1 ? " thread" : " threads"));
  openblas_set_num_threads(threads);
  const int n = 128 + 64 * std::min(threads, 8);  // large enough to be shared out
  const std::vector<double> a(static_cast<std::size_t>(n) * n, 1.0);
  std::vector<double> c(a.size());
  const double one = 1, zero = 0;
  dgemm_("N", "N", &n, &n, &n, &one, a.data(), &n, a.data(), &n, &zero, c.data(), &n);
  ready = threads;
}

}  // namespace

BlasThreads::BlasThreads(int wanted) {
  if (openblas_set_num_threads == nullptr || openblas_get_num_threads == nullptr) return;
  const int before = present_threads();
  prepare(wanted > 0 ? wanted : before);
  if (wanted <= 0) return;
  before_ = before;
  openblas_set_num_threads(wanted);
}

BlasThreads::~BlasThreads() {
  if (before_ > 0) openblas_set_num_threads(before_);
}

}  // namespace voussoir::detail
#endif
