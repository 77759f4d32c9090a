#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include <voussoir/backends/cuda/elements/cluster_view.hpp>
#include <voussoir/backends/cuda/elements/force_step.hpp>
#include <voussoir/backends/cuda/runtime/runtime.hpp>
#include <voussoir/backends/device_model.hpp>

namespace voussoir::cuda {

/// The elements of a batch in clusters of neighbours. A block of threads does a cluster and sums its element vectors on
/// the chip; only nodes that several clusters have pass through memory, as partial sums.
struct ClusterPlan {
  int size = 0;  ///< elements of a cluster
  std::int32_t clusters = 0;
  std::int32_t elements = 0;
  std::int32_t most_nodes = 0;    ///< room for the nodes of a cluster
  int nodes = 0, components = 0;  ///< of the element type
  std::size_t most_shared = 0;    ///< bytes of shared memory that a block can have
  Array<std::int32_t> place;      ///< of each element among those of all clusters
  // As ClusterView has them.
  Array<std::int32_t> element;
  Array<std::int32_t> record;
  Array<std::int32_t> node_count;
  Array<ClusterNode> node;
  Array<std::uint32_t> first;
  Array<double> position;  ///< copies: nodes of a DeviceModel never move
  Array<std::uint16_t> incidence;
  Array<std::uint16_t> corner;

  /// Dynamic shared memory of a kernel that keeps x, in so many columns, so many vectors of each element and, where
  /// wanted, positions.
  std::size_t shared_bytes(bool positions, int columns = 1, int vectors = 1) const;
  /// That of kernels that compute for so many columns what they multiply.
  std::size_t action_bytes(int columns) const {
    return shared_bytes(true, columns, cluster_vectors(nodes * components, columns));
  }
  /// That of kernels of internal forces that take so many numbers per element, or the most that any kernel takes.
  std::size_t force_bytes(int numbers) const {
    return shared_bytes(true) +
           sizeof(double) * static_cast<std::size_t>(numbers - nodes * components) * static_cast<std::size_t>(size);
  }
  std::size_t force_bytes() const { return force_bytes(most_force_numbers(nodes, components)); }
  std::size_t bytes() const;
};

/// What a product by clusters is asked for, besides x.
struct ClusterSums {
  double* y = nullptr;
  int columns = 1, column = 0;      ///< of y: the first that is done
  int x_columns = 1, x_column = 0;  ///< of x, in the same way
  int width = 1;                    ///< columns that are done; of y they stand side by side
  std::int64_t x_step = 1;          ///< from one of them to the next in x
  bool conditions = false;          ///< entries of x that are not free count as zero, and y takes them over
  double* partial = nullptr;        ///< ClusterSet::partial_numbers() numbers a column; null: sums in any order
  int partial_components = 0;
  std::int64_t partial_step = 0;  ///< from a column to the next
  double* dot = nullptr;          ///< null, or a share of x·y for every cluster of the batch
  int dot_step = 0;               ///< from a column to the next

  /// One of the columns, alone. Its x begins at number w · x_step.
  ClusterSums only(int w) const {
    ClusterSums one = *this;
    one.width = 1;
    one.column += w;
    one.partial += partial ? w * partial_step : 0;
    one.dot += dot ? std::ptrdiff_t{w} * dot_step : 0;
    return one;
  }
};

/// A node that no single cluster finishes.
struct alignas(16) OpenNode {
  std::int32_t equation;   ///< its first one
  std::int32_t first_sum;  ///< of its partial sums, those of ascending batches and clusters
  std::int32_t sums;
  std::int32_t equations;  ///< how many it has; negative where one of them is not free
};

/// The clusters of several batches that are summed together, and the nodes that no single cluster finishes.
struct ClusterSet {
  std::vector<ClusterPlan> batches;  ///< one per batch; without clusters where the batch takes no part
  int components = 0;                ///< most of any batch: room of a partial sum
  std::int32_t clusters = 0;         ///< of all batches
  std::int32_t open_nodes = 0;
  int open_equations = 1;     ///< most of any of these nodes
  Array<OpenNode> open_node;  ///< local nodes that have several clusters, or none
  std::int64_t partial_sums = 0;

  std::size_t partial_numbers() const {
    return static_cast<std::size_t>(partial_sums) * static_cast<std::size_t>(components);
  }
  /// Sums that finish_clusters() leaves of x·y.
  int dot_partials() const;
  std::size_t bytes() const;
};

/// Elements of a cluster of a type.
int cluster_size_of(const ElementProgram& program);
/// True where elements of a program can be done in clusters on a device by kernels that want `more_bytes` of shared
/// memory besides ClusterPlan::shared_bytes().
bool fits_clusters(const ElementProgram& program, const DeviceMemory& memory, std::size_t more_bytes = 0);
/// Cuts the active batches of a device in clusters.
ClusterSet make_clusters(const DeviceModel& model, int device, const std::vector<bool>& active);
/// The clusters of a model whose supports have changed, and nothing else.
void follow_supports(const DeviceModel& model, int device, ClusterSet& set);

/// What kernels are given. Inside a section.
ClusterView cluster_view(const ClusterPlan& plan, const double* x, const ClusterSums& sums);

/// Calls launch_for(view) for each column of a product. Inside a section.
template <class Launch>
void do_each_column(const ClusterPlan& plan, const double* x, const ClusterSums& sums, const Launch& launch_for) {
  for (int w = 0; w < sums.width; ++w) launch_for(cluster_view(plan, x + w * sums.x_step, sums.only(w)));
}

/// Calls launch_for(view) for the columns of a product by kernels that compute what they multiply: all of them at once
/// where they have room on the chip, else one by one. Inside a section.
template <class Launch>
void do_columns(const ClusterPlan& plan, const double* x, const ClusterSums& sums, const Launch& launch_for) {
  if (sums.width <= most_cluster_columns && plan.action_bytes(sums.width) <= plan.most_shared)
    return launch_for(cluster_view(plan, x, sums));
  do_each_column(plan, x, sums, launch_for);
}

/// The first step of a product with sums in any order: nodes that no cluster finishes alone start at zero, or at x
/// where they are not free. Inside a section.
void begin_clusters(const DeviceModel& model, int device, const ClusterSet& set, const double* x,
                    const ClusterSums& sums);
/// The last step of a product: nodes that no cluster has finished, and, where `partials` (on the device) is not null,
/// dot_partials() sums of x·y for each column, for which `shares` has those of all clusters. For as many columns as are
/// done at once; inside a section.
void finish_clusters(const DeviceModel& model, int device, const ClusterSet& set, const double* x,
                     const ClusterSums& sums, const double* shares, double* partials);

}  // namespace voussoir::cuda
