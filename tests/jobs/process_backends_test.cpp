#include <gtest/gtest.h>
#include <omp.h>

#include <cstdlib>
#include <string>

#include <voussoir/backends/error.hpp>
#include <voussoir/jobs/process_job.hpp>

// Backends and threads of the processes of one job.

namespace voussoir {
namespace {

/// OMP_NUM_THREADS and the number of threads as they were, at the end of a test.
class ProcessBackends : public ::testing::Test {
 protected:
  ProcessBackends() : given_(std::getenv("OMP_NUM_THREADS") ? std::getenv("OMP_NUM_THREADS") : "") {
    unsetenv("OMP_NUM_THREADS");
  }
  ~ProcessBackends() override {
    if (!given_.empty()) setenv("OMP_NUM_THREADS", given_.c_str(), 1);
    omp_set_num_threads(threads_);
  }

 private:
  std::string given_;
  int threads_ = omp_get_max_threads();
};

ProcessPlacement place(int processors, int sharers) {
  ProcessPlacement placement;
  placement.processors = processors;
  placement.sharers = sharers;
  placement.position = 3;
  return placement;
}

TEST_F(ProcessBackends, HaveTheProcessorsOfTheProcess) {
  EXPECT_EQ(process_backend("auto", place(16, 1)), "openmp:16");
  EXPECT_EQ(process_backend("openmp", place(16, 5)), "openmp:3");
  EXPECT_EQ(process_backend("openmp", place(2, 8)), "openmp:1");
  EXPECT_EQ(process_backend("openmp:7", place(16, 4)), "openmp:7");
  EXPECT_EQ(process_backend("cuda", place(16, 4)), "cuda:process=3");
  setenv("OMP_NUM_THREADS", "6", 1);
  EXPECT_EQ(process_backend("auto", place(16, 4)), "openmp");
}

TEST_F(ProcessBackends, AreTakenFromAListInTurn) {
  EXPECT_EQ(backend_in_list("cuda", 5), "cuda");
  EXPECT_EQ(backend_in_list("cuda/openmp:2", 4), "cuda");
  EXPECT_EQ(backend_in_list("cuda/openmp:2", 5), "openmp:2");
  EXPECT_THROW(backend_in_list("cuda/", 1), Error);
}

TEST_F(ProcessBackends, WorkOfTheHostSharesTheProcessors) {
  const int all = omp_get_num_procs();
  const auto after = [&](int threads, const ProcessPlacement& placement) {
    omp_set_num_threads(threads);
    share_processors(placement);
    return omp_get_max_threads();
  };
  EXPECT_EQ(after(all, place(12, 4)), 3);
  EXPECT_EQ(after(all, place(2, 5)), 1);
  EXPECT_EQ(after(all + 1, place(12, 4)), all + 1) << "as the user says";
  setenv("OMP_NUM_THREADS", "6", 1);
  EXPECT_EQ(after(all, place(12, 4)), all) << "as the user says";
}

}  // namespace
}  // namespace voussoir
