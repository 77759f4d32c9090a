#include <voussoir/framework/model/detail/element_stiffness.hpp>

#include <algorithm>

#include <voussoir/framework/model/detail/dense_tangent.hpp>

namespace voussoir::detail {

void visit_element_stiffness(
    const AnalysisModel& model, const std::vector<char>& wanted,
    const std::function<void(std::span<const std::int32_t> equations, const Eigen::MatrixXd& stiffness)>& visit) {
  const DeviceModel& device_model = model.device_model();
  const auto first = model.first_equation();
  const auto layout = device_model.layout();
  for (int b = 0; b < device_model.batch_count(); ++b) {
    const auto kind = model.batches()[b].kind;
    if (kind == BatchOrigin::Kind::constraint || kind == BatchOrigin::Kind::body_load) continue;
    std::vector<char> visited;  // elements on the border of two devices are on both
    for (int device = 0; device < device_model.devices(); ++device) {
      const ElementBatch& batch = device_model.part(device).batches[b];
      const ElementProgram& program = *batch.program;
      if (batch.element_count == 0 || !program.has_tangent()) continue;
      const ElementView view = device_model.host_view(device, b, {});
      const int lanes = program.lanes(), m = program.dofs(), nodes = program.nodes(), components = program.components();
      std::vector<double> k(static_cast<std::size_t>(lanes) * program.matrix_entries());
      Eigen::MatrixXd matrix(m, m);
      std::vector<std::int32_t> equations(m);
      for (int e = 0; e < batch.element_count; ++e) {
        bool here = false;
        for (int a = 0; a < nodes; ++a) {
          const std::int32_t local = view.nodes[static_cast<std::size_t>(e) * nodes + a];
          const auto equation = static_cast<std::int32_t>(layout->global(device, view.first_unknown[local]));
          here = here || wanted[std::upper_bound(first.begin(), first.end(), equation) - first.begin() - 1];
          for (int c = 0; c < components; ++c)
            equations[a * components + c] =
                equation + unknown_index(view, local, components, c) - view.first_unknown[local];
        }
        if (!here) continue;
        if (device_model.devices() > 1) {
          const auto origin = static_cast<std::size_t>(batch.origin_of(e));
          if (visited.size() <= origin) visited.resize(origin + 1, 0);
          if (visited[origin]++) continue;
        }
        program.tangent(view, e, 1, k.data());
        unpack_tangent(program, k.data(), 0, matrix);
        visit(equations, matrix);
      }
    }
  }
}

std::vector<char> nodes_with_dependents(const AnalysisModel& model) {
  std::vector<char> flags(model.numbered_nodes().size(), 0);
  const auto first = model.first_equation();
  for (const auto& d : model.constraints().dependent)
    flags[std::upper_bound(first.begin(), first.end(), d.equation) - first.begin() - 1] = 1;
  return flags;
}

}  // namespace voussoir::detail
