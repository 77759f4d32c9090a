#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/io/job/job.hpp>

namespace voussoir {

/// Whose meaning the names of a deck have where the programs differ; docs/decks.md has the table.
enum class Dialect { calculix, abaqus };

/// How a deck is read.
struct DeckOptions {
  Dialect dialect = Dialect::calculix;
  /// Accept a deck with only nodes and elements, without sections and steps, as a mesh (Job::mesh_only). Otherwise that
  /// is an Error.
  bool allow_mesh_only = false;
  /// Called now and then with the fraction that has been read; returning false stops with Error (cancelled).
  std::function<bool(double fraction)> progress;
};

/// A deck with cards, parameters, element types or loads that are not supported. The text names the first and says how
/// many more there are; items() has them all.
class UnsupportedDeck : public Error {
 public:
  /// One unsupported feature and the places where it occurs.
  struct Item {
    std::string text;                 ///< what it is, and what to do
    std::vector<std::string> places;  ///< "beam.inp:12", all of them
  };
  /// `consequence` is the first other error after them, which may be a consequence; null: none.
  UnsupportedDeck(ErrorCode code, std::vector<Item> items, const Error* consequence);
  const std::vector<Item>& items() const noexcept { return items_; }
  /// Of the items.
  std::size_t places() const noexcept { return places_; }
  const std::optional<Error>& consequence() const noexcept { return consequence_; }

 private:
  std::vector<Item> items_;
  std::size_t places_ = 0;
  std::optional<Error> consequence_;
};

/// Reads an Abaqus or CalculiX deck (.inp). docs/decks.md lists what is supported; a card that is not, or that contains
/// something that cannot be done here, is an Error with file, line and what to do. Cards that cannot change the answer
/// become a note of the job.
Job read_deck(const std::filesystem::path& path, const DeckOptions& options = {});

/// The same for text in memory; `name` replaces the file in messages. *INCLUDE searches `folder`, and is an Error
/// where it is empty.
Job read_deck_text(std::string_view text, const std::string& name, const DeckOptions& options = {},
                   const std::filesystem::path& folder = {});

}  // namespace voussoir
