#include <voussoir/partition/part_solver.hpp>

#include <voussoir/backends/error.hpp>
#include <voussoir/solvers/direct/factorization.hpp>

namespace voussoir {
namespace {

/// LDLᵀ by one of the direct methods.
class DirectPartSolver final : public PartSolver {
 public:
  explicit DirectPartSolver(DirectMethod method) : factor_(Factorization::make(method, {})) {}

  std::string name() const override { return "direct"; }
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
  std::unique_ptr<Factorization> factor_;
  bool empty_ = true;
};

Registry<PartSolverFactory>* make_part_solver_table() {
  auto* table = new Registry<PartSolverFactory>("part solver");
  table->add_built_in(
      "direct", "factorisation by the best direct method of the build, or by the one named",
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

std::unique_ptr<PartSolver> make_part_solver(const std::string& name) {
  const std::size_t colon = name.find(':');
  return part_solvers().find(name.substr(0, colon)).make(colon == std::string::npos ? "" : name.substr(colon + 1));
}

}  // namespace voussoir
