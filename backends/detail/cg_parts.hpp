#pragma once
#include <chrono>

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/lanczos_matrix.hpp>

// What conjugate gradients keep on the host, whatever the backend.

namespace voussoir::detail {

/// Calls the user back not too often: every 50 iterations or 0.2 s, whichever comes first.
class Progress {
 public:
  explicit Progress(const CgRequest& request) : request_(request) {}
  /// False where the user wants to stop.
  bool tell(int iteration, double residual) {
    if (!request_.progress) return true;
    const auto now = Clock::now();
    if (iteration > 0 && iteration - told_ < 50 && now - last_ < std::chrono::milliseconds(200)) return true;
    told_ = iteration;
    last_ = now;
    return request_.progress(iteration, residual);
  }

 private:
  using Clock = std::chrono::steady_clock;
  const CgRequest& request_;
  int told_ = 0;
  Clock::time_point last_ = Clock::now();
};

/// Whether CG has not come far enough where it should be looked at.
inline bool is_slow(const CgRequest& request, int iteration, double residual, double first_residual) {
  return request.checkpoint > 0 && iteration == request.checkpoint &&
         residual > request.checkpoint_reduction * first_residual;
}

}  // namespace voussoir::detail
