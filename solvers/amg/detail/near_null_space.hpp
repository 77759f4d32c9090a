#pragma once
#include <vector>

#include <voussoir/backends/multigrid.hpp>
#include <voussoir/framework/model/analysis_model.hpp>
#include <voussoir/solvers/amg/amg_options.hpp>

namespace voussoir::detail {

/// A near-null space on the rows of the finest level: `modes` numbers for each of nodes · height rows.
struct NearNullRows {
  int modes = 0;
  Array<double> values;
};

/// The same by devices, for the nodes that each of them owns.
struct DividedNearNull {
  int modes = 0;
  std::vector<Array<double>> values;
};

/// Rigid-body motions of a model from its coordinates: six for models with uz, three for plane ones, a constant for
/// heat. A model with unknowns that are none of these gets one constant for each unknown.
NearNullRows rigid_motions(const AnalysisModel& model, int height);

/// What a user gave, one row per equation, brought to the rows of the finest level; rows that are not free are zero.
/// `equation` is what MultigridServices::equations_of() gave. Throws Error (misuse) where the sizes are wrong.
NearNullRows given_motions(const AnalysisModel& model, const NearNullSpace& given, int height,
                           const Array<std::int32_t>& equation);

/// rigid_motions() or given_motions(), as the options want it, by devices. `equations` are what
/// DividedMultigrid::equations_of() gave, one for each device.
DividedNearNull divided_motions(const AnalysisModel& model, const AmgOptions& options, int height,
                                const std::vector<Array<std::int32_t>>& equations);

}  // namespace voussoir::detail
