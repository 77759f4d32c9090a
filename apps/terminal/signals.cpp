#include <voussoir/apps/terminal/signals.hpp>

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <system_error>
#include <thread>

#include <voussoir/apps/exit_code.hpp>
#include <voussoir/framework/io/output_file.hpp>

namespace voussoir::app {
namespace {

std::atomic<bool> deferred{false};
std::atomic<int> wanted{0};  // the signal that asked for an end
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
              "a signal handler must not wait for a lock");

/// Whether the signal is taken down for work that looks for it.
bool take_down(int signal) {
  int none = 0;
  return deferred && wanted.compare_exchange_strong(none, signal);
}

[[noreturn]] void wait_for_signals(sigset_t set) {
  while (true) {
    int signal = 0;
    if (::sigwait(&set, &signal) == 0 && !take_down(signal)) end_by_signal(signal);
  }
}

extern "C" void take_signal(int signal) {
  if (!take_down(signal)) _exit(128 + signal);
}

}  // namespace

void watch_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM}) {
    sigset_t alone;
    sigemptyset(&alone);
    sigaddset(&alone, signal);
    struct sigaction action {};
    ::sigaction(signal, nullptr, &action);
    // A signal that the caller chose to ignore, as shells do for background jobs of scripts, stays ignored. Blocked, it
    // would be waited for.
    const bool ignored = action.sa_handler == SIG_IGN;
    if (!ignored) sigaddset(&set, signal);
    ::pthread_sigmask(ignored ? SIG_UNBLOCK : SIG_BLOCK, &alone, nullptr);
  }
  try {
    std::thread(wait_for_signals, set).detach();
  } catch (const std::system_error&) {
    // Where there is no thread to be had, a handler does what it can.
    struct sigaction action {};
    action.sa_handler = take_signal;
    action.sa_flags = SA_RESTART;
    for (const int signal : {SIGINT, SIGTERM})
      if (sigismember(&set, signal) == 1) ::sigaction(signal, &action, nullptr);
    ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  }
}

DeferSignals::DeferSignals() {
  wanted = 0;
  deferred = true;
}
DeferSignals::~DeferSignals() { deferred = false; }
int DeferSignals::asked() const { return wanted; }

void end_by_signal(int signal) {
  remove_unfinished_files();
  _exit(static_cast<int>(exit_code_of_signal(signal)));
}

}  // namespace voussoir::app
