#include <voussoir/jobs/detail/part_files.hpp>

#include <cstdio>

#include <voussoir/framework/io/superelement/part_vtu.hpp>
#include <voussoir/jobs/detail/table_csv.hpp>

namespace voussoir::detail {

PartFiles::PartFiles(const Job& job, const OutputOptions& options) : job_(job), options_(options) {
  if (!options.vtu || job.domains.empty() || !job.domains.front()) return;
  superelements_ = superelements_of(*job.domains.front());
  for (std::size_t i = 0; i < superelements_.size(); ++i)
    if (superelements_[i]->part().rows() > 0) recovered_.push_back(i);
}

PartFiles::~PartFiles() = default;

std::string PartFiles::mode_suffix(int mode) {
  char number[24];
  std::snprintf(number, sizeof number, "_mode_%03d", mode + 1);
  return number;
}

std::string PartFiles::file(const std::string& stem, std::size_t which) const {
  return stem + "_" + as_file_name(superelements_[which]->name()) + ".vtu";
}

std::vector<std::string> PartFiles::plan(const JobStep& step, const std::string& stem) const {
  std::vector<std::string> files;
  if (has_states(step.procedure)) return files;
  for (const std::size_t i : recovered_) files.push_back(file(stem, i));
  return files;
}

std::vector<SuperelementInstance::Acting> PartFiles::acting(const JobStep& step) const {
  std::vector<SuperelementInstance::Acting> all;
  if (recovered_.empty()) return all;
  const Domain& domain = *job_.domains[step.domain];
  std::vector<double> factors(domain.load_case_count(), 0.0);
  for (std::size_t c = 0; c < factors.size(); ++c)
    if (domain.load_case(c).name() == step.load_case) factors[c] = step.load_factor;
  for (const std::size_t i : recovered_) all.push_back(superelements_[i]->acting(domain, factors));
  return all;
}

std::vector<std::filesystem::path> PartFiles::write(const JobStep& step, const std::string& stem,
                                                    const NodalField& unknowns,
                                                    const std::vector<SuperelementInstance::Acting>& acting) {
  std::vector<std::filesystem::path> files;
  VtuOptions how;
  how.overwrite = options_.overwrite;
  for (std::size_t k = 0; k < recovered_.size(); ++k) {
    const std::size_t i = recovered_[k];
    auto& recovery = made_[i];
    if (!recovery) recovery = std::make_unique<PartRecovery>(superelements_[i]);
    const std::filesystem::path path = options_.folder / file(stem, i);
    write_part_vtu(path, *recovery, *job_.domains[step.domain], unknowns,
                   k < acting.size() ? acting[k] : SuperelementInstance::Acting{}, how);
    files.push_back(path);
  }
  return files;
}

}  // namespace voussoir::detail
