#include <voussoir/framework/analysis/probe.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/analysis/detail/compact_field.hpp>
#include <voussoir/framework/detail/nan.hpp>

namespace voussoir {
namespace {

using detail::nan;
const std::vector<std::string> probed_stresses{"sxx", "syy",   "szz",        "sxy",        "syz",
                                               "sxz", "mises", "principal1", "principal2", "principal3"};
const std::vector<std::string> flux_names{"qx", "qy", "qz", "flux"};

std::string text_of(const std::array<double, 3>& p) {
  return "(" + short_number(p[0], 6) + ", " + short_number(p[1], 6) + ", " + short_number(p[2], 6) + ")";
}

[[noreturn]] void fail_outside(double distance, const std::array<double, 3>& point, const std::string& where) {
  throw Error(ErrorCode::bad_input,
              "the point " + text_of(point) + " is outside the body" +
                  (std::isfinite(distance) ? ", " + short_number(distance, 6) + " away from it; move it inside" : ""),
              where);
}

}  // namespace

std::array<double, 3> ProbePath::position(int i) const {
  const double t = points > 1 ? static_cast<double>(i) / (points - 1) : 0;
  return {from[0] + t * (to[0] - from[0]), from[1] + t * (to[1] - from[1]), from[2] + t * (to[2] - from[2])};
}

double ProbePath::length() const { return std::hypot(to[0] - from[0], to[1] - from[1], to[2] - from[2]); }

struct Probe::State {
  const PointLocator& locator;
  NodalField unknowns;
  std::map<std::string, detail::CompactField> stress, flux;  // by material
  /// What bars and beams recover, at one point or at both ends.
  struct LineField {
    std::int32_t block;
    int points;
    std::vector<std::size_t> columns;  // of `names`, for each value
    std::vector<double> values;
  };
  std::vector<LineField> lines;
  std::vector<std::string> names;
  std::size_t stress_column = 0, flux_column = 0;

  State(const PointLocator& l, const StepResult& result)
      : locator(l),
        unknowns(result.unknowns),
        stress(detail::compact_nodal_values(l.domain(), result.points,
                                            {probed_stresses.begin(), probed_stresses.begin() + 6})),
        flux(detail::compact_nodal_values(l.domain(), result.points, {flux_names.begin(), flux_names.begin() + 3})),
        names(result.unknowns.components) {
    stress_column = names.size();
    if (!stress.empty()) names.insert(names.end(), probed_stresses.begin(), probed_stresses.end());
    flux_column = names.size();
    if (!flux.empty()) names.insert(names.end(), flux_names.begin(), flux_names.end());
    for (const PointField& field : result.points) add_line(field);
  }

  void add_line(const PointField& field) {
    const std::pair<const char*, const char*> shown_as[] = {{"stress", "axial_stress"},
                                                            {"N", "N"},
                                                            {"Vy", "Vy"},
                                                            {"Vz", "Vz"},
                                                            {"T", "torque"},
                                                            {"My", "My"},
                                                            {"Mz", "Mz"}};
    const ElementBlock& block = locator.domain().block(field.block);
    if (block.type().shape().empty() || shape_topology(block.type().shape()).dim != 1) return;
    LineField line{field.block, field.points, {}, {}};
    std::vector<int> from;
    for (const auto& [name, shown] : shown_as) {
      if (!field.has(name)) continue;
      const auto known = std::find(names.begin(), names.end(), shown);
      line.columns.push_back(static_cast<std::size_t>(known - names.begin()));
      if (known == names.end()) names.emplace_back(shown);
      from.push_back(field.name_index(name));
    }
    for (std::int32_t e = 0; e < block.size(); ++e)
      for (int p = 0; p < field.points; ++p)
        for (const int k : from) line.values.push_back(field.at(e, p, k));
    if (!from.empty()) lines.push_back(std::move(line));
  }

  /// Σ N_a times what `at(node)` gives, `width` numbers of it.
  template <class At>
  static void interpolate(std::span<const std::int32_t> nodes, const double* n, std::size_t width, const At& at,
                          double* out) {
    std::fill_n(out, width, 0.0);
    for (std::size_t a = 0; a < nodes.size(); ++a) {
      const double* values = at(nodes[a]);
      for (std::size_t k = 0; k < width; ++k) out[k] += n[a] * values[k];
    }
  }

  ProbeValues values_at(const ElementPoint& place, const std::array<double, 3>& position) const {
    const ElementBlock& block = locator.domain().block(place.element.block);
    const auto nodes = block.nodes(place.element.element);
    ProbeValues out;
    out.position = position;
    out.material = block.material() ? block.material()->name() : "";
    out.element = block.id(place.element.element);
    out.values.assign(names.size(), nan);
    const ShapeFunctions& functions = locator.functions(place.element.block);
    double n[27];
    functions.values(place.xi, n);
    const std::size_t width = unknowns.components.size();
    interpolate(
        nodes, n, width, [&](std::int32_t a) { return &unknowns.values[static_cast<std::size_t>(a) * width]; },
        out.values.data());
    const bool recovers = !block.type().program().extrapolation().empty();
    if (const auto field = stress.find(out.material); recovers && field != stress.end()) {
      std::array<double, 6> s;
      interpolate(
          nodes, n, 6, [&](std::int32_t a) { return field->second.at(a); }, s.data());
      const auto principal = principal_values(s);
      double* to = &out.values[stress_column];
      std::copy(s.begin(), s.end(), to);
      to[6] = von_mises(s);
      std::copy(principal.begin(), principal.end(), to + 7);
    }
    if (const auto field = flux.find(out.material); recovers && field != flux.end()) {
      double* q = &out.values[flux_column];
      interpolate(
          nodes, n, 3, [&](std::int32_t a) { return field->second.at(a); }, q);
      q[3] = std::hypot(q[0], q[1], q[2]);
    }
    for (const LineField& line : lines) {
      if (line.block != place.element.block) continue;
      const std::size_t count = line.columns.size(), points = static_cast<std::size_t>(line.points);
      const double* values = &line.values[static_cast<std::size_t>(place.element.element) * points * count];
      const double t = points > 1 ? 0.5 * (place.xi[0] + 1) : 0;  // at both ends, or one for the whole line
      for (std::size_t k = 0; k < count; ++k)
        out.values[line.columns[k]] = (1 - t) * values[k] + t * values[(points - 1) * count + k];
    }
    return out;
  }
};

Probe::Probe(const PointLocator& locator, const StepResult& result)
    : state_(std::make_shared<const State>(locator, result)) {}

const std::vector<std::string>& Probe::names() const { return state_->names; }

std::size_t Probe::index(std::string_view name) const {
  const auto& names = state_->names;
  const auto it = std::find(names.begin(), names.end(), name);
  if (it != names.end()) return static_cast<std::size_t>(it - names.begin());
  std::string known;
  for (const auto& n : names) known += (known.empty() ? "" : ", ") + n;
  throw Error(ErrorCode::not_found, "'" + std::string(name) + "' does not exist; there are " + known, "probe");
}

std::vector<ProbeValues> Probe::at(const std::array<double, 3>& point) const {
  std::vector<ProbeValues> result;
  for (const ElementPoint& place : state_->locator.find(point)) result.push_back(state_->values_at(place, point));
  if (result.empty()) fail_outside(state_->locator.distance(point), point, "probe");
  return result;
}

std::vector<ProbeValues> Probe::along(const ProbePath& path) const {
  std::vector<ProbeValues> result;
  for (int i = 0; i < path.points; ++i) {
    const auto position = path.position(i);
    for (const ElementPoint& place : state_->locator.find(position)) {
      result.push_back(state_->values_at(place, position));
      result.back().distance = path.length() * (path.points > 1 ? static_cast<double>(i) / (path.points - 1) : 0);
    }
  }
  if (result.empty()) check_probe({&state_->locator}, path);
  return result;
}

void check_probe(const std::vector<const PointLocator*>& locators, const ProbePoint& point) {
  double distance = std::numeric_limits<double>::infinity();
  for (const PointLocator* locator : locators) distance = std::min(distance, locator->distance(point.position));
  if (distance > 0) fail_outside(distance, point.position, point.where);
}

void check_probe(const std::vector<const PointLocator*>& locators, const ProbePath& path) {
  if (path.points < 2) throw Error(ErrorCode::bad_input, "a path needs at least two points", path.where);
  if (!(path.length() > 0))
    throw Error(ErrorCode::bad_input, "the path has no length; give it two different ends", path.where);
  for (const PointLocator* locator : locators)
    for (int i = 0; i < path.points; ++i)
      if (!locator->find(path.position(i)).empty()) return;
  double distance = std::numeric_limits<double>::infinity();
  for (const PointLocator* locator : locators)
    for (const auto& p : {path.from, path.position(path.points / 2), path.to})
      distance = std::min(distance, locator->distance(p));
  throw Error(ErrorCode::bad_input,
              "the path from " + text_of(path.from) + " to " + text_of(path.to) +
                  " is outside the body: the nearest of its ends and its midpoint is " + short_number(distance, 6) +
                  " away from it",
              path.where);
}

}  // namespace voussoir
