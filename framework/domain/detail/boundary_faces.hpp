#pragma once
#include <span>
#include <vector>

#include <voussoir/framework/domain/domain.hpp>

namespace voussoir::detail {

/// Faces that belong to one element only, of whatever block, and whose nodes are all marked; sorted by block, element
/// and face. Ends of lines are no faces.
std::vector<FaceRef> boundary_faces(const Domain& domain, std::span<const char> marked);
/// The same of the whole body.
std::vector<FaceRef> boundary_faces(const Domain& domain);

}  // namespace voussoir::detail
