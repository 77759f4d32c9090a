#include <voussoir/framework/io/deck_reader.hpp>

#include <voussoir/framework/io/detail/deck/deck.hpp>

namespace voussoir {

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
