#pragma once
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include <voussoir/backends/device_model.hpp>

namespace voussoir::cpu {

/// How the values of a batch's elements are summed to nodes without two threads ever adding to the same place, and
/// always in the same order.
///
/// Elements pass in chunks whose values fit in cache. After each chunk every node it touched adds the values of its
/// elements in ascending order, nodes in parallel. Since a node's additions come in element order whatever the chunks
/// and the threads are, neither shows in the result.
struct GatherPlan {
  int lanes = 1;
  int lane_shift = 0;               ///< lanes = 1 << lane_shift
  std::int32_t chunk = 0;           ///< elements per chunk, a multiple of lanes
  std::int32_t elements = 0;        ///< that pass
  std::vector<std::int32_t> group;  ///< of `lanes` elements, in the order in which they pass; empty: all, as they are
  std::vector<std::int64_t> chunk_rows;  ///< chunk c touches the entries chunk_rows[c] … chunk_rows[c+1] of `rows`
  Array<std::int32_t> rows;              ///< local nodes, ascending within a chunk
  Array<std::int64_t> first;             ///< where the incidences of each entry of `rows` start, and the total
  Array<std::int32_t> element;           ///< per incidence: element, counted from the start of the chunk
  Array<std::uint16_t> node;             ///< per incidence: which of the element's nodes it is

  std::ptrdiff_t chunks() const { return static_cast<std::ptrdiff_t>(chunk_rows.size()) - 1; }
  std::size_t bytes() const { return rows.bytes() + first.bytes() + element.bytes() + node.bytes(); }
};

/// A plan for the rows that a device computes: its own nodes, and those of others whose dependent equations feed them.
/// With `groups`, ascending, for these elements only.
GatherPlan make_gather_plan(const DeviceModel& model, int device, int batch, std::int32_t chunk, int threads,
                            std::vector<std::int32_t> groups = {});

/// The plan of a batch in two, for products that begin before the values of other devices have arrived.
struct SplitPlan {
  std::unique_ptr<GatherPlan> interior;  ///< whole groups of elements that do not need them; null: there are none
  std::unique_ptr<GatherPlan> rest;      ///< null: the interior is everything
};

/// What this backend derives from a model once and keeps with it.
class ModelPlans {
 public:
  static ModelPlans& of(const DeviceModel& model, int threads);
  explicit ModelPlans(const DeviceModel& model, int threads);

  const GatherPlan& gather(const DeviceModel& model, int device, int batch);
  const SplitPlan& split(const DeviceModel& model, int device, int batch);
  /// Number in part.dependencies of the dependency that gives an equation, by local equation.
  const std::unordered_map<std::int32_t, std::int32_t>& dependency_of(int device) const {
    return dependency_of_[static_cast<std::size_t>(device)];
  }
  /// Per element of a batch, 1 where it has a dependent equation; empty where no element has.
  const std::vector<std::uint8_t>& dependent(int device, int batch) const {
    return dependent_[static_cast<std::size_t>(device)][static_cast<std::size_t>(batch)];
  }
  /// True where some device has a dependency.
  bool any_dependency() const { return any_dependency_; }

 private:
  /// Drops the plans of batches that were replaced, and has room for those that there are now.
  void follow(const DeviceModel& model);
  /// Elements of a chunk.
  std::int32_t chunk_of(const ElementProgram& program) const;
  int threads_;
  std::vector<std::vector<std::unique_ptr<GatherPlan>>> gather_;
  std::vector<std::vector<std::unique_ptr<SplitPlan>>> split_;
  std::vector<std::unordered_map<std::int32_t, std::int32_t>> dependency_of_;
  std::vector<std::vector<std::vector<std::uint8_t>>> dependent_;
  bool any_dependency_ = false;
  std::uint64_t batch_revision_ = 0;
};

}  // namespace voussoir::cpu
