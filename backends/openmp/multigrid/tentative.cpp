#include <algorithm>
#include <cmath>

#include <voussoir/backends/detail/aggregation_rules.hpp>
#include <voussoir/backends/openmp/multigrid/services.hpp>
#include <voussoir/backends/openmp/parallel.hpp>

// The tentative prolongator: near-null vectors cut by groups, orthonormal on each.

namespace voussoir::cpu {

namespace {

/// Nodes of each group, in the order of their numbers.
struct Members {
  std::vector<std::int64_t> start;
  std::vector<std::int32_t> node;
};

Members members_of(const std::int32_t* of_node, std::int32_t nodes, std::int32_t groups) {
  Members members;
  members.start.assign(static_cast<std::size_t>(groups) + 1, 0);
  for (std::int32_t i = 0; i < nodes; ++i)
    if (of_node[i] >= 0) ++members.start[static_cast<std::size_t>(of_node[i]) + 1];
  for (std::size_t g = 0; g < static_cast<std::size_t>(groups); ++g) members.start[g + 1] += members.start[g];
  members.node.resize(static_cast<std::size_t>(members.start.back()));
  std::vector<std::int64_t> next(members.start.begin(), members.start.end() - 1);
  for (std::int32_t i = 0; i < nodes; ++i)
    if (of_node[i] >= 0) members.node[static_cast<std::size_t>(next[static_cast<std::size_t>(of_node[i])]++)] = i;
  return members;
}

/// Makes columns of `rows` numbers orthonormal by Gram and Schmidt, twice over, since once leaves columns that are all
/// but dependent askew. factor[i · modes + j] gets the share of column i in what column j was.
void orthonormalise(double* columns, std::size_t rows, int modes, double* factor) {
  std::fill(factor, factor + modes * modes, 0.0);
  for (int j = 0; j < modes; ++j) {
    double* column = columns + static_cast<std::size_t>(j) * rows;
    const double before = std::sqrt(dot_stretch(column, column, rows));
    for (int pass = 0; pass < 2; ++pass)
      for (int i = 0; i < j; ++i) {
        const double* other = columns + static_cast<std::size_t>(i) * rows;
        const double share = dot_stretch(other, column, rows);
        for (std::size_t r = 0; r < rows; ++r) column[r] -= share * other[r];
        factor[i * modes + j] += share;
      }
    const double after = std::sqrt(dot_stretch(column, column, rows));
    const bool dropped = detail::is_dependent(after, before);
    const double scale = dropped ? 0 : 1 / after;
    for (std::size_t r = 0; r < rows; ++r) column[r] = dropped ? 0 : column[r] * scale;
    factor[j * modes + j] = dropped ? 0 : after;
  }
}

}  // namespace

LevelMatrix CpuMultigrid::tentative(const Aggregates& groups, int height, int modes, const Array<double>& near_null,
                                    Array<double>& coarse) {
  const auto nodes = static_cast<std::int32_t>(groups.of_node.size());
  const std::int64_t block = static_cast<std::int64_t>(height) * modes;
  if (static_cast<std::int64_t>(near_null.size()) != nodes * block)
    throw Error(ErrorCode::misuse, "tentative: " + std::to_string(near_null.size()) + " near-null numbers for " +
                                       std::to_string(nodes) + " nodes of " + std::to_string(height) + " × " +
                                       std::to_string(modes));
  LevelMatrix t;
  t.rows = nodes;
  t.columns = groups.count;
  t.height = height;
  t.width = modes;
  t.start = array<std::int64_t>(nodes + std::int64_t{1});
  coarse = array<double>(static_cast<std::int64_t>(groups.count) * modes * modes);

  DeviceSection section(*memory());
  const std::int32_t* of_node = groups.of_node.read_device();
  const Members members = members_of(of_node, nodes, groups.count);
  std::int64_t* start = t.start.write_device();
  start[0] = 0;
  for (std::int32_t i = 0; i < nodes; ++i) start[i + 1] = start[i] + (of_node[i] >= 0);
  t.column = array<std::int32_t>(start[nodes]);
  t.value = array<double>(start[nodes] * block);
  std::int32_t* column = t.column.write_device();
  double* value = t.value.write_device();
  double* factors = coarse.write_device();
  const double* source = near_null.read_device();

  ExceptionKeeper keeper;
#pragma omp parallel num_threads(threads_)
  {
    std::vector<double> columns;
#pragma omp for schedule(dynamic, 16)
    for (std::int32_t g = 0; g < groups.count; ++g)
      keeper.guard([&] {
        const std::int64_t first = members.start[static_cast<std::size_t>(g)];
        const std::int64_t last = members.start[static_cast<std::size_t>(g) + 1];
        const auto rows = static_cast<std::size_t>((last - first) * height);
        columns.resize(rows * static_cast<std::size_t>(modes));
        // visit(number of the tentative prolongator, its place in `columns`, the near-null number)
        const auto for_numbers = [&](auto&& visit) {
          for (std::int64_t m = first; m < last; ++m) {
            const std::int64_t node = members.node[static_cast<std::size_t>(m)];
            for (int r = 0; r < height; ++r)
              for (int c = 0; c < modes; ++c)
                visit(value[start[node] * block + r * modes + c],
                      columns[static_cast<std::size_t>(c) * rows + static_cast<std::size_t>((m - first) * height + r)],
                      source[node * block + r * modes + c]);
            column[start[node]] = g;
          }
        };
        for_numbers([](double&, double& place, double number) { place = number; });
        orthonormalise(columns.data(), rows, modes, factors + static_cast<std::int64_t>(g) * modes * modes);
        for_numbers([](double& number, double& place, double) { number = place; });
      });
  }
  keeper.rethrow();
  return t;
}

}  // namespace voussoir::cpu
