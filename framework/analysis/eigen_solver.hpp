#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/analysis.hpp>
#include <voussoir/framework/analysis/eigen_problem.hpp>

namespace voussoir {

/// How it is checked that no mode was missed.
enum class CompletenessCheck {
  automatic,  ///< by a Sturm count where a factorisation takes little time and memory, else by a probe
  sturm,      ///< by a Sturm count: the inertia of K − σM, an exact number of modes below σ
  probe,      ///< by iterating a random block that is M-orthogonal to all modes found
  none        ///< not at all
};
/// "auto", "sturm", "probe" or "none", as on the command line.
const char* to_string(CompletenessCheck check);
/// The check of a name; Error (not_found) for any other.
CompletenessCheck completeness_check(const std::string& name);

/// What an eigen-solver is asked for: the lowest `modes`, or all in an interval of frequencies, or the lowest `modes`
/// of that interval.
struct EigenRequest {
  int modes = 0;                                            ///< how many; 0: all between `from` and `below`
  double from = 0;                                          ///< lowest frequency, in cycles per unit of time
  double below = std::numeric_limits<double>::infinity();   ///< highest frequency, likewise
  double shift = std::numeric_limits<double>::quiet_NaN();  ///< σ (a square of an angular frequency); NaN: chosen
  double tolerance = 1e-8;                                  ///< of residuals, see EigenMode
  int max_iterations = 500;                                 ///< of the method
  int block = 0;                                            ///< vectors that are iterated together; 0: chosen
  std::uint64_t seed = 1;                                   ///< of starting vectors: the same bits for the same seed
  CompletenessCheck check = CompletenessCheck::automatic;   ///< how to look for modes that were missed
  /// Called now and then with (iteration, largest residual of the modes that are wanted); returning false stops the
  /// solver with Error (cancelled).
  std::function<bool(int, double)> progress;
};

/// What is known of one mode.
struct EigenMode {
  double eigenvalue = 0;  ///< λ, the Rayleigh quotient of its vector; 0 for motions without stiffness
  double frequency = 0;   ///< √λ / 2π, in cycles per unit of time
  /// ‖Kφ − λMφ‖ / ‖Kφ‖, computed from the matrices at the end. For a motion without stiffness ‖Kφ‖ / ‖Dφ‖ with the
  /// diagonal D of K: what is left of forces that should cancel.
  double residual = 0;
  /// The share of `residual` that rounding may cause, 64 ε ‖Dφ‖ / ‖Kφ‖: no solver reaches less.
  double rounding = 0;
  bool free = false;  ///< a motion without stiffness
};

/// How sure it is that all modes were found.
enum class Completeness {
  unchecked,  ///< nobody looked
  probed,     ///< a random probe found none missing
  verified,   ///< the Sturm count agrees
  incomplete  ///< some are missing, or could not be computed
};

/// The report of an eigen-solver.
struct EigenReport {
  std::string solver;                                   ///< with its settings
  std::string choice;                                   ///< why it was chosen, where it chose itself
  bool converged = false;                               ///< all modes within the tolerance, or at what rounding allows
  std::vector<EigenMode> modes;                         ///< ascending
  int iterations = 0;                                   ///< of the method
  std::int64_t solves = 0;                              ///< right-hand sides solved, or vectors preconditioned
  int factorisations = 0;                               ///< numerical ones
  Completeness completeness = Completeness::unchecked;  ///< how sure it is that no mode is missing
  /// The same as a sentence: "verified: 27 of 27 below 203.1 Hz".
  std::string statement;
  double orthogonality = 0;        ///< largest entry of ΦᵀMΦ − I
  std::vector<StageTime> times;    ///< where the time went
  std::vector<std::string> notes;  ///< for the user: cut multiplets, unknowns without mass
};

/// Modes on the backend with their report.
struct EigenSolution {
  Vector vectors;      ///< a column per mode, M-orthonormal, zero where equations are not free; no layout without modes
  EigenReport report;  ///< has as many modes as there are columns
};

/// A method for the eigenvalue problem of an EigenProblem. To add one, derive, define name() and find(), and register
/// it in eigen_solvers().
class EigenSolver {
 public:
  virtual ~EigenSolver() = default;
  virtual std::string name() const = 0;  ///< as in make_eigen_solver()
  /// Finds the modes. Eigenvalues, residuals and orthogonality in the report are then computed anew from the matrices,
  /// whatever the method says of them. Modes that do not satisfy the tolerance make `converged` false. Throws Error
  /// (bad_input) for a request that makes no sense.
  EigenSolution solve(const EigenProblem& problem, const EigenRequest& request);

 protected:
  /// Finds M-orthonormal vectors in ascending order of their eigenvalues, the free motions among them; fills in the
  /// solver, counts, times, completeness and statement of the report.
  virtual EigenSolution find(const EigenProblem& problem, const EigenRequest& request) = 0;
};

/// √λ / 2π; 0 where λ is negative.
double frequency_of(double eigenvalue);
/// (2π f)².
double eigenvalue_of(double frequency);

}  // namespace voussoir
