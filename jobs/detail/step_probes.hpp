#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/probe.hpp>
#include <voussoir/framework/io/checkpoint/bytes.hpp>
#include <voussoir/framework/io/job/job.hpp>
#include <voussoir/jobs/detail/table_csv.hpp>
#include <voussoir/jobs/step_receiver.hpp>
#include <voussoir/jobs/summary.hpp>

// Results at the points and along the paths that a job asks for.

namespace voussoir::detail {

/// What was found along a path.
struct PathResult {
  std::size_t path = 0;  ///< of Job::paths
  std::vector<std::string> names;
  std::vector<ProbeValues> values;
  int outside = 0;  ///< points of the path that are in no element
};

class StepProbes {
 public:
  /// Points that are in none of the job's models are an Error with their distance; paths of which no point is,
  /// likewise.
  explicit StepProbes(const Job& job);

  bool empty() const { return locators_.empty(); }
  /// What the files of each path are called: "_path_A"; paths with the same name get numbers.
  std::vector<std::string> file_names() const;
  struct Found {
    std::vector<PointResult> points;
    std::vector<PathResult> paths;
  };
  /// Of the points and paths that lie in the model of the step.
  Found find(const JobStep& step, const StepResult& result) const;

 private:
  const Job& job_;
  std::vector<std::unique_ptr<PointLocator>> locators_;  // of each model
};

/// Whether points and paths are evaluated in the states of a step: in all but the combined peaks of response spectra,
/// which are not interpolated.
bool has_probed_states(Procedure procedure);

/// The tables of points and paths of a step that has states; the first columns tell the states apart. A step is taken
/// from begin to end before the next one.
class StateProbes {
 public:
  StateProbes(const Job& job, const StepProbes& probes) : job_(job), probes_(probes) {}

  /// Adds the shapes of modes: displacements alone.
  void add(std::size_t step, const ModeSet& modes);
  /// Adds a state over time; of a state over frequency, the displacements of both parts. Other states are left out.
  void add(std::size_t step, const StepState& state);
  /// A table with what the name of its file ends in, "_points" or "_path_A", and a note for the user, or "".
  struct Table {
    std::string suffix;
    CsvTable csv;
    std::string note;
  };
  /// The tables of the step, which is complete.
  std::vector<Table> take();
  /// Rows that states have added since the last call, for restore() in a later run.
  void take_added(ByteWriter& out);
  /// Adds what take_added() of an earlier run has written.
  void restore(ByteReader& in);

 private:
  void add(std::size_t step, const StepResult& result, const CsvState& state);

  const Job& job_;
  const StepProbes& probes_;
  std::map<std::size_t, Table> tables_;       // 0: the points; 1 + i: path i
  std::map<std::size_t, std::size_t> taken_;  // how much of each take_added() has written
};

/// That points of a path are outside of the body; "" where none are.
std::string note_of_path(const Job& job, const PathResult& path);
/// A path as a plot: stress (heat flux), displacements (temperature), forces and moments of lines, each in a panel.
std::string plot_of_path(const PathResult& path, const std::string& title, const Units& units);

}  // namespace voussoir::detail
