#include <voussoir/engines/petsc/blas_threads.hpp>

#include <cstdlib>

// Null where the BLAS is another one.
extern "C" {
void openblas_set_num_threads(int) __attribute__((weak));
int openblas_get_num_threads(void) __attribute__((weak));
int openblas_get_parallel(void) __attribute__((weak));
}

namespace voussoir::petsc {
namespace {

constexpr int threads_of_openmp = 2;  // what openblas_get_parallel() says then

}  // namespace

BlasThreads::BlasThreads(int most) {
  if (!openblas_set_num_threads || !openblas_get_num_threads || !openblas_get_parallel) return;
  if (openblas_get_parallel() == threads_of_openmp || std::getenv("OPENBLAS_NUM_THREADS")) return;
  const int present = openblas_get_num_threads();
  if (present <= most) return;
  before_ = present;
  openblas_set_num_threads(most);
}

BlasThreads::~BlasThreads() {
  if (before_ > 0) openblas_set_num_threads(before_);
}

}  // namespace voussoir::petsc
