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

/// The program whose definitions apply where CalculiX and Abaqus differ; docs/decks.md lists the differences.
enum class Dialect { calculix, abaqus };

/// How a deck is read.
struct DeckOptions {
  Dialect dialect = Dialect::calculix;  ///< the program whose definitions apply
  /// Whether a deck of nodes and elements only, without sections and steps, is accepted as a mesh (Job::mesh_only).
  /// Otherwise it is an Error.
  bool allow_mesh_only = false;
  /// Called from time to time with the fraction of the file that has been read. Returning false stops the reader with
  /// an Error (cancelled).
  std::function<bool(double fraction)> progress;
};

/// A deck with cards, parameters, element types or loads that are not supported. The text names the first and says how
/// many more there are; items() has them all.
class UnsupportedDeck : public Error {
 public:
  /// One unsupported feature and the places where it occurs.
  struct Item {
    std::string text;                 ///< what is not supported, and what to do
    std::vector<std::string> places;  ///< file and line of every occurrence: "beam.inp:12"
  };
  /// `consequence` is the first other error that followed, which these items may have caused; null if there was none.
  UnsupportedDeck(ErrorCode code, std::vector<Item> items, const Error* consequence);
  const std::vector<Item>& items() const noexcept { return items_; }  ///< all unsupported features
  std::size_t places() const noexcept { return places_; }             ///< number of occurrences of all items
  /// The first other error that followed, which these items may have caused.
  const std::optional<Error>& consequence() const noexcept { return consequence_; }

 private:
  std::vector<Item> items_;
  std::size_t places_ = 0;
  std::optional<Error> consequence_;
};

/// Reads an Abaqus or CalculiX deck (.inp). docs/decks.md lists what is supported. Anything else is an UnsupportedDeck
/// Error, and wrong input an Error, with file, line and what to do. Cards that do not affect the results become notes
/// of the job.
Job read_deck(const std::filesystem::path& path, const DeckOptions& options = {});

/// As read_deck(), for text in memory. `name` stands for the file name in messages. *INCLUDE files are searched for in
/// `folder`; if that is empty, *INCLUDE is an Error.
Job read_deck_text(std::string_view text, const std::string& name, const DeckOptions& options = {},
                   const std::filesystem::path& folder = {});

}  // namespace voussoir
