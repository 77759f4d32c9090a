#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/solvers/amg/amg_options.hpp>
#include <voussoir/solvers/preconditioners/preconditioner.hpp>

namespace voussoir {

namespace detail {
class AmgHierarchy;
class AmgCycle;
}  // namespace detail

/// Statistics of one level of a hierarchy.
struct AmgLevelReport {
  std::int64_t rows = 0;          ///< unknowns of the level
  std::int64_t entries = 0;       ///< stored numbers of its matrix
  double largest_eigenvalue = 0;  ///< of D⁻¹A, or of the sparse inverse times A, as the smoother takes it
};

/// Smoothed-aggregation algebraic multigrid for elasticity: its coarse levels represent the
/// rigid-body motions of every part of the structure exactly, so that CG converges in a few dozen iterations however
/// fine the mesh is. Set up and applied on the backend; docs/multigrid.md explains it.
class AmgPreconditioner : public Preconditioner {
 public:
  explicit AmgPreconditioner(AmgOptions options = {});  ///< set up by set_up()
  ~AmgPreconditioner() override;

  std::string name() const override { return "amg" + options_.suffix(); }
  /// Builds the hierarchy, or brings it up to date where only values of the same matrix changed.
  void set_up(const LinearSOE& soe) override;
  const Operator* inverse() const override;
  std::size_t bytes() const override;
  bool is_flexible() const override { return options_.cycle == AmgOptions::Cycle::k; }
  int patience() const override;
  Checkpoint checkpoint() const override;
  bool strengthen(const LinearSOE& soe) override;
  std::string summary() const override;
  std::string advice(int iterations, bool converged) const override;

  std::vector<AmgLevelReport> levels() const;  ///< the finest first; empty before set_up()
  double operator_complexity() const;          ///< entries of all levels over those of the finest
  /// By how much one cycle reduces the error of noise on a level; near 1 is bad. Costs some cycles.
  double reduction(int level) const;
  /// Whether cycles read numbers in single precision now.
  bool is_single() const;

 private:
  void build(const LinearSOE& soe);
  bool may_smooth_more() const;
  const detail::AmgCycle& cycle() const;

  AmgOptions options_;
  bool single_ = true;
  bool smooths_more_ = false;             // the automatic smoother was found too weak
  std::shared_ptr<const Layout> layout_;  // of the model that the hierarchy was built for
  const Operator* matrix_ = nullptr;
  std::unique_ptr<detail::AmgHierarchy> hierarchy_;
  std::unique_ptr<detail::AmgCycle> cycle_;
};

}  // namespace voussoir
