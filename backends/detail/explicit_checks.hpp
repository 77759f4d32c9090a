#pragma once
#include <voussoir/backends/explicit_services.hpp>

namespace voussoir::detail {

/// Throws Error (misuse) for a system that has no model, too many loads, or factors or vectors that do not fit the
/// model.
void require_explicit_system(const ExplicitSystem& system);
/// Throws Error (misuse) for steps that do not fit the system: vectors that are missing or do not fit, times that do
/// not ascend, a wrong number of factors, numbers that are not finite.
void require_explicit_steps(const ExplicitSystem& system, const ExplicitMotion& motion, const ExplicitRows& rows);

}  // namespace voussoir::detail
