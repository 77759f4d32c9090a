#include <voussoir/framework/analysis/peak_cause.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/framework/analysis/detail/corner_angles.hpp>

namespace voussoir {
namespace {

using detail::NearFace;

/// Normals that differ by less than 30° belong to one smooth surface.
bool is_smooth(const NearFace& a, const NearFace& b) {
  const double cosine = a.normal[0] * b.normal[0] + a.normal[1] * b.normal[1] + a.normal[2] * b.normal[2];
  return cosine > 0.866;
}

/// Whether the estimate is no better at the node than in the whole body.
bool is_coarse(const Domain& domain, const detail::Neighbourhood& around, const ErrorEstimate& estimate) {
  if (!(estimate.percent() > 1e-6)) return false;
  std::vector<std::size_t> first{0};
  for (std::size_t b = 0; b < domain.block_count(); ++b) first.push_back(first.back() + domain.block(b).size());
  double largest = 0;
  for (const ElementRef& e : around.elements())
    if (const double p = estimate.element_percent[first[e.block] + e.element]; p > largest) largest = p;
  return largest >= estimate.percent();
}

PeakCause cause_of_supports(const StepResult& result, const std::vector<const NearFace*>& faces, std::int32_t node) {
  const NodalField& reactions = result.reactions;
  const int moves = std::min(reactions.width(), 3);  // rotations hold nothing of a solid
  const auto holds = [&](std::int32_t n, int c) { return !std::isnan(reactions.at(n, c)); };
  const auto prescribed = [&](const NearFace& face, int c) {
    return std::all_of(face.corners.begin(), face.corners.end(), [&](std::int32_t n) { return holds(n, c); });
  };
  int components = 0;
  for (int c = 0; c < moves; ++c) components += !std::isnan(result.unknowns.at(node, c));
  int prescribed_here = 0;
  for (int c = 0; c < moves; ++c) prescribed_here += holds(node, c);
  for (int c = 0; c < moves; ++c) {
    if (!holds(node, c)) continue;
    std::vector<const NearFace*> inside, outside;
    for (const NearFace* face : faces) (prescribed(*face, c) ? inside : outside).push_back(face);
    if (inside.empty()) return PeakCause::point_support;
    for (const NearFace* a : inside)
      for (const NearFace* b : outside) {
        const bool clamped = prescribed_here == components && components > 1;
        bool whole = true;
        for (int k = 0; k < moves; ++k)
          if (!std::isnan(result.unknowns.at(node, k))) whole = whole && prescribed(*a, k);
        if (is_smooth(*a, *b) || (clamped && whole)) return PeakCause::support_edge;
      }
  }
  return PeakCause::none;
}

PeakCause cause_at(const Domain& domain, const StepResult& result, const detail::Neighbourhood& around,
                   const ErrorEstimate& estimate, std::int32_t node, std::span<const std::int32_t> loaded_nodes) {
  if (around.dim() == 0 || !is_coarse(domain, around, estimate)) return PeakCause::none;
  const auto faces = around.faces();
  if (around.re_entrant_angle() > 0) return PeakCause::re_entrant_corner;
  const auto is_loaded = [&](std::int32_t n) {
    return std::binary_search(loaded_nodes.begin(), loaded_nodes.end(), n);
  };
  // Loads on all corners of a face stand for a load on its area.
  if (is_loaded(node) && std::none_of(faces.begin(), faces.end(), [&](const NearFace* face) {
        return std::all_of(face->corners.begin(), face->corners.end(), is_loaded);
      }))
    return PeakCause::point_load;
  return cause_of_supports(result, faces, node);
}

}  // namespace

StressPeak find_peak_cause(const Domain& domain, const StepResult& result, const ErrorEstimate& estimate,
                           std::int32_t node, std::span<const std::int32_t> loaded_nodes) {
  if (node < 0 || node >= domain.node_count() || estimate.element_percent.empty()) return {};
  const auto pool = detail::elements_around(domain, node, 3);
  std::vector<std::int32_t> candidates{node};
  const detail::Neighbourhood here(domain, node, pool);
  for (const NearFace* face : here.faces())
    for (const std::int32_t n : face->corners)
      if (std::find(candidates.begin(), candidates.end(), n) == candidates.end()) candidates.push_back(n);
  for (const std::int32_t n : candidates) {
    const PeakCause cause = cause_at(domain, result, detail::Neighbourhood(domain, n, pool), estimate, n, loaded_nodes);
    if (cause != PeakCause::none) return {cause, n};
  }
  return {};
}

}  // namespace voussoir
