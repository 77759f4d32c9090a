#include <voussoir/partition/part_solver.hpp>

#include <algorithm>

#include <voussoir/backends/error.hpp>
#include <voussoir/partition/part_matrices.hpp>
#include <voussoir/partition/part_threads.hpp>
#include <voussoir/solvers/direct/factorization.hpp>
#include <voussoir/solvers/matrix_system.hpp>
#include <voussoir/solvers/preconditioners/unsymmetric.hpp>
#include <voussoir/solvers/registries.hpp>
#include <voussoir/solvers/static_problem.hpp>

namespace voussoir {
namespace {

/// LDLᵀ by one of the direct methods.
class DirectPartSolver final : public PartSolver {
 public:
  explicit DirectPartSolver(DirectMethod method) : method_(method), factor_(Factorization::make(method, {})) {}

  std::string name() const override { return "direct"; }
  bool works_side_by_side() const override { return voussoir::works_side_by_side(method_); }
  void set_up(const SymmetricCsr& matrix, const std::string& where,
              const std::function<std::string(std::int64_t)>& label) override {
    empty_ = matrix.n == 0;
    if (empty_) return;
    factor_->factorise(matrix);
    if (!factor_->null_pivots().empty())
      throw Error(ErrorCode::singular,
                  "the matrix of " + where + " is singular: " + std::to_string(factor_->null_pivots().size()) +
                      " of its motions meet no resistance; this unknown moves in one of them",
                  label(factor_->null_pivots().front()));
  }
  void solve(std::span<double> b_and_x) override {
    if (!empty_) factor_->solve(b_and_x);
  }
  std::size_t bytes() const override {
    return empty_ ? 0 : static_cast<std::size_t>(factor_->statistics().factor_entries) * 12;
  }

 private:
  DirectMethod method_;
  std::unique_ptr<Factorization> factor_;
  bool empty_ = true;
};

/// Base of solvers that work on a MatrixSystem.
class SystemPartSolver : public PartSolver {
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
    system_.reset();
    where_ = where;
    if (matrix.n == 0) return;
    const FullRows rows = full_rows(matrix);
    HostMatrix host;
    host.row_start = rows.row_start;
    host.column = rows.column;
    host.value = rows.value;
    if (given_) backend_ = given_;
    if (!backend_) backend_ = Backend::open("openmp");
    if (unknowns_.node.size() != static_cast<std::size_t>(matrix.n)) unknowns_ = MatrixUnknowns::plain(matrix.n);
    try {
      system_ = std::make_unique<MatrixSystem>(backend_, host, MatrixSystem::Symmetry::symmetric, unknowns_);
      prepare();
    } catch (const Error& error) {
      throw Error(error.code(), error.what(), "part solver '" + name_ + "', " + where);
    }
  }

 protected:
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
        return std::make_unique<DirectPartSolver>(
            part_method(options.empty() ? DirectMethod::automatic : direct_method(options)));
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

void require_exact(const PartSolver& solver, const std::string& name) {
  if (!solver.is_exact())
    throw Error(ErrorCode::bad_input,
                "it solves parts approximately, and the method needs exact solutions of parts; use cg+" + name +
                    " or direct. The Schwarz methods accept it",
                "part solver '" + name + "'");
}

}  // namespace voussoir
