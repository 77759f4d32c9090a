#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include <voussoir/framework/analysis/eigen_problem.hpp>
#include <voussoir/solvers/direct/factorization.hpp>

namespace voussoir::detail {

/// K − σM of the free equations, factorised on the host. One analysis serves all shifts.
class ShiftedFactor {
 public:
  explicit ShiftedFactor(const EigenProblem& problem);
  ~ShiftedFactor();

  /// Factorises for a shift, unless that was the last one.
  void factorise(double shift);
  double shift() const { return shift_; }        ///< of the last factorise()
  Inertia inertia() const;                       ///< of K − σM: `negative` modes are below σ
  std::string method() const;                    ///< "mumps (METIS nested dissection)"
  int factorisations() const { return count_; }  ///< numerical ones so far
  std::int64_t solves() const { return solves_; }
  /// Motions that K − σM does not resist, on all equations; a Vector without a layout where there are none.
  Vector null_space() const;
  /// X = (K − σM)⁻¹ B, zero where equations are not free.
  void solve(const Vector& b, Vector& x);

  /// The number of modes below a value, and the value, which is moved upwards a little where it meets a mode.
  struct Count {
    std::int64_t below = 0;
    double value = 0;
  };
  Count count_below(double value);

 private:
  void check_stability();

  const EigenProblem& problem_;
  std::vector<std::int32_t> place_, equation_;
  SymmetricCsr matrix_;  // K − σM
  std::vector<double> stiffness_, mass_, sizes_;
  std::unique_ptr<Factorization> factor_;
  double shift_ = 0;
  bool is_factorised_ = false;
  int count_ = 0;
  std::int64_t solves_ = 0;
};

}  // namespace voussoir::detail
