#include <voussoir/framework/io/picture/response_plots.hpp>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/response/harmonic_sweep.hpp>

namespace voussoir {
namespace {

void check_point_count(const std::string& name, std::size_t length, std::size_t expected) {
  if (length != expected)
    throw Error(ErrorCode::misuse,
                "'" + name + "' has " + std::to_string(length) + " values for " + std::to_string(expected) + " points",
                "plot");
}

}  // namespace

LinePlot history_plot(const std::string& title, std::span<const double> times, const NamedHistories& histories,
                      const std::string& label) {
  LinePlot plot(title, "time");
  LinePlot::Panel& panel = plot.panel(label);
  for (const auto& [name, values] : histories) {
    check_point_count(name, values.size(), times.size());
    LinePlot::Points points;
    for (std::size_t i = 0; i < values.size(); ++i) points.emplace_back(times[i], values[i]);
    panel.curve(name, std::move(points));
  }
  return plot;
}

LinePlot sweep_plot(const std::string& title, std::span<const double> frequencies, const NamedSweeps& sweeps,
                    const std::string& label) {
  LinePlot plot(title, "frequency");
  for (const bool phase : {false, true}) {
    LinePlot::Panel& panel = plot.panel(phase ? "phase [°]" : label);
    for (const auto& [name, values] : sweeps) {
      check_point_count(name, values.size(), frequencies.size());
      LinePlot::Points points;
      for (std::size_t i = 0; i < values.size(); ++i)
        points.emplace_back(frequencies[i], phase ? phase_degrees(values[i]) : std::abs(values[i]));
      panel.curve(name, std::move(points));
    }
  }
  return plot;
}

LinePlot spectrum_plot(const std::string& title,
                       std::span<const std::pair<std::string, std::vector<OscillatorPeaks>>> spectra,
                       const std::string& label) {
  LinePlot plot(title, "period");
  LinePlot::Panel& panel = plot.panel(label);
  for (const auto& [name, peaks] : spectra) {
    LinePlot::Points points;
    for (const OscillatorPeaks& p : peaks) points.emplace_back(p.period, p.pseudo_acceleration);
    panel.curve(name, std::move(points));
  }
  return plot;
}

}  // namespace voussoir
