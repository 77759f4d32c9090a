#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <voussoir/framework/response/amplitude.hpp>

// What steps of direct integration over time ask for.

namespace voussoir {

struct StepLoad;
struct BaseMotion;

/// Supports that move alike: unknowns of nodes with an amplitude, which multiplies what is prescribed.
struct MovedSupports {
  /// An unknown of a node.
  struct Place {
    std::int32_t node;    ///< index in the domain
    std::string unknown;  ///< its name
  };
  std::vector<Place> places;  ///< prescribed unknowns; empty: all supports that no other entry names
  Amplitude displacement;     ///< over the time of the step from 0 on
};

/// A displacement or velocity of a node at the beginning.
struct InitialMotion {
  std::int32_t node;    ///< index in the domain
  std::string unknown;  ///< its name
  double value;         ///< in the units of the job
};

/// How a step of direct integration divides its time.
struct DynamicTimes {
  double increment = 1;     ///< size of all increments; of the first one where they are automatic
  double period = 1;        ///< of the step
  double start = 0;         ///< total time at its beginning
  bool automatic = false;   ///< whether increments follow from the error
  double shortest = 0;      ///< of automatic increments; 0: 1e-5 of the first
  double longest = 0;       ///< of automatic increments; 0: any
  double tolerance = 1e-3;  ///< of automatic increments: TimeSteps::tolerance
  /// Of automatic increments of transient heat: the largest change of a temperature in one of them; 0: any.
  double largest_change = 0;
  int most_increments = 0;  ///< limit for implicit steps: more are an Error; 0: no limit
};

/// The coefficients of bulk viscosity where it is asked for without numbers; Abaqus's defaults.
struct BulkViscosityDefaults {
  static constexpr double linear = 0.06;    ///< of the linear term
  static constexpr double quadratic = 1.2;  ///< of the quadratic term
};

/// What a step of explicit dynamics asks for, besides its DynamicTimes: an increment of 0 follows from the stability
/// limit, between the shortest and the longest one.
struct ExplicitMethod {
  double factor = 0.9;             ///< of the stability limit, where increments follow from it
  double scaled_step = 0;          ///< mass is added to elements whose stable step is shorter than this; 0: none
  double most_added_mass = 0.05;   ///< share of the mass of the model that may be added; more is an Error
  double linear_viscosity = 0;     ///< bulk viscosity of solid elements: BulkViscosity::linear; 0: none
  double quadratic_viscosity = 0;  ///< BulkViscosity::quadratic; 0: none
};

}  // namespace voussoir
