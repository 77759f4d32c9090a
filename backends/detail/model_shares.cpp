#include <voussoir/backends/detail/model_shares.hpp>

#include <algorithm>
#include <string>

#include <voussoir/backends/device_ranges.hpp>

namespace voussoir::detail {

namespace {

std::string number(std::int64_t value) { return std::to_string(value); }

[[noreturn]] void misuse(const std::string& text, const std::string& where = {}) {
  throw Error(ErrorCode::misuse, text, where);
}

std::string name_of(const BatchDescription& batch, std::size_t number_of_batch) {
  return "batch " + number(static_cast<std::int64_t>(number_of_batch)) + " (" + batch.program->name() + ")";
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
  if (static_cast<std::int64_t>(model.prescribed.size()) != model.first_equation.back())
    misuse(number(static_cast<std::int64_t>(model.prescribed.size())) + " entries in prescribed for " +
           number(model.first_equation.back()) + " equations");
  if (!model.initial_temperature.empty() && model.initial_temperature.size() != nodes)
    misuse(number(static_cast<std::int64_t>(model.initial_temperature.size())) + " initial temperatures for " +
           number(static_cast<std::int64_t>(nodes)) + " nodes; give one per node, or none");
  if (model.unknowns.empty()) return;
  if (model.unknowns.size() != nodes)
    misuse(number(static_cast<std::int64_t>(model.unknowns.size())) + " sets of unknowns for " +
           number(static_cast<std::int64_t>(nodes)) + " nodes; give one per node, or none");
  for (std::size_t n = 0; n < nodes; ++n)
    if (model.unknowns[n].count() != model.first_equation[n + 1] - model.first_equation[n])
      misuse("the node has " + number(model.unknowns[n].count()) + " unknowns but " +
                 number(model.first_equation[n + 1] - model.first_equation[n]) + " equations",
             "node " + number(static_cast<std::int64_t>(n)));
}

/// The unknowns of a batch's components are different ones, within the list.
void check_unknowns(const BatchDescription& batch, const std::string& where) {
  if (batch.unknowns.empty()) return;
  if (static_cast<int>(batch.unknowns.size()) != batch.program->components())
    misuse(number(static_cast<std::int64_t>(batch.unknowns.size())) + " unknowns for elements with " +
               number(batch.program->components()) + " per node",
           where);
  UnknownSet seen;
  for (const int unknown : batch.unknowns) {
    if (unknown < 0 || unknown >= UnknownSet::most)
      misuse("unknown " + number(unknown) + " does not exist; they are 0 to " + number(UnknownSet::most - 1), where);
    if (seen.has(unknown)) misuse("two components are unknown " + number(unknown), where);
    seen.add(unknown);
  }
}

/// The first component whose unknown a node does not have, or −1.
int missing_component(const ModelDescription& model, const BatchDescription& batch, std::int32_t node) {
  const int components = batch.program->components();
  if (model.unknowns.empty() && batch.unknowns.empty()) {
    const int has = model.first_equation[node + 1] - model.first_equation[node];
    return has < components ? has : -1;
  }
  const UnknownSet set = unknowns_of(model, node);
  for (int c = 0; c < components; ++c)
    if (!set.has(batch.unknowns.empty() ? c : batch.unknowns[static_cast<std::size_t>(c)])) return c;
  return -1;
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
  check_unknowns(batch, where);
  bool wrong = false;
#pragma omp parallel for schedule(static) reduction(|| : wrong) if (batch.nodes.size() > 65536)
  for (std::size_t i = 0; i < batch.nodes.size(); ++i) {
    const std::int32_t node = batch.nodes[i];
    wrong = wrong || node < 0 || node >= node_count || missing_component(model, batch, node) >= 0;
  }
  for (std::size_t i = 0; wrong && i < batch.nodes.size(); ++i) {  // names the first one
    const std::int32_t node = batch.nodes[i];
    if (node < 0 || node >= node_count)
      misuse("element " + number(static_cast<std::int64_t>(i / nodes_per_element)) + " refers to node " + number(node) +
                 ", but the nodes are 0 to " + number(node_count - 1),
             where);
    if (const int c = missing_component(model, batch, node); c >= 0)
      misuse("element " + number(static_cast<std::int64_t>(i / nodes_per_element)) + " has " +
                 number(batch.program->components()) + " unknowns per node, but node " + number(node) + ", with " +
                 number(model.first_equation[node + 1] - model.first_equation[node]) + " equations, lacks number " +
                 number(c),
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

}  // namespace

void check_description(const ModelDescription& model) {
  check_nodes(model);
  check_batches(model);
}

void check_batches(const ModelDescription& model) {
  for (std::size_t b = 0; b < model.batches.size(); ++b) check_batch(model, b);
}

std::int32_t node_of(const ModelDescription& model, std::int32_t equation) {
  const auto it = std::upper_bound(model.first_equation.begin(), model.first_equation.end(), equation);
  return static_cast<std::int32_t>(it - model.first_equation.begin()) - 1;
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
    if (model.prescribed[dependency.equation])
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
      if (model.prescribed[other] || index.of_equation[other] >= 0)
        misuse("equation " + number(other) + ", on which it depends, is itself " +
                   (model.prescribed[other] ? "prescribed" : "dependent") + "; substitute it first",
               where);
    }
  return index;
}

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
    const std::int32_t count = element_count(batch);
    std::vector<std::int32_t>& mine = share.elements[b];
    for (std::int32_t e = 0; e < count; ++e) {
      const std::int32_t* nodes = batch.nodes.data() + static_cast<std::size_t>(e) * width;
      bool contributes = std::any_of(nodes, nodes + width, owns);
      if (!contributes && !index.empty())
        index.for_element(model, batch, nodes, [&](std::int32_t k) { contributes |= feeds[k] != 0; });
      if (!contributes) continue;
      mine.push_back(e);
      for (int a = 0; a < width; ++a) needed[nodes[a]] = 1;
      if (!index.empty()) index.for_element(model, batch, nodes, [&](std::int32_t k) { concerns[k] = 1; });
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

Share whole_share(const ModelDescription& model) {
  Share share;
  share.elements.resize(model.batches.size());
  share.all_elements.assign(model.batches.size(), 1);
  share.dependencies.resize(model.dependencies.size());
  for (std::size_t k = 0; k < share.dependencies.size(); ++k) share.dependencies[k] = static_cast<std::int32_t>(k);
  return share;
}

namespace {

/// The ranges that were asked for, if they fit.
std::vector<std::int32_t> requested_ranges(std::span<const std::int32_t> ranges, std::int32_t nodes, int devices) {
  if (static_cast<int>(ranges.size()) != devices + 1)
    misuse("DeviceRanges has " + number(static_cast<std::int64_t>(ranges.size()) - 1) + " ranges, but there are " +
           number(devices) + " devices");
  if (ranges.front() != 0 || ranges.back() != nodes || !std::is_sorted(ranges.begin(), ranges.end()))
    misuse("DeviceRanges does not ascend from 0 to the number of nodes, " + number(nodes));
  return {ranges.begin(), ranges.end()};
}

}  // namespace

std::vector<std::int32_t> split_nodes(const ModelDescription& model, int devices) {
  const auto& first = model.first_equation;
  if (const auto ranges = DeviceRanges::current(); !ranges.empty())
    return requested_ranges(ranges, static_cast<std::int32_t>(first.size() - 1), devices);
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

}  // namespace voussoir::detail
