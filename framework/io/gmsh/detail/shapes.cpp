#include <voussoir/framework/io/gmsh/detail/shapes.hpp>

namespace voussoir::gmsh {
namespace {

// Corners agree everywhere. Gmsh numbers the middle nodes of its tetrahedron, wedge and hexahedron by other lists of
// edges; each number below is where Gmsh keeps the middle of our edge (or face), read off the two lists.
constexpr Shape shapes[] = {
    {15, "point", 0, 1, {0}},
    {1, "line2", 1, 2, {0, 1}},
    {8, "line3", 1, 3, {0, 1, 2}},
    {2, "tri3", 2, 3, {0, 1, 2}},
    {9, "tri6", 2, 6, {0, 1, 2, 3, 4, 5}},
    {3, "quad4", 2, 4, {0, 1, 2, 3}},
    {16, "quad8", 2, 8, {0, 1, 2, 3, 4, 5, 6, 7}},
    {10, "quad9", 2, 9, {0, 1, 2, 3, 4, 5, 6, 7, 8}},
    {4, "tet4", 3, 4, {0, 1, 2, 3}},
    {11, "tet10", 3, 10, {0, 1, 2, 3, 4, 5, 6, 7, 9, 8}},
    {6, "wedge6", 3, 6, {0, 1, 2, 3, 4, 5}},
    {18, "wedge15", 3, 15, {0, 1, 2, 3, 4, 5, 6, 9, 7, 12, 14, 13, 8, 10, 11}},
    {13, "wedge18", 3, 18, {0, 1, 2, 3, 4, 5, 6, 9, 7, 12, 14, 13, 8, 10, 11, 15, 17, 16}},
    {5, "hex8", 3, 8, {0, 1, 2, 3, 4, 5, 6, 7}},
    {17, "hex20", 3, 20, {0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 13, 9, 16, 18, 19, 17, 10, 12, 14, 15}},
    {12, "hex27", 3, 27, {0,  1,  2,  3,  4,  5,  6,  7,  8,  11, 13, 9,  16, 18,
                          19, 17, 10, 12, 14, 15, 26, 20, 25, 21, 23, 24, 22}},
};

}  // namespace

const Shape* find_shape(int type) {
  for (const Shape& shape : shapes)
    if (shape.type == type) return &shape;
  return nullptr;
}

const Shape* find_shape(std::string_view name) {
  for (const Shape& shape : shapes)
    if (shape.name == name) return &shape;
  return nullptr;
}

std::string refusal(int type) {
  switch (type) {
    case 7:
    case 14:
    case 19:
      return "Gmsh's pyramids are not supported; mesh the volume with tetrahedra only, or with hexahedra and "
             "prisms only";
    default:
      break;
  }
  if (type >= 20 && type <= 140)
    return "Gmsh's element type " + std::to_string(type) +
           " is not supported, since it is of third or higher order or of a special kind; set Mesh.ElementOrder to 1 "
           "or 2 in Gmsh";
  return "Gmsh has no element type " + std::to_string(type) + "; the file is corrupt: save it again";
}

}  // namespace voussoir::gmsh
