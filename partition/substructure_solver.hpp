#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/partition/domain_solver.hpp>
#include <voussoir/partition/superelement.hpp>

namespace voussoir {

/// What a substructure solution cost, stage by stage.
struct SubstructureReport {
  std::int64_t interface_unknowns = 0;          ///< free ones
  std::int64_t interface_entries = 0;           ///< stored entries of the interface matrix, upper triangle
  std::vector<std::int64_t> interior_unknowns;  ///< per part
  std::vector<double> condense_seconds;         ///< per part: stiffness formed, factorised, condensed; over all steps
  double interface_seconds = 0;                 ///< interface matrix assembled, factorised and solved
  double load_seconds = 0;                      ///< loads formed and condensed
  double recover_seconds = 0;                   ///< solution brought back inside
};

/// Direct substructuring: each part is condensed to its interface (Superelement), the condensed parts are assembled and
/// solved directly, and the inside of each part is recovered. Exact up to rounding.
///
///   SubstructureSolver solver(domain, partition, Backend::open("openmp"));
///   const auto results = solver.solve();
///
/// J. S. Przemieniecki: Matrix structural analysis of substructures. AIAA Journal 1 (1963).
class SubstructureSolver : public DomainSolver {
 public:
  /// Numbers the parts, and the whole for the sake of the results. The domain must outlive the solver and not change
  /// meanwhile.
  SubstructureSolver(const Domain& domain, const Partition& partition, std::shared_ptr<Backend> backend,
                     DirectMethod method = DirectMethod::automatic);

  std::string name() const override { return "substructures"; }
  /// Throws Error (singular) if the model is under-constrained, naming a node that moves, and Error (bad_input) for
  /// what is not linear: elements with which a linear solution is out of balance, and heat conduction with tables over
  /// temperature. Solutions are judged as those of DirectSolver are (see check_solution). Steps that have the same
  /// matrix share one factorisation.
  std::vector<StepResult> solve(const std::vector<Step>& steps = {}) override;

  /// Of the last solve().
  const SubstructureReport& report() const { return report_; }
  /// One per part, in their order.
  const std::vector<std::unique_ptr<Superelement>>& superelements() const { return superelements_; }

 private:
  struct Interface;
  class StepSolution;

  const Domain& domain_;
  DirectMethod method_;
  std::unique_ptr<AnalysisModel> whole_;  // numbered, never assembled: what results are made of
  std::vector<std::unique_ptr<Subdomain>> subdomains_;
  std::vector<std::unique_ptr<Superelement>> superelements_;
  std::vector<std::vector<std::int32_t>> whole_equation_;  // of each equation of each part
  SubstructureReport report_;
};

}  // namespace voussoir
