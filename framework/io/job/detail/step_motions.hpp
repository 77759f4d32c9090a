#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <voussoir/framework/io/job/detail/step_actions.hpp>

// How supports and nodes of the steps of a job file move.

namespace voussoir::job {

/// Reads the motions of supports and the initial displacements and velocities of steps of direct integration and
/// nonlinear statics. No support may jump at the beginning of a step, so the object keeps where supports have ended.
class MotionReader {
 public:
  /// Both must outlive the object.
  MotionReader(Model& model, const StepActions& actions) : model_(model), actions_(actions) {}

  /// Adds "support_motions", "initial_displacement" and "initial_velocity" of a step to `request`, whose times and
  /// `continues` are there already. In nonlinear statics, supports without a motion go evenly to what is prescribed.
  /// Error if a support would jump. Steps must be read in their order.
  void read(const Json& json, const JobStep& step, DynamicStep& request);

 private:
  using SupportPlaces = std::map<std::pair<std::int32_t, std::string>, double>;  // displacement by node and unknown

  std::set<std::size_t> read_support_motions(const Json& json, const JobStep& step, DynamicStep& request,
                                             SupportPlaces& ends) const;
  void read_initial(const Json& json, const char* key, const JobStep& step, std::vector<InitialMotion>& motions) const;
  void refuse_late_supports(const Json& json, const std::vector<std::size_t>& acts, bool continues);
  void ramp_support(std::size_t support, DynamicStep& request, SupportPlaces& ends) const;
  void check_start(const Json& json, const std::string& name, const Prescribed& place, double value) const;

  Model& model_;
  const StepActions& actions_;
  std::set<std::pair<std::int32_t, std::string>> supported_;  // in the last step that was read
  std::set<std::size_t> supported_along_;                     // there, along directions
  SupportPlaces support_at_;                                  // where it has left supports that moved
};

}  // namespace voussoir::job
