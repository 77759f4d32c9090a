#pragma once
#include <voussoir/elements/structural/beam.hpp>
#include <voussoir/elements/structural/curved_beam.hpp>
#include <voussoir/elements/structural/point_mass.hpp>
#include <voussoir/elements/structural/spring.hpp>
#include <voussoir/elements/structural/truss.hpp>

namespace voussoir::stock {

template <class Add>
void structural(const Add& add) {
  add.template type<Truss>(Truss::name, Truss::shape);
  add.template type<PlaneTruss>(PlaneTruss::name, PlaneTruss::shape);
  add.template type<Beam>(Beam::name, Beam::shape);
  add.template type<CurvedBeam>(CurvedBeam::name, CurvedBeam::shape);
  add.template type<AxialSpring>(AxialSpring::name, AxialSpring::shape);
  add.template type<PlaneAxialSpring>(PlaneAxialSpring::name, PlaneAxialSpring::shape);
  add.template type<Spring>(Spring::name, Spring::shape);
  add.template type<PlaneSpring>(PlaneSpring::name, PlaneSpring::shape);
  add.template type<RotarySpring>(RotarySpring::name, RotarySpring::shape);
  add.template type<SpringToGround>(SpringToGround::name, SpringToGround::shape);
  add.template type<PlaneSpringToGround>(PlaneSpringToGround::name, PlaneSpringToGround::shape);
  add.template type<RotarySpringToGround>(RotarySpringToGround::name, RotarySpringToGround::shape);
  add.template type<PointMass>(PointMass::name, "");
  add.template type<PlaneMass>(PlaneMass::name, "");
  add.template type<RotaryMass>(RotaryMass::name, "");
}

}  // namespace voussoir::stock
