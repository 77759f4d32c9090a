#pragma once
#include <string>

#include <voussoir/framework/analysis/step.hpp>

namespace voussoir {

/// What elements and supports say of the shape of a mode: with `recover` stresses, and the forces K φ.
StepResult result_of_shape(const AnalysisModel& model, const NodalField& shape, const std::string& name, bool recover);

}  // namespace voussoir
