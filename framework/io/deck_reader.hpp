#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include <voussoir/framework/io/job.hpp>

namespace voussoir {

/// Whose meaning the names of a deck have where the programs differ; docs/decks.md has the table.
enum class Dialect { calculix, abaqus };

struct DeckOptions {
  Dialect dialect = Dialect::calculix;
  /// Called now and then with the fraction that has been read; returning false stops with Error (cancelled).
  std::function<bool(double fraction)> progress;
};

/// Reads an Abaqus or CalculiX deck (.inp). What docs/decks.md lists is understood; a card that is not, or that says
/// something that cannot be done here, is an Error with file, line and what to do. Cards that cannot change the answer
/// become a note of the job.
Job read_deck(const std::filesystem::path& path, const DeckOptions& options = {});

/// The same for text in memory; `name` stands for the file in messages. *INCLUDE looks below `folder`, and is an Error
/// where it is empty.
Job read_deck_text(std::string_view text, const std::string& name, const DeckOptions& options = {},
                   const std::filesystem::path& folder = {});

}  // namespace voussoir
