#include <limits>
#include <numbers>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/analysis/detail/response_columns.hpp>
#include <voussoir/framework/analysis/superposed_response.hpp>

namespace voussoir {
namespace {

using Complex = std::complex<double>;

std::vector<double> part_of(const std::vector<Complex>& values, bool real) {
  std::vector<double> part;
  for (const Complex& value : values) part.push_back(real ? value.real() : value.imag());
  return part;
}

}  // namespace

const std::vector<int>& SuperposedSweep::modes() const { return columns_->modes(); }

std::pair<ModalPoint, ModalPoint> SuperposedSweep::point(std::size_t frequency) const {
  if (frequency >= count())
    throw Error(ErrorCode::misuse,
                "the sweep has " + std::to_string(count()) + " frequencies, and frequency " +
                    std::to_string(frequency) + " was asked for; they are counted from 0",
                "mode superposition");
  const std::size_t n = columns_->mode_count(), p = columns_->pattern_count();
  const double omega = 2 * std::numbers::pi * frequencies_[frequency];
  std::vector<Complex> q(q_.begin() + static_cast<std::ptrdiff_t>(frequency * n),
                         q_.begin() + static_cast<std::ptrdiff_t>((frequency + 1) * n));
  std::vector<Complex> loads(loads_.begin() + static_cast<std::ptrdiff_t>(frequency * p),
                             loads_.begin() + static_cast<std::ptrdiff_t>((frequency + 1) * p));
  std::vector<Complex> v, a, ground_v, ground_u;
  for (const Complex& value : q) {
    v.push_back(Complex(0, omega) * value);
    a.push_back(-omega * omega * value);
  }
  for (std::size_t j = 0; j < p; ++j) {
    // A base that accelerates steadily, at frequency 0, has no place; NaN is seen where it is asked for.
    const bool base = columns_->pattern(j).direction >= 0;
    ground_v.push_back(base ? loads[j] / Complex(0, omega) : 0.0);
    ground_u.push_back(base ? -loads[j] / (omega * omega) : 0.0);
  }
  const auto part = [&](bool real) {
    return ModalPoint{frequencies_[frequency], part_of(q, real),        part_of(v, real),       part_of(a, real),
                      part_of(loads, real),    part_of(ground_v, real), part_of(ground_u, real)};
  };
  return {part(true), part(false)};
}

std::vector<Complex> SuperposedSweep::history(Id node, const std::string& unknown, ModalQuantity quantity,
                                              MotionFrame frame) const {
  const std::vector<double> entries = columns_->motion_entries(columns_->equation_of(node, unknown), quantity, frame);
  const auto sum = [&](const ModalPoint& point) {
    const std::vector<double> c = columns_->motion_coordinates(point, quantity, frame);
    double value = 0;
    for (std::size_t k = 0; k < c.size(); ++k) value += entries[k] * c[k];
    return value;
  };
  std::vector<Complex> result;
  for (std::size_t f = 0; f < count(); ++f) {
    const auto [real, imaginary] = point(f);
    result.emplace_back(sum(real), sum(imaginary));
    if (!std::isfinite(result.back().real()) || !std::isfinite(result.back().imag()))
      throw Error(ErrorCode::bad_input,
                  "the response is not finite; at frequency 0 an accelerated base has no absolute displacement",
                  "frequency " + short_number(frequencies_[f], 6));
  }
  return result;
}

SuperposedSweep::Field SuperposedSweep::field(std::size_t frequency, ModalQuantity quantity, MotionFrame frame) const {
  const auto [real, imaginary] = point(frequency);
  return {columns_->motion(real, quantity, frame), columns_->motion(imaginary, quantity, frame)};
}

SuperposedSweep::State SuperposedSweep::state(std::size_t frequency, bool recover) const {
  const auto [real, imaginary] = point(frequency);
  const std::string name = "frequency " + short_number(frequencies_[frequency], 10);
  return {columns_->state(real, name + ", real", recover), columns_->state(imaginary, name + ", imaginary", recover)};
}

std::vector<HarmonicPeak> SuperposedSweep::peaks(ModalQuantity quantity) const {
  const detail::ColumnValues columns = columns_->motion_columns(quantity, MotionFrame::relative);
  ModalValues values;
  for (const std::vector<double>& column : columns) values.add(column);
  HarmonicCoordinates coordinates{frequencies_, columns.size(), {}};
  for (std::size_t f = 0; f < count(); ++f) {
    const auto [real, imaginary] = point(f);
    for (const ModalPoint* part : {&real, &imaginary}) {
      const auto c = columns_->motion_coordinates(*part, quantity, MotionFrame::relative);
      coordinates.values.insert(coordinates.values.end(), c.begin(), c.end());
    }
  }
  const std::vector<HarmonicPeak> found = harmonic_peaks(coordinates, values);
  const AnalysisModel& model = columns_->model();
  const std::size_t width = model.unknown_names().size();
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  std::vector<HarmonicPeak> result(static_cast<std::size_t>(model.domain().node_count()) * width, {none, none, none});
  for (std::int32_t e = 0; e < model.equation_count(); ++e) {
    const auto at = model.place(e);
    result[static_cast<std::size_t>(at.node) * width + static_cast<std::size_t>(at.component)] =
        found[static_cast<std::size_t>(e)];
  }
  return result;
}

}  // namespace voussoir
