#include <voussoir/backends/openmp/matrix_pattern.hpp>

#include <omp.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <voussoir/backends/openmp/cpu_backend.hpp>
#include <voussoir/backends/openmp/gather_plan.hpp>
#include <voussoir/backends/openmp/parallel.hpp>
#include <voussoir/backends/openmp/sweep.hpp>

// The pattern of a model's matrix: which nodes share an element, and where each element's blocks go. Of a symmetric
// matrix half is stored: of the columns of a row only those not left of the diagonal count; local numbers of ghosts are
// above all owned ones, so that they are always among them.

namespace voussoir {

namespace cpu {

namespace {

/// Elements at each owned node, for one batch.
struct NodeElements {
  const std::int32_t* nodes = nullptr;
  int per_element = 0;
  std::int32_t count = 0;
  std::vector<std::int64_t> start;
  std::vector<std::int32_t> element;
};

NodeElements elements_at_nodes(const ElementBatch& batch, std::int32_t owned) {
  NodeElements at;
  at.nodes = batch.nodes.read_device();
  at.per_element = batch.program->nodes();
  at.count = batch.element_count;
  at.start.assign(static_cast<std::size_t>(owned) + 1, 0);
  const std::int64_t total = std::int64_t{at.count} * at.per_element;
  for (std::int64_t k = 0; k < total; ++k)
    if (at.nodes[k] < owned) ++at.start[static_cast<std::size_t>(at.nodes[k]) + 1];
  std::partial_sum(at.start.begin(), at.start.end(), at.start.begin());
  at.element.resize(static_cast<std::size_t>(at.start.back()));
  std::vector<std::int64_t> next(at.start.begin(), at.start.end() - 1);
  for (std::int32_t e = 0; e < at.count; ++e)
    for (int a = 0; a < at.per_element; ++a) {
      const std::int32_t node = at.nodes[std::int64_t{e} * at.per_element + a];
      if (node < owned) at.element[static_cast<std::size_t>(next[static_cast<std::size_t>(node)]++)] = e;
    }
  return at;
}

/// Nodes that meet through dependencies. A node stands for itself and for the nodes that its dependent equations depend
/// on; where it meets another node in an element, all that it stands for meet all that the other one stands for. That
/// would be the square of long dependencies for each element. So each node keeps what it meets once, in a list that all
/// rows it stands for share.
struct DependencyLists {
  std::vector<std::int64_t> list_start{0};  ///< of each list in `column`
  std::vector<std::int32_t> column;
  std::vector<std::int64_t> row_start;  ///< of each owned node in `list`; empty where there are no dependencies
  std::vector<std::int32_t> list;       ///< numbers of the lists that a row takes

  template <class Visitor>
  void for_each_column(std::int32_t row, Visitor visit) const {
    if (row_start.empty()) return;
    for (std::int64_t k = row_start[static_cast<std::size_t>(row)]; k < row_start[static_cast<std::size_t>(row) + 1];
         ++k) {
      const auto number = static_cast<std::size_t>(list[static_cast<std::size_t>(k)]);
      for (std::int64_t c = list_start[number]; c < list_start[number + 1]; ++c)
        visit(column[static_cast<std::size_t>(c)]);
    }
  }
};

void sort_unique(std::vector<std::int32_t>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

DependencyLists dependency_lists(const DeviceModel::Part& part, const std::vector<NodeElements>& batches,
                                 const std::vector<int>& numbers, ModelPlans& plans, int device,
                                 const std::int32_t* first_equation) {
  DependencyLists lists;
  const auto node_of = [&](std::int32_t equation) {
    return static_cast<std::int32_t>(std::upper_bound(first_equation, first_equation + part.local_nodes + 1, equation) -
                                     first_equation) -
           1;
  };
  // Nodes that are together in an element with dependent equations: its batch, and the nodes.
  std::vector<std::array<std::int32_t, 3>> pairs;
  for (std::size_t b = 0; b < batches.size(); ++b) {
    const ElementBatch& batch = part.batches[static_cast<std::size_t>(numbers[b])];
    const int n = batches[b].per_element;
    for (const std::int32_t e : batch.dependent_elements)
      for (int i = 0; i < n * n; ++i) {
        const std::int32_t* nodes = batches[b].nodes + std::int64_t{e} * n;
        pairs.push_back({numbers[b], nodes[i / n], nodes[i % n]});
      }
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  }
  if (pairs.empty()) return lists;
  const auto& dependency_of = plans.dependency_of(device);
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<std::int32_t>> known;
  const auto stands_for = [&](std::int32_t batch, std::int32_t node) -> const std::vector<std::int32_t>& {
    const auto [it, is_new] = known.try_emplace({batch, node});
    if (!is_new) return it->second;
    it->second.push_back(node);
    const detail::ElementEquations equations = element_equations(part, batch);
    for (int i = 0; i < equations.components; ++i)
      if (const auto found = dependency_of.find(equations.of(node, i)); found != dependency_of.end())
        for (const std::int32_t other : part.dependencies[static_cast<std::size_t>(found->second)].others)
          it->second.push_back(node_of(other));
    sort_unique(it->second);
    return it->second;
  };
  std::vector<std::pair<std::int32_t, std::int32_t>> takes;  // row, number of a list
  std::vector<std::int32_t> met;
  for (std::size_t k = 0; k < pairs.size();) {
    const std::int32_t batch = pairs[k][0], node = pairs[k][1];
    met.clear();
    for (; k < pairs.size() && pairs[k][0] == batch && pairs[k][1] == node; ++k) {
      const auto& others = stands_for(batch, pairs[k][2]);
      met.insert(met.end(), others.begin(), others.end());
    }
    sort_unique(met);
    const auto number = static_cast<std::int32_t>(lists.list_start.size() - 1);
    lists.column.insert(lists.column.end(), met.begin(), met.end());
    lists.list_start.push_back(static_cast<std::int64_t>(lists.column.size()));
    for (const std::int32_t row : stands_for(batch, node))
      if (row < part.owned_nodes) takes.emplace_back(row, number);
  }
  std::sort(takes.begin(), takes.end());
  lists.row_start.assign(static_cast<std::size_t>(part.owned_nodes) + 1, 0);
  for (const auto& [row, number] : takes) {
    ++lists.row_start[static_cast<std::size_t>(row) + 1];
    lists.list.push_back(number);
  }
  std::partial_sum(lists.row_start.begin(), lists.row_start.end(), lists.row_start.begin());
  return lists;
}

/// Columns of one node row, of half a matrix itself and those right of it; the marks belong to one thread.
struct RowLister {
  const std::vector<NodeElements>& batches;
  const DependencyLists& extra;
  bool whole;
  std::vector<std::int32_t> mark;  // last row that took a node
  std::vector<std::int32_t> columns;

  void list(std::int32_t row) {
    columns.clear();
    take(row, row);
    for (const NodeElements& batch : batches)
      for (std::int64_t k = batch.start[static_cast<std::size_t>(row)];
           k < batch.start[static_cast<std::size_t>(row) + 1]; ++k) {
        const std::int32_t* nodes =
            batch.nodes + std::int64_t{batch.element[static_cast<std::size_t>(k)]} * batch.per_element;
        for (int b = 0; b < batch.per_element; ++b) take(row, nodes[b]);
      }
    extra.for_each_column(row, [&](std::int32_t node) { take(row, node); });
  }
  void take(std::int32_t row, std::int32_t node) {
    if ((node < row && !whole) || mark[static_cast<std::size_t>(node)] == row) return;
    mark[static_cast<std::size_t>(node)] = row;
    columns.push_back(node);
  }
};

template <class Position>
void write_positions(const NodeElements& batch, std::int32_t row, const std::vector<std::int32_t>& place, bool whole,
                     Position* positions) {
  const int n = batch.per_element;
  for (std::int64_t k = batch.start[static_cast<std::size_t>(row)]; k < batch.start[static_cast<std::size_t>(row) + 1];
       ++k) {
    const std::int64_t e = batch.element[static_cast<std::size_t>(k)];
    const std::int32_t* nodes = batch.nodes + e * n;
    for (int a = 0; a < n; ++a) {
      if (nodes[a] != row) continue;
      Position* target = positions + (e * n + a) * n;
      for (int b = 0; b < n; ++b)
        target[b] = nodes[b] < row && !whole ? nowhere<Position>
                                             : static_cast<Position>(place[static_cast<std::size_t>(nodes[b])]);
    }
  }
}

/// Builds the pattern of a matrix on one device in two passes over the rows of its nodes: how long they are, and what
/// stands in them. Inside a section.
class PatternBuilder {
 public:
  /// `whole`: blocks left of the diagonal are stored too.
  PatternBuilder(const DeviceModel& model, int device, bool whole, int block_size, int threads, StoredRows& target,
                 std::vector<BlockPositions>& positions);
  /// Calls finish() when the rows are there, before there are values.
  template <class Finish>
  void build(const Finish& finish) {
    measure_rows();
    make_room();
    write_rows();
    listers_.clear();
    finish();
    target_.value = Array<double>(memory_, stored_ * static_cast<std::size_t>(block_size_ * block_size_));
  }

 private:
  bool scalar() const { return block_size_ == 1; }
  /// Stored columns that a node takes: nodes in a block matrix, equations in a plain one.
  std::int32_t width_of(std::int32_t node) const {
    return scalar() ? first_equation_[node + 1] - first_equation_[node] : 1;
  }
  void measure_rows();
  void make_room();
  void write_rows();
  void write_row(std::int32_t row, RowLister& lister, std::vector<std::int32_t>& place) const;

  const DeviceModel::Part& part_;
  StoredRows& target_;
  std::vector<BlockPositions>& block_positions_;
  std::shared_ptr<DeviceMemory> memory_;
  const int threads_, block_size_;
  const bool whole_;
  const std::int32_t* first_equation_;
  std::vector<NodeElements> batches_;
  std::vector<int> numbers_;              // of the batches in the model
  DependencyLists extra_;                 // nodes that dependencies bring together
  std::vector<RowLister> listers_;        // one for each thread
  std::vector<std::int32_t> width_;       // of each node's first row
  int bytes_each_ = 1;                    // of a position
  std::vector<std::uint8_t*> positions_;  // of each batch
  std::int64_t* row_start_ = nullptr;
  std::int32_t* column_ = nullptr;
  std::size_t stored_ = 0;
};

PatternBuilder::PatternBuilder(const DeviceModel& model, int device, bool whole, int block_size, int threads,
                               StoredRows& target, std::vector<BlockPositions>& positions)
    : part_(model.part(device)),
      target_(target),
      block_positions_(positions),
      memory_(model.layout()->memory(device)),
      threads_(threads),
      block_size_(block_size),
      whole_(whole),
      first_equation_(part_.first_equation.read_device()) {
  const std::int32_t owned = part_.owned_nodes;
  block_positions_.resize(part_.batches.size());
  for (std::size_t b = 0; b < part_.batches.size(); ++b) {
    const ElementBatch& batch = part_.batches[b];
    if (batch.element_count == 0 || !(batch.program->has_tangent() || batch.program->has_mass())) continue;
    batches_.push_back(elements_at_nodes(batch, owned));
    numbers_.push_back(static_cast<int>(b));
  }
  ModelPlans& plans = ModelPlans::of(model, threads_);
  extra_ = dependency_lists(part_, batches_, numbers_, plans, device, first_equation_);
  // Made before the parallel regions, so that a lack of memory is met where an exception can leave.
  for (int t = 0; t < threads_; ++t)
    listers_.push_back(
        {batches_, extra_, whole_, std::vector<std::int32_t>(static_cast<std::size_t>(part_.local_nodes), -1), {}});
}

// In half of a plain matrix each further row of a node begins one column later.
void PatternBuilder::measure_rows() {
  const std::int32_t owned = part_.owned_nodes;
  width_.assign(static_cast<std::size_t>(owned), 0);
  std::int32_t widest = 0;
  ExceptionKeeper keeper;
#pragma omp parallel for num_threads(threads_) schedule(dynamic, 512) reduction(max : widest)
  for (std::int32_t row = 0; row < owned; ++row)
    keeper.guard([&] {
      RowLister& lister = listers_[static_cast<std::size_t>(omp_get_thread_num())];
      lister.list(row);
      std::int32_t sum = 0;
      for (const std::int32_t node : lister.columns) sum += width_of(node);
      width_[static_cast<std::size_t>(row)] = sum;
      widest = std::max(widest, sum);
    });
  keeper.rethrow();
  bytes_each_ = widest <= nowhere<std::uint8_t> ? 1 : widest <= nowhere<std::uint16_t> ? 2 : 4;
}

void PatternBuilder::make_room() {
  target_.row_start = Array<std::int64_t>(memory_, static_cast<std::size_t>(target_.rows) + 1);
  row_start_ = target_.row_start.write_device();
  row_start_[0] = 0;
  for (std::int32_t row = 0, stored = 0; row < part_.owned_nodes; ++row) {
    const int copies = scalar() ? width_of(row) : 1;
    for (int i = 0; i < copies; ++i, ++stored)
      row_start_[stored + 1] = row_start_[stored] + width_[static_cast<std::size_t>(row)] - (whole_ ? 0 : i);
  }
  for (std::size_t b = 0; b < batches_.size(); ++b) {
    const int n = batches_[b].per_element;
    BlockPositions& p = block_positions_[static_cast<std::size_t>(numbers_[b])];
    p.bytes_each = bytes_each_;
    p.data = Array<std::uint8_t>(memory_, static_cast<std::size_t>(batches_[b].count) *
                                              static_cast<std::size_t>(n * n) * static_cast<std::size_t>(bytes_each_));
    positions_.push_back(p.data.write_device());
  }
  stored_ = static_cast<std::size_t>(row_start_[target_.rows]);
  target_.column = Array<std::int32_t>(memory_, stored_);
  column_ = target_.column.write_device();
}

void PatternBuilder::write_rows() {
  for (RowLister& lister : listers_) std::fill(lister.mark.begin(), lister.mark.end(), -1);
  std::vector<std::vector<std::int32_t>> places(
      static_cast<std::size_t>(threads_), std::vector<std::int32_t>(static_cast<std::size_t>(part_.local_nodes), 0));
  ExceptionKeeper keeper;
#pragma omp parallel for num_threads(threads_) schedule(static)
  for (std::int32_t row = 0; row < part_.owned_nodes; ++row)
    keeper.guard([&] {
      const auto thread = static_cast<std::size_t>(omp_get_thread_num());
      write_row(row, listers_[thread], places[thread]);
    });
  keeper.rethrow();
}

// The columns of a node's rows, ascending, and where its elements find them. `place` is of each node, of this thread.
void PatternBuilder::write_row(std::int32_t row, RowLister& lister, std::vector<std::int32_t>& place) const {
  lister.list(row);
  std::sort(lister.columns.begin(), lister.columns.end());
  std::int32_t* line = column_ + row_start_[scalar() ? first_equation_[row] : row];
  std::int32_t at = 0;
  for (const std::int32_t node : lister.columns) {
    place[static_cast<std::size_t>(node)] = at;
    if (!scalar())
      line[at++] = node;
    else
      for (std::int32_t equation = first_equation_[node]; equation < first_equation_[node + 1]; ++equation)
        line[at++] = equation;
  }
  if (scalar())
    for (std::int32_t i = first_equation_[row] + 1; i < first_equation_[row + 1]; ++i)
      std::copy(line + (whole_ ? 0 : i - first_equation_[row]), line + at, column_ + row_start_[i]);
  for (std::size_t b = 0; b < batches_.size(); ++b) {
    if (bytes_each_ == 1)
      write_positions(batches_[b], row, place, whole_, positions_[b]);
    else if (bytes_each_ == 2)
      write_positions(batches_[b], row, place, whole_, reinterpret_cast<std::uint16_t*>(positions_[b]));
    else
      write_positions(batches_[b], row, place, whole_, reinterpret_cast<std::uint32_t*>(positions_[b]));
  }
}

template <class Matrix, class Finish>
void build_pattern(const DeviceModel& model, bool whole, Matrix& matrix, const Finish& finish) {
  for (int d = 0; d < model.devices(); ++d) {
    const auto& memory = model.layout()->memory(d);
    DeviceSection section(*memory);
    auto& part = matrix.part(d);
    const std::int32_t rows = part.rows;
    part = {};
    part.rows = rows;
    PatternBuilder(model, d, whole, matrix.block_size(), matrix.threads(), part, part.positions).build([&] {
      finish(memory, part);
    });
  }
  matrix.set_pattern_revision(model.revision().matrices);
}

}  // namespace

void make_pattern(const DeviceModel& model, CpuSymmetricMatrix& matrix) {
  build_pattern(model, false, matrix,
                [&](const auto& memory, auto& part) { part.cut(memory, matrix.block_size(), matrix.threads()); });
}

void make_pattern(const DeviceModel& model, CpuSparseMatrix& matrix) {
  build_pattern(model, true, matrix, [&](const auto&, auto& part) { part.share(matrix.threads()); });
}

}  // namespace cpu

std::unique_ptr<SparseMatrix> CpuBackend::make_matrix(const DeviceModel& model, int block_size) {
  if (block_size != 1 && block_size != model.uniform_components())
    throw Error(
        ErrorCode::misuse,
        "make_matrix: blocks of " + std::to_string(block_size) + " need as many equations on every node" +
            (model.uniform_components() == 0 ? "; the nodes of this model differ"
                                             : "; here there are " + std::to_string(model.uniform_components())));
  const auto build = [&](auto matrix) {
    cpu::make_pattern(model, *matrix);
    return std::unique_ptr<SparseMatrix>(std::move(matrix));
  };
  if (model.symmetric()) return build(std::make_unique<cpu::CpuSymmetricMatrix>(model, block_size, threads_));
  return build(std::make_unique<cpu::CpuSparseMatrix>(model, block_size, threads_));
}

}  // namespace voussoir
