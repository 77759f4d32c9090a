// One part runs out of memory while other threads eliminate others.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/condensation_services.hpp>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define VSR_KEEPS_OPERATOR_NEW 1
#else
#define VSR_KEEPS_OPERATOR_NEW 0
#endif

namespace {
std::atomic<std::size_t> refused{0};  // a size that cannot be allocated; 0: all can
}  // namespace

#if !VSR_KEEPS_OPERATOR_NEW
void* operator new(std::size_t size) {
  void* const memory = size == refused && size > 0 ? nullptr : std::malloc(size > 0 ? size : 1);
  if (!memory) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace voussoir {
namespace {

TEST(CpuCondensation, ThrowsOutsideTheThreadsIfMemoryRunsOut) {
  if (VSR_KEEPS_OPERATOR_NEW) GTEST_SKIP() << "a sanitizer has its own operator new";
  std::vector<PartSystem> parts(6);
  for (PartSystem& part : parts) {
    part.interior = 100;
    part.boundary = 30;
    for (std::int32_t i = 0; i < 130; ++i) {
      part.row_start.push_back(i);
      part.column.push_back(i);
      part.value.push_back(2);
    }
    part.row_start.push_back(130);
  }
  const auto backend = Backend::open("openmp:3");
  auto& services = backend->service<CondensationServices>();
  // 128 and 64 rows with padding, of which 64 columns are held while a block is eliminated.
  refused = (128 + 64) * 64 * sizeof(double);
  EXPECT_THROW(services.condense(*backend, parts), std::bad_alloc);
  refused = 0;
  EXPECT_EQ(services.condense(*backend, parts)->schur_complement(5).front(), 2);
}

}  // namespace
}  // namespace voussoir
