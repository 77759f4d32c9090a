#include <voussoir/framework/analysis/detail/loads_over_time.hpp>

#include <algorithm>
#include <cmath>
#include <map>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/analysis/detail/base_motion.hpp>
#include <voussoir/framework/analysis/process_group.hpp>

namespace voussoir::detail {

LoadsOverTime::LoadsOverTime(const AnalysisModel& model, const TimeLoads& loads, double start,
                             const std::function<void(const Vector& x, Vector& y)>& mass_times)
    : model_(model), start_(start), meets_kinks_(loads.steps_meet_kinks()) {
  bind_cases(loads);
  bind_supports(loads);
  bind_base(loads, mass_times);
}

void LoadsOverTime::bind_cases(const TimeLoads& loads) {
  const Domain& domain = model_.domain();
  cases_.resize(domain.load_case_count());
  for (const TimeLoads::Case& load : loads.cases()) {
    const LoadCase& wanted = domain.load_case(load.name);  // throws for a name that does not exist
    std::size_t place = 0;
    while (&domain.load_case(place) != &wanted) ++place;
    cases_[place].push_back(load);
  }
}

/// What prescribed values give to all equations: those that depend on them follow.
Vector LoadsOverTime::following(std::vector<double> values, bool with_constants) const {
  for (const AffineDependency& d : model_.constraints().dependent) {
    double sum = with_constants ? d.constant : 0.0;
    for (std::size_t k = 0; k < d.others.size(); ++k)
      if (model_.is_prescribed(d.others[k])) sum += d.coefficients[k] * values[static_cast<std::size_t>(d.others[k])];
    values[static_cast<std::size_t>(d.equation)] = sum;
  }
  Vector made = model_.make_vector();
  made.from_host(values);
  return made;
}

void LoadsOverTime::bind_supports(const TimeLoads& loads) {
  const auto& given = model_.constraints().value;
  const auto size = static_cast<std::size_t>(model_.equation_count());
  std::vector<std::size_t> motion_of(size, 0);  // 0: the other supports; else 1 + place in moved()
  for (std::size_t m = 0; m < loads.moved().size(); ++m)
    for (const TimeLoads::Place& place : loads.moved()[m].places) {
      const std::int32_t e = model_.equation(place.node, place.unknown);
      const std::string where = model_.domain().node_label(place.node) + ", " + place.unknown;
      if (e < 0) throw Error(ErrorCode::not_found, "a support is to move here, but there is no such unknown", where);
      if (!model_.is_prescribed(e))
        throw Error(ErrorCode::bad_input,
                    model_.constraints().springs.empty()
                        ? "a support is to move here, but the unknown is not prescribed; prescribe it with the value "
                          "that the motion multiplies"
                        : "supports by penalty cannot move; use the constraints 'transformation'",
                    where);
      motion_of[static_cast<std::size_t>(e)] = m + 1;
    }
  for (std::size_t m = 0; m <= loads.moved().size(); ++m) {
    std::vector<double> values(size, 0.0);
    bool any = m == 0;
    for (std::size_t e = 0; e < size; ++e)
      if (motion_of[e] == m && model_.is_prescribed(static_cast<std::int32_t>(e))) {
        values[e] = given[e];
        any = any || given[e] != 0;
      }
    if (!any) continue;
    const SupportMotion& motion = m == 0 ? loads.other_supports() : loads.moved()[m - 1].motion;
    const bool rests =
        std::all_of(values.begin(), values.end(), [](double v) { return v == 0; }) &&
        (m > 0 || std::all_of(model_.constraints().dependent.begin(), model_.constraints().dependent.end(),
                              [](const AffineDependency& d) { return d.constant == 0; }));
    moving_ = moving_ || (!rests && !motion.is_constant());
    if (!rests && !model_.is_thermal())
      for (const double jump : motion.jumps())
        if (jump > start_)
          throw Error(ErrorCode::bad_input, "the displacement of a support jumps at time " + short_number(jump, 6) +
                                                "; give its amplitude a time in which it rises");
    if (!rests) patterns_.push_back({motion, following(std::move(values), m == 0)});
  }
  moving_ = on_any(model_, moving_);
  for (const auto& spring : model_.constraints().springs)
    if (spring.constant != 0 && !loads.other_supports().is_constant())
      throw Error(ErrorCode::bad_input, "supports by penalty cannot move; use the constraints 'transformation'",
                  model_.equation_label(spring.equations.front()));
}

void LoadsOverTime::bind_base(const TimeLoads& loads, const std::function<void(const Vector&, Vector&)>& mass_times) {
  std::map<int, std::size_t> followed;
  for (const TimeLoads::Base& base : loads.base()) {
    const int direction = base_direction(base.direction);
    Vector rigid = rigid_motion(model_, direction), inertia = model_.make_vector();
    if (followed.emplace(direction, base_.size()).second)
      for (const std::string& text : check_follows_base(model_, direction, rigid)) notes_.push_back(text);
    mass_times(rigid, inertia);
    base_.push_back({base.acceleration, base.factor, IntegratedMotion(base.acceleration, start_), std::move(rigid),
                     std::move(inertia)});
  }
}

std::vector<double> LoadsOverTime::case_factors(double time, double step) const {
  return factors_of([&](const TimeLoads::Case& load) {
    return load.course ? load.course(time) : load.factor * sampled(load.amplitude, time, step);
  });
}

std::vector<double> LoadsOverTime::case_factors_before(double time, double step) const {
  const double before = time - 1e-9 * step;
  return factors_of([&](const TimeLoads::Case& load) {
    return load.course ? load.course(before) : load.factor * load.amplitude.at(before);
  });
}

std::vector<double> LoadsOverTime::mean_case_factors(double time, double step) const {
  const double after = time - (1 - 1e-9) * step, before = time - 1e-9 * step;
  // Gauss's rule of three points is exact for polynomials of the fifth degree: radiation of surroundings whose
  // temperature is linear in time, times an emissivity that is.
  const double middle = time - 0.5 * step, apart = std::sqrt(0.15) * step;
  return factors_of([&](const TimeLoads::Case& load) {
    if (!load.course) return 0.5 * load.factor * (load.amplitude.at(after) + load.amplitude.at(before));
    return (5 * load.course(middle - apart) + 8 * load.course(middle) + 5 * load.course(middle + apart)) / 18;
  });
}

template <class Factor>
std::vector<double> LoadsOverTime::factors_of(const Factor& factor) const {
  std::vector<double> factors;
  for (const auto& courses : cases_) {
    double sum = 0;
    for (const TimeLoads::Case& load : courses) sum += factor(load);
    factors.push_back(sum);
  }
  return factors;
}

void LoadsOverTime::add_supports(int derivative, double time, double step, Vector& x) const {
  for (const Pattern& pattern : patterns_) {
    const MotionAt at = pattern.motion.at(time, step, start_, meets_kinks_);
    const double factor = derivative == 0 ? at.displacement : derivative == 1 ? at.velocity : at.acceleration;
    if (factor != 0) model_.backend().axpy(factor, pattern.values, x);
  }
}

double LoadsOverTime::base_acceleration(std::size_t which, double time, double step) const {
  return base_[which].factor * sampled(base_[which].acceleration, time, step);
}

void LoadsOverTime::add_base_inertia(double time, double step, Vector& r) const {
  for (std::size_t k = 0; k < base_.size(); ++k)
    if (const double a = base_acceleration(k, time, step); a != 0) model_.backend().axpy(a, base_[k].inertia, r);
}

void LoadsOverTime::add_base_motion(int derivative, double time, double step, Vector& x) const {
  for (const Base& base : base_) {
    const MotionAt at = base.motion.at(time);
    const double value = derivative == 0   ? at.displacement
                         : derivative == 1 ? at.velocity
                                           : sampled(base.acceleration, time, step);
    model_.backend().axpy(base.factor * value, base.rigid, x);
  }
}

}  // namespace voussoir::detail
