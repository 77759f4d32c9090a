#include <algorithm>

#include <voussoir/backends/detail/node_table.hpp>
#include <voussoir/backends/openmp/multigrid/device_rows.hpp>
#include <voussoir/backends/openmp/multigrid/services.hpp>
#include <voussoir/backends/openmp/parallel.hpp>
#include <voussoir/backends/openmp/sparse_matrix.hpp>
#include <voussoir/backends/openmp/symmetric_matrix.hpp>

// The rows of an assembled matrix by nodes, as the finest level of a hierarchy.

namespace voussoir::cpu {

namespace {

/// A matrix of which every block is stored.
struct WholeSource {
  static constexpr bool mirrored = false;
  BlockRows rows;

  /// visit(column, place) for what is stored of a row.
  template <class Visit>
  void for_row(std::int32_t row, const Visit& visit) const {
    for (std::int64_t k = rows.row_start[row]; k < rows.row_start[row + 1]; ++k) visit(rows.column[k], k);
  }
  bool reaches(std::int32_t, std::int32_t) const { return false; }
};

/// A matrix of which the blocks right of the diagonal stand for those left of it too.
struct HalfSource {
  static constexpr bool mirrored = true;
  BlockRows rows;
  SymmetricView view;

  template <class Visit>
  void for_row(std::int32_t row, const Visit& visit) const {
    const std::int32_t* outer = view.outer_column + view.outer_start[row / view.tile_rows];
    const std::int64_t split = view.split(row), end = rows.row_start[row + 1];
    std::int64_t k = rows.row_start[row];
    for (; k < split; ++k) visit(rows.column[k], k);
    for (; k < end; ++k) visit(outer[rows.column[k]], k);
  }
  /// Whether the row has columns from this one on; they ascend.
  bool reaches(std::int32_t row, std::int32_t column) const {
    const std::int64_t end = rows.row_start[row + 1];
    return end > rows.row_start[row] && view.column(row, end - 1) >= column;
  }
};

/// Nodes are the block rows of the matrix.
struct NodesAreRows {
  std::int32_t nodes = 0;
  int size = 1;  ///< rows of a node
  std::int32_t begin(std::int32_t node) const { return node; }
  std::int32_t end(std::int32_t node) const { return node + 1; }
  std::int32_t node_of(std::int32_t column) const { return column; }
};

/// Block rows are single equations, of which node n has those from first[n] to first[n+1].
struct NodesHaveRows {
  std::int32_t nodes = 0;
  int size = 1;
  const std::int32_t* first = nullptr;
  const std::int32_t* node_of_equation = nullptr;
  std::int32_t begin(std::int32_t node) const { return first[node]; }
  std::int32_t end(std::int32_t node) const { return first[node + 1]; }
  std::int32_t node_of(std::int32_t column) const { return node_of_equation[column]; }
};

/// The nodes that are stored in the rows of `node`, and the node itself, ascending.
template <class Source, class Nodes>
void stored_neighbours(const Source& source, const Nodes& nodes, std::int32_t node, std::vector<std::int32_t>& list) {
  list.assign(1, node);
  bool ascending = true;
  for (std::int32_t row = nodes.begin(node); row < nodes.end(node); ++row)
    source.for_row(row, [&](std::int32_t column, std::int64_t) {
      const std::int32_t other = nodes.node_of(column), last = list.back();
      ascending = ascending && other >= last;
      if (other != last) list.push_back(other);
    });
  if (ascending) return;
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

/// Calls work(targets, sources) for stretches of nodes, one for each thread: a thread fills the rows of its targets,
/// and goes through all sources that have something for them, in ascending order. No two threads write to the same row,
/// and mirror images arrive in the order of their columns.
template <class Source, class Nodes, class Work>
void for_stretches(const Nodes& nodes, int threads, const Work& work) {
  ExceptionKeeper keeper;
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int t = 0; t < threads; ++t)
    keeper.guard([&] {
      const auto bound = [&](int thread) {
        return static_cast<std::int32_t>(static_cast<std::int64_t>(nodes.nodes) * thread / threads);
      };
      work(RowRange{bound(t), bound(t + 1)}, RowRange{Source::mirrored ? 0 : bound(t), bound(t + 1)});
    });
  keeper.rethrow();
}

/// Whether a node before the targets has something for them.
template <class Source, class Nodes>
bool concerns(const Source& source, const Nodes& nodes, std::int32_t node, RowRange targets) {
  if (node >= targets.begin) return true;
  if (targets.begin >= nodes.nodes) return false;
  for (std::int32_t row = nodes.begin(node); row < nodes.end(node); ++row)
    if (source.reaches(row, nodes.begin(targets.begin))) return true;
  return false;
}

/// Calls own(node, list) for targets and mirror(other, node) for the mirror images that they get.
template <class Source, class Nodes, class Own, class Mirror>
void for_neighbours(const Source& source, const Nodes& nodes, int threads, const Own& own, const Mirror& mirror) {
  for_stretches<Source>(nodes, threads, [&](RowRange targets, RowRange sources) {
    std::vector<std::int32_t> list;
    for (std::int32_t node = sources.begin; node < sources.end; ++node) {
      if (!concerns(source, nodes, node, targets)) continue;
      stored_neighbours(source, nodes, node, list);
      if (node >= targets.begin) own(node, list);
      if constexpr (Source::mirrored)
        for (const std::int32_t other : list)
          if (other != node && other >= targets.begin && other < targets.end) mirror(other, node);
    }
  });
}

/// Starts from how many neighbours each node has, those that are mirror images included.
template <class Source, class Nodes>
void count_blocks(const Source& source, const Nodes& nodes, int threads, std::int64_t* start) {
  std::fill(start, start + nodes.nodes + 1, std::int64_t{0});
  for_neighbours(
      source, nodes, threads,
      [=](std::int32_t node, const std::vector<std::int32_t>& list) {
        start[node + 1] += static_cast<std::int64_t>(list.size());
      },
      [=](std::int32_t other, std::int32_t) { ++start[other + 1]; });
  for (std::int32_t node = 0; node < nodes.nodes; ++node) start[node + 1] += start[node];
}

template <class Source, class Nodes>
void fill_columns(const Source& source, const Nodes& nodes, int threads, const std::int64_t* start,
                  std::int32_t* column) {
  std::vector<std::int32_t> arrived(static_cast<std::size_t>(nodes.nodes), 0);
  std::int32_t* count = arrived.data();
  for_neighbours(
      source, nodes, threads,
      [=](std::int32_t node, const std::vector<std::int32_t>& list) {
        std::copy(list.begin(), list.end(), column + start[node + 1] - static_cast<std::ptrdiff_t>(list.size()));
      },
      [=](std::int32_t other, std::int32_t node) { column[start[other] + count[other]++] = node; });
}

/// A row of nodes that is being filled with numbers.
template <class Number>
struct TargetRow {
  const std::int32_t* column;
  const std::int32_t* column_end;
  Number* value;

  /// Place of a column among the row's.
  std::ptrdiff_t place(std::int32_t wanted) const { return std::lower_bound(column, column_end, wanted) - column; }
};

/// Puts numbers of the matrix into the rows of nodes.
template <int B, class Source, class Nodes, class Number>
void fill_values(const Source& source, const Nodes& nodes, int threads, const std::int64_t* start,
                 const std::int32_t* column, Number* value) {
  const int size = nodes.size;
  const auto target = [=](std::int32_t node) {
    return TargetRow<Number>{column + start[node], column + start[node + 1], value + start[node] * size * size};
  };
  // Where nodes are rows, mirror images arrive once each and in order; else they are looked for.
  constexpr bool in_order = std::is_same_v<Nodes, NodesAreRows>;
  std::vector<std::int32_t> arrived(in_order ? static_cast<std::size_t>(nodes.nodes) : 0, 0);
  for_stretches<Source>(nodes, threads, [&](RowRange targets, RowRange sources) {
    for (std::int32_t node = sources.begin; node < sources.end; ++node) {
      if (!concerns(source, nodes, node, targets)) continue;
      const bool mine = node >= targets.begin;
      const TargetRow<Number> own = target(node);
      const std::ptrdiff_t own_length = own.column_end - own.column;
      for (std::int32_t row = nodes.begin(node); row < nodes.end(node); ++row) {
        const std::int32_t r = row - nodes.begin(node);  // 0 where nodes are rows
        std::ptrdiff_t place = 0;
        source.for_row(row, [&](std::int32_t c, std::int64_t k) {
          const std::int32_t other = nodes.node_of(c), q = c - nodes.begin(other);
          const double* block = source.rows.value + k * (B * B);
          if (mine) {
            while (own.column[place] < other) ++place;
            for (int i = 0; i < B; ++i)
              for (int j = 0; j < B; ++j)
                own.value[((r + i) * own_length + place) * size + q + j] = static_cast<Number>(block[i * B + j]);
          }
          if (Source::mirrored && c != row && other >= targets.begin && other < targets.end) {
            const TargetRow<Number> mirror = target(other);
            const std::ptrdiff_t length = mirror.column_end - mirror.column;
            const std::ptrdiff_t at = in_order ? arrived[static_cast<std::size_t>(other)]++ : mirror.place(node);
            for (int i = 0; i < B; ++i)
              for (int j = 0; j < B; ++j)
                mirror.value[((q + i) * length + at) * size + r + j] = static_cast<Number>(block[j * B + i]);
          }
        });
      }
      // What a node lacks of equations stands alone.
      if (mine && !in_order)
        for (int r = nodes.end(node) - nodes.begin(node); r < size; ++r)
          own.value[(r * own_length + own.place(node)) * size + r] = 1;
    }
  });
}

template <class Source, class Nodes, class Number>
void fill_any_values(const Source& source, const Nodes& nodes, int threads, const std::int64_t* start,
                     const std::int32_t* column, Number* value) {
  // Half a matrix by nodes has a block for every place; else zeros remain.
  if (!Source::mirrored || !std::is_same_v<Nodes, NodesAreRows>)
    for_blocks(static_cast<std::size_t>(start[nodes.nodes]) * static_cast<std::size_t>(nodes.size * nodes.size),
               threads, [=](std::size_t begin, std::size_t end) { std::fill(value + begin, value + end, Number{0}); });
  switch (source.rows.block_size) {
    case 1:
      return fill_values<1>(source, nodes, threads, start, column, value);
    case 2:
      return fill_values<2>(source, nodes, threads, start, column, value);
    case 3:
      return fill_values<3>(source, nodes, threads, start, column, value);
    case 4:
      return fill_values<4>(source, nodes, threads, start, column, value);
    case 5:
      return fill_values<5>(source, nodes, threads, start, column, value);
    default:
      return fill_values<6>(source, nodes, threads, start, column, value);
  }
}

/// Calls work(source) with the rows of a matrix, inside a section of the first device. Where several devices have parts
/// of it, the whole of it is brought to the host first.
template <class Work>
void with_source(const SparseMatrix& matrix, DeviceMemory& memory, const Work& work) {
  const int b = matrix.block_size();
  const bool one = matrix.layout()->devices() == 1;
  if (const auto* half = dynamic_cast<const CpuSymmetricMatrix*>(&matrix); half && one) {
    DeviceSection section(memory);
    const SymmetricView view = half->part(0).view(b);
    work(HalfSource{view.half.rows, view});
  } else if (const auto* whole = dynamic_cast<const CpuSparseMatrix*>(&matrix); whole && one) {
    DeviceSection section(memory);
    work(WholeSource{whole->part(0).read(b)});
  } else {
    const HostMatrix host = matrix.to_host();
    DeviceSection section(memory);
    work(WholeSource{{b, host.row_start.data(), host.column.data(), host.value.data()}});
  }
}

/// Calls work(source, nodes), inside a section of the first device.
template <class Work>
void with_source_and_nodes(const DeviceModel& model, const SparseMatrix& matrix, int height, DeviceMemory& memory,
                           const Work& work) {
  const std::int32_t count = model.node_count();
  if (matrix.block_size() == model.uniform_components()) {
    with_source(matrix, memory, [&](const auto& source) { work(source, NodesAreRows{count, height}); });
    return;
  }
  const detail::NodeTable table(model);
  const auto first = table.first_equation().read_host();
  std::vector<std::int32_t> node_of(static_cast<std::size_t>(first.back()));
  for (std::int32_t n = 0; n < count; ++n)
    std::fill(node_of.begin() + first[static_cast<std::size_t>(n)],
              node_of.begin() + first[static_cast<std::size_t>(n) + 1], n);
  with_source(matrix, memory, [&](const auto& source) {
    work(source, NodesHaveRows{count, height, table.first_equation().read_device(), node_of.data()});
  });
}

/// Height of a node's block, which is that of the matrix where that goes by nodes.
int height_of(const DeviceModel& model, const SparseMatrix& matrix) {
  if (matrix.layout()->size() != model.layout()->size())
    throw Error(ErrorCode::misuse, "multigrid: the matrix has " + std::to_string(matrix.layout()->size()) +
                                       " equations and the model " + std::to_string(model.layout()->size()));
  if (matrix.block_size() == model.uniform_components()) return matrix.block_size();
  if (matrix.block_size() != 1)
    throw Error(ErrorCode::misuse, "multigrid: blocks of " + std::to_string(matrix.block_size()) +
                                       " equations are not those of the model's nodes");
  return detail::NodeTable(model).most_components();
}

/// Calls work(source, nodes) with the rows of one of several devices, inside a section of it.
template <class Work>
void with_share(const DeviceModel& model, const SparseMatrix& matrix, int device, int height, const Work& work) {
  const int b = matrix.block_size();
  const DeviceModel::Part& part = model.part(device);
  const std::int32_t owned = part.owned_nodes;
  const bool by_nodes = b == model.uniform_components();
  std::vector<std::int32_t> node_of;
  if (!by_nodes) {
    const auto first = part.first_equation.read_host();
    node_of.resize(static_cast<std::size_t>(first.back()));
    for (std::size_t n = 0; n + 1 < first.size(); ++n)
      std::fill(node_of.begin() + first[n], node_of.begin() + first[n + 1], static_cast<std::int32_t>(n));
  }
  DeviceSection section(*matrix.layout()->memory(device));
  const auto call = [&](const auto& source) {
    if (by_nodes)
      work(source, NodesAreRows{owned, height});
    else
      work(source, NodesHaveRows{owned, height, part.first_equation.read_device(), node_of.data()});
  };
  if (const auto* half = dynamic_cast<const CpuSymmetricMatrix*>(&matrix)) {
    const SymmetricView view = half->part(device).view(b);
    call(HalfSource{view.half.rows, view});
  } else {
    call(WholeSource{dynamic_cast<const CpuSparseMatrix&>(matrix).part(device).read(b)});
  }
}

/// The same as height_of(), without gathering the nodes on one device.
int height_of_divided(const DeviceModel& model, const SparseMatrix& matrix) {
  if (matrix.block_size() == model.uniform_components()) return matrix.block_size();
  std::int32_t most = 1;
  for (int d = 0; d < model.devices(); ++d) {
    const auto first = model.part(d).first_equation.read_host();
    for (std::size_t n = 0; n + 1 < first.size(); ++n) most = std::max(most, first[n + 1] - first[n]);
  }
  return most;
}

}  // namespace

bool has_device_rows(const DeviceModel& model, const SparseMatrix& matrix) {
  if (matrix.layout() != model.layout()) return false;
  if (matrix.block_size() != 1 && matrix.block_size() != model.uniform_components()) return false;
  return dynamic_cast<const CpuSymmetricMatrix*>(&matrix) || dynamic_cast<const CpuSparseMatrix*>(&matrix);
}

LevelMatrix make_device_rows(const DeviceModel& model, const SparseMatrix& matrix, int device, int threads) {
  const auto& memory = matrix.layout()->memory(device);
  LevelMatrix rows;
  rows.rows = model.part(device).owned_nodes;
  rows.columns = model.part(device).local_nodes;
  rows.height = rows.width = height_of_divided(model, matrix);
  rows.start = Array<std::int64_t>(memory, static_cast<std::size_t>(rows.rows) + 1);
  with_share(model, matrix, device, rows.height, [&](const auto& source, const auto& nodes) {
    std::int64_t* start = rows.start.write_device();
    count_blocks(source, nodes, threads, start);
    rows.column = Array<std::int32_t>(memory, static_cast<std::size_t>(start[rows.rows]));
    rows.value = Array<double>(memory, static_cast<std::size_t>(rows.entries()));
    std::int32_t* column = rows.column.write_device();
    fill_columns(source, nodes, threads, start, column);
    fill_any_values(source, nodes, threads, start, column, rows.value.write_device());
  });
  return rows;
}

void fill_device_rows(const DeviceModel& model, const SparseMatrix& matrix, int device, LevelMatrix& rows, bool single,
                      int threads) {
  const auto& memory = matrix.layout()->memory(device);
  if (rows.rows != model.part(device).owned_nodes || rows.height != height_of_divided(model, matrix))
    throw Error(ErrorCode::misuse, "multigrid: these rows are not those of the model and the matrix on this device");
  const auto fill = [&]<class Number>(Array<Number>& values, auto& others) {
    others = {};
    const auto entries = static_cast<std::size_t>(rows.entries());
    if (values.size() != entries) values = Array<Number>(memory, entries);
    with_share(model, matrix, device, rows.height, [&](const auto& source, const auto& nodes) {
      fill_any_values(source, nodes, threads, rows.start.read_device(), rows.column.read_device(),
                      values.write_device());
    });
  };
  if (single)
    fill(rows.single_value, rows.value);
  else
    fill(rows.value, rows.single_value);
}

LevelMatrix CpuMultigrid::rows_of(const DeviceModel& model, const SparseMatrix& matrix) {
  LevelMatrix rows;
  rows.rows = rows.columns = model.node_count();
  rows.height = rows.width = height_of(model, matrix);
  rows.start = array<std::int64_t>(rows.rows + std::int64_t{1});
  with_source_and_nodes(model, matrix, rows.height, *memory(), [&](const auto& source, const auto& nodes) {
    std::int64_t* start = rows.start.write_device();
    count_blocks(source, nodes, threads_, start);
    const std::int64_t blocks = start[rows.rows];
    rows.column = array<std::int32_t>(blocks);
    rows.value = array<double>(blocks * rows.height * rows.height);
    std::int32_t* column = rows.column.write_device();
    fill_columns(source, nodes, threads_, start, column);
    fill_any_values(source, nodes, threads_, start, column, rows.value.write_device());
  });
  return rows;
}

void CpuMultigrid::update_rows(const DeviceModel& model, const SparseMatrix& matrix, LevelMatrix& rows, bool single) {
  if (rows.rows != model.node_count() || rows.height != height_of(model, matrix))
    throw Error(ErrorCode::misuse, "multigrid: these rows are not those of the model and the matrix");
  const auto fill = [&]<class Number>(Array<Number>& values, auto& others) {
    others = {};
    if (static_cast<std::int64_t>(values.size()) != rows.entries()) values = array<Number>(rows.entries());
    with_source_and_nodes(model, matrix, rows.height, *memory(), [&](const auto& source, const auto& nodes) {
      fill_any_values(source, nodes, threads_, rows.start.read_device(), rows.column.read_device(),
                      values.write_device());
    });
  };
  if (single)
    fill(rows.single_value, rows.value);
  else
    fill(rows.value, rows.single_value);
}

}  // namespace voussoir::cpu
