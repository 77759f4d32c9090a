#include <voussoir/jobs/earlier_files.hpp>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <unordered_set>

namespace voussoir {
namespace {

namespace fs = std::filesystem;

/// A name that this job gives to a file: "beam.vtu" or "beam_mode_001.vtu" of "beam".
bool belongs_to(const std::string& file, const std::string& name) {
  return file.size() > name.size() && file.starts_with(name) && (file[name.size()] == '.' || file[name.size()] == '_');
}

}  // namespace

void EarlierFiles::read(const fs::path& folder, const std::string& record, const std::string& name) {
  folder_ = folder;
  names_.clear();
  std::ifstream file(folder / record);
  if (!file) return;
  const nlohmann::json document = nlohmann::json::parse(file, nullptr, false);
  if (!document.is_object() || !document.contains("program") || document["program"] != "voussoir") return;
  // A run that did not come to its end lists what it left of the one before.
  for (const char* key : {"files", "earlier_files"}) {
    if (!document.contains(key) || !document[key].is_array()) continue;
    for (const nlohmann::json& entry : document[key]) {
      if (!entry.is_string()) continue;
      const std::string found = fs::path(entry.get<std::string>()).filename().string();
      if (belongs_to(found, name) && std::find(names_.begin(), names_.end(), found) == names_.end())
        names_.push_back(found);
    }
  }
}

std::vector<std::string> EarlierFiles::others(const std::vector<fs::path>& written) const {
  std::unordered_set<std::string> now;
  for (const fs::path& path : written) now.insert(path.filename().string());
  std::vector<std::string> left;
  for (const std::string& name : names_) {
    std::error_code ignored;
    if (!now.contains(name) && fs::is_regular_file(fs::symlink_status(folder_ / name, ignored))) left.push_back(name);
  }
  return left;
}

std::vector<std::string> EarlierFiles::remove_others(const std::vector<fs::path>& written) const {
  std::vector<std::string> gone;
  for (const std::string& name : others(written)) {
    std::error_code error;
    if (fs::remove(folder_ / name, error) && !error) gone.push_back(name);
  }
  return gone;
}

std::string few_names(const std::vector<std::string>& names) {
  constexpr std::size_t most = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return names.size() > most ? text + " and " + std::to_string(names.size() - most) + " more" : text;
}

}  // namespace voussoir
