#include <voussoir/engines/petsc/petsc_modes.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/engines/petsc/calls.hpp>
#include <voussoir/engines/petsc/local_solver.hpp>
#include <voussoir/engines/petsc/petsc_solver.hpp>
#include <voussoir/framework/analysis/ritz_combination.hpp>

namespace voussoir::petsc {
namespace {

/// Eigenvalues above this multiple of the largest ratio of diagonals are those of unknowns without mass.
constexpr double infinite_ratio = 1e6;

using Options = std::vector<std::pair<std::string, std::string>>;

/// Options for modes by the name of a method.
Options options_for_modes(const std::string& method) {
  // A parallel root of the factorisation would not be counted (ICNTL(13)); zero pivots are detected (ICNTL(24)).
  if (method == "auto" || method == "mumps")
    return {{"-eps_type", "krylovschur"},
            {"-st_type", "sinvert"},
            {"-st_ksp_type", "preonly"},
            {"-st_pc_type", "cholesky"},
            {"-st_pc_factor_mat_solver_type", "mumps"},
            {"-st_mat_mumps_icntl_13", "1"},
            {"-st_mat_mumps_icntl_24", "1"}};
  if (method == "bddc" || method == "backend-cg")
    throw Error(ErrorCode::unavailable,
                "the method " + method + " of the engine petsc does not find modes; use mumps, gamg, hypre or asm");
  const auto known = std::find_if(solver_methods().begin(), solver_methods().end(),
                                  [&](const Method& entry) { return entry.name == method; });
  if (known == solver_methods().end())
    throw Error(ErrorCode::not_found, "the engine petsc has no method '" + method + "'");
  Options options{{"-eps_type", "krylovschur"}, {"-st_type", "sinvert"}, {"-st_ksp_rtol", "1e-12"}};
  for (const auto& [name, value] : known->options) options.emplace_back("-st_" + name.substr(1), value);
  return options;
}

std::string name_or_empty(const char* name) { return name ? name : ""; }

/// Throws where MUMPS had too little memory or failed. Returns the number of zero pivots.
PetscInt check_mumps(Mat factor) {
  PetscInt state = 0, detail = 0, zero_pivots = 0;
  VSR_PETSC(MatMumpsGetInfog(factor, 1, &state));
  VSR_PETSC(MatMumpsGetInfog(factor, 2, &detail));
  VSR_PETSC(MatMumpsGetInfog(factor, 28, &zero_pivots));
  if (state == -9 || state == -13 || state == -19)
    throw SharedError(Error(ErrorCode::out_of_memory,
                            "MUMPS has too little memory for the factor (INFOG(1) = " + std::to_string(state) +
                                "); use more machines, or the method gamg"),
                      0);
  if (state == -10) return std::max<PetscInt>(zero_pivots, 1);  // numerically singular
  if (state < 0)
    throw SharedError(Error(ErrorCode::unavailable, "MUMPS failed with INFOG(1) = " + std::to_string(state) +
                                                        ", INFOG(2) = " + std::to_string(detail)),
                      0);
  return zero_pivots;
}

PetscInt negative_pivots(Mat factor) {
  PetscInt count = 0;
  VSR_PETSC(MatMumpsGetInfog(factor, 12, &count));
  return count;
}

/// Destroys a matrix at the end of a block.
struct HeldMatrix {
  Mat matrix = nullptr;
  HeldMatrix() = default;
  HeldMatrix(const HeldMatrix&) = delete;
  HeldMatrix& operator=(const HeldMatrix&) = delete;
  ~HeldMatrix() { MatDestroy(&matrix); }
};

}  // namespace

PetscModes::PetscModes(PetscEngine& engine, const EngineSettings& settings)
    : engine_(engine), settings_(settings), starting_options_(options_for_modes(settings.method)) {}

PetscModes::~PetscModes() { release(); }

std::string PetscModes::options() const {
  std::string text;
  for (const auto& [name, value] : starting_options_) text += (text.empty() ? "" : " ") + name + " " + value;
  return text;
}

void PetscModes::release() {
  for (Vec& vector : vectors_) VecDestroy(&vector);
  vectors_.clear();
  values_.clear();
  for (Vec* vector : {&diagonal_, &scale_, &free_, &work_, &image_}) VecDestroy(vector);
  MatDestroy(&stiffness_);
  MatDestroy(&mass_);
  MatDestroy(&shifted_);
  system_.reset();
}

void PetscModes::set_system(EigenShare share) {
  release();
  engine_.set_starting_options(starting_options_);
  system_ = std::make_unique<PetscSystem>(engine_.communicator(), share.stiffness);
  set_local_backend(share.stiffness.backend);
  mean_mass_ = share.mean_mass;
  largest_ratio_ = share.largest_ratio;
  for (Vec* vector : {&diagonal_, &scale_, &free_, &work_, &image_}) *vector = system_->make_vector();
  const std::vector<double> flags(share.stiffness.free.begin(), share.stiffness.free.end());
  system_->to_global(flags, INSERT_VALUES, free_);
  system_->to_global(share.diagonal, INSERT_VALUES, diagonal_);
  system_->to_global(share.scale, INSERT_VALUES, scale_);
  for (Vec vector : {diagonal_, scale_}) {
    VSR_PETSC(VecPointwiseMult(vector, vector, free_));
    VSR_PETSC(VecScale(vector, 1 / mean_mass_));
  }
  stiffness_ = system_->assemble(share.stiffness, std::move(share.stiffness.matrix), Diagonal::stiff);
  VSR_PETSC(MatScale(stiffness_, 1 / mean_mass_));
  examine_options();
  mass_ = system_->assemble(share.stiffness, std::move(share.mass), inverts_ ? Diagonal::zero : Diagonal::stiff);
  VSR_PETSC(MatScale(mass_, 1 / mean_mass_));
  if (!inverts_) fill_mass_of_supports(share.largest_ratio);
  if (!factorises_) system_->add_motions(share.stiffness, stiffness_);
  // Not as positive definite: MUMPS looks for zero and negative pivots in an indefinite factorisation only.
  VSR_PETSC(MatSetOption(stiffness_, MAT_SYMMETRIC, PETSC_TRUE));
  VSR_PETSC(MatSetOption(mass_, MAT_SYMMETRIC, PETSC_TRUE));
}

/// Which kind of method the options make.
void PetscModes::examine_options() {
  Solver solver;
  VSR_PETSC(EPSCreate(engine_.communicator(), &solver.eps));
  VSR_PETSC(EPSSetOperators(solver.eps, stiffness_, stiffness_));
  VSR_PETSC(EPSSetProblemType(solver.eps, EPS_GHEP));
  VSR_PETSC(EPSSetFromOptions(solver.eps));
  ST transform = nullptr;
  KSP inner = nullptr;
  PC preconditioner = nullptr;
  VSR_PETSC(EPSGetST(solver.eps, &transform));
  VSR_PETSC(STGetKSP(transform, &inner));
  VSR_PETSC(KSPGetPC(inner, &preconditioner));
  const char *type = nullptr, *spectral = nullptr, *kind = nullptr, *krylov = nullptr;
  MatSolverType package = nullptr;
  VSR_PETSC(EPSGetType(solver.eps, &type));
  VSR_PETSC(STGetType(transform, &spectral));
  VSR_PETSC(KSPGetType(inner, &krylov));
  VSR_PETSC(PCGetType(preconditioner, &kind));
  const std::string pc = name_or_empty(kind);
  inverts_ = name_or_empty(spectral) == STSINVERT;
  if (!inverts_ && name_or_empty(spectral) != STPRECOND)
    throw SharedError(
        Error(ErrorCode::bad_input, "-st_type " + name_or_empty(spectral) +
                                        " does not lead to the lowest modes; use sinvert, or precond with "
                                        "a method that only needs a preconditioner (jd, gd, lobpcg)"),
        0);
  if (pc == PCCHOLESKY || pc == PCLU) VSR_PETSC(PCFactorGetMatSolverType(preconditioner, &package));
  factorises_ =
      inverts_ && pc == PCCHOLESKY && name_or_empty(package) == MATSOLVERMUMPS && name_or_empty(krylov) == KSPPREONLY;
  method_ = name_or_empty(type) + ", " +
            (factorises_ ? std::string("MUMPS")
                         : name_or_empty(spectral) + ", " + name_or_empty(krylov) + "+" + (pc.empty() ? "none" : pc));
}

/// Methods without a factorisation need a positive definite M: unknowns that are not free get eigenvalues far above all
/// others.
void PetscModes::fill_mass_of_supports(double largest_ratio) {
  VSR_PETSC(MatGetDiagonal(stiffness_, work_));
  VSR_PETSC(MatGetDiagonal(mass_, image_));
  PetscInt size = 0;
  VSR_PETSC(VecGetLocalSize(work_, &size));
  {
    Numbers k(work_), m(image_), is_free(free_);
    for (std::size_t i = 0; i < static_cast<std::size_t>(size); ++i)
      if (is_free[i] == 0) m[i] = k[i] / (1e3 * largest_ratio);
  }
  VSR_PETSC(MatDiagonalSet(mass_, image_, INSERT_VALUES));
}

std::optional<std::int64_t> PetscModes::count_below(double value) {
  HeldMatrix shifted, factor;
  VSR_PETSC(MatDuplicate(stiffness_, MAT_COPY_VALUES, &shifted.matrix));
  VSR_PETSC(MatAXPY(shifted.matrix, -value, mass_, SUBSET_NONZERO_PATTERN));
  VSR_PETSC(MatSetOption(shifted.matrix, MAT_SYMMETRIC, PETSC_TRUE));
  VSR_PETSC(MatGetFactor(shifted.matrix, MATSOLVERMUMPS, MAT_FACTOR_CHOLESKY, &factor.matrix));
  VSR_PETSC(MatMumpsSetIcntl(factor.matrix, 13, 1));
  VSR_PETSC(MatMumpsSetIcntl(factor.matrix, 24, 1));
  MatFactorInfo info;
  VSR_PETSC(MatFactorInfoInitialize(&info));
  VSR_PETSC(MatCholeskyFactorSymbolic(factor.matrix, shifted.matrix, nullptr, &info));
  VSR_PETSC(MatCholeskyFactorNumeric(factor.matrix, shifted.matrix, &info));
  ++factorisations_;
  if (check_mumps(factor.matrix) > 0) return std::nullopt;
  return negative_pivots(factor.matrix);
}

PetscErrorCode PetscModes::stop(EPS eps, PetscInt iteration, PetscInt most, PetscInt converged, PetscInt wanted,
                                EPSConvergedReason* reason, void* pointer) {
  auto* const self = static_cast<PetscModes*>(pointer);
  const PetscErrorCode code = EPSStoppingBasic(eps, iteration, most, converged, wanted, reason, nullptr);
  if (code || *reason != EPS_CONVERGED_ITERATING) return code;
  PetscReal estimate = 1;
  if (converged < wanted) EPSGetErrorEstimate(eps, converged, &estimate);
  bool stops = false;
  const PetscErrorCode asked = self->engine_.ask_to_stop(self->progress, iteration, estimate, stops);
  if (stops) {
    self->cancelled_ = true;
    *reason = EPS_CONVERGED_USER;
  }
  return asked;
}

/// Residuals of motions without stiffness are relative to the shift.
PetscErrorCode PetscModes::judge(EPS, PetscScalar value, PetscScalar, PetscReal residual, PetscReal* estimate,
                                 void* pointer) {
  const auto* const self = static_cast<const PetscModes*>(pointer);
  const double size = std::abs(value) + std::abs(self->shift_);
  *estimate = size > 0 ? residual / size : residual;
  return 0;
}

/// K − σM with what preconditioners need to know of it.
void PetscModes::form_shifted(ST transform, double shift) {
  VSR_PETSC(MatDestroy(&shifted_));
  VSR_PETSC(MatDuplicate(stiffness_, MAT_COPY_VALUES, &shifted_));
  VSR_PETSC(MatAXPY(shifted_, -shift, mass_, SUBSET_NONZERO_PATTERN));
  VSR_PETSC(MatSetOption(shifted_, MAT_SYMMETRIC, PETSC_TRUE));
  MatNullSpace motions = nullptr;
  VSR_PETSC(MatGetNearNullSpace(stiffness_, &motions));
  if (motions) VSR_PETSC(MatSetNearNullSpace(shifted_, motions));
  VSR_PETSC(STSetPreconditionerMat(transform, shifted_));
}

void PetscModes::make(Solver& solver, double shift, int want, double tolerance, int max_iterations) {
  VSR_PETSC(EPSCreate(engine_.communicator(), &solver.eps));
  VSR_PETSC(EPSSetOperators(solver.eps, stiffness_, mass_));
  VSR_PETSC(EPSSetProblemType(solver.eps, EPS_GHEP));
  ST transform = nullptr;
  VSR_PETSC(EPSGetST(solver.eps, &transform));
  VSR_PETSC(STSetMatStructure(transform, SUBSET_NONZERO_PATTERN));
  shift_ = shift;
  if (inverts_) {
    VSR_PETSC(EPSSetTarget(solver.eps, shift));
    VSR_PETSC(EPSSetWhichEigenpairs(solver.eps, EPS_TARGET_MAGNITUDE));
  } else {
    VSR_PETSC(EPSSetWhichEigenpairs(solver.eps, EPS_SMALLEST_REAL));
    VSR_PETSC(EPSSetConvergenceTestFunction(solver.eps, judge, this, nullptr));
  }
  constexpr int expansions = 20;  // methods that add one vector at a time count each of them
  VSR_PETSC(EPSSetTolerances(solver.eps, tolerance, inverts_ ? max_iterations : expansions * max_iterations));
  VSR_PETSC(EPSSetFromOptions(solver.eps));
  // Counts and searches rely on this shift, whatever the options say.
  if (inverts_) VSR_PETSC(EPSSetTarget(solver.eps, shift));
  VSR_PETSC(STSetShift(transform, shift));
  if (!factorises_) form_shifted(transform, shift);
  PetscInt ignored = 0, columns = PETSC_DEFAULT, projected = PETSC_DEFAULT;
  VSR_PETSC(EPSGetDimensions(solver.eps, &ignored, &columns, &projected));
  if (columns < want) columns = PETSC_DEFAULT;
  VSR_PETSC(EPSSetDimensions(solver.eps, want, columns, projected > 0 ? projected : PETSC_DEFAULT));
  if (!vectors_.empty())
    VSR_PETSC(EPSSetDeflationSpace(solver.eps, static_cast<PetscInt>(vectors_.size()), vectors_.data()));
  VSR_PETSC(EPSSetStoppingTestFunction(solver.eps, stop, this, nullptr));
  KSP inner = nullptr;
  VSR_PETSC(STGetKSP(transform, &inner));
  if (factorises_) VSR_PETSC(KSPSetErrorIfNotConverged(inner, PETSC_FALSE));  // failures are looked for after set_up()
}

/// Factorises. Returns false where K − σM is singular.
bool PetscModes::set_up(Solver& solver, EigenSearch& result) {
  VSR_PETSC(EPSSetUp(solver.eps));
  if (!factorises_) return true;
  ST transform = nullptr;
  KSP inner = nullptr;
  PC preconditioner = nullptr;
  Mat factor = nullptr;
  VSR_PETSC(EPSGetST(solver.eps, &transform));
  VSR_PETSC(STGetKSP(transform, &inner));
  VSR_PETSC(KSPGetPC(inner, &preconditioner));
  VSR_PETSC(PCFactorGetMatrix(preconditioner, &factor));
  ++factorisations_;
  if (check_mumps(factor) > 0) {
    result.singular = true;
    return false;
  }
  result.below = negative_pivots(factor);
  return true;
}

EigenSearch PetscModes::search(double shift, int want, double tolerance, int max_iterations) {
  EigenSearch result;
  Solver solver;
  make(solver, shift, want, tolerance, max_iterations);
  if (!set_up(solver, result)) return result;
  cancelled_ = false;
  VSR_PETSC(EPSSolve(solver.eps));
  if (cancelled_) throw SharedError(Error(ErrorCode::cancelled, "cancelled while modes were searched for"), 0);
  PetscInt iterations = 0, applications = 0;
  ST transform = nullptr;
  KSP inner = nullptr;
  VSR_PETSC(EPSGetIterationNumber(solver.eps, &iterations));
  VSR_PETSC(EPSGetST(solver.eps, &transform));
  VSR_PETSC(STGetKSP(transform, &inner));
  take(solver, result, want);
  VSR_PETSC(KSPGetTotalIterations(inner, &applications));
  solves_ += applications;
  result.iterations = static_cast<int>(iterations);
  return result;
}

/// Adds the modes that have converged.
void PetscModes::take(Solver& solver, EigenSearch& result, int want) {
  EPSConvergedReason reason = EPS_CONVERGED_ITERATING;
  PetscInt converged = 0;
  VSR_PETSC(EPSGetConvergedReason(solver.eps, &reason));
  VSR_PETSC(EPSGetConverged(solver.eps, &converged));
  ST transform = nullptr;
  VSR_PETSC(EPSGetST(solver.eps, &transform));
  const auto before = static_cast<int>(vectors_.size());
  int finite = 0;
  for (PetscInt i = 0; i < converged; ++i) {
    PetscScalar value = 0;
    VSR_PETSC(EPSGetEigenpair(solver.eps, i, &value, nullptr, work_, nullptr));
    if (!std::isfinite(value) || std::abs(value) > infinite_ratio * largest_ratio_) continue;
    ++finite;
    // One more product with (K − σM)⁻¹ M takes off what is left of high modes.
    Vec vector = system_->make_vector();
    vectors_.push_back(vector);
    if (inverts_)
      VSR_PETSC(STApply(transform, work_, vector));
    else
      VSR_PETSC(VecCopy(work_, vector));
    VSR_PETSC(VecPointwiseMult(vector, vector, free_));
  }
  orthonormalise();
  result.found = static_cast<int>(vectors_.size()) - before;
  result.converged = finite >= want;
  result.exhausted = reason > 0 && finite < want;
}

/// The symmetric matrix of products of all vectors with a matrix, by rows; the same bits on all processes.
std::vector<double> PetscModes::products(Mat matrix) {
  const std::size_t count = vectors_.size();
  std::vector<double> result(count * count);
  for (std::size_t i = 0; i < count; ++i) {
    VSR_PETSC(MatMult(matrix, vectors_[i], image_));
    VSR_PETSC(VecMDot(image_, static_cast<PetscInt>(count), vectors_.data(), result.data() + i * count));
  }
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < i; ++j)
      result[i * count + j] = result[j * count + i] = 0.5 * (result[i * count + j] + result[j * count + i]);
  VSR_MPI(MPI_Bcast(result.data(), static_cast<int>(result.size()), MPI_DOUBLE, 0, engine_.communicator()));
  return result;
}

/// Makes the vectors M-orthonormal Ritz vectors by ascending values. What depends on others is dropped.
void PetscModes::orthonormalise() {
  if (vectors_.empty()) return;
  for (Vec vector : vectors_) {
    double norm = 0;
    VSR_PETSC(VecNorm(vector, NORM_2, &norm));
    if (norm > 0) VSR_PETSC(VecScale(vector, 1 / norm));
  }
  // The second pass takes off the rounding errors of the first one.
  for (int pass = 0; pass < 2; ++pass) {
    const std::size_t count = vectors_.size();
    RitzCombination ritz = ritz_combination(products(mass_), products(stiffness_));
    for (auto* numbers : {&ritz.values, &ritz.coefficients})
      VSR_MPI(MPI_Bcast(numbers->data(), static_cast<int>(numbers->size()), MPI_DOUBLE, 0, engine_.communicator()));
    std::vector<Vec> fresh;
    for (std::size_t c = 0; c < ritz.values.size(); ++c) {
      fresh.push_back(system_->make_vector());
      VSR_PETSC(VecSet(fresh.back(), 0.0));
      VSR_PETSC(
          VecMAXPY(fresh.back(), static_cast<PetscInt>(count), ritz.coefficients.data() + c * count, vectors_.data()));
    }
    vectors_.swap(fresh);
    for (Vec& vector : fresh) VSR_PETSC(VecDestroy(&vector));
    values_ = std::move(ritz.values);
    if (vectors_.empty()) return;
  }
}

void PetscModes::keep(std::span<const int> modes) {
  std::vector<Vec> kept;
  std::vector<double> values;
  for (const int mode : modes) {
    kept.push_back(std::exchange(vectors_[static_cast<std::size_t>(mode)], nullptr));
    values.push_back(values_[static_cast<std::size_t>(mode)]);
  }
  for (Vec& vector : vectors_) VSR_PETSC(VecDestroy(&vector));
  vectors_ = std::move(kept);
  values_ = std::move(values);
}

std::vector<ModeMeasure> PetscModes::measure(const std::vector<char>& free) {
  std::vector<ModeMeasure> measures;
  for (std::size_t i = 0; i < vectors_.size(); ++i) {
    ModeMeasure& m = measures.emplace_back();
    VSR_PETSC(VecPointwiseMult(work_, diagonal_, vectors_[i]));
    VSR_PETSC(VecNorm(work_, NORM_2, &m.size));
    VSR_PETSC(VecDot(work_, vectors_[i], &m.bound));
    VSR_PETSC(MatMult(stiffness_, vectors_[i], work_));
    VSR_PETSC(MatMult(mass_, vectors_[i], image_));
    VSR_PETSC(VecDot(work_, vectors_[i], &m.energy));
    VSR_PETSC(VecDot(image_, vectors_[i], &m.weight));
    VSR_PETSC(VecNorm(work_, NORM_2, &m.force));
    VSR_PETSC(VecAXPY(work_, -eigenvalue_of_measure(m, free[i] != 0), image_));
    VSR_PETSC(VecNorm(work_, NORM_2, &m.rest));
  }
  if (!measures.empty())
    VSR_MPI(MPI_Bcast(measures.data(), static_cast<int>(measures.size() * sizeof measures[0] / sizeof(double)),
                      MPI_DOUBLE, 0, engine_.communicator()));
  return measures;
}

std::vector<double> PetscModes::scaled_bounds() {
  std::vector<double> bounds(vectors_.size());
  for (std::size_t i = 0; i < vectors_.size(); ++i) {
    VSR_PETSC(VecPointwiseMult(work_, scale_, vectors_[i]));
    VSR_PETSC(VecDot(work_, vectors_[i], &bounds[i]));
  }
  if (!bounds.empty())
    VSR_MPI(MPI_Bcast(bounds.data(), static_cast<int>(bounds.size()), MPI_DOUBLE, 0, engine_.communicator()));
  return bounds;
}

double PetscModes::orthogonality() {
  if (vectors_.empty()) return 0;
  const std::vector<double> weights = products(mass_);
  double largest = 0;
  for (std::size_t i = 0; i < vectors_.size(); ++i)
    for (std::size_t j = 0; j < vectors_.size(); ++j)
      largest = std::max(largest, std::abs(weights[i * vectors_.size() + j] - (i == j ? 1 : 0)));
  return largest;
}

void PetscModes::shape(int mode, std::span<double> values) {
  system_->to_local(vectors_[static_cast<std::size_t>(mode)], values);
  for (double& value : values) value /= std::sqrt(mean_mass_);
}

}  // namespace voussoir::petsc
