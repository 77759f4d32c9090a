#include <voussoir/jobs/detail/result_names.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <set>
#include <system_error>

#include <voussoir/backends/error.hpp>
#include <voussoir/jobs/detail/modal_files.hpp>
#include <voussoir/jobs/detail/table_csv.hpp>

namespace voussoir::detail {
namespace {

namespace fs = std::filesystem;

bool has_prints(const Job& job) {
  return std::any_of(job.steps.begin(), job.steps.end(),
                     [](const JobStep& s) { return !s.prints.empty() || s.procedure == Procedure::frequency; });
}
bool has_frd(const Job& job) {
  return std::any_of(job.steps.begin(), job.steps.end(), [](const JobStep& s) { return is_in_frd(s.procedure); });
}

}  // namespace

bool is_in_frd(Procedure procedure) { return procedure != Procedure::harmonic && procedure != Procedure::spectrum; }
bool writes_restarts(const Job& job) {
  return std::any_of(job.steps.begin(), job.steps.end(),
                     [](const JobStep& s) { return s.restart != RestartWrite::none; });
}
bool has_single_results(const Job& job) {
  return std::any_of(job.steps.begin(), job.steps.end(), [](const JobStep& s) { return !has_states(s.procedure); });
}

std::string ResultNames::stem(std::size_t step) const {
  return job_.steps.size() > 1 ? name_ + "_step" + std::to_string(step + 1) : name_;
}

std::vector<std::string> ResultNames::plan(const StepProbes& probes, const StepPictures& pictures,
                                           const PartFiles& parts) {
  std::vector<std::string> files;
  std::set<std::string> taken;
  paths_ = probes.file_names();
  for (std::size_t i = job_.first_step(); i < job_.steps.size(); ++i) {
    const bool states = has_states(job_.steps[i].procedure);
    if (!options_.tables || (states && !has_probed_states(job_.steps[i].procedure))) continue;
    if (!job_.points.empty()) files.push_back(stem(i) + "_points.csv");
    for (const std::string& path_name : paths_) {
      files.push_back(stem(i) + path_name + ".csv");
      if (!states) files.push_back(stem(i) + path_name + ".svg");
    }
  }
  for (const std::string& file : pictures.files(name_)) files.push_back(file);
  for (std::size_t i = job_.first_step(); i < job_.steps.size(); ++i)
    for (const std::string& file : parts.plan(job_.steps[i], stem(i))) files.push_back(file);
  for (std::size_t i = job_.first_step(); i < job_.steps.size(); ++i) {
    const JobStep& step = job_.steps[i];
    if (has_states(step.procedure))
      for (const std::string& file : ModalFiles::plan(step, stem(i), options_)) files.push_back(file);
    else if (options_.vtu)
      files.push_back(stem(i) + ".vtu");
    if (!options_.tables) continue;
    for (std::size_t r = 0; r < step.prints.size(); ++r)
      for (std::size_t q = 0; q < step.prints[r].quantities.size(); ++q) {
        const PrintRequest& request = step.prints[r];
        const bool nodes = request.at == PrintRequest::At::nodes;
        const std::string set = request.set.empty() ? (nodes ? "NALL" : "EALL") : request.set;
        const std::string base =
            stem(i) + "_" + as_file_name(request.quantities[q]) + "_" + as_file_name(set) +
            (request.local && (options_.merges_parts || is_turned(job_, step, request, request.quantities[q]))
                 ? "_local"
                 : "");
        std::string unique = base;
        for (int k = 2; !taken.insert(unique).second; ++k) unique = base + "_" + std::to_string(k);
        tables_[{i, r, q}] = unique;
        files.push_back(unique + ".csv");
        if (request.totals != PrintRequest::Totals::no) files.push_back(unique + "_total.csv");
      }
  }
  files.insert(files.end(), options_.piece_files.begin(), options_.piece_files.end());
  if (options_.vtu && has_single_results(job_)) files.push_back(name_ + ".pvd");
  if (options_.frd && has_frd(job_)) files.push_back(name_ + ".frd");
  if (options_.tables && has_prints(job_)) files.push_back(name_ + ".dat");
  if (options_.json && writes_restarts(job_)) files.push_back(name_ + ".rout");
  if (options_.json) files.push_back(name_ + ".results.json");
  return files;
}

void ResultNames::check_lengths(const std::vector<std::string>& files) const {
  const long limit = ::pathconf(options_.folder.empty() ? "." : options_.folder.c_str(), _PC_NAME_MAX);
  const std::size_t most = limit > 0 ? static_cast<std::size_t>(limit) : NAME_MAX;
  for (const std::string& file : files)
    if (file.size() > most)
      throw Error(ErrorCode::io,
                  "the name of a result file would have " + std::to_string(file.size()) + " characters; the limit is " +
                      std::to_string(most) + "; give the job or its sets shorter names",
                  "file '" + file + "'");
}

void ResultNames::check_free(const std::vector<std::string>& files) const {
  std::vector<std::string> there;
  for (const std::string& file : files) {
    std::error_code ignored;
    if (fs::is_directory(options_.folder / file, ignored))
      throw Error(ErrorCode::io,
                  "a folder has the name of a result file; move it, or choose another folder with --output",
                  "folder '" + (options_.folder / file).string() + "'");
    const fs::file_status status = fs::symlink_status(options_.folder / file, ignored);
    if (!fs::exists(status)) continue;
    const bool leads_nowhere = fs::is_symlink(status) && !fs::exists(options_.folder / file, ignored);
    there.push_back(file + (leads_nowhere ? " (a dangling link)" : ""));
  }
  if (options_.overwrite || there.empty()) return;
  std::string text = "results of this name exist already: " + there[0];
  if (there.size() > 1) text += ", " + there[1];
  if (there.size() > 2) text += " and " + std::to_string(there.size() - 2) + " more";
  throw Error(ErrorCode::io, text + "; replace them with --force, or write to another folder with --output",
              "folder '" + (options_.folder.empty() ? fs::path(".") : options_.folder).string() + "'");
}

void ResultNames::make_folder() const {
  const fs::path folder = options_.folder.empty() ? fs::path(".") : options_.folder;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw Error(ErrorCode::io,
                "the folder cannot be created: " + error.message() + "; choose another one with --output",
                "folder '" + folder.string() + "'");
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    throw Error(ErrorCode::io,
                "the folder is not writable: " + std::generic_category().message(errno) +
                    "; choose another folder with --output",
                "folder '" + folder.string() + "'");
}

}  // namespace voussoir::detail
