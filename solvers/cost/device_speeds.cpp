#include <voussoir/solvers/cost/device_speeds.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <string>

#include <voussoir/backends/cost_model/machine_profile.hpp>
#include <voussoir/backends/error.hpp>

namespace voussoir {

namespace {

/// A layout in which one device has `count` entries and the others none.
std::shared_ptr<const Layout> layout_of_one(const Backend& backend, int device, std::int64_t count) {
  std::vector<std::shared_ptr<DeviceMemory>> memories;
  std::vector<std::int64_t> first{0};
  for (int d = 0; d < backend.devices(); ++d) {
    memories.push_back(backend.memory(d));
    first.push_back(d < device ? 0 : count);
  }
  std::vector<std::vector<std::int64_t>> no_ghosts(memories.size());
  return std::make_shared<const Layout>(std::move(memories), std::move(first), std::move(no_ghosts));
}

double seconds_of_one(Backend& backend, int device, std::int64_t count, int times) {
  const auto layout = layout_of_one(backend, device, count);
  Vector x(layout), y(layout);
  backend.fill(x, 1.0);
  backend.fill(y, 0.0);
  const auto work = [&] {
    for (int k = 0; k < times; ++k) backend.axpy(1e-9, x, y);
  };
  work();
  backend.wait();
  std::array<double, 5> seconds{};
  for (double& s : seconds) s = backend.time(work);
  std::sort(seconds.begin(), seconds.end());
  return std::max(seconds[2], 1e-9);  // clocks have a resolution
}

void scale_to_mean(std::vector<double>& speeds) {
  const double mean =
      std::accumulate(speeds.begin(), speeds.end(), 0.0) / static_cast<double>(std::max<std::size_t>(speeds.size(), 1));
  for (double& s : speeds) s /= mean;
}

/// The specifications that open the devices of a backend one by one.
std::vector<std::string> single_devices(const Backend& backend) {
  const std::string name = backend.name();
  const std::size_t colon = name.find(':');
  const std::string kind = name.substr(0, colon), list = colon == std::string::npos ? "" : name.substr(colon + 1);
  std::vector<std::string> result;
  if (kind == "debug" || backend.devices() == 1)
    return std::vector<std::string>(static_cast<std::size_t>(backend.devices()), backend.devices() == 1 ? name : kind);
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    result.push_back(kind + ":" + list.substr(at, comma - at));
    at = comma + 1;
  }
  return result;
}

}  // namespace

std::vector<double> device_seconds(Backend& backend, const Layout& layout, int times) {
  if (layout.devices() != backend.devices())
    throw Error(ErrorCode::misuse, "device_seconds: the layout is not one of this backend");
  if (times < 1) throw Error(ErrorCode::misuse, "device_seconds: the number of repetitions is less than 1");
  std::vector<double> seconds;
  for (int d = 0; d < backend.devices(); ++d)
    seconds.push_back(layout.owned(d) > 0 ? seconds_of_one(backend, d, layout.owned(d), times) : 0.0);
  return seconds;
}

std::vector<double> measure_device_speeds(Backend& backend, std::int64_t entries) {
  if (entries < 1) throw Error(ErrorCode::misuse, "measure_device_speeds: there are no entries to measure with");
  std::vector<double> speeds;
  for (int d = 0; d < backend.devices(); ++d) speeds.push_back(1.0 / seconds_of_one(backend, d, entries, 10));
  scale_to_mean(speeds);
  return speeds;
}

std::vector<double> profile_device_speeds(const Backend& backend) {
  std::map<std::string, double> known;
  std::vector<double> speeds;
  for (const std::string& name : single_devices(backend)) {
    if (!known.contains(name)) {
      const auto device = Backend::open(name);
      const ProfileSearch found = find_profile(*device);
      const OperationCost* cost = found.profile ? found.profile->find(operations::axpy) : nullptr;
      if (!cost || cost->levels.empty())
        throw Error(ErrorCode::not_found,
                    "there is no profile of this device to take its speed from" +
                        (found.note.empty() ? std::string() : " (" + found.note + ")") +
                        "; run: voussoir bench calibrate --backend " + name,
                    "device '" + name + "'");
      known[name] = 1.0 / cost->levels.back().seconds_per_unit;
    }
    speeds.push_back(known[name]);
  }
  scale_to_mean(speeds);
  return speeds;
}

}  // namespace voussoir
