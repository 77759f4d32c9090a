#include <array>
#include <cctype>

#include <voussoir/framework/io/deck/detail/element_types.hpp>

// Element types of Abaqus and CalculiX that are known but not supported, and why.

namespace voussoir::deck {
namespace {

struct Reason {
  std::string_view begins;  // the name begins with this …
  bool digit;               // … followed by a digit, or ends there
  std::string_view why;
};

// Longer beginnings stand first.
constexpr std::array reasons{
    Reason{"DASHPOT", false, "dashpots act in dynamics only"},
    Reason{"DCOUP2D", false, "plane distributing couplings are not implemented; use *COUPLING with *DISTRIBUTING"},
    Reason{"GAPUNI", false, "gaps are not implemented; a linear step cannot open and close them"},
    Reason{"GAP", false, "gaps are not implemented; a linear step cannot open and close them"},
    Reason{"ROTARYI", false, "rotary inertia acts in dynamics only"},
    Reason{"CONN", false, "connectors are not implemented; use *EQUATION or springs"},
    Reason{"COH", false, "cohesive elements are not implemented"},
    Reason{"STRI", true, "shells are not implemented; use solid elements"},
    Reason{"SAX", true, "shells are not implemented; use CAX8R elements over the thickness"},
    Reason{"SC", true, "shells are not implemented; use solid elements"},
    Reason{"S", true, "shells are not implemented; use solid elements, such as C3D20R, over the thickness"},
    Reason{"DS", true, "heat shells are not implemented; use DC3D elements over the thickness"},
    Reason{"M3D", true, "membranes are not implemented; use CPS elements in a plane, solid elements elsewhere"},
    Reason{"MAX", true, "membranes are not implemented"},
    Reason{"SFM", false, "surface elements are not implemented"},
    Reason{"R3D", true, "rigid elements are not implemented; use *RIGID BODY on nodes"},
    Reason{"R2D", true, "rigid elements are not implemented; use *RIGID BODY on nodes"},
    Reason{"RAX", true, "rigid elements are not implemented; use *RIGID BODY on nodes"},
    Reason{"B3", true, "only the beams B31, B31R, B32 and B32R are implemented"},
    Reason{"B2", true, "only the plane beams B21 and B22 are implemented"},
    Reason{"PIPE", true, "pipes with pressure are not implemented; use B31 with SECTION=PIPE"},
    Reason{"ELBOW", true, "elbows are not implemented; use B31 with SECTION=PIPE"},
    Reason{"T3D3", false, "only the trusses T2D2 and T3D2 are implemented"},
    Reason{"T2D3", false, "only the trusses T2D2 and T3D2 are implemented"},
    Reason{"DC1D", true, "heat conduction along lines is not implemented"},
    Reason{"AC", true, "acoustics are not implemented"},
    Reason{"ACAX", true, "acoustics are not implemented"},
    Reason{"F3D", true, "fluids are not implemented"},
    Reason{"F2D", true, "fluids are not implemented"},
    Reason{"CIN", false, "infinite elements are not implemented"},
    Reason{"CPEG", true, "generalised plane strain is not implemented"},
    Reason{"CGAX", true, "axisymmetry with twist is not implemented"},
    Reason{"EMC", false, "electromagnetics are not implemented"},
    Reason{"U", true, "write user elements in C++: see docs/tutorials/write_an_element.md"},
    Reason{"VU", true, "write user elements in C++: see docs/tutorials/write_an_element.md"},
};

}  // namespace

std::string_view why_not_element(std::string_view name) {
  if (name == "D") return "fluid networks are not implemented";
  for (const Reason& reason : reasons) {
    if (!name.starts_with(reason.begins)) continue;
    const std::string_view rest = name.substr(reason.begins.size());
    if (!reason.digit || rest.empty() || std::isdigit(static_cast<unsigned char>(rest.front()))) return reason.why;
  }
  // Letters at the end of a continuum element's name ask for another formulation.
  std::string_view stem = name;
  while (!stem.empty() && !std::isdigit(static_cast<unsigned char>(stem.back()))) stem.remove_suffix(1);
  const std::string_view ending = name.substr(stem.size());
  if (stem.size() < name.size() && find_meaning(stem)) {
    if (ending.find('H') != std::string_view::npos)
      return "hybrid elements are not implemented; incompatible modes (C3D8I, CPE4I, CAX4I) do not lock";
    if (ending.find('T') != std::string_view::npos)
      return "coupled temperature-displacement elements are not implemented; omit the letter T and use a *HEAT "
             "TRANSFER step before the *STATIC one";
    if (ending.find('E') != std::string_view::npos) return "electric potentials are not implemented";
    if (ending.find('P') != std::string_view::npos) return "pore pressure is not implemented";
    if (ending.find('M') != std::string_view::npos) return "modified elements are not implemented; omit the M";
    return "this formulation is not implemented; omit the letters at the end";
  }
  return {};
}

}  // namespace voussoir::deck
