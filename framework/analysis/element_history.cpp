#include <algorithm>

#include <voussoir/framework/analysis/detail/element_history.hpp>

namespace voussoir::detail {

std::vector<double> nodal_numbers(const AnalysisModel& model, const NodalValues* values) {
  if (!values) return {};
  const DeviceModel& devices = model.device_model();
  std::vector<double> numbers(static_cast<std::size_t>(devices.node_count()));
  for (int d = 0; d < devices.devices(); ++d)
    std::copy_n(values->parts[static_cast<std::size_t>(d)].read_host().begin(), devices.part(d).owned_nodes,
                numbers.begin() + devices.first_node(d));
  return numbers;
}

namespace {

/// Calls visit(place in element order, place in a batch of a device) for every number of history.
template <class Visit>
void over_history(const ElementBatch& batch, int count, int lanes, const Visit& visit) {
  for (std::int32_t e = 0; e < batch.element_count; ++e)
    for (int k = 0; k < count; ++k)
      visit(
          static_cast<std::size_t>(batch.origin_of(e)) * static_cast<std::size_t>(count) + static_cast<std::size_t>(k),
          (static_cast<std::size_t>(e / lanes) * static_cast<std::size_t>(count) + static_cast<std::size_t>(k)) *
                  static_cast<std::size_t>(lanes) +
              static_cast<std::size_t>(e % lanes));
}

std::size_t element_count(const AnalysisModel& model, int batch) {
  std::size_t count = 0;
  for (int d = 0; d < model.device_model().devices(); ++d) {
    const ElementBatch& own = model.device_model().part(d).batches[static_cast<std::size_t>(batch)];
    for (std::int32_t e = 0; e < own.element_count; ++e)
      count = std::max(count, static_cast<std::size_t>(own.origin_of(e)) + 1);
  }
  return count;
}

}  // namespace

std::vector<double> history_numbers(const AnalysisModel& model, int batch, const ElementHistory* history) {
  const DeviceModel& devices = model.device_model();
  const int count = devices.part(0).batches[static_cast<std::size_t>(batch)].program->history_count();
  if (count == 0) return {};
  std::vector<double> numbers(element_count(model, batch) * static_cast<std::size_t>(count), 0.0);
  if (!history) return numbers;
  // From the last device to the first: of elements that two devices have, the first one's numbers stay.
  for (int d = devices.devices() - 1; d >= 0; --d) {
    const auto& own = history->parts[static_cast<std::size_t>(d)][static_cast<std::size_t>(batch)];
    if (own.values.empty()) continue;
    const auto values = own.values.read_host();
    over_history(devices.part(d).batches[static_cast<std::size_t>(batch)], count, own.lanes,
                 [&](std::size_t place, std::size_t at) { numbers[place] = values[at]; });
  }
  return numbers;
}

std::shared_ptr<const ElementHistory> make_history(const AnalysisModel& model,
                                                   std::span<const std::vector<double>> numbers) {
  const DeviceModel& devices = model.device_model();
  std::shared_ptr<ElementHistory> history = model.backend().make_history(devices);
  if (!history) return history;
  for (int d = 0; d < devices.devices(); ++d)
    for (std::size_t b = 0; b < numbers.size(); ++b) {
      auto& own = history->parts[static_cast<std::size_t>(d)][b];
      if (own.values.empty()) continue;
      const auto values = own.values.write_host();
      std::fill(values.begin(), values.end(), 0.0);
      over_history(devices.part(d).batches[b], own.count, own.lanes,
                   [&](std::size_t place, std::size_t at) { values[at] = numbers[b][place]; });
    }
  return history;
}

}  // namespace voussoir::detail
