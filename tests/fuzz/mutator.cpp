#include "fuzz/mutator.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace {

constexpr std::size_t largest_input = 64 * 1024;

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-' ||
         c == '+' || c == '_';
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Beginning and end of the token around a place.
std::pair<std::size_t, std::size_t> token_at(const std::string& text, std::size_t at) {
  std::size_t first = at, last = at;
  while (first > 0 && is_word(text[first - 1])) --first;
  while (last < text.size() && is_word(text[last])) ++last;
  return {first, last};
}

std::pair<std::size_t, std::size_t> line_at(const std::string& text, std::size_t at) {
  const std::size_t before = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  const std::size_t first = before == std::string::npos ? 0 : before + 1;
  const std::size_t next = text.find('\n', at);
  return {first, next == std::string::npos ? text.size() : next + 1};
}

constexpr std::array odd_numbers = {
    "0",     "-1",    "1",    "2",       "99999",   "2147483647", "2147483648", "-2147483648", "9223372036854775807",
    "1e308", "1e999", "-0.0", "nan",     "inf",     "1e-320",     "0x10",       "1.5",         "18446744073709551616",
    "1d5",   ".",     "-",    "1,2,3,4", "1e",      "+",          "100000000",  "4294967297",  "-9223372036854775808",
    "3.",    "1.0+5", "",     "1 2",     "1000000", "0000001",    "7e-7"};

}  // namespace

Mutator::Mutator(std::vector<std::string> seeds, std::uint64_t seed) : seeds_(std::move(seeds)), random_(seed) {
  for (const std::string& text : seeds_) {
    for (std::size_t i = 0; i < text.size();) {
      if (!is_word(text[i])) {
        ++i;
        continue;
      }
      const auto [first, last] = token_at(text, i);
      tokens_.push_back(text.substr(first, last - first));
      i = last;
    }
    for (std::size_t i = 0; i < text.size();) {
      const auto [first, last] = line_at(text, i);
      lines_.push_back(text.substr(first, last - first));
      i = last;
    }
  }
  std::sort(tokens_.begin(), tokens_.end());
  tokens_.erase(std::unique(tokens_.begin(), tokens_.end()), tokens_.end());
}

std::string Mutator::next() {
  std::string text = seeds_[below(seeds_.size())];
  const std::size_t changes = 1 + below(6);
  for (std::size_t i = 0; i < changes; ++i) mutate(text);
  if (text.size() > largest_input) text.resize(largest_input);
  return text;
}

void Mutator::mutate(std::string& text) {
  if (text.empty()) text = "*";
  switch (below(10)) {
    case 0:
    case 1:
      return change_bytes(text);
    case 2:
    case 3:
    case 4:
      return change_number(text);
    case 5:
    case 6:
      return change_lines(text);
    case 7:
    case 8:
      return change_tokens(text);
    default:
      return splice(text);
  }
}

void Mutator::change_bytes(std::string& text) {
  const std::size_t at = below(text.size());
  switch (below(5)) {
    case 0:
      text[at] = static_cast<char>(random_());
      break;
    case 1:
      text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
      break;
    case 2:
      text.erase(at, 1 + below(8));
      break;
    case 3:
      text.insert(at, 1 + below(4), static_cast<char>(random_()));
      break;
    default:
      text.resize(at);  // cut off
  }
}

void Mutator::change_number(std::string& text) {
  // The next digit from a random place on.
  std::size_t at = below(text.size());
  for (std::size_t steps = 0; steps < text.size() && !is_digit(text[at]); ++steps) at = (at + 1) % text.size();
  if (!is_digit(text[at])) return;
  const auto [first, last] = token_at(text, at);
  text.replace(first, last - first, odd_numbers[below(odd_numbers.size())]);
}

void Mutator::change_lines(std::string& text) {
  const auto [first, last] = line_at(text, below(text.size()));
  const std::string line = text.substr(first, last - first);
  switch (below(4)) {
    case 0:
      text.erase(first, last - first);
      break;
    case 1:
      text.insert(first, line);
      break;
    case 2: {
      text.erase(first, last - first);
      text.insert(text.empty() ? 0 : line_at(text, below(text.size())).first, line);
      break;
    }
    default:
      text.insert(first, lines_[below(lines_.size())]);
  }
}

void Mutator::change_tokens(std::string& text) {
  std::size_t at = below(text.size());
  for (std::size_t steps = 0; steps < text.size() && !is_word(text[at]); ++steps) at = (at + 1) % text.size();
  if (!is_word(text[at])) return;
  const auto [first, last] = token_at(text, at);
  text.replace(first, last - first, tokens_[below(tokens_.size())]);
}

void Mutator::splice(std::string& text) {
  const std::string& other = seeds_[below(seeds_.size())];
  const std::size_t from = below(other.size());
  const std::size_t to = below(text.size());
  text = text.substr(0, to) + other.substr(from, below(4096));
}
