#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/mode_measure.hpp>
#include <voussoir/partition/process/engine.hpp>

// Natural modes on several processes: what an engine must offer for them.

namespace voussoir {

/// The share of one process in an eigenvalue problem K φ = λ M φ.
struct EigenShare {
  SystemShare stiffness;         ///< K and the numbering of the equations
  HostMatrix mass;               ///< M, with the pattern of K
  std::vector<double> diagonal;  ///< per local equation: diagonal entry of the whole K
  /// Per local equation: the stiffness that determines the rounding errors of the whole K there; at least `diagonal`.
  std::vector<double> scale;
  double largest_ratio = 0;  ///< largest ratio of diagonal entries of K and M; equal on all processes
  double mean_mass = 1;      ///< mean diagonal entry of M, a scale; equal on all processes
};

/// How a search for modes ended.
struct EigenSearch {
  int found = 0;           ///< number of modes that are new
  bool converged = false;  ///< whether as many as wanted converged
  bool exhausted = false;  ///< whether there are no others
  bool singular = false;   ///< whether K − σM has a zero pivot: nothing was searched
  int iterations = 0;      ///< of the method
  /// Eigenvalues below the shift, where a factorisation has counted them.
  std::optional<std::int64_t> below;
};

/// A solver of one engine for eigenvalue problems that are sums over all processes. It keeps the modes that it finds.
/// All functions are collective, except those that are const, and all results are the same on all processes.
class ProcessEigenSolver {
 public:
  virtual ~ProcessEigenSolver() = default;
  /// Takes new matrices and discards all modes.
  virtual void set_system(EigenShare share) = 0;
  /// Whether search() multiplies by the inverse of K − σM, so that unknowns without mass do no harm and the shift
  /// decides how fast it converges.
  virtual bool inverts() const = 0;
  /// Whether that inverse is a factorisation: modes near any shift can be found, not only the lowest ones, and
  /// count_below() costs no more than a search.
  virtual bool factorises() const = 0;
  virtual std::string method() const = 0;             ///< name of the method
  virtual std::string options() const = 0;            ///< initial options of the engine's library
  virtual std::int64_t solves() const = 0;            ///< systems solved so far, or vectors preconditioned
  virtual int factorisations() const = 0;             ///< numerical ones so far
  virtual std::vector<double> values() const = 0;     ///< Rayleigh quotients of all modes, ascending
  virtual void keep(std::span<const int> modes) = 0;  ///< keeps these modes, in this order, and forgets the others

  /// The number of eigenvalues below a value, by the inertia of K − σM. No value if that is an eigenvalue itself.
  /// Throws Error (out_of_memory) if there is too little memory for the factor.
  virtual std::optional<std::int64_t> count_below(double value) = 0;
  /// Finds modes nearest to a shift, or the lowest ones, that are M-orthogonal to those that were found before.
  virtual EigenSearch search(double shift, int want, double tolerance, int max_iterations) = 0;
  /// Measures each mode with the matrices; `free` marks modes without stiffness, whose eigenvalue is 0.
  virtual std::vector<ModeMeasure> measure(const std::vector<char>& free) = 0;
  /// φᵀSφ of each mode with the diagonal S of EigenShare::scale: the energy of a motion without stiffness is only a
  /// tiny fraction of it.
  virtual std::vector<double> scaled_bounds() = 0;
  /// Largest entry of ΦᵀMΦ − I.
  virtual double orthogonality() = 0;
  /// A mode by local equations, M-normalised; 0 where equations are not free.
  virtual void shape(int mode, std::span<double> values) = 0;

  /// Called now and then with (iteration, estimated residual). Returning false on one process stops all of them with an
  /// Error (cancelled).
  std::function<bool(int, double)> progress;
};

/// An engine that finds natural modes. Such engines are derived from this class in addition to Engine.
class EigenEngine {
 public:
  virtual ~EigenEngine() = default;
  /// Makes a solver. A method that does not exist is an Error (not_found), one that does not find modes an Error
  /// (unavailable).
  virtual std::unique_ptr<ProcessEigenSolver> make_eigen_solver(const EngineSettings& settings) = 0;
};

}  // namespace voussoir
