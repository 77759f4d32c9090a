#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <voussoir/partition/process/processes.hpp>

namespace voussoir::detail {

/// Sends sent[p] to each process p, and returns what each of them has sent to this one. Collective.
template <class T>
std::vector<std::vector<T>> swap_all(Processes& processes, std::vector<std::vector<T>> sent) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<int> others;
  std::vector<std::string> bytes;
  for (int p = 0; p < processes.count(); ++p) {
    if (p == processes.own()) continue;
    others.push_back(p);
    std::vector<T>& list = sent[static_cast<std::size_t>(p)];
    bytes.emplace_back(reinterpret_cast<const char*>(list.data()), list.size() * sizeof(T));
    list = {};
  }
  const std::vector<std::string> received = processes.exchange(others, bytes);
  std::vector<std::vector<T>> result(sent.size());
  const auto own = static_cast<std::size_t>(processes.own());
  result[own] = std::move(sent[own]);
  for (std::size_t k = 0; k < others.size(); ++k) {
    std::vector<T>& list = result[static_cast<std::size_t>(others[k])];
    list.resize(received[k].size() / sizeof(T));
    if (!list.empty()) std::memcpy(static_cast<void*>(list.data()), received[k].data(), list.size() * sizeof(T));
  }
  return result;
}

/// A number of each process, by their numbers. Collective; for numbers that are not negative.
inline std::vector<std::int64_t> gather_numbers(Processes& processes, std::int64_t own) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(processes.count()), 0);
  all[static_cast<std::size_t>(processes.own())] = own;
  processes.maximum(all);
  return all;
}

}  // namespace voussoir::detail
