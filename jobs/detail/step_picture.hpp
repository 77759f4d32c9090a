#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/error_estimate.hpp>
#include <voussoir/framework/analysis/results.hpp>
#include <voussoir/framework/io/checkpoint/bytes.hpp>
#include <voussoir/framework/io/job/job.hpp>
#include <voussoir/jobs/result_files.hpp>
#include <voussoir/jobs/step_receiver.hpp>

// The picture (PNG) of a step.

namespace voussoir::detail {

/// The fields by which a picture of a step can be coloured, by name; the one that is taken unasked stands first: the
/// Mises stress, of trusses the stress along them, of beams the displacement, of heat the temperature, and the unknown
/// of whatever else there is.
std::vector<std::string> picture_fields(const Job& job, const JobStep& step);

/// The fields of a step that has states, likewise: those of the states over time, without the estimated error;
/// displacements over frequency; none of modes and spectra.
std::vector<std::string> picture_fields_of_states(const Job& job, const JobStep& step);

/// What is drawn of a step; kept until it is known which step is the worst.
class StepPicture {
 public:
  /// `field` is one of picture_fields(). `temperatures` are those that act in a step of statics, or empty.
  StepPicture(const Job& job, std::size_t step, const StepResult& result, const std::vector<double>& temperatures,
              const ErrorEstimate& estimate, std::string field);

  /// The largest value by size, for comparison with other steps.
  double severity() const { return severity_; }
  /// Adds to the subtitle which state of the step it is: "time 0.25".
  void set_moment(std::string moment) { moment_ = std::move(moment); }
  void write(const std::filesystem::path& path, bool overwrite) const;

  /// Writes what is drawn, for the other constructor.
  void save(ByteWriter& out) const;
  /// A picture of a step of this job that save() has written.
  StepPicture(const Job& job, std::size_t step, ByteReader& in);

 private:
  void take(std::vector<MaterialField> fields, const std::string& component);
  void take_means(const StepResult& result);

  const Job* job_;
  std::size_t step_;
  std::string field_, moment_;
  NodalField moved_;                   // empty where nothing is deformed
  std::vector<MaterialField> fields_;  // with one component
  bool any_material_ = false;
  std::vector<double> elements_;
  double severity_ = 0;
};

/// The pictures that a job's results are asked for.
class StepPictures {
 public:
  /// Chooses the field of each step. One that is named and that no step has is an Error.
  StepPictures(const Job& job, const OutputOptions& options);

  /// Names of the files that will be written: NAME.png, or NAME_step1.png, …
  std::vector<std::string> files(const std::string& name) const;
  /// Draws the step, or keeps it where only the worst one is wanted. Returns the files that were written.
  std::vector<std::filesystem::path> draw(std::size_t step, const StepResult& result,
                                          const std::vector<double>& temperatures, const ErrorEstimate& estimate,
                                          const std::filesystem::path& folder, const std::string& name);
  /// Takes a state of a step; the one with the largest value is drawn at the end of the step.
  void take_state(std::size_t step, const StepState& state);
  /// Writes the worst state if it has become another one since the last call, for restore() in a later run.
  void take_added(ByteWriter& out);
  /// Takes what take_added() of an earlier run has written.
  void restore(std::size_t step, ByteReader& in);
  /// The states of the step are complete: as draw(), of the worst of them.
  std::vector<std::filesystem::path> draw_states(std::size_t step, const std::filesystem::path& folder,
                                                 const std::string& name);
  /// At the end: the worst step, where that is wanted.
  std::vector<std::filesystem::path> draw_worst(const std::filesystem::path& folder, const std::string& name);

 private:
  std::string file(std::size_t step, const std::string& name) const;
  std::vector<std::filesystem::path> draw_or_keep(std::size_t step, StepPicture picture,
                                                  const std::filesystem::path& folder, const std::string& name);

  const Job& job_;
  Pictures wanted_;
  bool overwrite_;
  std::vector<std::string> fields_;         // of each step; empty: there is nothing to draw
  std::optional<StepPicture> worst_;        // of the steps so far
  std::optional<StepPicture> worst_state_;  // of the step whose states are being taken
  bool worst_state_is_new_ = false;         // since take_added()
  std::size_t worst_step_ = 0;
};

}  // namespace voussoir::detail
