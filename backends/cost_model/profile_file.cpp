#include <stdlib.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include <voussoir/backends/cost_model/machine_profile.hpp>

// The file of a profile: reading checks everything, since the file may be truncated, edited or of another version.

namespace voussoir {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

/// Reads members of a JSON object by key, with the place in the message where one is missing or wrong.
class ProfileReader {
 public:
  explicit ProfileReader(std::string where) : where_(std::move(where)) {}

  [[noreturn]] void fail(const std::string& key, const std::string& what) const {
    throw Error(ErrorCode::bad_input, "this is not a usable profile: " + key + " " + what, where_);
  }
  const Json& member(const Json& object, const std::string& key) const {
    if (!object.is_object()) fail(key, "is missing");
    const auto found = object.find(key);
    if (found == object.end()) fail(key, "is missing");
    return *found;
  }
  std::string text(const Json& object, const std::string& key) const {
    const Json& value = member(object, key);
    if (!value.is_string()) fail(key, "is not a text");
    return value.get<std::string>();
  }
  double number(const Json& value, const std::string& key) const {
    if (!value.is_number()) fail(key, "is not a number");
    const double d = value.get<double>();
    if (!std::isfinite(d) || d < 0) fail(key, "is negative or not finite");
    return d;
  }
  double number_of(const Json& object, const std::string& key) const { return number(member(object, key), key); }
  int count(const Json& object, const std::string& key) const {
    const double d = number_of(object, key);
    if (d > 1e9 || d != std::floor(d)) fail(key, "is not a whole number");
    return static_cast<int>(d);
  }

  OperationCost operation(const Json& object, const std::string& name) const {
    OperationCost cost;
    cost.latency = number_of(object, "latency");
    cost.width = number_of(object, "width");
    if (cost.width < 1) fail("width of '" + name + "'", "is less than 1");
    if (const auto flag = object.find("queued"); flag != object.end()) cost.queued = *flag == true;
    if (const auto noise = object.find("noise"); noise != object.end()) cost.noise = number(*noise, "noise");
    const Json& levels = member(object, "levels");
    if (!levels.is_array() || levels.empty()) fail("levels of '" + name + "'", "are missing");
    for (const Json& level : levels) {
      if (!level.is_array() || level.size() != 3) fail("levels of '" + name + "'", "are not lists of three numbers");
      const OperationCost::Level next{number(level[0], "levels"), number(level[1], "levels"),
                                      number(level[2], "levels")};
      if (!cost.levels.empty() && next.working_set <= cost.levels.back().working_set)
        fail("levels of '" + name + "'", "are not ascending");
      cost.levels.push_back(next);
    }
    return cost;
  }

 private:
  std::string where_;
};

std::string absolute_folder_of(const char* variable) {
  const char* value = ::secure_getenv(variable);
  return value && *value == '/' ? value : "";
}

/// The backend's name for a file: letters and digits stay.
std::string file_part(const std::string& name) {
  std::string text;
  for (const char c : name) text += (std::isalnum(static_cast<unsigned char>(c)) != 0) ? c : '-';
  return text;
}

/// FNV-1a, so that machines that share a home folder have files of their own.
std::string short_hash(const std::string& text) {
  std::uint32_t hash = 2166136261u;
  for (const unsigned char c : text) hash = (hash ^ c) * 16777619u;
  char digits[9];
  std::snprintf(digits, sizeof digits, "%08x", hash);
  return digits;
}

}  // namespace

std::string to_json(const MachineProfile& profile) {
  Json root;
  root["voussoir_machine_profile"] = MachineProfile::format;
  root["version"] = profile.version;
  root["machine"] = profile.machine;
  root["backend"] = profile.backend;
  root["device"] = profile.device;
  root["devices"] = profile.devices;
  root["threads"] = profile.threads;
  root["date"] = profile.date;
  if (profile.is_assumption) root["assumption"] = true;
  root["overlaps_copies"] = profile.overlaps_copies;
  root["element_types"] = Json::array();
  for (const ElementClass& type : profile.element_types)
    root["element_types"].push_back(
        {{"type", type.type}, {"nodes", type.nodes}, {"points", type.points}, {"components", type.components}});
  Json all = Json::object();
  for (const auto& [name, cost] : profile.costs) {
    Json levels = Json::array();
    for (const auto& level : cost.levels) levels.push_back({level.working_set, level.seconds_per_unit, level.units});
    all[name] = {{"latency", cost.latency}, {"width", cost.width}, {"noise", cost.noise}, {"levels", levels}};
    if (cost.queued) all[name]["queued"] = true;
  }
  root["operations"] = all;
  root["notes"] = profile.notes;
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

MachineProfile profile_from_json(std::string_view text, const std::string& where) {
  const ProfileReader reader(where);
  Json root;
  try {
    root = Json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorCode::bad_input, std::string("this is not a complete JSON document: ") + error.what(), where);
  }
  if (reader.count(root, "voussoir_machine_profile") != MachineProfile::format)
    reader.fail("voussoir_machine_profile", "is another format than " + std::to_string(MachineProfile::format));
  MachineProfile profile;
  profile.version = reader.text(root, "version");
  profile.machine = reader.text(root, "machine");
  profile.backend = reader.text(root, "backend");
  profile.device = reader.text(root, "device");
  profile.devices = reader.count(root, "devices");
  profile.threads = reader.count(root, "threads");
  profile.date = reader.text(root, "date");
  if (const auto flag = root.find("assumption"); flag != root.end()) profile.is_assumption = *flag == true;
  if (const auto flag = root.find("overlaps_copies"); flag != root.end()) profile.overlaps_copies = *flag == true;
  const Json& types = reader.member(root, "element_types");
  if (!types.is_array()) reader.fail("element_types", "is not a list");
  for (const Json& type : types)
    profile.element_types.push_back({reader.text(type, "type"), reader.count(type, "nodes"),
                                     reader.count(type, "points"), reader.count(type, "components")});
  const Json& all = reader.member(root, "operations");
  if (!all.is_object()) reader.fail("operations", "is not an object");
  for (const auto& [name, cost] : all.items()) {
    profile.costs[name] = reader.operation(cost, name);
    profile.costs[name].is_assumption = profile.is_assumption;
  }
  if (const auto notes = root.find("notes"); notes != root.end() && notes->is_array())
    for (const Json& note : *notes)
      if (note.is_string()) profile.notes.push_back(note.get<std::string>());
  return profile;
}

fs::path profile_folder() {
  if (const char* chosen = ::secure_getenv("VOUSSOIR_CACHE_DIR"); chosen && *chosen)
    return fs::path(chosen) / "profiles";
  if (const std::string folder = absolute_folder_of("XDG_CACHE_HOME"); !folder.empty())
    return fs::path(folder) / "voussoir" / "profiles";
  if (const std::string home = absolute_folder_of("HOME"); !home.empty())
    return fs::path(home) / ".cache" / "voussoir" / "profiles";
  return {};
}

fs::path profile_path(const std::string& backend_name) {
  if (const char* chosen = ::secure_getenv("VOUSSOIR_PROFILE"); chosen && *chosen)
    return std::string_view(chosen) == "none" ? fs::path() : fs::path(chosen);
  const fs::path folder = profile_folder();
  if (folder.empty()) return {};
  return folder / (file_part(backend_name) + "-" + short_hash(machine_name()) + ".json");
}

fs::path save_profile(const MachineProfile& profile, fs::path path) {
  if (path.empty()) path = profile_path(profile.backend);
  if (path.empty())
    throw Error(ErrorCode::io,
                "there is no folder for the profile: set VOUSSOIR_CACHE_DIR, or VOUSSOIR_PROFILE to a file name");
  std::error_code problem;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), problem);
  fs::path temporary = path;
  temporary += "." + std::to_string(::getpid()) + ".part";  // a reader sees the old file or the new one, whole
  {
    std::ofstream file(temporary);
    file << to_json(profile);
    if (!file.flush()) throw Error(ErrorCode::io, "cannot write the profile", path.string());
  }
  fs::rename(temporary, path, problem);
  if (problem) throw Error(ErrorCode::io, "cannot write the profile: " + problem.message(), path.string());
  return path;
}

MachineProfile load_profile(const fs::path& path) {
  std::ifstream file(path);
  if (!file) throw Error(ErrorCode::io, "cannot read the profile", path.string());
  std::ostringstream text;
  text << file.rdbuf();
  return profile_from_json(text.str(), path.string());
}

}  // namespace voussoir
