#include <voussoir/solvers/cost/pyramid_plot.hpp>

#include <voussoir/framework/io/picture/line_plot.hpp>

namespace voussoir {

std::string pyramid_plot(const CostModel& model, const PyramidJob& job, int largest,
                         const std::vector<std::pair<int, double>>& measured) {
  const auto choice = model.choose_height(job, largest);
  if (!choice)
    throw Error(ErrorCode::unavailable,
                "there is no prediction of pyramids: the profile lacks an operation, or no slab fits the budget");
  LinePlot::Points predicted, dots;
  for (int h = 1; h <= largest; ++h)
    if (const auto best = model.choose_slab(job, h)) predicted.emplace_back(h, 1e3 * best->seconds);
  for (const auto& [h, seconds] : measured) dots.emplace_back(h, 1e3 * seconds);
  LinePlot plot("Pyramids: " + std::to_string(job.nx) + " × " + std::to_string(job.ny) + " × " +
                    std::to_string(job.nz) + " points, " + std::to_string(static_cast<int>(job.budget * 1e-6)) +
                    " MB on the device",
                "height h: iterations per pass");
  LinePlot::Panel& panel = plot.panel("time of an iteration [ms]");
  panel.curve("model", predicted);
  if (!dots.empty()) panel.dots("measured", dots);
  plot.mark(choice->height, "chosen: h = " + std::to_string(choice->height));
  return plot.svg();
}

}  // namespace voussoir
