#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/backends/halo_traffic.hpp>
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
  double largest_eigenvalue = 0;  ///< of D⁻¹A, or of the sparse approximate inverse times A, as the smoother uses it
  std::vector<std::size_t> device_bytes;  ///< memory of the level on each device; vectors are not counted
};

/// Smoothed-aggregation algebraic multigrid for elasticity and heat conduction. Its coarse levels represent the
/// rigid-body modes of every part of the structure exactly, so that CG converges in a few dozen iterations almost
/// independently of the mesh size. Set up and applied on the backend; docs/multigrid.md explains it.
class AmgPreconditioner : public Preconditioner {
 public:
  explicit AmgPreconditioner(AmgOptions options = {});  ///< without a hierarchy, which set_up() builds
  ~AmgPreconditioner() override;

  std::string name() const override { return "amg" + options_.suffix(); }
  /// Builds the hierarchy, or updates it if only the values of the same matrix have changed (divided hierarchies are
  /// built again).
  void set_up(const LinearSOE& soe) override;
  const Operator* inverse() const override;
  std::size_t bytes() const override;
  bool is_flexible() const override { return options_.cycle == AmgOptions::Cycle::k; }
  int patience() const override;
  Checkpoint checkpoint() const override;
  bool strengthen(const LinearSOE& soe) override;
  std::string summary() const override;
  std::string advice(int iterations, bool converged) const override;

  /// Statistics of all levels, the finest first. Error (misuse) before set_up().
  std::vector<AmgLevelReport> levels() const;
  /// Memory on each device: all levels, and the vectors of cycles.
  std::vector<std::size_t> device_bytes() const;
  /// The halos that one cycle exchanges for a vector of one column, counted from the division of each level: what
  /// halo_traffic() counts while inverse() is applied. Zero on one device.
  HaloTraffic cycle_traffic() const;
  double operator_complexity() const;  ///< entries of all levels divided by those of the finest
  /// The factor by which one cycle reduces a random error on a level, measured by some cycles; near 1 is bad.
  double reduction(int level) const;
  /// Whether cycles are in single precision at present.
  bool is_single() const;

 private:
  void build(const LinearSOE& soe);
  bool may_smooth_more() const;
  int level_count() const;
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
