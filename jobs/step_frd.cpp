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

namespace {

/// Adds the mean of values at points over all elements of a node, where elements have them.
void add_mean(FrdWriter& file, const Domain& domain, const StepResult& result, FrdQuantity quantity,
              const std::vector<std::string>& names) {
  std::vector<const PointField*> fields;
  for (const PointField& field : result.points)
    if (std::all_of(names.begin(), names.end(), [&](const std::string& n) { return field.has(n); }))
      fields.push_back(&field);
  if (!fields.empty()) file.add(domain, quantity, nodal_mean(domain, fields, names));
}

/// Displacements, stress, strain, plastic strain and forces of the state that was begun.
void add_structure(FrdWriter& file, const Domain& domain, const StepResult& result,
                   const std::vector<double>& temperatures) {
  file.add(domain, FrdQuantity::displacement, result.unknowns);
  if (!temperatures.empty()) file.add(domain, FrdQuantity::temperature, NodalField{"temperature", {"T"}, temperatures});
  add_mean(file, domain, result, FrdQuantity::stress, {"sxx", "syy", "szz", "sxy", "syz", "sxz"});
  add_mean(file, domain, result, FrdQuantity::strain, {"exx", "eyy", "ezz", "exy", "eyz", "exz"});
  file.add(domain, FrdQuantity::force, result.internal_forces);
  add_mean(file, domain, result, FrdQuantity::plastic, {"peeq"});
}

void add_heat(FrdWriter& file, const Domain& domain, const StepResult& result) {
  file.add(domain, FrdQuantity::temperature, result.unknowns);
  add_mean(file, domain, result, FrdQuantity::flux, {"qx", "qy", "qz"});
  file.add(domain, FrdQuantity::heat_flow, result.internal_forces);
}

}  // namespace

void write_frd_step(FrdWriter& file, const Job& job, std::size_t step, const StepResult& result,
                    const std::vector<double>& temperatures) {
  const JobStep& asked = job.steps[step];
  const Domain& domain = *job.domains[asked.domain];
  file.begin_step(static_cast<int>(step) + 1,
                  std::isfinite(asked.total_time) ? asked.total_time : static_cast<double>(step + 1));
  if (asked.procedure == Procedure::statics) {
    add_structure(file, domain, result, temperatures);
  } else {
    add_heat(file, domain, result);
  }
}

void write_frd_modes(FrdWriter& file, const Job& job, std::size_t step, const ModeSet& modes) {
  const Domain& domain = *job.domains[job.steps[step].domain];
  for (int m = 0; m < modes.count(); ++m) {
    file.begin_mode(static_cast<int>(step) + 1, m + 1, modes.frequency(m), modes.eigenvalue(m));
    file.add(domain, FrdQuantity::displacement, modes.shapes[static_cast<std::size_t>(m)]);
  }
}

void write_frd_state(FrdWriter& file, const Job& job, std::size_t step, int number, const StepState& state) {
  file.begin_state(static_cast<int>(step) + 1, number, state.at);
  const Domain& domain = *job.domains[job.steps[step].domain];
  if (is_heat(job.steps[step].procedure))
    add_heat(file, domain, state.result);
  else
    add_structure(file, domain, state.result, state.temperatures);
}

}  // namespace voussoir::detail
