#include <voussoir/solvers/cost/operator_choice.hpp>

#include <cmath>
#include <cstdio>

#include <voussoir/solvers/cost/model_shape.hpp>
#include <voussoir/solvers/registries.hpp>

namespace voussoir {
namespace {

/// Share of the assembled form's time below which the other form is preferred.
constexpr double clear_advantage = 0.9;

/// The preconditioner of a CG that needs products only; empty for other solvers.
std::string product_preconditioner(const std::string& solver) {
  const SolverName name = parse_solver_name(solver);
  if (name.solver.name != "cg") return "";
  const std::string p = name.preconditioner ? name.preconditioner->name : "block-jacobi";
  return p == "none" || p == "jacobi" || p == "block-jacobi" || p == "chebyshev" ? p : "";
}

/// Whether the model's elements are linear, symmetric, computed by kernels, and of measured types.
bool is_predictable(const Domain& domain, const MachineProfile& profile) {
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    const ElementBlock& block = domain.block(b);
    if (block.size() == 0) continue;
    const ElementProgram& program = block.type().program();
    if (!program.has_tangent() || !program.linear() || !program.symmetric() || program.route() == Route::host)
      return false;
    if (!profile.find(operations::of_type("product matrix-free", block.type_name())) ||
        !profile.find(operations::of_type("assemble", block.type_name())))
      return false;
  }
  return true;
}

std::string short_time(double seconds) {
  char text[32];
  const bool small = seconds < 0.1;
  std::snprintf(text, sizeof text, "%.3g %s", small ? 1e3 * seconds : seconds, small ? "ms" : "s");
  return text;
}

}  // namespace

OperatorChoice choose_operator(const Domain& domain, const CostModel& model, const std::string& solver,
                               OperatorForm assembled, double relative_tolerance) {
  const std::string preconditioner = product_preconditioner(solver);
  if (preconditioner.empty() || model.profile().is_assumption || !is_predictable(domain, model.profile())) return {};
  const ModelShape shape = model_shape(domain);
  const auto iterations = assumed_iterations(preconditioner, shape, relative_tolerance);
  if (!iterations) return {};
  // A Chebyshev polynomial of degree 4 multiplies four times more per iteration.
  const double products = preconditioner == "chebyshev" ? 5 : 1;
  const auto total = [&](OperatorForm form) -> std::optional<double> {
    const auto pattern = model.pattern(shape, form), assemble = model.assemble(shape, form);
    const auto product = model.product(shape, form), iteration = model.cg_iteration(shape, form);
    if (!pattern || !assemble || !product || !iteration) return std::nullopt;
    return *pattern + *assemble + iterations->iterations * (*iteration + (products - 1) * *product);
  };
  const auto stored = total(assembled), free = total(OperatorForm::matrix_free);
  if (!stored || !free) return {};
  char share[16];
  std::snprintf(share, sizeof share, "%.0f", iterations->iterations);
  const bool better = *free < clear_advantage * *stored;
  const std::string compared = "matrix-free " + short_time(*free) + ", " + to_string(assembled) + " " +
                               short_time(*stored) + " for " + share + " iterations, predicted by the profile of " +
                               model.profile().date;
  return {better ? "matrix-free" : "",
          (better ? std::string("matrix-free") : to_string(assembled)) + " (" + compared + ")"};
}

OperatorChoice choose_operator(const Domain& domain, const Backend& backend, const std::string& solver,
                               OperatorForm assembled, double relative_tolerance) {
  if (product_preconditioner(solver).empty()) return {};
  ProfileSearch found = find_profile(backend);
  if (!found.profile) return {};
  return choose_operator(domain, CostModel(std::move(*found.profile)), solver, assembled, relative_tolerance);
}

}  // namespace voussoir
