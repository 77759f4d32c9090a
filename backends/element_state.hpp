#pragma once
#include <memory>
#include <vector>

#include <voussoir/backends/array.hpp>
#include <voussoir/backends/vector.hpp>

namespace voussoir {

/// One number per local node of each device, ghosts included: temperatures. DeviceModel::nodal_values() makes it.
struct NodalValues {
  std::vector<Array<double>> parts;  ///< per device
};

/// History of the elements of a model: what materials remember. Backend::make_history() and Backend::history() make it.
struct ElementHistory {
  /// The numbers of one batch on one device, in the order in which the batch's program writes them there: groups of
  /// `lanes` elements side by side, as ElementProgram describes. Empty where the elements have no memory.
  struct Batch {
    int count = 0;         ///< numbers per element
    int lanes = 1;         ///< elements side by side
    Array<double> values;  ///< whole groups of lanes
  };
  std::vector<std::vector<Batch>> parts;  ///< [device][batch]

  std::size_t bytes() const;  ///< on all devices
};

/// All that element routines see besides the model: the model itself never changes while an analysis runs. Temperatures
/// and history are shared and never written again, so that an operator can keep the state that it was formed at.
struct ElementState {
  ElementState() = default;
  /// Unknowns at initial temperatures, without history; null: unknowns that are all zero.
  ElementState(const Vector* values) : unknowns(values) {}   // NOLINT(google-explicit-constructor)
  ElementState(const Vector& values) : unknowns(&values) {}  // NOLINT(google-explicit-constructor)

  const Vector* unknowns = nullptr;                ///< must outlive the call; null: all zero
  std::shared_ptr<const NodalValues> temperature;  ///< null: the initial temperatures
  std::shared_ptr<const ElementHistory> history;   ///< committed; null: all zero
  double time = 0;                                 ///< at the end of the step that is being solved
  double time_step = 0;                            ///< from the committed state to `time`
  double prescribed_factor = 1;                    ///< of the values that penalty springs prescribe
};

/// An ElementState with its own copy of the unknowns: what a matrix-free operator keeps of the state it was formed at.
class KeptElementState {
 public:
  /// Copies the unknowns through `copy(from, to)`; reuses the memory of the last ones.
  template <class Copy>
  void keep(const ElementState& state, const Copy& copy) {
    state_ = state;
    if (!state.unknowns) {
      unknowns_ = Vector();
      return;
    }
    if (unknowns_.layout() != state.unknowns->layout() || unknowns_.columns() != state.unknowns->columns())
      unknowns_ = Vector(state.unknowns->layout(), state.unknowns->columns());
    copy(*state.unknowns, unknowns_);
    state_.unknowns = nullptr;
  }
  /// Frees the copy.
  void forget() {
    unknowns_ = Vector();
    state_ = {};
  }
  /// What was kept; refers to this object.
  ElementState state() const {
    ElementState result = state_;
    if (unknowns_.layout()) result.unknowns = &unknowns_;
    return result;
  }
  /// Of the copied unknowns, on one device.
  std::size_t bytes(int device) const { return unknowns_.layout() ? unknowns_.part(device).bytes() : 0; }

 private:
  Vector unknowns_;
  ElementState state_;
};

}  // namespace voussoir
