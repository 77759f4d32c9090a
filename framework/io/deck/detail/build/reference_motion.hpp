#pragma once
#include <array>
#include <span>
#include <string>

#include <voussoir/framework/io/deck/detail/build/equation.hpp>

// What rigid bodies and couplings have in common: a reference node with a displacement and a rotation.

namespace voussoir::deck {

using Vector = std::array<double, 3>;

inline Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
inline constexpr std::array<Vector, 3> global_axes{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

/// Of any node, those that the reader made included.
Vector position(const Build& build, std::int32_t node);

/// The motion of a reference node: displacements u and rotations about the axes. In a plane there is one rotation.
struct Reference {
  std::int32_t node;
  Vector at;
  Unknown theta[3];  ///< node −1: there is none

  /// Adds `factor` times the displacement that its rigid motion has along d at x.
  void add_motion(Equation& equation, const Build& build, const Vector& d, const Vector& x, double factor) const;
};

/// Where the rotation vector of a reference node lives: in its own rotations if it has any, in dofs 1 to 3 of the
/// rotation node (−1: none), in what an earlier card made for it, or in a node of our own.
Reference reference_motion(Build& build, Model& model, std::int32_t node, std::int32_t rotation, Place place);

/// The displacement of a node along d is that of the reference's rigid motion.
void follow(Build& build, Model& model, std::int32_t node, const Reference& reference, const Vector& d,
            const std::string& label, Place place);
/// The rotation of a node about d is that of the reference.
void follow_rotation(Build& build, Model& model, std::int32_t node, const Reference& reference, const Vector& d,
                     const std::string& label, Place place);

}  // namespace voussoir::deck
