#pragma once
#include <string>

#include <voussoir/framework/analysis/mode_superposition.hpp>
#include <voussoir/solvers/eigen/eigen_solvers.hpp>

namespace voussoir {

/// A ModeSuperposition of the modes that an analysis has found, with a solver for its static correction. The analysis
/// must outlive it and its results. `solver` is a name for make_solver() or "auto". Throws Error (misuse) before the
/// analysis has modes.
///
///   auto analysis = make_modal_analysis(domain);
///   analysis->solve(request);
///   ModeSuperposition building = make_mode_superposition(*analysis);
ModeSuperposition make_mode_superposition(ModalAnalysis& analysis, const std::string& solver = "auto");

/// The same of a model and its modes, both of which may come from elsewhere. The model must outlive it.
ModeSuperposition make_mode_superposition(const AnalysisModel& model, const ModeSet& modes,
                                          MassKind mass = MassKind::consistent, const std::string& solver = "auto");

}  // namespace voussoir
