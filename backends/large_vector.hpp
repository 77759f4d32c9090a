#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

// Large arrays in host memory. Several threads touch their pages first (`threads` 0: all available), as huge pages
// where the system has them, because page faults on one thread take longer than filling the array.

namespace voussoir {

/// A vector of `count` zeros.
std::vector<double> large_zeros(std::size_t count, int threads = 0);

/// Memory for `count` numbers with undefined values.
std::unique_ptr<double[]> large_room(std::size_t count, int threads = 0);

/// Copies records of `width` numbers with several threads: record i becomes record places[first + i] of `to`, or record
/// first + i where `places` is empty.
void place_records(std::span<const double> records, std::size_t width, std::span<const std::int32_t> places,
                   std::int32_t first, std::span<double> to);

}  // namespace voussoir
