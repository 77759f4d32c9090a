#include <voussoir/framework/io/deck/deck_elements.hpp>

#include <voussoir/framework/io/deck/detail/element_types.hpp>

namespace voussoir {

std::vector<DeckElement> deck_elements() {
  std::vector<DeckElement> all;
  for (const deck::ElementMeaning& m : deck::element_meanings())
    all.push_back({std::string(m.name), std::string(m.calculix), std::string(m.abaqus), std::string(m.heat)});
  return all;
}

}  // namespace voussoir
