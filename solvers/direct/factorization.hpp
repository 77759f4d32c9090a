#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>
#include <voussoir/solvers/direct/choice.hpp>
#include <voussoir/solvers/direct/symmetric_matrix.hpp>

// Direct solution of sparse symmetric systems on the host: A = L D Lᵀ, once, then any number of right-hand sides.

namespace voussoir {

/// What may be chosen about a direct solver. The defaults suit stiffness matrices.
struct DirectOptions {
  /// Threads of the numerical work; 0 leaves the setting of the libraries as it is (a DirectSolver then takes the
  /// number of its backend).
  int threads = 0;
  /// A motion counts as free where its stiffness (its energy in the equilibrated matrix, over its square) is below this
  /// fraction of the matrix' norm. 0 means automatic: a small multiple of the rounding error.
  double free_motion_tolerance = 0;
  /// Steps of iterative refinement after each solve; each costs another solve, and stops early when nothing is gained.
  int refinement_steps = 0;
  /// MUMPS: working memory beyond what the analysis foresees, in percent; raised by itself when it does not suffice.
  int extra_memory_percent = 20;
  /// MUMPS: pivots smaller than this times the largest entry of their column are postponed, between 0 and 0.5.
  double pivot_threshold = 0.01;
};

/// How many eigenvalues of the matrix are negative, zero and positive (Sylvester's law: those of D).
struct Inertia {
  std::int64_t negative = 0;  ///< eigenvalues below zero
  std::int64_t zero = 0;      ///< free motions
  std::int64_t positive = 0;  ///< eigenvalues above zero
};

/// What a factorisation cost.
struct DirectStatistics {
  std::string method;               ///< "mumps", "eigen", …
  std::string ordering;             ///< how the equations were ordered to keep the factor sparse
  std::string why;                  ///< why this method was taken
  double flops = 0;                 ///< of one numerical factorisation
  std::int64_t factor_entries = 0;  ///< entries of L and D
  double memory_mb = 0;             ///< memory of the factor in megabytes (MUMPS: its peak)
  double analyse_seconds = 0;       ///< of the last analysis
  double factorise_seconds = 0;     ///< of the last factorisation
  double solve_seconds = 0;         ///< of the last solve
  int analyses = 0;                 ///< how often a pattern was analysed
  int factorisations = 0;           ///< how often values were factorised
};

/// The factorisation of one sparse symmetric matrix, positive definite or not.
///
/// Used in three steps: `analyse` processes the pattern, `factorise` the values, `solve` the right-hand sides. A
/// matrix with the same pattern and new values needs only `factorise`. Before it is factorised the matrix is
/// equilibrated by powers of two, which costs no accuracy, so that lengths in millimetres and angles in radians weigh
/// alike.
///
/// **Singular matrices** are not an error here, since only the caller can tell what the equations mean: `null_pivots()`
/// names an equation for each motion that nothing resists, `null_space()` has those motions. `solve` then keeps the
/// named equations at zero, which is a solution whenever one exists. Small pivots are only a hint, followed by a second
/// factorisation that compares the energies of the motions, so that a slender cantilever is not mistaken for a free
/// body.
///
/// **Substructures**: when `analyse` is given boundary equations, all others are eliminated, `schur_complement()` is
/// the matrix that remains, `reduce` carries loads to the boundary and `expand` brings the boundary's solution back
/// inside.
///
/// One object serves one thread at a time. Different objects may be used by different threads; those of MUMPS then wait
/// for each other, because MUMPS keeps state that all its instances share.
class Factorization {
 public:
  /// Throws Error{unavailable} where this build lacks the method.
  static std::unique_ptr<Factorization> make(DirectMethod method = DirectMethod::automatic,
                                             const DirectOptions& options = {});

  virtual ~Factorization() = default;
  Factorization(const Factorization&) = delete;
  Factorization& operator=(const Factorization&) = delete;

  /// Orders the equations and lays out the factor. `boundary` names equations to keep (see Substructures); each once.
  /// Throws Error{bad_input} where the matrix is not as SymmetricCsr promises.
  void analyse(const SymmetricCsr& matrix, std::span<const std::int32_t> boundary = {});

  /// Computes the factor. Analyses first where that has not been done or the pattern has changed since (the boundary
  /// stays). Throws Error{not_finite} at a NaN, Error{out_of_memory} where memory does not suffice (any of these calls
  /// may throw that). `sizes`, where given, has for each equation the size of what its stiffness was summed from (see
  /// stiffness_handed_on): motions are judged against that too, since a stiffness of 1e-16 of it is rounding error.
  void factorise(const SymmetricCsr& matrix, std::span<const double> sizes = {});

  /// Overwrites right-hand sides by solutions; `columns` vectors of n numbers, one after the other.
  void solve(std::span<double> rhs_and_solution, int columns = 1);

  /// Signs of the pivots; with a boundary, those of the eliminated part.
  Inertia inertia() const;

  /// Equations whose pivot vanished, ascending: holding these makes the matrix regular.
  const std::vector<std::int32_t>& null_pivots() const;

  /// An orthonormal basis of the null space: one vector of n numbers for each null pivot, one after the other.
  std::vector<double> null_space() const;

  /// S = A_bb − A_bi A_ii⁻¹ A_ib by columns, rows and columns in the order in which the boundary was given.
  const std::vector<double>& schur_complement() const;

  /// Loads condensed to the boundary: b_b − A_bi A_ii⁻¹ b_i. `rhs` has `columns` vectors of n
  /// values; returns as many vectors of boundary size.
  std::vector<double> reduce(std::span<const double> rhs, int columns = 1);

  /// The solution everywhere from that on the boundary: x_i = A_ii⁻¹ (b_i − A_ib x_b), and x_b itself.
  /// `rhs_and_solution` contains the loads, as given to `reduce`, and is overwritten.
  void expand(std::span<const double> boundary_solution, std::span<double> rhs_and_solution, int columns = 1);

  std::int64_t size() const { return matrix_.n; }                          ///< equations
  const std::vector<std::int32_t>& boundary() const { return boundary_; }  ///< as given to analyse()
  const DirectOptions& options() const { return options_; }                ///< as given to make()
  const DirectStatistics& statistics() const { return statistics_; }       ///< up to now

 protected:
  explicit Factorization(const DirectOptions& options) : options_(options) {}  ///< for methods

  // What a method must bring along. All of it works on the equilibrated matrix, and never on one of size zero.

  /// What a numerical factorisation met.
  struct Pivots {
    std::int64_t negative = 0;        ///< pivots below zero
    std::vector<std::int32_t> small;  ///< equations (of the given matrix) with suspiciously small pivots
    bool complete = true;             ///< false: a pivot of exactly zero, named in `small`, stopped it half-way
  };

  /// True if the method itself eliminates all but the boundary. Otherwise it receives only the eliminated part,
  /// and the Schur complement is formed by solving with it.
  virtual bool eliminates_partially() const { return false; }
  /// `boundary` is empty unless eliminates_partially().
  virtual void do_analyse(const SymmetricCsr& matrix, std::span<const std::int32_t> boundary) = 0;
  /// Pivots of at most `small` (the largest entries of rows are near 1) are reported. What is made of them does not
  /// matter: the matrix is factorised again with those equations restrained by springs, until none is reported.
  virtual Pivots do_factorise(const SymmetricCsr& matrix, double small) = 0;
  /// With a partial elimination: entries of the boundary are ignored, before and after.
  virtual void do_solve(double* vectors, int columns) = 0;
  /// Called only for methods that eliminate partially.
  virtual std::vector<double> do_schur_complement() { return {}; }
  /// Called only for methods that eliminate partially.
  virtual std::vector<double> do_reduce(const double*, int) { return {}; }

  DirectOptions options_;        ///< as given
  DirectStatistics statistics_;  ///< that the method fills

 private:
  class PivotSearch;

  void check_factorised(const char* what) const;
  void check_vectors(std::size_t size, int columns, std::int64_t length, const char* what) const;
  void analyse_checked(const SymmetricCsr& matrix, std::span<const std::int32_t> boundary);
  void factorise_checked(const SymmetricCsr& matrix, std::span<const double> sizes);
  void solve_checked(std::span<double> rhs_and_solution, int columns);
  std::vector<double> reduce_checked(std::span<const double> rhs, int columns);
  void expand_checked(std::span<const double> boundary_solution, std::span<double> rhs_and_solution, int columns);
  void equilibrate(std::span<const double> sizes);
  void split();
  void copy_eliminated_values();
  void find_pivots(const SymmetricCsr& matrix);
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
