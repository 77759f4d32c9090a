#include <voussoir/backends/cuda/matrix/dependent_gather.hpp>

#include <algorithm>

#include <voussoir/backends/cuda/elements/element_equations.hpp>
#include <voussoir/backends/cuda/matrix/sliced_search.hpp>
#include <voussoir/backends/detail/transformed_terms.hpp>

// Elements with dependent equations in an assembled matrix: few, so that what goes where is worked out on the host.

namespace voussoir::cuda {

namespace {

__global__ void copy_nodes(const std::int32_t* nodes, int per_element, const std::int32_t* element, std::int64_t count,
                           std::int32_t* out) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) out[i] = nodes[static_cast<std::int64_t>(element[i / per_element]) * per_element + i % per_element];
}

/// An entry of the matrix, by local equations.
struct Entry {
  std::int32_t row;
  std::int32_t column;
};

/// Where the values of entries stand, or −1.
__global__ void find_entries(SlicedView rows, int b, const Entry* entries, std::int64_t count, std::int64_t* where) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const Entry entry = entries[i];
  const std::int32_t place = rows.place[entry.row / b];
  const std::int32_t k = find_column(rows, place, entry.column / b);
  const std::int64_t cell = static_cast<std::int64_t>(rows.slice_first[place / slice_rows]) + k;
  where[i] = k < 0 ? -1 : (cell * b * b + entry.row % b * b + entry.column % b) * slice_rows + place % slice_rows;
}

struct Term {
  Entry entry;
  std::int64_t source;
  double factor;
};

/// All terms of a batch, in the order in which they are to be added.
std::vector<Term> list_terms(const DeviceModel& model, int device, int batch, const ElementProgram& program,
                             const DependentElements& elements) {
  const DeviceModel::Part& part = model.part(device);
  const ElementEquations equations = host_element_equations(part, batch);
  const DependencyIndex dependency_of(part);
  const int n = program.nodes(), components = program.components();
  std::vector<Term> terms;
  voussoir::detail::TransformedTerms transformed(program.dofs(), model.layout()->owned(device), program.symmetric());
  for (std::size_t k = 0; k < elements.element.size(); ++k) {
    const std::int64_t first = static_cast<std::int64_t>(k) * program.matrix_entries();
    const std::int32_t* nodes = elements.nodes.data() + k * static_cast<std::size_t>(n);
    transformed.visit([&](int i) { return equations.of(nodes[i / components], i % components); }, dependency_of,
                      [&](std::int32_t row, std::int32_t column, int place, double factor) {
                        terms.push_back({{row, column}, first + place, factor});
                      });
  }
  return terms;
}

std::vector<std::int64_t> find_targets(const std::vector<Term>& terms, const SlicedRows& rows, int block_size,
                                       const std::shared_ptr<DeviceMemory>& memory) {
  Array<Entry> entries(memory, terms.size());
  Array<std::int64_t> where(memory, terms.size());
  const auto host = entries.write_host();
  for (std::size_t i = 0; i < terms.size(); ++i) host[i] = terms[i].entry;
  {
    DeviceSection section(*memory);
    const auto count = static_cast<std::int64_t>(terms.size());
    launch(find_entries, grid_for(count), stream_of(memory), rows.view(), block_size, entries.read_device(), count,
           where.write_device());
  }
  const auto found = where.read_host();
  if (std::find(found.begin(), found.end(), -1) != found.end())
    throw Error(ErrorCode::internal, "an entry of a transformed element matrix is not in the pattern of the matrix");
  return {found.begin(), found.end()};
}

}  // namespace

std::vector<DependentElements> dependent_elements(const DeviceModel& model, int device) {
  const DeviceModel::Part& part = model.part(device);
  const auto& memory = model.layout()->memory(device);
  std::vector<DependentElements> all(part.batches.size());
  for (std::size_t b = 0; b < all.size(); ++b) {
    const ElementBatch& batch = part.batches[b];
    if (!has_matrix(batch) || batch.dependent_elements.empty()) continue;
    all[b].element = batch.dependent_elements;
    const int n = batch.program->nodes();
    const Array<std::int32_t> list(memory, batch.dependent_elements);
    Array<std::int32_t> nodes(memory, list.size() * static_cast<std::size_t>(n));
    {
      DeviceSection section(*memory);
      const auto count = static_cast<std::int64_t>(nodes.size());
      launch(copy_nodes, grid_for(count), stream_of(memory), batch.nodes.read_device(), n, list.read_device(), count,
             nodes.write_device());
    }
    const auto host = nodes.read_host();
    all[b].nodes.assign(host.begin(), host.end());
  }
  return all;
}

NodePairs dependency_pairs(const DeviceModel& model, int device, const std::vector<DependentElements>& elements) {
  const DeviceModel::Part& part = model.part(device);
  NodePairs pairs;
  if (std::all_of(elements.begin(), elements.end(), [](const auto& e) { return e.element.empty(); })) return pairs;
  const DependencyIndex dependency_of(part);
  const auto first_equation = part.first_equation.read_host();
  const auto node_of = [&](std::int32_t equation) {
    return static_cast<std::int32_t>(std::upper_bound(first_equation.begin(), first_equation.end(), equation) -
                                     first_equation.begin()) -
           1;
  };
  for (std::size_t b = 0; b < elements.size(); ++b) {
    const int components = part.batches[b].program->components();
    const auto n = static_cast<std::size_t>(part.batches[b].program->nodes());
    const ElementEquations equations = host_element_equations(part, static_cast<int>(b));
    for (std::size_t k = 0; k < elements[b].element.size(); ++k) {
      std::vector<std::int32_t> together;
      for (std::size_t a = 0; a < n; ++a) {
        const std::int32_t node = elements[b].nodes[k * n + a];
        together.push_back(node);
        for (int i = 0; i < components; ++i) {
          const Dependency* dependency = dependency_of(equations.of(node, i));
          if (!dependency) continue;
          for (const std::int32_t other : dependency->others) together.push_back(node_of(other));
        }
      }
      std::sort(together.begin(), together.end());
      together.erase(std::unique(together.begin(), together.end()), together.end());
      for (const std::int32_t row : together)
        if (row < part.owned_nodes)
          for (const std::int32_t column : together) pairs.emplace_back(row, column);
    }
    // Many elements share the same dependencies: keep the list short as it grows.
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  }
  return pairs;
}

DependentGather make_dependent_gather(const DeviceModel& model, int device, int batch,
                                      const DependentElements& elements, const StoredPattern& pattern) {
  DependentGather gather;
  if (elements.element.empty()) return gather;
  const auto& memory = model.layout()->memory(device);
  const ElementProgram& program = *model.part(device).batches[static_cast<std::size_t>(batch)].program;
  gather.element = Array<std::int32_t>(memory, elements.element);
  const int b = pattern.block_size;
  std::vector<Term> terms = list_terms(model, device, batch, program, elements);
  if (pattern.half) std::erase_if(terms, [b](const Term& term) { return term.entry.column / b < term.entry.row / b; });
  if (terms.empty()) return gather;
  const std::vector<std::int64_t> where = find_targets(terms, pattern.rows, b, memory);
  std::vector<std::size_t> order(terms.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return where[i] < where[j]; });

  std::vector<std::int64_t> target;
  std::vector<std::uint32_t> start;
  gather.source = Array<std::int64_t>(memory, terms.size());
  gather.factor = Array<double>(memory, terms.size());
  const auto source = gather.source.write_host();
  const auto factor = gather.factor.write_host();
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::size_t i = order[k];
    if (k == 0 || where[i] != target.back()) {
      target.push_back(where[i]);
      start.push_back(static_cast<std::uint32_t>(k));
    }
    source[k] = terms[i].source;
    factor[k] = terms[i].factor;
  }
  start.push_back(static_cast<std::uint32_t>(order.size()));
  gather.target = Array<std::int64_t>(memory, target);
  gather.start = Array<std::uint32_t>(memory, start);
  return gather;
}

}  // namespace voussoir::cuda
