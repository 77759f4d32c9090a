#include <voussoir/framework/io/superelement/part_vtu.hpp>

namespace voussoir {

void write_part_vtu(const std::filesystem::path& path, const PartRecovery& recovery, const Domain& model,
                    const NodalField& unknowns, std::span<const double> case_factors, const VtuOptions& options) {
  const NodalField inside = recovery.displacements(model, unknowns, case_factors);
  std::vector<PointField> stresses = recovery.stresses(model, unknowns, case_factors);
  for (PointField& field : stresses) add_invariants(field);
  VtuWriter writer(recovery.mesh());
  writer.add(inside);
  if (!stresses.empty()) {
    std::vector<std::string> names = ReducedPart::stress_names();
    names.push_back("mises");
    writer.add_element_means(stresses, names);
  }
  writer.comment("inside of superelement '" + recovery.instance().name() + "'");
  writer.write(path, options);
}

}  // namespace voussoir
