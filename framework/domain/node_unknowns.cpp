#include <voussoir/framework/domain/node_unknowns.hpp>

#include <algorithm>

#include <voussoir/backends/error.hpp>

namespace voussoir {
namespace {

using Names = std::vector<std::string>;

bool has(const Names& list, const std::string& name) { return std::find(list.begin(), list.end(), name) != list.end(); }

/// All names of several lists, at least one.
Names order_of(const std::vector<Names>& lists) {
  const auto longest =
      std::max_element(lists.begin(), lists.end(), [](const Names& a, const Names& b) { return a.size() < b.size(); });
  if (std::all_of(lists.begin(), lists.end(),
                  [&](const Names& list) { return std::equal(list.begin(), list.end(), longest->begin()); }))
    return *longest;
  Names all;
  for (const char* name : {"ux", "uy", "uz", "rx", "ry", "rz"})
    if (std::any_of(lists.begin(), lists.end(), [&](const Names& list) { return has(list, name); }))
      all.emplace_back(name);
  for (const Names& list : lists)
    for (const std::string& name : list)
      if (!has(all, name)) all.push_back(name);
  return all;
}

}  // namespace

NodeUnknowns node_unknowns(const Domain& domain) {
  NodeUnknowns result;
  result.of_node.resize(static_cast<std::size_t>(domain.node_count()));
  std::vector<Names> lists;
  for (std::size_t b = 0; b < domain.block_count(); ++b) {
    if (domain.block(b).size() == 0) continue;
    const auto names = domain.block(b).type().program().unknown_names();
    lists.emplace_back(names.begin(), names.end());
  }
  if (lists.empty()) return result;
  result.names = order_of(lists);
  if (result.names.size() > static_cast<std::size_t>(UnknownSet::most))
    throw Error(ErrorCode::bad_input, "the elements have " + std::to_string(result.names.size()) +
                                          " different unknowns; a model can have " + std::to_string(UnknownSet::most));
  for (std::size_t b = 0, used = 0; b < domain.block_count(); ++b) {
    if (domain.block(b).size() == 0) continue;
    UnknownSet own;
    for (const std::string& name : lists[used++])
      own.add(static_cast<int>(std::find(result.names.begin(), result.names.end(), name) - result.names.begin()));
    for (const std::int32_t n : domain.block(b).connectivity()) result.of_node[static_cast<std::size_t>(n)].add(own);
  }
  return result;
}

}  // namespace voussoir
