#include <algorithm>
#include <type_traits>

#include <voussoir/backends/cuda/elements/clusters.hpp>
#include <voussoir/backends/cuda/matrix/cuda_operator.hpp>
#include <voussoir/backends/cuda/primitives/reduction.hpp>
#include <voussoir/backends/cuda/runtime/early_start.hpp>
#include <voussoir/backends/cuda/runtime/memory.hpp>

// Products by clusters of elements (clusters.hpp): what kernels are given, and the sums of nodes that no single cluster
// finishes.

namespace voussoir::cuda {

namespace {

struct OpenNodes {
  std::int32_t count = 0;
  int most_equations = 1;  ///< of any of them
  const OpenNode* node = nullptr;
  const std::uint8_t* constrained = nullptr;
  std::int32_t owned = 0;  ///< equations
};

constexpr int finish_threads = 256;

/// Adds up the partial sums of nodes, a thread for each equation, and shares of x·y. Where there are no partial sums,
/// clusters have added to y already. `width`: equations of a node, of which there are not too many for 32 bits; 0:
/// most_equations. Shares and partials of a column follow those of the one before.
template <int width, int columns>
__global__ void __launch_bounds__(finish_threads)
    finish_nodes(OpenNodes nodes, const double* x, ClusterSums sums, std::int32_t clusters, const double* shares,
                 double* partials) {
  using Index = std::conditional_t<(width > 0), std::int32_t, std::int64_t>;
  const Index each = width > 0 ? width : nodes.most_equations, count = nodes.count * each;
  const Index first = static_cast<Index>(blockIdx.x) * finish_threads + static_cast<Index>(threadIdx.x);
  const Index step = static_cast<Index>(gridDim.x) * finish_threads;
  double share[columns];
#pragma unroll
  for (int w = 0; w < columns; ++w) share[w] = 0;
  // What the plan says of a node is on its way while the one before it is done; the first while earlier work ends.
  const auto node_at = [&](Index t) { return nodes.node[t < count ? t / each : 0]; };
  OpenNode next = nodes.count > 0 ? node_at(first) : OpenNode{};
  after_earlier_work();
  for (Index t = first; t < count; t += step) {
    const int i = static_cast<int>(t % each);
    const OpenNode node = next;
    next = node_at(t + step);
    if (i >= (node.equations < 0 ? -node.equations : node.equations)) continue;
    const std::int32_t equation = node.equation + i;
    const double* own = x + static_cast<std::int64_t>(equation) * sums.x_columns + sums.x_column;
    double* y = sums.y + static_cast<std::int64_t>(equation) * sums.columns + sums.column;
#pragma unroll
    for (int w = 0; w < columns; ++w, own += sums.x_step, ++y) {
      if (w > 0 && w >= sums.width) break;
      double sum = 0;
      if (!sums.partial) {
        sum = *y;
      } else {
        if (i < sums.partial_components) {
          const double* partial = sums.partial + w * sums.partial_step +
                                  static_cast<std::int64_t>(node.first_sum) * sums.partial_components + i;
#pragma unroll 4
          for (std::int32_t k = 0; k < node.sums; ++k)
            sum += partial[static_cast<std::int64_t>(k) * sums.partial_components];
        }
        if (sums.conditions && node.equations < 0 && nodes.constrained[equation]) sum = *own;
        *y = sum;
      }
      if (partials && equation < nodes.owned) share[w] += *own * sum;
    }
  }
  if (!partials) return;
  for (int w = 0; w < columns; ++w) {
    if (w > 0 && w >= sums.width) break;
    for (Index k = first; k < clusters; k += step) share[w] += shares[static_cast<std::int64_t>(w) * clusters + k];
    const double sum = sum_block<finish_threads>(share[w]);
    if (threadIdx.x == 0) partials[w * gridDim.x + blockIdx.x] = sum;
  }
}

/// The partial sums of nodes for a product with one column, nothing else asked for: a thread for each equation, and the
/// sums of most nodes on their way at once. `width` as of finish_nodes().
template <int width>
__global__ void __launch_bounds__(finish_threads) add_partial_sums(OpenNodes nodes, ClusterSums sums) {
  using Index = std::conditional_t<(width > 0), std::int32_t, std::int64_t>;
  constexpr int at_once = 8;
  const Index each = width > 0 ? width : nodes.most_equations;
  const Index t = static_cast<Index>(blockIdx.x) * finish_threads + static_cast<Index>(threadIdx.x), n = t / each;
  const OpenNode node = n < nodes.count ? nodes.node[n] : OpenNode{0, 0, 0, 0};
  after_earlier_work();
  const int i = static_cast<int>(t - n * each);
  if (i >= (node.equations < 0 ? -node.equations : node.equations)) return;
  const int step = sums.partial_components;
  const double* partial = sums.partial + static_cast<std::int64_t>(node.first_sum) * step + i;
  const std::int32_t count = i < step ? node.sums : 0;
  double value[at_once], sum = 0;
#pragma unroll
  for (int k = 0; k < at_once; ++k) value[k] = k < count ? partial[k * step] : 0;
#pragma unroll
  for (int k = 0; k < at_once; ++k)
    if (k < count) sum += value[k];
  for (std::int32_t k = at_once; k < count; ++k) sum += partial[static_cast<std::int64_t>(k) * step];
  sums.y[static_cast<std::int64_t>(node.equation + i) * sums.columns + sums.column] = sum;
}

/// y = 0, or x where not free, at nodes that no single cluster finishes, a thread for each equation.
__global__ void __launch_bounds__(finish_threads) begin_nodes(OpenNodes nodes, const double* x, ClusterSums sums) {
  const std::int64_t t = static_cast<std::int64_t>(blockIdx.x) * finish_threads + threadIdx.x;
  const std::int64_t n = t / nodes.most_equations;
  if (n >= nodes.count) return;
  const int i = static_cast<int>(t - n * nodes.most_equations);
  const OpenNode node = nodes.node[n];
  if (i >= (node.equations < 0 ? -node.equations : node.equations)) return;
  const std::int64_t equation = node.equation + i;
  const bool constrained = sums.conditions && node.equations < 0 && nodes.constrained[equation];
  for (int w = 0; w < sums.width; ++w)
    sums.y[equation * sums.columns + sums.column + w] =
        constrained ? x[w * sums.x_step + equation * sums.x_columns + sums.x_column] : 0;
}

/// As many blocks as a large GPU holds at once.
Grid finish_grid(std::int32_t nodes, int equations) {
  const Grid grid = grid_for(std::int64_t{nodes} * equations, finish_threads);
  return {std::clamp<std::int64_t>(grid.blocks, 1, CudaOperator::most_dot_partials), finish_threads, 0, Start::early};
}

}  // namespace

int ClusterSet::dot_partials() const { return static_cast<int>(finish_grid(open_nodes, open_equations).blocks); }

ClusterView cluster_view(const ClusterPlan& plan, const double* x, const ClusterSums& sums) {
  ClusterView view;
  view.size = plan.size;
  view.most_nodes = plan.most_nodes;
  view.count = plan.elements;
  view.element = plan.element.read_device();
  view.record = plan.record.empty() ? nullptr : plan.record.read_device();
  view.node_count = plan.node_count.read_device();
  view.node = plan.node.read_device();
  view.first = plan.first.read_device();
  view.position = plan.position.read_device();
  view.incidence = reinterpret_cast<const ClusterWords*>(plan.incidence.read_device());
  view.corner = reinterpret_cast<const ClusterWords*>(plan.corner.read_device());
  view.width = sums.width;
  view.x = x;
  view.y = sums.y;
  view.x_columns = sums.x_columns;
  view.x_column = sums.x_column;
  view.x_step = sums.x_step;
  view.columns = sums.columns;
  view.column = sums.column;
  view.conditions = sums.conditions ? 1 : 0;
  view.partial = sums.partial;
  view.partial_components = sums.partial_components;
  view.partial_step = sums.partial_step;
  view.dot = sums.dot;
  view.dot_step = sums.dot_step;
  return view;
}

namespace {

OpenNodes open_nodes_of(const DeviceModel& model, int device, const ClusterSet& set) {
  const Array<std::uint8_t>& constrained = model.part(device).constrained;
  return {set.open_nodes, set.open_equations, set.open_nodes ? set.open_node.read_device() : nullptr,
          constrained.empty() ? nullptr : constrained.read_device(), model.layout()->owned(device)};
}

}  // namespace

void begin_clusters(const DeviceModel& model, int device, const ClusterSet& set, const double* x,
                    const ClusterSums& sums) {
  launch(begin_nodes, grid_for(std::int64_t{set.open_nodes} * set.open_equations, finish_threads),
         stream_of(model.layout()->memory(device)), open_nodes_of(model, device, set), x, sums);
}

namespace {

/// Calls use(width): the equations of open nodes as their kernels take them, known when they are compiled; 0: not.
template <class Use>
auto with_width(const ClusterSet& set, const Use& use) {
  if (std::int64_t{set.open_nodes} * set.open_equations < std::int64_t{1} << 30) {
    if (set.open_equations == 1) return use(std::integral_constant<int, 1>{});
    if (set.open_equations == 2) return use(std::integral_constant<int, 2>{});
    if (set.open_equations == 3) return use(std::integral_constant<int, 3>{});
  }
  return use(std::integral_constant<int, 0>{});
}
template <int columns>
auto finish_kernel(const ClusterSet& set) {
  return with_width(set, [](auto width) { return finish_nodes<width.value, columns>; });
}
auto add_kernel(const ClusterSet& set) {
  return with_width(set, [](auto width) { return add_partial_sums<width.value>; });
}

}  // namespace

void finish_clusters(const DeviceModel& model, int device, const ClusterSet& set, const double* x,
                     const ClusterSums& sums, const double* shares, double* partials) {
  if (sums.width == 1 && sums.partial && !sums.conditions && !partials) {
    if (set.open_nodes == 0) return;
    Grid grid = grid_for(std::int64_t{set.open_nodes} * set.open_equations, finish_threads);
    grid.start = Start::early;
    return launch(add_kernel(set), grid, stream_of(model.layout()->memory(device)), open_nodes_of(model, device, set),
                  sums);
  }
  launch(sums.width == 1 ? finish_kernel<1>(set) : finish_kernel<most_cluster_columns>(set),
         finish_grid(set.open_nodes, set.open_equations), stream_of(model.layout()->memory(device)),
         open_nodes_of(model, device, set), x, sums, set.clusters, shares, partials);
}

}  // namespace voussoir::cuda
