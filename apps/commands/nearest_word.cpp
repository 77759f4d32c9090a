#include <voussoir/apps/commands/nearest_word.hpp>

#include <voussoir/backends/spelling.hpp>

namespace voussoir::app {
std::string nearest_word(const std::string& wrong, const std::vector<std::string>& words) {
  std::string nearest;
  std::size_t least = 3;
  for (const std::string& word : words) {
    if (wrong.size() > word.size() + 2) continue;
    const std::size_t distance = edit_distance(wrong, word);
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
