#include <utility>

#include <voussoir/framework/io/deck/detail/parse/line_reader.hpp>

// Decks whose files are in memory, as *RESTART, READ finds them in a restart file.

namespace voussoir::deck {

void LineReader::remember(std::string name, std::string_view text, std::shared_ptr<const void> owner,
                          const std::filesystem::path& path) {
  std::error_code ignored;
  const bool on_disk = !path.empty() && std::filesystem::is_regular_file(path, ignored);
  DeckFile file{std::move(name), on_disk ? std::string_view() : text, on_disk ? nullptr : std::move(owner)};
  opened_.push_back({std::move(file), on_disk ? path : std::filesystem::path(), text.size()});
}

std::vector<DeckFile> LineReader::opened_files() const {
  std::vector<DeckFile> all;
  for (const Opened& opened : opened_) {
    DeckFile file = opened.file;
    if (!opened.path.empty()) {
      const auto bytes = std::make_shared<const FileBytes>(opened.path);
      file.text = bytes->bytes();
      file.owner = bytes;
      if (file.text.size() != opened.size)
        throw Error(ErrorCode::io, "the file has changed while the deck was read", opened.path.string());
    } else if (!file.owner) {
      const auto copy = std::make_shared<const std::string>(file.text);
      file.text = *copy;
      file.owner = copy;
    }
    all.push_back(std::move(file));
  }
  return all;
}

DeckFile LineReader::read_file(const std::filesystem::path& path) {
  DeckFile file;
  if (in_kept()) {
    file = next_kept(place_);
    remember(file.name, file.text, file.owner, {});
    return file;
  }
  const auto bytes = std::make_shared<const FileBytes>(path);
  file = {path.string(), bytes->bytes(), bytes};
  remember(file.name, file.text, file.owner, path);
  return file;
}

DeckFile LineReader::next_kept(Place from) {
  if (next_kept_ == kept_.size())
    throw Error(ErrorCode::bad_input,
                "the restart file does not have this file: it was written by another version of the program; run the "
                "job that wrote it again",
                where(from));
  return kept_[next_kept_++];
}

void LineReader::push_kept(const DeckFile& file, Place from) {
  put_back();
  push(file.owner, file.text, file.name, {}, {}, from);
  fetched_ = false;
}

void LineReader::read_kept(std::vector<DeckFile> files, int steps, Place from) {
  kept_ = std::move(files);
  next_kept_ = 0;
  kept_depth_ = stack_.size();
  push_kept(next_kept(from), from);
  opened_.back().file.steps = steps;
}

int LineReader::read_next_kept(Place from) {
  const DeckFile file = next_kept(from);
  push_kept(file, from);
  opened_.back().file.steps = file.steps;
  return file.steps;
}

void LineReader::leave(std::size_t depth) {
  // A line that was looked at beyond the end of the deck in memory has left it already.
  if (!in_kept() || stack_.size() <= depth) return;
  for (; stack_.size() > depth; stack_.pop_back()) bytes_closed_ += stack_.back().text.size();
  next_report_ = stack_.back().at;
  ahead_from_ = nullptr;
  fetched_ = false;
  if (depth == kept_depth_) kept_depth_ = 0;
}

}  // namespace voussoir::deck
