#include <voussoir/framework/analysis/mode_matching.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/framework/analysis/point_locator.hpp>
#include <voussoir/framework/response/detail/coordinate_product.hpp>

namespace voussoir {
namespace {

constexpr const char* matching_name = "matching of modes";
using Shapes = std::vector<std::vector<double>>;  // [mode][place]

[[noreturn]] void refuse_matching(const std::string& text) { throw Error(ErrorCode::bad_input, text, matching_name); }

/// The displacements among the components of a set's shapes, in the order ux, uy, uz.
std::vector<std::string> displacements(const ModeSet& set) {
  std::vector<std::string> names;
  const auto& components = set.shapes.front().components;
  for (const char* name : {"ux", "uy", "uz"})
    if (std::find(components.begin(), components.end(), name) != components.end()) names.emplace_back(name);
  return names;
}

void check(const Domain& mesh, const ModeSet& set, const char* which) {
  if (set.shapes.empty()) refuse_matching(std::string("the ") + which + " set has no modes");
  for (const NodalField& shape : set.shapes)
    if (shape.components != set.shapes.front().components ||
        shape.values.size() != static_cast<std::size_t>(mesh.node_count()) * shape.components.size())
      refuse_matching(std::string("the ") + which +
                      " set of modes does not belong to its mesh: the numbers of nodes differ");
}

/// Nodes that elements use, ascending.
std::vector<std::int32_t> nodes_of_elements(const Domain& mesh) {
  std::vector<char> used(static_cast<std::size_t>(mesh.node_count()), 0);
  for (std::size_t b = 0; b < mesh.block_count(); ++b)
    for (const std::int32_t n : mesh.block(b).connectivity()) used[static_cast<std::size_t>(n)] = 1;
  std::vector<std::int32_t> nodes;
  for (std::int32_t n = 0; n < mesh.node_count(); ++n)
    if (used[static_cast<std::size_t>(n)]) nodes.push_back(n);
  return nodes;
}

/// The displacements of an element's nodes, interpolated at a point. Returns whether all nodes have them.
bool interpolate(const PointLocator& locator, const ElementPoint& at, const ModeSet& set,
                 const std::vector<std::string>& names, std::size_t place, Shapes& out) {
  const ElementBlock& block = locator.domain().block(static_cast<std::size_t>(at.element.block));
  const auto nodes = block.nodes(at.element.element);
  double n[27];
  locator.functions(at.element.block).values(at.xi, n);
  for (std::size_t m = 0; m < set.shapes.size(); ++m)
    for (std::size_t c = 0; c < names.size(); ++c) {
      const int component = set.shapes[m].component_index(names[c]);
      double value = 0;
      for (std::size_t k = 0; k < nodes.size(); ++k) value += n[k] * set.shapes[m].at(nodes[k], component);
      if (std::isnan(value)) return false;
      out[m][place * names.size() + c] = value;
    }
  return true;
}

double dot(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

/// Leaves the places that are not flagged, each of `width` numbers.
void keep(Shapes& shapes, const std::vector<char>& outside, std::size_t width) {
  for (std::vector<double>& shape : shapes) {
    std::size_t to = 0;
    for (std::size_t k = 0; k < outside.size(); ++k)
      for (std::size_t c = 0; !outside[k] && c < width; ++c) shape[to++] = shape[k * width + c];
    shape.resize(to);
  }
}

/// The share of a shape within the span of others, by Gram–Schmidt.
double share_in(const std::vector<double>& shape, const std::vector<const std::vector<double>*>& others) {
  const double whole = dot(shape, shape);
  if (!(whole > 0)) return 0;
  Shapes basis;
  double seen = 0;
  for (const std::vector<double>* other : others) {
    std::vector<double> rest = *other;
    for (int pass = 0; pass < 2; ++pass)
      for (const std::vector<double>& direction : basis) {
        const double part = dot(direction, rest);
        for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= part * direction[i];
      }
    const double size = std::sqrt(dot(rest, rest));
    if (!(size > 1e-8 * std::sqrt(dot(*other, *other)))) continue;
    for (double& value : rest) value /= size;
    seen += std::pow(dot(rest, shape), 2);
    basis.push_back(std::move(rest));
  }
  return seen / whole;
}

/// Pairs, the most alike first, each mode in one of them.
std::vector<ModePair> pairs_of(const ModeMatch& match, double smallest) {
  std::vector<ModePair> all, chosen;
  for (int a = 0; a < match.modes_a; ++a)
    for (int b = 0; b < match.modes_b; ++b)
      if (match.at(a, b) >= smallest && match.at(a, b) > 0) all.push_back({a, b, 0, 0, match.at(a, b), 0});
  std::stable_sort(all.begin(), all.end(), [](const ModePair& x, const ModePair& y) { return x.mac > y.mac; });
  std::vector<char> taken_a(static_cast<std::size_t>(match.modes_a), 0),
      taken_b(static_cast<std::size_t>(match.modes_b), 0);
  for (const ModePair& pair : all) {
    if (taken_a[static_cast<std::size_t>(pair.a)] || taken_b[static_cast<std::size_t>(pair.b)]) continue;
    taken_a[static_cast<std::size_t>(pair.a)] = taken_b[static_cast<std::size_t>(pair.b)] = 1;
    chosen.push_back(pair);
  }
  std::sort(chosen.begin(), chosen.end(), [](const ModePair& x, const ModePair& y) { return x.a < y.a; });
  return chosen;
}

}  // namespace

ModeMatch match_modes(const Domain& mesh_a, const ModeSet& a, const Domain& mesh_b, const ModeSet& b,
                      const MatchOptions& options) {
  check(mesh_a, a, "first");
  check(mesh_b, b, "second");
  const std::vector<std::string> names = displacements(a);
  if (names.empty() || names != displacements(b))
    refuse_matching("the two sets of modes do not have the same directions of displacement");
  const std::vector<std::int32_t> nodes = nodes_of_elements(mesh_a);
  const std::size_t width = names.size();
  Shapes of_a(a.shapes.size(), std::vector<double>(nodes.size() * width)),
      of_b(b.shapes.size(), std::vector<double>(nodes.size() * width));
  std::vector<char> outside(nodes.size(), 0);
  const PointLocator locator(mesh_b);
  const auto x = mesh_a.coordinates();
  constexpr std::size_t at_once = 64;
  detail::for_each_index((nodes.size() + at_once - 1) / at_once, true, [&](std::size_t piece) {
    for (std::size_t k = piece * at_once; k < std::min(nodes.size(), (piece + 1) * at_once); ++k) {
      const auto n = static_cast<std::size_t>(nodes[k]);
      const std::vector<ElementPoint> found = locator.find({x[3 * n], x[3 * n + 1], x[3 * n + 2]});
      outside[k] = found.empty() || !interpolate(locator, found.front(), b, names, k, of_b);
      for (std::size_t m = 0; m < of_a.size(); ++m)
        for (std::size_t c = 0; c < width; ++c) {
          const double value = a.shapes[m].at(nodes[k], a.shapes[m].component_index(names[c]));
          if (std::isnan(value)) outside[k] = 1;
          of_a[m][k * width + c] = value;
        }
    }
  });
  ModeMatch match;
  match.modes_a = a.count();
  match.modes_b = b.count();
  match.skipped = std::count(outside.begin(), outside.end(), 1);
  match.nodes = static_cast<std::int64_t>(nodes.size()) - match.skipped;
  if (match.nodes == 0 || static_cast<double>(match.skipped) > options.most_skipped * static_cast<double>(nodes.size()))
    refuse_matching(
        std::to_string(match.skipped) + " of " + std::to_string(nodes.size()) +
        " nodes of the first mesh lie outside of the second one; both must be meshes of the same body, at the same "
        "place and in the same unit of length");
  keep(of_a, outside, width);
  keep(of_b, outside, width);
  std::vector<double> sizes;
  for (const std::vector<double>& shape : of_b) sizes.push_back(dot(shape, shape));
  for (const std::vector<double>& shape : of_a) {
    const double size = dot(shape, shape);
    for (std::size_t m = 0; m < of_b.size(); ++m)
      match.mac.push_back(size > 0 && sizes[m] > 0 ? std::pow(dot(shape, of_b[m]), 2) / (size * sizes[m]) : 0);
  }
  match.pairs = pairs_of(match, options.smallest_mac);
  for (ModePair& pair : match.pairs) {
    pair.frequency_a = a.frequency(pair.a);
    pair.frequency_b = b.frequency(pair.b);
    std::vector<const std::vector<double>*> group;
    for (int m = 0; m < b.count(); ++m)
      if (std::abs(b.frequency(m) - pair.frequency_b) <= options.equal_frequency * pair.frequency_b)
        group.push_back(&of_b[static_cast<std::size_t>(m)]);
    pair.group_mac = share_in(of_a[static_cast<std::size_t>(pair.a)], group);
  }
  return match;
}

}  // namespace voussoir
