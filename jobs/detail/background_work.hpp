#pragma once
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace voussoir::detail {

/// Runs pieces of work, one at a time and in order, in a thread of its own. Nothing waits in line: begin() itself waits
/// for the piece before, so that at most one piece's data are held here.
///
/// What a piece threw comes out of the next begin(), and of every check() from then on. A piece that has thrown is the
/// last one.
class BackgroundWork {
 public:
  BackgroundWork() = default;
  /// Waits for the piece under way.
  ~BackgroundWork();
  BackgroundWork(const BackgroundWork&) = delete;
  BackgroundWork& operator=(const BackgroundWork&) = delete;

  /// Begins a piece, once the one before has ended. Where no thread can be started, does it here and now.
  void begin(std::function<void()> work);
  /// Waits until no piece is under way.
  void wait();
  /// Whether a piece has thrown; does not wait.
  bool has_failed() const;
  /// Waits, and throws what a piece has thrown.
  void check();

 private:
  void run();
  bool start_thread();
  void perform(const std::function<void()>& work);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> work_;  // the piece under way; empty where there is none
  std::exception_ptr failure_;
  bool end_ = false;
  std::thread thread_;
};

}  // namespace voussoir::detail
