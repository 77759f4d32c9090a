#pragma once
#include <voussoir/elements/point/formulation.hpp>
#include <voussoir/elements/shapes/complete.hpp>

// Rules of the complete second-order shapes. They are integrated fully: with fewer points they would have motions
// without energy that a mesh does not suppress. To register an element of your own on them, include this first.

namespace voussoir {

template <Geometry geometry>
struct ElementRules<Quad9, geometry> {
  using Stiffness = GaussQuad<3>;
  using Mass = GaussQuad<3>;
};
template <Geometry geometry>
struct ElementRules<Wedge18, geometry> {
  using Stiffness = WedgeRule<3, 3>;
  using Mass = WedgeRule<6, 3>;
};
template <Geometry geometry>
struct ElementRules<Hex27, geometry> {
  using Stiffness = GaussHex<3>;
  using Mass = GaussHex<3>;
};

}  // namespace voussoir
