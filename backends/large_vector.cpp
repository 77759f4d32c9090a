#include <voussoir/backends/large_vector.hpp>

#include <omp.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>

namespace voussoir {
namespace {

constexpr std::size_t page = std::size_t{2} << 20;

/// Asks the system for the pages of a range; where it does not know how, they come when they are written.
void make_pages([[maybe_unused]] double* numbers, [[maybe_unused]] std::size_t count, [[maybe_unused]] int threads) {
#ifdef MADV_HUGEPAGE
  const std::size_t bytes = count * sizeof(double);
  if (bytes < 4 * page) return;
  char* const begin = reinterpret_cast<char*>(numbers);
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  char* const first = begin + (page - address % page) % page;
  if (first + page > begin + bytes) return;
  const auto pages = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(begin + bytes - first) / page);
  ::madvise(first, static_cast<std::size_t>(pages) * page, MADV_HUGEPAGE);
#ifdef MADV_POPULATE_WRITE
  if (threads <= 0) threads = std::max(1, omp_get_max_threads());
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::ptrdiff_t p = 0; p < pages; ++p)
    ::madvise(first + static_cast<std::size_t>(p) * page, page, MADV_POPULATE_WRITE);
#endif
#endif
}

}  // namespace

std::vector<double> large_zeros(std::size_t count, int threads) {
  std::vector<double> values;
  values.reserve(count);
  make_pages(values.data(), count, threads);
  values.resize(count);
  return values;
}

std::unique_ptr<double[]> large_room(std::size_t count, int threads) {
  auto values = std::make_unique_for_overwrite<double[]>(count);
  make_pages(values.get(), count, threads);
  return values;
}

void place_records(std::span<const double> records, std::size_t width, std::span<const std::int32_t> places,
                   std::int32_t first, std::span<double> to) {
  const auto count = static_cast<std::ptrdiff_t>(width > 0 ? records.size() / width : 0);
#pragma omp parallel for schedule(static) if (records.size() > 65536)
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const auto record = static_cast<std::size_t>(i), place = static_cast<std::size_t>(first) + record;
    std::copy_n(records.data() + record * width, width,
                to.data() + (places.empty() ? place : static_cast<std::size_t>(places[place])) * width);
  }
}

}  // namespace voussoir
