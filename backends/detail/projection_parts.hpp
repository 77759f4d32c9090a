#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <voussoir/backends/detail/checks.hpp>
#include <voussoir/backends/detail/described_elements.hpp>
#include <voussoir/backends/element_matrix_source.hpp>

// What the projections of all backends have in common.

namespace voussoir::detail {

inline void require_projection(const Backend& backend, const Layout& layout, const Vector& x,
                               std::span<const double> result) {
  require_own(backend, x, "project");
  require_layout(layout, x, "project");
  const auto n = static_cast<std::size_t>(x.columns());
  if (result.size() != n * n)
    throw Error(ErrorCode::misuse, "project: " + std::to_string(result.size()) + " places for " + std::to_string(n) +
                                       " × " + std::to_string(n) + " products");
}

/// The lower triangle from the upper one.
inline void mirror_upper(std::span<double> matrix, int n) {
  const auto size = static_cast<std::size_t>(n);
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < i; ++j) matrix[i * size + j] = matrix[j * size + i];
}

/// S + Sᵀ, times a factor.
inline void add_transpose(std::span<double> matrix, int n, double factor) {
  const auto size = static_cast<std::size_t>(n);
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = i; j < size; ++j)
      matrix[i * size + j] = matrix[j * size + i] = factor * (matrix[i * size + j] + matrix[j * size + i]);
}

/// Elements on the boundary of two devices are on both, and the first of them counts them. Per element of a batch on a
/// device its own number, or −1 where another device counts it; empty where the device counts all of them.
std::vector<std::int32_t> counted_elements(const DeviceModel& model, int device, int batch);

/// The same by numbers of the description: the local number of each element that the device counts, or −1; empty where
/// these are the same numbers.
std::vector<std::int32_t> counted_by_description(const DeviceModel& model, int device, int batch);

/// Sees to it that a source keeps its promises: sizes fit the model, and no element is missing or given twice.
class GroupCheck {
 public:
  explicit GroupCheck(const DeviceModel& model);
  void take(const ElementMatrixGroup& group);  ///< the next group
  void finish() const;                         ///< behind the last one

 private:
  const DeviceModel& model_;
  std::vector<std::int32_t> next_;
};

}  // namespace voussoir::detail
