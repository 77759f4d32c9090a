#include <voussoir/backends/debug/guarded_buffer.hpp>

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

namespace voussoir::detail {

/// A buffer as the fault handler sees it. The handler may run at any moment on any thread and may neither lock nor
/// allocate, so records are atomics, are never freed, and are found by walking all of them.
struct FaultRecord {
  std::atomic<std::uintptr_t> begin{0};  // of the mapping; 0: the record is not in use
  std::atomic<std::uintptr_t> pages{0};
  std::atomic<std::uintptr_t> pages_end{0};
  std::atomic<std::uintptr_t> end{0};
  std::atomic<std::size_t> bytes{0};
  std::atomic<GuardedBuffer::Side> side{GuardedBuffer::Side::device};
  std::atomic<GuardedBuffer::Access> access{GuardedBuffer::Access::none};
  std::atomic<int> device{0};
  std::atomic<const std::atomic<int>*> active_device{nullptr};
};

namespace {

using Access = GuardedBuffer::Access;
using Side = GuardedBuffer::Side;

constexpr std::size_t alignment = 64;
constexpr std::byte trace{0xA5};
// Both halves are NaN as float; together they are a signalling NaN as double; as an index they are far outside.
constexpr std::uint64_t poison_pattern = 0x7FF4DEAD7FF4DEADu;

// ---- Records
// ---------------------------------------------------------------------------------------------------------

struct RecordChunk {
  std::array<FaultRecord, 256> records;
  std::atomic<RecordChunk*> next{nullptr};
};

struct Registry {
  RecordChunk first;
  std::mutex mutex;
  std::vector<FaultRecord*> unused;
  RecordChunk* last = &first;
  std::size_t total = 0;

  Registry() { offer(first); }
  void offer(RecordChunk& chunk) {
    unused.reserve(total + chunk.records.size());  // room for all of them, so that giving back cannot fail
    total += chunk.records.size();
    for (FaultRecord& record : chunk.records) unused.push_back(&record);
  }
  FaultRecord* take() {
    const std::lock_guard lock(mutex);
    if (unused.empty()) {
      auto chunk = std::make_unique<RecordChunk>();
      offer(*chunk);
      last->next = chunk.get();
      last = chunk.release();
    }
    FaultRecord* record = unused.back();
    unused.pop_back();
    return record;
  }
  void give_back(FaultRecord* record) {
    record->begin = 0;
    const std::lock_guard lock(mutex);
    unused.push_back(record);
  }
};

/// Never destroyed: a fault may come while the process is already ending.
Registry& registry() {
  static Registry* const instance = new Registry;
  return *instance;
}

// ---- The fault handler
// -----------------------------------------------------------------------------------------------

struct sigaction previous_action;
std::atomic<RecordChunk*> handler_records{nullptr};

/// One line of text, built without anything that a signal handler must not call.
class Line {
 public:
  Line& operator<<(const char* text) {
    while (*text && length_ < sizeof text_ - 1) text_[length_++] = *text++;
    return *this;
  }
  Line& operator<<(std::size_t value) {
    char digits[24];
    int n = 0;
    do {
      digits[n++] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value > 0);
    while (n > 0 && length_ < sizeof text_ - 1) text_[length_++] = digits[--n];
    return *this;
  }
  Line& operator<<(int value) { return *this << static_cast<std::size_t>(value < 0 ? 0 : value); }
  void print() {
    text_[length_++] = '\n';
    for (std::size_t done = 0; done < length_;) {
      const ssize_t n = ::write(STDERR_FILENO, text_ + done, length_ - done);
      if (n <= 0) break;
      done += static_cast<std::size_t>(n);
    }
  }

 private:
  char text_[512];
  std::size_t length_ = 0;
};

void explain(const FaultRecord& record, std::uintptr_t address) {
  const int device = record.device;
  const int active = record.active_device.load()->load();
  const std::size_t bytes = record.bytes;
  const bool on_device = record.side == Side::device;
  Line line;
  line << "voussoir debug backend: ";
  const auto who = [&] {
    if (active < 0)
      line << "host code";
    else
      line << "work of device " << active;
  };
  if (address < record.pages || address >= record.pages_end) {
    who();
    line << (address < record.pages ? " accessed memory before the beginning of" : " accessed memory past the end of")
         << (on_device ? "" : " the host mirror of") << " an array of " << bytes << " bytes of device " << device
         << "; check the index";
  } else if (on_device) {
    if (record.access == Access::read) {
      who();
      line << " wrote to device memory of device " << device << " (array of " << bytes
           << " bytes) that was requested for reading; request it for writing or updating";
    } else if (active < 0) {
      line << "host code accessed device memory of device " << device << " (array of " << bytes
           << " bytes); a device pointer is valid only inside its DeviceSection; on the host, call read_host()";
    } else if (active == device) {
      who();
      line << " accessed an array of its own (" << bytes
           << " bytes) that it did not request in this section; request it by intent in every section";
    } else {
      who();
      line << " accessed device memory of device " << device << " (array of " << bytes
           << " bytes); values of another device must be exchanged";
    }
  } else if (active >= 0) {
    who();
    line << " accessed the host mirror of an array of device " << device << " (array of " << bytes
         << " bytes); device work uses device pointers";
  } else if (record.access == Access::read) {
    line << "host code wrote to the host mirror of an array of device " << device << " (array of " << bytes
         << " bytes) that was requested for reading or that the device has read since; call update_host() again";
  } else {
    line << "host code accessed a stale host mirror of device " << device << " (array of " << bytes
         << " bytes); the device has written since, so call read_host() again";
  }
  line.print();
}

void handle_fault(int signal, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (RecordChunk* chunk = handler_records; chunk; chunk = chunk->next)
    for (const FaultRecord& record : chunk->records) {
      const std::uintptr_t begin = record.begin;
      if (begin == 0 || address < begin || address >= record.end) continue;
      explain(record, address);
      // The access is repeated when this returns, and meets whoever was responsible before us.
      sigaction(signal, &previous_action, nullptr);
      return;
    }
  if (previous_action.sa_flags & SA_SIGINFO) {
    previous_action.sa_sigaction(signal, info, context);
  } else if (previous_action.sa_handler != SIG_DFL && previous_action.sa_handler != SIG_IGN) {
    previous_action.sa_handler(signal);
  } else {
    sigaction(signal, &previous_action, nullptr);
  }
}

void install_handler() {
  static const bool installed = [] {
    handler_records = &registry().first;
    struct sigaction action {};
    action.sa_sigaction = handle_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    return sigaction(SIGSEGV, &action, &previous_action) == 0;
  }();
  static_cast<void>(installed);
}

std::size_t round_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

int protection(Access access) {
  switch (access) {
    case Access::none:
      return PROT_NONE;
    case Access::read:
      return PROT_READ;
    case Access::read_write:
      break;
  }
  return PROT_READ | PROT_WRITE;
}

}  // namespace

GuardedBuffer::GuardedBuffer(std::size_t bytes, Side side, int device, const std::atomic<int>& active_device)
    : bytes_(bytes) {
  install_handler();
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  if (bytes > SIZE_MAX - 4 * page) throw std::bad_alloc();
  page_bytes_ = round_up(std::max<std::size_t>(bytes, 1), page);
  mapping_bytes_ = page_bytes_ + 2 * page;
  void* mapping = mmap(nullptr, mapping_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  mapping_ = static_cast<std::byte*>(mapping);
  pages_ = mapping_ + page;
  if (mprotect(pages_, page_bytes_, PROT_READ | PROT_WRITE) != 0) {
    munmap(mapping_, mapping_bytes_);
    throw std::bad_alloc();
  }
  data_ = pages_ + (page_bytes_ - round_up(std::max<std::size_t>(bytes, 1), alignment));
  std::fill(data_ + bytes_, pages_ + page_bytes_, trace);
  poison();

  try {
    record_ = registry().take();
  } catch (...) {
    munmap(mapping_, mapping_bytes_);
    throw;
  }
  record_->pages = reinterpret_cast<std::uintptr_t>(pages_);
  record_->pages_end = reinterpret_cast<std::uintptr_t>(pages_ + page_bytes_);
  record_->end = reinterpret_cast<std::uintptr_t>(mapping_ + mapping_bytes_);
  record_->bytes = bytes_;
  record_->side = side;
  record_->access = access_;
  record_->device = device;
  record_->active_device = &active_device;
  record_->begin = reinterpret_cast<std::uintptr_t>(mapping_);  // last: from here on the handler believes it
}

GuardedBuffer::~GuardedBuffer() {
  registry().give_back(record_);
  munmap(mapping_, mapping_bytes_);
}

void GuardedBuffer::set_access(Access access) noexcept {
  if (access == access_) return;
  mprotect(pages_, page_bytes_, protection(access));
  access_ = access;
  record_->access = access;
}

void GuardedBuffer::poison() {
  std::size_t i = 0;
  for (; i + sizeof poison_pattern <= bytes_; i += sizeof poison_pattern)
    std::memcpy(data_ + i, &poison_pattern, sizeof poison_pattern);
  std::memcpy(data_ + i, &poison_pattern, bytes_ - i);
}

bool GuardedBuffer::intact() const {
  return std::all_of(static_cast<const std::byte*>(data_ + bytes_), static_cast<const std::byte*>(pages_ + page_bytes_),
                     [](std::byte b) { return b == trace; });
}

}  // namespace voussoir::detail
