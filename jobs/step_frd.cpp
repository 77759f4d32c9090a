#include <voussoir/jobs/detail/step_frd.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include <voussoir/framework/analysis/nodal_mean.hpp>
#include <voussoir/jobs/summary.hpp>

namespace voussoir::detail {

std::vector<FrdWriter::Mesh> frd_meshes(const Job& job) {
  std::vector<FrdWriter::Mesh> meshes;
  for (const auto& domain : job.domains) meshes.push_back({domain.get(), reported_nodes(job, *domain)});
  return meshes;
}

void write_frd_step(FrdWriter& file, const Job& job, std::size_t step, const StepResult& result,
                    const std::vector<double>& temperatures) {
  const JobStep& asked = job.steps[step];
  const Domain& domain = *job.domains[asked.domain];
  const auto add_mean = [&](FrdQuantity quantity, const std::vector<std::string>& names) {
    std::vector<const PointField*> fields;
    for (const PointField& field : result.points)
      if (std::all_of(names.begin(), names.end(), [&](const std::string& n) { return field.has(n); }))
        fields.push_back(&field);
    if (!fields.empty()) file.add(domain, quantity, nodal_mean(domain, fields, names));
  };
  file.begin_step(static_cast<int>(step) + 1,
                  std::isfinite(asked.total_time) ? asked.total_time : static_cast<double>(step + 1));
  if (asked.procedure == Procedure::statics) {
    file.add(domain, FrdQuantity::displacement, result.unknowns);
    if (!temperatures.empty())
      file.add(domain, FrdQuantity::temperature, NodalField{"temperature", {"T"}, temperatures});
    add_mean(FrdQuantity::stress, {"sxx", "syy", "szz", "sxy", "syz", "sxz"});
    add_mean(FrdQuantity::strain, {"exx", "eyy", "ezz", "exy", "eyz", "exz"});
    file.add(domain, FrdQuantity::force, result.internal_forces);
  } else {
    file.add(domain, FrdQuantity::temperature, result.unknowns);
    add_mean(FrdQuantity::flux, {"qx", "qy", "qz"});
    file.add(domain, FrdQuantity::heat_flow, result.internal_forces);
  }
}

}  // namespace voussoir::detail
