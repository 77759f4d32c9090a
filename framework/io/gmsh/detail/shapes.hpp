#pragma once
#include <array>
#include <string>
#include <string_view>

namespace voussoir::gmsh {

constexpr int max_shape_nodes = 27;

/// How Gmsh writes a shape that we have.
struct Shape {
  int type;               ///< Gmsh's number of it
  std::string_view name;  ///< ours: "hex20"; "point"
  int dimension;
  int nodes;
  std::array<int, max_shape_nodes> order;  ///< our node i is Gmsh's node order[i]
};

/// The shape that Gmsh calls `type`; null where we have none.
const Shape* find_shape(int type);
/// The shape by our name; null where Gmsh has none.
const Shape* find_shape(std::string_view name);

/// What Gmsh calls a type that we do not have, and what to do about it.
std::string refusal(int type);

}  // namespace voussoir::gmsh
