#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <voussoir/backends/multigrid.hpp>

// Rows of level matrices that one logical device gives to another one. Nothing visits the host but numbers of rows and
// columns.

namespace voussoir::cuda {

/// As DividedMultigrid::take_rows(); without `rows`, all of them.
LevelMatrix take_rows(const LevelMatrix& a, const std::shared_ptr<DeviceMemory>& from,
                      const std::span<const std::int32_t>* rows, std::span<const std::int32_t> number,
                      std::int32_t columns, const std::shared_ptr<DeviceMemory>& to);
/// As DividedMultigrid::columns_of().
std::vector<std::int32_t> columns_of_rows(const LevelMatrix& a, const std::shared_ptr<DeviceMemory>& memory,
                                          std::span<const std::int32_t> rows);
/// As DividedMultigrid::rows_reaching().
std::vector<std::int32_t> rows_reaching(const LevelMatrix& a, const std::shared_ptr<DeviceMemory>& memory,
                                        std::int32_t first);
/// As DividedMultigrid::copy_numbers().
void copy_numbers(const Array<double>& values, const std::shared_ptr<DeviceMemory>& from, Array<double>& target,
                  const std::shared_ptr<DeviceMemory>& to, std::size_t at);
/// As DividedMultigrid::fill_with_noise().
void fill_with_noise_from(LevelVector& x, const std::shared_ptr<DeviceMemory>& memory, std::uint64_t first);
/// As DividedMultigrid::pack().
void pack_rows(const LevelVector& x, const std::shared_ptr<DeviceMemory>& memory, const Array<std::int32_t>& rows,
               Array<double>& values);
/// As DividedMultigrid::unpack().
void unpack_rows(const Array<double>& values, const std::shared_ptr<DeviceMemory>& memory,
                 const Array<std::int32_t>& places, LevelVector& x, std::int64_t first);

}  // namespace voussoir::cuda
