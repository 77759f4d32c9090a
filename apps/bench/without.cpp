#include <voussoir/apps/bench/bench.hpp>
#include <voussoir/backends/error.hpp>

// In place of all other sources of this folder where the program is built without benchmarks.

namespace voussoir::app {

void run_bench(BenchOptions) {
  throw Error(ErrorCode::unavailable,
              "this program was built without its benchmarks, as `make demo` builds it; `make program` builds it with "
              "them (CMake: -DVOUSSOIR_BENCH=ON)");
}

}  // namespace voussoir::app
