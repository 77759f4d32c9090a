#include <voussoir/framework/io/job/detail/probes.hpp>

#include <cmath>

namespace voussoir::job {
namespace {

/// The most points that a path may have; more would not be a plot but a file that nobody can open.
constexpr int most_points = 1000000;

template <class List>
void require_new_name(const List& list, const std::string& name, const Json& json, const char* what) {
  for (const auto& other : list)
    if (other.name == name)
      json.fail(std::string("a ") + what + " before is called '" + name + "' too; give each a unique name");
}

}  // namespace

void read_probes(const Json& root, Job& job) {
  if (root.has("points"))
    for (const Json& json : root.at("points").items()) {
      json.allow({"name", "at"});
      ProbePoint point;
      point.name = json.has("name") ? json.at("name").text() : "P" + std::to_string(job.points.size() + 1);
      require_new_name(job.points, point.name, json, "point");
      point.position = json.at("at").vector();
      point.where = json.where();
      job.points.push_back(std::move(point));
    }
  if (root.has("paths"))
    for (const Json& json : root.at("paths").items()) {
      json.allow({"name", "from", "to", "points"});
      ProbePath path;
      path.name = json.has("name") ? json.at("name").text() : std::to_string(job.paths.size() + 1);
      require_new_name(job.paths, path.name, json, "path");
      path.from = json.at("from").vector();
      path.to = json.at("to").vector();
      path.where = json.where();
      if (json.has("points")) {
        const double count = json.at("points").number();
        if (!(count >= 2 && count <= most_points) || count != std::floor(count))
          json.at("points").fail("the number of points of a path is an integer from 2 to " +
                                 std::to_string(most_points));
        path.points = static_cast<int>(count);
      }
      job.paths.push_back(std::move(path));
    }
  if (root.has("units")) {
    const Json json = root.at("units");
    job.units = Units::parse(json.text(), json.where());
  }
}

}  // namespace voussoir::job
