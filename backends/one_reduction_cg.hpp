#pragma once
#include <voussoir/backends/backend.hpp>

namespace voussoir {

/// Preconditioned conjugate gradients with one reduction per iteration, for one right-hand side; otherwise as
/// Backend::cg(). It is the method of Chen and Carson, Predict-and-recompute conjugate gradient variants (2020),
/// algorithm PR-CG: the scalar product that Backend::cg() waits for in the middle of an iteration is predicted from
/// others, and computed afterwards. The preconditioned residual is updated rather than computed, and is computed
/// again whenever the residual has fallen by a factor of 100.
///
/// A preconditioner that varies between iterations (request.flexible) is an Error (misuse); a backend without
/// GroupedDots an Error (unavailable).
CgOutcome one_reduction_cg(Backend& backend, const Operator& a, const Operator* preconditioner, const Vector& b,
                           Vector& x, const CgRequest& request);

}  // namespace voussoir
