#include <voussoir/partition/detail/element_unknowns.hpp>

#include <algorithm>

#include <voussoir/backends/error.hpp>

namespace voussoir::detail {

FreeCombinations::FreeCombinations(const AnalysisModel& model, const std::vector<std::int32_t>& unknown_of)
    : unknown_of_(unknown_of), list_of_(unknown_of.size(), -1) {
  for (const AffineDependency& dependency : model.constraints().dependent) {
    list_of_[static_cast<std::size_t>(dependency.equation)] = static_cast<std::int32_t>(lists_.size());
    auto& list = lists_.emplace_back();
    for (std::size_t i = 0; i < dependency.others.size(); ++i)
      if (const std::int32_t unknown = unknown_of[static_cast<std::size_t>(dependency.others[i])]; unknown >= 0)
        list.push_back({unknown, dependency.coefficients[i]});
  }
}

BatchEquations batch_equations(const AnalysisModel& model, int batch) {
  const DeviceModel& device_model = model.device_model();
  const auto first = model.first_equation();
  const auto unknowns = model.node_unknowns();
  BatchEquations result;
  for (int d = 0; d < device_model.devices(); ++d) {
    const DeviceModel::Part& part = device_model.part(d);
    const ElementBatch& elements = part.batches[static_cast<std::size_t>(batch)];
    if (elements.element_count == 0) continue;
    const int width = elements.program->nodes(), components = elements.program->components();
    result.dofs = elements.program->dofs();
    std::vector<std::int32_t> described(static_cast<std::size_t>(part.local_nodes), -1);
    for (std::int32_t n = 0; n < device_model.node_count(); ++n)
      if (const std::int32_t local = device_model.local_node(d, n); local >= 0)
        described[static_cast<std::size_t>(local)] = n;
    const auto nodes = elements.nodes.read_host();
    for (std::int32_t e = 0; e < elements.element_count; ++e) {
      const auto at = static_cast<std::size_t>(elements.origin_of(e)) * static_cast<std::size_t>(result.dofs);
      if (result.equations.size() < at + static_cast<std::size_t>(result.dofs))
        result.equations.resize(at + static_cast<std::size_t>(result.dofs), -1);
      std::size_t k = at;
      for (int a = 0; a < width; ++a) {
        const auto node = static_cast<std::size_t>(described[static_cast<std::size_t>(
            nodes[static_cast<std::size_t>(e) * static_cast<std::size_t>(width) + static_cast<std::size_t>(a)])]);
        for (int c = 0; c < components; ++c)
          result.equations[k++] = first[node] + unknowns[node].slot(model.batch_unknown(batch, c));
      }
    }
  }
  return result;
}

bool has_matrices(const AnalysisModel& model, int batch) {
  const BatchOrigin& origin = model.batches()[static_cast<std::size_t>(batch)];
  if (!model.device_model().part(0).batches[static_cast<std::size_t>(batch)].program->has_tangent()) return false;
  if (origin.kind == BatchOrigin::Kind::constraint)
    throw Error(ErrorCode::bad_input,
                "penalty springs belong to no part of a decomposition; use the constraint handler 'transformation'");
  return origin.kind != BatchOrigin::Kind::body_load;
}

}  // namespace voussoir::detail
