#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <random>
#include <set>

#include <voussoir/backends/error.hpp>
#include <voussoir/solvers/direct/band.hpp>
#include <voussoir/solvers/direct/factorization.hpp>
#include <voussoir/solvers/direct/profile.hpp>

#include "direct_matrices.hpp"

namespace voussoir::test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool memory_is_watched = true;  // sanitizers need far more addresses than they use
#else
constexpr bool memory_is_watched = false;
#endif

/// While it lives, the process gets no more than so many bytes on top of what it has.
class MemoryLimit {
 public:
  explicit MemoryLimit(std::size_t more) {
    getrlimit(RLIMIT_AS, &before_);
    std::size_t pages = 0;
    if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
      if (std::fscanf(file, "%zu", &pages) != 1) pages = 0;
      std::fclose(file);
    }
    rlimit now = before_;
    now.rlim_cur = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + more;
    setrlimit(RLIMIT_AS, &now);
  }
  ~MemoryLimit() { setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

/// Seven-point differences on a cube of n³ points.
SymmetricCsr laplacian_of_a_cube(std::int64_t n) {
  Builder builder(n * n * n);
  const auto at = [n](std::int64_t i, std::int64_t j, std::int64_t k) { return i + n * (j + n * k); };
  for (std::int64_t k = 0; k < n; ++k)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i) {
        builder.add(at(i, j, k), at(i, j, k), 6.5);
        if (i + 1 < n) builder.add(at(i, j, k), at(i + 1, j, k), -1);
        if (j + 1 < n) builder.add(at(i, j, k), at(i, j + 1, k), -1);
        if (k + 1 < n) builder.add(at(i, j, k), at(i, j, k + 1), -1);
      }
  return builder.matrix();
}

/// The text of the out_of_memory that `work` must throw.
template <class Work>
std::string out_of_memory_text(Work work) {
  try {
    const MemoryLimit limit(std::size_t{256} << 20);
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
    return error.text();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "not an Error: " << error.what();
    return {};
  }
  ADD_FAILURE() << "no error";
  return {};
}

TEST(DirectMemory, ABandThatDoesNotFitSaysHowMuchItWants) {
  if (memory_is_watched) GTEST_SKIP() << "not under a sanitizer";
  // 10⁵ rows of 5·10⁴ + 1 numbers of 8 bytes: 4·10¹⁰ bytes.
  EXPECT_NE(out_of_memory_text([] { BandMatrix(100000, 50000); }).find("4e+04 MB"), std::string::npos);
  // More than a vector can hold.
  EXPECT_NE(out_of_memory_text([] { BandMatrix(2000000000, 1999999999); }).find("MB"), std::string::npos);
}

TEST(DirectMemory, AProfileThatDoesNotFitSaysHowMuchItWants) {
  if (memory_is_watched) GTEST_SKIP() << "not under a sanitizer";
  // Full columns: n (n + 1) / 2 numbers, 4·10¹⁰ bytes for n = 10⁵.
  EXPECT_NE(out_of_memory_text([] { ProfileMatrix(std::vector<std::int32_t>(100000, 0)); }).find("4e+04 MB"),
            std::string::npos);
}

TEST(DirectMemory, ASchurComplementThatDoesNotFitSaysHowMuchItWants) {
  if (memory_is_watched) GTEST_SKIP() << "not under a sanitizer";
  // 5·10⁴ boundary equations: 2.5·10⁹ numbers, 2·10¹⁰ bytes, whatever the method.
  Builder builder(50000);
  std::vector<std::int32_t> boundary;
  for (std::int32_t i = 0; i < 50000; ++i) {
    builder.add(i, i, 1);
    boundary.push_back(i);
  }
  const SymmetricCsr unit = builder.matrix();
  const auto factor = Factorization::make(DirectMethod::eigen);
  factor->analyse(unit, boundary);
  EXPECT_NE(out_of_memory_text([&] { factor->factorise(unit); }).find("2e+04 MB"), std::string::npos);
}

TEST(DirectMemory, AFactorThatDoesNotFitSaysSo) {
  if (memory_is_watched) GTEST_SKIP() << "not under a sanitizer";
  // A random graph has no small separators, so no order keeps its factor sparse.
  constexpr std::int64_t n = 20000;
  std::mt19937 random(1);
  Builder builder(n);
  for (std::int64_t i = 0; i < n; ++i) {
    builder.add(i, i, 20);
    std::set<std::int64_t> others;
    while (others.size() < 4) others.insert(static_cast<std::int64_t>(random() % n));
    for (std::int64_t j : others)
      if (j != i) builder.add(std::min(i, j), std::max(i, j), -1);
  }
  const SymmetricCsr matrix = builder.matrix();
  const std::string text = out_of_memory_text([&] { Factorization::make(DirectMethod::eigen)->factorise(matrix); });
  EXPECT_NE(text.find(" MB) in the factor"), std::string::npos) << text;
}

// What MUMPS, METIS and OpenBLAS need is asked for before they start: they crash or try for ever without it.
TEST(DirectMemory, MumpsIsRefusedBeforeItRunsOutOfMemory) {
  if (memory_is_watched) GTEST_SKIP() << "not under a sanitizer";
  if (!why_unavailable(DirectMethod::mumps).empty()) GTEST_SKIP() << why_unavailable(DirectMethod::mumps);
  const SymmetricCsr matrix = laplacian_of_a_cube(40);
  for (const int megabytes : {1, 10, 30, 60, 90}) {
    try {
      const MemoryLimit limit(static_cast<std::size_t>(megabytes) << 20);
      DirectOptions options;
      options.threads = 2;
      Factorization::make(DirectMethod::mumps, options)->factorise(matrix);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << megabytes << " MB: " << error.what();
    }
  }
  const std::string text = out_of_memory_text([&] {
    const MemoryLimit limit(std::size_t{60} << 20);
    Factorization::make(DirectMethod::mumps)->factorise(laplacian_of_a_cube(60));
  });
  EXPECT_FALSE(text.empty());
}

// METIS catches SIGTERM while it works. The process must get it all the same.
TEST(DirectSignals, TerminationDuringAnOrderingIsNotLost) {
  const SymmetricCsr matrix = laplacian_of_a_cube(60);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto factor = Factorization::make(DirectMethod::eigen);
    while (true) factor->analyse(matrix);
  }
  ::usleep(700000);
  ::kill(child, SIGTERM);
  int status = 0;
  bool ended = false;
  for (int i = 0; i < 200 && !ended; ++i) {
    ::usleep(50000);
    ended = ::waitpid(child, &status, WNOHANG) == child;
  }
  if (!ended) {
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
  }
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
}

}  // namespace
}  // namespace voussoir::test
