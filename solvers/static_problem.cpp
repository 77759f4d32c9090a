#include <voussoir/solvers/static_problem.hpp>

#include <algorithm>

#include <voussoir/backends/multigrid.hpp>
#include <voussoir/backends/spelling.hpp>
#include <voussoir/framework/domain/node_unknowns.hpp>
#include <voussoir/solvers/cg_solver.hpp>
#include <voussoir/solvers/cost/choice_reason.hpp>
#include <voussoir/solvers/cost/operator_choice.hpp>
#include <voussoir/solvers/detail/elimination_effort.hpp>
#include <voussoir/solvers/detail/tangent_choice.hpp>
#include <voussoir/solvers/numbering.hpp>
#include <voussoir/solvers/preconditioners/unsymmetric.hpp>
#include <voussoir/solvers/registries.hpp>

namespace voussoir {
namespace {

/// The choice of that name among those of an option.
template <class T>
T named_choice(const std::string& kind, const std::string& name,
               const std::vector<std::pair<std::string, T>>& choices) {
  std::vector<std::string> known;
  for (const auto& [other, value] : choices) {
    if (name == other) return value;
    known.push_back(other);
  }
  const std::string near = nearest_name(name, known);
  std::string text = "there is no " + kind + " of this name; ";
  text += near.empty() ? "there are " : "did you mean '" + near + "'? There are ";
  for (std::size_t i = 0; i < known.size(); ++i) text += (i ? ", " : "") + known[i];
  throw Error(ErrorCode::not_found, text, kind + " '" + name + "'");
}

/// Says in its report why it was chosen.
class ChosenSolver final : public Solver {
 public:
  ChosenSolver(std::shared_ptr<Solver> solver, std::string why) : solver_(std::move(solver)), why_(std::move(why)) {}
  std::string name() const override { return solver_->name(); }
  bool finds_mechanisms() const override { return solver_->finds_mechanisms(); }
  SolveReport solve(LinearSOE& soe) override {
    solver_->progress = progress;
    SolveReport report = solver_->solve(soe);
    report.choice = why_ + (report.choice.empty() ? "" : "; " + report.choice);
    return report;
  }
  const std::string& why() const { return why_; }

 private:
  std::shared_ptr<Solver> solver_;
  std::string why_;
};

/// Iterations of multigrid before a direct solver is tried instead: a number and not a time, so that every run takes
/// the same decision.
constexpr int patient_iterations = 250;

/// Multigrid CG with a direct solver as fallback, for models that are small enough for either.
class IteratingSolver final : public Solver {
 public:
  IteratingSolver(std::shared_ptr<Solver> iteration, std::shared_ptr<Solver> elimination)
      : iteration_(std::move(iteration)), elimination_(std::move(elimination)) {
    // What makes an iteration fail is found by the direct solver, and sooner.
    if (const auto cg = std::dynamic_pointer_cast<CgSolver>(iteration_)) cg->options().search_free_motions = false;
  }
  std::string name() const override { return iteration_->name(); }
  SolveReport solve(LinearSOE& soe) override {
    bool cancelled = false;
    iteration_->progress = [&](int iteration, double residual) {
      cancelled = progress && !progress(iteration, residual);
      return !cancelled;
    };
    std::string what;  // the failure of the iterative solver
    try {
      SolveReport first = iteration_->solve(soe);
      iteration_->progress = nullptr;  // it captures a local variable
      if (first.converged || cancelled || !first.free_motions.empty()) return first;
      what = first.solver + " did not converge, " + first.reason;
    } catch (const Error& error) {
      iteration_->progress = nullptr;
      // Setting up may find that the matrix is not positive definite, or run out of memory. A direct solver diagnoses
      // the first better and may need less memory. Where a node is named there is nothing more to learn.
      if ((error.code() != ErrorCode::singular && error.code() != ErrorCode::out_of_memory) || !error.where().empty())
        throw;
      what = iteration_->name() + " could not be set up, " + error.text();
    }
    SolveReport second;
    try {
      second = elimination_->solve(soe);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::out_of_memory) throw;
      throw Error(ErrorCode::out_of_memory,
                  what + "; and there is not enough memory for a direct solver instead: " + other_ways(),
                  error.where());
    }
    second.choice = what + ", so a direct solver was used" + (second.choice.empty() ? "" : "; " + second.choice);
    if (!second.converged && second.advice.empty())
      second.advice = "Before that, " + what +
                      ". Look for weakly restrained parts and for large stiffness ratios, or " + other_ways();
    return second;
  }

 private:
  static std::string other_ways() {
    return "try cg+fsai or cg+block-jacobi, which need many iterations and little memory, or a coarser mesh";
  }

  std::shared_ptr<Solver> iteration_, elimination_;
};

/// What decides between elimination and iteration: the number of unknowns and the shape of the mesh. Multigrid is
/// the faster from some thousand unknowns on (docs/multigrid.md), but elimination is insensitive to the condition
/// of the matrix, so it is used as long as it costs a second or two. The factor of a plane mesh grows like n log n, of
/// a solid one like n^(4/3), so that compact solids leave it much earlier than plane ones, thin plates, tubes and long
/// beams, on which iterations are slow besides.
struct Size {
  std::int64_t equations = 0;
  int dimension = 0;
  bool uniform = true;
  bool symmetric = true;
  bool slender = false;  // trusses, beams, springs: badly conditioned, and small
};

Size size_of(const Domain& domain) {
  Size s;
  const std::vector<UnknownSet> unknowns = node_unknowns(domain).of_node;
  std::vector<std::uint8_t> slender(domain.node_count(), 0);
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    const ElementBlock& block = domain.block(b);
    const auto& program = block.type().program();
    if (block.size() > 0 && program.has_tangent() && !program.symmetric()) s.symmetric = false;
    const std::string& shape = block.type().shape();
    const bool solid = shape.starts_with("hex") || shape.starts_with("tet") || shape.starts_with("wedge");
    const bool plane = shape.starts_with("quad") || shape.starts_with("tri");
    s.dimension = std::max(s.dimension, solid ? 3 : plane ? 2 : 1);
    if (!solid && !plane)
      for (std::int32_t n : block.connectivity()) slender[n] = 1;
  }
  std::int64_t slender_nodes = 0, nodes = 0;
  for (std::size_t n = 0; n < unknowns.size(); ++n) {
    nodes += !unknowns[n].empty();
    slender_nodes += slender[n];
  }
  // A few springs or masses on a solid hardly affect convergence; a frame does.
  s.slender = slender_nodes * 20 > nodes;
  int first = 0;
  for (const UnknownSet set : unknowns) {
    const int c = set.count();
    s.equations += c;
    if (c && first && c != first) s.uniform = false;
    if (c) first = c;
  }
  constexpr int largest_block = 6;
  s.uniform = s.uniform && first <= largest_block;
  return s;
}

/// What `auto` stands for.
struct Choice {
  std::string solver, reason;
  bool can_eliminate = false;  ///< whether a direct solver is to follow where the iteration leads nowhere
};

/// Estimated effort (elimination_effort) that a direct solver handles in a few seconds: a cube of 20 000 unknowns has
/// twice as much.
constexpr double small_effort = 4e10;

/// Unknowns up to which a direct solver takes a second or two, whatever the shape.
std::int64_t direct_limit(const Size& size) { return size.dimension == 3 ? 20000 : 100000; }

Choice choose_symmetric(const Domain& domain, const Size& size, const StaticOptions& options, const Backend& backend) {
  const std::string shape = std::to_string(size.dimension) + "D mesh", n = std::to_string(size.equations) + " unknowns";
  const std::int64_t limit = direct_limit(size);
  if (size.slender) return {"direct", "trusses, beams and springs give matrices on which iterations converge slowly"};
  if (options.constraints == "penalty") return {"direct", "penalty springs give ill-conditioned matrices"};
  if (size.equations <= limit)
    return {"direct", n + " in a " + shape + " are factorised in seconds, whatever their condition number (up to " +
                          std::to_string(limit) + ")"};
  const bool moderate = size.equations <= 10 * limit;
  // Iterations on a GPU cost so little that they are tried first.
  const bool on_host = backend.memory(0)->shares_host_memory();
  if (moderate && on_host && detail::elimination_effort(domain) <= small_effort)
    return {"direct", n + " in a " + shape + " that is thin or long are factorised in seconds"};
  const bool multigrid = backend.find<MultigridServices>() != nullptr;
  return {
      multigrid ? "cg+amg" : "cg+block-jacobi",
      n + " in a " + shape + " exceed the range in which a direct solver is fastest (" + std::to_string(limit) + ")",
      multigrid && moderate};
}

Choice choose(const Domain& domain, const Size& size, const StaticOptions& options, const Backend& backend) {
  const std::string& storage = options.storage;
  const bool stored = storage == "auto" || storages().find(storage).stores_matrix;
  const std::string no_matrix = "storage '" + storage + "' stores no matrix to factorise";
  if (size.symmetric) {
    if (stored) return choose_symmetric(domain, size, options, backend);
    return {storage == "matrix-free" ? "cg+chebyshev" : "cg+block-jacobi", no_matrix};
  }
  const std::string unsymmetric = "the matrix is not symmetric and ";
  if (!stored) return {"gmres+block-jacobi", unsymmetric + no_matrix};
  const std::int64_t limit = direct_limit(size);
  const bool small = size.equations <= limit;
  return {small ? "direct" : "gmres+block-jacobi",
          unsymmetric + std::to_string(size.equations) + " unknowns" +
              (small ? " are factorised in seconds" : " are too many to factorise quickly") + " (up to " +
              std::to_string(limit) + ")"};
}

/// The storage that `auto` stands for. Where the user has measured the machine, the cost model may prefer products
/// without a matrix; `why` then tells both predictions.
std::string automatic_storage(const Domain& domain, const Size& size, const StaticOptions& options,
                              const Backend& backend, const std::string& solver, std::string& why) {
  const std::string stored = size.uniform ? "bsr" : "csr";
  if (!size.symmetric || size.slender || options.constraints == "penalty" || options.algorithm == "newton")
    return stored;
  const OperatorChoice choice = choose_operator(
      domain, backend, solver, size.uniform ? OperatorForm::bsr : OperatorForm::csr, options.relative_tolerance);
  if (!choice.reason.empty()) why += (why.empty() ? "" : "; ") + ("storage " + choice.reason);
  return choice.storage.empty() ? stored : choice.storage;
}

}  // namespace

namespace {

/// Whether a solver accepts a preconditioner: conjugate gradients need one that is symmetric. What cannot be made
/// without options is not judged.
bool fits_together(const SolverFactory& factory, const std::string& preconditioner) {
  try {
    const auto made = preconditioners().find(preconditioner).make("");
    if (!dynamic_cast<const UnsymmetricPreconditioner*>(made.get())) return true;
    SolverSettings settings;
    settings.preconditioner = made;
    return dynamic_cast<const CgSolver*>(factory.make(settings).get()) == nullptr;
  } catch (const Error&) {
    return true;
  }
}

}  // namespace

std::vector<std::string> solver_names() {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name, const std::vector<std::string>& proposed) {
    names.push_back(name);
    for (const std::string& options : proposed) names.push_back(name + ":" + options);
  };
  for (const std::string& solver : solvers().names()) {
    const SolverFactory& factory = solvers().find(solver);
    add(solver, factory.proposed);
    if (!factory.takes_preconditioner) continue;
    for (const std::string& p : preconditioners().names())
      if (fits_together(factory, p)) add(solver + "+" + p, preconditioners().find(p).proposed);
  }
  return names;
}

std::string choice_reason(const Solver& solver) {
  const auto* chosen = dynamic_cast<const ChosenSolver*>(&solver);
  return chosen ? chosen->why() : std::string();
}

std::vector<std::string> soe_names() { return storages().names(); }

std::shared_ptr<LinearSOE> make_soe(const std::string& name) { return storages().find(name).make(); }

std::shared_ptr<Solver> make_solver(const std::string& name, double relative_tolerance, int max_iterations) {
  const SolverName parsed = parse_solver_name(name);
  try {
    const SolverFactory& factory = solvers().find(parsed.solver.name);
    SolverSettings settings;
    settings.options = parsed.solver.options;
    settings.relative_tolerance = relative_tolerance;
    settings.max_iterations = max_iterations;
    if (parsed.preconditioner) {
      if (!factory.takes_preconditioner)
        throw Error(ErrorCode::bad_input, "it takes no preconditioner; remove '+" + parsed.preconditioner->name + "'");
      const auto& [p, options] = *parsed.preconditioner;
      settings.preconditioner = preconditioners().find(p).make(options);
    }
    return factory.make(settings);
  } catch (const Error& error) {
    // Whatever part of the name is wrong, the message begins with the whole of it.
    const std::string whole = "solver '" + name + "'";
    throw error.where() == whole ? error : Error(error.code(), error.what(), whole);
  }
}

std::unique_ptr<StaticAnalysis> make_static_analysis(const Domain& domain, const StaticOptions& options) {
  auto backend = Backend::open(options.backend);
  backend->choose(options.work);
  return make_static_analysis(domain, std::move(backend), options);
}

std::unique_ptr<StaticAnalysis> make_static_analysis(const Domain& domain, std::shared_ptr<Backend> backend,
                                                     const StaticOptions& options) {
  Analysis::Collaborators c;
  c.backend = std::move(backend);
  c.handler =
      named_choice<std::shared_ptr<ConstraintHandler>>("constraint handler", options.constraints,
                                                       {{"elimination", std::make_shared<EliminationHandler>()},
                                                        {"transformation", std::make_shared<TransformationHandler>()},
                                                        {"penalty", std::make_shared<PenaltyHandler>()}});

  Size size = size_of(domain);
  const detail::TangentChoice tangent =
      detail::choose_tangent(domain, options, *c.backend, size.equations, direct_limit(size));
  c.model.full_tangents = tangent.full;
  if (tangent.full) size.symmetric = false;
  std::string solver = options.solver, storage = options.storage, why;
  bool can_eliminate = false;  // where an iteration that was chosen here leads nowhere
  if (solver == "auto") {
    const Choice choice = choose(domain, size, options, *c.backend);
    solver = choice.solver;
    why = choice.solver + ", since " + choice.reason;
    can_eliminate = choice.can_eliminate;
  }
  for (const std::string& envelope : storages().names()) {
    if (!storages().find(envelope).is_envelope) continue;
    if (solver == "direct:" + envelope) {
      if (storage == "auto") storage = envelope;
      if (storage == envelope) solver = "direct";
    } else if (storage == envelope && solver.starts_with("direct:")) {
      throw Error(ErrorCode::bad_input,
                  "solver '" + solver + "' does not support storage '" + storage + "'; set one of them to auto");
    }
  }
  if (storage == "auto") storage = automatic_storage(domain, size, options, *c.backend, solver, why);
  c.soe = make_soe(storage);
  if (can_eliminate)
    c.solver = std::make_shared<IteratingSolver>(
        make_solver(solver, options.relative_tolerance, std::min(options.max_iterations, patient_iterations)),
        make_solver("direct"));
  else
    c.solver = make_solver(solver, options.relative_tolerance, options.max_iterations);
  if (!tangent.reason.empty()) why = tangent.reason + (why.empty() ? "" : "; " + why);
  if (!why.empty()) c.solver = std::make_shared<ChosenSolver>(c.solver, why);

  c.numberer = make_numberer(options.numbering, *c.backend, storages().find(storage).is_envelope);
  if (const auto algorithm =
          named_choice<std::shared_ptr<SolutionAlgorithm>>("algorithm", options.algorithm,
                                                           {{"auto", nullptr},
                                                            {"linear", std::make_shared<LinearAlgorithm>()},
                                                            {"newton", std::make_shared<NewtonRaphsonAlgorithm>()}}))
    c.algorithm = algorithm;
  auto analysis = std::make_unique<StaticAnalysis>(domain, std::move(c));
  analysis->set_symmetric_fallback(tangent.automatic);
  return analysis;
}

}  // namespace voussoir
