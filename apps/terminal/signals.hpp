#pragma once

// SIGINT and SIGTERM of the program. They are blocked in every thread, from before the first library starts one, and a
// thread of its own waits for them: a handler that a library installs for itself (METIS does while it orders equations)
// never sees them, and no code ever runs inside a handler.

namespace voussoir::app {

/// Begins to wait for signals; the first thing that main() does. From here on a signal ends the program with its exit
/// code (130 or 143), and without leaving unfinished files.
void watch_signals();

/// While one lives, the first signal only asks for an end, which work that can stop looks for. A second one ends the
/// program at once. One may live at a time.
class DeferSignals {
 public:
  DeferSignals();
  ~DeferSignals();
  DeferSignals(const DeferSignals&) = delete;
  DeferSignals& operator=(const DeferSignals&) = delete;

  /// The signal that asked for an end, or 0.
  int asked() const;
};

/// Ends the process with the exit code of a signal, and without leaving unfinished files.
[[noreturn]] void end_by_signal(int signal);

}  // namespace voussoir::app
