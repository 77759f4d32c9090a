#pragma once
#include <string>
#include <utility>
#include <vector>

#include <voussoir/backends/cost_model/cost_model.hpp>

namespace voussoir {

/// The choice of the pyramid height as a picture, an SVG file: predicted time of an iteration over the height h from 1
/// to `largest`, each with its best slab, and the height marked that choose_height() takes. `measured` are pairs (h,
/// seconds of an iteration), drawn as dots. Throws Error (unavailable) where the model lacks an operation or no slab
/// fits the budget.
std::string pyramid_plot(const CostModel& model, const PyramidJob& job, int largest,
                         const std::vector<std::pair<int, double>>& measured = {});

}  // namespace voussoir
