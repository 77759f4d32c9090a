#include <voussoir/solvers/amg/amg_preconditioner.hpp>
#include <voussoir/solvers/cg_solver.hpp>
#include <voussoir/solvers/direct_solver.hpp>
#include <voussoir/solvers/krylov/krylov_solver.hpp>
#include <voussoir/solvers/preconditioners/chebyshev.hpp>
#include <voussoir/solvers/preconditioners/fsai.hpp>
#include <voussoir/solvers/preconditioners/jacobi.hpp>
#include <voussoir/solvers/registries.hpp>
#include <voussoir/solvers/soe/element_soe.hpp>
#include <voussoir/solvers/soe/envelope_soe.hpp>

// The solvers, preconditioners and storages of the library. Help, completion, `voussoir info` and most tests take
// names, descriptions and options from these tables; CONTRIBUTING.md names the other places that a new entry concerns.

namespace voussoir {
namespace {

/// A preconditioner that may be kept in single precision.
template <class T>
PreconditionerFactory with_precision(const std::string& name) {
  return {[name](const std::string& options) -> std::shared_ptr<Preconditioner> {
            if (options.empty()) return std::make_shared<T>();
            if (options == "single") return std::make_shared<T>(Precision::single);
            throw Error(ErrorCode::bad_input, "there is no option '" + options + "'; there is single",
                        "preconditioner '" + name + "'");
          },
          {"single"}};
}

/// A preconditioner without options.
template <class T>
PreconditionerFactory plain_preconditioner(const std::string& name) {
  return {[name](const std::string& options) {
    refuse_options("preconditioner '" + name + "'", options);
    return std::make_shared<T>();
  }};
}

void add_stock(Registry<PreconditionerFactory>& table) {
  table.add_built_in("none", "no preconditioner", {[](const std::string& options) {
                       refuse_options("preconditioner 'none'", options);
                       return std::shared_ptr<Preconditioner>();
                     }});
  table.add_built_in("jacobi", "division by the diagonal", with_precision<JacobiPreconditioner>("jacobi"));
  table.add_built_in("block-jacobi", "inverse diagonal blocks, one per node; the default of cg",
                     with_precision<BlockJacobiPreconditioner>("block-jacobi"));
  table.add_built_in("chebyshev", "Chebyshev polynomial of the matrix: products only, for matrix-free storage",
                     plain_preconditioner<ChebyshevPreconditioner>("chebyshev"));
  table.add_built_in("fsai", "factorised sparse approximate inverse; needs a stored matrix",
                     plain_preconditioner<FsaiPreconditioner>("fsai"));
  table.add_built_in(
      "amg", "algebraic multigrid, the fastest on large models; options in docs/multigrid.md",
      {[](const std::string& options) { return std::make_shared<AmgPreconditioner>(AmgOptions::parse(options)); }});
}

std::shared_ptr<Solver> make_direct(const SolverSettings& settings) {
  const DirectMethod method = settings.options.empty() ? DirectMethod::automatic : direct_method(settings.options);
  return std::make_shared<DirectSolver>(method);
}

std::shared_ptr<Solver> make_cg(const SolverSettings& settings) {
  CgSolver::Options options;
  if (settings.options == "reductions=1")
    options.reductions = 1;
  else if (!settings.options.empty() && settings.options != "reductions=2")
    throw Error(ErrorCode::bad_input,
                "there is no option '" + settings.options + "'; there are reductions=1 and reductions=2",
                "solver 'cg'");
  options.relative_tolerance = settings.relative_tolerance;
  options.max_iterations = settings.max_iterations;
  return std::make_shared<CgSolver>(
      settings.preconditioner ? *settings.preconditioner : std::make_shared<BlockJacobiPreconditioner>(), options);
}

/// Iterations for matrices that need not be symmetric.
template <class T>
SolverFactory krylov_factory(const std::string& name) {
  return {[name](const SolverSettings& settings) {
            refuse_options("solver '" + name + "'", settings.options);
            KrylovSolver::Options options;
            options.relative_tolerance = settings.relative_tolerance;
            options.max_iterations = settings.max_iterations;
            return std::make_shared<T>(
                settings.preconditioner ? *settings.preconditioner : std::make_shared<BlockJacobiPreconditioner>(),
                options);
          },
          true};
}

void add_stock(Registry<SolverFactory>& table) {
  std::vector<std::string> methods;
  for (const DirectMethod method : direct_methods()) methods.emplace_back(to_string(method));
  table.add_built_in("direct", "factorisation by the best direct method of the build, or by the one named",
                     {make_direct, false, methods});
  table.add_built_in("cg", "conjugate gradients, for symmetric matrices", {make_cg, true});
  table.add_built_in("gmres", "restarted GMRES, for matrices that are not symmetric",
                     krylov_factory<GmresSolver>("gmres"));
  table.add_built_in("bicgstab", "BiCGSTAB, for matrices that are not symmetric; less memory than gmres",
                     krylov_factory<BicgstabSolver>("bicgstab"));
}

template <class T, auto... Arguments>
StorageFactory stock_storage(bool stores_matrix = true, bool is_envelope = false) {
  return {[] { return std::make_shared<T>(Arguments...); }, stores_matrix, is_envelope};
}

void add_stock(Registry<StorageFactory>& table) {
  table.add_built_in("csr", "sparse rows; fits every model", stock_storage<CsrSOE>());
  table.add_built_in("bsr", "sparse rows of blocks, one per pair of nodes; where all nodes have the same unknowns",
                     stock_storage<BsrSOE>());
  table.add_built_in("band", "a band on the host, for small and slender models", stock_storage<BandSOE>(true, true));
  table.add_built_in("profile", "a skyline on the host, for small and slender models",
                     stock_storage<ProfileSOE>(true, true));
  table.add_built_in("element", "element matrices; a product gathers at nodes",
                     stock_storage<ElementSOE, ElementProduct::gather>(false));
  table.add_built_in("element-scatter", "element matrices; a product scatters to nodes",
                     stock_storage<ElementSOE, ElementProduct::scatter>(false));
  table.add_built_in("point", "tangents at the integration points of the elements; other elements as matrices",
                     stock_storage<PointSOE>(false));
  table.add_built_in("matrix-free", "nothing is stored: elements are integrated in every product",
                     stock_storage<MatrixFreeSOE>(false));
}

/// Made on first use, so that a user's static objects find the stock entries in place; never destroyed.
template <class Factory>
Registry<Factory>* make_stock_table(const char* kind) {
  auto* table = new Registry<Factory>(kind);
  add_stock(*table);
  return table;
}

// RegistryBase::all() lists them from the start.
[[maybe_unused]] const bool stock_made = (preconditioners(), solvers(), storages(), true);

}  // namespace

Registry<PreconditionerFactory>& preconditioners() {
  static auto* const table = make_stock_table<PreconditionerFactory>("preconditioner");
  return *table;
}

Registry<SolverFactory>& solvers() {
  static auto* const table = make_stock_table<SolverFactory>("solver");
  return *table;
}

Registry<StorageFactory>& storages() {
  static auto* const table = make_stock_table<StorageFactory>("storage");
  return *table;
}

}  // namespace voussoir
