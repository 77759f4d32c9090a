#include <voussoir/framework/io/deck/deck_reader.hpp>

#include <utility>

#include <voussoir/framework/io/deck/detail/deck.hpp>

namespace voussoir {
namespace {

std::size_t places_of(const std::vector<UnsupportedDeck::Item>& items) {
  std::size_t places = 0;
  for (const UnsupportedDeck::Item& item : items) places += item.places.size();
  return places;
}

std::string first_and_others(const std::vector<UnsupportedDeck::Item>& items) {
  const std::size_t others = places_of(items) - 1;
  if (others == 0) return items.front().text;
  return items.front().text + " (and " + std::to_string(others) +
         (others == 1 ? " more place is" : " more places are") + " not supported: 'voussoir check' lists all)";
}

}  // namespace

UnsupportedDeck::UnsupportedDeck(ErrorCode code, std::vector<Item> items, const Error* consequence)
    : Error(code, first_and_others(items), items.front().places.front()),
      items_(std::move(items)),
      places_(places_of(items_)) {
  if (consequence) consequence_ = *consequence;
}

Job read_deck(const std::filesystem::path& path, const DeckOptions& options) {
  Job job = deck::build_job(deck::parse_deck(path, options), options);
  job.source = path.string();
  job.name = path.stem().string();
  return job;
}

Job read_deck_text(std::string_view text, const std::string& name, const DeckOptions& options,
                   const std::filesystem::path& folder) {
  return deck::build_job(deck::parse_deck_text(text, name, options, folder), options);
}

}  // namespace voussoir
