#include <voussoir/framework/response/harmonic_sweep.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include <voussoir/backends/error.hpp>
#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/response/detail/coordinate_product.hpp>

namespace voussoir {
namespace {

using detail::tile_entries;
using detail::tile_rows;

constexpr const char* sweep_place = "harmonic sweep";

void check_frequencies(std::span<const double> frequencies) {
  for (std::size_t i = 0; i < frequencies.size(); ++i)
    if (!std::isfinite(frequencies[i]) || frequencies[i] < 0 || (i > 0 && !(frequencies[i] > frequencies[i - 1])))
      throw Error(ErrorCode::bad_input,
                  "frequency " + std::to_string(i + 1) + " is " + short_number(frequencies[i], 9) +
                      "; frequencies must increase and not be negative",
                  sweep_place);
}

void check(const HarmonicCoordinates& coordinates, const ModalValues& values) {
  if (coordinates.coordinates != values.columns())
    throw Error(ErrorCode::misuse,
                std::to_string(coordinates.coordinates) + " coordinates but " + std::to_string(values.columns()) +
                    " columns of modal values",
                sweep_place);
  if (coordinates.frequencies.empty()) throw Error(ErrorCode::misuse, "the sweep has no frequencies", sweep_place);
  if (coordinates.values.size() != 2 * coordinates.frequencies.size() * coordinates.coordinates)
    throw Error(ErrorCode::misuse, "the sweep does not have a value for each frequency and coordinate", sweep_place);
}

/// Calls found(frequency index, e, amplitude) for the entries of a packed tile, frequency by frequency: real and
/// imaginary parts are two rows of the product.
template <class Found>
void for_each_amplitude(const HarmonicCoordinates& c, const double* packed, const Found& found) {
  const std::size_t rows = 2 * c.frequencies.size();
  double product[tile_rows][tile_entries];
  for (std::size_t row = 0; row < rows; row += tile_rows) {
    const std::size_t count = std::min(tile_rows, rows - row);
    detail::tile_product(c.values.data() + row * c.coordinates, count, c.coordinates, packed, product);
    for (std::size_t r = 0; r < count; r += 2)
      for (std::size_t e = 0; e < tile_entries; ++e)
        found((row + r) / 2, e, std::complex<double>(product[r][e], product[r + 1][e]));
  }
}

}  // namespace

HarmonicSweep::HarmonicSweep(ModalSystem modes) : modes_(std::move(modes)) {}

std::size_t HarmonicSweep::add_load(std::vector<double> modal_loads, std::complex<double> factor,
                                    Amplitude over_frequency) {
  if (modal_loads.size() != modes_.modes())
    throw Error(ErrorCode::bad_input,
                std::to_string(modal_loads.size()) + " modal loads for " + std::to_string(modes_.modes()) + " modes",
                sweep_place);
  const bool finite = std::all_of(modal_loads.begin(), modal_loads.end(), [](double p) { return std::isfinite(p); });
  if (!finite || !std::isfinite(factor.real()) || !std::isfinite(factor.imag()))
    throw Error(ErrorCode::not_finite, "a modal load or the factor of the load is not finite", sweep_place);
  loads_.push_back({std::move(modal_loads), factor, std::move(over_frequency)});
  return loads_.size() - 1;
}

std::size_t HarmonicSweep::add_base_acceleration(std::span<const double> participation, std::complex<double> factor,
                                                 Amplitude over_frequency) {
  std::vector<double> modal(participation.begin(), participation.end());
  for (double& load : modal) load = -load;
  return add_load(std::move(modal), factor, std::move(over_frequency));
}

std::complex<double> HarmonicSweep::coordinate(std::size_t mode, double frequency,
                                               std::span<const std::complex<double>> amplitudes) const {
  std::complex<double> load = 0;
  for (std::size_t j = 0; j < loads_.size(); ++j) load += loads_[j].modal[mode] * amplitudes[j];
  if (load == 0.0) return 0;
  const Oscillator oscillator = modes_.mode(mode);
  const double circular = 2 * std::numbers::pi * frequency;
  // A difference of squares as a product: close to the resonance, all digits count.
  const std::complex<double> stiffness((oscillator.omega - circular) * (oscillator.omega + circular),
                                       2 * oscillator.decay * circular);
  // A frequency that was computed from ω is the resonance, even where it misses it by a rounding error.
  const double scale = std::max(oscillator.omega, circular);
  if (std::abs(stiffness) <= 1e-14 * scale * scale)
    throw Error(ErrorCode::bad_input,
                "mode " + std::to_string(mode + 1) + " is undamped and in resonance at the frequency " +
                    short_number(frequency, 9) + ": add damping, or leave this frequency out",
                sweep_place);
  return load / stiffness;
}

HarmonicCoordinates HarmonicSweep::coordinates(std::span<const double> frequencies, ModalQuantity quantity,
                                               bool with_loads) const {
  if (with_loads && quantity == ModalQuantity::velocity)
    throw Error(ErrorCode::misuse, "the amplitudes of loads have no meaning as velocities", sweep_place);
  check_frequencies(frequencies);
  HarmonicCoordinates result;
  result.frequencies.assign(frequencies.begin(), frequencies.end());
  const std::size_t modes = modes_.modes();
  result.coordinates = modes + (with_loads ? loads_.size() : 0);
  result.values.resize(2 * frequencies.size() * result.coordinates);
  std::vector<std::complex<double>> amplitudes(loads_.size());
  for (std::size_t f = 0; f < frequencies.size(); ++f) {
    double* real = result.values.data() + 2 * f * result.coordinates;
    const auto store = [&](std::size_t c, std::complex<double> value) {
      real[c] = value.real();
      real[result.coordinates + c] = value.imag();
    };
    for (std::size_t j = 0; j < loads_.size(); ++j)
      amplitudes[j] = loads_[j].factor * loads_[j].over_frequency.at(frequencies[f]);
    const double circular = 2 * std::numbers::pi * frequencies[f];
    const std::complex<double> derivative = quantity == ModalQuantity::displacement ? std::complex<double>(1, 0)
                                            : quantity == ModalQuantity::velocity   ? std::complex<double>(0, circular)
                                                                                    : -circular * circular;
    for (std::size_t i = 0; i < modes; ++i) store(i, derivative * coordinate(i, frequencies[f], amplitudes));
    for (std::size_t j = 0; with_loads && j < loads_.size(); ++j) store(modes + j, amplitudes[j]);
  }
  return result;
}

std::vector<double> sweep_frequencies(const ModalSystem& modes, double lowest, double highest, SweepPoints points) {
  if (!(lowest >= 0) || !(highest > lowest) || !std::isfinite(highest) || points.between < 2 || !(points.bias > 0) ||
      !std::isfinite(points.bias))
    throw Error(ErrorCode::bad_input,
                "a sweep from " + short_number(lowest, 9) + " to " + short_number(highest, 9) + " with " +
                    std::to_string(points.between) + " points and the bias " + short_number(points.bias, 9) +
                    " is not possible: the highest frequency must be above the lowest, with at least 2 points and a "
                    "positive bias",
                sweep_place);
  std::vector<double> ends{lowest, highest}, result;
  for (std::size_t i = 0; i < modes.modes(); ++i) {
    const double frequency = modes.omegas()[i] / (2 * std::numbers::pi);
    if (frequency > lowest && frequency < highest) ends.push_back(frequency);
    for (std::size_t k = 1; k <= points.band; ++k) {
      const double offset =
          2 * static_cast<double>(k) / static_cast<double>(points.band) * modes.decays()[i] / (2 * std::numbers::pi);
      for (const double near : {frequency - offset, frequency + offset})
        if (near > lowest && near < highest) result.push_back(near);
    }
  }
  std::sort(ends.begin(), ends.end());
  // Repeated natural frequencies differ by rounding errors; there is nothing to see between them.
  ends.erase(std::unique(ends.begin(), ends.end(), [](double a, double b) { return b - a <= 1e-9 * b; }), ends.end());
  ends.back() = highest;
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
    const double middle = (ends[i] + ends[i + 1]) / 2, half = (ends[i + 1] - ends[i]) / 2;
    result.push_back(ends[i]);
    for (std::size_t k = 1; k + 1 < points.between; ++k) {
      const double lambda = -1 + 2 * static_cast<double>(k) / static_cast<double>(points.between - 1);
      result.push_back(middle + half * std::copysign(std::pow(std::abs(lambda), 1 / points.bias), lambda));
    }
  }
  result.push_back(highest);
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::vector<std::complex<double>> harmonic_history(const HarmonicCoordinates& coordinates, const ModalValues& values,
                                                   std::size_t entry) {
  check(coordinates, values);
  if (entry >= values.entries())
    throw Error(ErrorCode::misuse,
                "there is no entry " + std::to_string(entry + 1) + "; there are " + std::to_string(values.entries()),
                sweep_place);
  std::vector<double> packed(coordinates.coordinates * tile_entries);
  detail::pack_tile(
      values, [&](std::size_t) { return entry; }, packed.data());
  std::vector<std::complex<double>> result(coordinates.frequencies.size());
  for_each_amplitude(coordinates, packed.data(), [&](std::size_t f, std::size_t e, std::complex<double> amplitude) {
    if (e == 0) result[f] = amplitude;
  });
  return result;
}

std::vector<HarmonicPeak> harmonic_peaks(const HarmonicCoordinates& coordinates, const ModalValues& values) {
  check(coordinates, values);
  const std::size_t entries = values.entries();
  std::vector<HarmonicPeak> result(entries);
  const bool parallel = static_cast<double>(coordinates.values.size()) * static_cast<double>(entries) > 1e6;
  detail::for_each_index((entries + tile_entries - 1) / tile_entries, parallel, [&](std::size_t tile) {
    const std::size_t first = tile * tile_entries;
    std::vector<double> packed(coordinates.coordinates * tile_entries);
    detail::pack_tile(
        values, [&](std::size_t e) { return first + e; }, packed.data());
    for_each_amplitude(coordinates, packed.data(), [&](std::size_t f, std::size_t e, std::complex<double> amplitude) {
      if (first + e >= entries) return;
      const double magnitude = std::abs(amplitude);
      if (!std::isfinite(magnitude))
        throw Error(ErrorCode::not_finite,
                    "entry " + std::to_string(first + e + 1) + " is not finite at the frequency " +
                        short_number(coordinates.frequencies[f], 9),
                    sweep_place);
      HarmonicPeak& peak = result[first + e];
      if (f == 0 || magnitude > peak.amplitude)
        peak = {magnitude, phase_degrees(amplitude), coordinates.frequencies[f]};
    });
  });
  return result;
}

double phase_degrees(std::complex<double> amplitude) {
  return amplitude == 0.0 ? 0 : std::arg(amplitude) * (180 / std::numbers::pi);
}

}  // namespace voussoir
