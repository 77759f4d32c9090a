#pragma once
#include <memory>
#include <span>
#include <vector>

#include <voussoir/framework/model/analysis_model.hpp>

// Temperatures and history on the host, in the numbering of a model.

namespace voussoir::detail {

/// One number per numbered node; empty where there are none.
std::vector<double> nodal_numbers(const AnalysisModel& model, const NodalValues* values);

/// The history of a batch's elements, element by element; zeros without a history, empty where they have no memory.
std::vector<double> history_numbers(const AnalysisModel& model, int batch, const ElementHistory* history);

/// A history from such numbers, one vector for each batch of the model; null where no element has any.
std::shared_ptr<const ElementHistory> make_history(const AnalysisModel& model,
                                                   std::span<const std::vector<double>> numbers);

}  // namespace voussoir::detail
