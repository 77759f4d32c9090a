#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/sweep_services.hpp>

namespace voussoir {

/// How the unknowns of a batch lie in memory.
enum class BatchLayout {
  contiguous,  ///< system after system, the unknowns of each side by side
  interleaved  ///< unknown 0 of all systems, then unknown 1: neighbouring systems lie side by side
};

/// What a TridiagonalBatch solves and how.
struct TridiagonalOptions {
  bool periodic = false;                         ///< whether the first and the last unknown are neighbours
  BatchLayout layout = BatchLayout::contiguous;  ///< of coefficients, right-hand sides and solutions
  SweepMethod method = SweepMethod::automatic;   ///< how unknowns are eliminated
  double largest_loss = 0;                       ///< see SweepOptions::largest_loss
};

/// Many tridiagonal systems of one length, distributed over the devices of a backend: each device has a contiguous
/// slice of the systems, and nothing is exchanged. The systems are
///
///   lower_i y_{i−1} + diagonal_i y_i + upper_i y_{i+1} = f_i ,  i = 0 … length − 1,
///
/// with indices modulo the length where they are periodic (SweepCoefficients has the details). T is double or float.
///
///   TridiagonalBatch<double> batch(backend, 512, 4096, {.periodic = true});
///   batch.set_shared_matrix(lower, diagonal, upper);   // factored once
///   auto values = batch.make_values();                 // an array per device
///   …
///   batch.solve(values);                               // the solutions replace the right-hand sides
///
/// Solves of all devices are enqueued before the first one is waited for, so that GPUs work at the same time. A system
/// that is singular, loses accuracy or is not finite is an Error that names its number in the whole batch; of several,
/// the lowest. To solve lines of a grid in place, call SweepServices, which takes any strides.
template <class T>
class TridiagonalBatch {
 public:
  /// `systems` systems of `length` unknowns. Throws Error (bad_input) where there are none.
  TridiagonalBatch(std::shared_ptr<Backend> backend, std::int64_t length, std::int64_t systems,
                   const TridiagonalOptions& options = {});

  std::int64_t length() const { return length_; }                                ///< unknowns of each system
  std::int64_t systems() const { return first_.back(); }                         ///< systems on all devices
  const TridiagonalOptions& options() const { return options_; }                 ///< as given to the constructor
  int devices() const { return static_cast<int>(first_.size()) - 1; }            ///< devices of the backend
  std::int64_t first_system(int device) const { return first_.at(at(device)); }  ///< first system of a device
  /// Number of systems on a device; devices differ by one at most.
  std::int64_t systems(int device) const { return first_.at(at(device) + 1) - first_.at(at(device)); }
  SweepShape shape(int device) const;  ///< of the systems of a device in its arrays

  /// One matrix for all systems, `length` coefficients each; factored on every device.
  void set_shared_matrix(std::span<const T> lower, std::span<const T> diagonal, std::span<const T> upper);
  /// A matrix for each system: length · systems coefficients each, in the layout of the batch.
  void set_matrices(std::span<const T> lower, std::span<const T> diagonal, std::span<const T> upper);
  /// As above, from arrays on the devices, as make_values() makes them.
  void set_matrices(std::vector<Array<T>> lower, std::vector<Array<T>> diagonal, std::vector<Array<T>> upper);

  std::vector<Array<T>> make_values() const;  ///< for each device an array for the unknowns of its systems
  /// Distributes length · systems numbers in the layout of the batch over the devices.
  std::vector<Array<T>> distribute(std::span<const T> values) const;
  /// The reverse: the numbers of all devices in the layout of the batch.
  std::vector<T> collect(const std::vector<Array<T>>& values) const;

  /// Solves with the right-hand sides f.
  void solve(const std::vector<Array<T>>& f, std::vector<Array<T>>& y);
  /// Replaces right-hand sides by solutions.
  void solve(std::vector<Array<T>>& values) { solve(values, values); }
  /// Solves with right-hand sides on the host, length · systems numbers in the layout of the batch.
  std::vector<T> solve(std::span<const T> f);

 private:
  static std::size_t at(int device) { return static_cast<std::size_t>(device); }
  SweepOptions sweep_options(int device) const;
  void require_values(const std::vector<Array<T>>& values, const char* what) const;

  std::shared_ptr<Backend> backend_;
  std::int64_t length_;
  std::vector<std::int64_t> first_;  // first system of each device, and the number of all
  TridiagonalOptions options_;
  std::vector<std::unique_ptr<SweepPlan>> plans_;   // of a shared matrix
  std::vector<Array<T>> lower_, diagonal_, upper_;  // of own matrices
  std::vector<std::unique_ptr<SweepFaults>> faults_;
};

extern template class TridiagonalBatch<double>;
extern template class TridiagonalBatch<float>;

}  // namespace voussoir
