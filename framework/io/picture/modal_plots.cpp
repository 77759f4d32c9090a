#include <voussoir/framework/io/picture/modal_plots.hpp>

namespace voussoir {

LinePlot effective_mass_plot(const std::string& title, const ModeSet& modes) {
  LinePlot plot(title, "frequency [Hz]");
  LinePlot::Panel& panel = plot.panel("accumulated effective mass [%]");
  for (int d = 0; d < 3; ++d) {
    LinePlot::Points points{{0, 0}};
    double before = 0;
    for (int m = 0; m < modes.count(); ++m) {
      const double after = 100 * modes.accumulated(m, d);
      points.emplace_back(modes.frequency(m), before);
      points.emplace_back(modes.frequency(m), after);
      before = after;
    }
    panel.curve(ModeSet::direction_names()[static_cast<std::size_t>(d)], std::move(points));
  }
  return plot;
}

}  // namespace voussoir
