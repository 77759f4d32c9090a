#include <voussoir/framework/analysis/detail/length_changes.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace voussoir::detail {
namespace {

/// Squares of distances, relative to that of an element: nodes at the same place, as in collapsed elements.
constexpr double same_place = 1e-20;

}  // namespace

LengthChanges::LengthChanges(const AnalysisModel& model) : model_(model) {
  const Domain& domain = model.domain();
  const auto coordinates = domain.coordinates();
  std::vector<std::int32_t> place(static_cast<std::size_t>(domain.node_count()), -1);
  for (const BatchOrigin& origin : model.batches()) {
    if (origin.kind != BatchOrigin::Kind::block) continue;
    const ElementBlock& block = domain.block(static_cast<std::size_t>(origin.block));
    const ElementProgram& program = block.type().program();
    const auto names = program.unknown_names();
    if (program.linear() || program.nodes() < 2 || std::find(names.begin(), names.end(), "ux") == names.end()) continue;
    Group group;
    group.nodes = static_cast<std::size_t>(program.nodes());
    for (const std::int32_t node : block.connectivity()) {
      std::int32_t& own = place[static_cast<std::size_t>(node)];
      if (own < 0) {
        own = static_cast<std::int32_t>(equation_.size());
        equation_.push_back({model.equation(node, "ux"), model.equation(node, "uy"), model.equation(node, "uz")});
        for (std::size_t k = 0; k < 3; ++k) at_rest_.push_back(coordinates[3 * static_cast<std::size_t>(node) + k]);
      }
      group.node.push_back(own);
    }
    groups_.push_back(std::move(group));
  }
}

LengthChanges::Positions LengthChanges::positions(const Vector& values, bool at_rest_too) const {
  const std::vector<double> all = values.to_host();
  Positions found(at_rest_.size(), 0.0);
  if (at_rest_too) found = at_rest_;
  for (std::size_t n = 0; n < equation_.size(); ++n)
    for (std::size_t k = 0; k < 3; ++k)
      if (equation_[n][k] >= 0) found[3 * n + k] += all[static_cast<std::size_t>(equation_[n][k])];
  return found;
}

void LengthChanges::set_reference(const Vector& unknowns) {
  if (groups_.empty()) return;
  reference_ = unknowns.clone();
  before_ = positions(unknowns, true);
}

LengthChanges::Largest LengthChanges::largest(const Vector& unknowns, const Vector& velocity) const {
  if (!reference_.layout()) return {};
  const Positions now = positions(unknowns, true), moves = positions(velocity, false);
  // Squares of ratios of lengths, and rates: what is not finite or zero counts as infinite.
  double longest = 1, shortest = 1, fastest = 0;
  for (const Group& group : groups_) {
    const auto elements = static_cast<std::int64_t>(group.node.size() / group.nodes);
#pragma omp parallel for schedule(static) reduction(max                               \
                                                    : longest, fastest) reduction(min \
                                                                                  : shortest) if (elements > 256)
    for (std::int64_t e = 0; e < elements; ++e) {
      const std::int32_t* const node = group.node.data() + static_cast<std::size_t>(e) * group.nodes;
      const auto apart = [&](const Positions& at, std::size_t a, std::size_t b, std::size_t k) {
        return at[3 * static_cast<std::size_t>(node[b]) + k] - at[3 * static_cast<std::size_t>(node[a]) + k];
      };
      const auto square_of = [&](const Positions& at, std::size_t a, std::size_t b) {
        return apart(at, a, b, 0) * apart(at, a, b, 0) + apart(at, a, b, 1) * apart(at, a, b, 1) +
               apart(at, a, b, 2) * apart(at, a, b, 2);
      };
      double widest = 0;
      for (std::size_t b = 1; b < group.nodes; ++b) widest = std::max(widest, square_of(before_, 0, b));
      for (std::size_t a = 0; a < group.nodes; ++a)
        for (std::size_t b = a + 1; b < group.nodes; ++b) {
          const double old = square_of(before_, a, b), square = square_of(now, a, b);
          double product = 0;
          for (std::size_t k = 0; k < 3; ++k) product += apart(now, a, b, k) * apart(moves, a, b, k);
          if (old <= same_place * widest) continue;
          const double ratio = square / old, rate = std::abs(product / square);
          const bool sound = std::isfinite(ratio) && std::isfinite(rate) && ratio > 0;
          longest = std::max(longest, sound ? ratio : std::numeric_limits<double>::infinity());
          shortest = std::min(shortest, sound ? ratio : 0.0);
          fastest = std::max(fastest, sound ? rate : std::numeric_limits<double>::infinity());
        }
    }
  }
  return {0.5 * std::max(std::log(longest), -std::log(shortest)), fastest};
}

}  // namespace voussoir::detail
