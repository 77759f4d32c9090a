#include <voussoir/backends/cuda/runtime/faults.hpp>

#include <algorithm>

namespace voussoir::cuda {

FaultWords::FaultWords(const DeviceModel& model) : model_(model) {
  const auto batches = static_cast<std::size_t>(std::max(1, model.batch_count()));
  for (int d = 0; d < model.devices(); ++d) {
    words_.emplace_back(model.layout()->memory(d), batches);
    from_host_.emplace_back(batches, no_fault);
    DeviceSection section(*model.layout()->memory(d));
    fill_bytes_async(words_.back().write_device(), 0xff, words_.back().bytes(), stream_of(model.layout()->memory(d)));
  }
}

FaultWord* FaultWords::word(int device, int batch) const {
  return words_[static_cast<std::size_t>(device)].update_device() + batch;
}

void FaultWords::note(int device, int batch, const ElementStatus& status) {
  if (status.fault == ElementFault::none) return;
  FaultWord& word = from_host_[static_cast<std::size_t>(device)][static_cast<std::size_t>(batch)];
  word = std::min(word, static_cast<FaultWord>(status.element) * 4 + static_cast<FaultWord>(status.fault));
}

void FaultWords::rethrow() {
  ElementFault fault = ElementFault::none;
  int batch_number = 0;
  std::int32_t element = 0;
  for (int d = 0; d < model_.devices(); ++d) {
    const auto words = words_[static_cast<std::size_t>(d)].read_host();
    for (int b = 0; b < model_.batch_count(); ++b) {
      const FaultWord word = std::min(words[static_cast<std::size_t>(b)],
                                      from_host_[static_cast<std::size_t>(d)][static_cast<std::size_t>(b)]);
      if (word == no_fault) continue;
      const ElementBatch& batch = model_.part(d).batches[static_cast<std::size_t>(b)];
      const std::int32_t origin = batch.origin_of(static_cast<std::int32_t>(word / 4));
      if (fault != ElementFault::none && (b > batch_number || (b == batch_number && origin >= element))) continue;
      fault = static_cast<ElementFault>(word % 4);
      batch_number = b;
      element = origin;
    }
  }
  if (fault == ElementFault::none) return;
  for (int d = 0; d < model_.devices(); ++d) {
    auto& words = words_[static_cast<std::size_t>(d)];
    std::fill(from_host_[static_cast<std::size_t>(d)].begin(), from_host_[static_cast<std::size_t>(d)].end(), no_fault);
    DeviceSection section(*model_.layout()->memory(d));
    fill_bytes_async(words.write_device(), 0xff, words.bytes(), stream_of(model_.layout()->memory(d)));
  }
  throw ElementError(fault, batch_number, element);
}

}  // namespace voussoir::cuda
