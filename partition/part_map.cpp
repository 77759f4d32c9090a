#include <voussoir/partition/part_map.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/backends/error.hpp>

namespace voussoir {

PartMap::PartMap(std::vector<std::int32_t> unknowns, std::vector<double> weights)
    : unknowns_(std::move(unknowns)), weights_(std::move(weights)) {
  if (!weights_.empty() && weights_.size() != unknowns_.size())
    throw Error(ErrorCode::misuse,
                std::to_string(weights_.size()) + " weights for " + std::to_string(unknowns_.size()) + " unknowns");
}

void PartMap::restrict(std::span<const double> whole, std::span<double> part) const {
  for (std::size_t i = 0; i < unknowns_.size(); ++i) part[i] = whole[static_cast<std::size_t>(unknowns_[i])];
}

void PartMap::restrict_weighted(std::span<const double> whole, std::span<double> part) const {
  restrict(whole, part);
  for (std::size_t i = 0; i < weights_.size(); ++i) part[i] *= weights_[i];
}

void PartMap::extend(std::span<const double> part, std::span<double> whole) const {
  for (std::size_t i = 0; i < unknowns_.size(); ++i) whole[static_cast<std::size_t>(unknowns_[i])] += part[i];
}

void PartMap::extend_weighted(std::span<const double> part, std::span<double> whole) const {
  if (weights_.empty()) return extend(part, whole);
  for (std::size_t i = 0; i < unknowns_.size(); ++i)
    whole[static_cast<std::size_t>(unknowns_[i])] += weights_[i] * part[i];
}

std::vector<double> part_weights(const Decomposition& decomposition, int part, Weighting weighting,
                                 const PartMatrices* matrices) {
  const auto unknowns = decomposition.unknowns(part);
  std::vector<double> weights(unknowns.size(), 1.0);
  if (weighting == Weighting::stiffness && !matrices)
    throw Error(ErrorCode::misuse, "weights by stiffness need the matrices of the parts");
  const auto diagonal = [&](int p, std::int32_t unknown) {
    const auto own = decomposition.unknowns(p);
    const auto i = static_cast<std::size_t>(std::lower_bound(own.begin(), own.end(), unknown) - own.begin());
    const SymmetricCsr& matrix = matrices->neumann(p);
    return matrix.value[static_cast<std::size_t>(matrix.row_start[i])];
  };
  for (const std::int32_t i : decomposition.boundary(part)) {
    const std::int32_t unknown = unknowns[static_cast<std::size_t>(i)];
    const auto parts = decomposition.parts_of(unknown);
    double& weight = weights[static_cast<std::size_t>(i)];
    weight = 1.0 / static_cast<double>(parts.size());
    if (weighting == Weighting::owner) weight = parts[0] == part ? 1.0 : 0.0;
    if (weighting != Weighting::stiffness) continue;
    double sum = 0;
    for (const std::int32_t p : parts) sum += diagonal(p, unknown);
    // An unknown without stiffness makes the matrix singular, which the factorisation of the whole reports.
    if (sum > 0) weight = diagonal(part, unknown) / sum;
  }
  return weights;
}

Overlap with_overlap(const FullRows& matrix, std::span<const std::int32_t> unknowns, int layers) {
  if (layers < 0)
    throw Error(ErrorCode::bad_input, "an overlap of " + std::to_string(layers) + " layers; give 0 or more");
  std::vector<std::int32_t> set(unknowns.begin(), unknowns.end()), front = set;
  std::vector<std::int32_t> layer_of(static_cast<std::size_t>(matrix.size()), -1);
  for (const std::int32_t u : set) layer_of[static_cast<std::size_t>(u)] = 0;
  for (int layer = 1; layer <= layers && !front.empty(); ++layer) {
    std::vector<std::int32_t> next;
    for (const std::int32_t u : front)
      for (auto k = matrix.row_start[static_cast<std::size_t>(u)];
           k < matrix.row_start[static_cast<std::size_t>(u) + 1]; ++k) {
        const std::int32_t v = matrix.column[static_cast<std::size_t>(k)];
        if (layer_of[static_cast<std::size_t>(v)] >= 0) continue;
        layer_of[static_cast<std::size_t>(v)] = layer;
        next.push_back(v);
      }
    set.insert(set.end(), next.begin(), next.end());
    front = std::move(next);
  }
  std::sort(set.begin(), set.end());
  Overlap overlap{std::move(set), {}};
  for (const std::int32_t u : overlap.unknowns) overlap.layer.push_back(layer_of[static_cast<std::size_t>(u)]);
  return overlap;
}

std::vector<std::vector<double>> partition_of_unity(std::span<const Overlap> sets, int layers, std::int32_t size) {
  std::vector<double> sum(static_cast<std::size_t>(size), 0.0);
  std::vector<std::vector<double>> weights;
  for (const Overlap& set : sets) {
    auto& own = weights.emplace_back();
    for (std::size_t i = 0; i < set.unknowns.size(); ++i) {
      own.push_back(layers + 1 - set.layer[i]);
      sum[static_cast<std::size_t>(set.unknowns[i])] += own.back();
    }
  }
  for (std::size_t p = 0; p < sets.size(); ++p)
    for (std::size_t i = 0; i < weights[p].size(); ++i)
      weights[p][i] /= sum[static_cast<std::size_t>(sets[p].unknowns[i])];
  return weights;
}

}  // namespace voussoir
