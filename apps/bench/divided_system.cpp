#include <voussoir/apps/bench/divided_system.hpp>

#include <algorithm>

#include <voussoir/framework/analysis/integrator.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/framework/model/divided_numberer.hpp>

namespace voussoir::app {

std::vector<std::string> device_lists(const std::string& backend, std::span<const int> counts) {
  const std::size_t colon = backend.find(':');
  const std::string name = backend.substr(0, colon);
  std::string list = colon == std::string::npos ? "" : backend.substr(colon + 1);
  if (name == "openmp" || name == "auto")
    throw Error(ErrorCode::unavailable,
                "backend '" + backend +
                    "' has one device; name one that can have several, such as cuda, cuda:0,1 or "
                    "debug");
  std::vector<std::string> lists;
  if (name == "debug") {
    for (const int count : counts) lists.push_back(count == 1 ? "debug" : "debug:" + std::to_string(count));
    return lists;
  }
  if (list.empty()) list = "0";
  const std::string first = list.substr(0, list.find(','));
  std::vector<std::string> ordinals;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    ordinals.push_back(list.substr(at, comma - at));
    at = comma + 1;
  }
  if (std::any_of(ordinals.begin(), ordinals.end(), [&](const std::string& o) { return o != first; }))
    return {name + ":" + first, backend};
  for (const int count : counts) {
    std::string spec = name + ":" + first;
    for (int k = 1; k < count; ++k) spec += "," + first;
    lists.push_back(spec);
  }
  return lists;
}

DividedSystem::DividedSystem(const BenchRig& rig, const Domain& domain, const std::string& spec,
                             std::unique_ptr<LinearSOE> storage)
    : backend(Backend::open(spec)), soe(std::move(storage)) {
  backend->choose(rig.setup().choices);
  const Stopwatch clock;
  model = std::make_unique<AnalysisModel>(domain, backend, TransformationHandler(), DividedNumberer());
  backend->wait();
  numbering = clock.seconds();
  distribution = device_distribution(model->device_model());
  soe->set_model(*model);
  state.case_factors.assign(domain.load_case_count(), 1.0);
  StaticIntegrator integrator;
  integrator.begin_step(*model, state);
  integrator.form_tangent(*model, state, *soe);
  integrator.form_unbalance(*model, state, soe->b());
}

std::vector<double> DividedSystem::solution() const {
  const std::vector<double> x = soe->x().to_host();
  std::vector<double> values(3 * static_cast<std::size_t>(model->domain().node_count()), 0.0);
  for (std::size_t k = 0; k < model->numbered_nodes().size(); ++k) {
    const auto node = static_cast<std::size_t>(model->numbered_nodes()[k]);
    for (std::int32_t e = model->first_equation()[k]; e < model->first_equation()[k + 1]; ++e)
      values[3 * node + static_cast<std::size_t>(e - model->first_equation()[k])] = x[static_cast<std::size_t>(e)];
  }
  return values;
}

}  // namespace voussoir::app
