#pragma once
#include <voussoir/elements/kernel/traced.hpp>
#include <voussoir/elements/kernel_concepts.hpp>
#include <voussoir/elements/law_check.hpp>
#include <voussoir/elements/point/law.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

// What the tangent of a law depends on, found by running the law once with numbers that record where they come from.
// Nothing is sampled: a law that branches does so by select_less(), min() and max(), which record what they compare and
// both sides.

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
    !declares_unexamined<Law>() && !kernel_scalar<Law>() &&
    (checks::HasFlux<Law, Dual<Traced>> || checks::HasValueFlux<Law, Dual<Traced>> ||
     (!checks::HasFlux<Law> && !checks::HasValueFlux<Law> && checks::HasEnergy<Law, Dual<Traced>>));

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
  Traced::decided = Origin::none;
  unsigned from = Origin::none;
  const auto add = [&](const typename Response::template Answer<Traced>& change) {
    for (int i = 0; i < rows; ++i)
      for (int k = 0; k < 3; ++k) from |= change.flux(i, k).from;
    for (int i = 0; i < components; ++i) from |= change.source[i].from;
  };
  add(Response::change(p, value, gradient, value_change, gradient_change));
  // A law that writes its own tangent may write another one than that of its flux.
  add(Response::differentiated(p, value, gradient, value_change, gradient_change));
  return from | Traced::decided | (time_was_read ? Origin::time : Origin::none);
}

/// Whether the law of ordinary numbers is what a constant, symmetric tensor describes, at some points with some
/// parameters: a law that writes another tangent than that of its flux, or declares a symmetry that it lacks, is not.
template <class Law, int parameter_count>
bool agrees_with_a_tensor() {
  using R = NumberOf<Law>;
  using Response = LawResponse<Law, parameter_count>;
  constexpr int rows = kernel_rows<Law>(), components = Law::components, constant_count = kernel_constants<Law>();
  using Gradient = Mat<R, rows, 3>;
  constexpr std::size_t margin = LawRun::guards;
  std::uint64_t state = 1;
  const auto random = [&state] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state >> 11) / 9007199254740992.0;
  };
  const auto some_gradient = [&] {
    Gradient g = zero_matrix<R, rows, 3>();
    for (int i = 0; i < components; ++i)
      for (int k = 0; k < 3; ++k) g(i, k) = R(random() - 0.5);
    return g;
  };
  // All lanes are alike.
  const auto number = [](const R& x) {
    double first;
    std::memcpy(&first, &x, sizeof first);
    return first;
  };
  const auto still = zero_vector<R, components>();
  int judged = 0;
  for (int trial = 0; trial < 8; ++trial) {
    std::vector<R> parameters(2 * margin + parameter_count), constants(2 * margin + constant_count, R(0.0));
    for (R& parameter : parameters) parameter = R(0.2 + 0.25 * random());
    Point<R> p;
    for (int k = 0; k < 3; ++k) p.x[k] = R(0.5 + random());
    p.parameters = parameters.data() + margin;
    p.constants = constants.data() + margin;
    p.temperature = R(300 + random());
    p.temperature_change = R(10 + random());
    if constexpr (constant_count > 0) Law::prepare(p.parameters, constants.data() + margin);
    const Gradient g = some_gradient(), a = some_gradient(), b = some_gradient();
    Gradient ahead = g, turned = a;
    for (int i = 0; i < rows; ++i)
      for (int k = 0; k < 3; ++k) ahead(i, k) += a(i, k);
    if constexpr (kernel_symmetric<Law>())
      for (int i = 0; i < components; ++i)
        for (int k = 0; k < components; ++k) turned(i, k) = a(k, i);
    const auto along = [&](const Gradient& h) { return Response::change(p, still, g, still, h).flux; };
    const Gradient by_a = along(a), by_b = along(b), by_turned = along(turned);
    const Gradient before = Response::answer(p, still, g).flux, after = Response::answer(p, still, ahead).flux;
    double size = 0, difference = 0, asymmetry = 0;
    for (int i = 0; i < rows; ++i)
      for (int k = 0; k < 3; ++k) {
        const double change = number(by_a(i, k)), from = number(before(i, k)), to = number(after(i, k));
        size += std::abs(change) + std::abs(number(by_b(i, k))) + std::abs(from) + std::abs(to);
        difference += std::abs(to - from - change) + std::abs(change - number(by_turned(i, k)));
        asymmetry += number(b(i, k)) * change - number(a(i, k)) * number(by_b(i, k));
      }
    if (!std::isfinite(size) || !std::isfinite(difference)) continue;
    ++judged;
    if (difference + std::abs(asymmetry) > 1e-9 * size) return false;
  }
  return judged > 0;
}

/// Whether a law completed as `Completed` (point/uniform_law.hpp) is what that says.
template <class Completed, int parameter_count>
bool is_as_completed() {
  using Law = typename Completed::GivenLaw;
  // A law that reads numbers that are not its own is reported by whoever uses it, and better not run here.
  if (!law_defect<Law, parameter_count>().empty()) return false;
  if (!Completed::found(tangent_origin<Law, parameter_count>())) return false;
  if constexpr (kernel_has_pair_block<Completed>)
    return agrees_with_a_tensor<Law, parameter_count>();
  else
    return true;
}

/// law_defect() of a completed law: of the law as it was written, and whether it still is what was found when it was
/// registered.
template <class Completed, int parameter_count>
const std::string& completed_law_defect() {
  static const std::string text = [] {
    const std::string& given = law_defect<typename Completed::GivenLaw, parameter_count>();
    if (!given.empty() || is_as_completed<Completed, parameter_count>()) return given;
    return "the tangent of law '" + std::string(Completed::name) +
           "' was constant when the law was registered and is not now: it reads variables that are not parameters. " +
           "Declare static constexpr bool examine = false";
  }();
  return text;
}

/// The operations that a law's energy takes, where flux and tangent are derived from it; 0 for all other laws, for
/// those that may take another number of them each time (by `if`, or by the time), and for those that compare: the side
/// that is not chosen may have no finite slope.
template <class Law>
int energy_operations() {
  if constexpr (law_has_flux<Law> || law_has_value_flux<Law> || kernel_scalar<Law>() || declares_unexamined<Law>() ||
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
    bool time_was_read = false;
    p.time = p.time_step = TracedTime{&time_was_read};
    const int before = Counted::operations;
    Counted::compared = false;
    Response::energy(p, value, gradient);
    return Counted::compared || time_was_read ? 0 : Counted::operations - before;
  }
}

}  // namespace detail

}  // namespace voussoir
