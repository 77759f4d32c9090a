#include <voussoir/backends/stencil_services.hpp>

#include <cmath>
#include <limits>
#include <string>

#include <voussoir/backends/error.hpp>

namespace voussoir {

void check_problem(const StencilProblem& problem) {
  const char* const axes[3] = {"x", "y", "z"};
  const auto refuse = [](const std::string& text) { throw Error(ErrorCode::bad_input, "stencil problem: " + text); };
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() / 2;
  double sum = 0;
  for (int a = 0; a < 3; ++a) {
    const std::int64_t n = problem.nodes[a];
    if (n < 1) refuse("there are " + std::to_string(n) + " nodes along " + axes[a] + "; at least 1 is needed");
    if (n > most)
      refuse("there are " + std::to_string(n) + " nodes along " + axes[a] + "; the most is " + std::to_string(most));
    const double c = problem.coefficients[a];
    if (!std::isfinite(c) || c < 0)
      refuse("the coefficient along " + std::string(axes[a]) + " is " + std::to_string(c) +
             "; it is conductivity / spacing², which is finite and not negative");
    sum += c;
    const auto& sides = problem.sides[a];
    for (const GridSide side : sides)
      if (side != GridSide::dirichlet && side != GridSide::neumann && side != GridSide::periodic)
        refuse("a side of " + std::string(axes[a]) + " is none of Dirichlet, Neumann, periodic");
    if ((sides[0] == GridSide::periodic) != (sides[1] == GridSide::periodic))
      refuse("one side of " + std::string(axes[a]) + " is periodic and the other is not; make both periodic");
  }
  if (problem.nodes[0] > most / problem.nodes[1])
    refuse("a layer has " + std::to_string(problem.nodes[0]) + " x " + std::to_string(problem.nodes[1]) +
           " nodes; the most is " + std::to_string(most) + ": make z the longest axis");
  if (!(sum > 0) || !std::isfinite(2 * sum) || !std::isfinite(1 / (2 * sum)))
    refuse("the coefficients add up to " + std::to_string(sum) + "; at least one must be positive");
}

}  // namespace voussoir
