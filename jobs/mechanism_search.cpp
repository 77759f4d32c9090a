#include <voussoir/jobs/detail/mechanism_search.hpp>

#include <voussoir/framework/analysis/integrator.hpp>
#include <voussoir/framework/analysis/mechanism_check.hpp>
#include <voussoir/framework/model/free_motion.hpp>
#include <voussoir/solvers/static_problem.hpp>

namespace voussoir::detail {

void require_no_mechanism(const AnalysisModel& model, const RigidClusters& clusters) {
  if (clusters.motions().empty()) return;
  const auto soe = make_soe("matrix-free");
  soe->set_model(model);
  StaticIntegrator integrator;
  AnalysisState state;
  state.case_factors.assign(model.domain().load_case_count(), 0.0);
  integrator.begin_step(model, state);
  integrator.form_tangent(model, state, *soe);
  const MechanismReport verdict = find_mechanisms(*soe, clusters);
  if (!verdict.motion.empty()) require_no_free_motion({describe_motion(model, verdict.motion)});
}

}  // namespace voussoir::detail
