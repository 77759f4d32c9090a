#pragma once
#include <string>
#include <vector>

namespace voussoir {

/// The element types that an element name of a deck stands for. A type is empty if it does not exist: an element that
/// only conducts heat has no structural type.
struct DeckElement {
  std::string name;      ///< name in the deck: "C3D8R"
  std::string calculix;  ///< structural type as CalculiX defines the name: "solid.hex8.reduced"
  std::string abaqus;    ///< structural type as Abaqus defines the name
  std::string heat;      ///< type for heat conduction
};

/// All element names that are supported in decks, in the order of docs/decks.md.
std::vector<DeckElement> deck_elements();

}  // namespace voussoir
