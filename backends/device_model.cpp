#include <voussoir/backends/device_model.hpp>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include <voussoir/backends/detail/model_shares.hpp>

namespace voussoir {

namespace {

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

/// Device memory that was filled from the host is wanted on the device from now on.
template <class T>
void settle(Array<T>& array) {
  array.drop_host_mirror();
}

/// What the parts of a model are made of.
struct PartSource {
  const ModelDescription& model;
  const detail::DependencyIndex& index;
  const Layout& layout;
  /// Local number of each described node on the device at hand, valid for the nodes of that device alone; empty where
  /// there is one device, whose local numbers are the described ones.
  std::vector<std::int32_t>& local_of;
};

/// `begin` is the first node that the device owns.
void upload_nodes(const PartSource& source, int device, std::int32_t begin, const std::vector<std::int32_t>& ghosts,
                  DeviceModel::Part& part) {
  const ModelDescription& model = source.model;
  const auto& memory = source.layout.memory(device);
  part.coordinates = Array<double>(memory, 3 * static_cast<std::size_t>(part.local_nodes));
  part.first_equation = Array<std::int32_t>(memory, static_cast<std::size_t>(part.local_nodes) + 1);
  part.constrained = Array<std::uint8_t>(memory, source.layout.local_size(device));
  {
    const auto coordinates = part.coordinates.write_host();
    const auto first_equation = part.first_equation.write_host();
    const auto constrained = part.constrained.write_host();
    std::int32_t equation = 0;
    for (std::int32_t local = 0; local < part.local_nodes; ++local) {
      const std::int32_t n = local < part.owned_nodes ? begin + local : ghosts[local - part.owned_nodes];
      if (!source.local_of.empty()) source.local_of[n] = local;
      for (int i = 0; i < 3; ++i)
        coordinates[3 * static_cast<std::size_t>(local) + i] = model.coordinates[3 * static_cast<std::size_t>(n) + i];
      first_equation[local] = equation;
      for (std::int32_t e = model.first_equation[n]; e < model.first_equation[n + 1]; ++e)
        constrained[equation++] =
            model.prescribed[e] || (!source.index.empty() && source.index.of_equation[e] >= 0) ? 1 : 0;
    }
    first_equation[part.local_nodes] = equation;
  }
  settle(part.coordinates);
  settle(part.first_equation);
  settle(part.constrained);
  if (std::all_of(model.unknowns.begin(), model.unknowns.end(), [](UnknownSet set) { return set.is_first_few(); }))
    return;
  part.unknowns = Array<std::uint32_t>(memory, static_cast<std::size_t>(part.local_nodes));
  const auto unknowns = part.unknowns.write_host();
  for (std::int32_t local = 0; local < part.local_nodes; ++local)
    unknowns[local] =
        model.unknowns[local < part.owned_nodes ? begin + local : ghosts[local - part.owned_nodes]].bits();
  settle(part.unknowns);
}

/// The slots of a batch, where its components are not the first equations of all its nodes.
void upload_slots(const PartSource& source, const std::shared_ptr<DeviceMemory>& memory, const BatchDescription& from,
                  std::int32_t local_nodes, ElementBatch& to) {
  if (source.model.unknowns.empty() && from.unknowns.empty()) return;
  const int components = from.program->components();
  // The decision is that of the whole batch, so that all devices treat it alike.
  const auto first_ones = [&](std::int32_t node) {
    for (int c = 0; c < components; ++c)
      if (detail::slot_of(source.model, from, node, c) != c) return false;
    return true;
  };
  if (std::all_of(from.nodes.begin(), from.nodes.end(), first_ones)) return;
  to.slot = Array<std::uint8_t>(memory, static_cast<std::size_t>(local_nodes) * static_cast<std::size_t>(components));
  const auto slots = to.slot.write_host();
  std::fill(slots.begin(), slots.end(), std::uint8_t{0});
  const auto width = static_cast<std::size_t>(from.program->nodes());
  for (std::int32_t e = 0; e < to.element_count; ++e)
    for (std::size_t a = 0; a < width; ++a) {
      const std::int32_t node = from.nodes[static_cast<std::size_t>(to.origin_of(e)) * width + a];
      const auto local = static_cast<std::size_t>(source.local_of.empty() ? node : source.local_of[node]);
      for (int c = 0; c < components; ++c)
        slots[local * static_cast<std::size_t>(components) + static_cast<std::size_t>(c)] =
            static_cast<std::uint8_t>(detail::slot_of(source.model, from, node, c));
    }
  settle(to.slot);
}

/// The elements of a description that `to.origin` names.
void upload_elements(const PartSource& source, const std::shared_ptr<DeviceMemory>& memory,
                     const BatchDescription& from, ElementBatch& to) {
  const int width = from.program->nodes();
  to.parameters = Array<double>(memory, std::span<const double>(from.parameters));
  settle(to.parameters);
  to.nodes = Array<std::int32_t>(memory, static_cast<std::size_t>(to.element_count) * width);
  const auto nodes = to.nodes.write_host();
  const auto described = [&](std::int32_t e) {
    return from.nodes.data() + static_cast<std::size_t>(to.origin_of(e)) * width;
  };
#pragma omp parallel for schedule(static) if (to.element_count > 8192)
  for (std::int32_t e = 0; e < to.element_count; ++e) {
    const std::int32_t* described_nodes = described(e);
    std::int32_t* local_nodes = nodes.data() + static_cast<std::size_t>(e) * width;
    for (int a = 0; a < width; ++a)
      local_nodes[a] = source.local_of.empty() ? described_nodes[a] : source.local_of[described_nodes[a]];
  }
  for (std::int32_t e = 0; !source.index.empty() && e < to.element_count; ++e) {
    bool dependent = false;
    source.index.for_element(source.model, from, described(e), [&](std::int32_t) { dependent = true; });
    if (dependent) to.dependent_elements.push_back(e);
  }
  settle(to.nodes);
  if (from.record.empty()) return;
  to.record = Array<std::int32_t>(memory, to.element_count);
  const auto record = to.record.write_host();
  for (std::int32_t e = 0; e < to.element_count; ++e) record[e] = from.record[to.origin_of(e)];
  settle(to.record);
}

/// The batches of a description on a device; the first of them gets the number `first`.
std::vector<ElementBatch> upload_batches(const PartSource& source, int device, int first, std::int32_t local_nodes,
                                         detail::Share& share) {
  std::vector<ElementBatch> batches;
  for (std::size_t b = 0; b < source.model.batches.size(); ++b) {
    const BatchDescription& from = source.model.batches[b];
    ElementBatch& to = batches.emplace_back();
    to.program = from.program;
    to.description = first + static_cast<int>(b);
    to.table_rows = from.table_rows;
    to.expansion_reference = from.expansion_reference;
    to.element_count =
        share.all_elements[b] ? detail::element_count(from) : static_cast<std::int32_t>(share.elements[b].size());
    to.origin = std::move(share.elements[b]);
    if (to.element_count == 0) continue;
    upload_elements(source, source.layout.memory(device), from, to);
    upload_slots(source, source.layout.memory(device), from, local_nodes, to);
  }
  return batches;
}

/// The device owns the nodes begin … end.
void take_dependencies(const PartSource& source, int device, std::int32_t begin, std::int32_t end,
                       const detail::Share& share, DeviceModel::Part& part) {
  const ModelDescription& model = source.model;
  const auto owns_equation = [&](std::int32_t e) {
    return e >= model.first_equation[begin] && e < model.first_equation[end];
  };
  for (const std::int32_t k : share.dependencies) {
    const Dependency& from = model.dependencies[k];
    Dependency& to = part.dependencies.emplace_back(from);
    to.equation = source.layout.local(device, from.equation);
    for (std::int32_t& other : to.others) other = source.layout.local(device, other);
    if (!owns_equation(from.equation) && std::any_of(from.others.begin(), from.others.end(), owns_equation))
      part.dependency_rows.push_back(source.local_of[detail::node_of(model, from.equation)]);
  }
  std::sort(part.dependency_rows.begin(), part.dependency_rows.end());
  part.dependency_rows.erase(std::unique(part.dependency_rows.begin(), part.dependency_rows.end()),
                             part.dependency_rows.end());
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
    : Error(code_of(fault), text_of(fault), "batch " + std::to_string(batch) + ", element " + std::to_string(element)),
      fault_(fault),
      batch_(batch),
      element_(element) {}

DeviceModel::DeviceModel(std::vector<std::shared_ptr<DeviceMemory>> memories, const ModelDescription& model) {
  const int devices = static_cast<int>(memories.size());
  if (devices == 0) throw Error(ErrorCode::misuse, "a DeviceModel needs the memory of at least one device");
  detail::check_description(model);
  const detail::DependencyIndex index = detail::index_dependencies(model);

  node_count_ = static_cast<std::int32_t>(model.first_equation.size() - 1);
  batch_count_ = static_cast<int>(model.batches.size());
  symmetric_ = std::all_of(model.batches.begin(), model.batches.end(), [](const BatchDescription& batch) {
    return batch.program->symmetric() || !batch.program->has_tangent();
  });
  if (node_count_ > 0) {
    uniform_components_ = model.first_equation[1];
    for (std::int32_t n = 1; n < node_count_ && uniform_components_ > 0; ++n)
      if (model.first_equation[n + 1] - model.first_equation[n] != uniform_components_) uniform_components_ = 0;
  }
  first_node_ = detail::split_nodes(model, devices);
  start_temperature_ = model.start_temperature;

  std::vector<detail::Share> shares;
  std::vector<std::int64_t> first;
  std::vector<std::vector<std::int64_t>> ghost_equations(devices);
  ghost_nodes_.resize(devices);
  for (int d = 0; d < devices; ++d) {
    shares.push_back(devices == 1 ? detail::whole_share(model)
                                  : detail::share_of(model, index, first_node_[d], first_node_[d + 1]));
    ghost_nodes_[d] = std::move(shares[d].ghost_nodes);
    ghost_nodes_[d].shrink_to_fit();
    first.push_back(model.first_equation[first_node_[d]]);
    for (const std::int32_t n : ghost_nodes_[d])
      for (std::int32_t e = model.first_equation[n]; e < model.first_equation[n + 1]; ++e)
        ghost_equations[d].push_back(e);
  }
  first.push_back(model.first_equation.back());
  layout_ = std::make_shared<const Layout>(memories, std::move(first), std::move(ghost_equations));

  std::vector<std::int32_t> local_of(devices > 1 ? node_count_ : 0);
  const PartSource source{model, index, *layout_, local_of};
  parts_.resize(devices);
  for (int d = 0; d < devices; ++d) {
    Part& part = parts_[d];
    part.owned_nodes = first_node_[d + 1] - first_node_[d];
    part.local_nodes = part.owned_nodes + static_cast<std::int32_t>(ghost_nodes_[d].size());
    upload_nodes(source, d, first_node_[d], ghost_nodes_[d], part);
    if (!model.initial_temperature.empty()) write_nodal(model.initial_temperature, d, part.initial_temperature);
    part.batches = upload_batches(source, d, 0, part.local_nodes, shares[d]);
    take_dependencies(source, d, first_node_[d], first_node_[d + 1], shares[d], part);
  }
}

void DeviceModel::set_prescribed(std::span<const std::uint8_t> prescribed) {
  if (static_cast<std::int64_t>(prescribed.size()) != layout_->size())
    throw Error(ErrorCode::misuse, "set_prescribed: " + std::to_string(prescribed.size()) + " flags for " +
                                       std::to_string(layout_->size()) + " equations; give one per equation");
  for (const Part& part : parts_)
    if (!part.dependencies.empty())
      throw Error(ErrorCode::misuse,
                  "set_prescribed: equations of this model depend on others, and may depend on those that change; make "
                  "a new model");
  ++revision_.constraints;
  for (int d = 0; d < devices(); ++d) {
    Array<std::uint8_t>& constrained = parts_[static_cast<std::size_t>(d)].constrained;
    const auto flags = constrained.write_host();
    for (std::int32_t i = 0; i < layout_->local_size(d); ++i)
      flags[i] = prescribed[static_cast<std::size_t>(layout_->global(d, i))] ? 1 : 0;
    settle(constrained);
  }
}

bool DeviceModel::replace_batches(int first, const ModelDescription& description) {
  if (first < 0 || first > batch_count_ ||
      static_cast<std::int32_t>(description.first_equation.size()) != node_count_ + 1 ||
      !description.dependencies.empty())
    throw Error(ErrorCode::misuse,
                "replace_batches: the description is not that of the same nodes without dependencies");
  for (const Part& part : parts_)
    if (!part.dependencies.empty())
      throw Error(ErrorCode::misuse, "replace_batches: equations of this model depend on others; make a new model");
  detail::check_batches(description);
  const auto symmetric = [](const ElementProgram& program) { return program.symmetric() || !program.has_tangent(); };
  bool all_symmetric = true;
  for (int b = 0; b < first; ++b)
    all_symmetric = all_symmetric && symmetric(*parts_[0].batches[static_cast<std::size_t>(b)].program);
  for (const BatchDescription& batch : description.batches) all_symmetric = all_symmetric && symmetric(*batch.program);
  if (all_symmetric != symmetric_) return false;

  const detail::DependencyIndex index;
  std::vector<std::vector<ElementBatch>> batches(parts_.size());
  std::vector<std::int32_t> local_of(devices() > 1 ? static_cast<std::size_t>(node_count_) : 0);
  const PartSource source{description, index, *layout_, local_of};
  for (int d = 0; d < devices(); ++d) {
    const Part& part = parts_[static_cast<std::size_t>(d)];
    const auto& ghosts = ghost_nodes_[static_cast<std::size_t>(d)];
    detail::Share share = devices() == 1 ? detail::whole_share(description)
                                         : detail::share_of(description, index, first_node_[d], first_node_[d + 1]);
    if (!std::includes(ghosts.begin(), ghosts.end(), share.ghost_nodes.begin(), share.ghost_nodes.end())) return false;
    if (devices() > 1) {
      for (std::int32_t n = 0; n < part.owned_nodes; ++n) local_of[static_cast<std::size_t>(first_node_[d] + n)] = n;
      for (std::size_t g = 0; g < ghosts.size(); ++g)
        local_of[static_cast<std::size_t>(ghosts[g])] = part.owned_nodes + static_cast<std::int32_t>(g);
    }
    batches[static_cast<std::size_t>(d)] = upload_batches(source, d, first, part.local_nodes, share);
  }
  const auto has_matrix = [](const ElementProgram& program) { return program.has_tangent() || program.has_mass(); };
  bool matrices = false;
  for (const BatchDescription& batch : description.batches) matrices = matrices || has_matrix(*batch.program);
  for (int b = first; b < batch_count_; ++b)
    matrices = matrices || has_matrix(*parts_[0].batches[static_cast<std::size_t>(b)].program);
  if (matrices) ++revision_.matrices;
  for (std::size_t d = 0; d < parts_.size(); ++d) {
    parts_[d].batches.resize(static_cast<std::size_t>(first));
    std::move(batches[d].begin(), batches[d].end(), std::back_inserter(parts_[d].batches));
  }
  batch_count_ = first + static_cast<int>(description.batches.size());
  ++revision_.batches;
  first_replaced_.push_back(first);
  return true;
}

int DeviceModel::unchanged_batches(std::uint64_t since) const {
  int unchanged = batch_count_;
  for (std::size_t i = static_cast<std::size_t>(since); i < first_replaced_.size(); ++i)
    unchanged = std::min(unchanged, first_replaced_[i]);
  return unchanged;
}

NodalValues DeviceModel::nodal_values(std::span<const double> values) const {
  if (static_cast<std::int64_t>(values.size()) != node_count_)
    throw Error(ErrorCode::misuse, std::to_string(values.size()) + " nodal values for " + std::to_string(node_count_) +
                                       " nodes; give one per node");
  NodalValues result;
  result.parts.resize(static_cast<std::size_t>(devices()));
  for (int d = 0; d < devices(); ++d) write_nodal(values, d, result.parts[static_cast<std::size_t>(d)]);
  return result;
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

namespace {

/// The numbers of a view, and its arrays by read(array).
template <class Read>
ElementView view_of(const DeviceModel::Part& part, int device, int batch, const ElementState& state,
                    double start_temperature, const Read& read) {
  const ElementBatch& from = part.batches[static_cast<std::size_t>(batch)];
  ElementView view;
  view.element_count = from.element_count;
  view.nodes = read(from.nodes);
  view.coordinates = read(part.coordinates);
  view.unknowns = state.unknowns ? read(state.unknowns->part(device)) : nullptr;
  view.first_unknown = read(part.first_equation);
  view.slot = from.slot.empty() ? nullptr : read(from.slot);
  view.temperature = state.temperature ? read(state.temperature->parts[static_cast<std::size_t>(device)]) : nullptr;
  view.initial_temperature = part.initial_temperature.empty() ? nullptr : read(part.initial_temperature);
  view.expansion_reference = from.expansion_reference;
  view.start_temperature = start_temperature;
  view.parameters = read(from.parameters);
  view.record = read(from.record);
  view.table_rows = from.table_rows;
  if (state.history) {
    const auto& own = state.history->parts[static_cast<std::size_t>(device)][static_cast<std::size_t>(batch)];
    view.history = own.values.empty() ? nullptr : read(own.values);
  }
  view.time = state.time;
  view.time_step = state.time_step;
  view.prescribed_factor = state.prescribed_factor;
  return view;
}

}  // namespace

ElementView DeviceModel::device_view(int device, int batch, const ElementState& state) const {
  return view_of(parts_[device], device, batch, state, start_temperature_,
                 [](const auto& array) { return array.read_device(); });
}

ElementView DeviceModel::host_view(int device, int batch, const ElementState& state) const {
  return view_of(parts_[device], device, batch, state, start_temperature_,
                 [](const auto& array) { return array.read_host().data(); });
}

std::int32_t DeviceModel::local_node(int device, std::int32_t node) const {
  if (node >= first_node_[device] && node < first_node_[device + 1]) return node - first_node_[device];
  const auto& ghosts = ghost_nodes_[device];
  const auto it = std::lower_bound(ghosts.begin(), ghosts.end(), node);
  if (it == ghosts.end() || *it != node) return -1;
  return parts_[device].owned_nodes + static_cast<std::int32_t>(it - ghosts.begin());
}

}  // namespace voussoir
