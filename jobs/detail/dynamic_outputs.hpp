#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <voussoir/framework/io/job/job.hpp>
#include <voussoir/jobs/step_receiver.hpp>

namespace voussoir::detail {

/// Which states of a step over time files and tables are written of. Both arguments must outlive the object.
class DynamicOutputs {
 public:
  DynamicOutputs(const JobStep& step, const DynamicStep& request);
  /// What the user should know of states that are left out; empty: nothing.
  const std::string& note() const { return note_; }
  /// Times that increments must end at.
  std::vector<double> targets() const;
  /// Where even spacing has come to, for checkpoints.
  double next() const { return next_; }
  void set_next(double next) { next_ = next; }
  bool is_last(double time) const { return same_time(time, request_.times.period); }
  /// What the state after `increment` increments, at a time of the step, is for.
  void decide(std::int64_t increment, double time, StepState& state);

 private:
  bool same_time(double a, double b) const;
  bool listed(const std::vector<double>& times, double time) const;

  const JobStep& step_;
  const DynamicStep& request_;
  int every_ = 0;
  double spacing_ = 0, next_ = 0;
  std::string note_;
};

/// The times of a list in order, without those that are equal but for rounding, and without start and end of a step.
std::vector<double> times_within(std::vector<double> all, const DynamicTimes& times);

}  // namespace voussoir::detail
