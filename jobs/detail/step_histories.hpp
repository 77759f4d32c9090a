#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <voussoir/framework/analysis/results.hpp>
#include <voussoir/framework/io/checkpoint/bytes.hpp>
#include <voussoir/framework/io/job/job.hpp>
#include <voussoir/jobs/detail/print_tables.hpp>
#include <voussoir/jobs/step_receiver.hpp>

namespace voussoir::detail {

/// Records the curves that a step of direct integration is asked for (JobStep::histories), state by state.
class StepHistories {
 public:
  /// The job must outlive the object. Throws Error (bad_input) with the place of a request for sums that its quantities
  /// do not have.
  StepHistories(const Job& job, std::size_t step, const DynamicTimes& times);

  bool empty() const { return records_.empty(); }
  /// Times of the step that increments must end at; they may repeat.
  std::vector<double> targets() const;

  /// What the curves need of a state.
  struct Needs {
    bool any = false;           ///< whether some curve takes the state; otherwise nothing is needed
    bool points = false;        ///< results at the points of elements
    bool velocity = false;      ///< velocities of nodes
    bool acceleration = false;  ///< accelerations of nodes
    bool temperatures = false;  ///< temperatures that act on a structure
  };
  /// Chooses the curves that take a state after so many increments, at a time of the step. Call it once for every
  /// state, in the order of time.
  Needs choose(std::int64_t increment, double time);

  /// Adds a state at a total time to the curves that choose() has chosen for it; `tables` gives those of a request, by
  /// its index. Returns rows for restore_row(). Throws Error with the place of a request that has more curves than a
  /// table can show, or where all values do not fit.
  std::vector<std::string> add(double time, bool at_start,
                               const std::function<std::vector<PrintTable>(std::size_t request)>& tables);

  /// Adds what add() of an earlier run has returned.
  void restore_row(ByteReader& in);
  /// Writes when curves take their next states.
  void save(ByteWriter& out) const;
  /// Reads what save() has written.
  void restore(ByteReader& in);

  /// All curves, in the order of the requests; the object is empty afterwards.
  std::vector<RecordedHistory> take();
  /// What was asked for and is not there, for the user.
  std::vector<std::string> notes;

 private:
  struct Record {
    const HistoryRequest* request = nullptr;
    double next = 0;      // time of the step, where states are chosen by intervals
    bool chosen = false;  // takes the state that is being recorded
    RecordedHistory history;
  };
  bool takes(Record& record, std::int64_t increment, double time) const;
  void append(Record& record, double time, const std::vector<double>& values);

  DynamicTimes times_;
  bool heat_;
  std::vector<Record> records_;
  std::size_t values_ = 0;  // of all curves so far
};

/// A state as histories see it, with what StepHistories::choose() has said that is needed.
struct HistorySample {
  const StepResult* result = nullptr;                 ///< never null
  const NodalField* velocity = nullptr;               ///< null where not needed
  const NodalField* acceleration = nullptr;           ///< null where not needed
  const std::vector<double>* temperatures = nullptr;  ///< null where not needed
};

/// The tables that histories are made of, of a model or of a part of one.
class HistoryTables {
 public:
  HistoryTables(const Job& job, std::size_t step);  ///< the job must outlive the object
  /// Whether the set that a request names, by its index, has members here; a part may have none.
  bool has_members(std::size_t request) const;
  /// The tables of a request, by its index.
  std::vector<PrintTable> of(std::size_t request, const HistorySample& sample, std::vector<std::string>& notes) const;

 private:
  const Job& job_;
  std::vector<HistoryRequest> requests_;
  JobStep asked_;  // its tables are what the histories show
};

/// What the names of the files of each history of a step end in: "_history_TIP"; the same ones get numbers.
std::vector<std::string> history_file_names(const JobStep& step);

/// Means over the points of each element, weighted by the volumes of the points where the field has them: a field with
/// one point for each element, whose volume is that of the element.
PointField centroid_values(const PointField& field);

}  // namespace voussoir::detail
