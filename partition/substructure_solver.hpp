#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/partition/domain_solver.hpp>
#include <voussoir/partition/superelement.hpp>

namespace voussoir {

/// Sizes and times of a substructure solution.
struct SubstructureReport {
  std::int64_t interface_unknowns = 0;          ///< free unknowns of the interface
  std::int64_t interface_entries = 0;           ///< stored entries of the interface matrix, upper triangle
  std::vector<std::int64_t> interior_unknowns;  ///< free interior unknowns of each part
  std::vector<double> condense_seconds;         ///< per part: forming, factorising and condensing its stiffness
  double interface_seconds = 0;                 ///< assembling, factorising and solving the interface system
  double load_seconds = 0;                      ///< forming and condensing the loads
  double recover_seconds = 0;                   ///< recovering the interior solutions
};

/// Direct substructuring: each part is condensed to its interface (Superelement), the condensed parts are assembled and
/// solved directly, and the interior solution of each part is recovered. Exact up to rounding.
///
///   SubstructureSolver solver(domain, partition, Backend::open("openmp"));
///   const auto results = solver.solve();
///
/// J. S. Przemieniecki: Matrix structural analysis of substructures. AIAA Journal 1 (1963).
class SubstructureSolver : public DomainSolver {
 public:
  /// Numbers all parts, and the whole domain for the results. The domain must outlive the solver and must not change.
  SubstructureSolver(const Domain& domain, const Partition& partition, std::shared_ptr<Backend> backend,
                     DirectMethod method = DirectMethod::automatic);

  std::string name() const override { return "substructures"; }
  /// Solves all steps; those with the same matrix share one factorisation. An under-constrained model is an Error
  /// (singular) that names a node of the free motion. A nonlinear model is an Error (bad_input): elements for which the
  /// linear solution is not in equilibrium, and temperature-dependent heat conduction. Solutions are checked as those
  /// of DirectSolver (see check_solution).
  std::vector<StepResult> solve(const std::vector<Step>& steps = {}) override;

  /// Sizes and times of the last solve().
  const SubstructureReport& report() const { return report_; }
  /// The superelements, one per part, in the order of the parts.
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
