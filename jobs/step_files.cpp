#include <voussoir/jobs/detail/step_files.hpp>

#include <filesystem>
#include <utility>

#include <voussoir/jobs/detail/judge_step.hpp>
#include <voussoir/jobs/detail/step_frd.hpp>
#include <voussoir/jobs/detail/table_csv.hpp>

namespace voussoir::detail {

void StepFiles::write(std::size_t step, StepResult& result, const Acting& acting, StepSummary& summary) {
  write_fields(step, result, acting, summary);
  clock_.timed("other files", [&] {
    write_frd(step, result, acting.temperatures);
    write_requested_tables(step, result, acting.temperatures);
    write_probes(step, result, summary);
  });
}

void StepFiles::write_fields(std::size_t step, StepResult& result, const Acting& acts, StepSummary& summary) {
  const Job& job = files_.job();
  const OutputOptions& options = files_.options();
  const std::vector<double>& temperatures = acts.temperatures;
  const JobStep& asked = job.steps[step];
  const Domain& domain = *job.domains[asked.domain];
  StepFields fields;
  clock_.timed("nodal values", [&] { fields = make_step_fields(job, asked, result, !options.vtu); });
  join_ranges(summary.ranges, fields.ranges);
  const NodalField acting{"temperature", {"T"}, temperatures};
  if (!temperatures.empty()) join_ranges(summary.ranges, ranges_of(domain, acting, reported_nodes(job, domain)));
  name_nodes(summary.ranges, job.instances);
  ErrorEstimate estimate;
  clock_.timed("error estimate", [&] {
    estimate = estimate_error(domain, result.points);
    judge_step(job, asked, result, estimate, acts.loaded_nodes, summary);
  });
  if (options.vtu) clock_.timed("VTU files", [&] { write_vtu(step, result, estimate, fields, acting); });
  clock_.timed("VTU files", [&] { write_parts(step, result.unknowns, acts.parts); });
  clock_.timed("pictures", [&] {
    for (const std::filesystem::path& file :
         pictures_.draw(step, result, temperatures, estimate, options.folder, files_.names().name()))
      files_.done(file);
  });
}

void StepFiles::write_vtu(std::size_t step, const StepResult& result, const ErrorEstimate& estimate, StepFields& fields,
                          const NodalField& acting) {
  if (fields.too_many_materials)
    files_.note(
        "the model has so many materials that pictures show the mean stress of each element instead of nodal "
        "stresses");
  const std::string file = files_.stem(step) + ".vtu";
  vtus_.write(step, file, result, acting, estimate, fields);
  files_.done(files_.path(file));
  if (vtus_.list_is_due()) write_list();
}

void StepFiles::write_list() {
  const std::string file = files_.names().name() + ".pvd";
  if (vtus_.write_list(file)) files_.done(files_.path(file));
}

void StepFiles::write_parts(std::size_t step, const NodalField& unknowns,
                            const std::vector<SuperelementInstance::Acting>& acting) {
  for (const std::filesystem::path& file : parts_.write(files_.job().steps[step], files_.stem(step), unknowns, acting))
    files_.done(file);
}

void StepFiles::write_frd(std::size_t step, const StepResult& result, const std::vector<double>& temperatures) {
  if (files_.options().frd) write_frd_step(files_.frd(), files_.job(), step, result, temperatures);
}

void StepFiles::write_requested_tables(std::size_t step, const StepResult& result,
                                       const std::vector<double>& temperatures) {
  if (!files_.options().tables) return;
  std::vector<std::string> told;
  const auto tables = print_tables(files_.job(), files_.job().steps[step], result, temperatures, told);
  for (const std::string& text : told) files_.note(text);
  write_tables(step, tables);
}

void StepFiles::write_tables(std::size_t step, std::span<const PrintTable> tables) {
  const Job& job = files_.job();
  for (const auto& table : tables) {
    files_.append_to_dat(calculix_text(table, job.steps[step].total_time));
    const std::string& base = files_.names().table(step, table.request, table.item);
    if (table.wants_rows) files_.write(base + ".csv", csv_of(table, job.units));
    if (table.wants_totals) files_.write(base + "_total.csv", csv_of_totals(table, job.units));
  }
}

void StepFiles::write_probes(std::size_t step, const StepResult& result, StepSummary& summary) {
  if (probes_.empty()) return;
  const Job& job = files_.job();
  const OutputOptions& options = files_.options();
  StepProbes::Found found = probes_.find(job.steps[step], result);
  if (options.tables && !found.points.empty())
    files_.write(files_.stem(step) + "_points.csv", csv_of_points(found.points, job.units, job.instances));
  for (const PathResult& along : found.paths) {
    const ProbePath& asked = job.paths[along.path];
    if (along.outside > 0) files_.note(note_of_path(job, along));
    if (!options.tables) continue;
    const std::string base = files_.stem(step) + files_.names().paths()[along.path];
    files_.write(base + ".csv", csv_of_path(along.values, along.names, job.units, job.instances));
    const std::string title =
        "Path " + asked.name + " of " + job.name + (job.steps.size() > 1 ? ", " + job.steps[step].name : "");
    files_.write(base + ".svg", plot_of_path(along, title, job.units));
  }
  summary.points = std::move(found.points);
}

}  // namespace voussoir::detail
