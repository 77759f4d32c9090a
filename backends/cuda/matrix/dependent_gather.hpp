#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include <voussoir/backends/cuda/matrix/assembly_plan.hpp>
#include <voussoir/backends/cuda/matrix/matrix_pattern.hpp>

namespace voussoir::cuda {

/// The elements of one batch with dependent equations, on the host.
struct DependentElements {
  std::vector<std::int32_t> element;
  std::vector<std::int32_t> nodes;  ///< of these elements, one after another
};

/// Finds the dependency that gives a local equation; null where the equation is independent.
class DependencyIndex {
 public:
  explicit DependencyIndex(const DeviceModel::Part& part) {
    for (const Dependency& dependency : part.dependencies) dependencies_.emplace(dependency.equation, &dependency);
  }
  const Dependency* operator()(std::int32_t equation) const {
    const auto found = dependencies_.find(equation);
    return found == dependencies_.end() ? nullptr : found->second;
  }

 private:
  std::unordered_map<std::int32_t, const Dependency*> dependencies_;
};

/// Per batch, empty where a batch adds to no matrix. They are few: most models have none.
std::vector<DependentElements> dependent_elements(const DeviceModel& model, int device);

/// Pairs of nodes that meet through dependencies: the nodes of an element, and those that its dependent equations
/// depend on.
NodePairs dependency_pairs(const DeviceModel& model, int device, const std::vector<DependentElements>& elements);

/// Where the numbers of a matrix stand.
struct StoredPattern {
  const SlicedRows& rows;
  int block_size = 1;
  bool half = false;  ///< blocks left of the diagonal are not stored
};

/// Where the numbers of the matrices of such elements go: TᵀKT, one pair of equations at a time. The diagonal of a
/// dependent equation gets its share of the untransformed matrix: a number of the right size for an equation that
/// stands alone.
DependentGather make_dependent_gather(const DeviceModel& model, int device, int batch,
                                      const DependentElements& elements, const StoredPattern& pattern);

}  // namespace voussoir::cuda
