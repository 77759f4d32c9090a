#pragma once
#ifdef VOUSSOIR_HAVE_MUMPS
#include <dmumps_c.h>

#include <cstdint>
#include <vector>

namespace voussoir::detail {

/// One instance of MUMPS, quiet and sequential, and the errors it reports in words.
///
/// MUMPS' Fortran modules keep state that all instances share, so only one call runs at a time, in the whole process.
class MumpsInstance {
 public:
  /// `symmetric`: A = L D Lᵀ, else L U. `threads`: of the numerical work; 0 leaves the setting of the libraries as it
  /// is.
  MumpsInstance(bool symmetric, int threads);
  ~MumpsInstance();
  MumpsInstance(const MumpsInstance&) = delete;
  MumpsInstance& operator=(const MumpsInstance&) = delete;

  /// Begins anew: MUMPS remembers pivot lists and Schur settings of the last matrix.
  void restart();
  DMUMPS_STRUC_C& data() { return id_; }
  const DMUMPS_STRUC_C& data() const { return id_; }
  MUMPS_INT& control(int number) { return id_.icntl[number - 1]; }
  double& real_control(int number) { return id_.cntl[number - 1]; }

  /// Analyses a matrix whose pattern data() has. `order`, where not empty, is the elimination order.
  void analyse(const std::vector<std::int32_t>& order, int extra_memory_percent);
  const char* ordering() const;  ///< that the analysis used
  /// Factorises, with more and more working space where it does not suffice.
  void factorise(int extra_memory_percent);
  void solve(double* vectors, int columns);
  /// Throws Error where memory for solving so many columns is not there.
  void require_room_for_solving(int columns) const;
  void right_hand_sides(double* vectors, int columns);

  int call_quietly(int job);
  void call(int job, const char* what);
  [[noreturn]] void fail(const char* what) const;

  /// Counts that do not fit are given as minus the number of millions.
  static std::int64_t large_number(MUMPS_INT info);

 private:
  void start();
  void stop() noexcept;
  double factor_bytes(int extra_percent) const;

  DMUMPS_STRUC_C id_{};
  bool symmetric_, started_ = false;
  int threads_, analysed_with_ = 20;
  std::vector<MUMPS_INT> order_;
};

}  // namespace voussoir::detail
#endif
