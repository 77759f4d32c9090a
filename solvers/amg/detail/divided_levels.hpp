#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include <voussoir/framework/analysis/linear_soe.hpp>
#include <voussoir/solvers/amg/amg_options.hpp>
#include <voussoir/solvers/amg/detail/device_threads.hpp>
#include <voussoir/solvers/amg/detail/divided_nodes.hpp>
#include <voussoir/solvers/amg/detail/near_null_space.hpp>

namespace voussoir::detail {

/// A level whose nodes are divided over the devices, and the step to the next coarser one. Each device has the rows of
/// its own nodes; columns go on with ghosts.
struct DividedLevel {
  DividedNodes nodes;
  int height = 1;                      ///< rows of a block
  DeviceMatrices a;                    ///< empty on the finest level where products are left to the SOE's own matrix
  std::vector<LevelDiagonal> inverse;  ///< what the smoother divides by
  double largest_eigenvalue = 1;       ///< of the inverse times the matrix: an estimate, with ten per cent on top
  DeviceMatrices factor;             ///< G of a sparse inverse GᵀG, which couples nodes of one device only; or empty
  DeviceMatrices factor_transposed;  ///< Gᵀ
  double factor_eigenvalue = 1;      ///< the same estimate for it
  std::int64_t entries = 0;          ///< of the matrix
  DeviceMatrices prolongation;       ///< own nodes by local nodes of the next level
  DeviceMatrices restriction;        ///< own nodes of the next level by own nodes and ghosts of restriction_halo
  std::unique_ptr<NodeHalo> halo;    ///< of the columns of `a`
  std::unique_ptr<NodeHalo> restriction_halo;

  std::int64_t rows() const { return nodes.count() * height; }
  bool has_factor() const { return !factor.empty(); }
  double smoothed_eigenvalue() const { return has_factor() ? factor_eigenvalue : largest_eigenvalue; }
  std::size_t bytes(int device) const;  ///< memory on a device
};

/// The fine levels of a hierarchy on several devices. Aggregates contain nodes of one device only; prolongators and
/// coarser matrices are those of smoothed aggregation across all devices. Products of matrices need rows of neighbours,
/// which go from device to device.
class DividedLevels {
 public:
  /// Null where the backend has one device, where its service or the matrix does not permit it, or where the finest
  /// level is so small that it is gathered.
  static std::unique_ptr<DividedLevels> make(const LinearSOE& soe, const AmgOptions& options, bool single);

  const std::vector<DividedLevel>& levels() const { return levels_; }
  /// The first level that is not divided: its nodes by devices, and their halo. It has no matrices.
  const DividedLevel& gathered() const { return gathered_; }
  /// The layout of vectors of that level, without ghosts.
  const std::shared_ptr<const Layout>& gathered_layout() const { return gathered_layout_; }
  /// Moves the matrix and the near-null space of that level to the first device.
  NearNullRows take_gathered(LevelMatrix& a);
  /// Which local equation each row of the finest level is, by devices; empty: in order.
  const std::vector<Array<std::int32_t>>& equations() const { return equations_; }
  /// The SOE's own matrix, where the finest level has none.
  const Operator* outside() const { return outside_; }
  /// Whether the second level is divided and has the spectrum of thin walls.
  bool has_walls() const;

 private:
  DividedLevels(const LinearSOE& soe, const AmgOptions& options, bool single);
  void take_finest(const LinearSOE& soe, const SparseMatrix& matrix, DividedNodes nodes);
  bool build(const LinearSOE& soe);
  void make_smoother(DividedLevel& level, const LinearSOE* finest);
  void make_factor(DividedLevel& level);
  template <class Apply, class Multiply>
  double estimate_spectrum(const DividedLevel& level, const Apply& apply, const Multiply& multiply);
  void find_spectrum(DividedLevel& level, const LinearSOE* finest);
  bool coarsen(DividedLevel& level, DividedLevel& next, double threshold, DeviceMatrices& tentative);
  DeviceMatrices smooth(const DividedLevel& level, DeviceMatrices& basis, double factor, DividedNodes& coarse);
  DeviceMatrices with_neighbours(const DividedLevel& level, const DeviceMatrices& m, DividedNodes& columns);
  void project(const LinearSOE& soe, DividedLevel& level, DividedLevel& next, DeviceMatrices& tentative);
  void settle_smoother(DividedLevel& level);
  void finish(const LinearSOE& soe, DividedLevel& level);
  bool is_finest(const DividedLevel& level) const { return &level == &levels_.front(); }
  const std::shared_ptr<DeviceMemory>& memory(int device) const { return backend_->memory(device); }
  /// action(index of the device, device) for all devices, at the same time where the backend permits it.
  template <class Action>
  void on_all(const Action& action) {
    threads_->run([&](int d) { action(static_cast<std::size_t>(d), d); });
  }

  std::shared_ptr<Backend> backend_;
  DividedMultigrid& services_;
  AmgOptions options_;
  bool single_;
  int devices_;
  std::unique_ptr<DeviceThreads> threads_;  // while levels are set up
  const Operator* outside_ = nullptr;
  std::vector<Array<std::int32_t>> equations_;
  std::vector<Array<double>> near_null_;  // of the level that comes next
  int modes_ = 0;
  std::vector<DividedLevel> levels_;
  DividedLevel gathered_;
  std::shared_ptr<const Layout> gathered_layout_;
};

/// One vector for each device, with so many rows each.
DeviceVectors make_device_vectors(const Backend& backend, const std::vector<std::int64_t>& rows, int columns,
                                  bool single);
/// Rows of the nodes that each device owns.
std::vector<std::int64_t> owned_rows(const DividedNodes& nodes, int height);
/// Rows of vectors with the ghosts of a halo.
std::vector<std::int64_t> local_rows(const NodeHalo& halo, int devices);
/// Pseudo-random values that depend on the number of a row among those of all devices.
void fill_with_noise(DividedMultigrid& services, DeviceVectors& x, const DividedNodes& nodes, int height);

}  // namespace voussoir::detail
