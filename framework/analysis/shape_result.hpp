#pragma once
#include <string>

#include <voussoir/framework/analysis/step.hpp>

namespace voussoir {

/// Results of elements and supports for the shape of a mode: the forces K φ and, with `recover`, stresses.
StepResult result_of_shape(const AnalysisModel& model, const NodalField& shape, const std::string& name, bool recover);

}  // namespace voussoir
