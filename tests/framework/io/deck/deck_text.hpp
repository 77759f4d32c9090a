#pragma once
#include <string>

#include <voussoir/framework/io/deck/deck_reader.hpp>

// Small decks for tests, in pieces that a test puts together.

namespace voussoir::testing {

inline Job job_of(const std::string& text, Dialect dialect = Dialect::calculix) {
  DeckOptions options;
  options.dialect = dialect;
  return read_deck_text(text, "test.inp", options);
}

/// The unit cube, corners 1…8 as a hexahedron has them; node sets BOTTOM (z = 0) and TOP (z = 1). Ten lines.
inline const std::string cube_nodes =
    "*NODE, NSET=NALL\n"
    "1, 0, 0, 0\n2, 1, 0, 0\n3, 1, 1, 0\n4, 0, 1, 0\n"
    "5, 0, 0, 1\n6, 1, 0, 1\n7, 1, 1, 1\n8, 0, 1, 1\n"
    "*NSET, NSET=BOTTOM\n1, 2, 3, 4\n*NSET, NSET=TOP\n5, 6, 7, 8\n";

inline std::string cube_of(const std::string& type) {
  return cube_nodes + "*ELEMENT, TYPE=" + type + ", ELSET=EALL\n1, 1, 2, 3, 4, 5, 6, 7, 8\n";
}

inline const std::string steel = "*MATERIAL, NAME=STEEL\n*ELASTIC\n1000., 0.25\n*DENSITY\n2.\n*CONDUCTIVITY\n5.\n";
inline const std::string solid_section = "*SOLID SECTION, ELSET=EALL, MATERIAL=STEEL\n";
inline const std::string clamped = "*BOUNDARY\nBOTTOM, 1, 3\n";

/// A cube that is ready for steps.
inline std::string cube_model(const std::string& type = "C3D8") { return cube_of(type) + steel + solid_section; }

/// A plane square 1 × 1 of one element, corners 1…4, set LEFT (x = 0).
inline std::string square_model(const std::string& type, const std::string& thickness = "") {
  return "*NODE, NSET=NALL\n1, 1, 0\n2, 2, 0\n3, 2, 1\n4, 1, 1\n*NSET, NSET=LEFT\n1, 4\n*ELEMENT, TYPE=" + type +
         ", ELSET=EALL\n1, 1, 2, 3, 4\n" + steel + solid_section + (thickness.empty() ? "" : thickness + "\n");
}

inline std::string static_step(const std::string& cards) { return "*STEP\n*STATIC\n" + cards + "*END STEP\n"; }
inline std::string heat_step(const std::string& cards) {
  return "*STEP\n*HEAT TRANSFER, STEADY STATE\n" + cards + "*END STEP\n";
}

}  // namespace voussoir::testing
