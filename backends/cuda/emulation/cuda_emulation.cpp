#include <voussoir/backends/cuda/emulation/cuda_emulation.hpp>

#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>
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

/// One thread of the running block.
struct Fiber {
  char* stack = nullptr;
  void* pointer = nullptr;  // its stack pointer while it does not run
  dim3 thread;
  bool alive = false;
};

struct Warp {
  int alive = 0;
  int arrived = 0;
  std::uint64_t generation = 0;
  std::uint64_t slot[32] = {};
};

struct Block {
  std::vector<Fiber> fibers;
  std::vector<Warp> warps;
  int alive = 0;
  int arrived = 0;
  std::uint64_t generation = 0;
  int current = 0;
  int count = 0;
  void* scheduler = nullptr;
  void (*body)(void*) = nullptr;
  void* argument = nullptr;
  std::vector<char> shared;
  std::exception_ptr error;

  ~Block() {
    for (Fiber& f : fibers)
      if (f.stack) munmap(f.stack, stack_bytes);
  }
};

thread_local Block block;

/// Back to the scheduler, until it is this fiber's turn again.
void yield(Block& b) { vsr_switch_fiber(&b.fibers[static_cast<std::size_t>(b.current)].pointer, b.scheduler); }

/// Counts a thread out of barriers when it ends.
void leave(int index) {
  Fiber& f = block.fibers[static_cast<std::size_t>(index)];
  f.alive = false;
  Warp& warp = block.warps[static_cast<std::size_t>(index / 32)];
  --warp.alive;
  --block.alive;
  if (warp.alive > 0 && warp.arrived >= warp.alive) {
    warp.arrived = 0;
    ++warp.generation;
  }
  if (block.alive > 0 && block.arrived >= block.alive) {
    block.arrived = 0;
    ++block.generation;
  }
}

void enter_fiber() {
  const int index = block.current;
  try {
    block.body(block.argument);
  } catch (...) {
    if (!block.error) block.error = std::current_exception();
  }
  leave(index);
  yield(block);
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

void run(dim3 grid, dim3 size, std::size_t shared_bytes, void (*body)(void*), void* argument) {
  Block& b = block;
  const int count = static_cast<int>(size.x * size.y * size.z);
  if (b.fibers.size() < static_cast<std::size_t>(count)) b.fibers.resize(static_cast<std::size_t>(count));
  b.body = body;
  b.argument = argument;
  b.count = count;
  b.shared.assign(shared_bytes + 64, static_cast<char>(0x7b));
  place.block_size = size;
  place.grid_size = grid;
  for (unsigned bz = 0; bz < grid.z; ++bz)
    for (unsigned by = 0; by < grid.y; ++by)
      for (unsigned bx = 0; bx < grid.x; ++bx) {
        place.block = {bx, by, bz};
        b.warps.assign(static_cast<std::size_t>((count + 31) / 32), Warp());
        b.alive = count;
        b.arrived = 0;
        for (int t = 0; t < count; ++t) ++b.warps[static_cast<std::size_t>(t / 32)].alive;
        for (int t = 0; t < count; ++t) {
          Fiber& f = b.fibers[static_cast<std::size_t>(t)];
          prepare(f);
          const auto u = static_cast<unsigned>(t);
          f.thread = {u % size.x, u / size.x % size.y, u / size.x / size.y};
        }
        while (b.alive > 0)
          for (int t = 0; t < count; ++t) {
            Fiber& f = b.fibers[static_cast<std::size_t>(t)];
            if (!f.alive) continue;
            b.current = t;
            place.thread = f.thread;
            vsr_switch_fiber(&b.scheduler, f.pointer);
          }
        if (b.error) {
          const std::exception_ptr error = b.error;
          b.error = nullptr;
          std::rethrow_exception(error);
        }
      }
}

void* dynamic_shared() {
  const auto address = reinterpret_cast<std::uintptr_t>(block.shared.data());
  return block.shared.data() + (64 - address % 64) % 64;
}

// A thread's own variables are dear to look up, and barriers are called more than anything else: once for each call.

void block_barrier() {
  Block& b = block;
  const std::uint64_t generation = b.generation;
  if (++b.arrived >= b.alive) {
    b.arrived = 0;
    ++b.generation;
    return;
  }
  while (b.generation == generation) yield(b);
}

int lane() { return block.current % 32; }

void warp_barrier(unsigned mask) {
  Block& b = block;
  Warp& warp = b.warps[static_cast<std::size_t>(b.current / 32)];
  int expected = warp.alive;
  if (mask != 0xffffffffu) {
    expected = 0;
    const int first = b.current / 32 * 32;
    for (int l = 0; l < 32 && first + l < b.count; ++l)
      if ((mask >> l & 1u) && b.fibers[static_cast<std::size_t>(first + l)].alive) ++expected;
  }
  const std::uint64_t generation = warp.generation;
  if (++warp.arrived >= expected) {
    warp.arrived = 0;
    ++warp.generation;
    return;
  }
  while (warp.generation == generation) yield(b);
}

std::uint64_t exchange(unsigned mask, std::uint64_t mine, int source) {
  Block& b = block;
  Warp& warp = b.warps[static_cast<std::size_t>(b.current / 32)];
  warp.slot[b.current % 32] = mine;
  warp_barrier(mask);
  const std::uint64_t value = warp.slot[source & 31];
  warp_barrier(mask);
  return value;
}

unsigned ballot(unsigned mask, bool yes) {
  Block& b = block;
  Warp& warp = b.warps[static_cast<std::size_t>(b.current / 32)];
  const int first = b.current / 32 * 32;
  warp.slot[b.current % 32] = yes ? 1 : 0;
  warp_barrier(mask);
  unsigned bits = 0;
  for (int l = 0; l < 32 && first + l < b.count; ++l)
    if ((mask >> l & 1u) && b.fibers[static_cast<std::size_t>(first + l)].alive && warp.slot[l] != 0) bits |= 1u << l;
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
