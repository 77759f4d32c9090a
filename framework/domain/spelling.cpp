#include <algorithm>
#include <vector>

#include <voussoir/framework/domain/detail/spelling.hpp>

namespace voussoir::detail {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row[b.size()];
}

std::string nearest_name(std::string_view wrong, std::span<const std::string> names) {
  // Files may hold anything: comparing endless names with endless names would take for ever.
  wrong = wrong.substr(0, 80);
  std::string nearest;
  std::size_t least = std::max<std::size_t>(2, wrong.size() / 3) + 1;
  for (const std::string& name : names) {
    // Every letter more or less is a slip at least.
    if (name.size() >= wrong.size() + least || wrong.size() >= name.size() + least) continue;
    // As many slips as letters make any name of any other ("E" of "nu").
    if (const std::size_t distance = edit_distance(wrong, name);
        distance < least && distance < std::max(wrong.size(), name.size()))
      least = distance, nearest = name;
  }
  return nearest;
}

}  // namespace voussoir::detail
