#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/error_estimate.hpp>
#include <voussoir/jobs/detail/common_files.hpp>
#include <voussoir/jobs/detail/part_files.hpp>
#include <voussoir/jobs/detail/print_tables.hpp>
#include <voussoir/jobs/detail/stage_clock.hpp>
#include <voussoir/jobs/detail/step_fields.hpp>
#include <voussoir/jobs/detail/step_picture.hpp>
#include <voussoir/jobs/detail/step_probes.hpp>
#include <voussoir/jobs/detail/vtu_series.hpp>
#include <voussoir/jobs/summary.hpp>

namespace voussoir::detail {

/// The files of steps of statics and heat, which have one result each: fields for viewers, pictures, requested tables,
/// results at points and along paths.
class StepFiles {
 public:
  /// What acts in a step, as far as files tell of it.
  struct Acting {
    std::vector<double> temperatures;                 ///< at the nodes; empty: the initial ones
    std::vector<std::int32_t> loaded_nodes;           ///< ascending
    std::vector<SuperelementInstance::Acting> parts;  ///< on each superelement
  };

  /// All arguments must outlive the object. The time of writing is added to `clock`.
  StepFiles(CommonFiles& files, StageClock& clock, const StepProbes& probes, StepPictures& pictures, PartFiles& parts)
      : files_(files),
        clock_(clock),
        probes_(probes),
        pictures_(pictures),
        parts_(parts),
        vtus_(files.job(), files.options()) {}

  /// Compresses the mesh of the first step's model, before there is anything to write.
  void prepare() { vtus_.prepare(); }
  /// Writes all files of a step that were asked for, and completes its summary: ranges, estimate of the error, points.
  /// The points of `result` are borrowed and given back.
  void write(std::size_t step, StepResult& result, const Acting& acting, StepSummary& summary);
  /// Writes tables to NAME.dat and to CSV files.
  void write_tables(std::size_t step, std::span<const PrintTable> tables);
  /// Writes NAME.pvd, unless it lists all steps so far.
  void write_list();

 private:
  void write_fields(std::size_t step, StepResult& result, const Acting& acts, StepSummary& summary);
  void write_vtu(std::size_t step, const StepResult& result, const ErrorEstimate& estimate, StepFields& fields,
                 const NodalField& acting);
  void write_parts(std::size_t step, const NodalField& unknowns,
                   const std::vector<SuperelementInstance::Acting>& acting);
  void write_frd(std::size_t step, const StepResult& result, const std::vector<double>& temperatures);
  void write_requested_tables(std::size_t step, const StepResult& result, const std::vector<double>& temperatures);
  void write_probes(std::size_t step, const StepResult& result, StepSummary& summary);

  CommonFiles& files_;
  StageClock& clock_;
  const StepProbes& probes_;
  StepPictures& pictures_;
  PartFiles& parts_;
  VtuSeries vtus_;
};

}  // namespace voussoir::detail
