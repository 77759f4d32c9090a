#include <voussoir/solvers/eigen/subspace_iteration.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <voussoir/solvers/eigen/detail/spectral_search.hpp>

namespace voussoir {
namespace {

using detail::EigenBlocks;
using detail::RitzPairs;
using detail::SearchResult;
using detail::SpectralSearch;

/// Bathe's starting vectors: all unknowns alike, which M turns into the masses; unit vectors where mass is large and
/// stiffness small, far from each other in the numbering; and a random vector. A little noise is added to all of them,
/// so that no mode of a symmetric structure is orthogonal to the block.
Vector starting_vectors(const EigenBlocks& blocks, int columns, std::uint64_t seed) {
  const AnalysisModel& model = blocks.problem().model();
  const std::vector<double> k = blocks.problem().stiffness_diagonal().to_host(),
                            m = blocks.problem().mass_diagonal().to_host();
  std::vector<std::int32_t> free;
  for (std::int32_t e = 0; e < model.equation_count(); ++e)
    if (model.is_free(e)) free.push_back(e);
  std::vector<std::int32_t> order = free;
  const auto ratio = [&](std::int32_t e) {
    const auto i = static_cast<std::size_t>(e);
    return k[i] > 0 ? m[i] / k[i] : 0;
  };
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) { return ratio(a) > ratio(b); });
  Vector x = blocks.random(columns, seed);
  std::vector<double> values = x.to_host();
  const auto width = static_cast<std::size_t>(columns);
  const double rough = 1e-3;  // the share of noise
  for (double& v : values) v *= rough;
  for (const std::int32_t e : free) values[static_cast<std::size_t>(e) * width] += 1;
  const auto distance = static_cast<std::int32_t>(free.size() / (width + 1));
  std::vector<std::int32_t> taken;
  for (std::size_t c = 1; c + 1 < width; ++c) {
    const auto far = [&](std::int32_t e) {
      return std::none_of(taken.begin(), taken.end(), [&](std::int32_t t) { return std::abs(t - e) < distance; });
    };
    const auto place = std::find_if(order.begin(), order.end(), far);
    if (place == order.end()) break;
    taken.push_back(*place);
    values[static_cast<std::size_t>(*place) * width + c] += 1;
  }
  for (const std::int32_t e : free) values[static_cast<std::size_t>(e) * width + width - 1] /= rough;
  x.from_host(values);
  return x;
}

}  // namespace

SearchResult SubspaceIteration::search(const SpectralSearch& search) const {
  const EigenBlocks& blocks = search.blocks;
  const EigenRequest& request = search.request;
  const int size = request.block > 0 ? std::max(request.block, search.want + 1)
                                     : std::min(2 * search.want, search.want + 8) + (search.want == 1 ? 1 : 0);
  SearchResult result;
  Vector locked, x = starting_vectors(blocks, size, search.seed);
  std::vector<double> locked_values;
  const auto others = [&] {
    std::vector<const Vector*> all = search.deflated;
    if (locked.layout()) all.push_back(&locked);
    return all;
  };
  RitzPairs pairs;
  const auto wanted = static_cast<std::size_t>(search.want);
  for (; result.iterations < request.max_iterations && locked_values.size() < wanted; ++result.iterations) {
    Vector next = blocks.orthonormal(search.inverse(x), others());
    if (!next.layout()) {
      result.exhausted = true;
      break;
    }
    pairs = rayleigh_ritz(blocks, next);
    const std::vector<double> residuals = relative_residuals(blocks, pairs);
    const auto first = static_cast<std::size_t>(
        std::find_if(residuals.begin(), residuals.end(), [&](double r) { return !(r <= 0.5 * request.tolerance); }) -
        residuals.begin());
    search.tell(result.iterations + 1, first < residuals.size() ? residuals[first] : 0);
    if (first > 0) {  // converged, in ascending order: locked
      const Vector done = blocks.columns(pairs.vectors, 0, static_cast<int>(first));
      const std::vector<const Vector*> both{&locked, &done};
      locked = blocks.joined(both);
      locked_values.insert(locked_values.end(), pairs.values.begin(),
                           pairs.values.begin() + static_cast<std::ptrdiff_t>(first));
      pairs.values.erase(pairs.values.begin(), pairs.values.begin() + static_cast<std::ptrdiff_t>(first));
    }
    // Locked columns are replaced by random ones, so that the block keeps its guard.
    const Vector rest =
        pairs.count() > 0 ? blocks.columns(pairs.vectors, static_cast<int>(first), pairs.count()) : Vector();
    const int lacking = std::min(size - pairs.count(), static_cast<int>(first));
    const Vector fresh =
        lacking > 0 ? blocks.random(lacking, search.seed + 31 * static_cast<std::uint64_t>(result.iterations + 1))
                    : Vector();
    const std::vector<const Vector*> both{&rest, &fresh};
    x = blocks.joined(both);
    if (!x.layout()) {
      result.exhausted = true;
      break;
    }
  }
  result.converged = locked_values.size() >= wanted || result.exhausted;
  if (!pairs.values.empty()) result.next = pairs.values.front();
  result.pairs.vectors = std::move(locked);
  result.pairs.values = std::move(locked_values);
  return result;
}

}  // namespace voussoir
