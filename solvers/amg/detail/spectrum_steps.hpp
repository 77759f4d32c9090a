#pragma once
#include <voussoir/backends/lanczos_matrix.hpp>

namespace voussoir::detail {

/// CG steps from noise that estimate the largest eigenvalue, and how far the truth may lie above.
inline constexpr int spectrum_steps = 10;
inline constexpr double spectrum_margin = 1.1;

/// The scalars of CG with r as the residual and z = M r, for an estimate of the largest eigenvalue of M A from its
/// coefficients. Both sums of a step are taken together (Chronopoulos and Gear 1989): waiting for a device is what
/// takes time on small levels.
class SpectrumSteps {
 public:
  /// Takes r·z and z·Az. False where nothing is left, or only rounding, or A is not positive. Otherwise a p = A z +
  /// beta a p and r = r − alpha a p are the next vectors.
  bool add(double r_z, double z_a_z) {
    beta_ = lanczos_.diagonal.empty() ? 0 : r_z / rho_;
    if (lanczos_.diagonal.empty()) start_ = r_z;
    const double p_a_p = z_a_z - (lanczos_.diagonal.empty() ? 0 : beta_ * r_z / alpha_);
    if (!(r_z > 1e-12 * start_) || !(p_a_p > 0)) return false;
    const double previous = alpha_;
    rho_ = r_z;
    alpha_ = rho_ / p_a_p;
    lanczos_.add(alpha_, previous, beta_);
    return true;
  }
  double alpha() const { return alpha_; }
  double beta() const { return beta_; }
  /// The estimate after so many steps.
  double after(std::size_t steps) const { return lanczos_.eigenvalue(steps - 1); }
  /// The estimate after all steps, with a margin; 1 where there were none.
  double largest() const { return lanczos_.diagonal.empty() ? 1 : spectrum_margin * after(lanczos_.diagonal.size()); }

 private:
  double rho_ = 0, start_ = 0, alpha_ = 0, beta_ = 0;
  LanczosMatrix lanczos_;
};

}  // namespace voussoir::detail
