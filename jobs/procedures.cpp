#include <voussoir/jobs/procedures.hpp>

namespace voussoir {
namespace {

Registry<ProcedureFactory>* make_procedure_table() {
  // Both solve K u = f; what differs between them is the model.
  const ProcedureFactory one_equation{
      [](const Domain& domain, std::shared_ptr<Backend> backend, const StaticOptions& options) {
        return make_static_analysis(domain, std::move(backend), options);
      }};
  auto* table = new Registry<ProcedureFactory>("procedure");
  table->add_built_in("static", "linear statics", one_equation);
  table->add_built_in("heat", "steady-state heat conduction", one_equation);
  return table;
}

// RegistryBase::all() lists it from the start.
[[maybe_unused]] const bool procedures_made = (procedures(), true);

}  // namespace

Registry<ProcedureFactory>& procedures() {
  // Made on first use, so that a user's static objects find the stock entries in place; never destroyed.
  static auto* const table = make_procedure_table();
  return *table;
}

std::string procedure_name(const JobStep& step) {
  if (!step.procedure_name.empty()) return step.procedure_name;
  return step.procedure == Procedure::steady_heat ? "heat" : "static";
}

}  // namespace voussoir
