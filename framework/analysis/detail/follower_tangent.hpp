#pragma once
#include <memory>
#include <vector>

#include <voussoir/framework/analysis/integrator.hpp>

namespace voussoir::detail {

/// The part that elements leave out of the tangent of pressures that follow deformed faces.
///
/// Elements give the symmetric part, so that the matrix A of the SOE is symmetric. The rest B is antisymmetric. It
/// is zero for a uniform pressure on a surface that is closed or whose edges are supported. complete() takes the
/// solution of A x = b to that of (A + B) x = b by flexible GMRES (Saad, SIAM J. Sci. Comput. 14, 1993), which is
/// preconditioned by the solver of A: one factorisation, or one set-up of a preconditioner, serves all of its
/// iterations.
///
/// Products with B are central differences of the pressure forces. These are quadratic in the displacements, so that a
/// central difference with any step is the derivative itself, except for rounding.
class FollowerTangent {
 public:
  /// Looks for such pressures in a model, which must outlive the object.
  explicit FollowerTangent(const AnalysisModel& model);

  /// Given the solution of A x = b at a trial state, replaces soe.x() by that of (A + B) x = b, and adds what it did to
  /// the report of the former. Does nothing where no such pressure acts, or where B x is negligible. `stiffness` is the
  /// factor of stiffnesses in A, TangentCoefficients::stiffness. Where GMRES makes no progress, or the solver of A
  /// fails, x has the least residual that was found.
  void complete(const AnalysisState& state, double stiffness, Solver& solver, LinearSOE& soe, SolveReport& report);

 private:
  /// Prepares products at a state; false where no such pressure acts.
  bool begin(const AnalysisState& state, double stiffness);
  void add_product(const Vector& x, Vector& y);
  double motion_size(const Vector& motion) const;

  const AnalysisModel& model_;
  Backend& backend_;
  std::vector<int> batches_;  // with pressures that follow
  double length_ = 0;         // the shortest first edge of their elements, on all processes
  bool exists_ = false;       // whether there are such pressures on some process
  std::unique_ptr<ElementOperator> symmetric_;
  ElementState state_;           // of the trial that products are formed at
  std::vector<double> factors_;  // of all batches in residuals: only pressures that follow count
  Vector full_, moved_, force_;
};

}  // namespace voussoir::detail
