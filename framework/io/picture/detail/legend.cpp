#include <voussoir/framework/io/picture/detail/legend.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/backends/number_text.hpp>

namespace voussoir::picture {
namespace {

/// A bar's end that points outwards, because the values go on: a triangle on the row `base`, `height` rows high.
void draw_point(Image& image, int x0, int x1, int base, int height, int direction, const Colour& colour) {
  for (int row = 0; row < height; ++row) {
    const double inset = 0.5 * (x1 - x0) * (row + 0.5) / height;
    const int y = direction < 0 ? base - 1 - row : base + row;
    const int left = static_cast<int>(std::lround(x0 + inset)), right = static_cast<int>(std::lround(x1 - inset));
    if (right > left) image.rectangle(left, y, right, y + 1, colour);
  }
}

}  // namespace

double round_down(double value) {
  const double power = std::pow(10, std::floor(std::log10(value)));
  return power * (value >= 5 * power ? 5 : value >= 2 * power ? 2 : 1);
}

void choose_ends(std::vector<double> seen, ColourScale& scale) {
  if (seen.empty()) return;
  std::sort(seen.begin(), seen.end());
  // An end stands where one value in 500 lies beyond, unless the scale reaches the last value with little more.
  const auto quantile = [&](double part) {
    return seen[static_cast<std::size_t>(std::lround(part * static_cast<double>(seen.size() - 1)))];
  };
  constexpr double beyond = 0.002, little_more = 0.25;
  const double low = quantile(beyond), high = quantile(1 - beyond), spread = high - low;
  scale.low = low - scale.least <= little_more * spread ? scale.least : low;
  scale.high = scale.greatest - high <= little_more * spread ? scale.greatest : high;
  if (scale.low > 0 && scale.low < 0.2 * scale.high) scale.low = 0;
  if (!(scale.high - scale.low > 1e-12 * std::max(std::abs(scale.low), std::abs(scale.high)))) {
    // All alike, but for rounding.
    const double half = scale.high == 0 ? 0.5 : 0.05 * std::abs(scale.high);
    scale.low = scale.high - half;
    scale.high += half;
  }
  scale.clipped_low = scale.least < scale.low;
  scale.clipped_high = scale.greatest > scale.high;
}

void draw_bar(Image& image, const ColourScale& scale, const std::string& label, const char* what) {
  draw_bar_with_place(image, scale, label, std::string("at ") + what + " " + std::to_string(scale.greatest_at));
}

void draw_bar_with_place(Image& image, const ColourScale& scale, const std::string& label, const std::string& place) {
  const int width = image.width(), height = image.height();
  const double size = height / 900.0;
  const int x0 = static_cast<int>(width - 150 * size), x1 = static_cast<int>(x0 + 26 * size);
  const int y0 = static_cast<int>(0.26 * height), y1 = static_cast<int>(0.80 * height);
  for (int y = y0; y < y1; ++y) image.rectangle(x0, y, x1, y + 1, scale_colour(1 - (y - y0 + 0.5) / (y1 - y0)));
  const int point = static_cast<int>(std::max(3.0, 18 * size));
  if (scale.clipped_high) draw_point(image, x0, x1, y0, point, -1, scale_colour(1));
  if (scale.clipped_low) draw_point(image, x0, x1, y1, point, 1, scale_colour(0));

  const auto tick = [&](double y, const std::string& text) {
    draw_line(image, x1 + 3 * size, y, x1 + 9 * size, y, 1.5 * size, soft_ink);
    draw_text(image, text, x1 + 16 * size, y + 6 * size, 12 * size, ink);
  };
  if (scale.clipped_high) tick(y0, "≥ " + short_number(scale.high, 3));
  if (scale.clipped_low) tick(y1, "≤ " + short_number(scale.low, 3));
  // Ticks at round numbers, where the ends do not have theirs.
  const double step = round_down((scale.high - scale.low) / 3.9), room = 22 * size;
  for (double v = std::ceil(scale.low / step - 1e-9) * step; v <= scale.high + 1e-9 * step; v += step) {
    const double y = y1 - (v - scale.low) / (scale.high - scale.low) * (y1 - y0);
    if ((scale.clipped_high && y - y0 < room) || (scale.clipped_low && y1 - y < room)) continue;
    tick(y, short_number(std::abs(v) < 1e-9 * step ? 0 : v, 4));
  }

  const double letters = 13 * size, right = width - 24 * size;
  const auto flush_right = [&](const std::string& text, double y, double high, const Colour& colour) {
    draw_text(image, text, right - text_width(text, high), y, high, colour);
  };
  flush_right(label, y0 - 66 * size, letters, ink);
  flush_right("max " + short_number(scale.greatest, 6), y0 - 46 * size, 11 * size, soft_ink);
  flush_right(place, y0 - 28 * size, 11 * size, soft_ink);
  flush_right("min " + short_number(scale.least, 6), y1 + 44 * size, 11 * size, soft_ink);
}

}  // namespace voussoir::picture
