#include <voussoir/backends/spelling.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace voussoir {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Row i of the table of distances between beginnings of the words; a swap looks two rows back.
  std::array<std::vector<std::size_t>, 3> rows;
  for (auto& row : rows) row.resize(b.size() + 1);
  for (std::size_t i = 0; i <= a.size(); ++i) {
    std::vector<std::size_t>&row = rows[i % 3], &above = rows[(i + 2) % 3], &two_above = rows[(i + 1) % 3];
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        row[j] = i + j;
        continue;
      }
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], two_above[j - 2] + 1);
    }
  }
  return rows[a.size() % 3][b.size()];
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

}  // namespace voussoir
