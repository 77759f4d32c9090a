#include <voussoir/framework/io/deck/detail/parse/card.hpp>

#include <algorithm>

#include <voussoir/backends/spelling.hpp>
#include <voussoir/framework/io/deck/detail/parse/fields.hpp>

namespace voussoir::deck {
namespace {

constexpr std::size_t longest_name = 256;

/// Upper case, with single blanks between words: "*Solid  Section" is shown as "*SOLID SECTION".
std::string shown_name(std::string_view text) {
  std::string result;
  for (const char c : trimmed(text))
    if (!is_blank(c))
      result += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    else if (result.back() != ' ')
      result += ' ';
  return result;
}

}  // namespace

Card::Card(std::string_view text, Place place, const std::vector<std::string>& files) : place_(place), files_(files) {
  std::vector<std::string_view> fields;
  split_fields(text, fields);
  const std::string_view keyword = fields.empty() ? std::string_view{} : fields.front();
  key_ = squeezed(keyword.substr(keyword.empty() ? 0 : 1));
  name_ = shown_name(keyword);
  for (std::size_t i = 1; i < fields.size(); ++i) {
    if (fields[i].empty()) continue;
    const std::size_t equals = fields[i].find('=');
    Parameter parameter;
    parameter.shown = shown_name(fields[i].substr(0, equals));
    parameter.key = squeezed(parameter.shown);
    if (equals != std::string_view::npos) {
      parameter.has_value = true;
      std::string_view value = trimmed(fields[i].substr(equals + 1));
      parameter.value = canonical_name(value);
      if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
      parameter.verbatim = value;
      if (parameter.value.size() > longest_name && parameter.key != "INPUT")
        fail(ErrorCode::bad_input, parameter.shown + "=" + in_quotes(value) + " is too long: names have at most " +
                                       std::to_string(longest_name) + " letters");
    }
    parameters_.push_back(std::move(parameter));
  }
}

void Card::fail(ErrorCode code, const std::string& text) const {
  throw Error(code, text, files_[place_.file] + ":" + std::to_string(place_.line));
}

void Card::fail_unsupported(ErrorCode code, const std::string& text) const {
  throw Unsupported(code, text, files_[place_.file] + ":" + std::to_string(place_.line));
}

Card::Parameter* Card::find(std::string_view parameter) {
  known_.emplace_back(parameter);
  const std::string key = squeezed(parameter);
  Parameter* found = nullptr;
  for (Parameter& candidate : parameters_)
    if (candidate.key == key) {
      candidate.used = true;
      found = &candidate;
    }
  return found;
}

bool Card::flag(std::string_view parameter) {
  const Parameter* const found = find(parameter);
  if (!found) return false;
  if (!found->has_value || found->value == "YES" || found->value == "ON") return true;
  if (found->value == "NO" || found->value == "OFF") return false;
  fail(ErrorCode::bad_input, name_ + ", " + found->shown + "=" + in_quotes(found->verbatim) + ": give YES or NO");
}

std::string Card::value(std::string_view parameter) {
  const Parameter* const found = find(parameter);
  if (!found) return {};
  if (found->value.empty())
    fail(ErrorCode::bad_input, name_ + ": the parameter " + found->shown + " needs a value: " + found->shown + "=…");
  return found->value;
}

std::string Card::required(std::string_view parameter, std::string_view example) {
  std::string result = value(parameter);
  if (result.empty())
    fail(ErrorCode::bad_input, name_ + " needs the parameter " + std::string(parameter) + ": " + std::string(example));
  return result;
}

std::string Card::verbatim(std::string_view parameter) {
  const Parameter* const found = find(parameter);
  return found ? found->verbatim : std::string{};
}

double Card::number(std::string_view parameter, double otherwise) {
  const std::string text = value(parameter);
  if (text.empty()) return otherwise;
  double result = 0;
  if (read_real(text, result) != NumberFault::none)
    fail(ErrorCode::bad_input, name_ + ", " + std::string(parameter) + "=" + in_quotes(text) + " is not a number");
  return result;
}

std::string Card::choice(std::string_view parameter, std::initializer_list<std::string_view> words, std::size_t least) {
  const std::string given = squeezed(value(parameter));
  if (given.empty()) return std::string(*words.begin());
  std::string all;
  for (const std::string_view word : words) {
    const std::string whole = squeezed(word);
    if (given == whole || (given.size() >= least && whole.starts_with(given))) return std::string(word);
    all += (all.empty() ? "" : ", ") + std::string(word);
  }
  fail_unsupported(ErrorCode::not_found, name_ + ", " + std::string(parameter) + "=" + in_quotes(given) +
                                             " is not supported; there " + (words.size() == 1 ? "is " : "are ") + all);
}

void Card::refuse(std::string_view parameter, std::string_view why) {
  const Parameter* const found = find(parameter);
  known_.pop_back();  // nobody should be led there by a slip
  if (!found || (found->has_value && found->value == "NO")) return;
  fail_unsupported(ErrorCode::bad_input,
                   name_ + ": the parameter " + found->shown + " is not supported yet: " + std::string(why));
}

void Card::ignore(std::initializer_list<std::string_view> parameters) {
  for (const std::string_view parameter : parameters) find(parameter);
}

void Card::done() {
  for (const Parameter& parameter : parameters_) {
    if (parameter.used) continue;
    std::string text = name_ + " has no parameter " + in_quotes(parameter.shown);
    const std::string meant = did_you_mean(parameter.shown, known_);
    if (!meant.empty())
      text += meant;
    else if (known_.empty())
      text += "; it has no parameters";
    else {
      std::vector<std::string> sorted = known_;
      std::sort(sorted.begin(), sorted.end());
      sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
      text += "; supported are ";
      for (std::size_t i = 0; i < sorted.size(); ++i) text += (i ? ", " : "") + sorted[i];
    }
    fail(ErrorCode::not_found, text);
  }
}

bool continues_keyword(std::string_view keyword_line, std::string_view next) {
  const std::string key = squeezed(keyword_line.substr(0, keyword_line.find(',')));
  if (key == "*HEADING" || key == "*PARAMETER") return false;  // text, and NAME = VALUE
  // Words without a value. Sets may be called like all of them but the first three, which are words of sets.
  static constexpr std::string_view words[] = {
      "GENERATE",       "INTERNAL",   "UNSORTED",    "NLGEOM",    "PERTURBATION", "DIRECT",    "STEADYSTATE",
      "FIXED",          "NOROTATION", "NOTHICKNESS", "SHIFT",     "POLE",         "NONLINEAR", "TWOSTEP",
      "CYCLICSYMMETRY", "CONTINUE",   "STABILIZE",   "COMPOSITE", "FREQUENCY",    "FOLLOWER",  "USER",
      "MODALDYNAMIC",   "UNSYMM",     "REMOVE",      "NEWSET",    "REFLECT"};
  const bool lists_names = key == "*NSET" || key == "*ELSET" || key == "*SURFACE";
  const auto last = lists_names ? std::begin(words) + 3 : std::end(words);
  static constexpr std::string_view of_steps[] = {"INC",        "INCF",   "NAME",   "NLGEOM",       "AMPLITUDE",
                                                  "CONVERTSDI", "UNSYMM", "SOLVER", "PERTURBATION", "EXTRAPOLATION"};
  std::vector<std::string_view> fields;
  split_fields(next, fields);
  for (const std::string_view field : fields) {
    const std::size_t equals = field.find('=');
    const std::string word = squeezed(field.substr(0, equals));
    if (word.empty() || !(word[0] >= 'A' && word[0] <= 'Z')) return false;
    if (equals == std::string_view::npos && std::find(std::begin(words), last, word) == last) return false;
    // The line behind *STEP may be its title.
    if (key == "*STEP" && std::find(std::begin(of_steps), std::end(of_steps), word) == std::end(of_steps)) return false;
  }
  return !fields.empty();
}

std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& names, std::string_view mark) {
  const std::string nearest = nearest_name(wrong, names);
  return nearest.empty() ? std::string{} : "; did you mean '" + std::string(mark) + nearest + "'?";
}

}  // namespace voussoir::deck
