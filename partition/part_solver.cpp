#include <voussoir/partition/part_solver.hpp>

#include <algorithm>

#include <voussoir/backends/error.hpp>
#include <voussoir/partition/part_matrices.hpp>
#include <voussoir/partition/part_threads.hpp>
#include <voussoir/solvers/direct/equation_names.hpp>
#include <voussoir/solvers/direct/factorization.hpp>
#include <voussoir/solvers/matrix_system.hpp>
#include <voussoir/solvers/preconditioners/unsymmetric.hpp>
#include <voussoir/solvers/registries.hpp>
#include <voussoir/solvers/static_problem.hpp>

namespace voussoir {
namespace {

/// LDLᵀ by one of the direct methods, or LU.
class DirectPartSolver final : public PartSolver, public UnsymmetricPartSolver {
 public:
  explicit DirectPartSolver(DirectMethod wanted)
      : wanted_(wanted), method_(part_method(wanted)), factor_(Factorization::make(method_, {})) {}

  std::string name() const override { return "direct"; }
  bool works_side_by_side() const override { return voussoir::works_side_by_side(method_); }
  void set_up(const SymmetricCsr& matrix, const std::string& where,
              const std::function<std::string(std::int64_t)>& label) override {
    empty_ = matrix.n == 0;
    lu_.reset();
    if (empty_) return;
    factor_->factorise(matrix);
    if (!factor_->null_pivots().empty())
      throw Error(ErrorCode::singular,
                  "the matrix of " + where + " is singular: " + std::to_string(factor_->null_pivots().size()) +
                      " of its motions meet no resistance; this unknown moves in one of them",
                  label(factor_->null_pivots().front()));
  }
  bool takes_unsymmetric() const override {
    return wanted_ == DirectMethod::automatic || wanted_ == DirectMethod::eigen || wanted_ == DirectMethod::mumps;
  }
  void set_up_unsymmetric(const GeneralCsr& matrix, const std::string& where,
                          const std::function<std::string(std::int64_t)>& label) override {
    empty_ = matrix.n == 0;
    // Several objects of Eigen may work at the same time, as those of the multifrontal method.
    lu_ = LuFactorization::make(wanted_ == DirectMethod::automatic ? DirectMethod::eigen : wanted_, {});
    if (empty_) return;
    try {
      naming_equations(label, [&] { lu_->factorise(matrix); });
    } catch (const Error& error) {
      if (error.code() != ErrorCode::singular) throw;
      throw Error(error.code(),
                  "the matrix of " + where + " is singular" +
                      (error.where().empty() ? "" : ": nothing determines this unknown") +
                      "; use more overlap, fewer parts, or the solver direct for the whole",
                  error.where());
    }
  }
  void solve(std::span<double> b_and_x) override {
    if (empty_) return;
    if (lu_)
      lu_->solve(b_and_x);
    else
      factor_->solve(b_and_x);
  }
  std::size_t bytes() const override {
    if (empty_) return 0;
    return static_cast<std::size_t>(lu_ ? lu_->statistics().factor_entries : factor_->statistics().factor_entries) * 12;
  }

 private:
  DirectMethod wanted_, method_;
  std::unique_ptr<LuFactorization> lu_;  // instead of factor_, for a matrix that is not symmetric
  std::unique_ptr<Factorization> factor_;
  bool empty_ = true;
};

/// Base of solvers that work on a MatrixSystem.
class SystemPartSolver : public PartSolver, public UnsymmetricPartSolver {
 public:
  SystemPartSolver(std::string name, std::shared_ptr<Backend> backend)
      : name_(std::move(name)), given_(std::move(backend)) {}
  std::string name() const override { return name_; }
  void describe(const AnalysisModel& model, std::span<const std::int32_t> equations) override {
    backend_ = model.shared_backend();
    unknowns_ = MatrixUnknowns();
    unknowns_.names = model.unknown_names();
    std::vector<std::int32_t> number(static_cast<std::size_t>(model.domain().node_count()), -1);
    for (const std::int32_t e : equations) {
      const AnalysisModel::Place place = model.place(e);
      auto& node = number[static_cast<std::size_t>(place.node)];
      if (node < 0) {
        node = static_cast<std::int32_t>(unknowns_.coordinates.size() / 3);
        const auto x = model.domain().coordinates().subspan(3 * static_cast<std::size_t>(place.node), 3);
        unknowns_.coordinates.insert(unknowns_.coordinates.end(), x.begin(), x.end());
      }
      unknowns_.node.push_back(node);
      unknowns_.component.push_back(place.component);
    }
  }
  void set_up(const SymmetricCsr& matrix, const std::string& where,
              const std::function<std::string(std::int64_t)>&) override {
    FullRows rows = full_rows(matrix);
    set_up_rows({1, std::move(rows.row_start), std::move(rows.column), std::move(rows.value)},
                MatrixSystem::Symmetry::symmetric, where);
  }
  void set_up_unsymmetric(const GeneralCsr& matrix, const std::string& where,
                          const std::function<std::string(std::int64_t)>&) override {
    set_up_rows({1, matrix.row_start, matrix.column, matrix.value}, MatrixSystem::Symmetry::unsymmetric, where);
  }

 protected:
  void set_up_rows(const HostMatrix& rows, MatrixSystem::Symmetry symmetry, const std::string& where) {
    system_.reset();
    where_ = where;
    const std::int64_t n = rows.block_rows();
    if (n == 0) return;
    if (given_) backend_ = given_;
    if (!backend_) backend_ = Backend::open("openmp");
    if (unknowns_.node.size() != static_cast<std::size_t>(n)) unknowns_ = MatrixUnknowns::plain(n);
    try {
      system_ = std::make_unique<MatrixSystem>(backend_, rows, symmetry, unknowns_);
      prepare();
    } catch (const Error& error) {
      throw Error(error.code(), error.what(), "part solver '" + name_ + "', " + where);
    }
  }
  virtual void prepare() = 0;  ///< the system is new
  std::string name_, where_;
  std::unique_ptr<MatrixSystem> system_;

 private:
  std::shared_ptr<Backend> given_, backend_;
  MatrixUnknowns unknowns_;
};

/// A registered solver, iterated until the residual is small.
class RegisteredPartSolver final : public SystemPartSolver {
 public:
  RegisteredPartSolver(const std::string& name, std::shared_ptr<Backend> backend)
      : SystemPartSolver(name, std::move(backend)), solver_(make_solver(name, tolerance, most_iterations)) {}
  /// The solvers of the library that do not are known; those of users are tried.
  bool takes_unsymmetric() const override {
    const SolverName parsed = parse_solver_name(name_);
    const std::string& solver = parsed.solver.name;
    if (solver == "cg" || solver == "schur" || solver == "feti-dp") return false;
    if (!parsed.preconditioner) return true;
    const auto& [name, options] = *parsed.preconditioner;
    const auto preconditioner = preconditioners().find(name).make(options);
    return !preconditioner || !preconditioner->needs_symmetry();
  }
  void solve(std::span<double> b_and_x) override {
    if (!system_) return;
    std::vector<double> x(b_and_x.size(), 0.0);
    const SolveReport report = system_->solve(*solver_, b_and_x, x);
    bytes_ = report.memory_bytes;
    if (!report.converged)
      throw Error(
          report.not_positive_definite || !report.free_motions.empty() ? ErrorCode::singular : ErrorCode::not_converged,
          "the matrix of the part was not solved: " + report.reason + "; use another solver of parts",
          "part solver '" + name_ + "', " + where_);
    std::copy(x.begin(), x.end(), b_and_x.begin());
  }
  std::size_t bytes() const override { return bytes_; }

 private:
  static constexpr double tolerance = 1e-11;
  static constexpr int most_iterations = 20000;
  void prepare() override {
    // Sets up the preconditioner or factorises, so that errors come here and not in the middle of an iteration.
    std::vector<double> zero(static_cast<std::size_t>(system_->size()), 0.0), x = zero;
    bytes_ = system_->solve(*solver_, zero, x).memory_bytes;
  }
  std::shared_ptr<Solver> solver_;
  std::size_t bytes_ = 0;
};

/// One application of a registered preconditioner.
class PreconditionerPartSolver final : public SystemPartSolver {
 public:
  PreconditionerPartSolver(const std::string& name, std::shared_ptr<Backend> backend,
                           std::shared_ptr<Preconditioner> preconditioner)
      : SystemPartSolver(name, std::move(backend)), preconditioner_(std::move(preconditioner)) {
    if (!preconditioner_ || dynamic_cast<const UnsymmetricPreconditioner*>(preconditioner_.get()))
      throw Error(ErrorCode::bad_input,
                  "it is " + std::string(preconditioner_ ? "not symmetric" : "no approximation of an inverse") +
                      ", and a preconditioner that solves parts has to be; use amg or fsai",
                  "part solver '" + name + "'");
  }
  bool is_exact() const override { return false; }
  bool is_flexible() const override { return preconditioner_->is_flexible(); }
  bool takes_unsymmetric() const override { return !preconditioner_->needs_symmetry(); }
  void solve(std::span<double> b_and_x) override {
    if (!system_ || !preconditioner_->inverse()) return;
    std::vector<double> x(b_and_x.size());
    system_->apply(*preconditioner_->inverse(), b_and_x, x);
    std::copy(x.begin(), x.end(), b_and_x.begin());
  }
  std::size_t bytes() const override { return system_ ? preconditioner_->bytes() : 0; }

 private:
  void prepare() override { preconditioner_->set_up(system_->soe()); }
  std::shared_ptr<Preconditioner> preconditioner_;
};

Registry<PartSolverFactory>* make_part_solver_table() {
  auto* table = new Registry<PartSolverFactory>("part solver");
  table->add_built_in(
      "direct", "factorisation by the multifrontal method, several parts at a time, or by the direct method named",
      {[](const std::string& options) -> std::unique_ptr<PartSolver> {
        return std::make_unique<DirectPartSolver>(options.empty() ? DirectMethod::automatic : direct_method(options));
      }});
  return table;
}

// RegistryBase::all() lists it from the start.
[[maybe_unused]] const bool part_solvers_made = (part_solvers(), true);

}  // namespace

Registry<PartSolverFactory>& part_solvers() {
  static auto* const table = make_part_solver_table();
  return *table;
}

std::unique_ptr<PartSolver> make_part_solver(const std::string& name, std::shared_ptr<Backend> backend) {
  const std::size_t colon = name.find(':');
  const std::string base = name.substr(0, name.find_first_of(":+"));
  if (!part_solvers().find_if(base) || name.find('+') != std::string::npos) {
    std::string whole = name;
    std::replace(whole.begin(), whole.end(), '/', ',');
    if (solvers().find_if(base)) return std::make_unique<RegisteredPartSolver>(whole, std::move(backend));
    if (const auto* factory = preconditioners().find_if(base))
      return std::make_unique<PreconditionerPartSolver>(
          whole, std::move(backend), factory->make(colon == std::string::npos ? "" : whole.substr(colon + 1)));
  }
  return part_solvers().find(name.substr(0, colon)).make(colon == std::string::npos ? "" : name.substr(colon + 1));
}

UnsymmetricPartSolver* unsymmetric_part_solver(PartSolver& solver) {
  auto* const other = dynamic_cast<UnsymmetricPartSolver*>(&solver);
  return other && other->takes_unsymmetric() ? other : nullptr;
}

void require_exact(const PartSolver& solver, const std::string& name) {
  if (!solver.is_exact())
    throw Error(ErrorCode::bad_input,
                "it solves parts approximately, and the method needs exact solutions of parts; use cg+" + name +
                    " or direct. The Schwarz methods accept it",
                "part solver '" + name + "'");
}

}  // namespace voussoir
