#include <voussoir/solvers/detail/tangent_choice.hpp>

#include <vector>

#include <voussoir/backends/spelling.hpp>
#include <voussoir/framework/model/analysis_model.hpp>
#include <voussoir/solvers/registries.hpp>

namespace voussoir::detail {
namespace {

/// Why the full tangent is not used by a named solver and storage; empty where it can be.
std::string solver_obstacle(const StaticOptions& options) {
  if (options.storage != "auto" && storages().find(options.storage).is_envelope)
    return "storage '" + options.storage + "' keeps half a matrix";
  if (options.storage == "matrix-free") return "products without a matrix would compute the full tangent every time";
  if (options.solver == "auto") return {};
  const SolverName name = parse_solver_name(options.solver);
  const std::string &solver = name.solver.name, &method = name.solver.options;
  const std::string obstacle = "solver '" + options.solver + "' is not known to solve unsymmetric systems";
  if (solver == "direct") return method.empty() || method == "mumps" || method == "eigen" ? "" : obstacle;
  if (solver != "gmres" && solver != "bicgstab") return obstacle;
  if (!name.preconditioner) return {};
  const auto preconditioner = preconditioners().find(name.preconditioner->name).make(name.preconditioner->options);
  return preconditioner && preconditioner->needs_symmetry() ? obstacle : "";
}

/// Why a factorisation of a whole matrix would take too long; empty where none is made or it is quick. Where `auto`
/// finds no stored matrix it iterates in any case, and faster where the matrix is symmetric.
std::string size_obstacle(const StaticOptions& options, std::int64_t equations, std::int64_t limit) {
  const bool by_name = options.solver != "auto";
  if (by_name && parse_solver_name(options.solver).solver.name != "direct") return {};
  if (!by_name && options.storage != "auto" && !storages().find(options.storage).stores_matrix)
    return "storage '" + options.storage + "' stores no matrix to factorise";
  if (equations <= limit) return {};
  return std::to_string(equations) + " unknowns are too many for a quick LU factorisation (up to " +
         std::to_string(limit) + ")";
}

/// Why the model itself speaks against full tangents.
std::string model_obstacle(const Domain& domain, const Backend& backend) {
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    const ElementBlock& block = domain.block(b);
    if (block.size() == 0) continue;
    const ElementProgram& program = block.type().program();
    const auto names = program.unknown_names();
    if (names.size() != 1 || names[0] != "T") return "the model has other unknowns beside temperature";
    if (program.history_count() > 0) return "elements have a history";
    if (has_full_tangent(block) && full_tangent_route(block, backend) != Route::native)
      return "backend '" + backend.name() + "' has no kernels of full tangents";
  }
  return {};
}

bool any_full_tangent(const Domain& domain) {
  for (std::size_t b = 0; b < domain.block_count(); ++b)
    if (has_full_tangent(domain.block(b))) return true;
  return false;
}

}  // namespace

TangentChoice choose_tangent(const Domain& domain, const StaticOptions& options, const Backend& backend,
                             std::int64_t equations, std::int64_t limit) {
  const std::string& asked = options.tangent;
  if (asked != "auto" && asked != "full" && asked != "symmetric") {
    const std::vector<std::string> names{"auto", "full", "symmetric"};
    const std::string near = nearest_name(asked, names);
    throw Error(ErrorCode::not_found,
                "there is no tangent of this name; " + (near.empty() ? "" : "did you mean '" + near + "'? ") +
                    "There are auto, full, symmetric",
                "tangent '" + asked + "'");
  }
  if (!any_full_tangent(domain)) return {};
  if (asked != "auto") return {asked == "full", false, asked + " tangent, as requested"};
  std::string obstacle = solver_obstacle(options);
  if (obstacle.empty()) obstacle = size_obstacle(options, equations, limit);
  if (obstacle.empty()) obstacle = model_obstacle(domain, backend);
  if (!obstacle.empty()) return {false, false, "symmetric tangent, since " + obstacle};
  return {true, true, "full tangent, since elements depend on the unknown temperature"};
}

}  // namespace voussoir::detail
