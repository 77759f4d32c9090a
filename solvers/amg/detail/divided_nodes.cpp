#include <voussoir/solvers/amg/detail/divided_nodes.hpp>

#include <algorithm>

namespace voussoir::detail {
namespace {

/// Copies `count` numbers from the beginning of one array to the beginning of another one on the same device.
void copy_front(const Array<double>& from, Array<double>& to, std::size_t count, DeviceMemory& memory) {
  if (count == 0) return;
  DeviceSection section(memory);
  double* target = count == to.size() ? to.write_device() : to.update_device();
  memory.copy(target, from.read_device(), count * sizeof(double));
}

/// Copies all of one array to a place in another one on the same device.
template <class Number>
void copy_at(DeviceMemory& memory, const Array<Number>& from, Array<Number>& to, std::size_t at) {
  if (from.empty()) return;
  if (at + from.size() > to.size())
    throw Error(ErrorCode::misuse, "multigrid: there is no room for " + std::to_string(from.size()) + " numbers");
  DeviceSection section(memory);
  memory.copy(to.update_device() + at, from.read_device(), from.bytes());
}

}  // namespace

DividedNodes::DividedNodes(std::vector<std::int64_t> first)
    : first_(std::move(first)), ghosts_(first_.size() - 1), sorted_(first_.size() - 1) {}

std::int32_t DividedNodes::owned(int device) const {
  const auto d = static_cast<std::size_t>(device);
  return static_cast<std::int32_t>(first_[d + 1] - first_[d]);
}

std::int32_t DividedNodes::local_count(int device) const {
  return owned(device) + static_cast<std::int32_t>(ghosts(device).size());
}

int DividedNodes::owner(std::int64_t node) const {
  return static_cast<int>(std::upper_bound(first_.begin(), first_.end(), node) - first_.begin()) - 1;
}

std::int64_t DividedNodes::global(int device, std::int32_t local) const {
  const std::int32_t own = owned(device);
  return local < own ? first_[static_cast<std::size_t>(device)] + local
                     : ghosts(device)[static_cast<std::size_t>(local - own)];
}

std::int32_t DividedNodes::local(int device, std::int64_t node) const {
  const auto d = static_cast<std::size_t>(device);
  if (node >= first_[d] && node < first_[d + 1]) return static_cast<std::int32_t>(node - first_[d]);
  const std::vector<Ghost>& list = sorted_[d];
  const auto found =
      std::lower_bound(list.begin(), list.end(), node, [](const Ghost& g, std::int64_t n) { return g.node < n; });
  return found == list.end() || found->node != node ? -1 : found->local;
}

void DividedNodes::add_ghosts(int device, std::span<const std::int64_t> nodes) {
  const auto d = static_cast<std::size_t>(device);
  std::vector<Ghost>& list = sorted_[d];
  const auto before = static_cast<std::ptrdiff_t>(list.size());
  const auto by_node = [](const Ghost& a, const Ghost& b) { return a.node < b.node; };
  list.reserve(list.size() + nodes.size());
  for (const std::int64_t node : nodes) {
    list.push_back({node, local_count(device)});
    ghosts_[d].push_back(node);
  }
  if (!std::is_sorted(list.begin() + before, list.end(), by_node))
    std::sort(list.begin() + before, list.end(), by_node);
  std::inplace_merge(list.begin(), list.begin() + before, list.end(), by_node);
}

std::shared_ptr<const Layout> one_device_layout(const std::shared_ptr<DeviceMemory>& memory, std::int64_t size) {
  return std::make_shared<const Layout>(std::vector<std::shared_ptr<DeviceMemory>>{memory},
                                        std::vector<std::int64_t>{0, size}, std::vector<std::vector<std::int64_t>>(1));
}

void copy_into(DeviceMemory& memory, const LevelVector& from, LevelVector& to, std::size_t at) {
  if (from.single_value.empty())
    copy_at(memory, from.value, to.value, at);
  else
    copy_at(memory, from.single_value, to.single_value, at);
}

namespace {

/// The nodes that each device sends to others, ascending.
std::vector<std::vector<std::int64_t>> sent_nodes(const DividedNodes& nodes) {
  std::vector<std::vector<std::int64_t>> sent(static_cast<std::size_t>(nodes.devices()));
  for (int d = 0; d < nodes.devices(); ++d)
    for (const DividedNodes::Ghost& ghost : nodes.sorted_ghosts(d))
      sent[static_cast<std::size_t>(nodes.owner(ghost.node))].push_back(ghost.node);
  for (auto& list : sent) {
    if (!std::is_sorted(list.begin(), list.end())) std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return sent;
}

}  // namespace

NodeHalo::NodeHalo(std::shared_ptr<Backend> backend, const DividedNodes& nodes, int height)
    : backend_(std::move(backend)), services_(backend_->service<DividedMultigrid>()) {
  const int devices = nodes.devices();
  const std::vector<std::vector<std::int64_t>> sent = sent_nodes(nodes);
  std::vector<std::int64_t> first{0};
  for (const auto& list : sent) first.push_back(first.back() + static_cast<std::int64_t>(list.size()) * height);
  std::vector<std::shared_ptr<DeviceMemory>> memories;
  std::vector<std::vector<std::int64_t>> ghosts(sent.size());
  for (int d = 0; d < devices; ++d) {
    memories.push_back(backend_->memory(d));
    auto& rows = ghosts[static_cast<std::size_t>(d)];
    rows.reserve(nodes.ghosts(d).size() * static_cast<std::size_t>(height));
    std::size_t owner = 0, place = 0;  // in the lists of the owners, which ascend as the ghosts do
    for (const DividedNodes::Ghost& ghost : nodes.sorted_ghosts(d)) {
      for (; ghost.node >= nodes.first()[owner + 1]; ++owner) place = 0;
      while (sent[owner][place] < ghost.node) ++place;
      const std::int64_t row = first[owner] + static_cast<std::int64_t>(place) * height;
      for (int r = 0; r < height; ++r) rows.push_back(row + r);
    }
  }
  layout_ = std::make_shared<const Layout>(std::move(memories), std::move(first), std::move(ghosts));
  for (int d = 0; d < devices; ++d) {
    const auto& own_sent = sent[static_cast<std::size_t>(d)];
    const auto& memory = backend_->memory(d);
    Array<std::int32_t> pack(memory, own_sent.size() * static_cast<std::size_t>(height));
    Array<std::int32_t> unpack(memory, nodes.ghosts(d).size() * static_cast<std::size_t>(height));
    const auto packed = pack.write_host(), unpacked = unpack.write_host();
    std::size_t at = 0;
    for (const std::int64_t node : own_sent)
      for (int r = 0; r < height; ++r) packed[at++] = nodes.local(d, node) * height + r;
    std::int32_t row = layout_->owned(d);
    for (const DividedNodes::Ghost& ghost : nodes.sorted_ghosts(d))
      for (int r = 0; r < height; ++r)
        unpacked[static_cast<std::size_t>((ghost.local - nodes.owned(d)) * height + r)] = row++;
    pack.drop_host_mirror();
    unpack.drop_host_mirror();
    pack_.push_back(std::move(pack));
    unpack_.push_back(std::move(unpack));
    local_rows_.push_back(std::int64_t{nodes.local_count(d)} * height);
  }
}

Vector& NodeHalo::values_for(int columns) {
  if (const auto found = values_.find(columns); found != values_.end()) return found->second;
  return values_.emplace(columns, Vector(layout_, columns)).first->second;
}

void NodeHalo::exchange(const DeviceVectors& x, DeviceVectors& local) {
  Vector& values = values_for(x.front().columns);
  for (int d = 0; d < layout_->devices(); ++d) {
    const auto i = static_cast<std::size_t>(d);
    services_.pack(x[i], d, pack_[i], values.part(d));
  }
  backend_->exchange(values);
  for (int d = 0; d < layout_->devices(); ++d) {
    const auto i = static_cast<std::size_t>(d);
    copy_into(*layout_->memory(d), x[i], local[i], 0);
    services_.unpack(values.part(d), d, unpack_[i], local[i],
                     local_rows_[i] - static_cast<std::int64_t>(unpack_[i].size()));
  }
}

std::size_t NodeHalo::bytes(int device) const {
  const auto d = static_cast<std::size_t>(device);
  std::size_t sum = pack_[d].bytes() + unpack_[d].bytes();
  for (const auto& [columns, values] : values_) sum += values.part(device).bytes();
  return sum;
}

OwnedTransfer::OwnedTransfer(std::shared_ptr<Backend> backend, std::shared_ptr<const Layout> layout,
                             const std::vector<Array<std::int32_t>>& equations)
    : backend_(std::move(backend)),
      services_(backend_->service<DividedMultigrid>()),
      layout_(std::move(layout)),
      equations_(equations) {
  for (int d = 0; d < layout_->devices(); ++d)
    one_device_.push_back(one_device_layout(layout_->memory(d), layout_->owned(d)));
}

std::vector<Vector>& OwnedTransfer::stage_for(int columns) {
  const auto found = stage_.find(columns);
  if (found != stage_.end()) return found->second;
  std::vector<Vector> stage;
  for (const auto& layout : one_device_) stage.emplace_back(layout, columns);
  return stage_.emplace(columns, std::move(stage)).first->second;
}

bool OwnedTransfer::is_plain(std::size_t device, const LevelVector& v, std::size_t count) const {
  return equations_[device].empty() && v.value.size() == count;
}

void OwnedTransfer::take(const Vector& from, DeviceVectors& to) {
  for (int d = 0; d < layout_->devices(); ++d) {
    const auto i = static_cast<std::size_t>(d);
    if (layout_->owned(d) == 0) continue;
    const auto count = static_cast<std::size_t>(layout_->owned(d)) * static_cast<std::size_t>(from.columns());
    if (is_plain(i, to[i], count)) {
      copy_front(from.part(d), to[i].value, count, *layout_->memory(d));
      continue;
    }
    Vector& stage = stage_for(from.columns())[i];
    copy_front(from.part(d), stage.part(0), count, *layout_->memory(d));
    services_.on(d).take(stage, equations_[i], to[i]);
  }
}

void OwnedTransfer::give(const DeviceVectors& from, Vector& to) {
  for (int d = 0; d < layout_->devices(); ++d) {
    const auto i = static_cast<std::size_t>(d);
    if (layout_->owned(d) == 0) continue;
    const auto count = static_cast<std::size_t>(layout_->owned(d)) * static_cast<std::size_t>(to.columns());
    if (is_plain(i, from[i], count)) {
      copy_front(from[i].value, to.part(d), count, *layout_->memory(d));
      continue;
    }
    Vector& stage = stage_for(to.columns())[i];
    services_.on(d).give(from[i], equations_[i], stage);
    copy_front(stage.part(0), to.part(d), count, *layout_->memory(d));
  }
}

}  // namespace voussoir::detail
