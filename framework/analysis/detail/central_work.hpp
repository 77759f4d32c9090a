#pragma once
#include <memory>
#include <vector>

#include <voussoir/backends/explicit_services.hpp>
#include <voussoir/framework/analysis/central_differences.hpp>
#include <voussoir/framework/analysis/detail/viscous_forces.hpp>

namespace voussoir {

/// What the method keeps from step to step.
struct CentralDifferences::Work {
  std::vector<double> mass, damping;  // of all equations, whole where several processes share them
  std::vector<char> free;
  bool damps = false, with_surfaces = false, moving = false;
  Vector mass_on_device, damping_on_device, prescribed;  // shares; prescribed: 1 where it is, else 0
  Vector gain, keep;                                     // w₊ = gain F + keep w₋
  double formed_for = 0;                                 // step of gain and keep
  std::vector<double> inner, outer;                      // factors of batches
  Vector velocity, before;                               // w in the middle of the next and of the last step
  double next = 0, last = 0, between = 0;                // sizes of both steps, and the time between their middles
  Vector internal, external, support;                    // forces at the state
  Vector works[4];                                       // internal, external, damping, viscosity: per equation
  std::unique_ptr<detail::ViscousForces> viscosity;      // null: none
  Vector viscous;                                        // its forces at the state, which `internal` includes
  Vector ones, scratch, other, rate, second_rate;        // the last four for results in between
  std::vector<double> formed_factors;                    // of load cases, of the loads of the state
  EnergyBalance begin;                                   // at the start
  std::unique_ptr<ExplicitStepper> stepper;              // null: steps are taken one by one
  bool stepper_tried = false;                            // whether one was asked for
  std::vector<Vector> load_vectors;                      // of the stepper, at factor 1
  std::vector<std::size_t> load_cases;                   // of the first of these; those of the base follow
  double forcing = 0;                                    // at the state that was measured

  void forget_stepper() {
    stepper.reset();
    stepper_tried = false;
  }
};

}  // namespace voussoir
