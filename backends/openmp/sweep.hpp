#pragma once
#include <algorithm>
#include <functional>

#include <voussoir/backends/detail/element_equations.hpp>
#include <voussoir/backends/device_model.hpp>
#include <voussoir/backends/openmp/gather_plan.hpp>

namespace voussoir::cpu {

/// The lowest faulty element over threads, devices and batches: the same one in every run.
class FaultKeeper {
 public:
  void note(const ElementBatch& batch, const ElementStatus& status);
  void rethrow() const;

 private:
  ElementFault fault_ = ElementFault::none;
  int batch_ = 0;
  std::int32_t element_ = 0;
};

/// What is known of a chunk when its values are summed: `values` of its elements, and the incidences of a GatherPlan.
struct Chunk {
  const double* values = nullptr;
  std::int32_t first_element = 0;
  const std::int32_t* rows = nullptr;
  const std::int64_t* first = nullptr;
  const std::int32_t* element = nullptr;
  const std::uint16_t* node = nullptr;
};

/// Computes the values of a run of elements; `first` is a multiple of the program's lanes.
using Compute = std::function<ElementStatus(const ElementView& view, int first, int count, double* out)>;
/// Sums the values of a chunk to the entries row_begin … row_end of the plan's rows.
using Gather = std::function<void(const Chunk& chunk, std::int64_t row_begin, std::int64_t row_end)>;

/// One pass over the elements of a batch on a device.
struct Sweep {
  const DeviceModel& model;
  int device = 0;
  int batch = 0;
  const GatherPlan& plan;
  int threads = 1;
  Route side = Route::native;  ///< host: element values are computed from host arrays, on one thread
  const ElementState& state;   ///< ghosts of its unknowns are fresh
  int values = 0;              ///< per element
};

/// The equations of a batch's elements, for device work.
inline detail::ElementEquations element_equations(const DeviceModel::Part& part, int batch) {
  const ElementBatch& elements = part.batches[static_cast<std::size_t>(batch)];
  return {part.first_equation.read_device(), elements.slot.empty() ? nullptr : elements.slot.read_device(),
          elements.program->components()};
}

/// Computes chunk by chunk into `buffer` (made larger where needed) and sums. `open_compute` is called where arrays may
/// be asked for the side that computes, `open_gather` inside a section of the device; both take the pointers they need
/// there.
ElementStatus run(const Sweep& sweep, Array<double>& buffer, const std::function<Compute()>& open_compute,
                  const std::function<Gather()>& open_gather);

/// Calls work(first, count, at) for the elements at the places begin … end of a plan, run by run of neighbours: element
/// `first` is at place begin + at. `begin` is a multiple of the lanes.
template <class Work>
void for_runs(const GatherPlan& plan, std::int32_t begin, std::int32_t end, const Work& work) {
  if (plan.group.empty()) return work(begin, end - begin, 0);
  for (std::int32_t at = begin; at < end;) {
    const auto group = plan.group.begin() + (at >> plan.lane_shift);
    std::int32_t groups = 1;
    while (at + groups * plan.lanes < end && group[groups] == group[0] + groups) ++groups;
    const std::int32_t count = std::min(groups * plan.lanes, end - at);
    work(group[0] * plan.lanes, count, at - begin);
    at += count;
  }
}

/// Only computes, with a plan of all elements: calls `take` for each element of the batch, on the host and by several
/// threads at once. Its values stand `stride` numbers apart.
ElementStatus collect(const Sweep& sweep, const std::function<Compute()>& open_compute,
                      const std::function<void(std::int32_t element, const double* values, int stride)>& take);

/// A gather that adds factor · values to a block of `columns` nodal vectors, with `components` values per element node
/// and those of all columns side by side.
Gather add_to_nodes(const GatherPlan& plan, int dofs, int components, const detail::ElementEquations& equations,
                    double factor, double* y, int columns = 1);

}  // namespace voussoir::cpu
