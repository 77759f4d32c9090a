#include <voussoir/framework/response/support_motion.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

#include <voussoir/backends/error.hpp>

namespace voussoir {

double sampled(const Amplitude& amplitude, double time, double step) {
  const auto points = amplitude.points();
  const double near = 1e-9 * std::abs(step);
  // The first point that is not clearly before the time: of a jump, the point before it.
  const auto first = std::lower_bound(points.begin(), points.end(), time - near,
                                      [](const Amplitude::Point& p, double t) { return p.first < t; });
  if (first != points.end() && first + 1 != points.end() && first[1].first == first->first &&
      first->first <= time + near)
    return 0.5 * (first->second + first[1].second);
  return amplitude.at(time);
}

IntegratedMotion::IntegratedMotion(const Amplitude& acceleration, double start) : acceleration_(acceleration) {
  points_.push_back({start, acceleration.at(start), 0, 0});
  for (const auto& [time, value] : acceleration.points()) {
    if (time < start) continue;
    const Point& last = points_.back();
    const double h = time - last.time;
    // Just before the point; where the amplitude jumps, velocity and displacement do not.
    const double end = h > 0 ? acceleration.before(time) : value;
    points_.push_back({time, value, last.velocity + h * (last.acceleration + end) / 2,
                       last.displacement + h * last.velocity + h * h * (2 * last.acceleration + end) / 6});
  }
}

MotionAt IntegratedMotion::at(double time) const {
  if (time <= points_.front().time) return {0, 0, points_.front().acceleration};
  const auto after =
      std::upper_bound(points_.begin(), points_.end(), time, [](double t, const Point& p) { return t < p.time; });
  const Point& from = *(after - 1);
  const double h = time - from.time, end = h > 0 ? acceleration_.before(time) : from.acceleration;
  return {from.displacement + h * from.velocity + h * h * (2 * from.acceleration + end) / 6,
          from.velocity + h * (from.acceleration + end) / 2, acceleration_.at(time)};
}

SupportMotion::SupportMotion()
    : motion_([](double, double, double, bool) {
        return MotionAt{1, 0, 0};
      }),
      constant_(true) {}

SupportMotion SupportMotion::by_displacement(Amplitude displacement) {
  SupportMotion made;
  const auto points = displacement.points();
  made.constant_ = std::all_of(points.begin(), points.end(),
                               [&](const Amplitude::Point& p) { return p.second == points.front().second; });
  for (const Amplitude::Point& point : points) made.kinks_.push_back(point.first);
  for (std::size_t i = 1; i < points.size(); ++i)
    if (points[i].first == points[i - 1].first && points[i].second != points[i - 1].second)
      made.jumps_.push_back(points[i].first);
  made.motion_ = [f = std::move(displacement)](double time, double step, double start, bool meets_kinks) {
    const double here = sampled(f, time, step), near = 1e-9 * step;
    // To the neighbouring points, at most a step.
    double ahead = step, back = step;
    for (const Amplitude::Point& point : f.points()) {
      if (point.first > time + near) ahead = std::min(ahead, point.first - time);
      if (point.first < time - near) back = std::min(back, time - point.first);
    }
    // Before the start the motion is continued backwards, so that it does not begin with a blow.
    if (time - step < start - near) {
      const double velocity = (f.before(time + ahead) - here) / ahead;
      if (!meets_kinks || time - near < start) return MotionAt{here, velocity, 0};
    }
    if (meets_kinks) {
      const double after = (f.before(time + ahead) - here) / ahead, before = (here - f.at(time - back)) / back;
      return MotionAt{here, 0.5 * (after + before), (after - before) / step};
    }
    const double next = sampled(f, time + step, step), past = sampled(f, time - step, step);
    return MotionAt{here, (next - past) / (2 * step), (next - 2 * here + past) / (step * step)};
  };
  return made;
}

SupportMotion SupportMotion::by_acceleration(const Amplitude& acceleration, double start) {
  SupportMotion made;
  made.constant_ = false;
  for (const Amplitude::Point& point : acceleration.points()) made.kinks_.push_back(point.first);
  made.motion_ = [motion = std::make_shared<const IntegratedMotion>(acceleration, start), acceleration](
                     double time, double step, double, bool) {
    MotionAt at = motion->at(time);
    at.acceleration = sampled(acceleration, time, step);
    return at;
  };
  return made;
}

SupportMotion SupportMotion::by_acceleration(const Accelerogram& acceleration, double start) {
  return by_acceleration(acceleration.amplitude(), start);
}

SupportMotion SupportMotion::by_functions(Function displacement, Function velocity, Function acceleration) {
  if (!displacement || !velocity || !acceleration)
    throw Error(ErrorCode::misuse, "a motion of supports needs displacement, velocity and acceleration");
  SupportMotion made;
  made.constant_ = false;
  made.motion_ = [u = std::move(displacement), v = std::move(velocity), a = std::move(acceleration)](
                     double time, double, double, bool) {
    return MotionAt{u(time), v(time), a(time)};
  };
  return made;
}

}  // namespace voussoir
