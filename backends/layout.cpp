#include <voussoir/backends/layout.hpp>

#include <algorithm>
#include <string>

#include <voussoir/backends/error.hpp>

namespace voussoir {

Layout::Layout(std::vector<std::shared_ptr<DeviceMemory>> memories, std::vector<std::int64_t> first,
               std::vector<std::vector<std::int64_t>> ghosts)
    : memories_(std::move(memories)), first_(std::move(first)), ghosts_(std::move(ghosts)) {
  const int n = devices();
  if (n == 0 || static_cast<int>(first_.size()) != n + 1 || static_cast<int>(ghosts_.size()) != n)
    throw Error(ErrorCode::misuse, "a Layout needs one range and one ghost list per device");
  exchanges_.resize(n);
  for (int d = 0; d < n; ++d) {
    if (first_[d + 1] < first_[d] ||
        first_[d + 1] - first_[d] + static_cast<std::int64_t>(ghosts_[d].size()) > INT32_MAX)
      throw Error(ErrorCode::bad_input,
                  "device " + std::to_string(d) +
                      " would have more than 2^31 equations; distribute the model over more devices");
    std::size_t i = 0;
    while (i < ghosts_[d].size()) {
      const auto owner =
          static_cast<int>(std::upper_bound(first_.begin(), first_.end(), ghosts_[d][i]) - first_.begin()) - 1;
      if (owner < 0 || owner >= n || owner == d)
        throw Error(ErrorCode::misuse, "ghost equation " + std::to_string(ghosts_[d][i]) + " of device " +
                                           std::to_string(d) + " is not owned by another device");
      std::vector<std::int32_t> send;
      const std::size_t begin = i;
      for (; i < ghosts_[d].size() && ghosts_[d][i] < first_[owner + 1]; ++i)
        send.push_back(static_cast<std::int32_t>(ghosts_[d][i] - first_[owner]));
      exchanges_[d].push_back({owner, Array<std::int32_t>(memories_[owner], std::span<const std::int32_t>(send)),
                               owned(d) + static_cast<std::int32_t>(begin)});
    }
  }
}

std::int32_t Layout::local(int device, std::int64_t equation) const {
  if (equation >= first_[device] && equation < first_[device + 1])
    return static_cast<std::int32_t>(equation - first_[device]);
  const auto& g = ghosts_[device];
  const auto it = std::lower_bound(g.begin(), g.end(), equation);
  if (it == g.end() || *it != equation) return -1;
  return owned(device) + static_cast<std::int32_t>(it - g.begin());
}

}  // namespace voussoir
