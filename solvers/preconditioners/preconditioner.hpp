#pragma once
#include <limits>
#include <memory>
#include <string>

#include <voussoir/framework/analysis/linear_soe.hpp>

namespace voussoir {

/// Base class of preconditioners: approximate inverses M of a matrix. For CG, M must be symmetric and positive
/// definite.
///
/// This header is part of the ABI (backends/abi.hpp): libraries of users derive from the class. A preconditioner of the
/// library has a header and a source file of its own in this folder, and an entry in solvers/stock.cpp.
class Preconditioner {
 public:
  virtual ~Preconditioner() = default;
  virtual std::string name() const = 0;  ///< name for reports: "amg", "block-jacobi", …
  /// Sets up the preconditioner for the current values of the SOE's matrix.
  virtual void set_up(const LinearSOE& soe) = 0;
  /// The operator z = M r, valid until the next set_up(); null for the identity.
  virtual const Operator* inverse() const = 0;
  virtual std::size_t bytes() const { return inverse() ? inverse()->bytes() : 0; }  ///< memory of the preconditioner

  /// Whether it requires a symmetric matrix. Solvers reject it for unsymmetric ones.
  virtual bool needs_symmetry() const { return true; }
  /// Whether inverse() varies from one application to the next, so that flexible CG is needed. Solvers ask before
  /// set_up().
  virtual bool is_flexible() const { return false; }
  /// The early progress expected of CG. If the residual is not reduced to `reduction` after `iterations` iterations, CG
  /// calls strengthen().
  struct Checkpoint {
    int iterations = 0;    ///< iterations before the check; 0 disables it
    double reduction = 1;  ///< largest acceptable fraction of the initial residual
  };
  virtual Checkpoint checkpoint() const { return {}; }  ///< the early check of CG; none by default
  /// Number of iterations after which CG calls strengthen().
  virtual int patience() const { return std::numeric_limits<int>::max(); }
  /// Switches to a stronger, more expensive variant for the same matrix. Called if CG is slow or breaks down. Returns
  /// false if there is none.
  virtual bool strengthen(const LinearSOE&) { return false; }
  /// A description after set_up() for reports, such as the levels of a hierarchy; may be empty.
  virtual std::string summary() const { return {}; }
  /// A diagnosis with suggestions, given the iterations for one right-hand side; empty if their number is as expected.
  virtual std::string advice(int /*iterations*/, bool /*converged*/) const { return {}; }
};

/// The precision in which a preconditioner is stored. The iteration is always in double precision; an approximate
/// inverse may be rounded to halve the memory traffic.
enum class Precision { full, single };

}  // namespace voussoir
