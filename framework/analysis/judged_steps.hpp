#pragma once
#include <voussoir/framework/model/analysis_model.hpp>

namespace voussoir {

/// Throws Error (bad_input) where automatic steps of implicit dynamics are not possible: parts of the model can move
/// freely, and errors are compared with displacements, which then grow without limit. TransientAnalysis::start() calls
/// it; where several processes share a model, it is called for the whole model before that is divided.
void require_judged_steps(const AnalysisModel& model);

}  // namespace voussoir
