#include <voussoir/backends/cuda/elements/clusters.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

#include <voussoir/backends/cuda/elements/element_curve.hpp>
#include <voussoir/backends/cuda/elements/split_clusters.hpp>
#include <voussoir/backends/cuda/runtime/memory.hpp>
#include <voussoir/backends/detail/overlap.hpp>

// Clusters of elements: how batches are cut in them, on the host, and the nodes that they share. What products do with
// these nodes is in cluster_sums.cu.

namespace voussoir::cuda {

namespace {

constexpr int most_components = 8;  // bits of ClusterView::first
/// Room for the nodes of a cluster and one more, so that what follows in memory begins at multiples of 64 bytes.
constexpr std::int32_t rounded_nodes(std::int32_t most) { return (most / 16 + 1) * 16; }

template <class T>
std::vector<T> on_host(const std::shared_ptr<DeviceMemory>& memory, const Array<T>& array) {
  std::vector<T> values(array.size());
  if (values.empty()) return values;
  DeviceSection section(*memory);
  memory->copy_to_host(values.data(), array.read_device(), array.bytes());
  return values;
}

template <class T>
Array<T> settled(const std::shared_ptr<DeviceMemory>& memory, const std::vector<T>& values) {
  Array<T> array(memory, values.size());
  if (values.empty()) return array;
  DeviceSection section(*memory);
  memory->copy_to_device(array.write_device(), values.data(), array.bytes());
  return array;
}

/// What planning reads of a device's part.
struct HostPart {
  std::vector<double> coordinates;
  std::vector<std::int32_t> first_equation;
  std::vector<std::uint8_t> constrained;
  std::vector<std::uint8_t> computed;  ///< per local node: 1 where the device computes its rows
  std::vector<std::uint8_t> waits;     ///< per local node: 1 where its values depend on those of other devices
};

HostPart read_part(const DeviceModel& model, int device) {
  const DeviceModel::Part& part = model.part(device);
  const auto& memory = model.layout()->memory(device);
  HostPart host{on_host(memory, part.coordinates),
                on_host(memory, part.first_equation),
                on_host(memory, part.constrained),
                {},
                {}};
  host.computed.assign(static_cast<std::size_t>(part.local_nodes), 0);
  std::fill_n(host.computed.begin(), part.owned_nodes, std::uint8_t{1});
  for (const std::int32_t node : part.dependency_rows) host.computed[static_cast<std::size_t>(node)] = 1;
  host.waits = voussoir::detail::waiting_nodes(model, device, host.first_equation);
  return host;
}

/// Numbers that nodes have within a cluster.
class NodeTable {
 public:
  explicit NodeTable(std::size_t most) {
    while (std::size_t{1} << bits_ < 2 * most) ++bits_;
    slots_.resize(std::size_t{1} << bits_);
    clear();
  }
  void clear() { std::fill(slots_.begin(), slots_.end(), Slot{-1, 0}); }
  /// The number of a node; `added` where it is asked for the first time.
  std::uint16_t& number(std::int32_t node, bool& added) {
    std::size_t at = (static_cast<std::uint32_t>(node) * 2654435769u) >> (32 - bits_);
    while (slots_[at].node != node && slots_[at].node >= 0) at = (at + 1) & (slots_.size() - 1);
    added = slots_[at].node < 0;
    slots_[at].node = node;
    return slots_[at].number;
  }
  std::uint16_t& number(std::int32_t node) {
    bool added = false;
    return number(node, added);
  }

 private:
  struct Slot {
    std::int32_t node;
    std::uint16_t number;
  };
  int bits_ = 1;
  std::vector<Slot> slots_;
};

/// The nodes of a run of clusters.
struct NodeLists {
  std::vector<std::int32_t> node;    ///< cluster by cluster, in the order of their numbers; −1: nobody's
  std::vector<std::uint16_t> first;  ///< incidence of each
};

/// A plan on its way: what still waits for the other batches.
struct Draft {
  std::size_t clusters = 0, size = 0, width = 0;
  std::vector<std::int32_t> node_count;
  std::vector<NodeLists> lists;  ///< of each run of `grain` clusters
  static constexpr std::size_t grain = 32;

  std::size_t elements_of(std::size_t cluster, std::size_t elements) const {
    return std::min(elements, (cluster + 1) * size) - cluster * size;
  }
};

/// The elements of a batch, cut in clusters.
struct CutBatch {
  std::vector<std::int32_t> order, place;
  std::vector<std::uint16_t> corner, incidence;
};

/// Numbers for the nodes of a cluster, given by the lists of those that a node's elements and their corners are:
/// corner · size + element. Shared memory has 16 banks for numbers of 8 bytes, and 16 threads read the same corner of
/// their elements at once: nodes that meet in such a read get different banks where that is possible. Some numbers are
/// nobody's, fewer than `most_free_numbers`. Returns how many there are with those.
constexpr std::size_t banks = 16;
constexpr std::int32_t most_free_numbers = 2 * banks;
std::size_t number_by_banks(std::size_t size, std::size_t width, const std::vector<std::uint32_t>& begin,
                            const std::vector<std::uint16_t>& list, std::vector<std::uint16_t>& number) {
  const std::size_t own = begin.size() - 1, most_rows = (own + banks - 1) / banks + 1;
  std::vector<std::uint16_t> taken((size + banks - 1) / banks * width, 0);
  std::array<std::size_t, banks> rows{};
  const auto read_of = [&](std::uint32_t k) -> std::uint16_t& {
    return taken[list[k] % size / banks * width + list[k] / size];
  };
  std::size_t end = 0;
  number.resize(own);
  for (std::size_t n = 0; n < own; ++n) {
    std::array<std::size_t, banks> meetings{};
    for (std::uint32_t k = begin[n]; k < begin[n + 1]; ++k)
      for (unsigned met = read_of(k); met != 0; met &= met - 1)
        ++meetings[static_cast<std::size_t>(std::countr_zero(met))];
    std::size_t best = banks;
    for (std::size_t b = 0; b < banks; ++b)
      if (rows[b] < most_rows &&
          (best == banks || std::pair(meetings[b], rows[b]) < std::pair(meetings[best], rows[best])))
        best = b;
    for (std::uint32_t k = begin[n]; k < begin[n + 1]; ++k) read_of(k) |= static_cast<std::uint16_t>(1u << best);
    number[n] = static_cast<std::uint16_t>(best + banks * rows[best]++);
    end = std::max<std::size_t>(end, number[n] + 1u);
  }
  return end;
}

/// Lists of the nodes of a cluster, for which corner_at(i, a) is a number below `count`, node a of element i.
template <class Corner>
void list_corners(std::size_t elements, std::size_t size, std::size_t width, std::size_t count, const Corner& corner_at,
                  std::vector<std::uint32_t>& begin, std::uint16_t* list) {
  begin.assign(count + 1, 0);
  for (std::size_t i = 0; i < elements; ++i)
    for (std::size_t a = 0; a < width; ++a) ++begin[corner_at(i, a)];
  std::uint32_t before = 0;
  for (std::uint32_t& n : begin) before += std::exchange(n, before);
  for (std::size_t i = 0; i < elements; ++i)
    for (std::size_t a = 0; a < width; ++a) list[begin[corner_at(i, a)]++] = static_cast<std::uint16_t>(a * size + i);
  for (std::size_t n = count; n > 0; --n) begin[n] = begin[n - 1];
  begin[0] = 0;
}

/// What cut_cluster() works with.
struct CutRoom {
  NodeTable table;
  std::vector<std::int32_t> node;     ///< of the cluster, ascending
  std::vector<std::uint32_t> begin;   ///< of the list of each
  std::vector<std::uint16_t> list;    ///< their elements
  std::vector<std::uint16_t> number;  ///< that they get
};

/// Names the nodes of a cluster and lists the elements of each.
void cut_cluster(const std::vector<std::int32_t>& nodes, std::size_t c, CutBatch& cut, Draft& draft, NodeLists& lists,
                 CutRoom& room) {
  const std::size_t size = draft.size, width = draft.width, words = (width + 7) / 8;
  const std::size_t begin = c * size, count = draft.elements_of(c, cut.order.size());
  const auto order = cut.order.begin() + static_cast<std::ptrdiff_t>(begin);
  std::sort(order, order + static_cast<std::ptrdiff_t>(count));
  const auto node_at = [&](std::size_t i, std::size_t a) {
    return nodes[static_cast<std::size_t>(cut.order[begin + i]) * width + a];
  };
  room.table.clear();
  room.node.clear();
  for (std::size_t i = 0; i < count; ++i) {
    cut.place[static_cast<std::size_t>(cut.order[begin + i])] = static_cast<std::int32_t>(begin + i);
    for (std::size_t a = 0; a < width; ++a) {
      bool added = false;
      (void)room.table.number(node_at(i, a), added);
      if (added) room.node.push_back(node_at(i, a));
    }
  }
  std::sort(room.node.begin(), room.node.end());
  for (std::size_t n = 0; n < room.node.size(); ++n) room.table.number(room.node[n]) = static_cast<std::uint16_t>(n);
  const auto corner_at = [&](std::size_t i, std::size_t a) -> std::uint16_t& {
    return cut.corner[((c * words + a / 8) * size + i) * 8 + a % 8];
  };
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t a = 0; a < width; ++a) corner_at(i, a) = room.table.number(node_at(i, a));
  room.list.resize(width * size);
  list_corners(count, size, width, room.node.size(), corner_at, room.begin, room.list.data());
  const std::size_t numbers = number_by_banks(size, width, room.begin, room.list, room.number);
  draft.node_count[c] = static_cast<std::int32_t>(numbers);
  const std::size_t before = lists.node.size();
  lists.node.resize(before + numbers, -1);
  for (std::size_t n = 0; n < room.node.size(); ++n) lists.node[before + room.number[n]] = room.node[n];
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t a = 0; a < width; ++a) corner_at(i, a) = room.number[corner_at(i, a)];
  list_corners(count, size, width, numbers, corner_at, room.begin, cut.incidence.data() + c * width * size);
  for (std::size_t n = 0; n < numbers; ++n) lists.first.push_back(static_cast<std::uint16_t>(room.begin[n]));
}

/// Brings elements that wait for values of other devices to the beginning, and as many of the others as fill their last
/// cluster. Returns how many these are.
std::size_t put_waiting_first(std::vector<std::int32_t>& order, const std::vector<std::int32_t>& nodes,
                              std::size_t width, const std::vector<std::uint8_t>& waits, std::size_t size) {
  const auto middle = std::stable_partition(order.begin(), order.end(), [&](std::int32_t e) {
    const auto own = nodes.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(e) * width);
    return std::any_of(own, own + static_cast<std::ptrdiff_t>(width),
                       [&](std::int32_t n) { return waits[static_cast<std::size_t>(n)] != 0; });
  });
  const auto waiting = static_cast<std::size_t>(middle - order.begin());
  return std::min(order.size(), (waiting + size - 1) / size * size);
}

/// A plan without elements.
ClusterPlan empty_plan(const DeviceModel& model, int device, int batch) {
  const ElementProgram& program = *model.part(device).batches[static_cast<std::size_t>(batch)].program;
  ClusterPlan plan;
  plan.nodes = program.nodes();
  plan.components = program.components();
  plan.size = cluster_size(program.dofs());
  plan.most_shared = cuda_memory(model.layout()->memory(device)).facts().shared_bytes_per_block;
  return plan;
}

/// Makes the clusters of some elements of a batch, those of `cut.order`, and gives them their places. What stands at
/// their nodes waits for settle_nodes().
void plan_elements(const std::shared_ptr<DeviceMemory>& memory, const std::vector<std::int32_t>& nodes, CutBatch& cut,
                   Draft& draft, ClusterPlan& plan) {
  plan.elements = static_cast<std::int32_t>(cut.order.size());
  plan.clusters = (plan.elements + plan.size - 1) / plan.size;
  draft.clusters = static_cast<std::size_t>(plan.clusters);
  draft.size = static_cast<std::size_t>(plan.size);
  draft.width = static_cast<std::size_t>(plan.nodes);
  draft.node_count.resize(draft.clusters);
  draft.lists.resize((draft.clusters + Draft::grain - 1) / Draft::grain);
  cut.place.resize(nodes.size() / draft.width);
  cut.corner.assign(draft.clusters * ((draft.width + 7) / 8) * 8 * draft.size, 0);
  cut.incidence.assign(draft.clusters * draft.width * draft.size, 0);
  in_pieces(draft.clusters, Draft::grain, [&](std::size_t begin, std::size_t end) {
    CutRoom room{NodeTable(draft.width * draft.size), {}, {}, {}, {}};
    for (std::size_t c = begin; c < end; ++c)
      cut_cluster(nodes, c, cut, draft, draft.lists[begin / Draft::grain], room);
  });
  // One more than any cluster has: the place after the last node says where the last incidences end.
  const std::int32_t most = plan.clusters > 0 ? *std::max_element(draft.node_count.begin(), draft.node_count.end()) : 0;
  plan.most_nodes = rounded_nodes(most);
  plan.node_count = settled(memory, draft.node_count);
  plan.incidence = settled(memory, cut.incidence);
  plan.corner = settled(memory, cut.corner);
}

/// Clusters of a batch on their way.
struct PlannedClusters {
  int batch = 0;
  ClusterPlan* plan = nullptr;
  Draft draft;
};

/// Cuts a batch in clusters; with `interior`, in those that wait for values of other devices and those that do not.
void plan_batch(const DeviceModel& model, int device, int batch, const HostPart& host, ClusterPlan& plan,
                ClusterPlan* interior, std::vector<PlannedClusters>& planned) {
  const auto& memory = model.layout()->memory(device);
  const std::vector<std::int32_t> nodes =
      on_host(memory, model.part(device).batches[static_cast<std::size_t>(batch)].nodes);
  plan = empty_plan(model, device, batch);
  const auto width = static_cast<std::size_t>(plan.nodes);
  std::vector<std::int32_t> order = curve_order(host.coordinates, nodes, width);
  std::size_t first = order.size();  // elements of the first plan
  if (interior) first = put_waiting_first(order, nodes, width, host.waits, static_cast<std::size_t>(plan.size));
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(first);
  CutBatch cut;
  cut.order.assign(order.begin(), middle);
  planned.push_back({batch, &plan, {}});
  plan_elements(memory, nodes, cut, planned.back().draft, plan);
  if (interior) {
    CutBatch other;
    other.order.assign(middle, order.end());
    *interior = empty_plan(model, device, batch);
    planned.push_back({batch, interior, {}});
    plan_elements(memory, nodes, other, planned.back().draft, *interior);
    interior->element = settled(memory, other.order);
    for (const std::int32_t e : other.order)
      cut.place[static_cast<std::size_t>(e)] =
          static_cast<std::int32_t>(first) + other.place[static_cast<std::size_t>(e)];
    cut.order.insert(cut.order.end(), other.order.begin(), other.order.end());
  }
  plan.element = settled(memory, cut.order);
  plan.place = settled(memory, cut.place);
}

/// Which clusters finish a node.
struct NodeTargets {
  std::vector<std::int32_t> clusters;  ///< of each local node
  std::vector<std::uint8_t> straight;  ///< one cluster finishes it
  std::vector<std::int32_t> next;      ///< place of its next partial sum
};

__global__ void place_positions(std::int64_t count, std::int32_t most_nodes, const std::int32_t* node,
                                const double* coordinates, double* position) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const std::int64_t cluster = i / most_nodes, n = i - cluster * most_nodes;
  for (int k = 0; k < 3; ++k)
    position[(3 * cluster + k) * most_nodes + n] = node[i] < 0 ? 0 : coordinates[3ll * node[i] + k];
}

__global__ void place_records(std::int64_t count, std::int32_t elements, const std::int32_t* element,
                              const std::int32_t* record, std::int32_t* placed) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) placed[i] = i < elements ? record[element[i]] : 0;
}

__global__ void mark_cluster_nodes(std::int64_t count, int components, const std::uint8_t* constrained,
                                   const ClusterNode* node, std::uint32_t* first) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count || node[i].equation < 0) return;
  std::uint32_t marks = 0;
  for (int k = 0; k < components; ++k)
    if (constrained[node[i].equation + k]) marks |= 1u << k;
  first[i] = (first[i] & 0xffffu) | marks << 16;
}

__global__ void mark_open_nodes(std::int32_t count, const std::uint8_t* constrained, OpenNode* node) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const std::int32_t equations = node[i].equations < 0 ? -node[i].equations : node[i].equations;
  bool some = false;
  for (std::int32_t k = 0; k < equations; ++k) some = some || constrained[node[i].equation + k];
  node[i].equations = some ? -equations : equations;
}

/// What stands at the nodes of clusters, once all batches are known.
void settle_nodes(const DeviceModel& model, int device, int batch, const HostPart& host, const Draft& draft,
                  NodeTargets& targets, ClusterPlan& plan) {
  const DeviceModel::Part& part = model.part(device);
  const auto& memory = model.layout()->memory(device);
  const auto most = static_cast<std::size_t>(plan.most_nodes);
  const std::size_t room = draft.clusters * most;
  std::vector<std::int32_t> at(room, -1);
  std::vector<ClusterNode> node(room, ClusterNode{-1, ClusterNode::nowhere});
  std::vector<std::uint32_t> first(room, 0);
  // Places of partial sums follow the order of clusters, so one thread gives them away.
  for (std::size_t c = 0, k = 0; c < draft.clusters; ++c) {
    const NodeLists& lists = draft.lists[c / Draft::grain];
    if (c % Draft::grain == 0) k = 0;
    for (std::size_t n = 0; n < static_cast<std::size_t>(draft.node_count[c]); ++n, ++k) {
      if (lists.node[k] < 0) continue;
      const auto own = static_cast<std::size_t>(lists.node[k]);
      at[c * most + n] = lists.node[k];
      if (host.computed[own])
        node[c * most + n].target = targets.straight[own] ? ClusterNode::straight : targets.next[own]++;
    }
  }
  in_pieces(draft.clusters, Draft::grain, [&](std::size_t begin, std::size_t end) {
    const NodeLists& lists = draft.lists[begin / Draft::grain];
    for (std::size_t c = begin, k = 0; c < end; ++c) {
      const auto count = static_cast<std::size_t>(draft.node_count[c]);
      for (std::size_t n = 0; n < count; ++n, ++k) {
        first[c * most + n] = lists.first[k];
        if (lists.node[k] < 0) continue;
        const auto own = static_cast<std::size_t>(lists.node[k]);
        const std::int32_t equation = host.first_equation[own];
        const std::int32_t equations = std::min(host.first_equation[own + 1] - equation, plan.components);
        std::uint32_t constrained = 0;
        for (int i = 0; i < equations; ++i)
          if (host.constrained[static_cast<std::size_t>(equation + i)]) constrained |= 1u << i;
        node[c * most + n].equation = equation;
        first[c * most + n] |= constrained << 16;
      }
      const auto total = draft.elements_of(c, static_cast<std::size_t>(plan.elements)) * draft.width;
      std::fill_n(first.begin() + static_cast<std::ptrdiff_t>(c * most + count), most - count,
                  static_cast<std::uint32_t>(total));
    }
  });
  plan.node = settled(memory, node);
  plan.first = settled(memory, first);
  const Array<std::int32_t> local = settled(memory, at);
  const Array<std::int32_t>& record = part.batches[static_cast<std::size_t>(batch)].record;
  const std::size_t places = draft.clusters * draft.size;
  plan.position = Array<double>(memory, 3 * room);
  if (!record.empty()) plan.record = Array<std::int32_t>(memory, places);
  DeviceSection section(*memory);
  const cudaStream_t stream = stream_of(memory);
  launch(place_positions, grid_for(static_cast<std::int64_t>(room)), stream, static_cast<std::int64_t>(room),
         plan.most_nodes, local.read_device(), part.coordinates.read_device(), plan.position.write_device());
  if (!record.empty())
    launch(place_records, grid_for(static_cast<std::int64_t>(places)), stream, static_cast<std::int64_t>(places),
           plan.elements, plan.element.read_device(), record.read_device(), plan.record.write_device());
  synchronize(stream);  // products that start early read the plan before they wait for anything
}

std::size_t room_of_cluster(int nodes, int components, int size, std::int64_t most_nodes, bool positions) {
  const std::int64_t elements = static_cast<std::int64_t>(nodes) * size;
  return static_cast<std::size_t>(static_cast<std::int64_t>(sizeof(double)) *
                                      (elements * components + most_nodes * (components + (positions ? 3 : 0))) +
                                  static_cast<std::int64_t>(sizeof(std::uint16_t)) * elements +
                                  static_cast<std::int64_t>(sizeof(ClusterNode) + sizeof(std::uint32_t)) * most_nodes +
                                  16);
}

}  // namespace

std::size_t ClusterPlan::shared_bytes(bool positions, int columns, int vectors) const {
  const auto further = static_cast<std::size_t>((columns - 1) * components) * static_cast<std::size_t>(most_nodes) +
                       static_cast<std::size_t>((vectors - 1) * nodes * components) * static_cast<std::size_t>(size);
  return room_of_cluster(nodes, components, size, most_nodes, positions) + sizeof(double) * further;
}

std::size_t ClusterPlan::bytes() const {
  return element.bytes() + place.bytes() + record.bytes() + node_count.bytes() + node.bytes() + first.bytes() +
         position.bytes() + incidence.bytes() + corner.bytes();
}

std::size_t ClusterSet::bytes() const {
  std::size_t total = open_node.bytes();
  for (const ClusterPlan& plan : batches) total += plan.bytes();
  return total;
}

std::size_t SplitClusters::bytes() const {
  std::size_t total = ClusterSet::bytes();
  for (const ClusterPlan& plan : interior) total += plan.bytes();
  return total;
}

int cluster_size_of(const ElementProgram& program) { return cluster_size(program.dofs()); }

bool fits_clusters(const ElementProgram& program, const DeviceMemory& memory, std::size_t more_bytes) {
  const int size = cluster_size(program.dofs());
  const std::int64_t most_nodes = std::int64_t{size} * program.nodes();
  return program.components() <= most_components &&
         most_nodes + most_free_numbers <= std::numeric_limits<std::uint16_t>::max() &&
         more_bytes + room_of_cluster(program.nodes(), program.components(), size,
                                      rounded_nodes(static_cast<std::int32_t>(most_nodes) + most_free_numbers), true) <=
             static_cast<const CudaMemory&>(memory).facts().shared_bytes_per_block;
}

namespace {

/// The nodes that no single cluster finishes, and their places among the partial sums.
void list_open_nodes(const DeviceModel& model, int device, const HostPart& host, NodeTargets& targets,
                     ClusterSet& set) {
  targets.next.assign(targets.straight.size(), 0);
  std::vector<OpenNode> open;
  std::int64_t sums = 0;
  for (std::size_t n = 0; n < targets.straight.size(); ++n) {
    if (targets.straight[n]) continue;
    if (sums + targets.clusters[n] > std::numeric_limits<std::int32_t>::max())
      throw Error(ErrorCode::misuse,
                  "the model is too large for element-by-element products on one device; use more devices");
    const std::int32_t equations = host.first_equation[n + 1] - host.first_equation[n];
    const auto constrained = host.constrained.begin() + host.first_equation[n];
    const bool some_constrained =
        std::any_of(constrained, constrained + equations, [](std::uint8_t h) { return h != 0; });
    open.push_back({host.first_equation[n], static_cast<std::int32_t>(sums), targets.clusters[n],
                    some_constrained ? -equations : equations});
    set.open_equations = std::max(set.open_equations, equations);
    targets.next[n] = static_cast<std::int32_t>(sums);
    sums += targets.clusters[n];
  }
  set.partial_sums = sums;
  set.open_nodes = static_cast<std::int32_t>(open.size());
  set.open_node = settled(model.layout()->memory(device), open);
}

/// With `interior`, elements that do not wait for values of other devices get plans of their own there.
void cut_batches(const DeviceModel& model, int device, const std::vector<bool>& active, ClusterSet& set,
                 std::vector<ClusterPlan>* interior) {
  const DeviceModel::Part& part = model.part(device);
  const HostPart host = read_part(model, device);
  set.batches.resize(active.size());
  if (interior) interior->resize(active.size());
  std::vector<PlannedClusters> planned;
  for (std::size_t b = 0; b < active.size(); ++b)
    if (active[b] && part.batches[b].element_count > 0)
      plan_batch(model, device, static_cast<int>(b), host, set.batches[b], interior ? &(*interior)[b] : nullptr,
                 planned);
  NodeTargets targets;
  const auto local_nodes = static_cast<std::size_t>(part.local_nodes);
  targets.clusters.assign(local_nodes, 0);
  const auto for_nodes = [&](const PlannedClusters& own, auto&& visit) {
    for (const NodeLists& lists : own.draft.lists)
      for (const std::int32_t node : lists.node)
        if (node >= 0 && host.computed[static_cast<std::size_t>(node)]) visit(static_cast<std::size_t>(node));
  };
  for (const PlannedClusters& own : planned) {
    set.components = std::max(set.components, own.plan->components);
    set.clusters += own.plan->clusters;
    for_nodes(own, [&](std::size_t n) { ++targets.clusters[n]; });
  }
  // A node of one cluster whose elements know all its equations is finished there.
  targets.straight.assign(local_nodes, 0);
  for (const PlannedClusters& own : planned)
    for_nodes(own, [&](std::size_t n) {
      if (targets.clusters[n] == 1 && host.first_equation[n + 1] - host.first_equation[n] == own.plan->components)
        targets.straight[n] = 1;
    });
  list_open_nodes(model, device, host, targets, set);
  for (const PlannedClusters& own : planned)
    if (own.plan->clusters > 0) settle_nodes(model, device, own.batch, host, own.draft, targets, *own.plan);
}

}  // namespace

ClusterSet make_clusters(const DeviceModel& model, int device, const std::vector<bool>& active) {
  ClusterSet set;
  cut_batches(model, device, active, set, nullptr);
  return set;
}

SplitClusters make_split_clusters(const DeviceModel& model, int device, const std::vector<bool>& active) {
  SplitClusters set;
  cut_batches(model, device, active, set, &set.interior);
  return set;
}

namespace {

/// Inside a section.
void mark_supports(std::vector<ClusterPlan>& plans, const std::uint8_t* constrained, cudaStream_t stream) {
  for (ClusterPlan& plan : plans)
    if (const auto room = static_cast<std::int64_t>(plan.first.size()); room > 0)
      launch(mark_cluster_nodes, grid_for(room), stream, room, plan.components, constrained, plan.node.read_device(),
             plan.first.update_device());
}

}  // namespace

void follow_supports(const DeviceModel& model, int device, ClusterSet& set) {
  const DeviceModel::Part& part = model.part(device);
  const auto& memory = model.layout()->memory(device);
  DeviceSection section(*memory);
  const cudaStream_t stream = stream_of(memory);
  const std::uint8_t* constrained = part.constrained.read_device();
  mark_supports(set.batches, constrained, stream);
  if (set.open_nodes > 0)
    launch(mark_open_nodes, grid_for(set.open_nodes), stream, set.open_nodes, constrained,
           set.open_node.update_device());
  synchronize(stream);  // products that start early read the plan before they wait for anything
}

void follow_supports(const DeviceModel& model, int device, SplitClusters& set) {
  follow_supports(model, device, static_cast<ClusterSet&>(set));
  const auto& memory = model.layout()->memory(device);
  DeviceSection section(*memory);
  mark_supports(set.interior, model.part(device).constrained.read_device(), stream_of(memory));
  synchronize(stream_of(memory));
}

}  // namespace voussoir::cuda
