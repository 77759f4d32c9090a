#include <voussoir/jobs/detail/background_work.hpp>

#include <omp.h>
#include <signal.h>

#include <system_error>
#include <utility>

#include <voussoir/backends/threads.hpp>

namespace voussoir::detail {

BackgroundWork::~BackgroundWork() {
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void BackgroundWork::begin(std::function<void()> work) {
  check();
  if (!thread_.joinable() && !start_thread()) {
    perform(work);
    return check();
  }
  {
    const std::lock_guard lock(mutex_);
    work_ = std::move(work);
  }
  changed_.notify_all();
}

void BackgroundWork::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !work_; });
}

bool BackgroundWork::has_failed() const {
  const std::lock_guard lock(mutex_);
  return failure_ != nullptr;
}

void BackgroundWork::check() {
  wait();
  const std::lock_guard lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
}

/// Signals go to the threads of the program, which knows what to do with them.
bool BackgroundWork::start_thread() {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  // OpenMP keeps the number of threads of each thread by itself; a new one would take that of the environment.
  const int threads = omp_get_max_threads();
  try {
    thread_ = std::thread([this, threads] {
      omp_set_num_threads(threads);
      start_default_threads();
      run();
    });
  } catch (const std::system_error&) {
    // The limit of processes is reached.
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread_.joinable();
}

void BackgroundWork::perform(const std::function<void()>& work) {
  std::exception_ptr thrown;
  try {
    work();
  } catch (...) {  // thrown again by check()
    thrown = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  failure_ = thrown;
}

void BackgroundWork::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return work_ || end_; });
    if (!work_) return;
    std::function<void()>& work = work_;  // stays here until it has ended, so that wait() knows
    lock.unlock();
    perform(work);
    lock.lock();
    // Release what the piece captured before waiting threads see that it has ended.
    work_ = nullptr;
    changed_.notify_all();
  }
}

}  // namespace voussoir::detail
