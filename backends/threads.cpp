#include <voussoir/backends/threads.hpp>

#include <omp.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <voussoir/backends/error.hpp>

namespace voussoir {
namespace {

int sensible_limit() { return std::max(64, 4 * omp_get_num_procs()); }

/// What OMP_NUM_THREADS asked for in vain; 0 where it was followed.
int refused_wish = 0;
std::mutex wish_mutex;

/// Tries whether so many threads can exist at once, by having them wait for each other.
void require_threads(int threads) {
  std::mutex mutex;
  std::condition_variable changed;
  bool end = false;
  std::vector<std::thread> others;
  const auto finish = [&] {
    {
      const std::lock_guard lock(mutex);
      end = true;
    }
    changed.notify_all();
    for (std::thread& thread : others) thread.join();
  };
  try {
    others.reserve(static_cast<std::size_t>(threads));
    // One more than there will be: what comes with a thread later (its memory pool) finds room as well.
    for (int i = 0; i < threads; ++i)
      others.emplace_back([&] {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return end; });
      });
  } catch (const std::exception& error) {
    const std::size_t had = others.size();
    finish();
    throw Error(ErrorCode::unavailable,
                "the system does not allow this process " + std::to_string(threads) + " threads: " + error.what() +
                    " at thread " + std::to_string(had + 1) +
                    "; request fewer (openmp:N, --threads N, OMP_NUM_THREADS), or raise the limits of memory and "
                    "processes (ulimit -v, ulimit -u)",
                "openmp");
  }
  finish();
}

}  // namespace

int default_threads() {
  const int wish = omp_get_max_threads();
  if (wish <= sensible_limit()) return std::max(wish, 1);
  const std::lock_guard lock(wish_mutex);
  refused_wish = wish;
  omp_set_num_threads(omp_get_num_procs());
  return omp_get_num_procs();
}

std::string default_threads_note() {
  const std::lock_guard lock(wish_mutex);
  if (refused_wish == 0) return {};
  const int processors = omp_get_num_procs();
  return "OMP_NUM_THREADS requests " + std::to_string(refused_wish) + " threads; this machine has " +
         std::to_string(processors) + (processors == 1 ? " processor" : " processors");
}

void start_threads(int threads) {
  static std::mutex mutex;
  static thread_local int started = 1;  // each thread has its own team
  const std::lock_guard lock(mutex);
  if (threads <= started) return;
  require_threads(threads);
#pragma omp parallel num_threads(threads)
  {}
  started = threads;
}

void start_default_threads() {
  try {
    start_threads(default_threads());
  } catch (const Error&) {
    omp_set_num_threads(1);
  }
}

}  // namespace voussoir
