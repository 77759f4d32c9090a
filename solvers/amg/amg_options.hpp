#pragma once
#include <functional>
#include <string>
#include <vector>

namespace voussoir {

class AnalysisModel;

/// Vectors of almost zero energy, which a multigrid hierarchy must represent exactly, such as rigid-body modes.
struct NearNullSpace {
  int modes = 0;               ///< number of vectors
  std::vector<double> values;  ///< `modes` numbers per equation of the model, equation by equation
};

/// The settings of algebraic multigrid; docs/multigrid.md explains them.
struct AmgOptions {
  /// How coarser levels are visited.
  enum class Cycle {
    v,  ///< each level once
    k   ///< two steps of flexible CG on each coarser level: more work per cycle, for hierarchies that converge slowly
  };
  /// The smoother of a level.
  enum class Smoother {
    automatic,  ///< chebyshev; fsai if walls are thin or CG is slow
    chebyshev,  ///< a Chebyshev polynomial of the matrix scaled by its diagonal blocks
    fsai,       ///< Chebyshev with a sparse approximate inverse, and a basis smoothed twice: for thin walls in bending
    block_jacobi,  ///< damped block Jacobi
    l1_jacobi      ///< Jacobi with the absolute row sums instead of the diagonal
  };
  /// The precision of the cycles.
  enum class Numbers {
    automatic,  ///< single; double if CG needs more than 120 iterations or breaks down with a strong smoother
    single,     ///< single precision: half the memory traffic
    full        ///< double precision
  };
  /// How the coarsest level is solved.
  enum class Coarsest {
    automatic,  ///< dense if the level is small, else direct
    dense,      ///< a dense inverse on the backend
    direct      ///< a sparse factorisation on the host
  };

  Cycle cycle = Cycle::v;                   ///< how coarser levels are visited
  Smoother smoother = Smoother::automatic;  ///< smoother of all levels but the coarsest
  /// Smoothing steps before the coarse-grid correction, and as many after it. 0 chooses two to four by the spectrum of
  /// the matrix, with fsai by a trial.
  int smoothing_steps = 0;
  int basis_steps = 0;  ///< steps of smoothing the prolongator of the finest level, 1 or 2; 0: one, with fsai two
  /// The Chebyshev smoother is optimal on the part [λ / ratio, λ] of the spectrum; 0 chooses the ratio by the spectrum.
  double smoothing_ratio = 0;
  /// Neighbours with ‖A_ij‖² ≤ threshold² ‖A_ii‖ ‖A_jj‖ are not strongly connected and not aggregated with each other.
  /// The threshold is doubled on coarser levels if the basis is smoothed once, and reduced if aggregates would be too
  /// small.
  double threshold = 0.04;
  Numbers numbers = Numbers::automatic;     ///< precision of the cycles; set-up is in double precision
  Coarsest coarsest = Coarsest::automatic;  ///< how the coarsest level is solved
  /// Levels are added until one has at most this many rows, or until aggregation does not make a smaller one.
  int coarsest_rows = 1000;
  int most_levels = 16;  ///< largest number of levels, including the finest
  /// On several devices, levels with more rows than this are divided over them; others are gathered on the first one.
  int gathered_rows = 200000;
  /// Computes the near-null space of a model; null for rigid-body modes from the coordinates, or constants for heat.
  std::function<NearNullSpace(const AnalysisModel&)> near_null_space;

  /// Parses the part after "amg:" in the name of a solver: settings, separated by commas.
  ///
  ///   v-cycle  k-cycle  single  full  chebyshev  fsai  block-jacobi  l1-jacobi  dense  direct
  ///   steps=3  basis=2  ratio=20  threshold=0.05  coarsest=500  levels=2  gather=50000
  ///
  /// Unknown and contradictory settings are an Error (bad_input).
  static AmgOptions parse(const std::string& text);
  /// The settings that differ from the defaults, as parse() reads them, after a colon: ":k-cycle,single", or "".
  std::string suffix() const;
};

}  // namespace voussoir
