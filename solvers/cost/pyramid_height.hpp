#pragma once
#include <voussoir/backends/cost_model/cost_model.hpp>
#include <voussoir/backends/stencil_services.hpp>

namespace voussoir {

/// A streamed grid as formula (2) sees it, with slabs of the sizes that a backend needs. The services must outlive the
/// result. `budget` is in bytes per device; 0: unlimited.
PyramidJob make_pyramid_job(const StencilServices& stencils, const StencilProblem& problem, bool source, int real_bytes,
                            double budget, int devices, int tile = 0);

}  // namespace voussoir
