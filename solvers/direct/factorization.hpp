#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>
#include <voussoir/solvers/direct/choice.hpp>
#include <voussoir/solvers/direct/symmetric_matrix.hpp>

// Direct solution of sparse symmetric systems on the host: A = L D Lᵀ once, then any number of right-hand sides.

namespace voussoir {

/// The settings of a direct solver. The defaults suit stiffness matrices.
struct DirectOptions {
  /// Number of threads; 0 does not change the setting of the libraries (a DirectSolver then uses the number of its
  /// backend).
  int threads = 0;
  /// A motion v counts as free if its stiffness vᵀAv / vᵀv in the equilibrated matrix is below this fraction of the
  /// matrix norm. 0 means automatic: a small multiple of the rounding error.
  double free_motion_tolerance = 0;
  /// Largest number of steps of iterative refinement after each solve. Each costs another solve; it stops early when
  /// nothing is gained.
  int refinement_steps = 0;
  /// MUMPS: working memory in addition to its estimate, in percent; increased automatically if it is not sufficient.
  int extra_memory_percent = 20;
  /// MUMPS: pivots smaller than this times the largest entry of their column are postponed, between 0 and 0.5.
  double pivot_threshold = 0.01;
};

/// The numbers of negative, zero and positive eigenvalues of a matrix, which are those of D (Sylvester's law).
struct Inertia {
  std::int64_t negative = 0;  ///< number of negative eigenvalues
  std::int64_t zero = 0;      ///< number of zero eigenvalues: free motions
  std::int64_t positive = 0;  ///< number of positive eigenvalues
};

/// Sizes and times of a factorisation.
struct DirectStatistics {
  std::string method;               ///< name of the method: "mumps", "eigen", …
  std::string ordering;             ///< the fill-reducing ordering
  std::string why;                  ///< why this method was chosen
  double flops = 0;                 ///< floating-point operations of one numerical factorisation
  std::int64_t factor_entries = 0;  ///< entries of L and D
  double memory_mb = 0;             ///< memory of the factor in megabytes (MUMPS: its peak)
  double analyse_seconds = 0;       ///< time of the last analysis
  double factorise_seconds = 0;     ///< time of the last factorisation
  double solve_seconds = 0;         ///< time of the last solve
  int analyses = 0;                 ///< number of analyses so far
  int factorisations = 0;           ///< number of numerical factorisations so far
};

/// The factorisation of one sparse symmetric matrix, positive definite or not.
///
/// It is used in three steps: analyse() processes the pattern, factorise() the values, solve() the right-hand sides. A
/// matrix with the same pattern and new values needs only factorise(). Before it is factorised, the matrix is
/// equilibrated by powers of two, without loss of accuracy, so that unknowns in different units have comparable
/// weights.
///
/// **Singular matrices** are not an error here, since only the caller knows what the equations mean: null_pivots()
/// lists an equation for each motion without stiffness, and null_space() returns these motions. solve() then sets these
/// equations to zero, which gives a solution whenever one exists. Small pivots are only a first indication: a second
/// factorisation compares the energies of the motions, so that a slender cantilever is not mistaken for a free body.
///
/// **Substructures**: if boundary equations are passed to analyse(), all others are eliminated. schur_complement() is
/// the remaining matrix, reduce() condenses loads to the boundary, and expand() recovers the interior solution.
///
/// An object may be used by one thread at a time. Different objects may be used by different threads; those of MUMPS
/// are serialised, because all instances of MUMPS share state. Orderings by METIS are serialised, too.
class Factorization {
 public:
  /// Creates a factorisation. A method that this build lacks is an Error (unavailable).
  static std::unique_ptr<Factorization> make(DirectMethod method = DirectMethod::automatic,
                                             const DirectOptions& options = {});

  virtual ~Factorization() = default;
  Factorization(const Factorization&) = delete;
  Factorization& operator=(const Factorization&) = delete;

  /// Orders the equations and determines the pattern of the factor. `boundary` lists equations to keep (see
  /// Substructures), each once. A matrix that violates the conditions of SymmetricCsr is an Error (bad_input).
  void analyse(const SymmetricCsr& matrix, std::span<const std::int32_t> boundary = {});

  /// Computes the factor. Calls analyse() first if that has not been done or the pattern has changed (the boundary is
  /// kept). A NaN is an Error (not_finite); lack of memory, in any of these functions, an Error (out_of_memory).
  /// `sizes`, if given, has for each equation the magnitude of the terms from which its stiffness was summed (see
  /// stiffness_handed_on): a motion whose stiffness is only rounding error of these terms counts as free.
  void factorise(const SymmetricCsr& matrix, std::span<const double> sizes = {});

  /// As factorise(), for matrices that are indefinite by intention, such as K − σM, and without a boundary: small
  /// pivots are taken as they come, since energies say nothing of free motions there. inertia() is that of the pivots.
  /// A pivot of exactly zero is an Error (singular).
  void factorise_indefinite(const SymmetricCsr& matrix);

  /// Overwrites right-hand sides by solutions: `columns` vectors of n numbers, one after the other.
  void solve(std::span<double> rhs_and_solution, int columns = 1);

  /// The inertia of the matrix; with a boundary, that of the eliminated part.
  Inertia inertia() const;

  /// Equations whose pivots vanish, ascending. Restraining them makes the matrix regular.
  const std::vector<std::int32_t>& null_pivots() const;

  /// An orthonormal basis of the null space: a vector of n numbers for each null pivot, one after the other.
  std::vector<double> null_space() const;

  /// S = A_bb − A_bi A_ii⁻¹ A_ib by columns, with rows and columns in the order of boundary().
  const std::vector<double>& schur_complement() const;

  /// Loads condensed to the boundary: b_b − A_bi A_ii⁻¹ b_i. `rhs` has `columns` vectors of n
  /// values; returns as many vectors of boundary size.
  std::vector<double> reduce(std::span<const double> rhs, int columns = 1);

  /// The whole solution from that on the boundary: x_i = A_ii⁻¹ (b_i − A_ib x_b), and x_b itself. `rhs_and_solution`
  /// contains the loads, as passed to reduce(), and is overwritten by the solution.
  void expand(std::span<const double> boundary_solution, std::span<double> rhs_and_solution, int columns = 1);

  std::int64_t size() const { return matrix_.n; }                          ///< number of equations
  const std::vector<std::int32_t>& boundary() const { return boundary_; }  ///< the boundary passed to analyse()
  const DirectOptions& options() const { return options_; }                ///< the options passed to make()
  const DirectStatistics& statistics() const { return statistics_; }       ///< sizes and times so far

 protected:
  explicit Factorization(const DirectOptions& options) : options_(options) {}  ///< called by implementations

  // The functions that a method implements. They work on the equilibrated matrix, whose size is never zero.

  /// The pivots of a numerical factorisation.
  struct Pivots {
    std::int64_t negative = 0;        ///< number of negative pivots
    std::vector<std::int32_t> small;  ///< equations (of the given matrix) with suspiciously small pivots
    bool complete = true;  ///< false if a pivot of exactly zero, listed in `small`, stopped the factorisation
  };

  /// Whether the method itself eliminates all but the boundary. Otherwise it receives only the part to be eliminated,
  /// and the Schur complement is formed by solving with it.
  virtual bool eliminates_partially() const { return false; }
  /// Implements analyse(). `boundary` is empty unless eliminates_partially().
  virtual void do_analyse(const SymmetricCsr& matrix, std::span<const std::int32_t> boundary) = 0;
  /// Implements factorise(). Reports pivots of at most `small`; the largest entries of rows are near 1. How it
  /// continues after them does not matter: the matrix is factorised again with those equations restrained by springs
  /// until none is reported.
  virtual Pivots do_factorise(const SymmetricCsr& matrix, double small) = 0;
  /// Implements solve(). In a partial elimination, entries of the boundary are neither used nor defined.
  virtual void do_solve(double* vectors, int columns) = 0;
  /// Implements schur_complement(). Called only if eliminates_partially().
  virtual std::vector<double> do_schur_complement() { return {}; }
  /// Implements reduce(). Called only if eliminates_partially().
  virtual std::vector<double> do_reduce(const double*, int) { return {}; }

  DirectOptions options_;        ///< the options passed to make()
  DirectStatistics statistics_;  ///< filled in by the method

 private:
  class PivotSearch;

  void check_factorised(const char* what) const;
  void check_vectors(std::size_t size, int columns, std::int64_t length, const char* what) const;
  void analyse_checked(const SymmetricCsr& matrix, std::span<const std::int32_t> boundary);
  /// Whether pivots that vanish are looked for, and restrained.
  enum class Search { free_motions, nothing };
  void factorise_values(const SymmetricCsr& matrix, std::span<const double> sizes, Search search);
  void factorise_checked(const SymmetricCsr& matrix, std::span<const double> sizes, Search search);
  void solve_checked(std::span<double> rhs_and_solution, int columns);
  std::vector<double> reduce_checked(std::span<const double> rhs, int columns);
  void expand_checked(std::span<const double> boundary_solution, std::span<double> rhs_and_solution, int columns);
  void equilibrate(std::span<const double> sizes);
  void split();
  void copy_eliminated_values();
  void find_pivots(const SymmetricCsr& matrix, Search search);
  void form_schur_complement();
  void solve_equilibrated(std::vector<double>& vectors, int columns);
  void solve_eliminated(std::vector<double>& vectors, int columns);

  SymmetricCsr matrix_;      // equilibrated once it is factorised
  SymmetricCsr eliminated_;  // the part without the boundary, where the method does not cut it out itself
  std::vector<double> scale_;
  std::vector<double> size_;  // of what the equilibrated diagonal was summed from; empty where that is unknown
  std::vector<std::int32_t> boundary_;
  std::vector<std::int32_t> boundary_place_;    // place of an equation in the boundary, or −1
  std::vector<std::int32_t> eliminated_place_;  // place of an equation among the eliminated, or −1
  std::vector<std::int32_t> eliminated_equation_;
  std::vector<double> schur_;
  std::vector<std::int32_t> null_pivots_;
  std::vector<double> free_motions_;  // in equilibrated unknowns, of the matrix handed to the method
  Inertia inertia_;
  DirectMethod wanted_ = DirectMethod::automatic;
  bool analysed_ = false;
  bool factorised_ = false;
};

}  // namespace voussoir
