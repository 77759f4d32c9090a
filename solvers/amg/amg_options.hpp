#pragma once
#include <functional>
#include <string>
#include <vector>

namespace voussoir {

class AnalysisModel;

/// Motions that cost almost no energy and that a hierarchy must therefore represent exactly: `modes` numbers for each
/// equation of a model, equation by equation.
struct NearNullSpace {
  int modes = 0;               ///< per equation
  std::vector<double> values;  ///< equations × modes
};

/// What may be chosen about algebraic multigrid; docs/multigrid.md explains it.
struct AmgOptions {
  /// How coarser levels are visited.
  enum class Cycle {
    v,  ///< each level once
    k   ///< two steps of flexible CG on each coarser level: more work, for levels that reduce badly
  };
  /// What reduces errors on a level.
  enum class Smoother {
    automatic,  ///< chebyshev, and fsai where walls are thin or CG is slow
    chebyshev,  ///< by the diagonal blocks
    fsai,       ///< Chebyshev by a sparse inverse, and a basis that is smoothed twice: for thin walls, which bend
    block_jacobi,
    l1_jacobi
  };
  /// Precision of cycles.
  enum class Numbers {
    automatic,  ///< single, and double where CG then needs more than 120 iterations or breaks down, though smoothed
                ///< well
    single,
    full
  };
  /// How the coarsest level is solved.
  enum class Coarsest {
    automatic,  ///< dense as long as it is small
    dense,      ///< an inverse on the backend
    direct      ///< a sparse factorisation on the host
  };

  Cycle cycle = Cycle::v;
  Smoother smoother = Smoother::automatic;  ///< on all levels but the coarsest
  /// Before and after the coarser level, each; 0: two to four, by the spectrum of the matrix, and with fsai by a trial.
  int smoothing_steps = 0;
  int basis_steps = 0;  ///< of smoothing the basis on the finest level, 1 or 2; 0: one, two with fsai
  /// Of Chebyshev: the part [λ / ratio, λ] of the spectrum is what the smoother is made for; 0: by the spectrum.
  double smoothing_ratio = 0;
  /// Neighbours with ‖A_ij‖² ≤ threshold² ‖A_ii‖ ‖A_jj‖ are not grouped with each other; twice of it on coarser levels
  /// where the basis is smoothed once, and less where groups would be too small.
  double threshold = 0.04;
  Numbers numbers = Numbers::automatic;     ///< of the hierarchy; set-up is in double precision
  Coarsest coarsest = Coarsest::automatic;  ///< solution of the last level
  /// Levels are added until one has at most so many rows, or groups can make no smaller one.
  int coarsest_rows = 1000;
  int most_levels = 16;  ///< including the finest
  /// Null: rigid-body motions from the coordinates, or constants for heat.
  std::function<NearNullSpace(const AnalysisModel&)> near_null_space;

  /// Parses the part after "amg:" in the name of a solver: settings, separated by commas.
  ///
  ///   v-cycle  k-cycle  single  full  chebyshev  fsai  block-jacobi  l1-jacobi  dense  direct
  ///   steps=3  basis=2  ratio=20  threshold=0.05  coarsest=500  levels=2
  ///
  /// Throws Error (bad_input) for unknown and for contradictory settings.
  static AmgOptions parse(const std::string& text);
  /// The settings as text, only those that differ from the defaults: ":k-cycle,single", or nothing.
  std::string suffix() const;
};

}  // namespace voussoir
