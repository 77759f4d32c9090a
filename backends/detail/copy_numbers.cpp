#include <voussoir/backends/detail/copy_numbers.hpp>

#include <algorithm>

namespace voussoir::detail {

void copy_numbers(const double* from, std::size_t count, double* to) {
  // 128 kB take a thread about as long as it takes to start the others.
  constexpr std::size_t piece = std::size_t{1} << 14;
  const auto pieces = static_cast<std::ptrdiff_t>((count + piece - 1) / piece);
#pragma omp parallel for schedule(static) if (pieces > 2)
  for (std::ptrdiff_t p = 0; p < pieces; ++p) {
    const std::size_t first = static_cast<std::size_t>(p) * piece;
    std::copy_n(from + first, std::min(piece, count - first), to + first);
  }
}

}  // namespace voussoir::detail
