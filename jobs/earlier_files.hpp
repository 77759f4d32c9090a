#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace voussoir {

/// The result files that an earlier run of a job left in a folder. They are known from its record, a JSON document of
/// this program with a list "files"; nothing else is ever touched.
class EarlierFiles {
 public:
  /// Reads the record `folder`/`record` of a job called `name`. Only names in this folder that begin with `name` and a
  /// dot or an underscore are taken. A record that is missing, or that is not one of this program, gives none.
  void read(const std::filesystem::path& folder, const std::string& record, const std::string& name);

  /// The names of those files that are still there and are not among `written`, in the order of the record.
  std::vector<std::string> others(const std::vector<std::filesystem::path>& written) const;
  /// Removes these files. Returns the names of those that are gone; the others cannot be removed and stay.
  std::vector<std::string> remove_others(const std::vector<std::filesystem::path>& written) const;

 private:
  std::filesystem::path folder_;
  std::vector<std::string> names_;
};

/// "a.vtu, b.vtu and 3 more", for notes.
std::string few_names(const std::vector<std::string>& names);

}  // namespace voussoir
