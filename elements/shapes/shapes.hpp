#pragma once
// Every shape. Node order is that of Abaqus and CalculiX input decks, which for all of these shapes is VTK's as well.
#include <voussoir/elements/shapes/hexahedron.hpp>
#include <voussoir/elements/shapes/line.hpp>
#include <voussoir/elements/shapes/quadrilateral.hpp>
#include <voussoir/elements/shapes/tetrahedron.hpp>
#include <voussoir/elements/shapes/triangle.hpp>
#include <voussoir/elements/shapes/wedge.hpp>
