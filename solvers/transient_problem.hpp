#pragma once
#include <memory>
#include <string>

#include <voussoir/framework/analysis/transient_analysis.hpp>
#include <voussoir/solvers/static_problem.hpp>

namespace voussoir {

/// The options of a transient analysis, chosen by name. Backend, solver, storage and constraints are those of statics;
/// the tolerance of iterative solvers is smaller by default, since errors of all steps add up.
struct TransientOptions : StaticOptions {
  TransientOptions() { relative_tolerance = 1e-10; }
  explicit TransientOptions(StaticOptions of_statics) : StaticOptions(std::move(of_statics)) {}  ///< all of them
  std::string method = "newmark";        ///< a name for make_time_integrator(); heat needs one of its own
  RayleighDamping damping = {};          ///< of the whole model; materials add their own
  MassKind mass = MassKind::consistent;  ///< consistent or lumped
};

/// Creates a method of time integration by name: "newmark" (average acceleration), "newmark:beta=0.3025,gamma=0.6",
/// "hht" (α = −0.05), "hht:alpha=-0.1", "generalised-alpha" (spectral radius 0.9), "generalised-alpha:radius=0.8"; for
/// transient heat "backward-euler", "crank-nicolson", "bdf2"; "static" for increments without inertia. An unknown name
/// or option is an Error that lists all.
std::shared_ptr<TimeIntegrator> make_time_integrator(const std::string& name);

/// Creates a TransientAnalysis whose backend, solver and method are chosen by name. The domain must outlive it.
///
///   auto analysis = make_transient_analysis(domain);
///   analysis->set_steps({.end = 1, .step = 0.01});
///   auto results = analysis->run();
std::unique_ptr<TransientAnalysis> make_transient_analysis(const Domain& domain, const TransientOptions& options = {});
/// As above, on an open backend. `options.backend` and `options.work` are ignored.
std::unique_ptr<TransientAnalysis> make_transient_analysis(const Domain& domain, std::shared_ptr<Backend> backend,
                                                           const TransientOptions& options = {});

}  // namespace voussoir
