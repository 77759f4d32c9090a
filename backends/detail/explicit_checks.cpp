#include <voussoir/backends/detail/explicit_checks.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/backends/detail/checks.hpp>

namespace voussoir::detail {

namespace {

constexpr const char* explicit_steps = "explicit steps";

[[noreturn]] void refuse_steps(const std::string& text) {
  throw Error(ErrorCode::misuse, std::string(explicit_steps) + ": " + text);
}

}  // namespace

void require_explicit_system(const ExplicitSystem& system) {
  if (!system.model) refuse_steps("there is no model");
  const Layout& layout = *system.model->layout();
  if (!system.batch_factors.empty() &&
      system.batch_factors.size() != static_cast<std::size_t>(system.model->batch_count()))
    refuse_steps("the model has " + std::to_string(system.model->batch_count()) + " batches; " +
                 std::to_string(system.batch_factors.size()) + " factors were given");
  if (system.loads.size() > ExplicitServices::most_loads)
    refuse_steps(std::to_string(system.loads.size()) + " vectors of loads, of which " +
                 std::to_string(ExplicitServices::most_loads) + " are possible; add up those with the same course");
  for (const Vector* load : system.loads) {
    if (!load) refuse_steps("a vector of loads is missing");
    require_one_column(layout, *load, explicit_steps);
  }
  if (system.damping) require_one_column(layout, *system.damping, explicit_steps);
}

void require_explicit_steps(const ExplicitSystem& system, const ExplicitMotion& motion, const ExplicitRows& rows) {
  const Layout& layout = *system.model->layout();
  for (const Vector* x : {static_cast<const Vector*>(motion.unknowns), static_cast<const Vector*>(motion.velocity),
                          static_cast<const Vector*>(motion.before), static_cast<const Vector*>(motion.internal),
                          static_cast<const Vector*>(motion.external), motion.gain,
                          static_cast<const Vector*>(motion.works[0]), static_cast<const Vector*>(motion.works[1])}) {
    if (!x) refuse_steps("a vector of the motion is missing");
    require_one_column(layout, *x, explicit_steps);
  }
  if (motion.keep) require_one_column(layout, *motion.keep, explicit_steps);
  if (system.damping && !motion.works[2]) refuse_steps("a vector for the work of damping is missing");
  if (motion.works[2]) require_one_column(layout, *motion.works[2], explicit_steps);
  require_state(*system.model, motion.elements, explicit_steps);
  if (!(motion.step > 0) || !std::isfinite(motion.step)) refuse_steps("the size of a step must be greater than 0");
  if (rows.times.empty()) refuse_steps("at least one step must be taken");
  if (rows.factors.size() != rows.times.size() * system.loads.size())
    refuse_steps(std::to_string(rows.times.size()) + " steps with " + std::to_string(system.loads.size()) +
                 " loads need " + std::to_string(rows.times.size() * system.loads.size()) + " factors; " +
                 std::to_string(rows.factors.size()) + " were given");
  for (std::size_t k = 0; k < rows.times.size(); ++k)
    if (!std::isfinite(rows.times[k]) || (k > 0 && !(rows.times[k] > rows.times[k - 1])))
      refuse_steps("times must be finite and ascend");
  if (!std::all_of(rows.factors.begin(), rows.factors.end(), [](double f) { return std::isfinite(f); }))
    refuse_steps("factors of loads must be finite");
}

}  // namespace voussoir::detail
