#pragma once
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include <voussoir/solvers/amg/detail/divided_levels.hpp>
#include <voussoir/solvers/preconditioners/detail/chebyshev_steps.hpp>

namespace voussoir::detail {

/// The part of a cycle that runs on divided levels. Each device works on its own rows; halos are exchanged before
/// products.
class DividedCycle {
 public:
  /// Solves the first gathered level, roughly: vectors have the layout DividedLevels::gathered_layout().
  using Solve = std::function<void(const Vector& b, Vector& x)>;
  /// `layout` is that of the SOE; `steps` are those of the smoother, by levels.
  DividedCycle(std::shared_ptr<Backend> backend, std::shared_ptr<const Layout> layout, const DividedLevels& levels,
               const AmgOptions& options, bool single);

  void set_steps(std::vector<std::vector<IterationStep>> steps) { steps_ = std::move(steps); }
  int smoothing_steps(std::size_t level) const { return static_cast<int>(steps_[level].size()); }
  /// z = M r
  void apply(const Vector& r, Vector& z, const Solve& solve);
  /// As AmgCycle::reduction(), for cycles that begin on a divided level.
  double reduction(std::size_t level, const Solve& solve);
  /// x of the first gathered level, interpolated to the finest one.
  void prolong(const Vector& from, Vector& to);
  std::size_t bytes(int device) const;
  std::size_t bytes_moved() const;

 private:
  /// What cycles write on a level, for one number of columns.
  struct LevelWork {
    DeviceVectors b, x, d, r, between;
    DeviceVectors local;            // with the ghosts of the level
    DeviceVectors restricted;       // with those of the restriction
    DeviceVectors c, v, second, w;  // of the K-cycle
    std::vector<Array<double>> scalars;
  };
  struct Work {
    int columns = 1;
    std::vector<LevelWork> levels;  // divided ones, then the gathered one
    Vector outside_x, outside_y;    // where the finest level's products are the SOE's
    Vector gathered_b, gathered_x;
  };

  Work& work_for(int columns);
  LevelWork make_level_work(const DividedLevel& level, std::size_t index, int columns) const;
  bool is_outside(std::size_t level) const { return level == 0 && levels_.outside(); }
  DeviceVectors& solve(Work& work, std::size_t level, const Solve& below);
  DeviceVectors& cycle(Work& work, std::size_t level, const Solve& below);
  DeviceVectors& k_cycle(Work& work, std::size_t level, const Solve& below);
  void multiply(Work& work, std::size_t level, const DeviceVectors& x, DeviceVectors& y);
  void residual(Work& work, std::size_t level, const DeviceVectors& x, const DeviceVectors& b, DeviceVectors& r);
  void apply_factor(LevelWork& work, const DividedLevel& level, const DeviceVectors& from);
  void smooth(Work& work, std::size_t level, std::size_t first);
  void add_dots(LevelWork& work, const DeviceVectors& x, const DeviceVectors& y, int slot);
  void share_sums(LevelWork& work, int first_slot, int slots);
  void copy(const DeviceVectors& x, DeviceVectors& y);
  double dot(const DeviceVectors& x, const DeviceVectors& y);
  template <class Do>
  void on_all(const Do& action);

  std::shared_ptr<Backend> backend_;
  DividedMultigrid& services_;
  const DividedLevels& levels_;
  bool k_cycle_;
  bool single_;
  std::vector<std::vector<IterationStep>> steps_;
  std::vector<Array<std::int32_t>> in_order_;  // equations of the gathered level
  OwnedTransfer transfer_;
  OwnedTransfer gathered_transfer_;
  std::map<int, Work> work_;  // by columns
};

}  // namespace voussoir::detail
