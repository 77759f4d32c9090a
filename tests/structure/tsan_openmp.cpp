// Makes ThreadSanitizer understand GCC's OpenMP.
//
// libgomp synchronises its threads with futexes that ThreadSanitizer does not see: without help it takes every value
// that is handed to a parallel region, or over a barrier, for a race. The functions below stand in front of libgomp's
// (the dynamic linker takes the program's definition first), tell ThreadSanitizer what happens before what, and call
// the real ones. Real races (two threads on one datum with no barrier, join or lock in between) are still found.
//
// Covered: parallel regions, barriers, worksharing loops of every schedule, sections, single, critical, atomic.
// Tasks are not: the project uses none.

#include <dlfcn.h>

#include <cstdlib>

extern "C" {
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}

namespace {

template <class Function>
Function next(const char* name) {
  void* symbol = dlsym(RTLD_NEXT, name);
  if (symbol == nullptr) std::abort();
  return reinterpret_cast<Function>(symbol);
}

/// What the threads of one parallel region share.
struct Region {
  void (*work)(void*);
  void* data;
  char fork = 0;     // released before the region starts, acquired by each of its threads
  char join = 0;     // released by each thread at its end, acquired after the region
  char barrier = 0;  // released by each thread on arrival, acquired on departure
};

thread_local Region* current = nullptr;

void run(void* pointer) {
  auto* region = static_cast<Region*>(pointer);
  __tsan_acquire(&region->fork);
  Region* const outer = current;
  current = region;
  region->work(region->data);
  current = outer;
  __tsan_release(&region->join);
}

template <class Call>
void parallel(void (*work)(void*), void* data, const Call& call) {
  Region region{work, data};
  __tsan_release(&region.fork);
  call(run, &region);
  __tsan_acquire(&region.join);
}

void arrive() {
  if (current != nullptr) __tsan_release(&current->barrier);
}

void depart() {
  if (current != nullptr) __tsan_acquire(&current->barrier);
}

char critical_section = 0;
char atomic_section = 0;

}  // namespace

// A thread may enter a barrier, and with it the end of a loop, only after everything it did before; it leaves with
// everything that the others had done.
#define VSR_BARRIER(name)                             \
  extern "C" void name() {                            \
    static const auto real = next<void (*)()>(#name); \
    arrive();                                         \
    real();                                           \
    depart();                                         \
  }
VSR_BARRIER(GOMP_barrier)
VSR_BARRIER(GOMP_loop_end)
VSR_BARRIER(GOMP_sections_end)

#define VSR_PARALLEL_LOOP(name)                                                                                        \
  extern "C" void name(void (*work)(void*), void* data, unsigned threads, long start, long end, long step, long chunk, \
                       unsigned flags) {                                                                               \
    static const auto real =                                                                                           \
        next<void (*)(void (*)(void*), void*, unsigned, long, long, long, long, unsigned)>(#name);                     \
    parallel(work, data, [&](void (*f)(void*), void* d) { real(f, d, threads, start, end, step, chunk, flags); });     \
  }
VSR_PARALLEL_LOOP(GOMP_parallel_loop_static)
VSR_PARALLEL_LOOP(GOMP_parallel_loop_dynamic)
VSR_PARALLEL_LOOP(GOMP_parallel_loop_guided)
VSR_PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
VSR_PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_guided)

#define VSR_PARALLEL_RUNTIME_LOOP(name)                                                                           \
  extern "C" void name(void (*work)(void*), void* data, unsigned threads, long start, long end, long step,        \
                       unsigned flags) {                                                                          \
    static const auto real = next<void (*)(void (*)(void*), void*, unsigned, long, long, long, unsigned)>(#name); \
    parallel(work, data, [&](void (*f)(void*), void* d) { real(f, d, threads, start, end, step, flags); });       \
  }
VSR_PARALLEL_RUNTIME_LOOP(GOMP_parallel_loop_runtime)
VSR_PARALLEL_RUNTIME_LOOP(GOMP_parallel_loop_nonmonotonic_runtime)
VSR_PARALLEL_RUNTIME_LOOP(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

extern "C" void GOMP_parallel(void (*work)(void*), void* data, unsigned threads, unsigned flags) {
  static const auto real = next<void (*)(void (*)(void*), void*, unsigned, unsigned)>("GOMP_parallel");
  parallel(work, data, [&](void (*f)(void*), void* d) { real(f, d, threads, flags); });
}

extern "C" void GOMP_parallel_sections(void (*work)(void*), void* data, unsigned threads, unsigned count,
                                       unsigned flags) {
  static const auto real =
      next<void (*)(void (*)(void*), void*, unsigned, unsigned, unsigned)>("GOMP_parallel_sections");
  parallel(work, data, [&](void (*f)(void*), void* d) { real(f, d, threads, count, flags); });
}

extern "C" void GOMP_critical_start() {
  static const auto real = next<void (*)()>("GOMP_critical_start");
  real();
  __tsan_acquire(&critical_section);
}

extern "C" void GOMP_critical_end() {
  static const auto real = next<void (*)()>("GOMP_critical_end");
  __tsan_release(&critical_section);
  real();
}

// A named section has a pointer of its own, whose address names the lock.
extern "C" void GOMP_critical_name_start(void** lock) {
  static const auto real = next<void (*)(void**)>("GOMP_critical_name_start");
  real(lock);
  __tsan_acquire(lock);
}

extern "C" void GOMP_critical_name_end(void** lock) {
  static const auto real = next<void (*)(void**)>("GOMP_critical_name_end");
  __tsan_release(lock);
  real(lock);
}

extern "C" void GOMP_atomic_start() {
  static const auto real = next<void (*)()>("GOMP_atomic_start");
  real();
  __tsan_acquire(&atomic_section);
}

extern "C" void GOMP_atomic_end() {
  static const auto real = next<void (*)()>("GOMP_atomic_end");
  __tsan_release(&atomic_section);
  real();
}
