#include <voussoir/backends/cuda/elements/clusters.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <future>
#include <limits>
#include <thread>

#include <voussoir/backends/cuda/runtime/memory.hpp>

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

/// Does work(begin, end) for all of 0 … count, in pieces of `grain` that several threads share. What a piece is does
/// not depend on how many there are.
template <class Work>
void in_pieces(std::size_t count, std::size_t grain, const Work& work) {
  const std::size_t pieces = (count + grain - 1) / grain;
  const std::size_t workers = std::min<std::size_t>(pieces, std::clamp(std::thread::hardware_concurrency(), 1u, 16u));
  const auto do_pieces = [&](std::size_t first, std::size_t last) {
    for (std::size_t p = first; p < last; ++p) work(p * grain, std::min(count, (p + 1) * grain));
  };
  std::vector<std::future<void>> others;
  for (std::size_t w = 1; w < workers; ++w)
    others.push_back(std::async(std::launch::async, do_pieces, pieces * w / workers, pieces * (w + 1) / workers));
  if (workers > 0) do_pieces(0, pieces / workers);
  for (auto& other : others) other.get();
}

/// What planning reads of a device's part.
struct HostPart {
  std::vector<double> coordinates;
  std::vector<std::int32_t> first_equation;
  std::vector<std::uint8_t> constrained;
  std::vector<std::uint8_t> computed;  ///< per local node: 1 where the device computes its rows
};

HostPart read_part(const DeviceModel& model, int device) {
  const DeviceModel::Part& part = model.part(device);
  const auto& memory = model.layout()->memory(device);
  HostPart host{
      on_host(memory, part.coordinates), on_host(memory, part.first_equation), on_host(memory, part.constrained), {}};
  host.computed.assign(static_cast<std::size_t>(part.local_nodes), 0);
  std::fill_n(host.computed.begin(), part.owned_nodes, std::uint8_t{1});
  for (const std::int32_t node : part.dependency_rows) host.computed[static_cast<std::size_t>(node)] = 1;
  return host;
}

/// Bits of v with two places between each and the next.
std::uint64_t spread_bits(std::uint64_t v) {
  v &= 0x1fffff;
  v = (v | v << 32) & 0x1f00000000ffff;
  v = (v | v << 16) & 0x1f0000ff0000ff;
  v = (v | v << 8) & 0x100f00f00f00f00f;
  v = (v | v << 4) & 0x10c30c30c30c30c3;
  return (v | v << 2) & 0x1249249249249249;
}

struct Box {
  std::array<double, 3> low, high, extent{};
  Box() {
    low.fill(std::numeric_limits<double>::infinity());
    high.fill(-std::numeric_limits<double>::infinity());
  }
};

/// Elements along a curve of Morton's: neighbours in space are near in the order. Two cells of the curve are as long as
/// an element is in the mean, and a whole number of elements is as long as the model. So clusters are boxes of whole
/// elements in meshes like grids, also where nodes are somewhat out of line. The extent of an element is twice the mean
/// distance of its first nodes, which are corners, from their middle: unlike the largest, it does not grow when they
/// are out of line.
std::vector<std::int32_t> curve_order(const std::vector<double>& coordinates, const std::vector<std::int32_t>& nodes,
                                      std::size_t width) {
  constexpr std::size_t grain = 16384;
  const std::size_t count = nodes.size() / width, corners = std::min<std::size_t>(width, 8);
  std::vector<std::array<double, 3>> centre(count);
  std::vector<Box> boxes((count + grain - 1) / grain);
  in_pieces(count, grain, [&](std::size_t begin, std::size_t end) {
    Box box;
    for (std::size_t e = begin; e < end; ++e)
      for (std::size_t k = 0; k < 3; ++k) {
        const auto at = [&](std::size_t a) {
          return coordinates[3 * static_cast<std::size_t>(nodes[e * width + a]) + k];
        };
        double middle = 0, distance = 0;
        for (std::size_t a = 0; a < corners; ++a) middle += at(a) / static_cast<double>(corners);
        for (std::size_t a = 0; a < corners; ++a) distance += std::abs(at(a) - middle);
        centre[e][k] = middle;
        box.extent[k] += 2 * distance / static_cast<double>(corners * count);
        for (std::size_t a = 0; a < width; ++a) {
          box.low[k] = std::min(box.low[k], at(a));
          box.high[k] = std::max(box.high[k], at(a));
        }
      }
    boxes[begin / grain] = box;
  });
  Box whole;
  std::array<double, 3> scale{};
  for (std::size_t k = 0; k < 3; ++k) {
    for (const Box& box : boxes) {
      whole.low[k] = std::min(whole.low[k], box.low[k]);
      whole.high[k] = std::max(whole.high[k], box.high[k]);
      whole.extent[k] += box.extent[k];
    }
    const double span = whole.high[k] - whole.low[k];
    if (!(span > 0) || !std::isfinite(span)) continue;
    constexpr double most_cells = 1 << 20;
    const double elements = whole.extent[k] > 0 ? std::round(span / whole.extent[k]) : most_cells;
    scale[k] = std::min(2 * std::max(elements, 1.0), most_cells) / span;
  }
  std::vector<std::pair<std::uint64_t, std::int32_t>> items(count), other(count);
  in_pieces(count, grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t e = begin; e < end; ++e) {
      std::uint64_t key = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        const double at = (centre[e][k] - whole.low[k]) * scale[k];
        if (at > 0) key |= spread_bits(static_cast<std::uint64_t>(std::min(at, 2097151.0))) << k;
      }
      items[e] = {key, static_cast<std::int32_t>(e)};
    }
  });
  std::uint64_t used = 0;
  for (const auto& item : items) used |= item.first;
  // By digits, the lowest first: equal keys stay in the order of the elements.
  constexpr int digit = 12;
  std::vector<std::size_t> start(std::size_t{1} << digit);
  for (int shift = 0; shift < static_cast<int>(std::bit_width(used)); shift += digit) {
    const auto digit_of = [=](std::uint64_t key) {
      return static_cast<std::size_t>(key >> shift & ((1u << digit) - 1));
    };
    std::fill(start.begin(), start.end(), 0);
    for (const auto& item : items) ++start[digit_of(item.first)];
    std::size_t before = 0;
    for (std::size_t& s : start) before += std::exchange(s, before);
    for (const auto& item : items) other[start[digit_of(item.first)]++] = item;
    items.swap(other);
  }
  std::vector<std::int32_t> order(count);
  for (std::size_t e = 0; e < count; ++e) order[e] = items[e].second;
  return order;
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

/// Makes the clusters of a batch. What stands at their nodes waits for settle_nodes().
ClusterPlan plan_batch(const DeviceModel& model, int device, int batch, const HostPart& host, Draft& draft) {
  const ElementBatch& elements = model.part(device).batches[static_cast<std::size_t>(batch)];
  const auto& memory = model.layout()->memory(device);
  const ElementProgram& program = *elements.program;
  ClusterPlan plan;
  plan.nodes = program.nodes();
  plan.components = program.components();
  plan.size = cluster_size(program.dofs());
  plan.most_shared = cuda_memory(memory).facts().shared_bytes_per_block;
  plan.elements = elements.element_count;
  plan.clusters = (plan.elements + plan.size - 1) / plan.size;
  draft.clusters = static_cast<std::size_t>(plan.clusters);
  draft.size = static_cast<std::size_t>(plan.size);
  draft.width = static_cast<std::size_t>(plan.nodes);
  draft.node_count.resize(draft.clusters);
  draft.lists.resize((draft.clusters + Draft::grain - 1) / Draft::grain);
  const std::vector<std::int32_t> nodes = on_host(memory, elements.nodes);
  CutBatch cut;
  cut.order = curve_order(host.coordinates, nodes, draft.width);
  cut.place.resize(cut.order.size());
  cut.corner.resize(draft.clusters * ((draft.width + 7) / 8) * 8 * draft.size, 0);
  cut.incidence.resize(draft.clusters * draft.width * draft.size, 0);
  in_pieces(draft.clusters, Draft::grain, [&](std::size_t begin, std::size_t end) {
    CutRoom room{NodeTable(draft.width * draft.size), {}, {}, {}, {}};
    for (std::size_t c = begin; c < end; ++c)
      cut_cluster(nodes, c, cut, draft, draft.lists[begin / Draft::grain], room);
  });
  // One more than any cluster has: the place after the last node says where the last incidences end.
  const std::int32_t most = *std::max_element(draft.node_count.begin(), draft.node_count.end());
  plan.most_nodes = rounded_nodes(most);
  plan.element = settled(memory, cut.order);
  plan.place = settled(memory, cut.place);
  plan.node_count = settled(memory, draft.node_count);
  plan.incidence = settled(memory, cut.incidence);
  plan.corner = settled(memory, cut.corner);
  return plan;
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

ClusterSet make_clusters(const DeviceModel& model, int device, const std::vector<bool>& active) {
  const DeviceModel::Part& part = model.part(device);
  const auto& memory = model.layout()->memory(device);
  const HostPart host = read_part(model, device);
  ClusterSet set;
  set.batches.resize(active.size());
  std::vector<Draft> drafts(active.size());
  NodeTargets targets;
  const auto local_nodes = static_cast<std::size_t>(part.local_nodes);
  targets.clusters.assign(local_nodes, 0);
  for (std::size_t b = 0; b < active.size(); ++b) {
    if (!active[b] || part.batches[b].element_count == 0) continue;
    set.batches[b] = plan_batch(model, device, static_cast<int>(b), host, drafts[b]);
    set.components = std::max(set.components, set.batches[b].components);
    set.clusters += set.batches[b].clusters;
    for (const NodeLists& lists : drafts[b].lists)
      for (const std::int32_t node : lists.node)
        if (node >= 0 && host.computed[static_cast<std::size_t>(node)])
          ++targets.clusters[static_cast<std::size_t>(node)];
  }
  const auto equations_of = [&](std::size_t n) { return host.first_equation[n + 1] - host.first_equation[n]; };
  // A node of one cluster whose elements know all its equations is finished there.
  targets.straight.assign(local_nodes, 0);
  for (std::size_t b = 0; b < active.size(); ++b)
    for (const NodeLists& lists : drafts[b].lists)
      for (const std::int32_t node : lists.node) {
        if (node < 0) continue;
        const auto n = static_cast<std::size_t>(node);
        if (targets.clusters[n] == 1 && host.computed[n] && equations_of(n) == set.batches[b].components)
          targets.straight[n] = 1;
      }
  targets.next.assign(local_nodes, 0);
  std::vector<OpenNode> open;
  std::int64_t sums = 0;
  for (std::size_t n = 0; n < local_nodes; ++n) {
    if (targets.straight[n]) continue;
    if (sums + targets.clusters[n] > std::numeric_limits<std::int32_t>::max())
      throw Error(ErrorCode::misuse,
                  "the model is too large for element-by-element products on one device; use more devices");
    const std::int32_t equations = equations_of(n);
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
  set.open_node = settled(memory, open);
  for (std::size_t b = 0; b < active.size(); ++b)
    if (set.batches[b].clusters > 0)
      settle_nodes(model, device, static_cast<int>(b), host, drafts[b], targets, set.batches[b]);
  return set;
}

void follow_supports(const DeviceModel& model, int device, ClusterSet& set) {
  const DeviceModel::Part& part = model.part(device);
  const auto& memory = model.layout()->memory(device);
  DeviceSection section(*memory);
  const cudaStream_t stream = stream_of(memory);
  const std::uint8_t* constrained = part.constrained.read_device();
  for (ClusterPlan& plan : set.batches)
    if (const auto room = static_cast<std::int64_t>(plan.first.size()); room > 0)
      launch(mark_cluster_nodes, grid_for(room), stream, room, plan.components, constrained, plan.node.read_device(),
             plan.first.update_device());
  if (set.open_nodes > 0)
    launch(mark_open_nodes, grid_for(set.open_nodes), stream, set.open_nodes, constrained,
           set.open_node.update_device());
  synchronize(stream);  // products that start early read the plan before they wait for anything
}

}  // namespace voussoir::cuda
