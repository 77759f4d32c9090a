#pragma once
#include <memory>
#include <vector>

#include <voussoir/backends/array.hpp>
#include <voussoir/backends/vector.hpp>

namespace voussoir {

/// One number per local node of each device, ghosts included, such as a temperature. Made by
/// DeviceModel::nodal_values().
struct NodalValues {
  std::vector<Array<double>> parts;  ///< one array per device, one value per local node
};

/// History variables of the elements of a model, such as plastic strains. Made by Backend::make_history() and
/// ElementServices::history().
struct ElementHistory {
  /// The numbers of one batch on one device, in the order in which the batch's program writes them there: groups of
  /// `lanes` elements side by side, as ElementProgram describes. Empty where the elements have no memory.
  struct Batch {
    int count = 0;         ///< numbers per element
    int lanes = 1;         ///< elements per group
    Array<double> values;  ///< all groups; the last one is padded to `lanes` elements
  };
  std::vector<std::vector<Batch>> parts;  ///< [device][batch]

  std::size_t bytes() const;  ///< memory on all devices
};

/// The arguments of element routines besides the model, which does not change while an analysis runs. Temperatures and
/// history are shared and immutable, so that an operator can keep the state at which it was formed.
struct ElementState {
  ElementState() = default;
  /// Unknowns at initial temperatures, without history; null: unknowns that are all zero.
  ElementState(const Vector* values) : unknowns(values) {}  // NOLINT(google-explicit-constructor)
  /// Unknowns at initial temperatures, without history. The vector must outlive the state.
  ElementState(const Vector& values) : unknowns(&values) {}  // NOLINT(google-explicit-constructor)

  const Vector* unknowns = nullptr;                ///< not owned, must outlive the call; null: all zero
  std::shared_ptr<const NodalValues> temperature;  ///< null: the initial temperatures
  std::shared_ptr<const ElementHistory> history;   ///< of the last committed step; null: all zero
  double time = 0;                                 ///< at the end of the step that is being solved
  double time_step = 0;                            ///< from the committed state to `time`
  double prescribed_factor = 1;                    ///< scales the values that penalty springs prescribe
};

/// An ElementState with its own copy of the unknowns. A matrix-free operator keeps it for its products.
class KeptElementState {
 public:
  /// Keeps a state; copies its unknowns by `copy(from, to)`, into the memory of the previous copy where it fits.
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
  /// Frees the copy; state() is then a state of zero unknowns.
  void forget() {
    unknowns_ = Vector();
    state_ = {};
  }
  /// The kept state. Its unknowns point into this object.
  ElementState state() const {
    ElementState result = state_;
    if (unknowns_.layout()) result.unknowns = &unknowns_;
    return result;
  }
  /// Memory of the copied unknowns on one device.
  std::size_t bytes(int device) const { return unknowns_.layout() ? unknowns_.part(device).bytes() : 0; }

 private:
  Vector unknowns_;
  ElementState state_;
};

}  // namespace voussoir
