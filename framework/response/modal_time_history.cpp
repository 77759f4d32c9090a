#include <voussoir/framework/response/modal_time_history.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include <voussoir/backends/error.hpp>
#include <voussoir/backends/number_text.hpp>

namespace voussoir {
namespace {

constexpr const char* history_place = "modal time history";

/// The coefficients of a step for all modes, each coefficient in an array of its own, so that modes are computed in
/// SIMD.
struct StepTable {
  double h = -1;
  std::array<std::vector<double>, 8> c;

  void compute(const ModalSystem& modes, double step) {
    h = step;
    for (auto& list : c) list.resize(modes.modes());
    for (std::size_t i = 0; i < modes.modes(); ++i) {
      const OscillatorStep s(modes.mode(i), step);
      const double all[] = {s.qq, s.qv, s.q0, s.q1, s.vq, s.vv, s.v0, s.v1};
      for (std::size_t k = 0; k < c.size(); ++k) c[k][i] = all[k];
    }
  }

  void advance(double* __restrict q, double* __restrict v, const double* __restrict p0,
               const double* __restrict p1) const {
    const double *qq = c[0].data(), *qv = c[1].data(), *q0 = c[2].data(), *q1 = c[3].data(), *vq = c[4].data(),
                 *vv = c[5].data(), *v0 = c[6].data(), *v1 = c[7].data();
    const std::size_t modes = c[0].size();
#pragma omp simd
    for (std::size_t i = 0; i < modes; ++i) {
      const double displacement = qq[i] * q[i] + qv[i] * v[i] + q0[i] * p0[i] + q1[i] * p1[i];
      v[i] = vq[i] * q[i] + vv[i] * v[i] + v0[i] * p0[i] + v1[i] * p1[i];
      q[i] = displacement;
    }
  }
};

/// Tables for the lengths of steps used last. Equal steps of decimal times differ in their last bits, in a few ways
/// that recur; keeping some tables is cheaper than computing them again, and exact.
class StepTables {
 public:
  explicit StepTables(const ModalSystem& modes) : modes_(modes) {}
  const StepTable& of(double h) {
    for (const StepTable& table : tables_)
      if (table.h == h) return table;
    StepTable& table = tables_[next_];
    next_ = (next_ + 1) % tables_.size();
    table.compute(modes_, h);
    return table;
  }

 private:
  const ModalSystem& modes_;
  std::array<StepTable, 16> tables_;
  std::size_t next_ = 0;
};

void check_list(std::span<const double> list, std::size_t modes, const std::string& what) {
  if (list.size() != modes)
    throw Error(ErrorCode::bad_input,
                what + ": " + std::to_string(list.size()) + " numbers for " + std::to_string(modes) + " modes",
                history_place);
  for (std::size_t i = 0; i < modes; ++i)
    if (!std::isfinite(list[i]))
      throw Error(ErrorCode::not_finite, what + " of mode " + std::to_string(i + 1) + " is not finite", history_place);
}

}  // namespace

ModalTimeHistory::ModalTimeHistory(ModalSystem modes, double start)
    : modes_(std::move(modes)), start_(start), displacement_(modes_.modes()), velocity_(modes_.modes()) {
  if (!std::isfinite(start)) throw Error(ErrorCode::bad_input, "the start time is not finite", history_place);
}

std::size_t ModalTimeHistory::add_load(std::vector<double> modal_loads, Amplitude amplitude) {
  check_list(modal_loads, modes_.modes(), "modal load");
  loads_.push_back({std::move(modal_loads), std::move(amplitude)});
  return loads_.size() - 1;
}

std::size_t ModalTimeHistory::add_base_acceleration(std::span<const double> participation,
                                                    const Accelerogram& accelerogram) {
  if (accelerogram.times().front() < start_)
    throw Error(ErrorCode::bad_input,
                "the accelerogram begins at " + short_number(accelerogram.times().front(), 9) +
                    ", before the history begins at " + short_number(start_, 9) + ": shift it, or start earlier",
                history_place);
  check_list(participation, modes_.modes(), "participation factor");
  std::vector<double> modal(participation.begin(), participation.end());
  for (double& load : modal) load = -load;
  return add_load(std::move(modal), accelerogram.amplitude());
}

void ModalTimeHistory::set_initial_state(std::vector<double> displacement, std::vector<double> velocity) {
  check_list(displacement, modes_.modes(), "initial displacement");
  check_list(velocity, modes_.modes(), "initial velocity");
  displacement_ = std::move(displacement);
  velocity_ = std::move(velocity);
}

/// The ends of all steps: the requested times, and the points at which an amplitude has a kink or a jump.
std::vector<double> ModalTimeHistory::grid(std::span<const double> times) const {
  std::vector<double> grid(times.begin(), times.end());
  for (const Load& load : loads_)
    for (const auto& [time, value] : load.amplitude.points())
      if (time > start_ && time < times.back()) grid.push_back(time);
  std::sort(grid.begin(), grid.end());
  grid.erase(std::unique(grid.begin(), grid.end()), grid.end());
  return grid;
}

void ModalTimeHistory::run(std::span<const double> times,
                           const std::function<void(const ModalState&)>& observer) const {
  for (std::size_t i = 0; i < times.size(); ++i)
    if (!std::isfinite(times[i]) || times[i] < start_ || (i > 0 && !(times[i] > times[i - 1])))
      throw Error(ErrorCode::bad_input,
                  "requested time " + std::to_string(i + 1) + " is " + short_number(times[i], 9) +
                      "; times must increase, from the start at " + short_number(start_, 9),
                  history_place);
  if (times.empty()) return;

  const std::size_t modes = modes_.modes();
  std::vector<double> q = displacement_, v = velocity_, a(modes), p0(modes), p1(modes), amplitudes(loads_.size());
  const auto sum_loads = [&](std::vector<double>& p, const auto& factor) {
    std::fill(p.begin(), p.end(), 0);
    for (std::size_t j = 0; j < loads_.size(); ++j) {
      const double f = factor(loads_[j].amplitude);
      amplitudes[j] = f;
      const double* modal = loads_[j].modal.data();
      for (std::size_t i = 0; i < modes; ++i) p[i] += f * modal[i];
    }
  };
  StepTables tables(modes_);
  double now = start_;
  std::size_t requested = 0;
  for (const double end : grid(times)) {
    if (end > now) {
      sum_loads(p0, [&](const Amplitude& amplitude) { return amplitude.at(now); });
      sum_loads(p1, [&](const Amplitude& amplitude) { return amplitude.before(end); });
      tables.of(end - now).advance(q.data(), v.data(), p0.data(), p1.data());
      now = end;
    }
    if (end != times[requested]) continue;
    ++requested;
    sum_loads(p1, [&](const Amplitude& amplitude) { return amplitude.at(end); });
    for (std::size_t i = 0; i < modes; ++i) a[i] = modes_.mode(i).acceleration({q[i], v[i]}, p1[i]);
    observer({end, q, v, a, amplitudes});
  }
}

CoordinateHistory ModalTimeHistory::coordinates(std::span<const double> times, ModalQuantity quantity,
                                                bool with_loads) const {
  if (with_loads && quantity == ModalQuantity::velocity)
    throw Error(ErrorCode::misuse, "the amplitudes of loads have no meaning as velocities", history_place);
  CoordinateHistory history;
  history.times.assign(times.begin(), times.end());
  history.coordinates = modes_.modes() + (with_loads ? loads_.size() : 0);
  history.values.reserve(history.coordinates * times.size());
  run(times, [&](const ModalState& state) {
    const auto& values = quantity == ModalQuantity::displacement ? state.displacement
                         : quantity == ModalQuantity::velocity   ? state.velocity
                                                                 : state.acceleration;
    history.values.insert(history.values.end(), values.begin(), values.end());
    if (with_loads) history.values.insert(history.values.end(), state.loads.begin(), state.loads.end());
  });
  return history;
}

std::vector<double> even_times(double start, double end, double step) {
  if (!std::isfinite(start) || !std::isfinite(end) || !std::isfinite(step) || !(step > 0) || !(end > start) ||
      !((end - start) / step < 1e9))
    throw Error(ErrorCode::bad_input,
                "times from " + short_number(start, 9) + " to " + short_number(end, 9) + " in steps of " +
                    short_number(step, 9) + " are not possible",
                "times");
  // The tolerance keeps a rounding error from adding a step of almost no length.
  const auto steps = static_cast<std::size_t>(std::ceil((end - start) / step * (1 - 1e-12)));
  std::vector<double> times(steps + 1);
  for (std::size_t i = 0; i < steps; ++i) times[i] = start + static_cast<double>(i) * step;
  times[steps] = end;
  return times;
}

}  // namespace voussoir
