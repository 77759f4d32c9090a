#pragma once
#include <functional>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/time_loads.hpp>
#include <voussoir/framework/model/analysis_model.hpp>

namespace voussoir::detail {

/// TimeLoads for the equations of a model: factors of its load cases, and vectors on its backend.
class LoadsOverTime {
 public:
  /// `mass_times` computes M x on all equations. Throws Error (not_found, bad_input) that names the load case, support
  /// or direction that does not fit the model.
  LoadsOverTime(const AnalysisModel& model, const TimeLoads& loads, double start,
                const std::function<void(const Vector& x, Vector& y)>& mass_times);

  /// Factors of the domain's load cases.
  std::vector<double> case_factors(double time, double step) const;
  /// The same just before a time, for methods that take what acts at the end of a step for all of it: a load that jumps
  /// there does not act in the step.
  std::vector<double> case_factors_before(double time, double step) const;
  /// Means over the step that ends at a time, where steps end at all kinks: what came in is then right in any step.
  std::vector<double> mean_case_factors(double time, double step) const;
  bool meets_kinks() const { return meets_kinks_; }
  /// Whether a load case of the domain has a course over time; without, its factor is always 0.
  bool has_course(std::size_t load_case) const { return !cases_[load_case].empty(); }
  bool supports_move() const { return moving_; }
  /// Displacements, velocities and accelerations (0, 1, 2) that supports give to all equations; zero at free ones.
  void add_supports(int derivative, double time, double step, Vector& x) const;
  bool base_moves() const { return !base_.empty(); }
  std::size_t base_count() const { return base_.size(); }                               ///< accelerations of the base
  const Vector& base_inertia(std::size_t which) const { return base_[which].inertia; }  ///< M r of one of them
  double base_acceleration(std::size_t which, double time, double step) const;          ///< a(t) of one of them
  /// Adds the inertial forces M r a(t) of the accelerated base to out-of-balance forces.
  void add_base_inertia(double time, double step, Vector& r) const;
  /// Adds the motion of the base itself to a relative motion: 0, 1, 2 for displacements, velocities, accelerations.
  void add_base_motion(int derivative, double time, double step, Vector& x) const;
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  /// Supports that move alike, with what they add to all equations at factor 1.
  struct Pattern {
    SupportMotion motion;
    Vector values;
  };
  struct Base {
    Amplitude acceleration;
    double factor;
    IntegratedMotion motion;
    Vector rigid, inertia;  // r and M r
  };
  template <class Factor>
  std::vector<double> factors_of(const Factor& factor) const;
  void bind_cases(const TimeLoads& loads);
  void bind_supports(const TimeLoads& loads);
  void bind_base(const TimeLoads& loads, const std::function<void(const Vector&, Vector&)>& mass_times);
  Vector following(std::vector<double> values, bool with_constants) const;

  const AnalysisModel& model_;
  double start_;
  bool meets_kinks_;
  std::vector<std::vector<TimeLoads::Case>> cases_;  // of each load case of the domain
  std::vector<Pattern> patterns_;
  std::vector<Base> base_;
  std::vector<std::string> notes_;
  bool moving_ = false;
};

}  // namespace voussoir::detail
