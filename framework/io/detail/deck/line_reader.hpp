#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <voussoir/framework/io/detail/deck/deck.hpp>
#include <voussoir/framework/io/detail/file_bytes.hpp>

namespace voussoir::deck {

/// The lines of a deck, one after the other, comments and empty ones left out. *INCLUDE is followed here, so that the
/// rest of the reader sees one long file: included text may hold whole cards or only data lines of the card before.
class LineReader {
 public:
  /// `files` receives the names of the files; a Place counts in it.
  LineReader(std::vector<std::string>& files, const DeckOptions& options) : files_(files), options_(options) {}

  /// Begins with a file, or with text whose *INCLUDEs are looked for in `folder`.
  void open(const std::filesystem::path& path);
  void open_text(std::string_view text, const std::string& name, const std::filesystem::path& folder);

  /// The next data line, trimmed; nothing where a keyword line or the end follows.
  std::optional<std::string_view> data() {
    if (!fetched_) fetch();
    if (kind_ != Kind::data) return std::nullopt;
    fetched_ = false;
    return line_;
  }
  /// The next keyword line with the lines that continue it put together; nothing at the end or where a data line
  /// follows.
  std::optional<std::string> keyword();
  /// Whether everything has been read.
  bool at_end();

  /// Where the line that was returned or looked at last stands.
  Place place() const { return place_; }
  std::string where(Place place) const { return files_[place.file] + ":" + std::to_string(place.line); }

  /// How many lines of this file follow before the next keyword line: for whoever wants to reserve memory.
  std::size_t lines_ahead() const;

  /// Reads a file from here on, and then goes on with this one.
  void include(std::string_view file, Place from);

 private:
  enum class Kind { data, keyword, end };
  struct Source {
    std::unique_ptr<FileBytes> file_bytes;  // null for text that belongs to somebody else
    std::string_view text;
    std::filesystem::path folder;    // of the file; empty for text without one
    std::filesystem::path identity;  // to know it again; empty for text
    Place from;                      // of the *INCLUDE
    const char* at;
    const char* end;
    std::int32_t file;
    std::int32_t line = 0;
  };
  void push(std::unique_ptr<FileBytes> file_bytes, std::string_view text, const std::string& name,
            std::filesystem::path folder, std::filesystem::path identity, Place from);
  void fetch();
  bool next_line();
  void follow_include();
  void report(const Source& source);

  std::vector<std::string>& files_;
  const DeckOptions& options_;
  std::vector<Source> stack_;
  std::string_view line_;
  Place place_;
  Kind kind_ = Kind::end;
  bool fetched_ = false;
  std::size_t includes_ = 0;
  std::size_t bytes_opened_ = 0, bytes_closed_ = 0;
  const char* next_report_ = nullptr;
  double reported_ = 0;
};

}  // namespace voussoir::deck
