#include <voussoir/framework/io/picture/line_plot.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/io/detail/xml_text.hpp>

namespace voussoir {
namespace {

constexpr double width = 760, left = 96, right = 170, top = 56, panel_height = 230, gap = 34, bottom = 58;
/// Colours that the colour-blind tell apart (Okabe and Ito).
constexpr const char* colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"};

std::string place(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

/// An axis with ticks at 1, 2 or 5 times a power of ten.
struct Axis {
  double low = 0, high = 1, step = 0.2;
  static Axis over(double low, double high, bool exact) {
    Axis axis;
    if (!(high > low)) {
      const double half = low == 0 ? 1 : 0.1 * std::abs(low);
      low -= half;
      high += half;
    }
    const double rough = (high - low) / 4.5, power = std::pow(10, std::floor(std::log10(rough)));
    axis.step = power * (rough > 5 * power ? 10 : rough > 2 * power ? 5 : rough > power ? 2 : 1);
    axis.low = exact ? low : axis.step * std::floor(low / axis.step + 1e-9);
    axis.high = exact ? high : axis.step * std::ceil(high / axis.step - 1e-9);
    return axis;
  }
  std::vector<double> ticks() const {
    std::vector<double> list;
    for (double i = std::ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; ++i) list.push_back(i * step);
    return list;
  }
};

std::string text_at(double x, double y, const std::string& text, const char* more) {
  return "<text x=\"" + place(x) + "\" y=\"" + place(y) + "\" " + more + ">" + detail::xml_escaped(text) + "</text>\n";
}
std::string line(double x0, double y0, double x1, double y1, const char* more) {
  return "<line x1=\"" + place(x0) + "\" y1=\"" + place(y0) + "\" x2=\"" + place(x1) + "\" y2=\"" + place(y1) + "\" " +
         more + "/>\n";
}

/// The lines of a curve; a value that is not finite leaves a gap.
template <class AtX, class AtY>
std::string lines_of(const LinePlot::Points& all, const char* colour, AtX&& at_x, AtY&& at_y) {
  std::string svg, points;
  const auto flush = [&] {
    if (!points.empty())
      svg += "<polyline points=\"" + points + "\" fill=\"none\" stroke=\"" + colour + "\" stroke-width=\"1.8\"/>\n";
    points.clear();
  };
  for (const auto& [x, v] : all)
    if (std::isfinite(v))
      points += (points.empty() ? "" : " ") + place(at_x(x)) + "," + place(at_y(v));
    else
      flush();
  flush();
  return svg;
}

template <class AtX, class AtY>
std::string dots_of(const LinePlot::Points& all, const char* colour, AtX&& at_x, AtY&& at_y) {
  std::string svg;
  for (const auto& [x, v] : all)
    if (std::isfinite(v))
      svg +=
          "<circle cx=\"" + place(at_x(x)) + "\" cy=\"" + place(at_y(v)) + "\" r=\"3.5\" fill=\"" + colour + "\"/>\n";
  return svg;
}

}  // namespace

LinePlot::Panel& LinePlot::Panel::curve(const std::string& name, Points points) {
  return add(name, std::move(points), false);
}

LinePlot::Panel& LinePlot::Panel::dots(const std::string& name, Points points) {
  return add(name, std::move(points), true);
}

LinePlot::Panel& LinePlot::Panel::add(const std::string& name, Points points, bool dots) {
  const auto known = std::find(curves_.begin(), curves_.end(), name);
  const std::size_t index = static_cast<std::size_t>(known - curves_.begin());
  if (known == curves_.end()) curves_.push_back(name);
  pieces_.push_back({index, std::move(points), dots});
  return *this;
}

LinePlot::Panel& LinePlot::panel(const std::string& label) { return panels_.emplace_back(label); }

LinePlot& LinePlot::mark(double x, const std::string& text) {
  marks_.emplace_back(x, text);
  return *this;
}

std::string LinePlot::svg() const {
  constexpr double far = std::numeric_limits<double>::infinity();
  double x_low = far, x_high = -far;
  for (const Panel& panel : panels_)
    for (const auto& piece : panel.pieces_)
      for (const auto& [x, y] : piece.points)
        if (std::isfinite(x)) x_low = std::min(x_low, x), x_high = std::max(x_high, x);
  if (!(x_low <= x_high)) x_low = 0, x_high = 1;
  const Axis across = Axis::over(x_low, x_high, true);
  const double x0 = left, x1 = width - right;
  const auto at_x = [&](double x) { return x0 + (x - across.low) / (across.high - across.low) * (x1 - x0); };
  const double height = top + static_cast<double>(panels_.size()) * (panel_height + gap) - gap + bottom;

  std::string svg = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" +
                    place(width) + "\" height=\"" + place(height) + "\" viewBox=\"0 0 " + place(width) + " " +
                    place(height) + "\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\">\n" +
                    "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  svg += text_at(x0, 30, title_, "font-size=\"17\" fill=\"#20242c\"");
  double y = top;
  for (const Panel& panel : panels_) {
    double low = far, high = -far;
    for (const auto& piece : panel.pieces_)
      for (const auto& point : piece.points)
        if (std::isfinite(point.second)) low = std::min(low, point.second), high = std::max(high, point.second);
    if (!(low <= high)) low = 0, high = 1;
    const Axis up = Axis::over(low, high, false);
    const double y0 = y + panel_height, y1 = y;
    const auto at_y = [&](double v) { return y0 - (v - up.low) / (up.high - up.low) * (y0 - y1); };
    for (const double v : up.ticks()) {
      svg += line(x0, at_y(v), x1, at_y(v), "stroke=\"#d8dbe0\"");
      svg += text_at(x0 - 8, at_y(v) + 4, short_number(std::abs(v) < 1e-9 * up.step ? 0 : v, 4),
                     "text-anchor=\"end\" fill=\"#20242c\"");
    }
    for (const double v : across.ticks()) svg += line(at_x(v), y0, at_x(v), y0 + 5, "stroke=\"#666c78\"");
    for (const auto& [x, text] : marks_)
      svg += line(at_x(x), y1, at_x(x), y0, "stroke=\"#666c78\" stroke-dasharray=\"4 3\"");
    svg += "<rect x=\"" + place(x0) + "\" y=\"" + place(y1) + "\" width=\"" + place(x1 - x0) + "\" height=\"" +
           place(y0 - y1) + "\" fill=\"none\" stroke=\"#666c78\"/>\n";
    const std::string turned =
        "text-anchor=\"middle\" fill=\"#20242c\" transform=\"rotate(-90 22 " + place((y0 + y1) / 2) + ")\"";
    svg += text_at(22, (y0 + y1) / 2, panel.label_, turned.c_str());
    for (const auto& piece : panel.pieces_) {
      const char* colour = colours[piece.curve % std::size(colours)];
      svg += piece.dots ? dots_of(piece.points, colour, at_x, at_y) : lines_of(piece.points, colour, at_x, at_y);
    }
    for (std::size_t c = 0; c < panel.curves_.size(); ++c) {
      const double row = y1 + 14 + 18 * static_cast<double>(c);
      const std::string stroke = std::string("stroke=\"") + colours[c % std::size(colours)] + "\" stroke-width=\"2.5\"";
      svg += line(x1 + 14, row - 4, x1 + 38, row - 4, stroke.c_str());
      svg += text_at(x1 + 46, row, panel.curves_[c], "fill=\"#20242c\"");
    }
    y += panel_height + gap;
  }
  const double foot = y - gap;
  for (const double v : across.ticks())
    svg += text_at(at_x(v), foot + 20, short_number(std::abs(v) < 1e-9 * across.step ? 0 : v, 4),
                   "text-anchor=\"middle\" fill=\"#20242c\"");
  for (const auto& [x, text] : marks_)
    svg += text_at(at_x(x), top - 6, text, "text-anchor=\"middle\" fill=\"#666c78\" font-size=\"11\"");
  svg += text_at((x0 + x1) / 2, foot + 44, axis_, "text-anchor=\"middle\" fill=\"#20242c\"");
  return svg + "</svg>\n";
}

}  // namespace voussoir
