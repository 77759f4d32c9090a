#include <voussoir/solvers/direct/detail/nested_dissection.hpp>
#ifdef VOUSSOIR_HAVE_METIS
#include <metis.h>

#include <limits>
#include <mutex>
#include <voussoir/solvers/direct/detail/guards.hpp>
#include <voussoir/solvers/direct/termination.hpp>
#endif

namespace voussoir::detail {

#ifdef VOUSSOIR_HAVE_METIS

std::vector<std::int32_t> nested_dissection(const SymmetricCsr& matrix, std::span<const std::int32_t> last) {
  std::vector<std::int32_t> place(static_cast<std::size_t>(matrix.n), 0), equation;
  for (std::int32_t i : last) place[i] = -1;
  for (std::int64_t i = 0; i < matrix.n; ++i) {
    if (place[i] < 0) continue;
    place[i] = static_cast<std::int32_t>(equation.size());
    equation.push_back(static_cast<std::int32_t>(i));
  }

  // METIS wants the whole graph, both triangles, without the diagonal.
  std::vector<std::int64_t> degree(equation.size(), 0);
  std::int64_t edges = 0;
  const auto each_edge = [&](auto&& visit) {
    for (std::int64_t i = 0; i < matrix.n; ++i) {
      if (place[i] < 0) continue;
      for (std::int64_t k = matrix.row_start[i] + 1; k < matrix.row_start[i + 1]; ++k) {
        if (place[matrix.column[k]] >= 0) visit(place[i], place[matrix.column[k]]);
      }
    }
  };
  each_edge([&](std::int32_t a, std::int32_t b) {
    ++degree[a];
    ++degree[b];
    edges += 2;
  });
  if (edges > std::numeric_limits<idx_t>::max()) return {};

  std::vector<std::int32_t> order(equation);
  if (edges > 0) {
    idx_t count = static_cast<idx_t>(equation.size());
    std::vector<idx_t> start(equation.size() + 1, 0), neighbour(static_cast<std::size_t>(edges));
    for (std::size_t i = 0; i < equation.size(); ++i) start[i + 1] = start[i] + static_cast<idx_t>(degree[i]);
    std::vector<idx_t> next(start.begin(), start.end() - 1);
    each_edge([&](std::int32_t a, std::int32_t b) {
      neighbour[next[a]++] = b;
      neighbour[next[b]++] = a;
    });
    std::vector<idx_t> permutation(equation.size()), inverse(equation.size());
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;  // the same order, and so the same bits, every time
    // Graphs of a level, with weights, and of all levels below it, and as much again for the two halves.
    const double bytes = sizeof(idx_t) * (6.0 * static_cast<double>(edges) + 30.0 * static_cast<double>(count));
    require_room(bytes, "the ordering of " + std::to_string(count) + " equations by METIS");
    // While it works, METIS replaces the process's handlers of signals, and puts them back in the order of its returns.
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    const int status =
        METIS_NodeND(&count, start.data(), neighbour.data(), nullptr, options, permutation.data(), inverse.data());
    if (status == METIS_ERROR) send_termination_again();
    if (status == METIS_ERROR_MEMORY) throw_out_of_memory(bytes, "the ordering of the equations by METIS");
    if (status != METIS_OK) return {};
    for (std::size_t k = 0; k < equation.size(); ++k) order[k] = equation[permutation[k]];
  }
  order.insert(order.end(), last.begin(), last.end());
  return order;
}

#else

std::vector<std::int32_t> nested_dissection(const SymmetricCsr&, std::span<const std::int32_t>) { return {}; }

#endif

}  // namespace voussoir::detail
