#pragma once
#include <memory>
#include <string>
#include <vector>

#include <voussoir/backends/debug/debug_backend.hpp>
#include <voussoir/backends/openmp/cpu_backend.hpp>

#include "support/further_backends.hpp"

namespace voussoir::toy {

/// The CPU services on every kind of memory: shared, guarded, and on two and three devices.
inline std::vector<std::shared_ptr<Backend>> cpu_backends() {
  return {make_openmp_backend(1), make_openmp_backend(2), make_openmp_backend(3),
          make_debug_backend(1),  make_debug_backend(2),  make_debug_backend(3)};
}

/// These, and those of plugins that take part in the tests.
inline std::vector<std::shared_ptr<Backend>> all_backends() {
  auto all = cpu_backends();
  for (const std::string& one : further::specifications()) all.push_back(further::open(one));
  return all;
}

/// A layout without ghosts over the devices of a backend, equal shares.
inline std::shared_ptr<const Layout> plain_layout(const Backend& backend, std::int64_t size, int block_size = 1) {
  std::vector<std::shared_ptr<DeviceMemory>> memories;
  std::vector<std::int64_t> first{0};
  const std::int64_t blocks = size / block_size;
  for (int d = 0; d < backend.devices(); ++d) {
    memories.push_back(backend.memory(d));
    first.push_back(blocks * (d + 1) / backend.devices() * block_size);
  }
  return std::make_shared<Layout>(std::move(memories), std::move(first),
                                  std::vector<std::vector<std::int64_t>>(static_cast<std::size_t>(backend.devices())));
}

/// The same with all equations of other devices as ghosts.
inline std::shared_ptr<const Layout> full_layout(const Backend& backend, std::int64_t size, int block_size = 1) {
  std::vector<std::shared_ptr<DeviceMemory>> memories;
  std::vector<std::int64_t> first{0};
  std::vector<std::vector<std::int64_t>> ghosts(static_cast<std::size_t>(backend.devices()));
  const std::int64_t blocks = size / block_size;
  for (int d = 0; d < backend.devices(); ++d) {
    memories.push_back(backend.memory(d));
    first.push_back(blocks * (d + 1) / backend.devices() * block_size);
    for (std::int64_t i = 0; i < size; ++i)
      if (i < first[static_cast<std::size_t>(d)] || i >= first.back()) ghosts[static_cast<std::size_t>(d)].push_back(i);
  }
  return std::make_shared<Layout>(std::move(memories), std::move(first), std::move(ghosts));
}

inline Vector vector_of(const std::shared_ptr<const Layout>& layout, const std::vector<double>& values,
                        int columns = 1) {
  Vector v(layout, columns);
  v.from_host(values);
  return v;
}

}  // namespace voussoir::toy
