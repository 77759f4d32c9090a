#include <voussoir/engines/petsc/petsc_solver.hpp>

#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/engines/petsc/blas_threads.hpp>
#include <voussoir/engines/petsc/calls.hpp>
#include <voussoir/engines/petsc/free_motion_check.hpp>
#include <voussoir/engines/petsc/local_solver.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/solvers/direct/acceptance.hpp>

namespace voussoir::petsc {
namespace {

/// Up to this many unknowns, `auto` factorises.
constexpr std::int64_t direct_limit = 50000;
/// Iterations between two questions whether somebody wants to stop.
constexpr PetscInt question_interval = 10;
/// What to do where BDDC fails.
constexpr const char* bddc_advice =
    "; bddc needs parts that are connected through faces and have enough corners, which small models lack: use "
    "--engine petsc:mumps or petsc:gamg, or fewer processes";

std::string text_of_options(const Method& method) {
  std::string text;
  for (const auto& [name, value] : method.options)
    text += (text.empty() ? "" : " ") + name + (value.empty() ? "" : " ") + value;
  return text;
}

/// Returns the memory of matrices that were released to the system. The C library keeps it where MPI has asked for
/// that, and would not always find room for the next matrix in it.
void return_free_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

/// Whether a matrix has PETSc's type baij.
bool is_of_blocks(Mat matrix) {
  const char* type = nullptr;
  VSR_PETSC(MatGetType(matrix, &type));
  return type && std::string(type).find("baij") != std::string::npos;
}

}  // namespace

const std::vector<Method>& solver_methods() {
  static const std::vector<Method> methods{
      {"auto", "mumps up to 50 000 unknowns, gamg above; backend-cg without a stored matrix", {}},
      {"gamg",
       "conjugate gradients with PETSc's smoothed aggregation, GAMG",
       {{"-ksp_type", "cg"},
        {"-pc_type", "gamg"},
        {"-pc_gamg_type", "agg"},
        {"-pc_gamg_threshold", "0.01"},
        {"-pc_gamg_coarse_eq_limit", "1000"},
        {"-mg_levels_ksp_type", "chebyshev"},
        {"-mg_levels_ksp_max_it", "2"},
        {"-mg_levels_pc_type", "jacobi"}}},
      {"hypre",
       "conjugate gradients with BoomerAMG of hypre",
       {{"-ksp_type", "cg"},
        {"-pc_type", "hypre"},
        {"-pc_hypre_type", "boomeramg"},
        {"-pc_hypre_boomeramg_strong_threshold", "0.5"}}},
      {"bddc",
       "conjugate gradients with balancing domain decomposition by constraints, PCBDDC",
       {{"-ksp_type", "cg"},
        {"-pc_type", "bddc"},
        {"-pc_bddc_use_edges", "1"},
        {"-pc_bddc_use_faces", "1"},
        {"-pc_bddc_use_change_of_basis", "1"},
        {"-pc_bddc_use_change_on_faces", "1"},
        {"-pc_bddc_dirichlet_pc_type", "cholesky"},
        {"-pc_bddc_dirichlet_pc_factor_mat_solver_type", "mumps"},
        {"-pc_bddc_neumann_pc_type", "cholesky"},
        {"-pc_bddc_neumann_pc_factor_mat_solver_type", "mumps"}},
       true},
      {"asm",
       "conjugate gradients with additive Schwarz, PCASM, of overlapping parts that Voussoir factorises; one level",
       {{"-ksp_type", "cg"},
        {"-pc_type", "asm"},
        {"-pc_asm_type", "basic"},
        {"-pc_asm_overlap", "2"},
        {"-sub_ksp_type", "preonly"},
        {"-sub_pc_type", "voussoir"}}},
      {"mumps",
       "factorisation by MUMPS across the processes",
       {{"-ksp_type", "preonly"}, {"-pc_type", "cholesky"}, {"-pc_factor_mat_solver_type", "mumps"}},
       false,
       true},
      {"jacobi",
       "conjugate gradients with the diagonal; needs products only (--storage matrix-free)",
       {{"-ksp_type", "cg"}, {"-pc_type", "jacobi"}},
       false,
       false,
       true},
      {"backend-cg",
       "conjugate gradients with the diagonal by the backends of the processes: vectors stay on the GPUs; needs "
       "products (--storage matrix-free)",
       {},
       false,
       false,
       true,
       true}};
  return methods;
}

PetscSolver::PetscSolver(PetscEngine& engine, const EngineSettings& settings) : engine_(engine), settings_(settings) {
  std::string names;
  for (const Method& method : solver_methods()) {
    if (method.name == settings_.method) return;
    names += (names.empty() ? "" : ", ") + method.name;
  }
  throw Error(ErrorCode::not_found, "the engine petsc has no method '" + settings_.method + "'; it has " + names +
                                        ". Other methods of PETSc are reached by its options: --petsc \"-pc_type …\"");
}

PetscSolver::~PetscSolver() { release(); }

void PetscSolver::release() {
  KSPDestroy(&solver_);
  MatDestroy(&matrix_);
  VecDestroy(&b_);
  VecDestroy(&x_);
  VecDestroy(&rest_);
  products_.reset();
  backend_cg_.reset();
  system_.reset();
  if (default_test_) KSPConvergedDefaultDestroy(default_test_);
  default_test_ = nullptr;
}

std::string PetscSolver::automatic_method(const SystemShare& share) {
  if (share.product) {
    const std::string name = share.symmetric && !engine_.user_chooses_solver() ? "backend-cg" : "jacobi";
    why_ = name + ", since no matrix is stored";
    if (name == "jacobi") why_ += share.symmetric ? " and PETSc has options" : " and the system is unsymmetric";
    return name;
  }
  const bool small = share.size <= direct_limit;
  const std::string name = small ? "mumps" : "gamg";
  why_ = name + ", since " + std::to_string(share.size) + " unknowns are " + (small ? "at most " : "more than ") +
         std::to_string(direct_limit);
  return name;
}

void PetscSolver::choose(const SystemShare& share) {
  why_.clear();
  const std::string name = settings_.method == "auto" ? automatic_method(share) : settings_.method;
  method_ = &*std::find_if(solver_methods().begin(), solver_methods().end(),
                           [&](const Method& method) { return method.name == name; });
  require_products(share);
  auto options = method_->options;
  if (!share.symmetric) {
    if (method_->unassembled)
      throw Error(ErrorCode::unavailable, "the matrix is not symmetric, and bddc is for symmetric ones; use mumps");
    for (auto& [option, value] : options) {
      if (option == "-ksp_type" && value == "cg") value = "gmres";
      if (option == "-pc_type" && value == "cholesky") value = "lu";
    }
  }
  engine_.set_starting_options(options);
}

void PetscSolver::require_products(const SystemShare& share) const {
  std::string text;
  if (share.product && !method_->products)
    text = "needs a stored matrix, and storage '" + settings_.storage +
           "' has none; use --engine petsc:jacobi, or leave out --storage";
  if (method_->on_backends && !share.product)
    text = "needs products without a stored matrix; add --storage matrix-free, or use --engine petsc:jacobi";
  if (method_->on_backends && !share.symmetric) text = "is for symmetric matrices; use --engine petsc:jacobi";
  if (!text.empty()) throw SharedError(Error(ErrorCode::bad_input, "the method " + method_->name + " " + text), 0);
}

void PetscSolver::set_system(SystemShare share) {
  const Stopwatch watch;
  release();
  return_free_memory();
  choose(share);
  if (!method_->direct) refuse_free_motion(engine_.communicator(), share);
  if (method_->on_backends)
    backend_cg_ = std::make_unique<BackendCg>(engine_, share);
  else
    set_petsc_system(std::move(share));
  setup_seconds_ = watch.seconds();
}

void PetscSolver::set_petsc_system(SystemShare share) {
  system_ = std::make_unique<PetscSystem>(engine_.communicator(), share);
  b_ = system_->make_vector();
  x_ = system_->make_vector();
  rest_ = system_->make_vector();
  free_ = share.free;
  set_local_backend(share.backend);
  if (share.product) products_ = std::make_unique<ProductMatrix>(engine_.communicator(), *system_, share);
  matrix_ = products_              ? products_->matrix()
            : method_->unassembled ? system_->keep_parts(share)
                                   : system_->assemble(share, std::move(share.matrix), Diagonal::stiff,
                                                       method_->direct ? FixedEntries::diagonal : FixedEntries::blocks);
  if (share.symmetric) VSR_PETSC(MatSetOption(matrix_, MAT_SYMMETRIC, PETSC_TRUE));
  // MUMPS looks for zero pivots in an indefinite factorisation only; PETSc's baij does not support the option.
  if (share.symmetric && !method_->direct && !is_of_blocks(matrix_))
    VSR_PETSC(MatSetOption(matrix_, MAT_SPD, PETSC_TRUE));
  if (!method_->direct && !products_) system_->add_motions(share, matrix_);
  share = {};  // PETSc has its own
  return_free_memory();
  make_solver();
  set_up();
}

void PetscSolver::make_solver() {
  VSR_PETSC(KSPCreate(engine_.communicator(), &solver_));
  VSR_PETSC(KSPSetOperators(solver_, matrix_, matrix_));
  VSR_PETSC(KSPSetErrorIfNotConverged(solver_, PETSC_FALSE));
  VSR_PETSC(KSPSetTolerances(solver_, settings_.relative_tolerance, 0.0, 1e10, settings_.max_iterations));
  if (!method_->direct) VSR_PETSC(KSPSetNormType(solver_, KSP_NORM_UNPRECONDITIONED));
  VSR_PETSC(KSPConvergedDefaultCreate(&default_test_));
  VSR_PETSC(KSPSetConvergenceTest(solver_, test, this, nullptr));
  VSR_PETSC(KSPSetFromOptions(solver_));
  PC preconditioner = nullptr;
  const char* kind = nullptr;
  VSR_PETSC(KSPGetPC(solver_, &preconditioner));
  VSR_PETSC(PCGetType(preconditioner, &kind));
  if (kind && std::string(kind) == PCGAMG && is_of_blocks(matrix_))
    throw SharedError(Error(ErrorCode::bad_input,
                            "PETSc's gamg does not work with matrices of type baij; leave out -mat_type, or use "
                            "another method, such as jacobi, asm or hypre"),
                      0);
}

void PetscSolver::set_up() {
  fault_.clear();
  negative_pivots_ = 0;
  PC preconditioner = nullptr;
  VSR_PETSC(KSPGetPC(solver_, &preconditioner));
  MatSolverType package = nullptr;
  const char* kind = nullptr;
  VSR_PETSC(PCGetType(preconditioner, &kind));
  const bool factorises = kind && (std::string(kind) == PCCHOLESKY || std::string(kind) == PCLU);
  if (factorises) VSR_PETSC(PCFactorGetMatSolverType(preconditioner, &package));
  const char* krylov = nullptr;
  VSR_PETSC(KSPGetType(solver_, &krylov));
  direct_ = factorises && krylov && std::string(krylov) == KSPPREONLY;  // options may have changed the method
  const bool by_mumps = package && std::string(package) == MATSOLVERMUMPS;
  Mat factor = nullptr;
  if (by_mumps) {
    VSR_PETSC(PCFactorSetUpMatSolverType(preconditioner));
    VSR_PETSC(PCFactorGetMatrix(preconditioner, &factor));
    VSR_PETSC(MatMumpsSetIcntl(factor, 24, 1));  // zero pivots are counted rather than divided by
  }
  try {
    VSR_PETSC(KSPSetUp(solver_));
  } catch (const Error& error) {
    if (!method_->unassembled || error.code() != ErrorCode::unavailable) throw;
    throw Error(error.code(), error.text() + bddc_advice, error.where());
  }
  if (!by_mumps) return;
  PetscInt state = 0, detail = 0, zero_pivots = 0;
  VSR_PETSC(PCFactorGetMatrix(preconditioner, &factor));
  VSR_PETSC(MatMumpsGetInfog(factor, 1, &state));
  VSR_PETSC(MatMumpsGetInfog(factor, 2, &detail));
  VSR_PETSC(MatMumpsGetInfog(factor, 28, &zero_pivots));
  if (std::string(kind) == PCCHOLESKY) VSR_PETSC(MatMumpsGetInfog(factor, 12, &negative_pivots_));
  if (state == -9 || state == -13 || state == -19)
    throw Error(ErrorCode::out_of_memory, "MUMPS has too little memory for the factor (INFOG(1) = " +
                                              std::to_string(state) + "); use more machines, or the method gamg");
  if (state < 0)
    fault_ = "MUMPS failed with INFOG(1) = " + std::to_string(state) + ", INFOG(2) = " + std::to_string(detail);
  else if (zero_pivots > 0)
    fault_ = "MUMPS has found " + std::to_string(zero_pivots) + (zero_pivots == 1 ? " zero pivot" : " zero pivots") +
             ": the model has a mechanism or a free motion";
}

PetscErrorCode PetscSolver::test(KSP solver, PetscInt iteration, PetscReal norm, KSPConvergedReason* reason,
                                 void* pointer) {
  auto* const self = static_cast<PetscSolver*>(pointer);
  const PetscErrorCode code = KSPConvergedDefault(solver, iteration, norm, reason, self->default_test_);
  if (code) return code;
  if (iteration == 0) self->first_norm_ = norm;
  const double relative = self->first_norm_ > 0 ? norm / self->first_norm_ : norm;
  self->history_.push_back(relative);
  if (*reason != KSP_CONVERGED_ITERATING || iteration % question_interval != 0) return 0;
  bool stops = false;
  const PetscErrorCode asked = self->engine_.ask_to_stop(self->progress, iteration, relative, stops);
  if (stops) {
    self->cancelled_ = true;
    *reason = KSP_DIVERGED_BREAKDOWN;
  }
  return asked;
}

double PetscSolver::residual() {
  double load = 0, left = 0;
  VSR_PETSC(VecNorm(b_, NORM_2, &load));
  VSR_PETSC(MatMult(matrix_, x_, rest_));
  VSR_PETSC(VecAYPX(rest_, -1.0, b_));
  VSR_PETSC(VecNorm(rest_, NORM_2, &left));
  return load > 0 ? left / load : left;
}

void PetscSolver::judge(SolveReport& report) {
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  VSR_PETSC(KSPGetConvergedReason(solver_, &reason));
  report.converged = reason > 0;
  report.not_positive_definite = reason == KSP_DIVERGED_INDEFINITE_MAT || reason == KSP_DIVERGED_INDEFINITE_PC;
  const char* words = nullptr;
  VSR_PETSC(KSPGetConvergedReasonString(solver_, &words));
  report.reason = report.converged ? "converged" : std::string("PETSc reports ") + (words ? words : "nothing");
  if (report.not_positive_definite && method_->unassembled) report.reason += bddc_advice;
  require_small_residual(report);
}

/// A method that does not look at residuals may call anything converged.
void PetscSolver::require_small_residual(SolveReport& report) const {
  const double most = std::max(small_residual, 100 * settings_.relative_tolerance);
  if (!report.converged || report.true_residual <= most) return;
  report.converged = false;
  report.reason = std::isfinite(report.true_residual)
                      ? "the true relative residual is " + short_number(report.true_residual, 3)
                      : "the solution is not finite";
}

SolveReport PetscSolver::solve_on_backends(std::span<const double> b, std::span<double> x) {
  SolveReport report =
      backend_cg_->solve(b, x, {settings_.relative_tolerance, settings_.max_iterations, starts_from_x, progress});
  report.solver = "cg+jacobi on the backends of the processes";
  report.choice = why_;
  report.setup_seconds = setup_seconds_;
  setup_seconds_ = 0;  // counts once
  require_small_residual(report);
  return report;
}

SolveReport PetscSolver::solve(std::span<const double> b, std::span<double> x) {
  if (backend_cg_) return solve_on_backends(b, x);
  if (!solver_) throw Error(ErrorCode::misuse, "there is no system to solve; call set_system() first");
  SolveReport report;
  const char *krylov = nullptr, *preconditioner = nullptr;
  PC pc = nullptr;
  VSR_PETSC(KSPGetPC(solver_, &pc));
  VSR_PETSC(KSPGetType(solver_, &krylov));
  VSR_PETSC(PCGetType(pc, &preconditioner));
  report.solver = "petsc, " + std::string(krylov ? krylov : "") + "+" + (preconditioner ? preconditioner : "none");
  if (direct_) {
    MatSolverType package = nullptr;
    VSR_PETSC(PCFactorGetMatSolverType(pc, &package));
    const std::string by = package ? package : "petsc";
    report.solver = "petsc, direct, " + (by == MATSOLVERMUMPS ? std::string("MUMPS") : by);
  }
  report.choice = why_;
  report.preconditioner = text_of_options(*method_);
  report.setup_seconds = setup_seconds_;
  setup_seconds_ = 0;  // counts once
  if (!fault_.empty()) {
    report.not_positive_definite = true;
    report.reason = fault_;
    return report;
  }
  const Stopwatch watch;
  const BlasThreads threads(direct_ ? engine_.processors() : 1);  // iterations need it for vectors only
  std::vector<double> local(b.begin(), b.end());
  for (std::size_t e = 0; e < local.size(); ++e)
    if (!free_[e]) local[e] = 0;
  system_->to_global(local, ADD_VALUES, b_);
  const bool starts_from_x_now = starts_from_x && !direct_;
  if (starts_from_x_now) {
    std::copy(x.begin(), x.end(), local.begin());
    for (std::size_t e = 0; e < local.size(); ++e)
      if (!free_[e]) local[e] = 0;
    system_->to_global(local, INSERT_VALUES, x_);
  } else {
    VSR_PETSC(VecSet(x_, 0.0));
  }
  history_.clear();
  cancelled_ = false;
  VSR_PETSC(KSPSetInitialGuessNonzero(solver_, starts_from_x_now ? PETSC_TRUE : PETSC_FALSE));
  VSR_PETSC(KSPSolve(solver_, b_, x_));
  if (cancelled_) throw SharedError(Error(ErrorCode::cancelled, "cancelled while the system was solved"), 0);
  PetscInt iterations = 0;
  VSR_PETSC(KSPGetIterationNumber(solver_, &iterations));
  report.iterations = direct_ ? 0 : static_cast<int>(iterations);
  report.history = history_;
  report.true_residual = residual();
  judge(report);
  if (negative_pivots_ > 0)
    report.note = "the matrix has " + std::to_string(negative_pivots_) +
                  (negative_pivots_ == 1 ? " negative eigenvalue" : " negative eigenvalues");
  if (direct_ && report.true_residual > small_residual && std::isfinite(report.true_residual)) refine(report);
  system_->to_local(x_, x);
  report.solve_seconds = watch.seconds();
  return report;
}

void PetscSolver::refine(SolveReport& report) {
  const Acceptance acceptance = check_solution([&] { return residual(); },
                                               [&] {
                                                 Vec correction = nullptr;
                                                 VSR_PETSC(VecDuplicate(x_, &correction));
                                                 residual();
                                                 VSR_PETSC(KSPSolve(solver_, rest_, correction));
                                                 double moved = 0, size = 0;
                                                 VSR_PETSC(VecAXPY(x_, 1.0, correction));
                                                 VSR_PETSC(VecNorm(correction, NORM_2, &moved));
                                                 VSR_PETSC(VecNorm(x_, NORM_2, &size));
                                                 VSR_PETSC(VecDestroy(&correction));
                                                 return moved > 0 ? moved / size : 0.0;
                                               });
  report.true_residual = acceptance.residual;
  report.converged = acceptance.accepted;
  report.reason = acceptance.accepted ? "factorised and solved to rounding accuracy"
                                      : "the matrix is too ill-conditioned for a direct solver; the usual cause is "
                                        "a mechanism, such as parts that are connected only by a hinge";
}

}  // namespace voussoir::petsc
