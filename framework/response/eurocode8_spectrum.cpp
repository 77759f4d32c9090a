#include <voussoir/framework/response/eurocode8_spectrum.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <voussoir/backends/error.hpp>
#include <voussoir/backends/number_text.hpp>

namespace voussoir {
namespace {

constexpr const char* eurocode8_place = "spectrum of Eurocode 8";
constexpr double eurocode8_end = 4;  // seconds; longer periods are the subject of annex A of the code

void check(const Eurocode8Spectrum& n) {
  const auto fail = [](const std::string& text) { throw Error(ErrorCode::bad_input, text, eurocode8_place); };
  const auto positive = [](double value) { return std::isfinite(value) && value > 0; };
  if (!positive(n.ground_acceleration) || !positive(n.soil_factor))
    fail("ground acceleration and soil factor must be positive; they are " + short_number(n.ground_acceleration, 9) +
         " and " + short_number(n.soil_factor, 9));
  if (!(n.plateau_begin > 0) || !(n.plateau_end >= n.plateau_begin) || !(n.displacement_begin >= n.plateau_end) ||
      !(n.displacement_begin < eurocode8_end))
    fail("the periods T_B, T_C and T_D must be in this order between 0 and 4 s; they are " +
         short_number(n.plateau_begin, 9) + ", " + short_number(n.plateau_end, 9) + " and " +
         short_number(n.displacement_begin, 9));
  if (!(n.damping_ratio >= 0) || !(n.damping_ratio < 1))
    fail("the damping ratio must be at least 0 and below 1, but is " + short_number(n.damping_ratio, 9));
}

}  // namespace

ResponseSpectrum eurocode8_spectrum(const Eurocode8Spectrum& numbers) {
  check(numbers);
  const double rigid = numbers.ground_acceleration * numbers.soil_factor;
  const double plateau = 2.5 * std::max(0.55, std::sqrt(0.10 / (0.05 + numbers.damping_ratio))) * rigid;
  const double tc = numbers.plateau_end, td = numbers.displacement_begin;
  std::vector<ResponseSpectrum::Point> points{{0, rigid}, {numbers.plateau_begin, plateau}};
  if (tc > numbers.plateau_begin) points.emplace_back(tc, plateau);
  // Between points of the ratio 1 + r, a line is above 1/T² by at most 3/4 r².
  constexpr double ratio = 1.01;
  for (double period = tc * ratio; period < td; period *= ratio) points.emplace_back(period, plateau * tc / period);
  if (td > points.back().first) points.emplace_back(td, plateau * tc / td);
  for (double period = td * ratio; period < eurocode8_end; period *= ratio)
    points.emplace_back(period, plateau * tc * td / (period * period));
  points.emplace_back(eurocode8_end, plateau * tc * td / (eurocode8_end * eurocode8_end));
  return ResponseSpectrum(std::move(points), ResponseSpectrum::Axis::period, ResponseSpectrum::Interpolation::linear,
                          ResponseSpectrum::Beyond::refuse, eurocode8_place);
}

ResponseSpectrum eurocode8_spectrum() { return eurocode8_spectrum(Eurocode8Spectrum{}); }

}  // namespace voussoir
