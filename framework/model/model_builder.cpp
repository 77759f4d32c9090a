#include <algorithm>
#include <optional>

#include <voussoir/backends/device_ranges.hpp>
#include <voussoir/framework/detail/node_range.hpp>
#include <voussoir/framework/model/detail/model_builder.hpp>

namespace voussoir {

void AnalysisModel::Builder::upload() {
  auto& m = model;
  ModelDescription d;
  std::vector<double> coordinates(3 * m.node_at_.size());
#pragma omp parallel for schedule(static) if (m.node_at_.size() > detail::worth_threads)
  for (std::size_t k = 0; k < m.node_at_.size(); ++k)
    std::copy_n(domain.coordinates().begin() + 3 * static_cast<std::ptrdiff_t>(m.node_at_[k]), 3,
                coordinates.begin() + static_cast<std::ptrdiff_t>(3 * k));
  d.coordinates = coordinates;
  std::vector<double> initial;
  if (!initial_temperature.empty())
    for (const std::int32_t n : m.node_at_) initial.push_back(initial_temperature[n]);
  d.initial_temperature = initial;
  d.start_temperature = start_temperature;
  d.first_equation = m.first_equation_;
  if (!m.nodes_have_first_unknowns_) d.unknowns = m.node_unknowns_;
  d.prescribed = m.prescribed_;
  for (const auto& a : m.plan_.dependent) {
    Dependency dependency{a.equation, {}, {}};
    for (std::size_t k = 0; k < a.others.size(); ++k)
      if (!m.prescribed_[a.others[k]]) {
        dependency.others.push_back(a.others[k]);
        dependency.coefficients.push_back(a.coefficients[k]);
      }
    d.dependencies.push_back(std::move(dependency));
  }
  number_batches();
  d.batches = std::move(batches);
  std::optional<DeviceRanges> ranges;
  if (!first_node_of_device.empty()) ranges.emplace(first_node_of_device);
  m.device_model_ = m.backend_->make_model(d);
}

void AnalysisModel::Builder::number_batches() {
  for (std::size_t b = 0; b < batches.size(); ++b) {
    std::vector<std::int32_t>& nodes = connectivity[b];
#pragma omp parallel for schedule(static) if (nodes.size() > detail::worth_threads)
    for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i] = model.position_[nodes[i]];
    batches[b].nodes = nodes;
    const std::vector<int>& own = batch_unknowns.emplace_back(unknowns_of(*batches[b].program));
    bool first_ones = true;
    for (std::size_t c = 0; c < own.size(); ++c) first_ones = first_ones && own[c] == static_cast<int>(c);
    if (!first_ones) batches[b].unknowns = own;
  }
}

void AnalysisModel::Builder::check_loads() const {
  for (const auto& load_case : domain.load_cases()) {
    const std::string where = "load case '" + load_case->name() + "'";
    for (const auto& load : load_case->nodal_loads()) require_equation(load.node, load.unknown, where);
    if (model.temperature_component_ >= 0 && !load_case->temperatures().empty())
      throw Error(ErrorCode::bad_input,
                  "temperatures cannot be given as a load if temperature is an unknown; prescribe 'T' instead", where);
  }
}

AnalysisModel::AnalysisModel(const Domain& domain, std::shared_ptr<Backend> backend, const ConstraintHandler& handler,
                             const DofNumberer& numberer, const ModelOptions& options)
    : domain_(domain), backend_(std::move(backend)), options_(options), kept_loads_(make_kept_loads()) {
  if (!backend_) throw Error(ErrorCode::misuse, "an AnalysisModel needs a backend; get one from Backend::open()");
  Builder builder(*this);
  builder.add_blocks();
  builder.take_unknowns();
  builder.add_surface_loads();
  builder.add_body_loads();
  builder.take_initial_temperatures();
  builder.check_symmetry();
  if (options_.full_tangents) builder.take_full_tangents();
  builder.add_equation_nodes();
  builder.number(numberer);
  builder.constrain(handler);
  builder.check_loads();
  builder.upload();
  origins_ = std::move(builder.origins);
  batch_unknowns_ = std::move(builder.batch_unknowns);
  whole_body_loads_ = std::move(builder.whole_body_loads);
  idle_ = std::move(builder.idle);
  take_revisions();
}

}  // namespace voussoir
