#pragma once
#include <string>
#include <vector>

namespace voussoir::app {

/// Guesses how long an iteration will still take from how fast its residual falls: a line through the logarithm of the
/// residuals of the second half of what was seen, since the first iterations say little about the last.
class Countdown {
 public:
  explicit Countdown(double tolerance) : tolerance_(tolerance) {}
  void add(double seconds, int iteration, double residual);
  /// Seconds left; negative where nothing can be said yet.
  double left() const;

 private:
  struct Sample {
    double seconds;
    double log_residual;
  };
  double tolerance_;
  int last_iteration_ = -1;
  std::vector<Sample> samples_;
};

/// What is going on, as one line.
struct Activity {
  std::string file;
  std::string stage;
  std::size_t step = 0, steps = 0;  ///< step from 1; 0: not in a step
  double fraction = -1;             ///< done, where it is known
  int iteration = 0;
  double residual = 0;
  double left = -1;  ///< seconds, where it can be guessed
};

/// "beam.inp  step 2/3  solve  iteration 120  residual 3.1e-05  about 4.0 s left", cut to a width.
std::string progress_text(const Activity& activity, double seconds, int width);

}  // namespace voussoir::app
