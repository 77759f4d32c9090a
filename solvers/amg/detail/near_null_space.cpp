#include <voussoir/solvers/amg/detail/near_null_space.hpp>

#include <algorithm>
#include <array>
#include <limits>

#include <voussoir/backends/divided_multigrid.hpp>

namespace voussoir::detail {
namespace {

Motion motion_of(const std::string& unknown) {
  constexpr std::array<std::pair<const char*, Motion>, 7> names{{{"ux", Motion::x},
                                                                 {"uy", Motion::y},
                                                                 {"uz", Motion::z},
                                                                 {"rx", Motion::rotation_x},
                                                                 {"ry", Motion::rotation_y},
                                                                 {"rz", Motion::rotation_z},
                                                                 {"T", Motion::value}}};
  for (const auto& [name, motion] : names)
    if (unknown == name) return motion;
  return Motion::nothing;
}

/// The middle of the numbered nodes, and half the longest side of the box around them.
struct Extent {
  std::array<double, 3> centre{};
  double length = 1;
};

Extent extent_of(const AnalysisModel& model) {
  std::array<double, 3> low, high;
  low.fill(std::numeric_limits<double>::infinity());
  high.fill(-std::numeric_limits<double>::infinity());
  const auto coordinates = model.domain().coordinates();
  const auto numbered = model.numbered_nodes();
  const auto add = [&](std::size_t node) {
    for (std::size_t i = 0; i < 3; ++i) {
      const double position = coordinates[3 * node + i];
      low[i] = std::min(low[i], position);
      high[i] = std::max(high[i], position);
    }
  };
  if (3 * numbered.size() == coordinates.size())  // all of them, in the order of memory
    for (std::size_t node = 0; node < numbered.size(); ++node) add(node);
  else
    for (const std::int32_t node : numbered) add(static_cast<std::size_t>(node));
  Extent extent;
  double longest = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    if (!(low[i] <= high[i])) continue;
    extent.centre[i] = 0.5 * (low[i] + high[i]);
    longest = std::max(longest, high[i] - low[i]);
  }
  if (longest > 0) extent.length = 0.5 * longest;
  return extent;
}

/// One constant for each unknown: what is known of unknowns that have no name in mechanics.
NearNullSpace constants(const AnalysisModel& model) {
  NearNullSpace space;
  space.modes = static_cast<int>(model.unknown_names().size());
  space.values.assign(static_cast<std::size_t>(model.equation_count()) * static_cast<std::size_t>(space.modes), 0.0);
  const auto first = model.first_equation();
  for (std::size_t node = 0; node + 1 < first.size(); ++node)
    for (std::int32_t e = first[node]; e < first[node + 1]; ++e)
      space.values[static_cast<std::size_t>(e) * static_cast<std::size_t>(space.modes) +
                   static_cast<std::size_t>(model.component(node, e))] = 1;
  return space;
}

/// The motions of the rows of a node; `modes` is 0 where a model has no rigid-body motions.
struct NodeMotions {
  std::vector<Motion> motion;
  int modes = 0;
};

NodeMotions motions_of(const AnalysisModel& model, int height) {
  NodeMotions result;
  std::vector<Motion>& motion = result.motion;
  for (const std::string& name : model.unknown_names()) motion.push_back(motion_of(name));
  motion.resize(static_cast<std::size_t>(height), Motion::nothing);
  const auto has = [&](Motion m) { return std::find(motion.begin(), motion.end(), m) != motion.end(); };
  // Temperatures beside displacements, or nodes whose equations are not those of the first unknowns.
  const bool mixed = (has(Motion::value) && model.unknown_names().size() > 1) || !model.nodes_have_first_unknowns();
  for (std::size_t i = 0; i < model.unknown_names().size(); ++i)
    if (motion[i] == Motion::nothing || mixed) return result;
  result.modes = has(Motion::z) ? 6 : has(Motion::y) ? 3 : 1;
  return result;
}

void require_fitting(const AnalysisModel& model, const NearNullSpace& given) {
  const auto modes = static_cast<std::size_t>(given.modes);
  if (given.modes < 1 || given.modes > largest_level_block)
    throw Error(ErrorCode::misuse, "a near-null space has 1 to " + std::to_string(largest_level_block) +
                                       " vectors, not " + std::to_string(given.modes));
  if (given.values.size() != modes * static_cast<std::size_t>(model.equation_count()))
    throw Error(ErrorCode::misuse, "a near-null space of " + std::to_string(given.modes) + " vectors needs " +
                                       std::to_string(given.modes) + " numbers for each of " +
                                       std::to_string(model.equation_count()) + " equations, not " +
                                       std::to_string(given.values.size()) + " in all");
}

}  // namespace

NearNullRows rigid_motions(const AnalysisModel& model, int height) {
  const NodeMotions motions = motions_of(model, height);
  MultigridServices& services = model.backend().service<MultigridServices>();
  if (motions.modes == 0)
    return given_motions(model, constants(model), height, services.equations_of(model.device_model(), height));
  const Extent extent = extent_of(model);
  return {motions.modes, services.rigid_modes(model.device_model(), motions.motion, height, motions.modes,
                                              extent.centre, extent.length)};
}

NearNullRows given_motions(const AnalysisModel& model, const NearNullSpace& given, int height,
                           const Array<std::int32_t>& equation) {
  const auto modes = static_cast<std::size_t>(given.modes);
  require_fitting(model, given);
  const std::size_t rows = model.numbered_nodes().size() * static_cast<std::size_t>(height);
  NearNullRows result{given.modes, Array<double>(model.backend().memory(0), rows * modes)};
  const auto values = result.values.write_host();
  const auto map = equation.empty() ? std::span<const std::int32_t>() : equation.read_host();
  for (std::size_t row = 0; row < rows; ++row) {
    const std::int32_t e = map.empty() ? static_cast<std::int32_t>(row) : map[row];
    for (std::size_t m = 0; m < modes; ++m)
      values[row * modes + m] =
          e >= 0 && model.is_free(e) ? given.values[static_cast<std::size_t>(e) * modes + m] : 0.0;
  }
  return result;
}

DividedNearNull divided_motions(const AnalysisModel& model, const AmgOptions& options, int height,
                                const std::vector<Array<std::int32_t>>& equations) {
  const DeviceModel& parts = model.device_model();
  const NodeMotions motions = options.near_null_space ? NodeMotions() : motions_of(model, height);
  DividedNearNull result;
  if (motions.modes > 0) {
    auto& services = model.backend().service<DividedMultigrid>();
    const Extent extent = extent_of(model);
    result.modes = motions.modes;
    for (int d = 0; d < parts.devices(); ++d)
      result.values.push_back(
          services.rigid_modes(parts, motions.motion, height, motions.modes, extent.centre, extent.length, d));
    return result;
  }
  const NearNullSpace given = options.near_null_space ? options.near_null_space(model) : constants(model);
  require_fitting(model, given);
  result.modes = given.modes;
  const auto modes = static_cast<std::size_t>(given.modes);
  for (int d = 0; d < parts.devices(); ++d) {
    const auto map = equations[static_cast<std::size_t>(d)].read_host();
    const std::size_t rows = static_cast<std::size_t>(parts.part(d).owned_nodes) * static_cast<std::size_t>(height);
    Array<double> values(parts.layout()->memory(d), rows * modes);
    const auto target = values.write_host();
    for (std::size_t row = 0; row < rows; ++row) {
      const std::int32_t local = map.empty() ? static_cast<std::int32_t>(row) : map[row];
      const auto e = local < 0 ? -1 : static_cast<std::int32_t>(parts.layout()->global(d, local));
      for (std::size_t m = 0; m < modes; ++m)
        target[row * modes + m] =
            e >= 0 && model.is_free(e) ? given.values[static_cast<std::size_t>(e) * modes + m] : 0.0;
    }
    result.values.push_back(std::move(values));
  }
  return result;
}

}  // namespace voussoir::detail
