#include <voussoir/backends/device_model.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace voussoir {

namespace {

std::string number(std::int64_t value) { return std::to_string(value); }

[[noreturn]] void misuse(const std::string& text, const std::string& where = {}) {
  throw Error(ErrorCode::misuse, text, where);
}

ErrorCode code_of(ElementFault fault) {
  switch (fault) {
    case ElementFault::inverted:
      return ErrorCode::inverted;
    case ElementFault::not_finite:
      return ErrorCode::not_finite;
    case ElementFault::bad_parameter:
      return ErrorCode::bad_input;
    case ElementFault::none:
      break;
  }
  return ErrorCode::internal;
}

const char* text_of(ElementFault fault) {
  switch (fault) {
    case ElementFault::inverted:
      return "the element is inverted or has no volume; check the order and the coordinates of its nodes";
    case ElementFault::not_finite:
      return "the element computes a value that is not finite; check its coordinates, parameters, temperatures and "
             "unknowns";
    case ElementFault::bad_parameter:
      return "a parameter of the element is outside the range that its material or section allows; correct it";
    case ElementFault::none:
      break;
  }
  return "the element reported an unknown error; please report this";
}

std::int32_t element_count(const BatchDescription& batch) {
  return static_cast<std::int32_t>(batch.nodes.size() / static_cast<std::size_t>(batch.program->nodes()));
}

std::string name_of(const BatchDescription& batch, std::size_t number_of_batch) {
  return "batch " + number(static_cast<std::int64_t>(number_of_batch)) + " (" + batch.program->name() + ")";
}

/// Which dependency an equation follows, and quickly whether a node has such an equation. Empty in models without any,
/// so that they pay nothing.
struct DependencyIndex {
  std::vector<std::int32_t> of_equation;  // number of the dependency, or −1
  std::vector<std::uint8_t> node_has;

  bool empty() const { return of_equation.empty(); }

  /// Calls `visit` with the number of each dependency that one of the element's unknowns follows.
  template <class Visit>
  void for_element(const ModelDescription& model, const std::int32_t* nodes, int node_count, int components,
                   Visit visit) const {
    for (int a = 0; a < node_count; ++a) {
      if (!node_has[nodes[a]]) continue;
      const std::int32_t first = model.first_equation[nodes[a]];
      for (int c = 0; c < components; ++c)
        if (of_equation[first + c] >= 0) visit(of_equation[first + c]);
    }
  }
};

std::int32_t node_of(const ModelDescription& model, std::int32_t equation) {
  const auto it = std::upper_bound(model.first_equation.begin(), model.first_equation.end(), equation);
  return static_cast<std::int32_t>(it - model.first_equation.begin()) - 1;
}

void check_nodes(const ModelDescription& model) {
  if (model.first_equation.empty())
    misuse("first_equation is empty; it has one entry per node and the number of equations at the end");
  const std::size_t nodes = model.first_equation.size() - 1;
  if (model.coordinates.size() != 3 * nodes)
    misuse(number(static_cast<std::int64_t>(model.coordinates.size())) + " coordinates for " +
           number(static_cast<std::int64_t>(nodes)) + " nodes; give three per node");
  if (model.first_equation[0] != 0)
    misuse("first_equation starts at " + number(model.first_equation[0]) + ", not at 0");
  for (std::size_t n = 0; n < nodes; ++n)
    if (model.first_equation[n + 1] < model.first_equation[n])
      misuse("first_equation decreases; equations are numbered node by node",
             "node " + number(static_cast<std::int64_t>(n)));
  if (static_cast<std::int64_t>(model.held.size()) != model.first_equation.back())
    misuse(number(static_cast<std::int64_t>(model.held.size())) + " entries in held for " +
           number(model.first_equation.back()) + " equations");
  if (!model.initial_temperature.empty() && model.initial_temperature.size() != nodes)
    misuse(number(static_cast<std::int64_t>(model.initial_temperature.size())) + " initial temperatures for " +
           number(static_cast<std::int64_t>(nodes)) + " nodes; give one per node, or none");
}

void check_batch(const ModelDescription& model, std::size_t b) {
  const BatchDescription& batch = model.batches[b];
  if (!batch.program) misuse("batch " + number(static_cast<std::int64_t>(b)) + " has no element program");
  const std::string where = name_of(batch, b);
  const auto nodes_per_element = static_cast<std::size_t>(batch.program->nodes());
  if (batch.nodes.size() % nodes_per_element != 0)
    misuse(number(static_cast<std::int64_t>(batch.nodes.size())) +
               " node numbers are not a whole number of elements of " +
               number(static_cast<std::int64_t>(nodes_per_element)) + " nodes",
           where);
  if (batch.nodes.size() / nodes_per_element > INT32_MAX) misuse("more than 2^31 elements; split the batch", where);

  const auto node_count = static_cast<std::int32_t>(model.first_equation.size() - 1);
  const int components = batch.program->components();
  for (std::size_t i = 0; i < batch.nodes.size(); ++i) {
    const std::int32_t node = batch.nodes[i];
    if (node < 0 || node >= node_count)
      misuse("element " + number(static_cast<std::int64_t>(i / nodes_per_element)) + " refers to node " + number(node) +
                 ", but the nodes are 0 to " + number(node_count - 1),
             where);
    if (model.first_equation[node + 1] - model.first_equation[node] < components)
      misuse("element " + number(static_cast<std::int64_t>(i / nodes_per_element)) + " has " + number(components) +
                 " unknowns per node, but node " + number(node) + " has only " +
                 number(model.first_equation[node + 1] - model.first_equation[node]) + " equations",
             where);
  }
  if (batch.nodes.empty()) return;

  if (batch.table_rows < 1) misuse("table_rows is " + number(batch.table_rows) + "; it is at least 1", where);
  const std::size_t parameter_count = batch.program->parameter_names().size();
  const std::size_t record_size = static_cast<std::size_t>(batch.table_rows) * (1 + parameter_count);
  const std::size_t records = batch.parameters.size() / record_size;
  if (batch.parameters.size() % record_size != 0 || (records == 0 && parameter_count > 0))
    misuse(number(static_cast<std::int64_t>(batch.parameters.size())) +
               " parameters are not a whole number of records; a record is " + number(batch.table_rows) +
               " rows of a temperature and " + number(static_cast<std::int64_t>(parameter_count)) + " parameters",
           where);
  if (batch.record.empty()) return;
  if (batch.record.size() != batch.nodes.size() / nodes_per_element)
    misuse(number(static_cast<std::int64_t>(batch.record.size())) + " record numbers for " +
               number(element_count(batch)) + " elements; give one each, or none where all use record 0",
           where);
  for (std::size_t e = 0; e < batch.record.size(); ++e)
    if (batch.record[e] < 0 || static_cast<std::size_t>(batch.record[e]) >= records)
      misuse("element " + number(static_cast<std::int64_t>(e)) + " uses record " + number(batch.record[e]) +
                 ", but there are " + number(static_cast<std::int64_t>(records)) + " records",
             where);
}

DependencyIndex index_dependencies(const ModelDescription& model) {
  DependencyIndex index;
  if (model.dependencies.empty()) return index;
  const std::int32_t equations = model.first_equation.back();
  index.of_equation.assign(equations, -1);
  index.node_has.assign(model.first_equation.size() - 1, 0);
  for (std::size_t k = 0; k < model.dependencies.size(); ++k) {
    const Dependency& dependency = model.dependencies[k];
    const std::string where = "dependency " + number(static_cast<std::int64_t>(k));
    if (dependency.equation < 0 || dependency.equation >= equations)
      misuse("equation " + number(dependency.equation) + " does not exist; there are " + number(equations), where);
    if (dependency.others.size() != dependency.coefficients.size())
      misuse(number(static_cast<std::int64_t>(dependency.others.size())) + " equations but " +
                 number(static_cast<std::int64_t>(dependency.coefficients.size())) + " coefficients",
             where);
    if (model.held[dependency.equation])
      misuse("equation " + number(dependency.equation) + " is both prescribed and dependent; drop one of the two",
             where);
    if (index.of_equation[dependency.equation] >= 0)
      misuse("equation " + number(dependency.equation) + " already depends on others by dependency " +
                 number(index.of_equation[dependency.equation]) + "; merge the two",
             where);
    index.of_equation[dependency.equation] = static_cast<std::int32_t>(k);
    index.node_has[node_of(model, dependency.equation)] = 1;
  }
  for (std::size_t k = 0; k < model.dependencies.size(); ++k)
    for (const std::int32_t other : model.dependencies[k].others) {
      const std::string where = "dependency " + number(static_cast<std::int64_t>(k));
      if (other < 0 || other >= equations)
        misuse("equation " + number(other) + " does not exist; there are " + number(equations), where);
      if (model.held[other] || index.of_equation[other] >= 0)
        misuse("equation " + number(other) + ", on which it depends, is itself " +
                   (model.held[other] ? "prescribed" : "dependent") + "; substitute it first",
               where);
    }
  return index;
}

/// What one device needs of the model, in the description's numbering.
struct Share {
  std::vector<std::vector<std::int32_t>> elements;  // per batch; empty and `all_elements` where it is every one
  std::vector<std::uint8_t> all_elements;
  std::vector<std::int32_t> dependencies;
  std::vector<std::int32_t> ghost_nodes;
};

/// The share of the device that owns the nodes begin … end, where others own the rest.
Share share_of(const ModelDescription& model, const DependencyIndex& index, std::int32_t begin, std::int32_t end) {
  Share share;
  const std::size_t batches = model.batches.size();
  share.elements.resize(batches);
  share.all_elements.assign(batches, 0);
  const auto owns = [=](std::int32_t node) { return node >= begin && node < end; };
  const std::int32_t first_equation = model.first_equation[begin];
  const std::int32_t last_equation = model.first_equation[end];

  // A dependency concerns the device that owns the dependent equation (which computes its value), the owners of those
  // it depends on (which receive its loads and rows), and every device with an element that has the dependent equation.
  std::vector<std::uint8_t> feeds(model.dependencies.size(), 0);
  std::vector<std::uint8_t> concerns(model.dependencies.size(), 0);
  for (std::size_t k = 0; k < model.dependencies.size(); ++k) {
    const Dependency& dependency = model.dependencies[k];
    feeds[k] = std::any_of(dependency.others.begin(), dependency.others.end(),
                           [=](std::int32_t e) { return e >= first_equation && e < last_equation; });
    concerns[k] = feeds[k] || (dependency.equation >= first_equation && dependency.equation < last_equation);
  }

  std::vector<std::uint8_t> needed(model.first_equation.size() - 1, 0);
  for (std::size_t b = 0; b < batches; ++b) {
    const BatchDescription& batch = model.batches[b];
    const int width = batch.program->nodes();
    const int components = batch.program->components();
    const std::int32_t count = element_count(batch);
    std::vector<std::int32_t>& mine = share.elements[b];
    for (std::int32_t e = 0; e < count; ++e) {
      const std::int32_t* nodes = batch.nodes.data() + static_cast<std::size_t>(e) * width;
      bool contributes = std::any_of(nodes, nodes + width, owns);
      if (!contributes && !index.empty())
        index.for_element(model, nodes, width, components, [&](std::int32_t k) { contributes |= feeds[k] != 0; });
      if (!contributes) continue;
      mine.push_back(e);
      for (int a = 0; a < width; ++a) needed[nodes[a]] = 1;
      if (!index.empty()) index.for_element(model, nodes, width, components, [&](std::int32_t k) { concerns[k] = 1; });
    }
    if (static_cast<std::int32_t>(mine.size()) == count) {
      share.all_elements[b] = 1;
      mine = {};
    } else {
      mine.shrink_to_fit();
    }
  }

  for (std::size_t k = 0; k < model.dependencies.size(); ++k) {
    if (!concerns[k]) continue;
    share.dependencies.push_back(static_cast<std::int32_t>(k));
    needed[node_of(model, model.dependencies[k].equation)] = 1;
    for (const std::int32_t other : model.dependencies[k].others) needed[node_of(model, other)] = 1;
  }
  for (std::int32_t n = 0; n < static_cast<std::int32_t>(needed.size()); ++n)
    if (needed[n] && !owns(n)) share.ghost_nodes.push_back(n);
  return share;
}

/// A device that owns everything needs no list to say so.
Share whole_share(const ModelDescription& model) {
  Share share;
  share.elements.resize(model.batches.size());
  share.all_elements.assign(model.batches.size(), 1);
  share.dependencies.resize(model.dependencies.size());
  for (std::size_t k = 0; k < share.dependencies.size(); ++k) share.dependencies[k] = static_cast<std::int32_t>(k);
  return share;
}

/// Contiguous ranges of nodes with nearly equal numbers of equations.
std::vector<std::int32_t> split_nodes(const ModelDescription& model, int devices) {
  const auto& first = model.first_equation;
  const std::int64_t total = first.back();
  std::vector<std::int32_t> split(devices + 1, 0);
  split[devices] = static_cast<std::int32_t>(first.size() - 1);
  for (int d = 1; d < devices; ++d) {
    const std::int64_t target = total * d / devices;
    auto it = std::lower_bound(first.begin(), first.end(), target);
    if (it != first.begin() && target - *(it - 1) < *it - target) --it;
    split[d] = std::clamp(static_cast<std::int32_t>(it - first.begin()), split[d - 1], split[devices]);
  }
  return split;
}

/// Device memory that was filled from the host is wanted on the device from now on.
template <class T>
void settle(Array<T>& array) {
  array.drop_host_mirror();
}

}  // namespace

const char* to_string(Route route) {
  switch (route) {
    case Route::native:
      return "native";
    case Route::jit:
      return "jit";
    case Route::host:
      return "host";
  }
  return "unknown";
}

ElementError::ElementError(ElementFault fault, int batch, std::int32_t element)
    : Error(code_of(fault), text_of(fault), "batch " + number(batch) + ", element " + number(element)),
      fault_(fault),
      batch_(batch),
      element_(element) {}

DeviceModel::DeviceModel(std::vector<std::shared_ptr<DeviceMemory>> memories, const ModelDescription& model) {
  const int devices = static_cast<int>(memories.size());
  if (devices == 0) misuse("a DeviceModel needs the memory of at least one device");
  check_nodes(model);
  for (std::size_t b = 0; b < model.batches.size(); ++b) check_batch(model, b);
  const DependencyIndex index = index_dependencies(model);

  node_count_ = static_cast<std::int32_t>(model.first_equation.size() - 1);
  batch_count_ = static_cast<int>(model.batches.size());
  if (node_count_ > 0) {
    uniform_components_ = model.first_equation[1];
    for (std::int32_t n = 1; n < node_count_ && uniform_components_ > 0; ++n)
      if (model.first_equation[n + 1] - model.first_equation[n] != uniform_components_) uniform_components_ = 0;
  }
  first_node_ = split_nodes(model, devices);
  start_temperature_ = model.start_temperature;

  std::vector<Share> shares;
  std::vector<std::int64_t> first;
  std::vector<std::vector<std::int64_t>> ghost_equations(devices);
  ghost_nodes_.resize(devices);
  for (int d = 0; d < devices; ++d) {
    shares.push_back(devices == 1 ? whole_share(model) : share_of(model, index, first_node_[d], first_node_[d + 1]));
    ghost_nodes_[d] = std::move(shares[d].ghost_nodes);
    ghost_nodes_[d].shrink_to_fit();
    first.push_back(model.first_equation[first_node_[d]]);
    for (const std::int32_t n : ghost_nodes_[d])
      for (std::int32_t e = model.first_equation[n]; e < model.first_equation[n + 1]; ++e)
        ghost_equations[d].push_back(e);
  }
  first.push_back(model.first_equation.back());
  layout_ = std::make_shared<const Layout>(memories, std::move(first), std::move(ghost_equations));

  std::vector<std::int32_t> local_of(devices > 1 ? node_count_ : 0);  // of the device at hand; only its nodes count
  parts_.resize(devices);
  for (int d = 0; d < devices; ++d) {
    Part& part = parts_[d];
    Share& share = shares[d];
    const auto& memory = memories[d];
    const std::int32_t begin = first_node_[d];
    const std::int32_t end = first_node_[d + 1];
    const std::vector<std::int32_t>& ghosts = ghost_nodes_[d];
    part.owned_nodes = end - begin;
    part.local_nodes = part.owned_nodes + static_cast<std::int32_t>(ghosts.size());
    const auto described = [&](std::int32_t local) {
      return local < part.owned_nodes ? begin + local : ghosts[local - part.owned_nodes];
    };

    part.coordinates = Array<double>(memory, 3 * static_cast<std::size_t>(part.local_nodes));
    part.first_equation = Array<std::int32_t>(memory, static_cast<std::size_t>(part.local_nodes) + 1);
    part.held = Array<std::uint8_t>(memory, layout_->local_size(d));
    {
      const auto coordinates = part.coordinates.write_host();
      const auto first_equation = part.first_equation.write_host();
      const auto held = part.held.write_host();
      std::int32_t equation = 0;
      for (std::int32_t local = 0; local < part.local_nodes; ++local) {
        const std::int32_t n = described(local);
        if (devices > 1) local_of[n] = local;
        for (int i = 0; i < 3; ++i)
          coordinates[3 * static_cast<std::size_t>(local) + i] = model.coordinates[3 * static_cast<std::size_t>(n) + i];
        first_equation[local] = equation;
        for (std::int32_t e = model.first_equation[n]; e < model.first_equation[n + 1]; ++e)
          held[equation++] = model.held[e] || (!index.empty() && index.of_equation[e] >= 0) ? 1 : 0;
      }
      first_equation[part.local_nodes] = equation;
    }
    settle(part.coordinates);
    settle(part.first_equation);
    settle(part.held);
    if (!model.initial_temperature.empty()) write_nodal(model.initial_temperature, d, part.initial_temperature);

    for (int b = 0; b < batch_count_; ++b) {
      const BatchDescription& from = model.batches[b];
      ElementBatch& to = part.batches.emplace_back();
      to.program = from.program;
      to.description = b;
      to.table_rows = from.table_rows;
      to.expansion_reference = from.expansion_reference;
      to.element_count =
          share.all_elements[b] ? element_count(from) : static_cast<std::int32_t>(share.elements[b].size());
      to.origin = std::move(share.elements[b]);
      if (to.element_count == 0) continue;

      const int width = from.program->nodes();
      const int components = from.program->components();
      to.parameters = Array<double>(memory, std::span<const double>(from.parameters));
      settle(to.parameters);
      to.nodes = Array<std::int32_t>(memory, static_cast<std::size_t>(to.element_count) * width);
      const auto nodes = to.nodes.write_host();
      for (std::int32_t e = 0; e < to.element_count; ++e) {
        const std::int32_t* described_nodes = from.nodes.data() + static_cast<std::size_t>(to.origin_of(e)) * width;
        std::int32_t* local_nodes = nodes.data() + static_cast<std::size_t>(e) * width;
        for (int a = 0; a < width; ++a)
          local_nodes[a] = devices > 1 ? local_of[described_nodes[a]] : described_nodes[a];
        if (index.empty()) continue;
        bool dependent = false;
        index.for_element(model, described_nodes, width, components, [&](std::int32_t) { dependent = true; });
        if (dependent) to.dependent_elements.push_back(e);
      }
      settle(to.nodes);
      if (!from.record.empty()) {
        to.record = Array<std::int32_t>(memory, to.element_count);
        const auto record = to.record.write_host();
        for (std::int32_t e = 0; e < to.element_count; ++e) record[e] = from.record[to.origin_of(e)];
        settle(to.record);
      }
    }

    const auto owns_equation = [&](std::int32_t e) {
      return e >= model.first_equation[begin] && e < model.first_equation[end];
    };
    for (const std::int32_t k : share.dependencies) {
      const Dependency& from = model.dependencies[k];
      Dependency& to = part.dependencies.emplace_back(from);
      to.equation = layout_->local(d, from.equation);
      for (std::int32_t& other : to.others) other = layout_->local(d, other);
      if (!owns_equation(from.equation) && std::any_of(from.others.begin(), from.others.end(), owns_equation))
        part.dependency_rows.push_back(local_of[node_of(model, from.equation)]);
    }
    std::sort(part.dependency_rows.begin(), part.dependency_rows.end());
    part.dependency_rows.erase(std::unique(part.dependency_rows.begin(), part.dependency_rows.end()),
                               part.dependency_rows.end());
  }
}

void DeviceModel::set_temperature(std::span<const double> temperature) {
  if (temperature.empty()) {
    for (Part& part : parts_) part.temperature = Array<double>();
    has_temperature_ = false;
    return;
  }
  if (static_cast<std::int64_t>(temperature.size()) != node_count_)
    misuse(number(static_cast<std::int64_t>(temperature.size())) + " temperatures for " + number(node_count_) +
           " nodes; give one per node, or none");
  for (int d = 0; d < devices(); ++d) write_nodal(temperature, d, parts_[d].temperature);
  has_temperature_ = true;
}

void DeviceModel::write_nodal(std::span<const double> values, int device, Array<double>& to) const {
  const Part& part = parts_[device];
  if (to.empty()) to = Array<double>(layout_->memory(device), part.local_nodes);
  const auto local = to.write_host();
  std::copy_n(values.begin() + first_node_[device], part.owned_nodes, local.begin());
  for (std::size_t g = 0; g < ghost_nodes_[device].size(); ++g)
    local[part.owned_nodes + g] = values[ghost_nodes_[device][g]];
  settle(to);
}

ElementView DeviceModel::device_view(int device, int batch, const double* unknowns) const {
  const Part& part = parts_[device];
  const ElementBatch& from = part.batches[batch];
  ElementView view;
  view.element_count = from.element_count;
  view.nodes = from.nodes.read_device();
  view.coordinates = part.coordinates.read_device();
  view.unknowns = unknowns;
  view.first_unknown = part.first_equation.read_device();
  view.temperature = has_temperature_ ? part.temperature.read_device() : nullptr;
  view.initial_temperature = part.initial_temperature.empty() ? nullptr : part.initial_temperature.read_device();
  view.expansion_reference = from.expansion_reference;
  view.start_temperature = start_temperature_;
  view.parameters = from.parameters.read_device();
  view.record = from.record.read_device();
  view.table_rows = from.table_rows;
  return view;
}

ElementView DeviceModel::host_view(int device, int batch, const double* unknowns) const {
  const Part& part = parts_[device];
  const ElementBatch& from = part.batches[batch];
  ElementView view;
  view.element_count = from.element_count;
  view.nodes = from.nodes.read_host().data();
  view.coordinates = part.coordinates.read_host().data();
  view.unknowns = unknowns;
  view.first_unknown = part.first_equation.read_host().data();
  view.temperature = has_temperature_ ? part.temperature.read_host().data() : nullptr;
  view.initial_temperature = part.initial_temperature.empty() ? nullptr : part.initial_temperature.read_host().data();
  view.expansion_reference = from.expansion_reference;
  view.start_temperature = start_temperature_;
  view.parameters = from.parameters.read_host().data();
  view.record = from.record.read_host().data();
  view.table_rows = from.table_rows;
  return view;
}

std::int32_t DeviceModel::local_node(int device, std::int32_t node) const {
  if (node >= first_node_[device] && node < first_node_[device + 1]) return node - first_node_[device];
  const auto& ghosts = ghost_nodes_[device];
  const auto it = std::lower_bound(ghosts.begin(), ghosts.end(), node);
  if (it == ghosts.end() || *it != node) return -1;
  return parts_[device].owned_nodes + static_cast<std::int32_t>(it - ghosts.begin());
}

}  // namespace voussoir
