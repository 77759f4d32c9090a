#include <algorithm>

#include <voussoir/backends/spelling.hpp>
#include <voussoir/framework/domain/detail/spelling.hpp>

namespace voussoir::detail {

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
