#include <voussoir/backends/cuda/emulation/cuda_emulation.hpp>

#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

namespace voussoir::cuda::emulation {

namespace {

// ---- Fibers: a stack and a stack pointer ----

extern "C" void vsr_switch_fiber(void** save, void* load);
extern "C" void vsr_fiber_entry();

#if defined(__x86_64__)
asm(R"(
.text
.globl vsr_switch_fiber
.hidden vsr_switch_fiber
vsr_switch_fiber:
  pushq %rbp; pushq %rbx; pushq %r12; pushq %r13; pushq %r14; pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15; popq %r14; popq %r13; popq %r12; popq %rbx; popq %rbp
  ret
)");
constexpr int saved_words = 7;
#elif defined(__aarch64__)
asm(R"(
.text
.globl vsr_switch_fiber
.hidden vsr_switch_fiber
vsr_switch_fiber:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
)");
constexpr int saved_words = 20;
#else
#error "the emulation of CUDA supports x86-64 and 64-bit ARM only"
#endif

constexpr std::size_t stack_bytes = std::size_t{1} << 20;

/// One thread of the running blocks.
struct Fiber {
  char* stack = nullptr;
  void* pointer = nullptr;  // its stack pointer while it does not run
  dim3 thread, block;
  bool alive = false;
};

/// Threads that wait for each other.
struct Barrier {
  int alive = 0;
  int arrived = 0;
  std::uint64_t generation = 0;

  void open() {
    arrived = 0;
    ++generation;
  }
  /// A thread that ends is waited for no longer.
  void leave() {
    --alive;
    if (alive > 0 && arrived >= alive) open();
  }
};

struct Warp : Barrier {
  std::uint64_t slot[32] = {};
};

/// The blocks that run at the same time: one, or those of a cluster. Threads are numbered through all of them.
struct Cluster {
  std::vector<Fiber> fibers;
  std::vector<Warp> warps;  // warps_each of every block
  std::vector<Barrier> blocks;
  Barrier all;
  int current = 0;
  int count = 0;  // threads of a block
  int warps_each = 0;
  void* scheduler = nullptr;
  void (*body)(void*) = nullptr;
  void* argument = nullptr;
  std::vector<char> shared;  // shared_each bytes of every block
  std::size_t shared_each = 0;
  std::exception_ptr error;

  ~Cluster() {
    for (Fiber& f : fibers)
      if (f.stack) munmap(f.stack, stack_bytes);
  }
  Barrier& own_block() { return blocks[static_cast<std::size_t>(current / count)]; }
  Warp& own_warp() { return warps[static_cast<std::size_t>(current / count * warps_each + current % count / 32)]; }
  int own_lane() const { return current % count % 32; }
  /// The running warp's lane 0, and how many threads its block has from there on.
  int warp_start() const { return current - own_lane(); }
  int rest_of_block() const { return count - (current % count - own_lane()); }
  char* shared_of(int block) {
    const auto address = reinterpret_cast<std::uintptr_t>(shared.data());
    return shared.data() + (128 - address % 128) % 128 + static_cast<std::size_t>(block) * shared_each;
  }
};

thread_local Cluster running;

/// Back to the scheduler, until it is this fiber's turn again.
void yield(Cluster& c) { vsr_switch_fiber(&c.fibers[static_cast<std::size_t>(c.current)].pointer, c.scheduler); }

void wait_at(Cluster& c, Barrier& barrier, int expected) {
  const std::uint64_t generation = barrier.generation;
  if (++barrier.arrived >= expected) return barrier.open();
  while (barrier.generation == generation) yield(c);
}

void enter_fiber() {
  const int index = running.current;
  try {
    running.body(running.argument);
  } catch (...) {
    if (!running.error) running.error = std::current_exception();
  }
  running.fibers[static_cast<std::size_t>(index)].alive = false;
  running.own_warp().leave();
  running.own_block().leave();
  running.all.leave();
  yield(running);
  std::abort();  // a fiber that ended is never resumed
}

void prepare(Fiber& fiber) {
  if (!fiber.stack) {
    void* memory =
        mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    fiber.stack = static_cast<char*>(memory);
  }
  auto* top = reinterpret_cast<std::uint64_t*>(fiber.stack + stack_bytes - 64);
#if defined(__x86_64__)
  // Seven words: six registers, then the address to return to; one more keeps the stack aligned as after a call.
  std::uint64_t* start = top - 1 - saved_words;
  for (int i = 0; i < saved_words; ++i) start[i] = 0;
  start[6] = reinterpret_cast<std::uint64_t>(&enter_fiber);
#else
  std::uint64_t* start = top - saved_words;
  for (int i = 0; i < saved_words; ++i) start[i] = 0;
  start[11] = reinterpret_cast<std::uint64_t>(&enter_fiber);  // x30
#endif
  fiber.pointer = start;
  fiber.alive = true;
}

}  // namespace

thread_local Place place;

namespace {

/// Makes the fibers of the blocks from `first` on ready to start.
void start_blocks(Cluster& c, dim3 first, dim3 size, int blocks) {
  c.warps.assign(static_cast<std::size_t>(c.warps_each * blocks), Warp());
  c.blocks.assign(static_cast<std::size_t>(blocks), Barrier{c.count});
  c.all = Barrier{c.count * blocks};
  for (int t = 0; t < c.count * blocks; ++t) {
    Fiber& f = c.fibers[static_cast<std::size_t>(t)];
    prepare(f);
    const auto u = static_cast<unsigned>(t % c.count);
    f.thread = {u % size.x, u / size.x % size.y, u / size.x / size.y};
    f.block = {first.x + static_cast<unsigned>(t / c.count), first.y, first.z};
    c.current = t;
    ++c.own_warp().alive;
  }
}

}  // namespace

void run(dim3 grid, dim3 size, std::size_t shared_bytes, void (*body)(void*), void* argument, unsigned cluster) {
  Cluster& c = running;
  const int blocks = static_cast<int>(cluster);
  c.count = static_cast<int>(size.x * size.y * size.z);
  c.warps_each = (c.count + 31) / 32;
  const int threads = c.count * blocks;
  if (c.fibers.size() < static_cast<std::size_t>(threads)) c.fibers.resize(static_cast<std::size_t>(threads));
  c.body = body;
  c.argument = argument;
  c.shared_each = (shared_bytes + 127) / 128 * 128;
  c.shared.assign(c.shared_each * cluster + 128, static_cast<char>(0x7b));
  place.block_size = size;
  place.grid_size = grid;
  for (unsigned bz = 0; bz < grid.z; ++bz)
    for (unsigned by = 0; by < grid.y; ++by)
      for (unsigned bx = 0; bx < grid.x; bx += cluster) {
        start_blocks(c, {bx, by, bz}, size, blocks);
        while (c.all.alive > 0)
          for (int t = 0; t < threads; ++t) {
            Fiber& f = c.fibers[static_cast<std::size_t>(t)];
            if (!f.alive) continue;
            c.current = t;
            place.thread = f.thread;
            place.block = f.block;
            vsr_switch_fiber(&c.scheduler, f.pointer);
          }
        if (c.error) std::rethrow_exception(std::exchange(c.error, nullptr));
      }
}

void* dynamic_shared() { return running.shared_of(running.current / running.count); }

const void* in_block(const void* shared, int rank) {
  Cluster& c = running;
  return c.shared_of(rank) + (static_cast<const char*>(shared) - c.shared_of(c.current / c.count));
}

// A thread's own variables are dear to look up, and barriers are called more than anything else: once for each call.

void block_barrier() {
  Cluster& c = running;
  Barrier& own = c.own_block();
  wait_at(c, own, own.alive);
}

void cluster_barrier() {
  Cluster& c = running;
  wait_at(c, c.all, c.all.alive);
}

int lane() { return running.own_lane(); }

void warp_barrier(unsigned mask) {
  Cluster& c = running;
  Warp& warp = c.own_warp();
  int expected = warp.alive;
  if (mask != 0xffffffffu) {
    expected = 0;
    for (int l = 0; l < 32 && l < c.rest_of_block(); ++l)
      if ((mask >> l & 1u) && c.fibers[static_cast<std::size_t>(c.warp_start() + l)].alive) ++expected;
  }
  wait_at(c, warp, expected);
}

std::uint64_t exchange(unsigned mask, std::uint64_t mine, int source) {
  Warp& warp = running.own_warp();
  warp.slot[running.own_lane()] = mine;
  warp_barrier(mask);
  const std::uint64_t value = warp.slot[source & 31];
  warp_barrier(mask);
  return value;
}

unsigned ballot(unsigned mask, bool yes) {
  Cluster& c = running;
  Warp& warp = c.own_warp();
  warp.slot[c.own_lane()] = yes ? 1 : 0;
  warp_barrier(mask);
  unsigned bits = 0;
  for (int l = 0; l < 32 && l < c.rest_of_block(); ++l)
    if ((mask >> l & 1u) && c.fibers[static_cast<std::size_t>(c.warp_start() + l)].alive && warp.slot[l] != 0)
      bits |= 1u << l;
  warp_barrier(mask);
  return bits;
}

// ---- Memory ----

namespace {

struct Heap {
  std::mutex mutex;
  std::unordered_map<void*, std::size_t> blocks;
  std::size_t used = 0;
};
Heap& heap() {
  static Heap* h = new Heap;  // outlives every static object that may still release memory
  return *h;
}

}  // namespace

std::size_t total_bytes() { return std::size_t{4} << 30; }
std::size_t free_bytes() { return total_bytes() - heap().used; }

void* allocate(std::size_t bytes) {
  const std::lock_guard lock(heap().mutex);
  if (bytes > free_bytes()) return nullptr;
  void* pointer = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (!pointer) return nullptr;
  std::memset(pointer, 0xff, bytes);  // new memory is full of NaN, as nothing promises zeros
  heap().blocks.emplace(pointer, bytes);
  heap().used += bytes;
  return pointer;
}

void release(void* pointer) {
  const std::lock_guard lock(heap().mutex);
  const auto it = heap().blocks.find(pointer);
  if (it == heap().blocks.end()) return;
  heap().used -= it->second;
  heap().blocks.erase(it);
  std::free(pointer);
}

}  // namespace voussoir::cuda::emulation
