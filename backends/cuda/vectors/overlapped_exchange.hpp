#pragma once
#include <functional>
#include <memory>
#include <vector>

#include <voussoir/backends/cuda/runtime/memory.hpp>
#include <voussoir/backends/vector.hpp>

namespace voussoir::cuda {

/// Refreshes the ghosts of vectors of up to so many columns on streams of its own, beside the streams of the devices:
///
///   exchange.begin(x);     // after all that devices were asked to do so far
///   …                      // what devices are asked to do here neither reads ghosts of x nor writes x
///   exchange.finish();     // before all that they are asked to do from here on
///
/// It allocates nothing after its construction, so what it enqueues can be recorded.
class OverlappedExchange {
 public:
  explicit OverlappedExchange(std::shared_ptr<const Layout> layout, int columns = 1);
  ~OverlappedExchange();
  OverlappedExchange(const OverlappedExchange&) = delete;
  OverlappedExchange& operator=(const OverlappedExchange&) = delete;

  void begin(const Vector& x);
  void finish();
  int columns() const { return columns_; }

  /// Whether exchanges of this layout are to overlap: where it has `fewest` devices or more and some of them are
  /// different GPUs. On one GPU there is no bus to wait for, and a product in two parts takes longer than one.
  /// VOUSSOIR_OVERLAP=1 or 0 decides instead; VOUSSOIR_CUDA_ONE_BY_ONE forbids it.
  static bool is_wanted(const Layout& layout, int fewest = 2);

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

  const std::shared_ptr<const Layout> shared_layout_;
  const Layout& layout_;
  const int columns_;
  std::vector<cudaStream_t> streams_;  // of each device
  std::vector<Carrier> carriers_;
  std::vector<std::function<void()>> late_;  // in the emulation: what happens when finish() is called
};

}  // namespace voussoir::cuda
