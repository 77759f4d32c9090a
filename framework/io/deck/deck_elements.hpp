#pragma once
#include <string>
#include <vector>

namespace voussoir {

/// What the name of an element in a deck means here. Types that are empty do not exist: an element that only conducts
/// has no structural one.
struct DeckElement {
  std::string name;      ///< "C3D8R"
  std::string calculix;  ///< structural type in CalculiX's meaning
  std::string abaqus;    ///< structural type in Abaqus's meaning
  std::string heat;      ///< type that conducts heat
};

/// Every name that decks may use, in the order of docs/decks.md.
std::vector<DeckElement> deck_elements();

}  // namespace voussoir
