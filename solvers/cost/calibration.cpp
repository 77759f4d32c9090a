#include <voussoir/solvers/cost/calibration.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>

#include <voussoir/backends/host_memory.hpp>
#include <voussoir/backends/version.hpp>
#include <voussoir/solvers/cost/detail/calibrator.hpp>

namespace voussoir {
namespace {

std::string date_of_now() {
  const std::time_t time = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

CostSample sample_of(double units, double working_set, std::vector<double> times) {
  std::sort(times.begin(), times.end());
  const double least = times.front(), median = times[times.size() / 2];
  return {units, working_set, least, least > 0 ? (median - least) / least : 0};
}

}  // namespace

namespace detail {

Calibrator::Calibrator(std::shared_ptr<Backend> backend, const CalibrationOptions& options)
    : backend_(std::move(backend)), options_(options) {
  profile_.machine = machine_name();
  profile_.backend = backend_->name();
  profile_.device = backend_->describe();
  profile_.devices = backend_->devices();
  profile_.threads = backend_->threads();
  profile_.version = version();
  profile_.date = date_of_now();
  profile_.overlaps_copies = !on_host();
  largest_bytes_ = std::min(options_.largest_bytes, available_host_memory().bytes / 4);
  if (options_.quick) largest_bytes_ = std::min(largest_bytes_, 4e6);
}

void Calibrator::begin(const std::string& what) const {
  if (options_.progress && !options_.progress(what))
    throw Error(ErrorCode::cancelled, "the calibration was stopped before '" + what + "'");
}

CostSample Calibrator::measure(double units, double working_set, const std::function<void()>& work) const {
  work();
  backend_->wait();
  const double once = std::max(backend_->time(work), 1e-9);
  const int calls = static_cast<int>(std::clamp(3e-4 / once, 1.0, 1000.0));
  const double budget = options_.quick ? 2e-3 : 3e-2;
  const int runs = static_cast<int>(std::clamp(budget / (once * calls), 3.0, options_.quick ? 5.0 : 25.0));
  std::vector<double> times;
  for (int i = 0; i < runs; ++i)
    times.push_back(backend_->time([&] {
      for (int c = 0; c < calls; ++c) work();
    }) / calls);
  return sample_of(units, working_set, std::move(times));
}

CostSample Calibrator::measure_reported(double units, double working_set, int runs,
                                        const std::function<double()>& work) const {
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) times.push_back(work());
  return sample_of(units, working_set, std::move(times));
}

void Calibrator::add(const std::string& operation, const std::function<std::vector<CostSample>()>& samples,
                     double width) {
  std::string problem;
  for (int attempt = 0; attempt < 3; ++attempt) {
    try {
      profile_.costs[operation] = fit_operation(operation, samples(), width);
      return;
    } catch (const Error& error) {
      if (error.code() == ErrorCode::unavailable) {
        note(operation + " was not measured: " + error.text());
        return;
      }
      if (error.code() != ErrorCode::bad_input) throw;
      problem = error.text();
    }
  }
  note(operation + " was left out: " + problem);
}

void Calibrator::group(const std::string& what, const std::function<void()>& work) {
  begin(what);
  try {
    work();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unavailable && error.code() != ErrorCode::out_of_memory) throw;
    note(what + ": " + error.what());
  }
}

}  // namespace detail

MachineProfile calibrate(const std::shared_ptr<Backend>& backend, const CalibrationOptions& options) {
  if (!backend) throw Error(ErrorCode::misuse, "calibrate() needs a backend");
  detail::Calibrator calibrator(backend, options);
  detail::calibrate_vectors(calibrator);
  if (options.elements) detail::calibrate_elements(calibrator);
  if (options.solvers) detail::calibrate_solvers(calibrator);
  if (options.grids) {
    detail::calibrate_grids(calibrator);
    detail::calibrate_long_vectors(calibrator);
    detail::calibrate_heat(calibrator);
  }
  return calibrator.profile();
}

}  // namespace voussoir
