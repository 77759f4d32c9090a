#include <voussoir/framework/io/detail/job/groups.hpp>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace voussoir::job {
namespace {

void sort_unique(std::vector<std::size_t>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

/// "surfaces or curves"
std::string plural(const std::vector<int>& dimensions) {
  std::string text;
  for (std::size_t i = 0; i < dimensions.size(); ++i)
    text += (i == 0 ? "" : i + 1 < dimensions.size() ? ", " : " or ") + gmsh_dimension_name(dimensions[i]) + "s";
  return text;
}

bool contains(const std::vector<int>& values, int value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

}  // namespace

Groups::Groups(const GmshMesh& mesh) : mesh_(mesh), batches_(mesh.groups.size()) {
  for (std::size_t b = 0; b < mesh.batches.size(); ++b)
    for (const std::int32_t group : mesh.batches[b].groups) batches_[group].push_back(b);
  std::unordered_map<std::string, int> dimension_of;
  for (const auto& group : mesh.groups) {
    if (group.name.empty()) continue;
    const auto [it, is_new] = dimension_of.emplace(group.name, group.dimension);
    if (!is_new && it->second != group.dimension) ambiguous_.insert(group.name);
  }
}

std::string Groups::name_of(const GmshMesh::Group& group) const {
  const std::string label = mesh_.label(group);
  return ambiguous_.contains(group.name) ? gmsh_dimension_name(group.dimension) + " " + label : label;
}

std::vector<std::string> Groups::known() const {
  std::vector<std::string> names;
  for (const auto& selection : all()) names.push_back(selection.name);
  for (int d = 3; d >= 0; --d) {
    const bool has =
        std::any_of(mesh_.batches.begin(), mesh_.batches.end(), [&](const auto& b) { return b.dimension == d; });
    if (has) names.push_back(gmsh_dimension_name(d) + "s");
  }
  return names;
}

std::vector<std::int32_t> Groups::candidates(const std::string& word) const {
  std::vector<std::int32_t> found;
  const auto take = [&](auto matches) {
    for (std::size_t g = 0; g < mesh_.groups.size(); ++g)
      if (matches(mesh_.groups[g])) found.push_back(static_cast<std::int32_t>(g));
  };
  take([&](const auto& g) { return !g.name.empty() && g.name == word; });
  if (!found.empty()) return found;
  for (int d = 0; d < 4; ++d) {
    const std::string dimension = gmsh_dimension_name(d);
    if (!word.starts_with(dimension + " ")) continue;
    const std::string rest = word.substr(dimension.size() + 1);
    take([&](const auto& g) { return g.dimension == d && !g.name.empty() && g.name == rest; });
    if (found.empty()) take([&](const auto& g) { return g.dimension == d && std::to_string(g.tag) == rest; });
  }
  return found;
}

Selection Groups::select_one(const Json& json, const std::vector<int>& dimensions, const std::string& purpose) const {
  const std::string& word = json.text();
  Selection selection;
  std::vector<std::int32_t> groups = candidates(word);
  if (groups.empty()) {
    for (int d = 0; d < 4; ++d) {
      if (word != gmsh_dimension_name(d) + "s") continue;
      if (!contains(dimensions, d)) json.fail("these are " + word + ", but " + purpose + " " + plural(dimensions));
      selection.name = word;
      selection.dimension = d;
      for (std::size_t b = 0; b < mesh_.batches.size(); ++b)
        if (mesh_.batches[b].dimension == d) selection.batches.push_back(b);
      if (selection.batches.empty()) json.fail("the mesh has no " + word);
      return selection;
    }
    throw Error(ErrorCode::not_found, "the mesh has no group '" + word + "';" + suggest(word, known()), json.where());
  }
  const int first_dimension = mesh_.groups[groups.front()].dimension;
  std::erase_if(groups, [&](std::int32_t g) { return !contains(dimensions, mesh_.groups[g].dimension); });
  if (groups.empty())
    json.fail("'" + word + "' is a group of " + gmsh_dimension_name(first_dimension) + "s, but " + purpose + " " +
              plural(dimensions));
  selection.dimension = mesh_.groups[groups.front()].dimension;
  for (const std::int32_t g : groups) {
    const auto& group = mesh_.groups[g];
    if (group.dimension != selection.dimension)
      json.fail("groups of several dimensions are called '" + word + "'; write '" +
                gmsh_dimension_name(selection.dimension) + " " + word + "' or '" +
                gmsh_dimension_name(group.dimension) + " " + word + "'");
    for (const std::size_t b : batches_[g]) selection.batches.push_back(b);
  }
  selection.name = name_of(mesh_.groups[groups.front()]);
  sort_unique(selection.batches);
  if (selection.batches.empty()) json.fail("the group '" + word + "' has a name but no elements");
  return selection;
}

Selection Groups::select(const Json& json, const std::vector<int>& dimensions, const std::string& purpose) const {
  const auto items = json.items();
  if (items.empty()) json.fail("the list of groups is empty");
  Selection all = select_one(items.front(), dimensions, purpose);
  for (std::size_t i = 1; i < items.size(); ++i) {
    const Selection more = select_one(items[i], dimensions, purpose);
    if (more.dimension != all.dimension)
      items[i].fail("'" + more.name + "' is of another dimension than '" + all.name +
                    "'; name groups of one dimension");
    all.name += " + " + more.name;
    all.batches.insert(all.batches.end(), more.batches.begin(), more.batches.end());
  }
  sort_unique(all.batches);
  return all;
}

std::vector<Selection> Groups::all() const {
  std::vector<Selection> selections;
  std::map<std::pair<int, std::string>, std::size_t> place;
  for (std::size_t g = 0; g < mesh_.groups.size(); ++g) {
    if (batches_[g].empty()) continue;
    const auto& group = mesh_.groups[g];
    const std::string name = name_of(group);
    // Tags of one dimension may share a name: they are one group.
    const auto [it, is_new] = place.try_emplace({group.dimension, name}, selections.size());
    if (is_new) selections.push_back({name, group.dimension, {}});
    auto& batches = selections[it->second].batches;
    batches.insert(batches.end(), batches_[g].begin(), batches_[g].end());
    sort_unique(batches);
  }
  return selections;
}

}  // namespace voussoir::job
