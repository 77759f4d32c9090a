#pragma once
#include <voussoir/backends/device_model.hpp>

namespace voussoir::cuda {

/// The nodes of a model on the first device: those of the model itself where there is only one device, else a copy
/// gathered from all of them.
class GatheredNodes {
 public:
  explicit GatheredNodes(const DeviceModel& model);
  GatheredNodes(const GatheredNodes&) = delete;
  GatheredNodes& operator=(const GatheredNodes&) = delete;

  std::int32_t count() const { return count_; }
  const Array<double>& coordinates() const { return *coordinates_; }
  const Array<std::int32_t>& first_equation() const { return *first_equation_; }
  const Array<std::uint8_t>& constrained() const { return *constrained_; }
  /// The most equations that a node has, at least 1.
  int most_components() const;

 private:
  void gather(const DeviceModel& model);

  std::int32_t count_;
  const Array<double>* coordinates_;
  const Array<std::int32_t>* first_equation_;
  const Array<std::uint8_t>* constrained_;
  Array<double> gathered_coordinates_;
  Array<std::int32_t> gathered_first_equation_;
  Array<std::uint8_t> gathered_constrained_;
};

}  // namespace voussoir::cuda
