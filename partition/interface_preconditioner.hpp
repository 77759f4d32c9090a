#pragma once
#include <memory>
#include <string>
#include <vector>

#include <voussoir/partition/coarse_space.hpp>
#include <voussoir/partition/schur_complement.hpp>

namespace voussoir {

/// The matrix of a part with unassembled interface, factorised, and the motions that it does not resist: those of a
/// **floating** part.
class NeumannSolver {
 public:
  /// Factorises A_p of the matrices, or prepares for solving it by another exact part solver (make_part_solver()).
  ///
  /// A factorisation finds every free motion. With another solver, free motions are sought among the rigid-body
  /// motions of each connected piece of the part; a part with others (a mechanism of trusses) is an Error (singular)
  /// or (not_converged) that names it.
  NeumannSolver(const PartMatrices& matrices, int part, const std::string& part_solver = "direct");
  ~NeumannSolver();
  NeumannSolver(NeumannSolver&&) noexcept;  ///< leaves the other one without a factor
  /// Whether solvers of this name may be made and used by different threads at the same time, each by one.
  static bool works_side_by_side(const std::string& part_solver);

  /// Replaces b by A_p⁺ b, by local numbers: a solution of A_p x = b if b is orthogonal to the kernel. `columns`
  /// vectors come one after the other.
  void solve(std::span<double> b_and_x, int columns = 1) const;
  /// An orthonormal basis of the null space of A_p, by local numbers; empty for a part that supports hold.
  const std::vector<std::vector<double>>& kernel() const { return kernel_; }
  std::size_t bytes() const;  ///< memory of the factor and of the kernel

 private:
  void solve_one(std::span<double> b_and_x) const;
  void factorise(const PartMatrices& matrices, int part, DirectMethod method);
  void find_rigid_kernel(const PartMatrices& matrices, int part);
  void restrain(const PartMatrices& matrices, int part);

  std::int64_t size_ = 0;
  std::unique_ptr<Factorization> factor_;
  std::unique_ptr<PartSolver> solver_;    // instead of the factor
  std::vector<std::int32_t> restrained_;  // with solver_: as many unknowns, ascending, as there are free motions
  std::vector<std::vector<double>> kernel_;
};

/// Balancing domain decomposition by constraints: z = M r on the interface.
///
/// Interface values may differ between parts except in a few **primal** unknowns: the values at corners, and averages
/// over edges and faces against their rigid motions. Each part is solved with its primal unknowns fixed, a coarse
/// problem of all primal unknowns connects them, and weights average the results. The condition number of M S is at
/// most C (1 + log H/h)², independent of the number of parts and, with weights by stiffness, of jumps of the material
/// between parts.
///
/// C. R. Dohrmann: A preconditioner for substructuring based on constrained energy minimization. SIAM J. Sci. Comput.
/// 25 (2003). J. Mandel, C. R. Dohrmann: Convergence of a balancing domain decomposition by constraints and energy
/// minimization. Numer. Linear Algebra Appl. 10 (2003).
class BddcOperator : public HostOperator {
 public:
  /// Settings of the method.
  struct Options {
    std::string primal = "cef";                  ///< c: corners, e: edges, f: faces
    Weighting weighting = Weighting::stiffness;  ///< how results are averaged
    std::string part_solver = "direct";          ///< for NeumannSolver
  };
  /// The matrices must outlive the operator. A floating part that its primal unknowns do not hold is an Error
  /// (bad_input) that names the part.
  BddcOperator(Backend& backend, const PartMatrices& matrices, const Options& options);
  ~BddcOperator() override;

  void multiply(std::span<const double> x, std::span<double> y) const override;
  /// Solves the partially assembled system, in which parts are joined in their primal unknowns only: replaces the loads
  /// of each part, by local numbers, by its solution. With `on_boundary`, loads inside parts are known to be zero.
  void solve_partially_assembled(std::vector<std::vector<double>>& parts, bool on_boundary = false) const;
  /// Weights of the unknowns of Decomposition::boundary() of a part.
  const std::vector<double>& weights(int part) const;
  /// Whether an interface unknown, by its place in Decomposition::interface(), is primal by itself, as those of
  /// corners.
  bool is_primal(std::size_t place) const { return primal_[place] != 0; }
  /// An average over an edge or a face that is a primal unknown.
  struct Average {
    std::int32_t number;                   ///< of the primal unknown
    std::span<const std::int32_t> locals;  ///< local numbers of the unknowns of the edge or face in the part
    std::span<const double> values;        ///< weight of each; orthonormal within an edge or face
  };
  /// The averages of a part, which live as long as the operator.
  std::vector<Average> averages(int part) const;
  std::size_t bytes() const override;
  std::string describe() const override;
  std::int32_t coarse_size() const { return coarse_size_; }  ///< number of primal unknowns
  double coarse_seconds() const { return coarse_seconds_; }  ///< time in the coarse problem so far
  int floating_parts() const { return floating_; }           ///< parts with a kernel

 private:
  struct Part;
  void add_constraints(const std::string& primal);
  void set_up_part(int part);
  void set_up_coarse();

  const PartMatrices& matrices_;
  int threads_;
  std::vector<std::unique_ptr<Part>> parts_;
  std::vector<char> primal_;  // per interface unknown
  std::int32_t coarse_size_ = 0;
  int floating_ = 0;
  std::unique_ptr<Factorization> coarse_;
  mutable double coarse_seconds_ = 0;
};

/// Balancing Neumann–Neumann: z = Q r + (I − Q S) (Σ R_pᵀ D_p S_p⁺ D_p R_p) (I − S Q) r on the interface, where Q
/// solves exactly in the space of the weighted kernels of floating parts.
///
/// J. Mandel: Balancing domain decomposition. Comm. Numer. Methods Engrg. 9 (1993).
class NeumannNeumannOperator : public HostOperator {
 public:
  /// The matrices and the Schur complement of them must outlive the operator.
  NeumannNeumannOperator(const PartMatrices& matrices, const SchurComplement& schur,
                         Weighting weighting = Weighting::stiffness, const std::string& part_solver = "direct");
  ~NeumannNeumannOperator() override;

  void multiply(std::span<const double> x, std::span<double> y) const override;
  std::size_t bytes() const override;
  std::string describe() const override;
  std::int32_t coarse_size() const { return static_cast<std::int32_t>(coarse_.size()); }  ///< kernel vectors
  double coarse_seconds() const { return coarse_seconds_; }  ///< time in the coarse problem so far
  int floating_parts() const { return floating_; }           ///< parts with a kernel

 private:
  /// z += Q r
  void correct(std::span<const double> r, std::span<double> z) const;

  const PartMatrices& matrices_;
  const SchurComplement& schur_;
  int threads_;
  std::vector<std::unique_ptr<NeumannSolver>> neumann_;
  std::vector<std::vector<double>> weights_;                // on the boundary of each part
  std::vector<std::vector<double>> coarse_, coarse_image_;  // Z and S Z, over the interface
  std::unique_ptr<Factorization> factor_;                   // of ZᵀSZ
  int floating_ = 0;
  mutable double coarse_seconds_ = 0;
};

}  // namespace voussoir
