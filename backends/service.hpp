#pragma once
#include <concepts>
#include <string_view>

namespace voussoir {

/// Base class of backend services. A service is a group of functions on one subject: vectors, elements, matrices,
/// Krylov methods, multigrid, or a subject that a plugin adds. A new service is a class that derives from this one and
/// has a service_name; no other class changes:
///
///   class SweepServices : public Service {
///    public:
///     static constexpr std::string_view service_name = "sweeps";
///     virtual void solve(…) = 0;
///   };
///
/// A backend offers an implementation by Backend::provide(), and callers find it by its type:
/// backend.service<SweepServices>().
class Service {
 public:
  virtual ~Service() = default;
};

/// A class that Backend::service() can look up.
template <class T>
concept BackendService = std::derived_from<T, Service> && requires {
  { T::service_name } -> std::convertible_to<std::string_view>;
};

}  // namespace voussoir
