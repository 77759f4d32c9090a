#pragma once
#include <exception>
#include <thread>
#include <vector>

#include <voussoir/backends/divided_multigrid.hpp>

namespace voussoir::detail {

/// action(device) for all devices: each in a thread of its own where the backend permits it, else one after another.
/// Returns when all have ended. Of several exceptions, that of the first device is passed on.
template <class Action>
void on_all_devices(const DividedMultigrid& services, int devices, const Action& action) {
  if (!services.devices_at_once()) {
    for (int d = 0; d < devices; ++d) action(d);
    return;
  }
  std::vector<std::exception_ptr> failed(static_cast<std::size_t>(devices));
  const auto attempt = [&](int d) {
    try {
      action(d);
    } catch (...) {
      failed[static_cast<std::size_t>(d)] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (int d = 1; d < devices; ++d) others.emplace_back(attempt, d);
    attempt(0);
  }
  for (const std::exception_ptr& f : failed)
    if (f) std::rethrow_exception(f);
}

}  // namespace voussoir::detail
