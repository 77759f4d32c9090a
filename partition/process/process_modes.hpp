#pragma once
#include <memory>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/mode_set.hpp>
#include <voussoir/partition/process/mode_search.hpp>
#include <voussoir/partition/process/process_analysis.hpp>

namespace voussoir {

/// Which motions without stiffness a model may have, as far as its geometry shows; equal on all processes.
struct PossibleFreeMotions {
  int count = 0;                ///< motions that RigidClusters finds in the whole model
  bool others_possible = true;  ///< whether there may be others
};

/// Natural modes on several processes. Each process forms the stiffness and the mass of its own elements on its own
/// backend; the engine, an EigenEngine, finds the modes of the sum.
class ProcessModes : public ProcessAnalysis {
 public:
  /// For a domain of the part. All arguments must outlive the object. Throws Error (unavailable) if the engine does not
  /// find modes.
  ProcessModes(const ProcessPart& part, std::size_t domain, Engine& engine, std::shared_ptr<Backend> backend,
               const EngineSettings& settings);
  ~ProcessModes() override;

  /// Sets what the geometry of the whole model shows; without this call, no motion is ruled out.
  void set_possible_free_motions(const PossibleFreeMotions& possible) { possible_ = possible; }

  /// Finds modes. Shapes are those of the part; participation factors and masses are those of the whole model. Signs of
  /// shapes, modal masses and rotation nodes are left to orient_modes(), which needs whole shapes. Errors are
  /// those of EigenProblem and of EigenSolver::solve().
  ModeSet solve(const EigenRequest& request);
  /// Results of the part's elements and supports for a shape: stresses and the forces K φ, which at shared nodes
  /// include those of other parts.
  StepResult result_of(const NodalField& shape, const std::string& step, bool recover);

 private:
  void check_problem();
  EigenShare form();
  void look_at_diagonals(EigenShare& share);
  std::vector<double> summed(const std::vector<double>& values);
  void add_shapes(ModeSet& set);

  std::unique_ptr<ProcessEigenSolver> solver_;
  PossibleFreeMotions possible_;
  ModeSearchFacts facts_;
};

}  // namespace voussoir
