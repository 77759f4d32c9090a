#include <voussoir/partition/part_threads.hpp>

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

#include <voussoir/backends/threads.hpp>

namespace voussoir {
namespace {

/// While it lives, parallel regions of the calling thread that do not say otherwise have one thread. Products of dense
/// matrices then have the same bits wherever a part is computed.
class OneThreadInside {
 public:
  OneThreadInside() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~OneThreadInside() { omp_set_num_threads(before_); }
  OneThreadInside(const OneThreadInside&) = delete;
  OneThreadInside& operator=(const OneThreadInside&) = delete;

 private:
  int before_;
};

}  // namespace

int part_threads(const Backend& backend) {
  const int threads = backend.threads();
  return threads > 0 ? threads : default_threads();
}

void for_each_part(int parts, int threads, const std::function<void(int)>& work) {
  const int team = std::min(parts, threads);
  if (team <= 1) {
    const OneThreadInside alone;
    for (int p = 0; p < parts; ++p) work(p);
    return;
  }
  std::atomic<int> lowest = parts;  // part whose exception is kept
  std::exception_ptr kept;
  std::mutex mutex;
#pragma omp parallel for num_threads(team) schedule(dynamic, 1)
  for (int p = 0; p < parts; ++p) {
    if (p > lowest) continue;
    try {
      const OneThreadInside alone;
      work(p);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (p < lowest) {
        lowest = p;
        kept = std::current_exception();
      }
    }
  }
  if (kept) std::rethrow_exception(kept);
}

DirectMethod part_method(DirectMethod wanted) {
  return wanted == DirectMethod::automatic ? DirectMethod::multifrontal : wanted;
}

bool works_side_by_side(DirectMethod method) { return part_method(method) != DirectMethod::mumps; }

}  // namespace voussoir
