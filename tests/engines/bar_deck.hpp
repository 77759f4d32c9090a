#pragma once
#include <sstream>
#include <string>
#include <utility>

// Decks of a bar, of which several processes each have a part.

namespace voussoir::test {

/// A bar of n × 2 × 2 elements along x, 1 long and 0.2 thick. LEFT and RIGHT are its ends, TIP is a corner.
inline std::string bar(int n, const std::string& type, const std::string& material, const std::string& rest) {
  std::ostringstream text;
  const auto node = [](int i, int j, int k) { return 1 + 9 * i + 3 * j + k; };
  text << "*NODE, NSET=NALL\n";
  for (int i = 0; i <= n; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k)
        text << node(i, j, k) << ", " << static_cast<double>(i) / n << ", " << 0.1 * j << ", " << 0.1 * k << "\n";
  text << "*ELEMENT, TYPE=" << type << ", ELSET=EALL\n";
  for (int i = 0, e = 1; i < n; ++i)
    for (int j = 0; j < 2; ++j)
      for (int k = 0; k < 2; ++k, ++e) {
        text << e;
        for (const int x : {0, 1})
          for (const auto& [dj, dk] : {std::pair{0, 0}, {1, 0}, {1, 1}, {0, 1}})
            text << ", " << node(i + x, j + dj, k + dk);
        text << "\n";
      }
  text << "*NSET, NSET=LEFT\n1, 2, 3, 4, 5, 6, 7, 8, 9\n*NSET, NSET=RIGHT\n";
  for (int m = 0; m < 9; ++m) text << (m ? ", " : "") << node(n, 0, 0) + m;
  text << "\n*NSET, NSET=TIP\n" << node(n, 2, 2) << "\n*ELSET, ELSET=FIRST\n1, 2, 3, 4\n*ELSET, ELSET=LAST\n";
  for (int m = 0; m < 4; ++m) text << (m ? ", " : "") << 4 * (n - 1) + 1 + m;
  text << "\n*MATERIAL, NAME=M\n" << material << "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n";
  return text.str() +
         "*AMPLITUDE, NAME=PULSE\n0., 0., 0.02, 1., 0.05, -0.3, 0.1, 0.\n*AMPLITUDE, NAME=BACK\n0., 0., 0.02, 1., "
         "0.05, 0., 1., 0.\n" +
         rest;
}

inline const std::string elastic = "*ELASTIC\n1000., 0.25\n*DENSITY\n2.\n";
inline const std::string heat =
    "*CONDUCTIVITY\n20.\n*SPECIFIC HEAT\n3.\n*DENSITY\n2.\n*EXPANSION\n1E-4\n*ELASTIC\n1000., 0.25\n";
inline const std::string held = "*BOUNDARY\nLEFT, 1, 3\n";
inline const std::string printed =
    "*NODE PRINT, NSET=TIP\nU, V, RF\n*EL PRINT, ELSET=LAST, FREQUENCY=3\nS, ENER\n*NODE PRINT, NSET=LEFT, "
    "TOTALS=YES\nRF\n*OUTPUT, HISTORY\n*NODE OUTPUT, NSET=TIP\nU, A\n*ELEMENT OUTPUT, ELSET=LAST, "
    "POSITION=CENTROIDAL\nS\n*END STEP\n";
inline const std::string printed_heat =
    "*NODE PRINT, NSET=TIP\nNT, RFL\n*EL PRINT, ELSET=LAST, FREQUENCY=2\nHFL\n*END STEP\n";

/// A bar of solids with beams along an edge, whose nodes have rotations. Only the beams have damping.
inline std::string mixed_bar(const std::string& steps) {
  std::string deck = bar(4, "C3D8", elastic, "");
  deck += "*ELEMENT, TYPE=B31, ELSET=BEAMS\n";
  for (int i = 0; i < 4; ++i)
    deck += std::to_string(100 + i) + ", " + std::to_string(9 * i + 9) + ", " + std::to_string(9 * i + 18) + "\n";
  deck +=
      "*MATERIAL, NAME=B\n*ELASTIC\n3000., 0.25\n*DENSITY\n5.\n*DAMPING, ALPHA=2., BETA=1e-4\n"
      "*BEAM SECTION, ELSET=BEAMS, MATERIAL=B, SECTION=RECT\n0.05, 0.05\n0., 1., 0.\n*BOUNDARY\n9, 4, 6\n";
  return deck + steps;
}

/// A bar whose last elements are of a material of their own.
inline std::string two_materials(const std::string& first, const std::string& last, const std::string& rest) {
  std::string deck = bar(4, "C3D8", first, "");
  const std::string section = "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n";
  deck.replace(deck.find(section), section.size(),
               "*ELSET, ELSET=BEFORE, GENERATE\n1, 12\n*SOLID SECTION, ELSET=BEFORE, MATERIAL=M\n*MATERIAL, NAME=M2\n" +
                   last + "*SOLID SECTION, ELSET=LAST, MATERIAL=M2\n");
  return deck + rest;
}

}  // namespace voussoir::test
