#include <voussoir/partition/process/process_part.hpp>

#include <algorithm>

#include <voussoir/backends/error.hpp>

namespace voussoir {
namespace {

[[noreturn]] void refuse_division(const std::string& what, const std::string& where) {
  throw Error(ErrorCode::unavailable, what + "; run the job in one process", where);
}

void check_loads_of(const JobStep& step, const std::vector<StepLoad>& loads) {
  for (const StepLoad& load : loads)
    if (load.course)
      refuse_division("radiation to surroundings whose temperature has an amplitude cannot be divided among processes",
                      step.where.empty() ? "step '" + step.name + "'" : step.where);
}

/// Whether the elements of a block change with the temperature of their nodes.
bool follows_temperature(const ElementBlock& block) {
  const ElementProgram& program = block.type().program();
  if (program.reads_temperature()) return true;
  const ElementBlock::Parameters parameters = block.parameters();
  const auto names = program.parameter_names();
  for (std::size_t k = 0; k < names.size(); ++k)
    if (names[k].starts_with("expansion"))
      for (std::size_t at = k + 1; at < parameters.records.size(); at += names.size() + 1)
        if (parameters.records[at] != 0) return true;
  return parameters.rows > 1;
}

/// Elements that follow a temperature which is an unknown of other elements would lose it where those are in another
/// part.
void check_fields_divisible(const Domain& domain) {
  const auto has_temperature = [](const ElementBlock& block) {
    const auto names = block.type().program().unknown_names();
    return std::find(names.begin(), names.end(), "T") != names.end();
  };
  bool any = false;
  for (std::size_t b = 0; b < domain.block_count(); ++b)
    any = any || (domain.block(b).size() > 0 && has_temperature(domain.block(b)));
  for (std::size_t b = 0; any && b < domain.block_count(); ++b)
    if (domain.block(b).size() > 0 && !has_temperature(domain.block(b)) && follows_temperature(domain.block(b)))
      refuse_division("elements that follow an unknown temperature of other elements cannot be divided among processes",
                      "block '" + domain.block(b).name() + "'");
}

void check_step_divisible(const JobStep& step) {
  const std::string where = step.where.empty() ? "step '" + step.name + "'" : step.where;
  if (!step.procedure_name.empty() && step.procedure_name != "static" && step.procedure_name != "heat")
    refuse_division("the procedure '" + step.procedure_name + "' cannot be divided among processes", where);
  if (const auto* dynamic = std::get_if<DynamicStep>(&step.modal)) check_loads_of(step, dynamic->loads);
  if (const auto* thermal = std::get_if<ThermalStressStep>(&step.modal)) check_loads_of(step, thermal->loads);
}

}  // namespace

std::int64_t DomainShare::global_unknown(std::int32_t node, std::string_view unknown) const {
  const auto at = static_cast<std::size_t>(node);
  const auto k = std::find(unknown_names.begin(), unknown_names.end(), unknown) - unknown_names.begin();
  if (k == static_cast<std::ptrdiff_t>(unknown_names.size()) || !unknowns[at].has(static_cast<int>(k))) return -1;
  return first_unknown[at] + unknowns[at].slot(static_cast<int>(k));
}

bool ProcessPart::has_elements(std::size_t domain) const { return job.domains[domain]->element_count() > 0; }

void check_divisible(const Job& job) {
  if (job.domains.empty()) throw Error(ErrorCode::bad_input, "the job has no model", job.source);
  if (job.mesh_only)
    throw Error(ErrorCode::bad_input, "a mesh without sections and steps cannot be solved; write a job file for it",
                job.source);
  for (const auto& domain : job.domains) {
    if (domain->node_count() != job.domains.front()->node_count())
      throw Error(ErrorCode::bad_input, "the models of a job that is divided must have the same nodes", job.source);
    if (domain->element_count() == 0) throw Error(ErrorCode::bad_input, "the model has no elements", job.source);
    check_fields_divisible(*domain);
  }
  for (const JobStep& step : job.steps) check_step_divisible(step);
}

std::vector<std::int64_t> global_equations(const ProcessPart& part, std::size_t domain, const AnalysisModel& model) {
  if (&model.domain() != part.job.domains.at(domain).get())
    throw Error(ErrorCode::misuse, "the model is not one of domain " + std::to_string(domain) + " of the part");
  const DomainShare& share = part.domains[domain];
  std::vector<int> whole_component;  // of each unknown of the model
  for (const std::string& name : model.unknown_names()) {
    const auto at = std::find(share.unknown_names.begin(), share.unknown_names.end(), name);
    if (at == share.unknown_names.end())
      throw Error(ErrorCode::internal, "the whole model has no unknown '" + name + "'");
    whole_component.push_back(static_cast<int>(at - share.unknown_names.begin()));
  }
  std::vector<std::int64_t> global(static_cast<std::size_t>(model.equation_count()));
  const auto nodes = model.numbered_nodes();
  const auto first = model.first_equation();
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    const auto node = static_cast<std::size_t>(nodes[k]);
    const UnknownSet all = share.unknowns[node];
    for (std::int32_t e = first[k]; e < first[k + 1]; ++e) {
      const int component = whole_component[static_cast<std::size_t>(model.component(k, e))];
      if (!all.has(component))
        throw Error(ErrorCode::internal, "the equation has no global number: " + model.equation_label(e));
      global[static_cast<std::size_t>(e)] = share.first_unknown[node] + all.slot(component);
    }
  }
  return global;
}

std::vector<std::int64_t> held_unknowns(const ProcessPart& part, std::size_t domain, const AnalysisModel& model) {
  const DomainShare& share = part.domains.at(domain);
  std::vector<char> has_elements(static_cast<std::size_t>(part.node_count()), 0);
  const Domain& local = *part.job.domains[domain];
  for (std::size_t b = 0; b < local.block_count(); ++b)
    for (const std::int32_t n : local.block(b).connectivity()) has_elements[static_cast<std::size_t>(n)] = 1;
  std::vector<char> named(has_elements.size(), 0);
  for (const ConstraintEquation& equation : local.equations())
    for (const ConstraintEquation::Term& term : equation.terms) named[static_cast<std::size_t>(term.node)] = 1;
  std::vector<std::int64_t> held;
  for (std::int32_t n = 0; n < part.node_count(); ++n) {
    const auto at = static_cast<std::size_t>(n);
    if (has_elements[at] || !named[at]) continue;
    for (int s = 0; s < share.unknowns[at].count(); ++s)
      if (model.equation(n, share.unknown_names[static_cast<std::size_t>(share.unknowns[at].unknown(s))]) < 0)
        held.push_back(share.first_unknown[at] + s);
  }
  return held;
}

}  // namespace voussoir
