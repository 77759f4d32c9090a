#include <voussoir/framework/model/dof_numberer.hpp>

#include <numeric>

#include <voussoir/framework/model/ordering.hpp>

namespace voussoir {

std::vector<std::int32_t> PlainNumberer::order(const NodeGraph& graph) const {
  std::vector<std::int32_t> order(graph.nodes());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

std::vector<std::int32_t> ReverseCuthillMcKeeNumberer::order(const NodeGraph& graph) const {
  return reverse_cuthill_mckee(graph.row_start, graph.column);
}

}  // namespace voussoir
