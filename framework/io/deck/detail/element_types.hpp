#pragma once
#include <span>
#include <string>
#include <string_view>

#include <voussoir/framework/io/deck/deck_reader.hpp>

// What the element names of decks mean here, in both dialects. docs/decks.md has the same table for people.

namespace voussoir::deck {

/// What a section of such elements must say, and how they lie in space.
enum class Family { solid, plane_stress, plane_strain, axisymmetric, plane_heat, truss, beam, spring, mass, coupling };

/// One row of the table. Types that are empty do not exist: an element that only conducts has no structural one.
struct ElementMeaning {
  std::string_view name;  ///< "C3D8R"
  int nodes;              ///< of each element
  Family family;
  std::string_view calculix;  ///< structural type in CalculiX's meaning
  std::string_view abaqus;    ///< structural type in Abaqus's meaning
  std::string_view heat;      ///< type that conducts heat
  std::string_view planar;    ///< structural type where the whole model lies in a plane; empty: as otherwise
};

std::span<const ElementMeaning> element_meanings();

/// The row of a name in upper case; null where it is not read.
const ElementMeaning* find_meaning(std::string_view name);

/// Why a name that means something elsewhere is not read here; empty where nothing is known about it.
std::string_view why_not_element(std::string_view name);

/// "a solid", "a beam", … for messages.
std::string describe(Family family);

inline bool is_plane(Family f) {
  return f == Family::plane_stress || f == Family::plane_strain || f == Family::axisymmetric || f == Family::plane_heat;
}
/// Springs, masses and couplings: they are placed in whatever space the other elements span.
inline bool is_discrete(Family f) { return f == Family::spring || f == Family::mass || f == Family::coupling; }
/// Trusses and beams whose names say that they lie in the xy plane.
inline bool is_plane_line(const ElementMeaning& m) { return m.name == "T2D2" || m.name.starts_with("B2"); }

}  // namespace voussoir::deck
