#include <algorithm>
#include <array>
#include <tuple>

#include <voussoir/framework/domain/detail/boundary_faces.hpp>
#include <voussoir/framework/domain/shape_topology.hpp>

namespace voussoir::detail {

std::vector<FaceRef> boundary_faces(const Domain& domain, std::span<const char> marked) {
  // Elements that share a face share its corners, so a face whose corners no other face has is on the boundary. Both
  // sides of a shared face are candidates or neither is: the nodes are the same.
  struct Candidate {
    std::array<std::int32_t, 4> corners;  // ascending; −1 where a face has fewer
    FaceRef face;
  };
  std::vector<Candidate> candidates;
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    const ElementBlock& block = domain.block(b);
    const std::string& shape = block.type().shape();
    if (shape.empty()) continue;
    const auto& faces = shape_topology(shape).faces;
    std::vector<int> corner_count;
    for (const ShapeFace& face : faces)
      corner_count.push_back(face.shape.empty() ? 0 : shape_topology(face.shape).corners);
    for (std::int32_t e = 0; e < block.size(); ++e) {
      const auto nodes = block.nodes(e);
      for (std::size_t f = 0; f < faces.size(); ++f) {
        const auto& local = faces[f].nodes;
        if (corner_count[f] == 0 || !std::all_of(local.begin(), local.end(), [&](int n) { return marked[nodes[n]]; }))
          continue;
        Candidate c{{-1, -1, -1, -1}, {static_cast<std::int32_t>(b), e, static_cast<std::int32_t>(f)}};
        for (int i = 0; i < corner_count[f]; ++i) c.corners[i] = nodes[local[i]];
        std::sort(c.corners.begin(), c.corners.end());
        candidates.push_back(c);
      }
    }
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& a, const Candidate& b) { return a.corners < b.corners; });
  std::vector<FaceRef> found;
  for (std::size_t i = 0; i < candidates.size();) {
    std::size_t next = i + 1;
    while (next < candidates.size() && candidates[next].corners == candidates[i].corners) ++next;
    if (next == i + 1) found.push_back(candidates[i].face);
    i = next;
  }
  std::sort(found.begin(), found.end(), [](const FaceRef& a, const FaceRef& b) {
    return std::tie(a.block, a.element, a.face) < std::tie(b.block, b.element, b.face);
  });
  return found;
}

std::vector<FaceRef> boundary_faces(const Domain& domain) {
  return boundary_faces(domain, std::vector<char>(static_cast<std::size_t>(domain.node_count()), 1));
}

}  // namespace voussoir::detail
