#include <voussoir/framework/io/job/heat_job.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include <nlohmann/json.hpp>
#include <voussoir/backends/grid_stock.hpp>
#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/io/detail/file_bytes.hpp>
#include <voussoir/framework/io/job/detail/json.hpp>

namespace voussoir {
namespace {

using job::Json;

constexpr const char* heat_axes[] = {"x", "y", "z"};

double finite_number(const Json& json) {
  const double value = json.number();
  if (!std::isfinite(value)) json.fail("a finite number is expected here");
  return value;
}

std::int64_t whole_in_range(const Json& json, std::int64_t least, std::int64_t most) {
  const double value = json.number();
  if (!(value >= static_cast<double>(least) && value <= static_cast<double>(most)) || value != std::floor(value))
    json.fail("a whole number from " + std::to_string(least) + " to " + std::to_string(most) + " is expected here");
  return static_cast<std::int64_t>(value);
}

/// As many numbers as the grid has dimensions.
std::array<double, 3> numbers_along_axes(const Json& json, int dimensions, double rest = 0) {
  const auto items = json.items();
  if (static_cast<int>(items.size()) != dimensions)
    json.fail("a list of " + std::to_string(dimensions) + " numbers is expected here, one for each axis of the grid");
  std::array<double, 3> all{rest, rest, rest};
  for (std::size_t a = 0; a < items.size(); ++a) all[a] = finite_number(items[a]);
  return all;
}

/// A table [[time, value], …] as a function, linear between its rows and constant beyond them.
std::function<double(double)> table_of_time(const Json& json) {
  std::vector<std::pair<double, double>> rows;
  for (const Json& row : json.items()) {
    const auto pair = row.items();
    if (!row.is_list() || pair.size() != 2) row.fail("a pair [time, value] is expected here");
    rows.emplace_back(finite_number(pair[0]), finite_number(pair[1]));
    if (rows.size() > 1 && !(rows.back().first > rows[rows.size() - 2].first))
      row.fail("times of a table must increase from row to row");
  }
  if (rows.empty()) json.fail("a table needs at least one row [time, value]");
  return [rows = std::move(rows)](double time) {
    const auto after = std::upper_bound(rows.begin(), rows.end(), time,
                                        [](double t, const std::pair<double, double>& row) { return t < row.first; });
    if (after == rows.begin()) return rows.front().second;
    if (after == rows.end()) return rows.back().second;
    const auto& [t0, v0] = *(after - 1);
    return v0 + (after->second - v0) * (time - t0) / (after->first - t0);
  };
}

/// A number, or a table of time.
GridValue heat_value_of(const Json& json) {
  if (json.is_list()) return GridValue::of_time(table_of_time(json));
  return finite_number(json);
}

SideCondition read_side(const Json& json) {
  if (json.is_text()) {
    const std::string& word = json.choice({"periodic", "insulated"});
    return word == "periodic" ? SideCondition::periodic() : SideCondition::insulated();
  }
  json.allow({"temperature", "flux"});
  if (json.has("temperature") == json.has("flux"))
    json.fail("a side has either \"temperature\" or \"flux\", or it is \"periodic\" or \"insulated\"");
  if (json.has("temperature")) return SideCondition::temperature(heat_value_of(json.at("temperature")));
  return SideCondition::flux(heat_value_of(json.at("flux")));
}

/// "all", axes ("x": both sides) and sides ("x-"), in this order, whatever the order in the file.
void read_sides(const Json& json, Grid& grid) {
  std::vector<std::string> names{"all"};
  for (int a = 0; a < grid.dimensions(); ++a)
    for (const char* end : {"", "-", "+"}) names.push_back(std::string(heat_axes[a]) + end);
  json.allow(names);
  if (json.has("all")) grid.sides(read_side(json.at("all")));
  for (int a = 0; a < grid.dimensions(); ++a)
    if (json.has(heat_axes[a]))
      for (const int s : {2 * a, 2 * a + 1}) grid.side(s, read_side(json.at(heat_axes[a])));
  for (int s = 0; s < 2 * grid.dimensions(); ++s) {
    if (!json.has(side_name(s))) continue;
    const Json own = json.at(side_name(s));
    const SideCondition condition = read_side(own);
    if (grid.is_periodic(s / 2))
      own.fail(std::string("the axis ") + heat_axes[s / 2] + " is periodic, so its sides have no conditions; remove " +
               "this key, or give the axis another condition");
    if (condition.kind == SideKind::periodic)
      own.fail(std::string("both sides of an axis are periodic together; write \"") + heat_axes[s / 2] +
               "\": \"periodic\"");
    grid.side(s, condition);
  }
}

Grid read_grid(const Json& root) {
  const Json json = root.at("grid");
  json.allow({"nodes", "lengths", "origin"});
  const auto nodes = json.at("nodes").items();
  const int dimensions = static_cast<int>(nodes.size());
  if (dimensions < 1 || dimensions > 3) json.at("nodes").fail("one, two or three numbers of nodes are expected here");
  std::array<int, 3> count{1, 1, 1};
  for (std::size_t a = 0; a < nodes.size(); ++a) count[a] = static_cast<int>(whole_in_range(nodes[a], 3, 1000000000));
  const auto lengths = numbers_along_axes(json.at("lengths"), dimensions, 1);
  Grid grid = json.doing([&] { return Grid(dimensions, count, lengths); });
  if (json.has("origin")) grid.origin(numbers_along_axes(json.at("origin"), dimensions));
  if (root.has("sides")) read_sides(root.at("sides"), grid);
  return grid;
}

/// Reads what a material has, and what it lacks from `base` where there is one.
HeatMaterial read_heat_material(const Json& json, int dimensions, const HeatMaterial* base = nullptr) {
  HeatMaterial material;
  const Json conductivity = json.at("conductivity");
  if (conductivity.is_list())
    material.conductivity = numbers_along_axes(conductivity, dimensions, 1);
  else
    material.conductivity.fill(conductivity.positive());
  for (const double k : material.conductivity)
    if (!(k > 0)) conductivity.fail("conductivities must be greater than zero");
  const auto other = [&](const char* key, double from_base) {
    return base && !json.has(key) ? from_base : json.at(key).positive();
  };
  material.density = other("density", base ? base->density : 0);
  material.specific_heat = other("specific_heat", base ? base->specific_heat : 0);
  if (!std::isfinite(material.capacity()) || !(material.capacity() > 0))
    json.fail("density times specific heat is zero or not finite");
  return material;
}

/// Corners of a box along the axes of the grid; along the others everything is inside. The box is a little larger than
/// given, so that rounding does not decide whether nodes on its surface are inside.
void read_box(const Json& json, const Grid& grid, double* lower, double* upper) {
  const auto low = numbers_along_axes(json.at("lower"), grid.dimensions()),
             high = numbers_along_axes(json.at("upper"), grid.dimensions());
  constexpr double surface = 1e-6;  // of the distance of nodes
  for (int a = 0; a < 3; ++a) {
    const auto i = static_cast<std::size_t>(a);
    lower[i] = -1;
    upper[i] = 1;
    if (a >= grid.dimensions()) continue;
    if (!(high[i] >= low[i])) json.fail("\"upper\" lies below \"lower\"");
    const double h = grid.spacing(a), origin = grid.origin()[i];
    lower[i] = low[i] - surface * h;
    upper[i] = high[i] + surface * h;
    const double first = std::max(0.0, std::ceil((lower[i] - origin) / h)),
                 last = std::min(grid.nodes(a) - 1.0, std::floor((upper[i] - origin) / h));
    if (first > last)
      json.fail(std::string("no node of the grid lies in this box along ") + heat_axes[a] + ", where nodes are " +
                short_number(h, 6) + " apart; enlarge the box, or use more nodes");
  }
}

HeatRegion read_region(const Json& json, const Grid& grid, const HeatMaterial& base) {
  json.allow({"box", "conductivity", "density", "specific_heat"});
  const Json box = json.at("box");
  box.allow({"lower", "upper"});
  HeatRegion region;
  read_box(box, grid, region.lower.data(), region.upper.data());
  region.material = read_heat_material(json, grid.dimensions(), &base);
  return region;
}

GridTerm read_source(const Json& json, const Grid& grid) {
  json.allow({"constant", "box", "gaussian", "factor"});
  if (json.has("constant") + json.has("box") + json.has("gaussian") != 1)
    json.fail("a source is one of \"constant\", \"box\" and \"gaussian\"");
  GridTerm term;
  if (json.has("constant")) {
    const GridConstantParameters p{finite_number(json.at("constant"))};
    term = GridTerm::of("grid.constant", &p, sizeof p);
  } else if (json.has("box")) {
    const Json box = json.at("box");
    box.allow({"lower", "upper", "value"});
    GridBoxParameters p;
    p.value = finite_number(box.at("value"));
    read_box(box, grid, p.lower, p.upper);
    term = GridTerm::of("grid.box", &p, sizeof p);
  } else {
    const Json bell = json.at("gaussian");
    bell.allow({"centre", "width", "value"});
    GridGaussianParameters p;
    p.value = finite_number(bell.at("value"));
    p.width = bell.at("width").positive();
    const auto centre = numbers_along_axes(bell.at("centre"), grid.dimensions());
    std::copy(centre.begin(), centre.end(), p.centre);
    term = GridTerm::of("grid.gaussian", &p, sizeof p);
  }
  if (json.has("factor")) {
    term.factor = table_of_time(json.at("factor"));
    term.kind = SourceKind::of_time;
  }
  return term;
}

HeatInitial read_initial(const Json& json, const Grid& grid, const std::filesystem::path& folder) {
  HeatInitial initial;
  initial.where = json.where();
  if (json.is_number()) {
    initial.value = finite_number(json);
    return initial;
  }
  json.allow({"box", "sine", "file"});
  if (json.has("box") + json.has("sine") + json.has("file") != 1)
    json.fail("an initial field is a number, or one of \"box\", \"sine\" and \"file\"");
  if (json.has("box")) {
    const Json box = json.at("box");
    box.allow({"lower", "upper", "value", "outside"});
    initial.kind = HeatInitial::Kind::box;
    initial.value = finite_number(box.at("value"));
    if (box.has("outside")) initial.outside = finite_number(box.at("outside"));
    read_box(box, grid, initial.lower.data(), initial.upper.data());
  } else if (json.has("sine")) {
    const Json sine = json.at("sine");
    sine.allow({"amplitude", "mean", "waves"});
    initial.kind = HeatInitial::Kind::sine;
    initial.value = finite_number(sine.at("amplitude"));
    if (sine.has("mean")) initial.outside = finite_number(sine.at("mean"));
    initial.waves = numbers_along_axes(sine.at("waves"), grid.dimensions());
  } else {
    initial.kind = HeatInitial::Kind::file;
    initial.file = folder / json.at("file").text();
  }
  return initial;
}

void read_time(const Json& root, HeatJob& job) {
  const Json json = root.at("time");
  json.allow({"start", "step", "steps", "end"});
  if (json.has("start")) job.options.start_time = finite_number(json.at("start"));
  if (json.has("step") + json.has("steps") + json.has("end") != 2)
    json.fail("two of \"step\", \"steps\" and \"end\" are expected here");
  constexpr std::int64_t most = std::int64_t{1} << 40;
  if (json.has("steps")) job.steps = whole_in_range(json.at("steps"), 1, most);
  if (json.has("step")) job.options.time_step = json.at("step").positive();
  if (!json.has("end")) return;
  const double span = finite_number(json.at("end")) - job.options.start_time;
  if (!(span > 0)) json.at("end").fail("the end must be later than the start");
  if (json.has("steps")) {
    job.options.time_step = span / static_cast<double>(job.steps);
    return;
  }
  const double count = span / job.options.time_step;
  if (!(std::abs(count - std::round(count)) <= 1e-9 * count) || count < 0.5 || count > static_cast<double>(most))
    json.at("end").fail("the end is not a whole number of steps after the start: " + exact_number(count) + " steps");
  job.steps = static_cast<std::int64_t>(std::llround(count));
}

void read_output(const Json& json, HeatJob& job) {
  json.allow({"every", "vti", "picture"});
  const auto yes = [](const Json& value) { return value.choice({"yes", "no"}) == "yes"; };
  if (json.has("every")) job.every = whole_in_range(json.at("every"), 1, std::int64_t{1} << 40);
  if (json.has("vti")) job.vti = yes(json.at("vti"));
  if (json.has("picture")) job.picture = yes(json.at("picture"));
}

void read_points(const Json& json, HeatJob& job) {
  for (const Json& item : json.items()) {
    item.allow({"name", "at"});
    HeatPoint point;
    point.name = item.has("name") ? item.at("name").text() : "P" + std::to_string(job.points.size() + 1);
    for (const HeatPoint& other : job.points)
      if (other.name == point.name) item.fail("there is already a point called '" + point.name + "'");
    point.at = numbers_along_axes(item.at("at"), job.grid.dimensions());
    point.node = item.at("at").doing([&] { return job.grid.nearest_node(point.at); });
    job.points.push_back(std::move(point));
  }
}

void read_stationary(const Json& json, HeatStationary& options) {
  json.allow({"tolerance", "max_iterations", "method"});
  if (json.has("tolerance")) {
    options.tolerance = json.at("tolerance").positive();
    if (!(options.tolerance < 1)) json.at("tolerance").fail("the tolerance is relative; a number below 1 is expected");
  }
  if (json.has("max_iterations"))
    options.max_iterations = whole_in_range(json.at("max_iterations"), 1, std::int64_t{1} << 40);
  if (json.has("method")) options.chebyshev = json.at("method").choice({"chebyshev", "jacobi"}) == "chebyshev";
}

/// What decides the numbers of a job, as text: two jobs with the same text have the same states.
std::string fingerprint_of(std::string_view text, const HeatJob& job) {
  const nlohmann::json document = nlohmann::json::parse(text);
  nlohmann::json kept;
  for (const char* key : {"grid", "sides", "material", "materials", "sources", "initial", "scheme", "points"})
    if (document.contains(key)) kept[key] = document[key];
  return kept.dump() + " step " + exact_number(job.options.time_step) + " start " +
         exact_number(job.options.start_time);
}

}  // namespace

void HeatInitial::fill(GridField& field) const {
  const Grid& grid = field.grid();
  switch (kind) {
    case Kind::constant:
      return field.fill(value);
    case Kind::box:
      return field.fill([&](const GridPosition& x) {
        for (std::size_t a = 0; a < 3; ++a)
          if (x[a] < lower[a] || x[a] > upper[a]) return outside;
        return value;
      });
    case Kind::sine:
      return field.fill([&](const GridPosition& x) {
        double product = value;
        for (int a = 0; a < grid.dimensions(); ++a) {
          const auto i = static_cast<std::size_t>(a);
          if (waves[i] != 0)
            product *= std::sin(2 * std::numbers::pi * waves[i] * (x[i] - grid.origin()[i]) / grid.length(a));
        }
        return outside + product;
      });
    case Kind::file:
      break;
  }
  const FileBytes bytes(file);
  const auto wanted = static_cast<std::size_t>(grid.node_count()) * sizeof(double);
  if (bytes.bytes().size() != wanted)
    throw Error(ErrorCode::bad_input,
                "'" + file.string() + "' has " + std::to_string(bytes.bytes().size()) +
                    " bytes; a double for each of the " + std::to_string(grid.node_count()) + " nodes takes " +
                    std::to_string(wanted),
                where);
  std::vector<double> values(static_cast<std::size_t>(grid.node_count()));
  std::memcpy(values.data(), bytes.bytes().data(), wanted);
  for (std::size_t n = 0; n < values.size(); ++n)
    if (!std::isfinite(values[n]))
      throw Error(ErrorCode::bad_input,
                  "'" + file.string() + "': number " + std::to_string(n) + " is infinite or not a number", where);
  field.from_host(values);
}

GridMaterials HeatJob::materials() const {
  GridMaterials all(grid, material);
  for (const HeatRegion& region : regions) all.box(region.lower, region.upper, region.material);
  return all;
}

HeatJob read_heat_text(std::string_view text, const std::string& name, const std::filesystem::path& folder) {
  const Json root = Json::parse(text, name);
  if (root.has("mesh") && !root.has("grid"))
    root.at("mesh").fail("this is a job of finite elements, not one of heat on a grid; use voussoir run");
  root.allow({"$schema", "title", "grid", "sides", "material", "materials", "sources", "initial", "scheme", "time",
              "stationary", "backend", "output", "points"});
  HeatJob job;
  job.name = std::filesystem::path(name).stem().string();
  if (root.has("title")) job.title = root.at("title").text();
  job.grid = read_grid(root);
  root.at("material").allow({"conductivity", "density", "specific_heat"});
  job.material = read_heat_material(root.at("material"), job.grid.dimensions());
  if (root.has("materials"))
    for (const Json& region : root.at("materials").items())
      job.regions.push_back(read_region(region, job.grid, job.material));
  if (root.has("sources"))
    for (const Json& source : root.at("sources").items()) job.sources.push_back(read_source(source, job.grid));
  if (root.has("initial")) job.initial = read_initial(root.at("initial"), job.grid, folder);
  auto schemes = heat_scheme_names();
  schemes.emplace_back("stationary");
  const std::string scheme = root.has("scheme") ? root.at("scheme").choice(schemes) : "douglas";
  job.stationary = scheme == "stationary";
  if (!job.regions.empty() && (job.stationary || scheme == "long-vectors"))
    root.at("materials")
        .fail(
            "the scheme \"" + scheme + "\" is for one material; use \"" +
            (job.stationary ? "douglas\" with steps until temperatures no longer change" : std::string("explicit\"")));
  if (job.stationary) {
    if (root.has("time"))
      root.at("time").fail("a stationary job has no time; remove this key, or choose another scheme");
    if (root.has("stationary")) read_stationary(root.at("stationary"), job.stationary_options);
    if (!job.grid.has_prescribed_sides())
      root.at("scheme").fail("without a side of prescribed temperature the steady state is not unique");
    for (int s = 0; s < 2 * job.grid.dimensions(); ++s)
      if (!job.grid.side(s).value.steady())
        root.at("sides").fail(std::string("side ") + side_name(s) +
                              " changes with time; a stationary job needs constants");
    for (const GridTerm& source : job.sources)
      if (source.kind != SourceKind::steady) root.at("sources").fail("a source changes with time");
  } else {
    if (root.has("stationary")) root.at("stationary").fail("this key belongs to the scheme \"stationary\"");
    job.options.scheme = heat_scheme(scheme);
    read_time(root, job);
  }
  if (root.has("backend")) job.backend = root.at("backend").text();
  if (root.has("output")) read_output(root.at("output"), job);
  if (root.has("points")) read_points(root.at("points"), job);
  job.fingerprint = fingerprint_of(text, job);
  return job;
}

bool is_heat_job(const std::filesystem::path& path) {
  std::error_code problem;
  if (path.extension() != ".json" || !std::filesystem::is_regular_file(path, problem)) return false;
  const FileBytes bytes(path);
  const auto document = nlohmann::json::parse(bytes.bytes(), nullptr, false);
  return document.is_object() && document.contains("grid") && !document.contains("mesh");
}

HeatJob read_heat_job(const std::filesystem::path& path) {
  const FileBytes bytes(path);
  return read_heat_text(bytes.bytes(), path.string(), path.parent_path());
}

}  // namespace voussoir
