#include <voussoir/partition/feti_dp.hpp>

#include <array>
#include <cmath>
#include <map>

namespace voussoir {
namespace {

std::vector<FetiDpOperator::Jump> jumps_between(const Decomposition& decomposition, const BddcOperator& bddc) {
  struct Side {
    std::int32_t part, local;
    double weight;
  };
  std::vector<std::vector<Side>> sides(decomposition.interface().size());
  for (int p = 0; p < decomposition.parts(); ++p) {
    const auto boundary = decomposition.boundary(p), places = decomposition.interface_places(p);
    for (std::size_t i = 0; i < boundary.size(); ++i)
      sides[static_cast<std::size_t>(places[i])].push_back({p, boundary[i], bddc.weights(p)[i]});
  }
  std::vector<FetiDpOperator::Jump> jumps;
  for (std::size_t k = 0; k < sides.size(); ++k) {
    if (bddc.is_primal(k)) continue;
    for (std::size_t i = 0; i < sides[k].size(); ++i)
      for (std::size_t j = i + 1; j < sides[k].size(); ++j) {
        const Side &a = sides[k][i], &b = sides[k][j];
        jumps.push_back({{a.part, b.part}, {a.local, b.local}, {b.weight, a.weight}});
      }
  }
  return jumps;
}

/// For each pair of parts and each average that both have: its weights at the jumps between them.
std::vector<std::vector<std::pair<std::size_t, double>>> averages_between(
    const std::vector<FetiDpOperator::Jump>& jumps, const BddcOperator& bddc, int parts) {
  std::vector<std::vector<std::vector<std::pair<std::int32_t, double>>>> of_local(static_cast<std::size_t>(parts));
  for (int p = 0; p < parts; ++p)
    for (const BddcOperator::Average& average : bddc.averages(p))
      for (std::size_t i = 0; i < average.locals.size(); ++i) {
        auto& lists = of_local[static_cast<std::size_t>(p)];
        const auto local = static_cast<std::size_t>(average.locals[i]);
        if (lists.size() <= local) lists.resize(local + 1);
        lists[local].emplace_back(average.number, average.values[i]);
      }
  std::map<std::array<std::int32_t, 3>, std::vector<std::pair<std::size_t, double>>> vectors;
  for (std::size_t k = 0; k < jumps.size(); ++k) {
    const auto& lists = of_local[static_cast<std::size_t>(jumps[k].part[0])];
    const auto local = static_cast<std::size_t>(jumps[k].local[0]);
    if (local >= lists.size()) continue;
    for (const auto& [number, value] : lists[local])
      vectors[{jumps[k].part[0], jumps[k].part[1], number}].emplace_back(k, value);
  }
  std::vector<std::vector<std::pair<std::size_t, double>>> result;
  for (auto& [key, vector] : vectors) result.push_back(std::move(vector));
  return result;
}

}  // namespace

FetiDpOperator::FetiDpOperator(Backend& backend, const PartMatrices& matrices, const BddcOperator& partially_assembled)
    : HostOperator(plain_layout(
          backend, static_cast<std::int64_t>(jumps_between(matrices.decomposition(), partially_assembled).size()))),
      matrices_(matrices),
      partially_assembled_(partially_assembled),
      jumps_(jumps_between(matrices.decomposition(), partially_assembled)),
      averages_(averages_between(jumps_, partially_assembled, matrices.decomposition().parts())) {}

void FetiDpOperator::project(std::span<double> x) const {
  for (const auto& average : averages_) {
    double sum = 0;
    for (const auto& [k, value] : average) sum += value * x[k];
    for (const auto& [k, value] : average) x[k] -= sum * value;
  }
}

std::vector<std::vector<double>> FetiDpOperator::divided(std::span<const double> f) const {
  const Decomposition& decomposition = matrices_.decomposition();
  std::vector<std::vector<double>> parts;
  for (int p = 0; p < decomposition.parts(); ++p) {
    auto& own = parts.emplace_back();
    for (const std::int32_t u : decomposition.unknowns(p)) own.push_back(f[static_cast<std::size_t>(u)]);
    const auto boundary = decomposition.boundary(p);
    for (std::size_t i = 0; i < boundary.size(); ++i)
      own[static_cast<std::size_t>(boundary[i])] *= partially_assembled_.weights(p)[i];
  }
  return parts;
}

void FetiDpOperator::multiply(std::span<const double> x, std::span<double> y) const {
  std::vector<std::vector<double>> parts;
  for (int p = 0; p < matrices_.decomposition().parts(); ++p)
    parts.emplace_back(static_cast<std::size_t>(matrices_.neumann(p).n), 0.0);
  const auto at = [&](const Jump& jump, int side) -> double& {
    return parts[static_cast<std::size_t>(jump.part[side])][static_cast<std::size_t>(jump.local[side])];
  };
  for (std::size_t k = 0; k < jumps_.size(); ++k) {
    at(jumps_[k], 0) += x[k];
    at(jumps_[k], 1) -= x[k];
  }
  partially_assembled_.solve_partially_assembled(parts, true);
  for (std::size_t k = 0; k < jumps_.size(); ++k) y[k] = at(jumps_[k], 0) - at(jumps_[k], 1);
  project(y);
}

std::vector<double> FetiDpOperator::right_hand_side(std::span<const double> f, double& size) const {
  auto parts = divided(f);
  partially_assembled_.solve_partially_assembled(parts);
  std::vector<double> d;
  double square = 0;
  for (const Jump& jump : jumps_) {
    const double one = parts[static_cast<std::size_t>(jump.part[0])][static_cast<std::size_t>(jump.local[0])],
                 other = parts[static_cast<std::size_t>(jump.part[1])][static_cast<std::size_t>(jump.local[1])];
    d.push_back(one - other);
    square += one * one + other * other;
  }
  size = std::sqrt(square);
  project(d);
  return d;
}

std::vector<double> FetiDpOperator::solution(std::span<const double> f, std::span<const double> multipliers) const {
  const Decomposition& decomposition = matrices_.decomposition();
  auto parts = divided(f);
  for (std::size_t k = 0; k < jumps_.size(); ++k)
    for (const int side : {0, 1})
      parts[static_cast<std::size_t>(jumps_[k].part[side])][static_cast<std::size_t>(jumps_[k].local[side])] -=
          (side == 0 ? 1 : -1) * multipliers[k];
  partially_assembled_.solve_partially_assembled(parts);
  std::vector<double> u(static_cast<std::size_t>(decomposition.size()), 0.0);
  for (int p = 0; p < decomposition.parts(); ++p) {
    auto& own = parts[static_cast<std::size_t>(p)];
    const auto boundary = decomposition.boundary(p), unknowns = decomposition.unknowns(p);
    for (std::size_t i = 0; i < boundary.size(); ++i)
      own[static_cast<std::size_t>(boundary[i])] *= partially_assembled_.weights(p)[i];
    for (std::size_t i = 0; i < own.size(); ++i) u[static_cast<std::size_t>(unknowns[i])] += own[i];
  }
  return u;
}

std::string FetiDpOperator::describe() const {
  return "FETI-DP, " + std::to_string(jumps_.size()) + " multipliers, " +
         std::to_string(partially_assembled_.coarse_size()) + " primal unknowns";
}

DirichletPreconditioner::DirichletPreconditioner(const FetiDpOperator& feti, const SchurComplement& schur)
    : HostOperator(feti.layout()), feti_(feti), schur_(schur) {}

void DirichletPreconditioner::multiply(std::span<const double> x, std::span<double> y) const {
  const Decomposition& decomposition = schur_.decomposition();
  std::vector<std::vector<double>> parts;
  for (int p = 0; p < decomposition.parts(); ++p) parts.emplace_back(decomposition.unknowns(p).size(), 0.0);
  const auto& jumps = feti_.jumps();
  const auto at = [&](const FetiDpOperator::Jump& jump, int side) -> double& {
    return parts[static_cast<std::size_t>(jump.part[side])][static_cast<std::size_t>(jump.local[side])];
  };
  for (std::size_t k = 0; k < jumps.size(); ++k) {
    at(jumps[k], 0) += jumps[k].scale[0] * x[k];
    at(jumps[k], 1) -= jumps[k].scale[1] * x[k];
  }
  std::vector<std::vector<double>> boundaries(parts.size());
  for (int p = 0; p < decomposition.parts(); ++p)
    for (const std::int32_t i : decomposition.boundary(p))
      boundaries[static_cast<std::size_t>(p)].push_back(
          parts[static_cast<std::size_t>(p)][static_cast<std::size_t>(i)]);
  schur_.multiply_parts(boundaries);
  for (int p = 0; p < decomposition.parts(); ++p) {
    const auto boundary = decomposition.boundary(p);
    for (std::size_t i = 0; i < boundary.size(); ++i)
      parts[static_cast<std::size_t>(p)][static_cast<std::size_t>(boundary[i])] =
          boundaries[static_cast<std::size_t>(p)][i];
  }
  for (std::size_t k = 0; k < jumps.size(); ++k)
    y[k] = jumps[k].scale[0] * at(jumps[k], 0) - jumps[k].scale[1] * at(jumps[k], 1);
  feti_.project(y);
}

}  // namespace voussoir
