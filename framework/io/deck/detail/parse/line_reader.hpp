#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <voussoir/framework/io/deck/detail/deck.hpp>
#include <voussoir/framework/io/detail/file_bytes.hpp>
#include <voussoir/framework/io/job/restart.hpp>

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
  /// The next keyword line with the lines that continue it put together (see continues_keyword()); nothing at the end
  /// or where a data line follows.
  std::optional<std::string> keyword();
  /// Whether everything has been read.
  bool at_end();

  /// Where the line that was returned or looked at last stands.
  Place place() const { return place_; }
  /// For messages about lines that are looked at again.
  void set_place(Place place) { place_ = place; }
  std::string where(Place place) const { return files_[place.file] + ":" + std::to_string(place.line); }

  /// The folder of the deck; empty for text without one.
  const std::filesystem::path& folder() const { return stack_.front().folder; }

  /// How many lines of this file follow before the next keyword line: for whoever wants to reserve memory.
  std::size_t lines_ahead() const;
  /// Whole lines of this file that follow before the next keyword line, as they stand there, or the first of them where
  /// they are very many. Empty where a line was looked at already.
  std::string_view text_ahead() const;
  /// Goes on behind so many bytes of text_ahead(), which are so many whole lines.
  void skip(std::size_t bytes, std::size_t lines);

  /// Reads a file from here on, and then goes on with this one.
  void include(std::string_view file, Place from);
  /// The bytes of a file that is not a deck; errors are those of FileBytes.
  DeckFile read_file(const std::filesystem::path& path);

  /// All files that were opened so far, in this order, with their texts. Files that lie on a disk are read again, as
  /// their texts are not kept while the deck is read: it is an Error (io) if they have changed.
  std::vector<DeckFile> opened_files() const;
  /// Reads a deck from here on whose files are in memory, `steps` steps of it. Files that it includes are the next ones
  /// of the list. leave() returns to this file.
  void read_kept(std::vector<DeckFile> files, int steps, Place from);
  /// Within such a deck: reads the next one of the list. Returns how many of its steps were kept.
  int read_next_kept(Place from);
  /// Whether the line that was returned last stands in such a deck.
  bool in_kept() const { return kept_depth_ > 0; }
  /// How deep files are nested, and what goes on with the file at such a depth.
  std::size_t depth() const { return stack_.size(); }
  void leave(std::size_t depth);

  /// A part of a file that can be read again.
  struct Passage {
    std::shared_ptr<const void> owner;  ///< of the text; null where it belongs to somebody else
    std::string_view text;
    std::filesystem::path folder, identity;
    Place before;  ///< the line in front of the first one
  };
  /// The passage that begins with the next line, and where it ends: before the keyword line that was returned last.
  /// They have to stand in the same file; otherwise the end is an Error at `place`.
  Passage begin_passage();
  void end_passage(Passage& passage, Place place);
  /// Reads a passage again from here on, and then goes on as before.
  void replay(const Passage& passage, Place from);

  /// From the next line on, <name> stands for this text (*PARAMETER).
  void set_parameter(const std::string& name, std::string text) { parameters_[name] = std::move(text); }

 private:
  enum class Kind { data, keyword, end };
  struct Source {
    std::shared_ptr<const void> owner;  // of the text; null where it belongs to somebody else
    std::string_view text;
    std::filesystem::path folder;    // of the file; empty for text without one
    std::filesystem::path identity;  // to know it again; empty for text
    Place from;                      // of the *INCLUDE
    const char* at;
    const char* end;
    std::int32_t file;
    std::int32_t line = 0;
  };
  void push(std::shared_ptr<const void> owner, std::string_view text, const std::string& name,
            std::filesystem::path folder, std::filesystem::path identity, Place from);
  void fetch();
  bool next_line();
  void put_back();
  const char* next_keyword() const;
  static const char* find_keyword(const Source& source);
  void replace_parameters();
  void follow_include();
  void report(const Source& source);
  void remember(std::string name, std::string_view text, std::shared_ptr<const void> owner,
                const std::filesystem::path& path);
  /// The next file of a deck in memory (kept_files.cpp), and how it is read from here on.
  DeckFile next_kept(Place from);
  void push_kept(const DeckFile& file, Place from);

  std::vector<std::string>& files_;
  const DeckOptions& options_;
  std::vector<Source> stack_;
  std::string_view line_;
  const char* begin_ = nullptr;  // of the line in its file, whatever line_ looks at
  std::string replaced_;         // the line, where it has parameters
  std::map<std::string, std::string, std::less<>> parameters_;
  Place place_;
  Kind kind_ = Kind::end;
  bool fetched_ = false;
  std::size_t includes_ = 0, replayed_ = 0;
  std::size_t bytes_opened_ = 0, bytes_closed_ = 0;
  const char* next_report_ = nullptr;
  mutable const char *ahead_from_ = nullptr, *ahead_to_ = nullptr;  // no keyword line begins between them
  double reported_ = 0;
  struct Opened {
    DeckFile file;               // without text where it lies on a disk
    std::filesystem::path path;  // of such a file
    std::size_t size;
  };
  std::vector<Opened> opened_;
  std::vector<DeckFile> kept_;  // files of a deck in memory
  std::size_t next_kept_ = 0;   // the first of them that was not opened yet
  std::size_t kept_depth_ = 0;  // of the file that reads it; 0: there is none
};

}  // namespace voussoir::deck
