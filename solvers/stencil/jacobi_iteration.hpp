#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/stencil_services.hpp>

namespace voussoir {

/// Bounds of the eigenvalues λ of D⁻¹A for a stencil problem, A its matrix on the nodes that are not kept and D = 2 Σ
/// c_a.
struct StencilSpectrum {
  double least = 1;       ///< the least eigenvalue but zero
  double most = 1;        ///< the largest
  bool singular = false;  ///< whether zero is one: no Dirichlet side, so that u is determined up to a constant
};
/// The bounds in closed form: λ = Σ (2 c_a / D)(1 − cos θ_a), with the angles of the discrete waves that fit the sides.
StencilSpectrum stencil_spectrum(const StencilProblem& problem);

/// Damping factors of Chebyshev's iteration: after `count` iterations, the error is at most 1 / T_count((b + a) / (b −
/// a)) of what it was, for eigenvalues between a and b. They are in Leja's order, in which rounding errors do not grow.
/// Throws Error (bad_input) unless count ≥ 1 and 0 < a ≤ b are finite.
std::vector<double> chebyshev_weights(int count, double a, double b);
/// 1 / T_count((b + a) / (b − a)): what chebyshev_weights() achieves.
double chebyshev_reduction(int count, double a, double b);

/// How Jacobi iterations are damped.
enum class JacobiDamping {
  plain,     ///< ω = 1
  fixed,     ///< ω is given
  chebyshev  ///< factors of Chebyshev's iteration for the bounds of the spectrum, in cycles
};

/// What the height of pyramids is chosen for.
struct PyramidQuestion {
  const Backend* backend = nullptr;  ///< where the iterations run
  StencilProblem problem;            ///< the grid
  bool source = false;               ///< whether there is a source f
  int real_bytes = 8;                ///< bytes of a number
  bool streamed = false;             ///< whether the grid stays in host memory
  std::int64_t iterations = 0;       ///< iterations at most
  StencilOptions limits;             ///< what the user has fixed, the budget included; 0: free
};
/// The choice: a height, and layers per slab and iterations per tile where these are chosen too (0: by the backend).
struct PyramidChoice {
  int height = 0;         ///< iterations per pass
  std::int64_t slab = 0;  ///< layers of a slab, overlaps included
  int tile = 0;           ///< iterations per pass through device memory
};
/// A rule that needs no measurement: of a streamed grid, the largest height of which four fit in a slab that the budget
/// allows, so that a quarter of the work is repeated; in memory, two tiles between exchanges.
PyramidChoice choose_height(const PyramidQuestion& question);

/// The height with the least predicted time where the user has measured the machine (`voussoir bench calibrate`,
/// docs/cost_model.md), else choose_height(). Bits of the result do not depend on it.
PyramidChoice choose_height_by_profile(const PyramidQuestion& question);

/// Where the grid is while it is iterated on.
enum class GridPlacement {
  automatic,  ///< in memory where it fits in the devices' memory (or in the budget), else streamed
  memory,     ///< in the memory of the devices
  streamed    ///< in host memory, slab by slab through the devices
};

/// Options of JacobiIteration.
struct JacobiOptions {
  std::int64_t iterations = 0;  ///< iterations to take; with a tolerance, at most
  /// Stop when the 2-norm of the residual is at most this fraction of the first one; 0: take all iterations.
  double tolerance = 0;
  JacobiDamping damping = JacobiDamping::plain;  ///< how iterations are damped
  double weight = 1;                             ///< ω of JacobiDamping::fixed, between 0 and 2
  int cycle = 0;  ///< factors of a Chebyshev cycle; 0: 32, or all iterations where there are fewer
  /// Iterations between two looks at the residual, where there is a tolerance; 0: a cycle, or 32. Each look takes about
  /// as long as an iteration.
  std::int64_t check_every = 0;
  GridPlacement placement = GridPlacement::automatic;  ///< where the grid is
  StencilOptions pyramids;  ///< height, tile, slab and budget; what is 0 is chosen by `choose`
  /// Chooses what is 0 in `pyramids`. Users and the cost model put their own rule here.
  std::function<PyramidChoice(const PyramidQuestion&)> choose = choose_height_by_profile;
};

/// The residual at some point of an iteration.
struct ResidualRecord {
  std::int64_t iteration = 0;  ///< iterations done
  StencilNorms norms;          ///< norms of the residual
};

/// What JacobiIteration has done.
struct JacobiReport {
  bool converged = false;                 ///< whether the tolerance was reached; true where there was none
  bool streamed = false;                  ///< whether the grid stayed in host memory
  StencilReport pyramids;                 ///< iterations, passes, height, slabs and bytes moved
  StencilSpectrum spectrum;               ///< bounds of the eigenvalues
  std::vector<ResidualRecord> residuals;  ///< first and last residual, and those between where there is a tolerance
  std::string note;                       ///< why the grid was streamed, where that was chosen automatically
};

/// Jacobi's iteration for the stationary heat equation on a grid, plain, damped or accelerated by Chebyshev's factors,
/// with temporal blocking ("pyramids", docs/stencils.md): several iterations per pass through slow memory.
///
///   JacobiOptions options;
///   options.iterations = 1000;
///   options.damping = JacobiDamping::chebyshev;
///   JacobiReport report = JacobiIteration(Backend::open("auto"), problem, options).solve(u, f);
class JacobiIteration {
 public:
  /// Throws Error: bad_input for a problem or options that make no sense, unavailable where the backend has no
  /// stencils.
  JacobiIteration(std::shared_ptr<Backend> backend, const StencilProblem& problem, JacobiOptions options);

  /// Iterates on u in place, from its values; kept values stay. `f` is the source, or empty. An iteration that does not
  /// reach its tolerance is reported, not thrown. Throws Error (not_finite) where the residual is not finite.
  JacobiReport solve(std::span<double> u, std::span<const double> f = {}) const;
  /// The same in single precision.
  JacobiReport solve(std::span<float> u, std::span<const float> f = {}) const;

  const StencilProblem& problem() const { return problem_; }  ///< the grid
  const JacobiOptions& options() const { return options_; }   ///< as given
  /// The damping factors of one cycle, in the order in which they are used.
  const std::vector<double>& weights() const { return weights_; }

 private:
  template <class Real>
  JacobiReport run(std::span<Real> u, std::span<const Real> f) const;
  template <class Real>
  std::unique_ptr<StencilIteration<Real>> place(std::span<Real> u, std::span<const Real> f, JacobiReport& report) const;
  StencilOptions chosen(bool source, int real_bytes, bool streamed) const;

  std::shared_ptr<Backend> backend_;
  StencilProblem problem_;
  JacobiOptions options_;
  StencilSpectrum spectrum_;
  std::vector<double> weights_;
};

}  // namespace voussoir
