#pragma once

// The arguments of element routines, on the host and on devices. Kernels that are compiled at run time include
// this, so it needs nothing of the standard library.

namespace voussoir {

/// A batch of elements on one device, as plain arrays on that device. Two-dimensional models have z = 0.
struct ElementView {
  int element_count = 0;                ///< elements of the batch
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
  int table_rows = 1;           ///< rows of a record: tabulated temperatures
  /// Committed history of the elements, in the order that ElementProgram::history() writes; null: all zero.
  const double* history = nullptr;
  double time = 0;               ///< at the end of the step that is being solved
  double time_step = 0;          ///< from the committed state to `time`; 0 where the analysis has no time
  double prescribed_factor = 1;  ///< scales the values that penalty springs prescribe
};

/// A body load: force per mass, constant and centrifugal; for heat, source per volume.
struct BodyLoad {
  double acceleration[3] = {0, 0, 0};    ///< force per mass, such as gravity
  double angular_velocity_squared = 0;   ///< ω² of the centrifugal load, in rad²/time²
  double axis_point[3] = {0, 0, 0};      ///< a point on the axis of rotation
  double axis_direction[3] = {0, 0, 1};  ///< unit vector along the axis of rotation
  double source = 0;                     ///< heat produced per volume and time
};

/// The form of an element mass matrix.
enum class MassKind {
  consistent,  ///< ∫ ρ N_a N_b dV
  lumped       ///< diagonal, with the same total mass
};

/// What is wrong with an element that a routine could not compute.
enum class ElementFault : int {
  none = 0,      ///< nothing
  inverted,      ///< it is inside out or has no volume
  not_finite,    ///< a result is a NaN or an infinity
  bad_parameter  ///< a parameter is missing or outside its range
};

}  // namespace voussoir
