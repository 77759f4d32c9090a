#pragma once
#include <voussoir/backends/vector.hpp>

namespace voussoir::cuda {

/// What a matrix of this backend offers besides Operator: products that are only enqueued. Matrices inherit from it
/// beside SparseMatrix or ElementOperator, and write apply() and apply_dot() with it.
///
/// CG finds it by a dynamic_cast. It refreshes the ghosts itself, calls enqueue() for every device, adds the partial
/// sums on the devices and calls rethrow_faults() when it looks at the residual, every few iterations. So enqueue()
/// must not wait for a device, look at faults, allocate or copy from the host: what it enqueues may be recorded once
/// and replayed many times with the same pointers. apply() and apply_dot(), which anybody may call, exchange ghosts
/// first; apply_dot() waits for its sum and is where faults come out for lone products.
class CudaOperator {
 public:
  virtual ~CudaOperator() = default;
  /// How many partial sums of x·y a product of one column leaves; at least 1. The fewer the better: all blocks of the
  /// next kernel add them up. Not above `most_dot_partials`; kernels with more blocks let their last block add
  /// (reduction.hpp: finish_sum).
  virtual int dot_partials(int device) const = 0;
  static constexpr int most_dot_partials = 1024;
  /// y = A x on the rows of one device, the ghosts of x being fresh, in the order of that device's stream, and the
  /// partial sums of x·y over owned rows where `partials` (on the device) is not null. Called inside no DeviceSection.
  virtual void enqueue(int device, const Vector& x, Vector& y, double* partials) const = 0;
  /// False where enqueue() must wait for a device after all, as elements that are computed on the host make it.
  virtual bool only_enqueues() const { return true; }
  /// Throws what elements complained of in products since the last call. Waits for the devices where there can be
  /// such complaints.
  virtual void rethrow_faults() const {}
  /// Whether a product of one column can begin before the ghosts of x are there, with rows that do not need them.
  virtual bool has_interior(int device) const {
    (void)device;
    return false;
  }
  /// Begins such a product on one device, where has_interior(); as enqueue(), but without its result.
  virtual void enqueue_interior(int device, const Vector& x, Vector& y) const { (void)device, (void)x, (void)y; }
  /// Finishes it, the ghosts of x being fresh; where not has_interior(), it is enqueue().
  virtual void enqueue_rest(int device, const Vector& x, Vector& y, double* partials) const {
    enqueue(device, x, y, partials);
  }
};

}  // namespace voussoir::cuda
