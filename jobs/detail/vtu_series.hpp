#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/error_estimate.hpp>
#include <voussoir/framework/io/vtk/pvd_writer.hpp>
#include <voussoir/framework/io/vtk/vtu_writer.hpp>
#include <voussoir/jobs/detail/step_fields.hpp>
#include <voussoir/jobs/result_files.hpp>

namespace voussoir::detail {

/// The VTU files of a job's steps, and the list (PVD) that puts them in order. What files of one model have in common
/// is compressed once.
class VtuSeries {
 public:
  /// Both must outlive this.
  VtuSeries(const Job& job, const OutputOptions& options);
  ~VtuSeries();

  /// Compresses the mesh of the first step's model, before there is anything to write.
  void prepare();
  /// Writes the file of one step. `acting` are the temperatures that act in it; empty where none do.
  void write(std::size_t step, const std::string& file, const StepResult& result, const NodalField& acting,
             const ErrorEstimate& estimate, StepFields& fields);
  /// Whether it is time for a new list: written after every step, the list of thousands of steps would take far longer
  /// than what it lists.
  bool list_is_due() const { return series_.size() <= 100 || series_.size() >= listed_ + listed_ / 10; }
  /// Replaces the list that was written before, but not one that somebody else put there. False where it is up to date.
  bool write_list(const std::string& file);

 private:
  struct FileIdentity;

  std::string unit_of(const std::string& array, const JobStep& step) const;

  const Job& job_;
  const OutputOptions& options_;
  std::vector<PvdEntry> series_;
  std::unique_ptr<FileIdentity> list_;            // the list that this job wrote last
  std::size_t listed_ = 0;                        // how many files it has
  std::map<std::size_t, std::size_t> last_step_;  // of each model
  std::map<std::size_t, VtuMesh> meshes_;         // compressed, of models that have files to come
};

}  // namespace voussoir::detail
