#pragma once
#include <voussoir/elements/kernel/traced.hpp>
#include <voussoir/elements/kernel_concepts.hpp>
#include <voussoir/elements/law_check.hpp>
#include <voussoir/elements/point/law.hpp>

#include <cstddef>
#include <vector>

// What the tangent of a law depends on, found by running the law once with numbers that record where they come from.
// Nothing is sampled: a law that branches does so by select_less(), min() and max(), which record both sides.

namespace voussoir {

namespace detail {

/// Whether a law declares that it is not to be examined.
template <class Law>
constexpr bool declares_unexamined() {
  if constexpr (requires { bool(Law::examine); })
    return !Law::examine;
  else
    return false;
}

/// Whether a law can be run with traced numbers: laws that branch by `if` take nothing but double.
template <class Law>
inline constexpr bool traceable_law =
    !declares_unexamined<Law>() && !kernel_scalar<Law>() && checks::Differentiable<Law, Dual<Traced>> &&
    (checks::HasFlux<Law, Traced> || checks::HasValueFlux<Law, Traced> || checks::HasEnergy<Law, Traced>);

/// What the change of flux and source with gradient and value depends on.
template <class Law, int parameter_count>
unsigned tangent_origin() {
  using Response = LawResponse<Law, parameter_count>;
  constexpr int rows = kernel_rows<Law>(), components = Law::components, constant_count = kernel_constants<Law>(),
                history_count = history_numbers_of<Law>();
  const Traced some = Traced::of(Origin::none);
  // Wide margins on either side: a law that reads numbers that are not its own is reported by law_check.hpp.
  constexpr std::size_t margin = LawRun::guards;
  const std::vector<Traced> parameters(2 * margin + parameter_count, some),
      constants(2 * margin + constant_count, some), history(2 * margin + history_count, Traced::of(Origin::history));
  bool time_was_read = false;
  Point<Traced> p;
  for (int k = 0; k < 3; ++k) p.x[k] = Traced::of(Origin::position);
  p.parameters = parameters.data() + margin;
  p.constants = constants.data() + margin;
  p.temperature = p.temperature_change = Traced::of(Origin::temperature);
  p.history = history.data() + margin;
  p.time = p.time_step = TracedTime{&time_was_read};
  Vec<Traced, components> value, value_change;
  Mat<Traced, rows, 3> gradient, gradient_change;
  for (int i = 0; i < components; ++i) {
    value[i] = Traced::of(Origin::value);
    value_change[i] = some;
  }
  for (int i = 0; i < rows; ++i)
    for (int k = 0; k < 3; ++k) {
      gradient(i, k) = Traced::of(Origin::gradient);
      gradient_change(i, k) = some;
    }
  const auto change = Response::change(p, value, gradient, value_change, gradient_change);
  unsigned from = time_was_read ? Origin::time : Origin::none;
  for (int i = 0; i < rows; ++i)
    for (int k = 0; k < 3; ++k) from |= change.flux(i, k).from;
  for (int i = 0; i < components; ++i) from |= change.source[i].from;
  return from;
}

/// The operations that a law's energy takes, where flux and tangent are derived from it; 0 for all other laws, and for
/// those that branch by `if`, which may take another number of them each time.
template <class Law>
int energy_operations() {
  if constexpr (law_has_flux<Law> || law_has_value_flux<Law> || kernel_scalar<Law>() ||
                !checks::HasEnergy<Law, Counted>) {
    return 0;
  } else {
    using Response = LawResponse<Law, 0>;
    constexpr std::size_t margin = LawRun::guards;
    const std::vector<Counted> numbers(2 * margin + 1, Counted(1.0));
    Point<Counted> p;
    for (int k = 0; k < 3; ++k) p.x[k] = Counted(1.0);
    p.parameters = p.constants = p.history = numbers.data() + margin;
    p.temperature = p.temperature_change = Counted(1.0);
    typename Response::template Value<Counted> value;
    typename Response::template Gradient<Counted> gradient;
    for (int i = 0; i < Response::components; ++i) value[i] = Counted(1.0);
    for (int i = 0; i < Response::rows; ++i)
      for (int k = 0; k < 3; ++k) gradient(i, k) = Counted(1.0);
    const int before = Counted::operations;
    Response::energy(p, value, gradient);
    return Counted::operations - before;
  }
}

}  // namespace detail

}  // namespace voussoir
