#include <voussoir/apps/bench/rig.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <random>

#include <voussoir/apps/terminal/terminal.hpp>
#include <voussoir/backends/version.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>

namespace voussoir::app {
namespace {

constexpr const char* reference_backend = "openmp";

std::shared_ptr<const Material> steel() { return std::make_shared<IsotropicMaterial>("steel", 210e9, 0.3, 7850); }

/// Plane elements have a thickness: 1.
void set_thickness(ElementBlock& block) {
  if (block.type_name().starts_with("plane_")) block.set_section("thickness", 1.0);
}

/// Double-precision flops per second outside tensor cores, by datasheet; 0 where the name says nothing.
double rate_of(const std::string& device) {
  for (const auto& [name, rate] : {std::pair{"H200", 34e12}, {"H100", 34e12}, {"A100", 9.7e12}, {"V100", 7.8e12}})
    if (device.find(name) != std::string::npos) return rate;
  return 0;
}

}  // namespace

BenchModel::BenchModel(std::shared_ptr<Backend> backend, std::unique_ptr<Domain> domain)
    : domain_(std::move(domain)),
      model_(std::make_unique<AnalysisModel>(*domain_, std::move(backend), TransformationHandler(), PlainNumberer())) {}

const ElementProgram& BenchModel::program() const { return *device().part(0).batches.front().program; }

std::string BenchModel::describe() const {
  return fmt::format("{} {}, {}, {} equations", readable_count(domain_->element_count()),
                     domain_->block(std::size_t{0}).type_name(), counted(device().node_count(), "node"),
                     readable_count(model_->equation_count()));
}

std::vector<double> BenchModel::rough(std::uint64_t seed) const {
  std::vector<double> values(static_cast<std::size_t>(model_->equation_count()));
  std::uint64_t state = seed;
  for (std::size_t i = 0; i < values.size(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    values[i] = static_cast<double>(state >> 11) / 4503599627370496.0 - 1.0;
    if (!model_->is_free(static_cast<std::int32_t>(i))) values[i] = 0;
  }
  return values;
}

Vector BenchModel::vector(std::span<const double> values) const {
  Vector x = model_->make_vector();
  x.from_host(values);
  return x;
}

std::unique_ptr<Domain> make_box(const std::string& type, std::array<int, 3> cells, double distortion) {
  auto domain = std::make_unique<Domain>();
  BoxMesh box;
  box.type = type;
  box.cells = cells;
  const double longest = *std::max_element(cells.begin(), cells.end());
  for (std::size_t i = 0; i < 3; ++i) box.upper[i] = cells[i] / longest;
  box.distortion = distortion;
  ElementBlock& block = add_box_mesh(*domain, box);
  block.set_material(steel());
  set_thickness(block);
  domain->prescribe("xmin", "all");
  return domain;
}

std::unique_ptr<Domain> shuffled(const Domain& domain, std::int32_t window) {
  const std::int32_t n = domain.node_count();
  std::vector<std::int32_t> node_at(static_cast<std::size_t>(n));  // old node at each new place
  std::iota(node_at.begin(), node_at.end(), 0);
  std::mt19937_64 random(20);
  if (window <= 0) window = n;
  for (std::int32_t first = 0; first < n; first += window)
    std::shuffle(node_at.begin() + first, node_at.begin() + std::min(n, first + window), random);
  std::vector<Id> id(static_cast<std::size_t>(n));  // new id of each old node
  std::vector<double> coordinates;
  coordinates.reserve(3 * node_at.size());
  for (std::int32_t i = 0; i < n; ++i) {
    id[static_cast<std::size_t>(node_at[i])] = i + 1;
    const auto place = domain.coordinates().subspan(3 * static_cast<std::size_t>(node_at[i]), 3);
    coordinates.insert(coordinates.end(), place.begin(), place.end());
  }
  auto result = std::make_unique<Domain>();
  result->add_nodes({}, coordinates);
  const ElementBlock& block = domain.block(std::size_t{0});
  std::vector<Id> nodes;
  nodes.reserve(block.connectivity().size());
  for (const std::int32_t node : block.connectivity()) nodes.push_back(id[static_cast<std::size_t>(node)]);
  std::vector<Id> elements(nodes.size() / static_cast<std::size_t>(block.nodes_per_element()));
  std::iota(elements.begin(), elements.end(), Id{1});
  ElementBlock& copy = result->add_block("box", block.type_name());
  copy.add_many(elements, nodes);
  copy.set_material(steel());
  set_thickness(copy);
  std::vector<Id> prescribed;
  for (const std::int32_t node : domain.node_set("xmin")) prescribed.push_back(id[static_cast<std::size_t>(node)]);
  result->add_node_set("xmin", prescribed);
  result->prescribe("xmin", "all");
  return result;
}

Reference::Reference(const Domain& domain)
    : backend_(Backend::open(reference_backend)),
      model_(domain, backend_, TransformationHandler(), PlainNumberer()),
      matrix_(backend_->make_element_operator(model_.device_model(), ElementProduct::matrix_free)) {
  backend_->assemble(model_.device_model(), nullptr, {}, *matrix_);
}

std::vector<double> Reference::product(std::span<const double> values) const {
  Vector x = model_.make_vector(), y = model_.make_vector();
  x.from_host(values);
  matrix_->apply(x, y);
  return y.to_host();
}

double relative_difference(std::span<const double> a, std::span<const double> b) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const double apart = std::abs(a[i] - b[i]);
    difference = apart <= difference ? difference : apart;  // a NaN stays
    if (std::isnan(apart)) return apart;
    size = std::max(size, std::abs(b[i]));
  }
  return size > 0 ? difference / size : difference;
}

BenchRig::BenchRig(BenchSetup setup) : setup_(std::move(setup)) {
  device_ = open()->describe();
  bandwidth_ = measure_copy();
  flops_ = setup_.fp64 > 0 ? setup_.fp64 : rate_of(device_);
  fmt::print("Backend: {}\n", device_);
  fmt::print("Copy: {:.1f} GB/s, read + write. Double precision: {}\n", bandwidth_ * 1e-9,
             flops_ > 0 ? fmt::format("{:.1f} TFLOP/s by datasheet", flops_ * 1e-12)
                        : "unknown, so floors count bytes only (set it with --fp64)");
}

std::shared_ptr<Backend> BenchRig::open() const {
  auto backend = Backend::open(setup_.backend);
  backend->choose(setup_.choices);
  return backend;
}

bool BenchRig::knows(Integration way) const {
  WorkChoices choices = setup_.choices;
  choices.integration = way;
  try {
    Backend::open(setup_.backend)->choose(choices);
    return true;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unavailable) throw;
    return false;
  }
}

double BenchRig::measure_copy() const {
  const auto backend = open();
  const bool large = setup_.size >= 40;  // small models are for trying the benchmark out
  const std::int64_t n = large ? std::int64_t{1} << 27 : std::int64_t{1} << 20;
  std::vector<std::shared_ptr<DeviceMemory>> memories;
  std::vector<std::int64_t> first{0};
  for (int d = 0; d < backend->devices(); ++d) {
    memories.push_back(backend->memory(d));
    first.push_back(n * (d + 1) / backend->devices());
  }
  const auto layout = std::make_shared<Layout>(std::move(memories), std::move(first),
                                               std::vector<std::vector<std::int64_t>>(backend->devices()));
  Vector x(layout), y(layout);
  std::vector<double> values(static_cast<std::size_t>(n));  // of many digits, as real numbers have
  std::uint64_t state = 1;
  for (double& value : values) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    value = static_cast<double>(state >> 11) / 4503599627370496.0 - 1.0;
  }
  x.from_host(values);
  backend->fill(y, 0);
  const double seconds = measure(*backend, [&] { backend->copy(x, y); });
  if (y.to_host() != values) throw Error(ErrorCode::internal, "the timed copy is not a copy");
  return 16.0 * static_cast<double>(n) / seconds;
}

double BenchRig::measure(Backend& backend, const std::function<void()>& work) const {
  work();
  const double once = backend.time(work);
  const int calls = once < 1e-3 ? 20 : once < 2e-2 ? 5 : 1;
  const int runs = once < 0.2 && !setup_.quick ? 11 : 3;
  std::vector<double> times;
  for (int i = 0; i < runs; ++i)
    times.push_back(backend.time([&] {
      for (int k = 0; k < calls; ++k) work();
    }) / calls);
  std::nth_element(times.begin(), times.begin() + runs / 2, times.end());
  return times[static_cast<std::size_t>(runs / 2)];
}

double BenchRig::floor(double bytes, double flops) const {
  return std::max(bytes / bandwidth_, flops_ > 0 ? flops / flops_ : 0.0);
}

double BenchRig::target(double seconds) const {
  return setup_.size == 84 && device_.find("H200") != std::string::npos ? seconds : 0;
}

void BenchRig::row(const std::string& what, const std::function<void(BenchRow&)>& work) {
  BenchRow row;
  row.what = what;
  try {
    work(row);
    if (row.seconds <= 0 && row.problem.empty()) row.problem = "too fast for the clock";
  } catch (const Error& error) {
    row.seconds = 0;
    row.problem = error.what();
    row.failed = error.code() != ErrorCode::unavailable;
  } catch (const std::bad_alloc&) {
    row.seconds = 0;
    row.problem = "out of memory";
  }
  table_.add(std::move(row));
}

void BenchRig::add_page(const std::string& text, const std::string& name, nlohmann::ordered_json rows) {
  fmt::print("{}", text);
  std::fflush(stdout);
  page_ += text;
  page_rows_[name] = std::move(rows);
}

nlohmann::ordered_json BenchRig::json() const {
  return {{"version", version()},
          {"backend", setup_.backend},
          {"device", device_},
          {"size", setup_.size},
          {"copy_bytes_per_second", bandwidth_},
          {"flops_per_second", flops_},
          {"integration", to_string(setup_.choices.integration)},
          {"assembly", to_string(setup_.choices.assembly)},
          {"deterministic", setup_.choices.deterministic},
          {"rows", table_.json()},
          {"tables", page_rows_}};
}

}  // namespace voussoir::app
