#pragma once
#include <string>

#include <voussoir/framework/analysis/mode_set.hpp>
#include <voussoir/framework/io/picture/line_plot.hpp>

namespace voussoir {

/// The accumulated effective masses along x, y and z over the frequency, in percent of the total: steps at the modes.
/// How near the curves come to 100 shows whether there are enough modes to represent a motion of the base.
LinePlot effective_mass_plot(const std::string& title, const ModeSet& modes);

}  // namespace voussoir
