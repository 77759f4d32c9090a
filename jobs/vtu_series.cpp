#include <voussoir/jobs/detail/vtu_series.hpp>

#include <sys/stat.h>

#include <cmath>
#include <utility>

namespace voussoir::detail {

namespace fs = std::filesystem;

/// What tells a file from another one that has the same name later.
struct VtuSeries::FileIdentity {
  dev_t device = 0;
  ino_t number = 0;  // which a file system gives to the next file when this one is gone
  off_t size = 0;
  std::int64_t changed = 0;  // nanoseconds
  bool operator==(const FileIdentity&) const = default;

  static FileIdentity of(const fs::path& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) return {};
    return {status.st_dev, status.st_ino, status.st_size,
            std::int64_t{1000000000} * status.st_ctim.tv_sec + status.st_ctim.tv_nsec};
  }
};

VtuSeries::VtuSeries(const Job& job, const OutputOptions& options)
    : job_(job), options_(options), list_(std::make_unique<FileIdentity>()) {
  for (std::size_t i = 0; i < job.steps.size(); ++i) last_step_[job.steps[i].domain] = i;
}

VtuSeries::~VtuSeries() = default;

/// The name of an array may end in a material's.
std::string VtuSeries::unit_of(const std::string& array, const JobStep& step) const {
  const bool heat = is_heat(step.procedure);
  if (array == "reaction") return heat ? job_.units.power : job_.units.force;
  for (const char* base : {"stress", "mises", "principal", "flux"})
    if (array == base || array.starts_with(std::string(base) + "_")) return job_.units.of(base);
  return job_.units.of(array);
}

void VtuSeries::prepare() {
  if (job_.steps.empty()) return;
  const std::size_t model = job_.steps.front().domain;
  VtuWriter(*job_.domains[model]).reuse(meshes_[model]).prepare();
}

void VtuSeries::write(std::size_t step, const std::string& file, const StepResult& result, const NodalField& acting,
                      const ErrorEstimate& estimate, StepFields& fields) {
  const std::size_t model = job_.steps[step].domain;
  VtuWriter writer(*job_.domains[model]);
  for (const auto& [what, ranges] :
       {std::pair{"node_id", &job_.instances.nodes}, {"element_id", &job_.instances.elements}})
    for (const InstanceNumbers::Range& range : *ranges)
      writer.comment(std::string(what) + " above " + std::to_string(range.shift) + ": number in " + range.instance +
                     " + " + std::to_string(range.shift));
  std::vector<std::string> arrays{result.unknowns.name, result.reactions.name, "temperature"};
  writer.add(result.unknowns).add(result.reactions);
  if (!acting.values.empty()) writer.add(acting);
  for (const StepFields::Shown& shown : fields.shown) {
    writer.add_components(*shown.of, shown.name, shown.first, shown.count);
    arrays.push_back(shown.name);
  }
  for (auto& [name_of_cells, values] : fields.cells) {
    arrays.push_back(name_of_cells);
    writer.add_cells(name_of_cells, std::move(values));
  }
  if (!estimate.quantity.empty()) {
    writer.add_cells("error", estimate.element_error).add_cells("error_percent", estimate.element_percent);
    arrays.push_back("error_percent");
  }
  if (!job_.units.empty())
    for (const std::string& array : arrays) writer.unit(array, unit_of(array, job_.steps[step]));
  VtuOptions how;
  how.overwrite = options_.overwrite;
  const bool more_to_come = last_step_.at(model) > step;
  if (more_to_come || meshes_.contains(model)) writer.reuse(meshes_[model]);
  writer.write(options_.folder / file, how);
  if (!more_to_come) meshes_.erase(model);
  // ParaView takes files of one time for parts of one picture, so that times must rise.
  double time = job_.steps[step].total_time;
  if (!std::isfinite(time)) time = static_cast<double>(step + 1);
  if (!series_.empty() && !(time > series_.back().time)) time = series_.back().time + 1;
  series_.push_back({time, file});
}

bool VtuSeries::write_list(const std::string& file) {
  if (series_.size() == listed_) return false;
  const fs::path pvd = options_.folder / file;
  const bool ours = listed_ > 0 && FileIdentity::of(pvd) == *list_;
  write_pvd(pvd, series_, options_.overwrite || ours);
  *list_ = FileIdentity::of(pvd);
  listed_ = series_.size();
  return true;
}

}  // namespace voussoir::detail
