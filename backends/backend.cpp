#include <voussoir/backends/backend.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cmath>

#include <voussoir/backends/debug/debug_backend.hpp>
#include <voussoir/backends/detail/plugin_loader.hpp>
#include <voussoir/backends/openmp/cpu_backend.hpp>
#include <voussoir/backends/spelling.hpp>
#include <voussoir/backends/threads.hpp>

namespace voussoir {

namespace {

constexpr int most_debug_devices = 16;
constexpr std::array<std::string_view, 4> known_names = {"auto", "openmp", "debug", "cuda"};

struct Specification {
  std::string whole;
  std::string name;
  std::string argument;
  bool has_argument = false;
};

[[noreturn]] void bad_specification(const Specification& specification, const std::string& text) {
  throw Error(ErrorCode::bad_input, "backend '" + specification.whole + "': " + text);
}

Specification parse(std::string_view text) {
  Specification result;
  result.whole = text;
  const std::size_t colon = text.find(':');
  result.name = text.substr(0, colon);
  if (colon != std::string_view::npos) {
    result.has_argument = true;
    result.argument = text.substr(colon + 1);
  }
  if (result.name.empty())
    bad_specification(
        result, "no name is given; write auto, openmp, openmp:8, debug, debug:2, cuda, cuda:0,1 or a plugin's name");
  if (result.has_argument && result.argument.empty())
    bad_specification(result, "nothing follows the colon; write '" + result.name + "' only, or name the devices");
  // The name becomes part of a file name, so it must not lead out of the folders that are searched.
  for (const char c : result.name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-')
      bad_specification(result, "a backend's name has letters, digits, '_' and '-' only");
  return result;
}

/// The number after the colon, or `otherwise` where there is none.
int count(const Specification& specification, const char* what, int most, int otherwise) {
  if (!specification.has_argument) return otherwise;
  const std::string& text = specification.argument;
  int value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size() || value < 1 || value > most)
    bad_specification(specification, "'" + text + "' is not a number of " + what + "; write " + specification.name +
                                         ":N with N from 1 to " + std::to_string(most));
  return value;
}

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// `name` exists neither here nor as a plugin.
[[noreturn]] void unknown_name(const Specification& specification, const std::string& reason) {
  std::vector<std::string> names(known_names.begin(), known_names.end());
  for (std::string& plugin : detail::plugin_names())
    if (std::find(names.begin(), names.end(), plugin) == names.end()) names.push_back(std::move(plugin));
  const std::string wrong = lower_case(specification.name);
  std::string nearest;
  std::size_t best = 3;  // more than two slips are another word
  std::string list;
  for (const std::string& name : names) {
    if (const std::size_t far = edit_distance(wrong, lower_case(name)); far < best && far < name.size()) {
      best = far;
      nearest = name;
    }
    list += (list.empty() ? "" : ", ") + name;
  }
  throw Error(ErrorCode::not_found, "there is no backend '" + specification.name + "'" +
                                        (nearest.empty() ? "" : "; did you mean '" + nearest + "'?") +
                                        (nearest.empty() ? "; available: " : " Available: ") + list +
                                        ". There is no plugin of that name: " + reason);
}

std::shared_ptr<Backend> open_named_plugin(const Specification& specification) {
  const detail::PluginSearch search = detail::find_plugin(specification.name);
  const bool known = std::find(known_names.begin(), known_names.end(), specification.name) != known_names.end();
  if (search.result == detail::PluginSearch::Result::missing && !known) unknown_name(specification, search.reason);
  const std::string start = "backend '" + specification.whole + "' is not available: ";
  if (search.result != detail::PluginSearch::Result::found) throw Error(ErrorCode::unavailable, start + search.reason);
  const BackendProbe probe = detail::probe_plugin(search);
  if (!probe.usable)
    throw Error(ErrorCode::unavailable, start + search.file + " finds no device: " + probe.reason +
                                            "; use 'auto' or 'openmp' to compute on the CPU");
  return detail::open_plugin(search, specification.argument);
}

std::shared_ptr<Backend> open_automatically() {
  std::string reason;
  const detail::PluginSearch search = detail::find_plugin("cuda");
  if (search.result == detail::PluginSearch::Result::missing) {
    reason = search.file + " not found";  // the usual case on a machine without GPU: no need for the folders
  } else {
    const BackendProbe probe = detail::probe_plugin(search);
    reason = probe.reason;
    if (probe.usable) {
      try {
        return detail::open_plugin(search, "");
      } catch (const std::exception& error) {
        reason = error.what();
      }
    }
  }
  return make_openmp_backend(0, "cuda: " + reason);
}

BackendInfo plugin_info(const std::string& name) {
  const detail::PluginSearch search = detail::find_plugin(name);
  BackendProbe probe = detail::probe_plugin(search);
  return {name, probe.usable, std::move(probe.reason)};
}

}  // namespace

std::shared_ptr<Backend> Backend::open(std::string_view text) {
  const Specification specification = parse(text);
  if (specification.name == "auto") {
    if (specification.has_argument) bad_specification(specification, "'auto' takes no argument after a colon");
    return open_automatically();
  }
  if (specification.name == "openmp") return make_openmp_backend(count(specification, "threads", most_threads, 0));
  if (specification.name == "debug")
    return make_debug_backend(count(specification, "pseudo-devices", most_debug_devices, 1));
  return open_named_plugin(specification);
}

std::vector<BackendInfo> Backend::available() {
  std::vector<BackendInfo> list;
  list.push_back({"openmp", true, open("openmp")->describe()});
  list.push_back({"debug", true, open("debug")->describe()});
  list.push_back(plugin_info("cuda"));
  for (const std::string& name : detail::plugin_names())
    if (std::find(known_names.begin(), known_names.end(), name) == known_names.end()) list.push_back(plugin_info(name));
  return list;
}

std::size_t Backend::bytes_in_use() const {
  std::size_t sum = 0;
  for (int d = 0; d < devices(); ++d) sum += memory(d)->bytes_in_use();
  return sum;
}

std::size_t Backend::bytes_peak() const {
  std::size_t sum = 0;
  for (int d = 0; d < devices(); ++d) sum += memory(d)->bytes_peak();
  return sum;
}

const char* to_string(Integration integration) {
  switch (integration) {
    case Integration::automatic:
      return "auto";
    case Integration::thread:
      return "thread";
    case Integration::block:
      return "block";
    case Integration::blocks:
      return "blocks";
    case Integration::pairs:
      return "pairs";
  }
  return "unknown";
}

const char* to_string(Assembly assembly) {
  switch (assembly) {
    case Assembly::automatic:
      return "auto";
    case Assembly::device:
      return "device";
    case Assembly::host:
      return "host";
  }
  return "unknown";
}

void Backend::choose(const WorkChoices& choices) {
  const auto refuse = [&](const std::string& what, const char* value) {
    throw Error(ErrorCode::unavailable, "backend " + name() + " has only one method of " + what + "; '" + value +
                                            "' is for GPUs (--backend cuda). Leave it at 'auto'");
  };
  if (choices.integration != Integration::automatic) refuse("integration", to_string(choices.integration));
  if (choices.assembly != Assembly::automatic) refuse("assembly", to_string(choices.assembly));
  choices_ = choices;  // sums in a fixed order are allowed where any order is
}

double Backend::time(const std::function<void()>& work) {
  wait();
  const auto start = std::chrono::steady_clock::now();
  work();
  wait();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::vector<std::unique_ptr<Operator>> MatrixServices::make_vendor_matrices(std::shared_ptr<const Layout>,
                                                                            const HostMatrix&) {
  return {};
}

void ElementServices::integrate(const DeviceModel&, int, const MatrixTerms&) {
  throw Error(ErrorCode::unavailable, "this backend integrates only what it assembles");
}

Backend::Backend() {
  provide<VectorServices>(*this);
  provide<ElementServices>(*this);
  provide<MatrixServices>(*this);
  provide<KrylovServices>(*this);
}

Service* Backend::find_service(std::string_view name) const {
  const auto found = services_.find(name);
  return found == services_.end() ? nullptr : found->second;
}

void Backend::offer_service(std::string_view name, Service& service) {
  services_.insert_or_assign(std::string(name), &service);
}

std::vector<std::string> Backend::services() const {
  std::vector<std::string> names;
  for (const auto& [name, service] : services_) names.push_back(name);
  return names;
}

void Backend::throw_no_service(std::string_view service) const {
  std::string list;
  for (const std::string& name : services()) list += (list.empty() ? "" : ", ") + name;
  throw Error(ErrorCode::unavailable, "backend " + name() + " has no service '" + std::string(service) + "'; it has " +
                                          list + ". Use another method, or another backend");
}

double Backend::apply_dot(const BlockDiagonal& diagonal, const Vector& r, Vector& z) {
  apply(diagonal, r, z);
  return dot(r, z);
}

namespace {

/// Powers of two by which vectors are multiplied whose squares are too small or too large to add, and what they then
/// are: entries between 1e-308 and 1e308 all have their turn.
constexpr int up = 700, down = -600;
/// Sums of squares between these have all their digits.
constexpr double least_square = 1e-250, greatest_square = 1e300;

}  // namespace

double VectorServices::norm(const Vector& x) {
  const double square = dot(x, x);
  if (square >= least_square && square <= greatest_square) return std::sqrt(square);
  if (std::isnan(square) || !x.layout()) return square;
  const int power = square < least_square ? up : down;
  Vector scaled(x.layout(), x.columns());
  axpby(std::ldexp(1.0, power), x, 0, scaled);
  return std::ldexp(std::sqrt(dot(scaled, scaled)), -power);
}

std::vector<double> VectorServices::column_norms(const Vector& x) {
  std::vector<double> norms(static_cast<std::size_t>(x.columns()));
  column_dots(x, x, norms);
  const auto is_plain = [](double square) {
    return (square >= least_square && square <= greatest_square) || std::isnan(square);
  };
  const bool plain = std::all_of(norms.begin(), norms.end(), is_plain);
  std::vector<double> factors(norms.size(), 1.0), nothing(norms.size(), 0.0), squares = norms;
  if (!plain) {
    for (std::size_t c = 0; c < norms.size(); ++c)
      if (!is_plain(norms[c])) factors[c] = std::ldexp(1.0, norms[c] < least_square ? up : down);
    Vector scaled(x.layout(), x.columns());
    column_axpby(factors, x, nothing, scaled);
    column_dots(scaled, scaled, squares);
  }
  for (std::size_t c = 0; c < norms.size(); ++c) norms[c] = std::sqrt(squares[c]) / factors[c];
  return norms;
}

std::unique_ptr<ElementHistory> Backend::make_history(const DeviceModel& model) const {
  auto history = std::make_unique<ElementHistory>();
  bool any = false;
  history->parts.resize(static_cast<std::size_t>(model.devices()));
  for (int d = 0; d < model.devices(); ++d)
    for (const ElementBatch& batch : model.part(d).batches) {
      ElementHistory::Batch& own = history->parts[static_cast<std::size_t>(d)].emplace_back();
      own.count = batch.program->history_count();
      own.lanes = history_lanes(*batch.program);
      if (own.count == 0) continue;
      any = true;
      const std::int64_t groups = (std::int64_t{batch.element_count} + own.lanes - 1) / own.lanes;
      own.values = Array<double>(memory(d), static_cast<std::size_t>(groups * own.lanes * own.count));
    }
  return any ? std::move(history) : nullptr;
}

std::size_t ElementHistory::bytes() const {
  std::size_t total = 0;
  for (const auto& device : parts)
    for (const Batch& batch : device) total += batch.values.bytes();
  return total;
}

std::unique_ptr<DeviceModel> Backend::make_model(const ModelDescription& description) const {
  std::vector<std::shared_ptr<DeviceMemory>> memories;
  for (int d = 0; d < devices(); ++d) memories.push_back(memory(d));
  return std::make_unique<DeviceModel>(std::move(memories), description);
}

}  // namespace voussoir
