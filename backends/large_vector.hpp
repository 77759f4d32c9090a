#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

// Large arrays in host memory. Their pages are made by several threads (0: as many as there are), as large pages where
// the system has them: a single thread would take longer to make pages than to fill them.

namespace voussoir {

/// A vector of so many zeros.
std::vector<double> large_zeros(std::size_t count, int threads = 0);

/// Room for so many numbers, which have no values yet.
std::unique_ptr<double[]> large_room(std::size_t count, int threads = 0);

/// Copies records of `width` numbers to their places, by several threads: record i to place places[first + i], or first
/// + i where there are no places.
void place_records(std::span<const double> records, std::size_t width, std::span<const std::int32_t> places,
                   std::int32_t first, std::span<double> to);

}  // namespace voussoir
