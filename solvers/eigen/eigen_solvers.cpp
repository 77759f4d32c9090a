#include <voussoir/solvers/eigen/eigen_solvers.hpp>

#include <voussoir/solvers/eigen/shift_invert_lanczos.hpp>
#include <voussoir/solvers/registries.hpp>

namespace voussoir {
namespace {

template <class T>
EigenSolverFactory plain_solver(const std::string& name) {
  return {[name](const std::string& options) {
    refuse_options("eigen-solver '" + name + "'", options);
    return std::make_shared<T>();
  }};
}

Registry<EigenSolverFactory>* make_table() {
  auto* table = new Registry<EigenSolverFactory>("eigen-solver");
  table->add_built_in("lanczos", "shift-invert block Lanczos with thick restarts; needs a factorisation",
                      plain_solver<ShiftInvertLanczos>("lanczos"));
  return table;
}

// RegistryBase::all() lists it from the start.
[[maybe_unused]] const bool table_made = (eigen_solvers(), true);

}  // namespace

Registry<EigenSolverFactory>& eigen_solvers() {
  static auto* const table = make_table();
  return *table;
}

std::shared_ptr<EigenSolver> make_eigen_solver(const std::string& name) {
  const std::size_t colon = name.find(':');
  const std::string options = colon == std::string::npos ? "" : name.substr(colon + 1);
  return eigen_solvers().find(name.substr(0, colon)).make(options);
}

std::unique_ptr<ModalAnalysis> make_modal_analysis(const Domain& domain, const ModalOptions& options) {
  auto backend = Backend::open(options.backend);
  backend->choose(options.work);
  return make_modal_analysis(domain, std::move(backend), options);
}

std::unique_ptr<ModalAnalysis> make_modal_analysis(const Domain& domain, std::shared_ptr<Backend> backend,
                                                   const ModalOptions& options) {
  Analysis::Collaborators c;
  c.backend = std::move(backend);
  if (options.constraints == "elimination")
    c.handler = std::make_shared<EliminationHandler>();
  else if (options.constraints != "transformation")
    throw Error(ErrorCode::bad_input, "a modal analysis takes the constraint handlers transformation and elimination; "
                                      "penalty springs would add frequencies of their own",
                "constraint handler '" + options.constraints + "'");
  auto analysis = std::make_unique<ModalAnalysis>(domain, std::move(c), make_eigen_solver(options.solver));
  analysis->set_mass_kind(options.mass);
  return analysis;
}

}  // namespace voussoir
