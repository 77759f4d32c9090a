#include <voussoir/framework/io/job/modal_steps.hpp>

#include <algorithm>

namespace voussoir {

ModalDamping StepDamping::of(int modes) const {
  std::vector<double> ratio_of(static_cast<std::size_t>(std::max(modes, 0)), all);
  for (const Ratio& range : ratios)
    for (int m = std::max(range.first, 1); m <= std::min(range.last, modes); ++m)
      ratio_of[static_cast<std::size_t>(m - 1)] = range.ratio;
  ModalDamping damping = ModalDamping::rayleigh(alpha, beta);
  if (!ratio_of.empty()) damping += ModalDamping::ratios(std::move(ratio_of));
  return damping;
}

}  // namespace voussoir
