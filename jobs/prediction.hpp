#pragma once
#include <optional>
#include <string>
#include <vector>

#include <voussoir/backends/cost_model/cost_model.hpp>

// Predicted times that are reported beside measured ones.

namespace voussoir {

/// A predicted time of one stage of an analysis.
struct StagePrediction {
  std::string stage;              ///< as in Analysis::stage_times(): "number", "pattern", "assemble and solve", …
  std::optional<double> seconds;  ///< nothing if the profile lacks an operation of the stage
};

/// What was predicted for a job that is being run, for results.json.
struct RunPrediction {
  std::vector<StagePrediction> stages;            ///< predicted seconds by stage, summed over all steps
  std::optional<IterationAssumption> iterations;  ///< assumed iterations of the last model
  std::string note;                               ///< which profile was used, or why nothing was predicted
};

}  // namespace voussoir
