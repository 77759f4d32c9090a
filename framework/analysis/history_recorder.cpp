#include <array>

#include <voussoir/framework/analysis/transient_analysis.hpp>

namespace voussoir {

std::size_t HistoryRecorder::add(Id node, std::string unknown, Quantity quantity, bool absolute) {
  if (!times_.empty()) throw Error(ErrorCode::misuse, "a history must be asked for before the first state is recorded");
  items_.push_back({node, std::move(unknown), quantity, absolute});
  values_.emplace_back();
  return items_.size() - 1;
}

void HistoryRecorder::record(const CommittedState& committed) {
  const AnalysisModel& model = committed.model;
  auto* const method = dynamic_cast<TimeIntegrator*>(&committed.integrator);
  times_.push_back(committed.state.time);
  if (method) energies_.push_back(method->energies());
  // Fields are made once for all items that need them.
  std::array<std::array<NodalField, 2>, 3> motions;
  std::vector<double> forces;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    const std::int32_t node = model.domain().node_index(item.node);
    const std::int32_t e = model.equation(node, item.unknown);
    if (e < 0)
      throw Error(ErrorCode::not_found, "there is no unknown '" + item.unknown + "' to record",
                  model.domain().node_label(node));
    if (item.quantity == Quantity::reaction) {
      if (forces.empty()) {
        Vector r = committed.integrator.out_of_balance(model, committed.state);
        model.backend().reduce_dependencies(model.device_model(), r);
        forces = r.to_host();
      }
      values_[i].push_back(model.is_prescribed(e) ? forces[static_cast<std::size_t>(e)] : 0.0);
      continue;
    }
    if (!method)
      throw Error(ErrorCode::misuse, "histories of motions need an analysis over time",
                  model.domain().node_label(node));
    NodalField& field = motions[static_cast<std::size_t>(item.quantity)][item.absolute];
    if (field.values.empty())
      field = method->motion(model, committed.state, static_cast<int>(item.quantity), item.absolute);
    values_[i].push_back(field.at(node, item.unknown));
  }
}

}  // namespace voussoir
