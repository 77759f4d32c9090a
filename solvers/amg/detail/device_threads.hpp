#pragma once
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include <voussoir/backends/divided_multigrid.hpp>

namespace voussoir::detail {

/// Threads that set up the levels of several devices at the same time, where the backend permits it: one for each
/// device, that of the first device being the caller's. They live as long as this object.
class DeviceThreads {
 public:
  DeviceThreads(const DividedMultigrid& services, int devices)
      : devices_(devices), failed_(static_cast<std::size_t>(devices)) {
    if (!services.devices_at_once()) return;
    try {
      for (int d = 1; d < devices; ++d) threads_.emplace_back([this, d] { work(d); });
    } catch (...) {
      close();
      throw;
    }
  }
  ~DeviceThreads() { close(); }
  DeviceThreads(const DeviceThreads&) = delete;
  DeviceThreads& operator=(const DeviceThreads&) = delete;

  /// action(device) for all devices; returns when all have ended. Of several exceptions, that of the first device is
  /// passed on.
  void run(const std::function<void(int)>& action) {
    if (threads_.empty()) {
      for (int d = 0; d < devices_; ++d) action(d);
      return;
    }
    {
      const std::lock_guard lock(mutex_);
      action_ = &action;
      working_ = static_cast<int>(threads_.size());
      ++round_;
    }
    begun_.notify_all();
    attempt(0);
    {
      std::unique_lock lock(mutex_);
      ended_.wait(lock, [&] { return working_ == 0; });
    }
    std::exception_ptr first;
    for (std::exception_ptr& f : failed_) {
      if (f && !first) first = f;
      f = nullptr;
    }
    if (first) std::rethrow_exception(first);
  }

 private:
  /// Lets the threads end, which are joined when they are destroyed.
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    begun_.notify_all();
  }
  void work(int device) {
    std::int64_t done = 0;
    while (true) {
      {
        std::unique_lock lock(mutex_);
        begun_.wait(lock, [&] { return closing_ || round_ != done; });
        if (closing_) return;
        done = round_;
      }
      attempt(device);
      const std::lock_guard lock(mutex_);
      if (--working_ == 0) ended_.notify_one();
    }
  }
  void attempt(int device) {
    try {
      (*action_)(device);
    } catch (...) {
      failed_[static_cast<std::size_t>(device)] = std::current_exception();
    }
  }

  int devices_;
  std::mutex mutex_;
  std::condition_variable begun_, ended_;
  const std::function<void(int)>* action_ = nullptr;
  std::int64_t round_ = 0;  // counts calls of run()
  int working_ = 0;         // threads that have not ended this round
  bool closing_ = false;
  std::vector<std::exception_ptr> failed_;
  std::vector<std::jthread> threads_;  // empty where devices are set up one after another
};

}  // namespace voussoir::detail
