#pragma once
#include <voussoir/elements/kernel/element_kernel.hpp>
#include <voussoir/elements/kernel/kernel_traits.hpp>
#include <voussoir/elements/kernel/point_kernel.hpp>
#include <voussoir/elements/point/law.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>

// Concepts that check a kernel before it is instantiated, so that a mistake gives one readable error line instead of a
// page of template errors. The interfaces are documented in kernel/element_kernel.hpp and kernel/point_kernel.hpp.

namespace voussoir {

/// The number type of a kernel on the CPU: double for kernels that declare `scalar`, else Pack.
template <class K>
using NumberOf = std::conditional_t<detail::scalar_of<K>(), double, Pack>;

namespace checks {

template <class K>
concept HasSizes = requires {
  { K::nodes } -> std::convertible_to<int>;
  { K::components } -> std::convertible_to<int>;
}
&&(K::nodes > 0) && (K::components > 0);

template <class K>
concept HasComponents = requires {
  { K::components } -> std::convertible_to<int>;
}
&&(K::components > 0);

template <class K>
concept NamesItself = requires {
  { K::name } -> std::convertible_to<const char*>;
};

template <class K>
concept NamesUnknowns = requires {
  { K::unknowns[0] } -> std::convertible_to<const char*>;
}
&&(!std::is_array_v<std::remove_cvref_t<decltype(K::unknowns)>> ||
   // sizeof rather than the type's extent: in a class template the bound is unknown until the member is looked at.
   static_cast<int>(sizeof(K::unknowns) / sizeof(K::unknowns[0])) >= K::components);

template <class K, class R = NumberOf<K>>
using InputOf = ElementInput<R, K::nodes, K::components, detail::parameter_count_of<K>()>;

template <class K, class R = NumberOf<K>>
concept HasTangent = requires(const InputOf<K, R>& e, R* out) {
  { K::tangent(e, out) } -> std::convertible_to<R>;
};
template <class K, class R = NumberOf<K>>
concept HasResidual = requires(const InputOf<K, R>& e, R* out) {
  { K::residual(e, out) } -> std::convertible_to<R>;
};
template <class K, class R = NumberOf<K>>
concept HasAction = requires(const InputOf<K, R>& e, const R* direction, R* out) {
  { K::action(e, direction, out) } -> std::convertible_to<R>;
};
template <class K, class R = NumberOf<K>>
concept HasMass = requires(const InputOf<K, R>& e, R* out) {
  { K::mass(e, out) } -> std::convertible_to<R>;
};
template <class K, class R = NumberOf<K>>
concept HasLumpedMass = requires(const InputOf<K, R>& e, R* out) {
  { K::lumped_mass(e, out) } -> std::convertible_to<R>;
};
template <class K, class R = NumberOf<K>>
concept HasRecover = requires(const InputOf<K, R>& e, R* out) {
  { K::recover(e, out) } -> std::convertible_to<R>;
};
template <class K, class R = NumberOf<K>>
concept HasValid = requires(const InputOf<K, R>& e) {
  { K::valid(e) } -> std::convertible_to<R>;
};

template <class K, class R = NumberOf<K>>
using GradientOf = Mat<R, detail::gradient_rows_of<K>(), 3>;

template <class K, class R = NumberOf<K>>
concept HasFlux = requires(const Point<R>& p, const GradientOf<K, R>& grad) {
  { K::flux(p, grad) } -> std::convertible_to<GradientOf<K, R>>;
};
template <class K, class R = NumberOf<K>>
concept HasDflux = requires(const Point<R>& p, const GradientOf<K, R>& grad) {
  { K::dflux(p, grad, grad) } -> std::convertible_to<GradientOf<K, R>>;
};

template <class K, class R = NumberOf<K>>
concept HasValueFlux = requires(const Point<R>& p, const Vec<R, K::components>& value, const GradientOf<K, R>& grad) {
  { K::flux(p, value, grad) } -> std::convertible_to<GradientOf<K, R>>;
};
template <class K, class R = NumberOf<K>>
concept HasEnergy = requires(const Point<R>& p, const GradientOf<K, R>& grad) {
  { K::energy(p, grad) } -> std::convertible_to<R>;
}
|| requires(const Point<R>& p, const Vec<R, K::components>& value, const GradientOf<K, R>& grad) {
  { K::energy(p, value, grad) } -> std::convertible_to<R>;
};
template <class K, class R = NumberOf<K>>
concept HasAdvance = requires(const Point<R>& p, const GradientOf<K, R>& grad, R* next) {
  K::advance(p, grad, next);
}
|| requires(const Point<R>& p, const Vec<R, K::components>& value, const GradientOf<K, R>& grad, R* next) {
  K::advance(p, value, grad, next);
};
/// Whether the functions that a law does not define can be derived by automatic differentiation.
template <class K, class D = Dual<NumberOf<K>>>
concept Differentiable = (HasFlux<K> && HasDflux<K>) || HasFlux<K, D> || HasValueFlux<K, D> ||
                         (!HasFlux<K> && !HasValueFlux<K> && HasEnergy<K, D>);
template <class K>
concept RemembersRightly = detail::history_numbers_of<K>()
== 0 || HasAdvance<K>;

}  // namespace checks

/// An element kernel, which computes whole elements: see kernel/element_kernel.hpp.
template <class K>
concept ElementKernel = checks::HasSizes<K> && checks::NamesUnknowns<K> &&
    (detail::declares_no_tangent<K>() ? checks::HasResidual<K> : checks::HasTangent<K>);

/// A point kernel, which defines the physics at a point: see kernel/point_kernel.hpp.
template <class K>
concept PointKernel = checks::HasComponents<K> && checks::NamesItself<K> && checks::NamesUnknowns<K> &&
    (checks::HasFlux<K> || checks::HasValueFlux<K> ||
     checks::HasEnergy<K>)&&checks::Differentiable<K>&& checks::RemembersRightly<K>;

/// Stops compilation with one line that names what an element kernel lacks.
template <class K>
constexpr void explain_element_kernel() {
  if constexpr (!checks::HasSizes<K>)
    static_assert(checks::HasSizes<K>, "the element kernel has no static constexpr int nodes and components");
  else if constexpr (!checks::NamesUnknowns<K>)
    static_assert(checks::NamesUnknowns<K>,
                  "the element kernel has no unknowns[] with one name for each of its components");
  else if constexpr (detail::declares_no_tangent<K>())
    static_assert(checks::HasResidual<K>,
                  "the element kernel declares no tangent, so it needs residual(e, r): a static function that takes "
                  "const ElementInput<R, nodes, components, parameter_count>& and R*, and returns R");
  else
    static_assert(checks::HasTangent<K>,
                  "the element kernel has no tangent(e, upper): a static function that takes const ElementInput<R, "
                  "nodes, components, parameter_count>& and R*, and returns R");
}

/// Stops compilation with one line that names what a point kernel lacks.
template <class K>
constexpr void explain_point_kernel() {
  if constexpr (!checks::HasComponents<K>)
    static_assert(checks::HasComponents<K>, "the point kernel has no static constexpr int components");
  else if constexpr (!checks::NamesItself<K>)
    static_assert(checks::NamesItself<K>, "the point kernel has no static constexpr const char* name");
  else if constexpr (!checks::NamesUnknowns<K>)
    static_assert(checks::NamesUnknowns<K>,
                  "the point kernel has no unknowns[] with one name for each of its components");
  else if constexpr (!checks::HasFlux<K> && !checks::HasValueFlux<K> && !checks::HasEnergy<K>)
    static_assert(checks::HasFlux<K>,
                  "the point kernel has no flux(p, grad), flux(p, value, grad) or energy(p, grad): a static function "
                  "that takes const Point<R>&, where it wants a Vec<R, components>, and a Mat<R, gradient_rows, 3>; "
                  "flux returns a Mat<R, gradient_rows, 3>, energy an R");
  else if constexpr (!checks::Differentiable<K>)
    static_assert(checks::Differentiable<K>,
                  "the point kernel has no dflux(p, grad, dgrad), so flux or energy is differentiated by dual numbers: "
                  "it must be a template over its number type R, with R taken from const Point<R>&");
  else
    static_assert(checks::RemembersRightly<K>,
                  "the point kernel names numbers in history[], but has no advance(p, grad, next) or "
                  "advance(p, value, grad, next) that writes them at the end of a step");
}

}  // namespace voussoir
