#include <voussoir/backends/detail/projection_parts.hpp>

namespace voussoir::detail {

namespace {

const ElementBatch& batch_of(const DeviceModel& model, int device, int batch) {
  return model.part(device).batches[static_cast<std::size_t>(batch)];
}

[[noreturn]] void refuse_group(const ElementMatrixGroup& group, const std::string& why) {
  throw Error(ErrorCode::misuse, "project: a group of element matrices (batch " + std::to_string(group.batch) +
                                     ", elements from " + std::to_string(group.first) + " on) " + why +
                                     "; use a source that was made for this model");
}

}  // namespace

std::vector<std::int32_t> counted_elements(const DeviceModel& model, int device, int batch) {
  if (device == 0) return {};
  const ElementBatch& own = batch_of(model, device, batch);
  std::vector<bool> taken(static_cast<std::size_t>(described_elements(model, batch)), false);
  for (int d = 0; d < device; ++d)
    for (std::int32_t e = 0; e < batch_of(model, d, batch).element_count; ++e)
      taken[static_cast<std::size_t>(batch_of(model, d, batch).origin_of(e))] = true;
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(own.element_count));
  for (std::int32_t e = 0; e < own.element_count; ++e)
    numbers[static_cast<std::size_t>(e)] = taken[static_cast<std::size_t>(own.origin_of(e))] ? -1 : e;
  return numbers;
}

std::vector<std::int32_t> counted_by_description(const DeviceModel& model, int device, int batch) {
  if (model.devices() == 1 && batch_of(model, device, batch).origin.empty()) return {};
  const ElementBatch& own = batch_of(model, device, batch);
  const std::vector<std::int32_t> counted = counted_elements(model, device, batch);
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(described_elements(model, batch)), -1);
  for (std::int32_t e = 0; e < own.element_count; ++e)
    if (counted.empty() || counted[static_cast<std::size_t>(e)] >= 0)
      numbers[static_cast<std::size_t>(own.origin_of(e))] = e;
  return numbers;
}

GroupCheck::GroupCheck(const DeviceModel& model)
    : model_(model), next_(static_cast<std::size_t>(model.batch_count()), 0) {}

void GroupCheck::take(const ElementMatrixGroup& group) {
  if (group.batch < 0 || group.batch >= model_.batch_count())
    refuse_group(group, "is of a batch that the model does not have");
  const ElementProgram& program = *batch_of(model_, 0, group.batch).program;
  if (!program.symmetric())
    throw Error(ErrorCode::unavailable, "project: matrices of element type '" + program.name() +
                                            "' are not symmetric; project an operator of the model instead");
  if (group.entries != program.matrix_entries())
    refuse_group(group, "has " + std::to_string(group.entries) + " entries a matrix where elements of type '" +
                            program.name() + "' have " + std::to_string(program.matrix_entries()));
  std::int32_t& next = next_[static_cast<std::size_t>(group.batch)];
  const std::int32_t total = described_elements(model_, group.batch);
  if (group.first != next || group.first % element_matrix_lanes != 0)
    refuse_group(group, "does not begin with element " + std::to_string(next));
  if (group.count < 1 || group.count > total - group.first)
    refuse_group(group, "has " + std::to_string(group.count) + " elements where the batch has " +
                            std::to_string(total) + " in all");
  next = group.first + group.count;
  if (next != total && next % element_matrix_lanes != 0)
    refuse_group(group, "has " + std::to_string(group.count) + " elements, which is not a multiple of " +
                            std::to_string(element_matrix_lanes));
}

void GroupCheck::finish() const {
  for (std::size_t b = 0; b < next_.size(); ++b) {
    const std::int32_t total = described_elements(model_, static_cast<int>(b));
    if (next_[b] != 0 && next_[b] != total)
      throw Error(ErrorCode::misuse, "project: the source of element matrices ends behind element " +
                                         std::to_string(next_[b] - 1) + " of batch " + std::to_string(b) +
                                         ", which has " + std::to_string(total) + " elements");
  }
}

}  // namespace voussoir::detail
