#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include <voussoir/apps/terminal/progress_line.hpp>
#include <voussoir/apps/terminal/signals.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>

namespace voussoir::app {

/// Watches over work that takes long: shows how far it is, and stops it when the user presses Ctrl-C.
///
/// The first SIGINT or SIGTERM asks the work to stop: keep_going() then says false. Work that does not ask for a while
/// (an elimination cannot be stopped half-way) is ended with the process: `last_words` is called, and the exit code is
/// the signal's. While a Pause lives neither that nor any drawing happens: files are written and lines printed whole.
/// A second signal ends the process at once. One Monitor may live at a time.
class Monitor {
 public:
  /// Shows progress on standard error where `show` and a person watches.
  explicit Monitor(bool show);
  ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  /// Tells what is going on. Returns keep_going().
  bool tell(Activity activity);
  /// False once the user has asked to stop.
  bool keep_going() const;
  /// The signal that asked to stop, or 0.
  int signal() const;
  /// How many seconds work may continue after the first signal before the process exits; 1 unless set. Infinity: until
  /// the work ends, or until a second signal.
  void set_patience(double seconds) { patience_ = seconds; }
  /// What to do before the process is ended under work that does not listen. Called within a Pause of its own.
  void set_last_words(std::function<void()> last_words);

  /// Takes the line off the screen and holds everything still.
  class Pause {
   public:
    explicit Pause(Monitor& monitor);
    /// For whoever has said everything already.
    void forget_last_words() { monitor_.last_words_ = {}; }
    /// Nothing is drawn until the next tell().
    void forget_activity() { monitor_.activity_ = {}; }

   private:
    Monitor& monitor_;
    std::unique_lock<std::mutex> lock_;
  };

 private:
  void watch();
  void draw();
  void clear();

  DeferSignals signals_;
  std::atomic<double> patience_ = 1.0;
  bool show_;
  bool drawn_ = false;
  std::string drawn_text_;
  Activity activity_;
  Stopwatch since_stage_;
  std::function<void()> last_words_;
  std::mutex mutex_;
  std::mutex ending_mutex_;
  std::condition_variable ending_;
  bool end_ = false;
  std::thread thread_;
};

}  // namespace voussoir::app
