#include <voussoir/framework/analysis/part_recovery.hpp>

#include <limits>

#include <voussoir/backends/error.hpp>

namespace voussoir {

PartRecovery::PartRecovery(std::shared_ptr<const SuperelementInstance> instance)
    : instance_(std::move(instance)), mesh_(std::make_unique<Domain>()) {
  if (!instance_) throw Error(ErrorCode::misuse, "PartRecovery needs a superelement");
  const ReducedPart& part = instance_->part();
  if (part.rows() == 0)
    throw Error(ErrorCode::bad_input,
                "the part was reduced without recovery, so that nothing is known of its inside; reduce it again with "
                "recovery",
                "superelement '" + instance_->name() + "'");
  mesh_->add_nodes(part.nodes, part.coordinates);
  for (const ReducedPart::Block& block : part.blocks)
    mesh_->add_block(block.name, block.type).add_many(block.elements, block.nodes);
}

std::vector<double> PartRecovery::coordinates(const Domain& model, const NodalField& unknowns) const {
  if (unknowns.values.size() != static_cast<std::size_t>(model.node_count()) * unknowns.components.size())
    throw Error(ErrorCode::misuse, "the field does not have a value for each node of the model",
                "superelement '" + instance_->name() + "'");
  return instance_->coordinates(
      model, [&](std::int32_t node, const std::string& unknown) { return unknowns.at(node, unknown); });
}

NodalField PartRecovery::displacements(const Domain& model, const NodalField& unknowns,
                                       std::span<const double> case_factors) const {
  return displacements(model, unknowns, instance_->acting(model, case_factors));
}

NodalField PartRecovery::displacements(const Domain& model, const NodalField& unknowns,
                                       const SuperelementInstance::Acting& acting) const {
  const ReducedPart& part = instance_->part();
  const std::vector<double> values =
      part.displacements(coordinates(model, unknowns), acting.load_factors, acting.acceleration);
  NodalField field{field_name(part.part_unknowns), part.part_unknowns, {}};
  field.values.assign(part.nodes.size() * part.part_unknowns.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto node = static_cast<std::size_t>(mesh_->node_index(part.row[i].node));
    field.values[node * part.part_unknowns.size() + static_cast<std::size_t>(part.row[i].unknown)] = values[i];
  }
  return field;
}

std::vector<PointField> PartRecovery::stresses(const Domain& model, const NodalField& unknowns,
                                               std::span<const double> case_factors) const {
  return stresses(model, unknowns, instance_->acting(model, case_factors));
}

std::vector<PointField> PartRecovery::stresses(const Domain& model, const NodalField& unknowns,
                                               const SuperelementInstance::Acting& acting) const {
  const ReducedPart& part = instance_->part();
  std::vector<PointField> fields;
  if (part.stress_rows() == 0) return fields;
  const std::vector<double> all = part.stresses(coordinates(model, unknowns), acting.load_factors, acting.acceleration);
  std::size_t at = 0;
  for (std::size_t b = 0; b < part.blocks.size(); ++b) {
    if (!part.blocks[b].has_stress) continue;
    const std::size_t count = part.blocks[b].elements.size() * ReducedPart::stress_names().size();
    PointField& field = fields.emplace_back();
    field.block = static_cast<std::int32_t>(b);
    field.points = 1;
    field.names = ReducedPart::stress_names();
    field.values.assign(all.begin() + static_cast<std::ptrdiff_t>(at),
                        all.begin() + static_cast<std::ptrdiff_t>(at + count));
    at += count;
  }
  return fields;
}

}  // namespace voussoir
