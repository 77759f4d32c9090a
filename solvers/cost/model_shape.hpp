#pragma once
#include <voussoir/backends/cost_model/cost_model.hpp>
#include <voussoir/framework/domain/domain.hpp>

namespace voussoir {

/// The sizes of a model that its times depend on, in a time proportional to the number of its elements. Neighbours of
/// nodes are counted exactly at up to 2000 nodes spread over the mesh, and so for all of a small mesh; the
/// cross-section is estimated from the longest side of the bounding box and the mean length of an edge.
ModelShape model_shape(const Domain& domain);

}  // namespace voussoir
