#pragma once

// The arguments of element routines, on the host and on devices. Kernels that are compiled at run time include
// this, so it needs nothing of the standard library.

namespace voussoir {

/// A batch of elements on one device, as plain arrays on that device. Two-dimensional models have z = 0.
struct ElementView {
  int element_count = 0;                ///< of the batch
  const int* nodes = nullptr;           ///< element_count × nodes_per_element, local node numbers
  const double* coordinates = nullptr;  ///< 3 per local node
  const double* unknowns = nullptr;     ///< nodal unknowns at `first_unknown[node]`, or null: all zero
  const int* first_unknown = nullptr;   ///< index of each local node's first unknown in a nodal vector
  /// Which of its node's unknowns each component is: [local node][component]; null: the first ones.
  const unsigned char* slot = nullptr;
  const double* temperature = nullptr;          ///< per local node, or null: the initial temperature
  const double* initial_temperature = nullptr;  ///< per local node, or null: `start_temperature` at every node
  double start_temperature = 0;                 ///< the initial temperature where it is the same everywhere
  /// Reference temperature of tabulated expansion coefficients. Thermal strain is
  /// α(T) (T − reference) − α(T₀) (T₀ − reference) with T₀ the initial temperature.
  double expansion_reference = 0;
  /// Material and section numbers. A record is `table_rows` rows of (temperature, parameters…), ascending in
  /// temperature, interpolated linearly and constant outside; one row if nothing depends on temperature.
  const double* parameters = nullptr;
  const int* record = nullptr;  ///< record number of each element, or null: all use record 0
  int table_rows = 1;           ///< rows of a record
  /// Committed history of the elements, in the order that ElementProgram::history() writes; null: all zero.
  const double* history = nullptr;
  double time = 0;               ///< at the end of the step that is being solved
  double time_step = 0;          ///< from the committed state to `time`; 0 where the analysis has no time
  double prescribed_factor = 1;  ///< of the values that penalty springs prescribe
};

/// A body load: force per mass, constant and centrifugal; for heat, source per volume.
struct BodyLoad {
  double acceleration[3] = {0, 0, 0};    ///< gravity
  double angular_velocity_squared = 0;   ///< centrifugal: ω²
  double axis_point[3] = {0, 0, 0};      ///< a point on the axis of rotation
  double axis_direction[3] = {0, 0, 1};  ///< unit vector
  double source = 0;                     ///< heat produced per volume and time
};

enum class MassKind { consistent, lumped };

enum class ElementFault : int { none = 0, inverted, not_finite, bad_parameter };

}  // namespace voussoir
