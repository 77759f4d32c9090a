#include <voussoir/framework/io/deck/deck_reader.hpp>

#include "fuzz/target.hpp"

void read_input(std::string_view bytes) {
  for (const auto dialect : {voussoir::Dialect::calculix, voussoir::Dialect::abaqus}) {
    voussoir::DeckOptions options;
    options.dialect = dialect;
    try {
      voussoir::read_deck_text(bytes, "fuzz.inp", options);
    } catch (const voussoir::Error&) {
    }
  }
}
