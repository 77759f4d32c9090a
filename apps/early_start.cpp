#include <linux/limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// What has to happen before the libraries that the program is linked with start up. The loader calls the functions of
// .preinit_array before every constructor; the C library is not ready for more than system calls then.

namespace {

#define VSR_PLAIN __attribute__((no_sanitize("address", "undefined", "thread")))

VSR_PLAIN bool is_limited(int resource) {
  rlimit64 limit{};
  return ::syscall(SYS_prlimit64, 0, resource, nullptr, &limit) == 0 && limit.rlim_cur != RLIM64_INFINITY;
}

VSR_PLAIN bool starts_with(const char* text, const char* start) {
  while (*start && *text == *start) ++text, ++start;
  return !*start;
}

/// OpenBLAS starts a thread for each processor while it is loaded, each with tens of megabytes. Where memory is limited
/// that may fail, and OpenBLAS then raises SIGINT or tries for ever. The program starts those threads itself when it
/// needs them, after looking whether there is memory for them. So under a limit it starts anew, with a single one.
VSR_PLAIN void start_with_one_blas_thread(char** argv, char** envp) {
  static constexpr char name[] = "OPENBLAS_NUM_THREADS=";
  static char setting[] = "OPENBLAS_NUM_THREADS=1";
  if (!is_limited(RLIMIT_AS) && !is_limited(RLIMIT_DATA)) return;
  static constexpr int most = 4096;
  static char* environment[most + 2];
  int count = 0;
  for (char** each = envp; *each; ++each) {
    if (starts_with(*each, setting) && !(*each)[sizeof setting - 1]) return;
    if (starts_with(*each, name)) continue;
    if (count == most) return;
    environment[count++] = *each;
  }
  environment[count++] = setting;
  environment[count] = nullptr;
  static char program[PATH_MAX];
  const long length = ::syscall(SYS_readlinkat, -100 /* AT_FDCWD */, "/proc/self/exe", program, sizeof program - 1);
  if (length > 0) ::syscall(SYS_execve, program, argv, environment);
}

/// Threads that libraries start inherit what is blocked; see apps/terminal/signals.hpp.
VSR_PLAIN void block_signals() {
  const unsigned long set = (1ul << (SIGINT - 1)) | (1ul << (SIGTERM - 1));
  ::syscall(SYS_rt_sigprocmask, SIG_BLOCK, &set, nullptr, sizeof set);
}

VSR_PLAIN void start_early(int, char** argv, char** envp) {
  start_with_one_blas_thread(argv, envp);
  block_signals();
}

__attribute__((section(".preinit_array"), used)) void (*const early)(int, char**, char**) = start_early;

}  // namespace
