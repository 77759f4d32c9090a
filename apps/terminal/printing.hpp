#pragma once
#include <fmt/core.h>

#include <string>
#include <utility>
#include <vector>

#include <voussoir/backends/error.hpp>

// What the commands print: text, errors, and JSON documents. Names of decks and files are made harmless on the way: all
// text that holds one goes through here.

namespace voussoir::app {

/// Writes to standard output at once, so that it stands before what goes wrong later.
void print(const std::string& text);
/// The same for text that is put together from pieces.
template <class... Pieces>
void show(fmt::format_string<Pieces...> format, Pieces&&... pieces) {
  print(fmt::format(format, std::forward<Pieces>(pieces)...));
}
/// The same to standard error. Nothing can be said where that is lost, and nothing is thrown for it.
void print_to_error(const std::string& text);
template <class... Pieces>
void show_error(fmt::format_string<Pieces...> format, Pieces&&... pieces) {
  print_to_error(fmt::format(format, std::forward<Pieces>(pieces)...));
}
/// Text in which pages of the documentation ("docs/decks.md") are named by where they are: beside an installed program
/// in its share/doc/voussoir, in a build in the source folder. A page that is in neither keeps its name.
std::string with_places_of_docs(const std::string& text);

/// Tells on standard error what is wrong with a file.
void print_error(const Error& error, const std::string& file);

/// The documents of --json, one for each file.
class Documents {
 public:
  void add(std::string document) { documents_.push_back(std::move(document)); }
  /// A single file's as it is, those of several files as a list.
  void print(std::size_t files) const;

 private:
  std::vector<std::string> documents_;
};

}  // namespace voussoir::app
