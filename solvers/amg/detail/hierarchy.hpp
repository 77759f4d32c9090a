#pragma once
#include <memory>
#include <vector>

#include <voussoir/backends/multigrid.hpp>
#include <voussoir/framework/analysis/linear_soe.hpp>
#include <voussoir/solvers/amg/amg_options.hpp>
#include <voussoir/solvers/amg/detail/divided_levels.hpp>
#include <voussoir/solvers/amg/detail/near_null_space.hpp>
#include <voussoir/solvers/direct/factorization.hpp>

namespace voussoir::detail {

/// One level of a hierarchy, and the step to the next coarser one.
struct AmgLevel {
  std::int32_t nodes = 0;         ///< block rows
  int height = 1;                 ///< rows of a block
  LevelMatrix a;                  ///< empty on the finest level where products are left to the SOE's own matrix
  LevelDiagonal inverse;          ///< what the smoother divides by, and the smoothing of the basis
  double largest_eigenvalue = 1;  ///< of the inverse times the matrix: an estimate, with ten per cent on top
  double early_eigenvalue = 0;    ///< what the first steps to it had found
  LevelMatrix factor;             ///< G of the sparse inverse GᵀG that the smoother uses in its place, or empty
  LevelMatrix factor_transposed;
  double factor_eigenvalue = 1;  ///< the same estimates for it
  double early_factor_eigenvalue = 0;
  std::int64_t entries = 0;  ///< of the matrix

  LevelMatrix tentative;  ///< in double precision: setting up again begins with it
  LevelMatrix once;       ///< the pattern of the basis after the first of two steps of smoothing
  LevelMatrix prolongation;
  LevelMatrix restriction;  ///< its transpose
  LevelMatrix product;      ///< the pattern of A P

  std::int64_t rows() const { return std::int64_t{nodes} * height; }
  bool has_factor() const { return !factor.column.empty(); }
  /// Of what the smoother uses.
  double smoothed_eigenvalue() const { return has_factor() ? factor_eigenvalue : largest_eigenvalue; }
  std::size_t bytes() const;
};

/// The levels of smoothed aggregation (Vaněk, Mandel and Brezina 1996): nodes that are strongly connected are grouped,
/// each group is given the near-null space as its unknowns, the step between the levels is smoothed by the matrix
/// itself, and the coarser matrix is Pᵀ A P. All of it is done by the backend's MultigridServices. On several devices,
/// large levels are divided; those below them are gathered on the first device.
class AmgHierarchy {
 public:
  /// `single` rounds what cycles read.
  AmgHierarchy(const LinearSOE& soe, const AmgOptions& options, bool single);
  /// The same hierarchy for new values of the SOE's matrix: groups and patterns stay.
  void update(const LinearSOE& soe);

  /// The levels on the first device: all of them, or those below the divided ones.
  const std::vector<AmgLevel>& levels() const { return levels_; }
  /// The levels that are divided over the devices, or null.
  const DividedLevels* divided() const { return divided_.get(); }
  bool single() const { return single_; }
  const AmgOptions& options() const { return options_; }
  /// Which equation each row of the finest level is; empty: in order.
  const Array<std::int32_t>& equations() const { return equations_; }
  /// The SOE's own matrix, where the finest level has none.
  const Operator* outside() const { return outside_; }
  /// One of these solves the coarsest level.
  const DenseInverse& dense() const { return dense_; }
  Factorization* direct() const { return direct_.get(); }

  /// Entries of all levels over those of the finest.
  double operator_complexity() const;
  std::size_t bytes() const;

 private:
  void build(const LinearSOE& soe);
  void build_below(const LinearSOE& soe);
  void coarsen_further(const LinearSOE& soe, NearNullRows& space, double threshold);
  bool is_finest(const AmgLevel& level) const { return !divided_ && &level == &levels_.front(); }
  void suit_walls(const LinearSOE& soe);
  void take_finest(const LinearSOE& soe, AmgLevel& level);
  void refresh_finest(const LinearSOE& soe, AmgLevel& level, bool single);
  /// `finest` is the SOE where this is its level.
  void make_smoother(AmgLevel& level, const LinearSOE* finest);
  template <class Multiply>
  void find_spectrum(AmgLevel& level, const Multiply& multiply);
  void make_factor(AmgLevel& level);
  bool coarsen(const LinearSOE& soe, AmgLevel& level, AmgLevel& next, Array<double>& near_null, int modes,
               double threshold);
  void lay_out_basis(AmgLevel& level);
  bool is_smoothed_twice(const AmgLevel& level) const;
  void smooth_basis(AmgLevel& level);
  void project(const LinearSOE& soe, AmgLevel& level, AmgLevel& next);
  void settle_smoother(AmgLevel& level);
  void finish(AmgLevel& level);
  void solve_coarsest(AmgLevel& level);
  bool is_small(const AmgLevel& level) const;

  std::shared_ptr<Backend> backend_;
  MultigridServices& services_;
  AmgOptions options_;
  bool single_;
  const Operator* outside_ = nullptr;
  Array<std::int32_t> equations_;
  std::unique_ptr<DividedLevels> divided_;
  std::vector<AmgLevel> levels_;
  DenseInverse dense_;
  std::unique_ptr<Factorization> direct_;
};

/// A vector for a level, in the precision of the hierarchy.
LevelVector make_level_vector(const Backend& backend, std::int64_t rows, int columns, bool single);

}  // namespace voussoir::detail
