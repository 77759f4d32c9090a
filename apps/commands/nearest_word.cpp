#include <voussoir/apps/commands/nearest_word.hpp>

#include <algorithm>

namespace voussoir::app {
namespace {

/// How many slips of the fingers lie between two words.
std::size_t slips(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

}  // namespace

std::string nearest_word(const std::string& wrong, const std::vector<std::string>& words) {
  std::string nearest;
  std::size_t least = 3;
  for (const std::string& word : words) {
    if (wrong.size() > word.size() + 2) continue;
    const std::size_t distance = slips(wrong, word);
    if (distance < least && 2 * distance < word.size()) {
      least = distance;
      nearest = word;
    }
  }
  return nearest;
}

std::string no_such_command(const std::string& wrong, const std::vector<std::string>& words) {
  std::string text = "there is no command '" + wrong + "'; ";
  if (const std::string near = nearest_word(wrong, words); !near.empty()) return text + "did you mean '" + near + "'?";
  text += "there are ";
  for (std::size_t i = 0; i < words.size(); ++i) text += (i ? ", " : "") + words[i];
  return text;
}

}  // namespace voussoir::app
