#pragma once
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <voussoir/framework/io/picture/line_plot.hpp>
#include <voussoir/framework/response/named_curves.hpp>
#include <voussoir/framework/response/response_spectrum.hpp>

// Plots of histories, sweeps and spectra. Curves whose lengths differ from their axis are Errors (misuse).

namespace voussoir {

/// Histories over time in one panel; `label` is that of their axis. The peak of each curve is one of its points, so
/// plots should have at least ten times per period.
LinePlot history_plot(const std::string& title, std::span<const double> times, const NamedHistories& histories,
                      const std::string& label);
/// Amplitudes over frequency, and their phases in degrees in a panel below.
LinePlot sweep_plot(const std::string& title, std::span<const double> frequencies, const NamedSweeps& sweeps,
                    const std::string& label);
/// Pseudo-accelerations over the period in one panel, a curve for each spectrum, such as those of several floors.
LinePlot spectrum_plot(const std::string& title,
                       std::span<const std::pair<std::string, std::vector<OscillatorPeaks>>> spectra,
                       const std::string& label);

}  // namespace voussoir
