#pragma once
#include <vector>

#include <voussoir/backends/cuda/runtime/memory.hpp>
#include <voussoir/backends/vector.hpp>

namespace voussoir::cuda {

/// Refreshes the ghosts of vectors of one column on streams of its own, beside the streams of the devices:
///
///   exchange.begin(x);     // after all that devices were asked to do so far
///   …                      // what devices are asked to do here neither reads ghosts of x nor writes x
///   exchange.finish();     // before all that they are asked to do from here on
///
/// It allocates nothing after its construction, so what it enqueues can be recorded.
class OverlappedExchange {
 public:
  explicit OverlappedExchange(const Layout& layout);
  ~OverlappedExchange();
  OverlappedExchange(const OverlappedExchange&) = delete;
  OverlappedExchange& operator=(const OverlappedExchange&) = delete;

  void begin(const Vector& x);
  void finish();

  /// Whether exchanges of this layout are to overlap: where some of its devices are different GPUs. On one GPU there is
  /// no bus to wait for, and a product in two parts takes longer than one. VOUSSOIR_CUDA_OVERLAP=1 or 0 decides
  /// instead; VOUSSOIR_CUDA_ONE_BY_ONE forbids it.
  static bool is_wanted(const Layout& layout);

 private:
  /// One way of values: what carries them is the stream of the receiver where both devices are on one GPU, which reads
  /// the owner's vector itself, else that of the owner, which packs them and sends them in one piece.
  struct Carrier {
    int from = 0, to = 0, worker = 0;
    Array<double> packed;  // on the owner; empty where nothing is packed
  };
  /// What is asked of stream `waiting` comes after all that device `other` was asked to do, or the other way round.
  void follow_device(int worker, int device) const;
  void device_follows(int device, int worker) const;

  const Layout& layout_;
  std::vector<cudaStream_t> streams_;  // of each device
  std::vector<Carrier> carriers_;
};

}  // namespace voussoir::cuda
