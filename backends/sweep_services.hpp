#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <voussoir/backends/array.hpp>
#include <voussoir/backends/service.hpp>

namespace voussoir {

/// Where the unknowns of a batch of tridiagonal systems lie in an array. The systems form two nested ranges, so that
/// the lines of a grid in any direction are solved in place, without transposed copies: unknown i of system
/// s = o · inner + k is entry
///
///   first + o · outer_stride + k · inner_stride + i · stride.
///
/// Strides are positive where there is more than one entry along them, and no two unknowns share an entry.
struct SweepShape {
  std::int64_t length = 0;        ///< unknowns of each system
  std::int64_t stride = 1;        ///< from an unknown to the next one of its system
  std::int64_t inner = 1;         ///< systems of the inner range
  std::int64_t inner_stride = 1;  ///< from a system to the next one of the inner range
  std::int64_t outer = 1;         ///< how often the inner range is repeated
  std::int64_t outer_stride = 1;  ///< from an inner range to the next one
  std::int64_t first = 0;         ///< entry of unknown 0 of system 0

  std::int64_t systems() const { return inner * outer; }            ///< number of systems
  std::int64_t unknowns() const { return length * inner * outer; }  ///< number of unknowns of all systems
  bool operator==(const SweepShape&) const = default;               ///< equal in every member

  /// `systems` systems one after another, each contiguous: rows of a matrix.
  static SweepShape contiguous(std::int64_t length, std::int64_t systems) {
    return {.length = length, .stride = 1, .inner = systems, .inner_stride = length};
  }
  /// Unknown i of all systems side by side, then unknown i + 1: columns of a matrix, "interleaved".
  static SweepShape interleaved(std::int64_t length, std::int64_t systems) {
    return {.length = length, .stride = systems, .inner = systems, .inner_stride = 1};
  }
  /// Lines along x of a grid of nx × ny × nz values, x fastest.
  static SweepShape x_lines(std::int64_t nx, std::int64_t ny, std::int64_t nz = 1) {
    return {.length = nx, .stride = 1, .inner = ny * nz, .inner_stride = nx};
  }
  /// Lines along y of a grid of nx × ny × nz values, x fastest. Systems are ordered by x, then z.
  static SweepShape y_lines(std::int64_t nx, std::int64_t ny, std::int64_t nz = 1) {
    return {.length = ny, .stride = nx, .inner = nx, .inner_stride = 1, .outer = nz, .outer_stride = nx * ny};
  }
  /// Lines along z of a grid of nx × ny × nz values, x fastest. Systems are ordered by x, then y.
  static SweepShape z_lines(std::int64_t nx, std::int64_t ny, std::int64_t nz) {
    return {.length = nz, .stride = nx * ny, .inner = nx * ny, .inner_stride = 1};
  }
};

/// The coefficients of tridiagonal systems,
///
///   lower_i y_{i−1} + diagonal_i y_i + upper_i y_{i+1} = f_i ,  i = 0 … length − 1.
///
/// The periodic sweep is often written −a_i y_{i−1} + c_i y_i − b_i y_{i+1} = f_i: then lower = −a, diagonal = c,
/// upper = −b. Indices of periodic systems are taken modulo the length, and where two of them coincide the
/// coefficients add: a periodic system of length 1 is (lower_0 + diagonal_0 + upper_0) y_0 = f_0, and in one of length
/// 2 both lower_i and upper_i multiply the other unknown. Systems that are not periodic do not use lower_0 and
/// upper_{length−1}, which may have any value.
template <class T>
struct SweepCoefficients {
  const Array<T>& lower;     ///< of the preceding unknown
  const Array<T>& diagonal;  ///< of the unknown itself
  const Array<T>& upper;     ///< of the following unknown
};

/// How the unknowns of a system are eliminated.
enum class SweepMethod {
  automatic,   ///< the backend chooses by length, layout and number of systems
  sequential,  ///< one forward and one backward pass by one thread per system, as in the classical sweep
  partitioned  ///< parts of a system are eliminated at the same time, and a small system couples them
};
/// The method as the command line spells it: "auto", "sequential", "partitioned".
const char* to_string(SweepMethod method);

/// What is wrong with a system.
enum class SweepFault {
  none,        ///< nothing
  singular,    ///< a pivot is zero
  inaccurate,  ///< a pivot is so small against the coefficients of its row that too many digits are lost
  not_finite   ///< a pivot or an unknown is infinite or not a number
};

/// The result of checking a batch. Of several faulty systems it has the lowest one.
struct SweepOutcome {
  SweepFault fault = SweepFault::none;  ///< what is wrong
  std::int64_t system = -1;             ///< number of the system, as SweepShape counts them; −1 without a fault
  std::int64_t row = -1;                ///< row of the system in which the fault appeared; −1 without a fault

  bool good() const { return fault == SweepFault::none; }  ///< whether all systems were solved
  /// Throws Error (singular or not_finite) that names system and row, unless good(). `first_system` is added to the
  /// number of the system.
  void require(std::int64_t first_system = 0) const;
};

/// Collects the faults of solves on one device, so that many of them can be enqueued before the host waits.
class SweepFaults {
 public:
  virtual ~SweepFaults() = default;
  /// Waits for the device and returns the lowest fault since the last call.
  virtual SweepOutcome take() = 0;
};

/// How a batch is solved, and how faults are reported.
struct SweepOptions {
  bool periodic = false;                        ///< whether the first and the last unknown are neighbours
  SweepMethod method = SweepMethod::automatic;  ///< how unknowns are eliminated
  /// Unknowns are eliminated without pivoting, which is stable where |diagonal| ≥ |lower| + |upper|. Other systems are
  /// solved as well unless digits are lost: a row is reported where its pivot is smaller than ε / largest_loss times
  /// |lower| + |diagonal| + |upper|, ε the machine precision. 0 means 1e-6 for double and 1e-3 for float.
  double largest_loss = 0;
  int device = 0;  ///< the device on which all arrays lie, counted from 0
  /// Where faults are collected. If null, the solve waits for the device and throws Error for the lowest faulty system.
  SweepFaults* faults = nullptr;
};

/// One matrix for all systems of a batch, factored once for many right-hand sides.
class SweepPlan {
 public:
  virtual ~SweepPlan() = default;
  virtual std::int64_t length() const = 0;  ///< unknowns of each system
  virtual bool periodic() const = 0;        ///< whether the first and the last unknown are neighbours
  virtual int device() const = 0;           ///< device on which the factors lie
  virtual bool is_single() const = 0;       ///< whether the factors, and so the right-hand sides, are float
};

/// A solver of another library on the same device, for comparison in benchmarks.
struct VendorSweep {
  std::string name;             ///< of the library's function
  std::function<void()> solve;  ///< enqueues a solve; right-hand sides, and where it says so coefficients, are lost
};

/// Batches of tridiagonal systems, periodic or not, on one device. docs/sweeps.md describes the methods.
///
/// All arrays of a call lie on the device that the options or the plan name. `y` may be `f` itself: the solution then
/// replaces the right-hand side. Entries of y outside the shape keep their values. Solves return as soon as they are
/// enqueued if the options name a place for faults; the contents of y are undefined for systems with a fault. Results
/// do not depend on the number of threads, nor on the other systems of a batch.
///
/// Arguments that do not fit (arrays too short for the shape, overlapping strides, a plan of another length or
/// precision) are an Error (misuse).
class SweepServices : public Service {
 public:
  static constexpr std::string_view service_name = "sweeps";  ///< by which Backend::service() finds it

  /// A place for the faults of solves on a device.
  virtual std::unique_ptr<SweepFaults> make_faults(int device) = 0;

  /// Solves systems with coefficients of their own, which have the same shape as the unknowns.
  virtual void solve(const SweepShape& shape, const SweepCoefficients<double>& matrix, const Array<double>& f,
                     Array<double>& y, const SweepOptions& options) = 0;
  /// As above, in single precision.
  virtual void solve(const SweepShape& shape, const SweepCoefficients<float>& matrix, const Array<float>& f,
                     Array<float>& y, const SweepOptions& options) = 0;

  /// Factors one matrix, whose arrays have `length` entries each. Throws Error if it is singular, not finite or
  /// loses accuracy; `options.faults` is not used. The arrays may be changed afterwards.
  virtual std::unique_ptr<SweepPlan> prepare(const SweepCoefficients<double>& matrix, std::int64_t length,
                                             const SweepOptions& options) = 0;
  /// As above, in single precision.
  virtual std::unique_ptr<SweepPlan> prepare(const SweepCoefficients<float>& matrix, std::int64_t length,
                                             const SweepOptions& options) = 0;

  /// Solves systems that all have the matrix of a plan. With `faults`, right-hand sides and solutions that are not
  /// finite are collected there; otherwise the solve waits and throws Error.
  virtual void solve(const SweepPlan& plan, const SweepShape& shape, const Array<double>& f, Array<double>& y,
                     SweepFaults* faults = nullptr) = 0;
  /// As above, in single precision.
  virtual void solve(const SweepPlan& plan, const SweepShape& shape, const Array<float>& f, Array<float>& y,
                     SweepFaults* faults = nullptr) = 0;

  /// What the vendor of the device offers for systems that are not periodic, contiguous or interleaved; empty where
  /// there is nothing. The arrays must outlive the result; solutions replace x.
  virtual std::vector<VendorSweep> vendor_sweeps(const SweepShape& shape, Array<double>& lower, Array<double>& diagonal,
                                                 Array<double>& upper, Array<double>& x, int device) {
    (void)shape, (void)lower, (void)diagonal, (void)upper, (void)x, (void)device;
    return {};
  }
};

}  // namespace voussoir
