#include <voussoir/framework/io/deck/detail/parse/line_reader.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include <voussoir/framework/io/deck/detail/parse/card.hpp>
#include <voussoir/framework/io/deck/detail/parse/fields.hpp>

namespace voussoir::deck {
namespace {

constexpr std::size_t deepest_nesting = 32;
constexpr std::size_t most_includes = 10'000;  // files that include each other twice would go on for years
constexpr std::size_t most_replayed = std::size_t{2} << 30;  // bytes of parts, over all instances
constexpr std::size_t longest_line = 1 << 20;                // that parameters may make
constexpr std::ptrdiff_t bytes_between_reports = 4 << 20;

}  // namespace

void LineReader::open(const std::filesystem::path& path) {
  auto file_bytes = std::make_shared<const FileBytes>(path);
  const std::string_view text = file_bytes->bytes();
  std::error_code ignored;
  std::filesystem::path folder = path.parent_path();
  push(std::move(file_bytes), text, path.string(), folder.empty() ? std::filesystem::path(".") : folder,
       std::filesystem::weakly_canonical(path, ignored), {});
}

void LineReader::open_text(std::string_view text, const std::string& name, const std::filesystem::path& folder) {
  push(nullptr, text, name, folder, {}, {});
}

void LineReader::push(std::shared_ptr<const void> owner, std::string_view text, const std::string& name,
                      std::filesystem::path folder, std::filesystem::path identity, Place from) {
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    throw Error(ErrorCode::bad_input, "the file is in UTF-16: save it as plain text (ASCII or UTF-8)", name);
  // A CR alone ended lines long ago; a deck of such lines would be one long comment or keyword.
  if (const auto cr = text.find('\r');
      cr != text.npos && text.find('\n') == text.npos && text.find_first_not_of("\r \t", cr) != text.npos)
    throw Error(ErrorCode::bad_input,
                "the line ends are CR only; save the file with Unix (LF) or Windows (CR LF) line ends", name);
  files_.push_back(name);
  remember(name, text, owner, identity);
  const auto file = static_cast<std::int32_t>(files_.size() - 1);
  const char* const begin = text.data();
  stack_.push_back(
      Source{std::move(owner), text, std::move(folder), std::move(identity), from, begin, begin + text.size(), file});
  bytes_opened_ += text.size();
  if (text.starts_with("\xef\xbb\xbf")) stack_.back().at += 3;  // the mark that some editors put in front of UTF-8
  next_report_ = stack_.back().at;
  ahead_from_ = nullptr;
}

bool LineReader::at_end() {
  if (!fetched_) fetch();
  return kind_ == Kind::end;
}

std::optional<std::string> LineReader::keyword() {
  if (!fetched_) fetch();
  if (kind_ != Kind::keyword) return std::nullopt;
  fetched_ = false;
  std::string text(line_);
  const Place place = place_;
  while (text.ends_with(',')) {
    fetch();
    if (kind_ != Kind::data || !continues_keyword(text, line_)) break;
    fetched_ = false;
    text += line_;
  }
  place_ = place;
  return text;
}

void LineReader::fetch() {
  fetched_ = true;
  for (;;) {
    if (stack_.empty()) {
      kind_ = Kind::end;
      return;
    }
    if (!next_line()) {
      // The first file stays, so that the place of the end can be told.
      if (stack_.size() == 1) {
        kind_ = Kind::end;
        return;
      }
      bytes_closed_ += stack_.back().text.size();
      stack_.pop_back();
      if (stack_.size() == kept_depth_) kept_depth_ = 0;
      next_report_ = stack_.back().at;
      ahead_from_ = nullptr;
      continue;
    }
    if (line_.front() != '*') {
      kind_ = Kind::data;
      return;
    }
    if (line_.size() >= 8 && squeezed(line_.substr(0, line_.find(','))) == "*INCLUDE") {
      follow_include();
      continue;
    }
    kind_ = Kind::keyword;
    return;
  }
}

/// Finds the next line that is neither empty nor a comment in the innermost file.
bool LineReader::next_line() {
  Source& source = stack_.back();
  while (source.at != source.end) {
    if (source.at >= next_report_) report(source);
    const char* first = source.at;
    const void* const found = std::memchr(first, '\n', static_cast<std::size_t>(source.end - first));
    const char* last = found ? static_cast<const char*>(found) : source.end;
    source.at = found ? last + 1 : source.end;
    if (source.line < std::numeric_limits<std::int32_t>::max()) ++source.line;
    while (first != last && is_blank(*first)) ++first;
    if (first == last || (*first == '*' && last - first > 1 && first[1] == '*')) continue;
    while (is_blank(last[-1])) --last;
    line_ = {first, static_cast<std::size_t>(last - first)};
    begin_ = first;
    place_ = {source.file, source.line};
    if (!parameters_.empty() && line_.find('<') != line_.npos) replace_parameters();
    return true;
  }
  return false;
}

void LineReader::report(const Source& source) {
  next_report_ = source.end - source.at > bytes_between_reports ? source.at + bytes_between_reports : source.end;
  const auto position = static_cast<std::size_t>(source.at - source.text.data());
  if (!options_.progress) return;
  // How much further files will hold is not known before they are met, so the fraction may only be held back.
  const auto read = static_cast<double>(bytes_closed_) + static_cast<double>(position);
  reported_ = std::max(reported_, read / static_cast<double>(std::max<std::size_t>(bytes_opened_, 1)));
  if (!options_.progress(std::min(reported_, 1.0)))
    throw Error(ErrorCode::cancelled, "reading was stopped", files_[source.file]);
}

/// Where the next keyword line of the innermost file begins, or the file ends. Remembered, as the lines up to there may
/// be looked at piece by piece.
const char* LineReader::next_keyword() const {
  const Source& source = stack_.back();
  if (ahead_from_ && ahead_from_ <= source.at && source.at <= ahead_to_ && ahead_to_ <= source.end) return ahead_to_;
  ahead_from_ = source.at;
  return ahead_to_ = find_keyword(source);
}

const char* LineReader::find_keyword(const Source& source) {
  const char* const begin = source.text.data();
  for (const char* at = source.at; at != source.end;) {
    const auto* star = static_cast<const char*>(std::memchr(at, '*', static_cast<std::size_t>(source.end - at)));
    if (!star) break;
    const char* before = star;
    while (before != begin && is_blank(before[-1])) --before;
    const bool starts_line = before == begin || before[-1] == '\n';
    if (starts_line && !(star + 1 != source.end && star[1] == '*')) return star;
    at = star + 1;
    if (starts_line) {  // a comment, in which further stars mean nothing
      at = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(source.end - at)));
      if (!at) break;
    }
  }
  return source.end;
}

std::size_t LineReader::lines_ahead() const {
  if (stack_.empty() || fetched_) return 0;
  const Source& source = stack_.back();
  const char* const stop = next_keyword();
  if (stop < source.at) return 0;
  // Empty lines are none: one with something to keep has eight letters or so. Of many lines, the first ones tell.
  constexpr std::size_t enough = std::size_t{1} << 18;
  const auto bytes = static_cast<std::size_t>(stop - source.at), counted = std::min(bytes, enough);
  const auto lines = static_cast<double>(std::count(source.at, source.at + counted, '\n'));
  const double expected = lines * static_cast<double>(bytes) / static_cast<double>(std::max<std::size_t>(counted, 1));
  return std::min(static_cast<std::size_t>(expected), bytes / 8) + 1;
}

std::string_view LineReader::text_ahead() const {
  if (stack_.empty() || fetched_) return {};
  const Source& source = stack_.back();
  const char* const stop = next_keyword();
  if (stop <= source.at) return {};
  const std::string_view text(source.at, static_cast<std::size_t>(stop - source.at));
  constexpr std::size_t most = bytes_between_reports;
  if (text.size() <= most) return text;
  const std::size_t last = text.rfind('\n', most);
  return last == text.npos ? std::string_view() : text.substr(0, last + 1);
}

void LineReader::skip(std::size_t bytes, std::size_t lines) {
  Source& source = stack_.back();
  source.at += bytes;
  const auto room = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max() - source.line);
  source.line += static_cast<std::int32_t>(std::min(lines, room));
  place_ = {source.file, source.line};
  if (source.at >= next_report_) report(source);
}

void LineReader::follow_include() {
  const Place from = place_;
  std::string text(line_);
  // The name may stand in the next line; where it is there already, a comma at the end means nothing.
  while (text.ends_with(',') && text.find('=') == std::string::npos && next_line()) text += line_;
  Card card(text, from, files_);
  const std::string file = card.verbatim("INPUT");
  if (file.empty()) card.fail(ErrorCode::bad_input, "*INCLUDE needs the name of a file: *INCLUDE, INPUT=mesh.inp");
  card.done();
  fetched_ = false;  // the line itself is done with
  include(file, from);
  fetched_ = true;
}

void LineReader::include(std::string_view file, Place from) {
  const auto fail = [&](ErrorCode code, const std::string& text) { throw Error(code, text, where(from)); };
  if (in_kept()) return push_kept(next_kept(from), from);
  if (stack_.back().folder.empty())
    fail(ErrorCode::bad_input, "*INCLUDE of " + in_quotes(file) +
                                   " has no folder to search: this deck is text in memory; pass the folder with it");
  if (file.find('\0') != std::string_view::npos || file.size() > 4096)
    fail(ErrorCode::io, "*INCLUDE: " + in_quotes(file) + " is not a valid file name");
  if (stack_.size() >= deepest_nesting)
    fail(ErrorCode::bad_input, "files are nested more than " + std::to_string(deepest_nesting) + " deep");
  if (++includes_ > most_includes)
    fail(ErrorCode::bad_input, "more than " + std::to_string(most_includes) + " files are included");

  // Beside the file that includes it; or beside the deck, as for programs that are started there.
  const std::filesystem::path written{std::string(file)};
  std::filesystem::path path = stack_.back().folder / written;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored) && std::filesystem::exists(stack_.front().folder / written, ignored))
    path = stack_.front().folder / written;
  if (!std::filesystem::exists(path, ignored))
    fail(ErrorCode::io, "*INCLUDE: there is no file '" + path.string() + "'");
  if (!std::filesystem::is_regular_file(path, ignored))
    fail(ErrorCode::io, "*INCLUDE: '" + path.string() + "' is not a file");
  const std::filesystem::path identity = std::filesystem::weakly_canonical(path, ignored);
  for (std::size_t i = 0; i < stack_.size(); ++i)
    if (!identity.empty() && stack_[i].identity == identity)
      fail(ErrorCode::bad_input,
           "*INCLUDE: " + in_quotes(file) + " is being read already" +
               (i == 0 ? std::string(": it is the deck itself") : ": it was included at " + where(stack_[i].from)) +
               "; a file cannot include itself");
  put_back();
  std::string name = path.string();
  if (name.starts_with("./") && !file.starts_with("./")) name.erase(0, 2);
  std::shared_ptr<const FileBytes> file_bytes;
  try {
    file_bytes = std::make_shared<const FileBytes>(path);
  } catch (const Error& error) {
    fail(error.code(), "*INCLUDE: " + std::string(error.what()));
  }
  const std::string_view text = file_bytes->bytes();
  push(std::move(file_bytes), text, name, path.parent_path(), identity, from);
  fetched_ = false;
}

/// A line that was looked at comes after those that are put in front of it.
void LineReader::put_back() {
  if (!fetched_ || kind_ == Kind::end) return;
  stack_.back().at = begin_;
  stack_.back().line = place_.line - 1;
  fetched_ = false;
}

LineReader::Passage LineReader::begin_passage() {
  put_back();
  const Source& source = stack_.back();
  return {source.owner,
          {source.at, static_cast<std::size_t>(source.end - source.at)},
          source.folder,
          source.identity,
          {source.file, source.line}};
}

void LineReader::end_passage(Passage& passage, Place place) {
  const char* const first = passage.text.data();
  if (place.file != passage.before.file || place.line <= passage.before.line || begin_ < first ||
      begin_ > first + passage.text.size())
    throw Error(
        ErrorCode::bad_input,
        "this card ends a section that began at " + where(passage.before) + " in another file: put both into one file",
        where(place));
  passage.text = {first, static_cast<std::size_t>(begin_ - first)};
}

void LineReader::replay(const Passage& passage, Place from) {
  if (stack_.size() >= deepest_nesting)
    throw Error(ErrorCode::bad_input, "files are nested more than " + std::to_string(deepest_nesting) + " deep",
                where(from));
  replayed_ += passage.text.size();
  if (replayed_ > most_replayed)
    throw Error(ErrorCode::bad_input, "the instances of the deck expand to more than 2 GiB of text; is this intended?",
                where(from));
  put_back();
  Source source{passage.owner,
                passage.text,
                passage.folder,
                passage.identity,
                from,
                passage.text.data(),
                passage.text.data() + passage.text.size(),
                passage.before.file};
  source.line = passage.before.line;
  bytes_opened_ += passage.text.size();
  stack_.push_back(std::move(source));
  next_report_ = stack_.back().at;
  ahead_from_ = nullptr;
  fetched_ = false;
}

/// Puts the text of parameters in place of <name>. What stands between < and > and is no name stays as it is.
void LineReader::replace_parameters() {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
  };
  std::string result;
  for (std::size_t at = 0; at < line_.size();) {
    const std::size_t open = line_.find('<', at), close = line_.find('>', open == line_.npos ? at : open);
    if (open == line_.npos || close == line_.npos) {
      result += line_.substr(at);
      break;
    }
    const std::string_view name = trimmed(line_.substr(open + 1, close - open - 1));
    if (name.empty() || !std::all_of(name.begin(), name.end(), is_letter)) {
      result += line_.substr(at, open + 1 - at);
      at = open + 1;
      continue;
    }
    const auto found = parameters_.find(name);
    if (found == parameters_.end()) {
      std::vector<std::string> names;
      for (const auto& [known, text] : parameters_) names.push_back(known);
      const std::string meant = did_you_mean(name, names);
      throw Error(ErrorCode::not_found,
                  "there is no parameter " + in_quotes(name) +
                      (meant.empty() ? "; define it with *PARAMETER before this line" : meant),
                  where(place_));
    }
    result += line_.substr(at, open - at);
    result += found->second;
    at = close + 1;
    if (result.size() > longest_line)
      throw Error(ErrorCode::bad_input, "with its parameters, this line is longer than a million characters",
                  where(place_));
  }
  replaced_ = trimmed(result);
  line_ = replaced_;
}

}  // namespace voussoir::deck
