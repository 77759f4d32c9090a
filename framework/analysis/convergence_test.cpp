#include <voussoir/framework/analysis/convergence_test.hpp>

#include <algorithm>

#include <voussoir/backends/error.hpp>
#include <voussoir/backends/number_text.hpp>

namespace voussoir {

bool ConvergenceTest::converged(const IterationMeasures& m) const {
  if (!force && !displacement && !energy)
    throw Error(ErrorCode::misuse, "a convergence test needs a criterion; set force, displacement or energy");
  if (m.unbalance == 0) return true;
  bool all = true, any = false;
  const auto judge = [&](bool met) {
    all = all && met;
    any = any || met;
  };
  if (force) judge(m.unbalance <= std::max(*force * m.first_unbalance, 1.5 * m.reachable));
  // The other criteria compare increments, of which there is none at first.
  if (displacement) judge(m.iteration > 0 && m.increment <= *displacement * m.total);
  if (energy) judge(m.iteration > 0 && m.energy <= *energy * m.first_energy);
  return rule == Rule::all ? all : any;
}

std::string ConvergenceTest::describe() const {
  std::string text;
  const auto add = [&](const char* name, const std::optional<double>& tolerance) {
    if (!tolerance) return;
    text += (text.empty() ? "" : rule == Rule::all ? ", " : " or ") + (name + short_number(*tolerance, 3));
  };
  add("force ", force);
  add("displacement ", displacement);
  add("energy ", energy);
  return text;
}

}  // namespace voussoir
