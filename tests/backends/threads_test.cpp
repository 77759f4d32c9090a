#include <voussoir/backends/threads.hpp>

#include <gtest/gtest.h>
#include <omp.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>

#include <voussoir/backends/backend.hpp>

namespace voussoir {
namespace {

TEST(Threads, FollowOpenMpWhereItsNumberIsPossible) {
  std::thread([] {
    omp_set_num_threads(3);
    EXPECT_EQ(default_threads(), 3);
    EXPECT_EQ(default_threads_note(), "");
  }).join();
}

TEST(Threads, AreThoseOfTheProcessorsWhereMoreAreAskedForThanMakeSense) {
  const pid_t child = ::fork();  // what was refused is remembered by the process
  if (child == 0) {
    omp_set_num_threads(100000);
    const bool right = default_threads() == omp_get_num_procs() && omp_get_max_threads() == omp_get_num_procs() &&
                       default_threads_note().find("100000 threads") != std::string::npos;
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(Threads, ThatTheSystemDoesNotGiveAreAnError) {
  const pid_t child = ::fork();
  if (child == 0) {
    rlimit limit{};
    limit.rlim_cur = limit.rlim_max = std::size_t{1} << 30;  // the stacks of 900 threads take 7 GB
    ::setrlimit(RLIMIT_AS, &limit);
    try {
      start_threads(900);
    } catch (const Error& error) {
      const std::string text = error.what();
      const bool right = error.code() == ErrorCode::unavailable && text.find("900 threads") != std::string::npos &&
                         text.find("request fewer") != std::string::npos;
      ::_exit(right ? 0 : 2);
    }
    ::_exit(1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}
#endif

}  // namespace
}  // namespace voussoir
