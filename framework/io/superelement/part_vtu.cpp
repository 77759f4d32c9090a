#include <voussoir/framework/io/superelement/part_vtu.hpp>

namespace voussoir {

void write_part_vtu(const std::filesystem::path& path, const PartRecovery& recovery, const Domain& model,
                    const NodalField& unknowns, const SuperelementInstance::Acting& acting, const VtuOptions& options) {
  const NodalField inside = recovery.displacements(model, unknowns, acting);
  std::vector<PointField> stresses = recovery.stresses(model, unknowns, acting);
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
