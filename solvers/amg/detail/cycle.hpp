#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/solvers/amg/detail/divided_cycle.hpp>
#include <voussoir/solvers/amg/detail/hierarchy.hpp>
#include <voussoir/solvers/preconditioners/detail/chebyshev_steps.hpp>

namespace voussoir::detail {

/// One cycle through a hierarchy as an approximate inverse: z = M r, for one vector or a block of them. Symmetric and
/// positive definite in a V-cycle; in a K-cycle it is a little different for every r, and CG must be flexible.
class AmgCycle final : public Operator {
 public:
  AmgCycle(std::shared_ptr<Backend> backend, std::shared_ptr<const Layout> layout, const AmgHierarchy& hierarchy);

  const std::shared_ptr<const Layout>& layout() const override { return layout_; }
  void apply(const Vector& r, Vector& z) const override;
  double apply_dot(const Vector& r, Vector& z) const override;
  std::size_t bytes() const override;
  /// Memory on one device: of all levels that it has a part of, and of what cycles write there.
  std::size_t device_bytes(int device) const;
  std::size_t bytes_moved() const override;
  bool replayable() const override { return backend_->devices() == 1 && !hierarchy_.direct(); }
  std::string describe() const override;

  /// Levels are counted from the finest; divided ones come first.
  int smoothing_steps(int level) const;
  /// By how much cycles that begin on a level reduce the error of noise there, each, after a few of them: in the norm
  /// of energy. Infinity where they make it grow beyond all numbers.
  double reduction(int level) const;
  /// Motions that little stiffness resists: the span is roughly that of the lowest eigenvectors, found by inverse
  /// iteration on coarser levels. A Vector without a layout where no coarser level has many more rows than `columns`.
  Vector soft_motions(int columns) const;

 private:
  /// What cycles write, for one number of columns.
  struct LevelWork {
    LevelVector b, x, next, d, r;
    LevelVector c, v, second, w;  ///< of the K-cycle
    Array<double> scalars;
  };
  struct Work {
    int columns = 1;
    std::vector<LevelWork> levels;
    Vector outside_x, outside_y;  ///< where the finest level's products are the SOE's
  };

  Work& work_for(int columns) const;
  /// Vectors for cycles that begin on a level; finer ones have none.
  Work make_work(int columns, std::size_t first_level) const;
  std::vector<IterationStep> smoother_steps(double largest_eigenvalue, int fewest) const;
  void choose_steps(int fewest);
  bool has_factor() const;
  std::size_t divided_levels() const { return hierarchy_.divided() ? hierarchy_.divided()->levels().size() : 0; }
  /// Solves the first gathered level, below divided ones.
  void solve_gathered(const Vector& b, Vector& x) const;
  double gathered_reduction(std::size_t level) const;
  /// x of a level on the first device, interpolated to the next finer one.
  LevelVector interpolated(std::size_t level, const LevelVector& x) const;
  bool is_coarsest(std::size_t level) const { return level + 1 == hierarchy_.levels().size(); }
  bool is_outside(std::size_t level) const { return level == 0 && hierarchy_.outside(); }

  /// Solves A x = b of a level, roughly; returns x, which is one of the level's vectors.
  LevelVector& solve(Work& work, std::size_t level) const;
  LevelVector& cycle(Work& work, std::size_t level) const;
  LevelVector& k_cycle(Work& work, std::size_t level) const;
  void solve_directly(LevelVector& b, LevelVector& x) const;
  void multiply(Work& work, std::size_t level, const LevelVector& x, LevelVector& y) const;
  void residual(Work& work, std::size_t level, const LevelVector& x, const LevelVector& b, LevelVector& r) const;
  /// r = M from, on a level that has a sparse inverse M; `next` is used on the way.
  void apply_factor(Work& work, std::size_t level, const LevelVector& from) const;
  /// Steps first … of the smoother from x; returns where the new x is.
  LevelVector* smooth(Work& work, std::size_t level, std::size_t first, LevelVector* x) const;

  std::shared_ptr<Backend> backend_;
  MultigridServices& services_;
  std::shared_ptr<const Layout> layout_;
  const AmgHierarchy& hierarchy_;
  std::vector<std::vector<IterationStep>> steps_;  // per level on the first device
  std::unique_ptr<DividedCycle> divided_;          // of the levels above them, or null
  mutable std::map<int, Work> work_;               // by columns
};

}  // namespace voussoir::detail
