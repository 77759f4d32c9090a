#include <algorithm>
#include <cmath>
#include <string>

#include <voussoir/backends/detail/upper_triangle.hpp>
#include <voussoir/backends/openmp/checks.hpp>
#include <voussoir/backends/openmp/cpu_backend.hpp>
#include <voussoir/backends/openmp/element_matrices.hpp>
#include <voussoir/backends/openmp/exchange.hpp>
#include <voussoir/backends/openmp/matrix_pattern.hpp>
#include <voussoir/backends/openmp/parallel.hpp>

namespace voussoir {

namespace cpu {

namespace {

/// Where the values of a node's rows lie. In a block matrix the rows of a block follow each other; in a plain one the
/// rows of a node's equations do, in half of one each beginning on the diagonal and so one column shorter than the one
/// before.
struct NodeRows {
  double* values;
  const std::int64_t* row_start;
  const std::int32_t* first_equation;
  int block_size;
  bool whole;  ///< not half a matrix

  double* begin(std::int32_t node) const {
    return values + (block_size == 1 ? row_start[first_equation[node]] : row_start[node] * (block_size * block_size));
  }
  /// The entry of equations `i` of `node` and `j` of the node whose columns begin at `place` in the node's first row;
  /// null where the mirrored one is stored.
  double* entry(std::int32_t node, int i, std::ptrdiff_t place, int j) const {
    if (block_size > 1) return begin(node) + place * (block_size * block_size) + i * block_size + j;
    double* row = values + row_start[first_equation[node] + i];
    if (whole) return row + place + j;
    return place == 0 && j < i ? nullptr : row + place + j - i;
  }
  /// Columns of the node's first row; of no use in a block matrix.
  std::ptrdiff_t width(std::int32_t node) const {
    if (block_size > 1) return 0;
    const std::int32_t equation = first_equation[node];
    return row_start[equation + 1] - row_start[equation];
  }
};

/// Adds the rows of one node of an element matrix (plain order; an upper triangle where `symmetric`, row r beginning at
/// row_of[r] + r, else whole) to the rows of the matrix. C is the number of components, or 0 where it is not known
/// beforehand; `Tight` says that stored blocks have just that size.
template <int C, bool Tight, class Position>
void add_node_rows(const double* matrix, const std::int32_t* row_of, bool symmetric, int nodes, int components, int a,
                   const Position* position, double* begin, std::ptrdiff_t width, const NodeRows& rows) {
  const int c = C > 0 ? C : components, block_size = rows.block_size;
  const auto add = [&](int b, auto&& entry) {
    if (position[b] == nowhere<Position>) return;
    const auto place = static_cast<std::ptrdiff_t>(position[b]);
    if constexpr (Tight) {
      double* target = begin + place * (C * C);
      for (int i = 0; i < C; ++i)
        for (int j = 0; j < C; ++j) target[i * C + j] += entry(i, j);
    } else if (block_size > 1) {
      double* target = begin + place * (block_size * block_size);
      for (int i = 0; i < c; ++i)
        for (int j = 0; j < c; ++j) target[i * block_size + j] += entry(i, j);
    } else {
      double* target = begin + place;
      // In half a matrix place 0 is the diagonal, and rows get shorter.
      for (int i = 0; i < c; target += rows.whole ? width : width - 1 - i, ++i)
        for (int j = place == 0 && !rows.whole ? i : 0; j < c; ++j) target[j] += entry(i, j);
    }
  };
  if (!symmetric) {
    for (int b = 0; b < nodes; ++b) add(b, [&](int i, int j) { return matrix[row_of[a * c + i] + b * c + j]; });
    return;
  }
  for (int b = 0; b < a; ++b) add(b, [&](int i, int j) { return matrix[row_of[b * c + j] + a * c + i]; });
  add(a, [&](int i, int j) { return matrix[row_of[a * c + std::min(i, j)] + a * c + std::max(i, j)]; });
  for (int b = a + 1; b < nodes; ++b) add(b, [&](int i, int j) { return matrix[row_of[a * c + i] + b * c + j]; });
}

template <int C, bool Tight, class Position>
Gather matrix_gather(const ElementProgram& program, const Position* positions, const NodeRows& rows, std::int32_t owned,
                     const std::uint8_t* skip) {
  const int n = program.nodes(), components = program.components(), dofs = program.dofs();
  const std::ptrdiff_t entries = program.matrix_entries();
  std::vector<std::int32_t> row_of(static_cast<std::size_t>(dofs));
  const bool symmetric = program.symmetric();
  for (int r = 0; r < dofs; ++r)
    row_of[static_cast<std::size_t>(r)] = symmetric ? detail::triangle_row(r, dofs) : r * dofs;
  return [=, row_of = std::move(row_of)](const Chunk& chunk, std::int64_t row_begin, std::int64_t row_end) {
    for (std::int64_t row = row_begin; row < row_end; ++row) {
      const std::int32_t node = chunk.rows[row];
      if (node >= owned) continue;  // listed for what dependencies hand on; matrices do that by themselves
      double* begin = rows.begin(node);
      const std::ptrdiff_t width = rows.width(node);
      for (std::int64_t k = chunk.first[row]; k < chunk.first[row + 1]; ++k) {
        const std::int64_t e = chunk.element[k];
        if (skip && skip[chunk.first_element + e]) continue;
        const int a = chunk.node[k];
        add_node_rows<C, Tight>(chunk.values + e * entries, row_of.data(), symmetric, n, components, a,
                                positions + ((chunk.first_element + e) * n + a) * n, begin, width, rows);
      }
    }
  };
}

/// The same where components are not the first equations of their nodes.
template <class Position>
Gather slotted_gather(const ElementProgram& program, const std::int32_t* nodes,
                      const detail::ElementEquations& equations, const Position* positions, const NodeRows& rows,
                      std::int32_t owned, const std::uint8_t* skip) {
  const int n = program.nodes(), components = program.components(), dofs = program.dofs();
  const std::ptrdiff_t entries = program.matrix_entries();
  const bool symmetric = program.symmetric();
  return [=](const Chunk& chunk, std::int64_t row_begin, std::int64_t row_end) {
    for (std::int64_t row = row_begin; row < row_end; ++row) {
      const std::int32_t node = chunk.rows[row];
      if (node >= owned) continue;
      for (std::int64_t k = chunk.first[row]; k < chunk.first[row + 1]; ++k) {
        const std::int64_t e = chunk.element[k], element = chunk.first_element + e;
        if (skip && skip[element]) continue;
        const int a = chunk.node[k];
        const double* matrix = chunk.values + e * entries;
        const Position* position = positions + (element * n + a) * n;
        for (int b = 0; b < n; ++b) {
          if (position[b] == nowhere<Position>) continue;
          const auto place = static_cast<std::ptrdiff_t>(position[b]);
          const std::int32_t column = nodes[element * n + b];
          for (int i = 0; i < components; ++i)
            for (int j = 0; j < components; ++j)
              if (double* entry = rows.entry(node, equations.slot_of(node, i), place, equations.slot_of(column, j)))
                *entry += matrix[detail::matrix_entry(a * components + i, b * components + j, dofs, symmetric)];
        }
      }
    }
  };
}

template <class Position>
Gather matrix_gather(const ElementProgram& program, const Position* positions, const NodeRows& rows, std::int32_t owned,
                     const std::uint8_t* skip) {
  const bool tight = rows.block_size == program.components();
  switch (program.components()) {
    case 1:
      return matrix_gather<1, false>(program, positions, rows, owned, skip);
    case 2:
      if (tight) return matrix_gather<2, true>(program, positions, rows, owned, skip);
      return matrix_gather<2, false>(program, positions, rows, owned, skip);
    case 3:
      if (tight) return matrix_gather<3, true>(program, positions, rows, owned, skip);
      return matrix_gather<3, false>(program, positions, rows, owned, skip);
    case 6:
      if (tight) return matrix_gather<6, true>(program, positions, rows, owned, skip);
      return matrix_gather<6, false>(program, positions, rows, owned, skip);
    default:
      return matrix_gather<0, false>(program, positions, rows, owned, skip);
  }
}

/// Element matrices one after another instead of side by side: each is then read by rows, a cache line at a time.
void unpack(const double* packed, int entries, int lanes, int count, double* out) {
  for (int e = 0; e < count; ++e) {
    const double* source = packed + static_cast<std::ptrdiff_t>(e / lanes) * entries * lanes + e % lanes;
    double* target = out + static_cast<std::ptrdiff_t>(e) * entries;
    for (int k = 0; k < entries; ++k) target[k] = source[static_cast<std::ptrdiff_t>(k) * lanes];
  }
}

/// Adds single entries, found by searching the row. Entries come in mirrored pairs; the upper one of each counts.
std::function<void(std::int32_t, std::int32_t, double)> entry_adder(CpuSymmetricMatrix& matrix, int device) {
  CpuSymmetricMatrix::Part& part = matrix.part(device);
  const int b = matrix.block_size();
  const SymmetricView view = part.view(b);
  double* values = part.value.update_device();
  return [=](std::int32_t row, std::int32_t col, double value) {
    if (col < row) return;
    const std::int64_t k = view.find(row / b, col / b);
    if (k < 0)
      throw Error(ErrorCode::internal, "an entry of a transformed element matrix is not in the pattern of the matrix");
    double* block = values + k * b * b;
    block[(row % b) * b + col % b] += value;
    if (row != col && row / b == col / b) block[(col % b) * b + row % b] += value;  // diagonal blocks are whole
  };
}

std::function<void(std::int32_t, std::int32_t, double)> entry_adder(CpuSparseMatrix& matrix, int device) {
  CpuSparseMatrix::Part& part = matrix.part(device);
  const int b = matrix.block_size();
  const std::int64_t* row_start = part.row_start.read_device();
  const std::int32_t* column = part.column.read_device();
  double* values = part.value.update_device();
  return [=](std::int32_t row, std::int32_t col, double value) {
    const std::int32_t* end = column + row_start[row / b + 1];
    const std::int32_t* found = std::lower_bound(column + row_start[row / b], end, col / b);
    if (found == end || *found != col / b)
      throw Error(ErrorCode::internal, "an entry of a transformed element matrix is not in the pattern of the matrix");
    values[(found - column) * b * b + (row % b) * b + col % b] += value;
  };
}

/// The local block column of a stored block; inside a section.
auto column_reader(const CpuSymmetricMatrix& matrix, int device) {
  return [view = matrix.part(device).view(matrix.block_size())](std::int32_t row, std::int64_t k) {
    return view.column(row, k);
  };
}
auto column_reader(const CpuSparseMatrix& matrix, int device) {
  return [column = matrix.part(device).column.read_device()](std::int32_t, std::int64_t k) { return column[k]; };
}

/// Zeroes rows and columns of equations that are not free; the diagonal stays, positive.
template <class Matrix>
void isolate_constrained(const DeviceModel& model, int device, Matrix& matrix) {
  const DeviceModel::Part& model_part = model.part(device);
  auto& part = matrix.part(device);
  const int b = matrix.block_size();
  DeviceSection section(*model.layout()->memory(device));
  const std::uint8_t* constrained = model_part.constrained.read_device();
  const auto column_of = column_reader(matrix, device);
  const std::int64_t* row_start = part.row_start.read_device();
  double* values = part.value.update_device();
  const std::int32_t local = model.layout()->local_size(device) / b;
  std::vector<std::uint8_t> touched(static_cast<std::size_t>(local), 0);
  for (std::int32_t i = 0; i < local * b; ++i)
    if (constrained[i]) touched[static_cast<std::size_t>(i / b)] = 1;
#pragma omp parallel for num_threads(matrix.threads()) schedule(static)
  for (std::int32_t row = 0; row < part.rows; ++row) {
    const bool row_touched = touched[static_cast<std::size_t>(row)];
    for (std::int64_t k = row_start[row]; k < row_start[row + 1]; ++k) {
      const std::int32_t col = column_of(row, k);
      if (!row_touched && !touched[static_cast<std::size_t>(col)]) continue;
      double* block = values + k * b * b;
      for (int i = 0; i < b; ++i)
        for (int j = 0; j < b; ++j) {
          const std::int32_t r = row * b + i, c = col * b + j;
          if (!constrained[r] && !constrained[c]) continue;
          double& entry = block[i * b + j];
          if (r != c)
            entry = 0;
          else
            entry = entry == 0 ? 1 : std::fabs(entry);
        }
    }
  }
}

/// Integrates and assembles into half a matrix or a whole one.
template <class Matrix>
void assemble_into(const CpuBackend& backend, const DeviceModel& model, const ElementState& state,
                   const MatrixTerms& terms, bool whole, Matrix& matrix) {
  const int threads = matrix.threads();
  ModelPlans& plans = ModelPlans::of(model, threads);
  FaultKeeper faults;
  for (int d = 0; d < model.devices(); ++d) {
    auto& part = matrix.part(d);
    const DeviceModel::Part& model_part = model.part(d);
    const std::int32_t owned_nodes = model_part.owned_nodes;
    {
      DeviceSection section(*model.layout()->memory(d));
      double* values = part.value.write_device();
      for_blocks(part.value.size(), threads,
                 [=](std::size_t begin, std::size_t end) { std::fill(values + begin, values + end, 0.0); });
    }
    Array<double> buffer;
    for (int b = 0; b < model.batch_count(); ++b) {
      const ElementBatch& batch = model_part.batches[static_cast<std::size_t>(b)];
      const BatchTerms batch_terms(terms, batch);
      if (batch_terms.empty()) continue;
      const ElementProgram& program = *batch.program;
      const Sweep sweep{
          model, d, b, plans.gather(model, d, b), threads, backend.route(program), state, program.matrix_entries()};
      const auto packed = [&]() -> Compute {
        return [&](const ElementView& view, int first, int count, double* out) {
          return element_matrices(program, view, batch_terms, first, count, out);
        };
      };
      const auto plain = [&]() -> Compute {
        if (program.lanes() == 1) return packed();
        return [&](const ElementView& view, int first, int count, double* out) {
          const int lanes = program.lanes();
          thread_local std::vector<double> scratch;
          scratch.resize(static_cast<std::size_t>((count + lanes - 1) / lanes * lanes) *
                         static_cast<std::size_t>(program.matrix_entries()));
          const ElementStatus status = element_matrices(program, view, batch_terms, first, count, scratch.data());
          unpack(scratch.data(), program.matrix_entries(), lanes, count, out);
          return status;
        };
      };
      const std::vector<std::uint8_t>& dependent = plans.dependent(d, b);
      const std::uint8_t* skip = dependent.empty() ? nullptr : dependent.data();
      const auto gather = [&]() -> Gather {
        const NodeRows rows{part.value.update_device(), part.row_start.read_device(),
                            model_part.first_equation.read_device(), matrix.block_size(), whole};
        const BlockPositions& positions = part.positions[static_cast<std::size_t>(b)];
        const std::uint8_t* data = positions.data.read_device();
        const auto typed = [&](const auto* position) {
          return batch.slot.empty()
                     ? matrix_gather(program, position, rows, owned_nodes, skip)
                     : slotted_gather(program, batch.nodes.read_device(), element_equations(model_part, b), position,
                                      rows, owned_nodes, skip);
        };
        if (positions.bytes_each == 1) return typed(data);
        if (positions.bytes_each == 2) return typed(reinterpret_cast<const std::uint16_t*>(data));
        return typed(reinterpret_cast<const std::uint32_t*>(data));
      };
      faults.note(batch, run(sweep, buffer, plain, gather));
      faults.note(batch, add_dependent(sweep, packed, [&] { return entry_adder(matrix, d); }));
    }
    isolate_constrained(model, d, matrix);
  }
  faults.rethrow();
}

}  // namespace

}  // namespace cpu

void CpuBackend::assemble(const DeviceModel& model, const ElementState& state, const MatrixTerms& terms,
                          SparseMatrix& target) {
  using namespace cpu;
  auto* half = dynamic_cast<CpuSymmetricMatrix*>(&target);
  auto* whole = dynamic_cast<CpuSparseMatrix*>(&target);
  if (!(half && &half->model() == &model) && !(whole && whole->model() == &model))
    throw Error(ErrorCode::misuse, "assemble: the matrix was not made for this model by this backend");
  detail::require_state(model, state, "assemble");
  if (state.unknowns) exchange_ghosts(*state.unknowns);
  require_factors(terms, model.batch_count(), "assemble");
  const auto assemble_in = [&](auto& matrix, bool is_whole) {
    if (matrix.pattern_revision() != model.revision().matrices) make_pattern(model, matrix);
    assemble_into(*this, model, state, terms, is_whole, matrix);
  };
  if (half)
    assemble_in(*half, false);
  else
    assemble_in(*whole, true);
}

}  // namespace voussoir
