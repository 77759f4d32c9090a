#include <voussoir/solvers/eigen/mode_superposition_problem.hpp>

#include <voussoir/solvers/static_problem.hpp>

namespace voussoir {

ModeSuperposition make_mode_superposition(ModalAnalysis& analysis, const std::string& solver) {
  const ModeSet& modes = analysis.modes();
  return make_mode_superposition(analysis.model(), modes, analysis.mass_kind(), solver);
}

ModeSuperposition make_mode_superposition(const AnalysisModel& model, const ModeSet& modes, MassKind mass,
                                          const std::string& solver) {
  ModeSuperposition made(model, modes, mass);
  StaticOptions options;
  options.solver = solver;
  // Static responses are differences of what the modes have: they need more digits than a static analysis does.
  options.relative_tolerance = 1e-11;
  const auto statics = make_static_analysis(model.domain(), model.shared_backend(), options);
  made.set_solver(statics->collaborators().soe, statics->collaborators().solver);
  return made;
}

}  // namespace voussoir
