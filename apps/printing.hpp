#pragma once
#include <string>
#include <vector>

#include <voussoir/backends/error.hpp>

// What commands that work on several files print: text, errors, and JSON documents.

namespace voussoir::app {

/// Writes to standard output at once, so that it stands before what goes wrong later.
void print(const std::string& text);
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
