#include <voussoir/backends/openmp/exchange.hpp>

#include <algorithm>

#include <voussoir/backends/halo_traffic.hpp>
#include <voussoir/backends/openmp/checks.hpp>
#include <voussoir/backends/openmp/cpu_backend.hpp>

namespace voussoir {

namespace cpu {

std::vector<Array<double>> send_ghosts(const Vector& x) {
  const Layout& layout = *x.layout();
  std::vector<Array<double>> sent;
  const auto columns = static_cast<std::size_t>(x.columns());
  HaloTraffic traffic{1, 0};
  for (int to = 0; to < layout.devices(); ++to) {
    for (const Layout::Exchange& exchange : layout.exchanges(to)) {
      const std::size_t count = exchange.send.size();
      // Devices see their own memory alone: packed on the owner, carried by the host, unpacked by the receiver.
      Array<double> packed(layout.memory(exchange.from), count * columns);
      {
        DeviceSection section(*layout.memory(exchange.from));
        const std::int32_t* send = exchange.send.read_device();
        const double* from = x.part(exchange.from).read_device();
        double* target = packed.write_device();
        for (std::size_t i = 0; i < count; ++i)
          std::copy_n(from + static_cast<std::size_t>(send[i]) * columns, columns, target + i * columns);
      }
      sent.emplace_back(layout.memory(to), std::span<const double>(packed.read_host()));
      traffic.bytes += static_cast<std::int64_t>(sent.back().bytes());
    }
  }
  if (traffic.bytes > 0) count_halo_traffic(traffic);
  return sent;
}

void receive_ghosts(const Vector& x, std::vector<Array<double>> sent) {
  const Layout& layout = *x.layout();
  const auto columns = static_cast<std::size_t>(x.columns());
  auto next = sent.begin();
  for (int to = 0; to < layout.devices(); ++to)
    for (const Layout::Exchange& exchange : layout.exchanges(to)) {
      const Array<double>& arrived = *next++;
      DeviceSection section(*layout.memory(to));
      const double* source = arrived.read_device();
      double* ghosts =
          x.part_for_exchange(to).update_device() + static_cast<std::size_t>(exchange.first_ghost) * columns;
      std::copy_n(source, exchange.send.size() * columns, ghosts);
    }
}

void exchange_ghosts(const Vector& x) {
  if (x.layout()->devices() > 1) receive_ghosts(x, send_ghosts(x));
}

}  // namespace cpu

void CpuBackend::exchange(const Vector& x) {
  cpu::require_own(*this, x, "exchange");
  cpu::exchange_ghosts(x);
}

}  // namespace voussoir
