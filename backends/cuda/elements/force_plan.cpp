#include <voussoir/backends/cuda/elements/force_plan.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include <voussoir/backends/cuda/elements/plan_pieces.hpp>

// Clusters of elements, arranged for forces: on the host, from the clusters that products have.

namespace voussoir::cuda {

namespace {

constexpr std::size_t banks = 16;  // of 8 bytes: half a warp reads a number each

}  // namespace

std::size_t ForcePlan::bytes(int numbers) const {
  const auto seats = static_cast<std::size_t>(most_nodes), places = static_cast<std::size_t>(size);
  const std::size_t doubles =
      static_cast<std::size_t>(numbers) * places + seats * static_cast<std::size_t>(3 + 2 * seat_width(components));
  const std::size_t shorts = 2 * seats + 16 + (looked_up ? static_cast<std::size_t>(nodes) * places : 0);
  return doubles * sizeof(double) + seats * sizeof(ClusterNode) + shorts * sizeof(std::uint16_t);
}

ForceView ForcePlan::view(int numbers) const {
  ForceView view;
  view.size = size;
  view.most_nodes = most_nodes;
  view.count = elements;
  view.numbers = numbers;
  view.head = head.read_device();
  view.element = element.read_device();
  view.record = record.empty() ? nullptr : record.read_device();
  view.node = from->node.read_device();
  view.seat = seat.read_device();
  view.position = position.read_device();
  view.corner = reinterpret_cast<const ClusterWords*>(corner.read_device());
  view.turn = looked_up ? nullptr : turn.read_device();
  view.first = looked_up ? first.read_device() : nullptr;
  view.incidence = looked_up ? reinterpret_cast<const ClusterWords*>(incidence.read_device()) : nullptr;
  return view;
}

int choose_turns(std::size_t elements, std::size_t width, std::size_t nodes, std::span<const std::uint16_t> corners,
                 std::vector<std::uint8_t>& turns) {
  std::vector<std::uint64_t> taken(nodes, 0);  // turns in which a node is added to
  turns.assign(elements, 0);
  int count = 0;
  for (std::size_t i = 0; i < elements; ++i) {
    std::uint64_t all = 0;
    for (std::size_t a = 0; a < width; ++a) all |= taken[corners[i * width + a]];
    const int turn = std::countr_one(all);
    if (turn >= 64) return 0;
    turns[i] = static_cast<std::uint8_t>(turn);
    count = std::max(count, turn + 1);
    for (std::size_t a = 0; a < width; ++a) taken[corners[i * width + a]] |= std::uint64_t{1} << turn;
  }
  return count;
}

namespace {

/// How often nodes of a cluster meet in a bank, and which bank each has.
class BankChoice {
 public:
  BankChoice(std::size_t nodes, std::size_t groups, std::size_t rows)
      : rows_(static_cast<int>(rows)), groups_of_(nodes), bank_(nodes, none), met_(groups * banks, 0) {}

  void add(std::uint16_t node, std::size_t group) { groups_of_[node].push_back(static_cast<std::uint32_t>(group)); }
  /// Gives a node the bank where it meets the fewest others, and of such the one with the fewest nodes.
  void choose(std::size_t node) {
    if (bank_[node] != none) count(node, -1);
    int best = -1, least = 0;
    for (std::size_t b = 0; b < banks; ++b) {
      if (filled_[b] >= rows_) continue;
      int cost = filled_[b];
      for (const std::uint32_t g : groups_of_[node]) {
        const int others = met_[g * banks + b];
        cost += 64 * others * (1 + others);
      }
      if (best >= 0 && cost >= least) continue;
      best = static_cast<int>(b);
      least = cost;
    }
    bank_[node] = static_cast<std::uint8_t>(best);
    count(node, 1);
  }
  /// Nodes of a bank stand in rows, in their order.
  int seats(std::vector<std::uint16_t>& seats) const {
    std::array<int, banks> row{};
    int most = 0;
    for (std::size_t n = 0; n < bank_.size(); ++n) {
      seats[n] = static_cast<std::uint16_t>(bank_[n] + static_cast<int>(banks) * row[bank_[n]]++);
      most = std::max(most, seats[n] + 1);
    }
    return most;
  }

 private:
  static constexpr std::uint8_t none = 255;
  void count(std::size_t node, int by) {
    filled_[bank_[node]] += by;
    for (const std::uint32_t g : groups_of_[node]) met_[g * banks + bank_[node]] += by;
  }
  int rows_;
  std::vector<std::vector<std::uint32_t>> groups_of_;
  std::vector<std::uint8_t> bank_;
  std::vector<int> met_;  ///< nodes of each group in each bank
  std::array<int, banks> filled_{};
};

}  // namespace

int choose_seats(std::size_t elements, std::size_t width, std::size_t nodes, std::size_t room,
                 std::span<const std::uint16_t> corners, std::vector<std::uint16_t>& seats) {
  BankChoice choice(nodes, (elements + banks - 1) / banks * width, room / banks);
  std::vector<int> times(nodes, 0);
  for (std::size_t i = 0; i < elements; ++i)
    for (std::size_t a = 0; a < width; ++a) {
      const std::uint16_t n = corners[i * width + a];
      choice.add(n, i / banks * width + a);
      ++times[n];
    }
  std::vector<std::size_t> order(nodes);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return times[a] > times[b]; });
  constexpr int passes = 3;
  for (int pass = 0; pass < passes; ++pass)
    for (const std::size_t n : order) choice.choose(n);
  seats.assign(nodes, 0);
  return choice.seats(seats);
}

namespace {

/// The arrays of a plan on the host, as clusters have them, and as they are arranged.
struct PlanArrays {
  std::vector<std::int32_t> element, record;
  std::vector<double> position;
  std::vector<std::uint16_t> corner;
};

/// Arranges one cluster after another.
class Arranger {
 public:
  Arranger(const ClusterPlan& plan, const std::shared_ptr<DeviceMemory>& memory)
      : size_(static_cast<std::size_t>(plan.size)),
        width_(static_cast<std::size_t>(plan.nodes)),
        most_(static_cast<std::size_t>(plan.most_nodes)),
        elements_(static_cast<std::size_t>(plan.elements)),
        clusters_(static_cast<std::size_t>(plan.clusters)),
        nodes_(on_host(memory, plan.node_count)),
        from_{on_host(memory, plan.element), on_host(memory, plan.record), on_host(memory, plan.position),
              on_host(memory, plan.corner)},
        to_(from_) {
    head_.resize(clusters_);
    turn_.resize(clusters_ * size_, 0);
    seat_.resize(clusters_ * most_, 0);
  }
  /// Turns of all elements. Returns whether there are few enough.
  bool find_turns();
  void arrange(std::size_t cluster, bool by_turns);
  /// Which elements the nodes of a cluster have.
  void list_incidences(std::size_t cluster);
  void begin_lists() {
    first_.resize(clusters_ * most_, 0);
    incidence_.resize(clusters_ * size_ * width_, 0);
  }
  std::size_t clusters() const { return clusters_; }
  void settle(const std::shared_ptr<DeviceMemory>& memory, ForcePlan& plan) const;

 private:
  std::size_t elements_of(std::size_t c) const { return std::min(elements_, (c + 1) * size_) - c * size_; }
  std::size_t corner_at(std::size_t c, std::size_t i, std::size_t a) const {
    const std::size_t words = (width_ + 7) / 8;
    return ((c * words + a / 8) * size_ + i) * 8 + a % 8;
  }
  std::vector<std::uint16_t> corners_of(std::size_t c, const std::vector<std::uint16_t>& corner) const {
    std::vector<std::uint16_t> own(elements_of(c) * width_);
    for (std::size_t i = 0; i < elements_of(c); ++i)
      for (std::size_t a = 0; a < width_; ++a) own[i * width_ + a] = corner[corner_at(c, i, a)];
    return own;
  }

  std::size_t size_, width_, most_, elements_, clusters_;
  std::vector<std::int32_t> nodes_;
  PlanArrays from_, to_;
  std::vector<ForceHead> head_;
  std::vector<std::uint8_t> turn_;
  std::vector<std::uint16_t> seat_, first_, incidence_;
};

constexpr std::size_t grain = 32;  // clusters that a thread does at a time

bool Arranger::find_turns() {
  in_pieces(clusters_, grain, [&](std::size_t begin, std::size_t end) {
    std::vector<std::uint8_t> turns;
    for (std::size_t c = begin; c < end; ++c) {
      head_[c].turns =
          choose_turns(elements_of(c), width_, static_cast<std::size_t>(nodes_[c]), corners_of(c, from_.corner), turns);
      std::copy(turns.begin(), turns.end(), turn_.begin() + static_cast<std::ptrdiff_t>(c * size_));
    }
  });
  std::int64_t all = 0;
  for (const ForceHead& head : head_) {
    if (head.turns == 0) return false;
    all += head.turns;
  }
  return all <= static_cast<std::int64_t>(clusters_) * ForcePlan::most_turns;
}

void Arranger::arrange(std::size_t c, bool by_turns) {
  const std::size_t count = elements_of(c), nodes = static_cast<std::size_t>(nodes_[c]), node_base = c * most_,
                    base = c * size_;
  // Elements of a turn side by side.
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::vector<std::uint8_t> turns(turn_.begin() + static_cast<std::ptrdiff_t>(base),
                                        turn_.begin() + static_cast<std::ptrdiff_t>(base + count));
  if (by_turns)
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return turns[a] < turns[b]; });
  const std::vector<std::uint16_t> before = corners_of(c, from_.corner);
  std::vector<std::uint16_t> corners(before.size());
  for (std::size_t i = 0; i < count; ++i) {
    to_.element[base + i] = from_.element[base + order[i]];
    if (!from_.record.empty()) to_.record[base + i] = from_.record[base + order[i]];
    turn_[base + i] = turns[order[i]];
    for (std::size_t a = 0; a < width_; ++a) corners[i * width_ + a] = before[order[i] * width_ + a];
  }
  const std::size_t half = size_ / 2;
  head_[c].first_end = static_cast<short>(turn_[base + std::min(count, half) - 1] + 1);
  head_[c].second_begin = static_cast<short>(count > half ? turn_[base + half] : head_[c].turns);
  std::vector<std::uint16_t> seats;
  head_[c].nodes = nodes_[c];
  head_[c].seats = choose_seats(count, width_, nodes, most_, corners, seats);
  std::copy(seats.begin(), seats.end(), seat_.begin() + static_cast<std::ptrdiff_t>(node_base));
  for (std::size_t n = 0; n < nodes; ++n)
    for (std::size_t k = 0; k < 3; ++k)
      to_.position[3 * (node_base + seats[n]) + k] = from_.position[(3 * c + k) * most_ + n];
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t a = 0; a < width_; ++a) to_.corner[corner_at(c, i, a)] = seats[corners[i * width_ + a]];
}

void Arranger::list_incidences(std::size_t c) {
  const std::vector<std::uint16_t> corners = corners_of(c, to_.corner);
  std::vector<std::vector<std::uint16_t>> of(most_);  // by seats
  for (std::size_t i = 0; i < elements_of(c); ++i)
    for (std::size_t a = 0; a < width_; ++a)
      of[corners[i * width_ + a]].push_back(static_cast<std::uint16_t>(a * size_ + i));
  std::size_t at = 0;
  for (std::size_t r = 0; r < static_cast<std::size_t>(nodes_[c]); ++r) {
    first_[c * most_ + r] = static_cast<std::uint16_t>(at);
    for (const std::uint16_t k : of[seat_[c * most_ + r]]) incidence_[c * size_ * width_ + at++] = k;
  }
}

void Arranger::settle(const std::shared_ptr<DeviceMemory>& memory, ForcePlan& plan) const {
  plan.head = settled(memory, head_);
  plan.element = settled(memory, to_.element);
  plan.record = settled(memory, to_.record);
  plan.seat = settled(memory, seat_);
  plan.position = settled(memory, to_.position);
  plan.corner = settled(memory, to_.corner);
  if (!plan.looked_up) plan.turn = settled(memory, turn_);
  plan.first = settled(memory, first_);
  plan.incidence = settled(memory, incidence_);
}

}  // namespace

ForcePlan make_force_plan(const std::shared_ptr<DeviceMemory>& memory, const ClusterPlan& plan, bool by_turns) {
  ForcePlan made;
  made.size = plan.size;
  made.clusters = plan.clusters;
  made.elements = plan.elements;
  made.most_nodes = plan.most_nodes;
  made.nodes = plan.nodes;
  made.components = plan.components;
  made.from = &plan;
  Arranger arranger(plan, memory);
  made.looked_up = !by_turns || !arranger.find_turns();
  if (made.looked_up) arranger.begin_lists();
  in_pieces(arranger.clusters(), grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t c = begin; c < end; ++c) {
      arranger.arrange(c, !made.looked_up);
      if (made.looked_up) arranger.list_incidences(c);
    }
  });
  arranger.settle(memory, made);
  return made;
}

}  // namespace voussoir::cuda
