#include <voussoir/partition/schwarz.hpp>
#include <voussoir/partition/substructuring.hpp>
#include <voussoir/solvers/registries.hpp>

// The methods of domain decomposition by name: preconditioners for cg and gmres, and the solver schur.

namespace voussoir {
namespace {

template <class T>
PreconditionerFactory schwarz_factory(const std::string& name, SchwarzKind kind, bool two_levels) {
  return {[=](const std::string& options) -> std::shared_ptr<Preconditioner> {
            const std::string where = "preconditioner '" + name + "'";
            const auto choice =
                two_levels ? DecompositionOptions::parse(
                                 options, {"parts", "cut", "overlap", "solver", "coarse", "threshold"}, where)
                           : DecompositionOptions::parse(options, {"parts", "cut", "overlap", "solver"}, where);
            return std::make_shared<T>(name, choice, SchwarzOperator::Options{kind, 1, two_levels, "direct"});
          },
          two_levels ? std::vector<std::string>{"coarse=geneo"} : std::vector<std::string>{}};
}

PreconditionerFactory substructuring_factory(const std::string& name) {
  return {[=](const std::string& options) -> std::shared_ptr<Preconditioner> {
            auto choice =
                name == "bddc"
                    ? DecompositionOptions::parse(options, {"parts", "cut", "solver", "interior", "weights", "primal"},
                                                  "preconditioner 'bddc'")
                    : DecompositionOptions::parse(options, {"parts", "cut", "solver", "interior", "weights"},
                                                  "preconditioner '" + name + "'");
            choice.interface_preconditioner = name;
            return std::make_shared<SubstructuringPreconditioner>(choice);
          },
          {}};
}

std::shared_ptr<Solver> make_schur(const SolverSettings& settings) {
  const auto choice = DecompositionOptions::parse(
      settings.options, {"parts", "cut", "solver", "interior", "schur", "weights", "primal", "with"}, "solver 'schur'");
  return std::make_shared<SchurSolver>(choice,
                                       SchurSolver::Options{settings.relative_tolerance, settings.max_iterations});
}

std::shared_ptr<Solver> make_feti_dp(const SolverSettings& settings) {
  auto choice = DecompositionOptions::parse(
      settings.options, {"parts", "cut", "solver", "interior", "weights", "primal"}, "solver 'feti-dp'");
  choice.interface_preconditioner = "feti-dp";
  return std::make_shared<SchurSolver>(choice,
                                       SchurSolver::Options{settings.relative_tolerance, settings.max_iterations});
}

bool add_decomposition_methods() {
  auto& table = preconditioners();
  table.add_built_in(
      "asm", "additive Schwarz on overlapping parts, one level; with gmres and bicgstab also for unsymmetric matrices",
      schwarz_factory<SchwarzPreconditioner>("asm", SchwarzKind::additive, false));
  table.add_built_in("asm2", "additive Schwarz with the rigid motions of each part as second level; matrices as of asm",
                     schwarz_factory<SchwarzPreconditioner>("asm2", SchwarzKind::additive, true));
  table.add_built_in(
      "ras", "restricted additive Schwarz, one level; for gmres and bicgstab, symmetric or unsymmetric matrices",
      schwarz_factory<RestrictedSchwarzPreconditioner>("ras", SchwarzKind::restricted, false));
  table.add_built_in("ras2", "restricted additive Schwarz with two levels; for gmres and bicgstab, matrices as of ras",
                     schwarz_factory<RestrictedSchwarzPreconditioner>("ras2", SchwarzKind::restricted, true));
  table.add_built_in("msm", "multiplicative Schwarz, parts forwards and backwards, one level; matrices as of asm",
                     schwarz_factory<SchwarzPreconditioner>("msm", SchwarzKind::multiplicative, false));
  table.add_built_in("msm2",
                     "multiplicative Schwarz, parts forwards and backwards, with two levels; matrices as of asm",
                     schwarz_factory<SchwarzPreconditioner>("msm2", SchwarzKind::multiplicative, true));
  table.add_built_in("bddc", "balancing domain decomposition by constraints; for linear models",
                     substructuring_factory("bddc"));
  table.add_built_in("nn", "balancing Neumann-Neumann; for linear models", substructuring_factory("nn"));
  solvers().add_built_in("schur", "substructures with conjugate gradients on the interface; for linear models",
                         {make_schur, false, {"with=bddc", "with=nn", "with=jacobi"}});
  solvers().add_built_in("feti-dp", "substructures joined by Lagrange multipliers; for linear models",
                         {make_feti_dp, false, {}});
  return true;
}

[[maybe_unused]] const bool decomposition_methods_added = add_decomposition_methods();

}  // namespace
}  // namespace voussoir
