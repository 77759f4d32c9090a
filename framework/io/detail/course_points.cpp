#include <voussoir/framework/io/detail/course_points.hpp>

#include <set>

namespace voussoir::detail {

Amplitude points_of_course(std::initializer_list<const Amplitude*> amplitudes,
                           const std::function<double(double)>& course) {
  std::set<double> times;
  for (const Amplitude* amplitude : amplitudes)
    for (const Amplitude::Point& point : amplitude->points()) times.insert(point.first);
  std::vector<Amplitude::Point> points;
  for (const double time : times) points.emplace_back(time, course(time));
  return Amplitude(std::move(points));
}

}  // namespace voussoir::detail
