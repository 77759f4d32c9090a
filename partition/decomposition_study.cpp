#include <voussoir/partition/decomposition_study.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/framework/domain/shape_topology.hpp>
#include <voussoir/partition/domain_partitioner.hpp>
#include <voussoir/partition/element_costs.hpp>
#include <voussoir/partition/partitioners.hpp>
#include <voussoir/partition/schwarz.hpp>
#include <voussoir/partition/substructuring.hpp>
#include <voussoir/solvers/direct/equation_names.hpp>
#include <voussoir/solvers/direct/factorization.hpp>
#include <voussoir/solvers/given_soe.hpp>
#include <voussoir/solvers/krylov/krylov_solver.hpp>
#include <voussoir/solvers/registries.hpp>
#include <voussoir/solvers/static_problem.hpp>

namespace voussoir {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

bool is_schwarz(const std::string& method) {
  return method == "asm" || method == "asm2" || method == "ras" || method == "ras2" || method == "msm" ||
         method == "msm2" || method == "geneo";
}
bool is_substructuring(const std::string& method) {
  return method == "schur" || method == "bddc" || method == "nn" || method == "feti-dp";
}
/// A preconditioner that somebody has registered, which divides the model itself.
bool is_users(const std::string& method) {
  return preconditioners().find_if(method) && preconditioners().origin(method) != "built in";
}

/// An operator as a preconditioner for GMRES.
class GivenPreconditioner final : public Preconditioner {
 public:
  GivenPreconditioner(std::string name, const Operator& inverse) : name_(std::move(name)), inverse_(inverse) {}
  std::string name() const override { return name_; }
  void set_up(const LinearSOE&) override {}
  const Operator* inverse() const override { return &inverse_; }
  bool needs_symmetry() const override { return false; }

 private:
  std::string name_;
  const Operator& inverse_;
};

/// What the geometry says about H, h and the number of parts along the model.
struct Scales {
  double across, refinement;
};

Scales scales_of(const Domain& domain, int parts) {
  int dimension = 1;
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    if (domain.block(b).size() == 0) continue;
    const std::string& shape = domain.block(b).type().shape();
    if (!shape.empty()) dimension = std::max(dimension, shape_topology(shape).dim);
  }
  const double d = 1.0 / dimension;
  return {std::pow(parts, d), std::pow(static_cast<double>(domain.element_count()) / parts, d)};
}

/// One matrix and right-hand side of the study, divided in one way.
class StudyCase {
 public:
  StudyCase(const AnalysisModel& model, const AnalysisState& state, const std::vector<double>& b,
            const StudyOptions& options, const Partition& partition, double contrast)
      : model_(model),
        state_(state),
        options_(options),
        b_(b),
        symmetric_(model.device_model().symmetric()),
        decomposition_(model, partition) {
    const std::vector<double> factors = model.batch_factors(state.case_factors);
    MatrixTerms terms;
    terms.batch_factors = factors;
    if (symmetric_)
      sum_parts(terms, contrast);
    else
      form_whole(terms);
    std::vector<double> all(static_cast<std::size_t>(model.equation_count()), 0.0);
    for (std::size_t i = 0; i < b.size(); ++i) all[static_cast<std::size_t>(decomposition_.equations()[i])] = b[i];
    soe_->b().from_host(all);
    if (decomposition_.size() <= options.compared_up_to) solve_exactly();
  }

  void run(const std::string& method, StudyRow& row) {
    row.unknowns = decomposition_.size();
    if (!symmetric_ && is_substructuring(method)) throw_symmetric_only(method);
    if (is_substructuring(method)) return run_substructuring(method, row);
    if (is_schwarz(method)) return run_schwarz(method, row);
    run_registered(method, row);
  }
  const Decomposition& decomposition() const { return decomposition_; }

 private:
  [[noreturn]] static void throw_symmetric_only(const std::string& method) {
    throw Error(ErrorCode::bad_input,
                "it is made for symmetric matrices, and that of this model is not; use ras2, asm2 or msm2",
                "method '" + method + "'");
  }

  void sum_parts(const MatrixTerms& terms, double contrast) {
    const Stopwatch watch;
    matrices_ = std::make_unique<PartMatrices>(decomposition_, state_.elements(), terms);
    if (contrast != 1)
      for (int p = 1; p < decomposition_.parts(); p += 2) matrices_->scale(p, contrast);
    assembled_ = matrices_->assembled();
    matrix_seconds_ = watch.seconds();
    auto soe = std::make_shared<GivenSOE>(make_matrix());
    soe->set_model(model_);
    soe->take();
    soe_ = soe;
  }

  /// A matrix that is not symmetric is assembled as a whole: matrices of parts are kept of symmetric models only.
  void form_whole(const MatrixTerms& terms) {
    const Stopwatch watch;
    soe_ = make_soe("csr");
    soe_->set_model(model_);
    soe_->form(state_.elements(), terms);
    rows_ = assembled_rows(*soe_, decomposition_, "study");
    matrix_seconds_ = watch.seconds();
  }

  void solve_exactly() {
    const auto label = [&](std::int64_t unknown) {
      return model_.equation_label(decomposition_.equations()[static_cast<std::size_t>(unknown)]);
    };
    exact_ = b_;
    if (!symmetric_) {
      const auto lu = LuFactorization::make();
      naming_equations(label, [&] { lu->factorise(rows_); });
      lu->solve(exact_);
      return;
    }
    const auto factor = Factorization::make(DirectMethod::automatic, {});
    factor->factorise(assembled_);
    if (!factor->null_pivots().empty())
      throw Error(ErrorCode::singular, "the model can move freely; support it before it is studied",
                  label(factor->null_pivots().front()));
    factor->solve(exact_);
  }

  std::unique_ptr<SparseMatrix> make_matrix() const {
    const FullRows rows = full_rows(assembled_);
    HostMatrix host;
    host.row_start.push_back(0);
    for (std::int32_t e = 0; e < model_.equation_count(); ++e) {
      const std::int32_t u = decomposition_.unknown(e);
      if (u < 0) {
        host.column.push_back(e);
        host.value.push_back(1);
      } else {
        for (auto k = rows.row_start[static_cast<std::size_t>(u)]; k < rows.row_start[static_cast<std::size_t>(u) + 1];
             ++k) {
          host.column.push_back(
              decomposition_.equations()[static_cast<std::size_t>(rows.column[static_cast<std::size_t>(k)])]);
          host.value.push_back(rows.value[static_cast<std::size_t>(k)]);
        }
      }
      host.row_start.push_back(static_cast<std::int64_t>(host.column.size()));
    }
    return model_.backend().service<MatrixServices>().make_matrix(model_.device_model().layout(), host);
  }

  void take(const CgOutcome& outcome, StudyRow& row) const {
    row.converged = outcome.stop == CgOutcome::Stop::converged;
    row.iterations = outcome.iterations;
    row.condition = outcome.smallest_ritz > 0 ? outcome.largest_ritz / outcome.smallest_ritz : nothing;
    if (outcome.iterations == 0 && row.converged) row.condition = 1;
  }

  void compare(const std::vector<double>& x, StudyRow& row) const {
    row.error = nothing;
    if (exact_.empty()) return;
    double apart = 0, largest = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      apart = std::max(apart, std::abs(x[i] - exact_[i]));
      largest = std::max(largest, std::abs(exact_[i]));
      if (std::isnan(x[i])) apart = std::numeric_limits<double>::infinity();
    }
    row.error = largest > 0 ? apart / largest : apart;
  }

  CgRequest request() const {
    CgRequest request;
    request.relative_tolerance = options_.relative_tolerance;
    request.max_iterations = options_.max_iterations;
    return request;
  }

  void run_substructuring(const std::string& method, StudyRow& row) {
    DecompositionOptions choice;
    choice.part_solver = options_.part_solver;
    choice.interface_preconditioner = method == "schur" ? "jacobi" : method;
    const Stopwatch setup;
    const SubstructuredSystem system(model_.backend(), *matrices_, choice);
    row.setup_seconds = matrix_seconds_ + setup.seconds();
    row.interface_unknowns = static_cast<std::int64_t>(system.schur().unknowns());
    row.coarse_unknowns = system.coarse_size();
    row.bytes = system.bytes();
    const Stopwatch solving;
    std::vector<double> x;
    take(system.solve(model_.backend(), b_, x, request()), row);
    row.solve_seconds = solving.seconds();
    row.coarse_seconds = system.coarse_seconds();
    compare(x, row);
  }

  void run_schwarz(const std::string& method, StudyRow& row) {
    SchwarzOperator::Options choice;
    const std::string kind = method == "geneo" ? "asm" : method.substr(0, 3);
    choice.kind = kind == "asm"   ? SchwarzKind::additive
                  : kind == "ras" ? SchwarzKind::restricted
                                  : SchwarzKind::multiplicative;
    choice.two_levels = method.size() >= 4;
    choice.overlap = row.overlap;
    choice.part_solver = options_.part_solver;
    choice.threshold = options_.geneo_threshold;
    if (method == "geneo") choice.coarse = "geneo";
    choice.neumann = [&](std::span<const std::vector<std::int32_t>> sets) {
      const std::vector<double> factors = model_.batch_factors(state_.case_factors);
      MatrixTerms terms;
      terms.batch_factors = factors;
      return overlapping_neumann(decomposition_, sets, state_.elements(), terms, matrices_->factors());
    };
    const Stopwatch setup;
    const auto schwarz = symmetric_ ? std::make_unique<const SchwarzOperator>(decomposition_, assembled_, choice)
                                    : std::make_unique<const SchwarzOperator>(decomposition_, rows_, choice);
    row.setup_seconds = matrix_seconds_ + setup.seconds();
    row.coarse_unknowns = schwarz->coarse_size();
    row.bytes = schwarz->bytes();
    if (method == "geneo") row.bound = schwarz->condition_bound();
    iterate(schwarz.get(), !symmetric_ || kind == "ras", schwarz->is_flexible(), row);
    row.coarse_seconds = schwarz->coarse_seconds();
  }

  void run_registered(const std::string& method, StudyRow& row) {
    std::string options;
    if (is_users(method))
      options = "parts=" + std::to_string(row.parts) + ",cut=" + row.cut + ",overlap=" + std::to_string(row.overlap);
    const auto preconditioner = preconditioners().find(method).make(options);
    if (!symmetric_ && preconditioner && preconditioner->needs_symmetry()) throw_symmetric_only(method);
    const Stopwatch setup;
    if (preconditioner) preconditioner->set_up(*soe_);
    row.setup_seconds = matrix_seconds_ + setup.seconds();
    row.bytes = preconditioner ? preconditioner->bytes() : 0;
    const bool unsymmetric =
        !symmetric_ || dynamic_cast<const UnsymmetricPreconditioner*>(preconditioner.get()) != nullptr;
    iterate(preconditioner ? preconditioner->inverse() : nullptr, unsymmetric,
            preconditioner && preconditioner->is_flexible(), row);
  }

  void iterate(const Operator* inverse, bool unsymmetric, bool flexible, StudyRow& row) {
    Backend& backend = model_.backend();
    soe_->x().from_host(std::vector<double>(static_cast<std::size_t>(model_.equation_count()), 0.0));
    const Stopwatch solving;
    if (unsymmetric) {
      if (flexible)
        throw Error(ErrorCode::bad_input,
                    "it varies with the residual, which GMRES does not allow; use an exact part solver, or another "
                    "method",
                    "method '" + row.method + "'");
      KrylovSolver::Options options;
      options.relative_tolerance = options_.relative_tolerance;
      options.max_iterations = options_.max_iterations;
      const auto given = inverse ? std::make_shared<GivenPreconditioner>(row.method, *inverse) : nullptr;
      const SolveReport report = GmresSolver(given, options).solve(*soe_);
      row.converged = report.converged;
      row.iterations = report.iterations;
      row.condition = nothing;
    } else {
      CgRequest own = request();
      own.flexible = flexible;
      take(backend.service<KrylovServices>().cg(soe_->matrix(), inverse, soe_->b(), soe_->x(), own), row);
    }
    row.solve_seconds = solving.seconds();
    const std::vector<double> all = soe_->x().to_host();
    std::vector<double> x;
    for (const std::int32_t e : decomposition_.equations()) x.push_back(all[static_cast<std::size_t>(e)]);
    compare(x, row);
  }

  const AnalysisModel& model_;
  const AnalysisState& state_;
  const StudyOptions& options_;
  const std::vector<double>& b_;
  const bool symmetric_;
  Decomposition decomposition_;
  std::unique_ptr<PartMatrices> matrices_;  // null if the matrix is not symmetric
  SymmetricCsr assembled_;                  // if it is
  GeneralCsr rows_;                         // if it is not
  double matrix_seconds_ = 0;
  std::shared_ptr<LinearSOE> soe_;
  std::vector<double> exact_;
};

void check(const StudyOptions& options) {
  const auto require = [](bool good, const std::string& text) {
    if (!good) throw Error(ErrorCode::bad_input, text, "study");
  };
  require(!options.parts.empty() && !options.cuts.empty() && !options.methods.empty(),
          "give at least one number of parts, one cut and one method");
  require(!options.contrasts.empty() && !options.overlaps.empty(), "give at least one contrast and one overlap");
  for (const int p : options.parts) require(p >= 1, std::to_string(p) + " parts; at least 1 is needed");
  for (const int o : options.overlaps) require(o >= 0, "an overlap of " + std::to_string(o) + "; give 0 or more");
  for (const double c : options.contrasts) require(c > 0 && std::isfinite(c), "a contrast must be positive and finite");
  require(options.relative_tolerance > 0 && options.relative_tolerance < 1, "the tolerance must be between 0 and 1");
  require(options.geneo_threshold > 0 && std::isfinite(options.geneo_threshold),
          "the threshold of geneo must be positive and finite");
  make_part_solver(options.part_solver);
  for (const std::string& cut : options.cuts) make_partitioner(cut);
  for (const std::string& method : options.methods)
    if (!is_substructuring(method) && method != "geneo") preconditioners().find(method);
}

/// Whether an error is one of a method, which has a row with it, and the study goes on.
bool belongs_to_method(ErrorCode code) {
  return code == ErrorCode::bad_input || code == ErrorCode::singular || code == ErrorCode::unavailable ||
         code == ErrorCode::not_converged;
}

/// The study in progress: rows are added as they are computed. All that options may have wrong is found at the start.
class StudyRun {
 public:
  StudyRun(const Domain& domain, const std::shared_ptr<Backend>& backend, const StudyOptions& options,
           const std::vector<Step>& steps)
      : options_(options), domain_(domain), model_(domain, backend, TransformationHandler(), PlainNumberer()) {
    if (!model_.is_linear())
      throw Error(ErrorCode::bad_input, "the model is not linear, and a study solves one linear system", "study");
    if (!model_.device_model().symmetric() &&
        std::any_of(options.contrasts.begin(), options.contrasts.end(), [](double contrast) { return contrast != 1; }))
      throw Error(
          ErrorCode::bad_input,
          "a contrast multiplies the matrices of parts, which are kept of symmetric models only, and this model "
          "is not symmetric; use a contrast of 1",
          "study");
    auto states = step_states(domain, steps);
    state_ = std::move(states.front());
    StaticIntegrator integrator;
    integrator.begin_step(model_, state_);
    Vector unbalance = model_.make_vector();
    integrator.form_unbalance(model_, state_, unbalance);
    const std::vector<double> all = unbalance.to_host();
    double largest = 0;
    for (std::int32_t e = 0; e < model_.equation_count(); ++e)
      if (model_.is_free(e)) {
        b_.push_back(all[static_cast<std::size_t>(e)]);
        largest = std::max(largest, std::abs(b_.back()));
      }
    if (!(largest > 0))
      throw Error(ErrorCode::bad_input, "the model has no load, so there is nothing to solve", "study");
    make_divisions();
  }

  std::vector<StudyRow> run() {
    for (const double contrast : options_.contrasts)
      for (std::size_t d = 0; d < divisions_.size(); ++d) {
        const auto& [cut, partition] = divisions_[d];
        StudyCase one(model_, state_, b_, options_, partition, contrast);
        for (const std::string& method : options_.methods) {
          // An undivided system depends on the parts only where contrast does.
          const bool divided = is_schwarz(method) || is_substructuring(method) || is_users(method);
          if (!divided && contrast == 1 && d > 0) continue;
          const bool overlaps = is_schwarz(method) || is_users(method);
          for (std::size_t o = 0; o < (overlaps ? options_.overlaps.size() : 1); ++o) {
            StudyRow row;
            row.method = method;
            row.cut = divided ? cut : "";
            row.parts = divided ? partition.parts() : 1;
            row.overlap = overlaps ? options_.overlaps[o] : 0;
            row.contrast = contrast;
            row.balance = divided ? partition.balance() : 1;
            if (!add(one, method, row)) return std::move(rows_);
          }
        }
      }
    return std::move(rows_);
  }

 private:
  /// The model in parts by a cut.
  struct Division {
    std::string cut;
    Partition partition;
  };

  void make_divisions() {
    DomainPartitioner divider(domain_);
    divider.cut_equations().set_weights(element_costs(domain_));
    for (const std::string& cut : options_.cuts) {
      const auto partitioner = make_partitioner(cut);
      for (const int parts : options_.parts)
        divisions_.push_back({cut == "auto" ? partitioner->name() : cut, divider.partition(*partitioner, parts)});
    }
  }

  bool add(StudyCase& one, const std::string& method, StudyRow& row) {
    const std::string what =
        method + (row.cut.empty() ? ", undivided" : ", " + std::to_string(row.parts) + " parts by " + row.cut);
    if (options_.progress && !options_.progress(what)) return false;
    const Scales scales = scales_of(domain_, row.parts);
    row.bound = row.cut.empty() || !model_.device_model().symmetric()
                    ? nothing
                    : theory_bound(method, scales.across, scales.refinement, row.overlap);
    if (!row.cut.empty()) row.interface_unknowns = static_cast<std::int64_t>(one.decomposition().interface().size());
    try {
      one.run(method, row);
    } catch (const Error& error) {
      if (!belongs_to_method(error.code())) throw;
      row.failure = error.what();
      row.condition = row.error = nothing;
    }
    rows_.push_back(std::move(row));
    return true;
  }

  const StudyOptions& options_;
  const Domain& domain_;
  AnalysisModel model_;
  AnalysisState state_;
  std::vector<double> b_;
  std::vector<Division> divisions_;  // of all cuts into all numbers of parts
  std::vector<StudyRow> rows_;
};

}  // namespace

double theory_bound(const std::string& method, double across, double refinement, int overlap) {
  const double overlapped = 1 + refinement / std::max(overlap, 1);
  const double logarithm = 1 + std::log(std::max(1.0, refinement));
  if (method == "asm" || method == "msm") return across * across * overlapped;
  if (method == "asm2" || method == "msm2") return overlapped;
  if (method == "schur") return across * across * refinement;
  if (method == "bddc" || method == "nn" || method == "feti-dp") return logarithm * logarithm;
  return nothing;
}

std::vector<StudyRow> run_study(const Domain& domain, const std::shared_ptr<Backend>& backend,
                                const StudyOptions& options, const std::vector<Step>& steps) {
  check(options);
  return StudyRun(domain, backend, options, steps).run();
}

}  // namespace voussoir
