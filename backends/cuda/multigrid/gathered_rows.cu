#include <algorithm>
#include <vector>

#include <voussoir/backends/cuda/multigrid/finest_rows.hpp>
#include <voussoir/backends/detail/node_table.hpp>

// Rows of nodes from a matrix that is spread over several devices. It comes together on the host: setting a hierarchy
// up takes longer there than on one GPU.

namespace voussoir::cuda {

namespace {

struct HostRows {
  std::vector<std::int64_t> start;
  std::vector<std::int32_t> column;
  std::vector<double> value;
};

/// Equations of nodes: a node's are first[node] … first[node + 1], in rows of the host matrix of `block` equations.
struct NodeEquations {
  std::span<const std::int32_t> first;
  std::vector<std::int32_t> node_of;

  explicit NodeEquations(std::span<const std::int32_t> first_equation)
      : first(first_equation), node_of(static_cast<std::size_t>(first_equation.back())) {
    for (std::size_t n = 0; n + 1 < first.size(); ++n)
      std::fill(node_of.begin() + first[n], node_of.begin() + first[n + 1], static_cast<std::int32_t>(n));
  }
  std::int32_t begin(std::size_t node) const { return first[node]; }
  std::int32_t end(std::size_t node) const { return first[node + 1]; }
};

/// Calls visit(equation row of the node, node of the column, equation of that node, number) for a node's numbers.
template <class Visit>
void for_numbers(const HostMatrix& matrix, const NodeEquations& nodes, std::size_t node, const Visit& visit) {
  const std::int32_t b = matrix.block_size;
  for (std::int32_t e = nodes.begin(node); e < nodes.end(node); ++e)
    for (std::int64_t k = matrix.row_start[static_cast<std::size_t>(e / b)];
         k < matrix.row_start[static_cast<std::size_t>(e / b) + 1]; ++k)
      for (std::int32_t c = 0; c < b; ++c) {
        const std::int32_t other = matrix.column[static_cast<std::size_t>(k)] * b + c;
        const std::int32_t of = nodes.node_of[static_cast<std::size_t>(other)];
        visit(e - nodes.begin(node), of, other - nodes.begin(static_cast<std::size_t>(of)),
              matrix.value[static_cast<std::size_t>((k * b + e % b) * b + c)]);
      }
}

HostRows gather(const DeviceModel& model, const SparseMatrix& matrix, int height) {
  const HostMatrix whole = matrix.to_host();
  const voussoir::detail::NodeTable table(model);
  const NodeEquations nodes(table.first_equation().read_host());
  const std::size_t count = nodes.first.size() - 1;
  HostRows rows;
  rows.start.assign(1, 0);
  std::vector<std::int32_t> list;
  for (std::size_t node = 0; node < count; ++node) {
    list.assign(1, static_cast<std::int32_t>(node));
    for_numbers(whole, nodes, node, [&](std::int32_t, std::int32_t other, std::int32_t, double) {
      if (list.back() != other) list.push_back(other);
    });
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    rows.column.insert(rows.column.end(), list.begin(), list.end());
    rows.start.push_back(static_cast<std::int64_t>(rows.column.size()));
  }
  const auto h = static_cast<std::size_t>(height);
  rows.value.assign(rows.column.size() * h * h, 0.0);
  for (std::size_t node = 0; node < count; ++node) {
    const auto own = rows.column.begin() + rows.start[node], end = rows.column.begin() + rows.start[node + 1];
    const auto n = static_cast<std::size_t>(end - own);
    double* target = rows.value.data() + static_cast<std::size_t>(rows.start[node]) * h * h;
    const auto place = [&](std::int32_t r, std::int32_t other, std::int32_t c) -> double& {
      const auto k = static_cast<std::size_t>(std::lower_bound(own, end, other) - own);
      return target[(static_cast<std::size_t>(r) * n + k) * h + static_cast<std::size_t>(c)];
    };
    for_numbers(whole, nodes, node, [&](std::int32_t r, std::int32_t other, std::int32_t c, double number) {
      place(r, other, c) = number;
    });
    for (std::int32_t r = nodes.end(node) - nodes.begin(node); r < height; ++r)
      place(r, static_cast<std::int32_t>(node), r) = 1;  // what a node lacks of equations stands alone
  }
  return rows;
}

template <class T>
void bring(const std::vector<T>& from, const std::shared_ptr<DeviceMemory>& memory, Array<T>& to) {
  to = Array<T>(memory, from.size());
  std::copy(from.begin(), from.end(), to.write_host().begin());
  to.drop_host_mirror();
}

}  // namespace

void take_gathered_rows(const DeviceModel& model, const SparseMatrix& matrix,
                        const std::shared_ptr<DeviceMemory>& memory, LevelMatrix& rows) {
  const HostRows host = gather(model, matrix, rows.height);
  bring(host.start, memory, rows.start);
  bring(host.column, memory, rows.column);
  bring(host.value, memory, rows.value);
}

void refill_gathered_rows(const DeviceModel& model, const SparseMatrix& matrix,
                          const std::shared_ptr<DeviceMemory>& memory, LevelMatrix& rows) {
  const HostRows host = gather(model, matrix, rows.height);
  if (host.column.size() != rows.column.size())
    throw Error(ErrorCode::misuse, "multigrid: the matrix has another pattern than the one that its rows were made of");
  bring(host.value, memory, rows.value);
}

}  // namespace voussoir::cuda
