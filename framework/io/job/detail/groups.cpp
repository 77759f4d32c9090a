#include <voussoir/framework/io/job/detail/groups.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <voussoir/backends/number_text.hpp>

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

std::string tag_name(const GmshMesh::Group& group) {
  return gmsh_dimension_name(group.dimension) + " tag " + std::to_string(group.tag);
}

/// A selection as the user wrote it, for messages and names of sets.
std::string words_of(const Json& json) {
  if (!json.is_object()) return json.text();
  const auto members = json.members();
  if (members.empty()) return "{}";
  const Json& value = members.front().second;
  return "{\"" + members.front().first +
         "\": " + (value.is_number() ? short_number(value.number(), 17) : "\"" + value.text() + "\"") + "}";
}

}  // namespace

Groups::Groups(const GmshMesh& mesh) : mesh_(mesh), batches_(mesh.groups.size()) {
  for (std::size_t b = 0; b < mesh.batches.size(); ++b)
    for (const std::int32_t group : mesh.batches[b].groups) batches_[group].push_back(b);
  name_all();
}

void Groups::name_all() {
  std::map<std::string, int> dimension_of;
  std::set<std::string> ambiguous;  // names that groups of several dimensions have
  std::map<std::pair<int, std::string>, std::size_t> place;
  for (std::size_t g = 0; g < mesh_.groups.size(); ++g) {
    const auto& group = mesh_.groups[g];
    if (!group.name.empty()) {
      const auto [it, is_new] = dimension_of.emplace(group.name, group.dimension);
      if (!is_new && it->second != group.dimension) ambiguous.insert(group.name);
    }
    if (batches_[g].empty()) continue;
    std::size_t at = all_.size();
    if (!group.name.empty()) at = place.try_emplace({group.dimension, group.name}, at).first->second;
    if (at == all_.size()) {
      all_.push_back({"", group.dimension, {}});
      groups_of_all_.emplace_back();
    }
    groups_of_all_[at].push_back(static_cast<std::int32_t>(g));
    all_[at].batches.insert(all_[at].batches.end(), batches_[g].begin(), batches_[g].end());
  }
  for (Selection& selection : all_) sort_unique(selection.batches);
  // Names that the user gave come first; what is made up here gives way to them.
  for (const int round : {0, 1, 2})
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const auto& group = mesh_.groups[groups_of_all_[i].front()];
      const std::string label = mesh_.label(group);
      const bool unnamed = group.name.empty(), shared = ambiguous.contains(group.name);
      if (round != (unnamed ? 2 : shared ? 1 : 0)) continue;
      claim_name(all_[i], {shared ? gmsh_dimension_name(group.dimension) + " " + label : label, tag_name(group)});
    }
}

void Groups::claim_name(Selection& selection, const std::vector<std::string>& names) const {
  const auto claim = [&](const std::string& name) {
    const auto [it, is_new] = taken_.try_emplace(name, Content{selection.dimension, selection.batches});
    if (!is_new && (it->second.dimension != selection.dimension || it->second.batches != selection.batches))
      return false;
    selection.name = name;
    return true;
  };
  for (const std::string& name : names)
    if (claim(name)) return;
  for (int number = 2; !claim(names.front() + " (" + std::to_string(number) + ")"); ++number) {
  }
}

std::vector<std::string> Groups::known() const {
  std::vector<std::string> names;
  for (const auto& selection : all_) names.push_back(selection.name);
  for (int d = 3; d >= 0; --d) {
    const bool has =
        std::any_of(mesh_.batches.begin(), mesh_.batches.end(), [&](const auto& b) { return b.dimension == d; });
    if (has) names.push_back(gmsh_dimension_name(d) + "s");
  }
  return names;
}

std::vector<Groups::GroupIndices> Groups::readings(const std::string& word) const {
  std::vector<GroupIndices> found;
  const auto take = [&](auto matches) {
    GroupIndices groups;
    for (std::size_t g = 0; g < mesh_.groups.size(); ++g)
      if (matches(mesh_.groups[g])) groups.push_back(static_cast<std::int32_t>(g));
    if (!groups.empty()) found.push_back(std::move(groups));
  };
  take([&](const auto& g) { return !g.name.empty() && g.name == word; });
  for (int d = 0; d < 4; ++d) {
    const std::string dimension = gmsh_dimension_name(d);
    if (word == dimension + "s without group") take([&](const auto& g) { return g.dimension == d && g.tag == 0; });
    if (!word.starts_with(dimension + " ")) continue;
    const std::string rest = word.substr(dimension.size() + 1);
    take([&](const auto& g) { return g.dimension == d && !g.name.empty() && g.name == rest; });
    take([&](const auto& g) {
      return g.dimension == d && (std::to_string(g.tag) == rest || "tag " + std::to_string(g.tag) == rest);
    });
  }
  return found;
}

Groups::GroupIndices Groups::matching(int dimension, const std::string& name) const {
  GroupIndices groups;
  for (std::size_t g = 0; g < mesh_.groups.size(); ++g)
    if (mesh_.groups[g].dimension == dimension && mesh_.groups[g].name == name)
      groups.push_back(static_cast<std::int32_t>(g));
  return groups;
}

Groups::GroupIndices Groups::matching(int dimension, double tag) const {
  GroupIndices groups;
  for (std::size_t g = 0; g < mesh_.groups.size(); ++g)
    if (mesh_.groups[g].dimension == dimension && static_cast<double>(mesh_.groups[g].tag) == tag)
      groups.push_back(static_cast<std::int32_t>(g));
  return groups;
}

Groups::GroupIndices Groups::read_object(const Json& json) const {
  const auto members = json.members();
  std::vector<std::string> keys;
  for (int d = 0; d < 4; ++d) keys.push_back(gmsh_dimension_name(d));
  json.allow(keys);
  if (members.size() != 1)
    json.fail("a group is selected by one dimension with a tag or a name: {\"surface\": 5} or {\"surface\": \"left\"}");
  const auto& [key, value] = members.front();
  const int dimension = static_cast<int>(std::find(keys.begin(), keys.end(), key) - keys.begin());
  const GroupIndices groups =
      value.is_number() ? matching(dimension, value.number()) : matching(dimension, value.text());
  if (groups.empty()) {
    std::vector<std::string> names;
    for (const auto& group : mesh_.groups)
      if (group.dimension == dimension && group.tag != 0)
        names.push_back(value.is_number() || group.name.empty() ? std::to_string(group.tag) : group.name);
    throw Error(ErrorCode::not_found,
                "the mesh has no physical " + key + (value.is_number() ? " with this tag;" : " of this name;") +
                    (names.empty() ? " it has no physical " + key + "s" : " known are " + list_names(names)),
                json.where());
  }
  return groups;
}

std::string Groups::unambiguous(const GmshMesh::Group& group) const {
  const std::vector<GroupIndices> meanings = readings(tag_name(group));
  const bool alone =
      std::all_of(meanings.begin(), meanings.end(), [&](const GroupIndices& m) { return m == meanings.front(); });
  if (alone) return "'" + tag_name(group) + "'";
  return "{\"" + gmsh_dimension_name(group.dimension) + "\": " + std::to_string(group.tag) + "}";
}

Selection Groups::select_dimension(const Json& json, int dimension, const std::vector<int>& dimensions,
                                   const std::string& purpose) const {
  const std::string& word = json.text();
  if (!contains(dimensions, dimension)) json.fail("these are " + word + ", but " + purpose + " " + plural(dimensions));
  const Selection selection = everything(dimension);
  if (selection.batches.empty()) json.fail("the mesh has no " + word);
  return selection;
}

Selection Groups::everything(int dimension) const {
  Selection selection;
  selection.dimension = dimension;
  for (std::size_t b = 0; b < mesh_.batches.size(); ++b)
    if (mesh_.batches[b].dimension == dimension) selection.batches.push_back(b);
  claim_name(selection, {gmsh_dimension_name(dimension) + "s"});
  return selection;
}

void Groups::fail_ambiguous(const Json& json, const std::vector<GroupIndices>& readings) const {
  std::string meanings, advice;
  std::set<std::int32_t> told;
  for (const GroupIndices& groups : readings)
    for (const std::int32_t g : groups) {
      if (!told.insert(g).second) continue;
      const auto& group = mesh_.groups[g];
      meanings += (meanings.empty() ? "" : " and ") + tag_name(group) +
                  (group.name.empty() ? ", which has no name" : ", called '" + group.name + "'");
      advice += (advice.empty() ? "" : " or ") + unambiguous(group);
    }
  json.fail("'" + json.text() + "' matches several groups: " + meanings + "; write " + advice);
}

Selection Groups::selection_of(const GroupIndices& groups, const std::string& word) const {
  Selection selection;
  const auto& first = mesh_.groups[groups.front()];
  selection.dimension = first.dimension;
  GroupIndices with_elements;
  for (const std::int32_t g : groups) {
    if (!batches_[g].empty()) with_elements.push_back(g);
    selection.batches.insert(selection.batches.end(), batches_[g].begin(), batches_[g].end());
  }
  sort_unique(selection.batches);
  for (std::size_t i = 0; i < all_.size(); ++i)
    if (groups_of_all_[i] == with_elements) {
      selection.name = all_[i].name;
      return selection;
    }
  // One tag of several that share a name.
  claim_name(selection,
             {groups.size() == 1 ? gmsh_dimension_name(first.dimension) + " " + std::to_string(first.tag) : word,
              tag_name(first)});
  return selection;
}

Selection Groups::select_one(const Json& json, const std::vector<int>& dimensions, const std::string& purpose) const {
  const std::string word = words_of(json);
  std::vector<GroupIndices> meanings = json.is_object() ? std::vector<GroupIndices>{read_object(json)} : readings(word);
  if (meanings.empty()) {
    for (int d = 0; d < 4; ++d)
      if (word == gmsh_dimension_name(d) + "s") return select_dimension(json, d, dimensions, purpose);
    throw Error(ErrorCode::not_found, "the mesh has no group '" + word + "';" + suggest(word, known()), json.where());
  }
  const int first_dimension = mesh_.groups[meanings.front().front()].dimension;
  for (GroupIndices& groups : meanings)
    std::erase_if(groups, [&](std::int32_t g) { return !contains(dimensions, mesh_.groups[g].dimension); });
  std::erase_if(meanings, [](const GroupIndices& groups) { return groups.empty(); });
  if (meanings.empty())
    json.fail("'" + word + "' is a group of " + gmsh_dimension_name(first_dimension) + "s, but " + purpose + " " +
              plural(dimensions));
  if (std::any_of(meanings.begin(), meanings.end(), [&](const GroupIndices& m) { return m != meanings.front(); }))
    fail_ambiguous(json, meanings);
  const GroupIndices& groups = meanings.front();
  const int dimension = mesh_.groups[groups.front()].dimension;
  for (const std::int32_t g : groups)
    if (const int other = mesh_.groups[g].dimension; other != dimension)
      json.fail("groups of several dimensions are called '" + word + "'; write '" + gmsh_dimension_name(dimension) +
                " " + word + "' or '" + gmsh_dimension_name(other) + " " + word + "'");
  if (std::all_of(groups.begin(), groups.end(), [&](std::int32_t g) { return batches_[g].empty(); }))
    json.fail("the group '" + word + "' has a name but no elements");
  return selection_of(groups, word);
}

Selection Groups::select(const Json& json, const std::vector<int>& dimensions, const std::string& purpose) const {
  const auto items = json.items();
  if (items.empty()) json.fail("the list of groups is empty");
  Selection all = select_one(items.front(), dimensions, purpose);
  std::vector<std::string> names = {all.name};
  for (std::size_t i = 1; i < items.size(); ++i) {
    const Selection more = select_one(items[i], dimensions, purpose);
    if (more.dimension != all.dimension)
      items[i].fail("'" + more.name + "' is of another dimension than '" + all.name +
                    "'; name groups of one dimension");
    if (std::find(names.begin(), names.end(), more.name) != names.end()) continue;  // listed twice
    names.push_back(more.name);
    all.name += " + " + more.name;
    all.batches.insert(all.batches.end(), more.batches.begin(), more.batches.end());
  }
  if (names.size() == 1) return all;
  sort_unique(all.batches);
  claim_name(all, {all.name});
  return all;
}

}  // namespace voussoir::job
