#include <voussoir/apps/terminal/progress_line.hpp>

#include <fmt/core.h>

#include <cmath>

#include <voussoir/apps/terminal/terminal.hpp>
#include <voussoir/framework/io/safe_text.hpp>

namespace voussoir::app {

void Countdown::add(double seconds, int iteration, double residual) {
  if (iteration < last_iteration_) samples_.clear();  // another solve has begun
  last_iteration_ = iteration;
  if (residual > 0 && std::isfinite(residual)) samples_.push_back({seconds, std::log(residual)});
}

double Countdown::left() const {
  if (samples_.size() < 4) return -1;
  double t = 0, y = 0, tt = 0, ty = 0;
  const std::size_t first = samples_.size() / 2;
  const double n = static_cast<double>(samples_.size() - first);
  const double origin = samples_[first].seconds;
  for (std::size_t i = first; i < samples_.size(); ++i) {
    const double s = samples_[i].seconds - origin;
    t += s;
    y += samples_[i].log_residual;
    tt += s * s;
    ty += s * samples_[i].log_residual;
  }
  const double slope = (n * ty - t * y) / (n * tt - t * t);
  if (!(slope < 0)) return -1;
  const double seconds = (std::log(tolerance_) - samples_.back().log_residual) / slope;
  return seconds > 0 ? seconds : 0;
}

std::string progress_text(const Activity& activity, double seconds, int width) {
  std::string text = activity.file;
  if (activity.steps > 0) text += fmt::format("  step {}/{}", activity.step, activity.steps);
  text += "  " + activity.stage;
  if (activity.fraction >= 0) text += fmt::format("  {:.0f} %", 100 * activity.fraction);
  if (activity.iteration > 0)
    text += fmt::format("  iteration {}  residual {:.1e}", activity.iteration, activity.residual);
  if (activity.left >= 0)
    text += "  about " + readable_seconds(activity.left) + " left";
  else if (seconds >= 1)
    text += "  " + readable_seconds(std::floor(seconds));
  // A line that wraps cannot be drawn over.
  const std::size_t most = width > 1 ? static_cast<std::size_t>(width) - 1 : 1;
  text = printable_text(text);
  if (text.size() <= most) return text;
  std::size_t end = most;  // not inside a letter of several bytes
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

}  // namespace voussoir::app
