#include <voussoir/backends/cuda/sweeps/cuda_sweeps.hpp>

#include <algorithm>
#include <string>

#include <voussoir/backends/cuda/sweeps/columns.hpp>
#include <voussoir/backends/cuda/sweeps/rows.hpp>
#include <voussoir/backends/cuda/sweeps/sequential.hpp>
#include <voussoir/backends/cuda/sweeps/shared_rows.hpp>
#include <voussoir/backends/cuda/sweeps/tiles.hpp>
#include <voussoir/backends/cuda/sweeps/vendor_sweeps.hpp>

namespace voussoir::cuda {

namespace {

using voussoir::detail::no_sweep_fault;
using voussoir::detail::SweepWord;

/// A word on the device for each length of systems, because words are counted in rows.
class CudaSweepFaults final : public SweepFaults {
 public:
  explicit CudaSweepFaults(std::shared_ptr<DeviceMemory> memory) : memory_(std::move(memory)), words_(memory_, most) {
    std::ranges::fill(words_.write_host(), no_sweep_fault);
  }

  int device() const { return memory_->device(); }
  /// The word for systems of a length. Inside a section.
  SweepWord* word(std::int64_t length) {
    auto place = std::ranges::find(lengths_, length);
    if (place == lengths_.end()) {
      if (lengths_.size() == most)
        throw Error(ErrorCode::misuse, "tridiagonal batch: faults of systems of more than " + std::to_string(most) +
                                           " lengths; call take() in between");
      place = lengths_.insert(lengths_.end(), length);
    }
    return words_.update_device() + (place - lengths_.begin());
  }
  SweepOutcome take() override {
    if (lengths_.empty()) return {};
    SweepOutcome lowest;
    const auto words = words_.update_host();
    for (std::size_t k = 0; k < lengths_.size(); ++k) {
      const SweepOutcome outcome = voussoir::detail::sweep_outcome(words[k], lengths_[k]);
      if (!outcome.good() && (lowest.good() || outcome.system < lowest.system)) lowest = outcome;
      words[k] = no_sweep_fault;
    }
    lengths_.clear();
    return lowest;
  }

 private:
  static constexpr std::size_t most = 64;
  std::shared_ptr<DeviceMemory> memory_;
  Array<SweepWord> words_;
  std::vector<std::int64_t> lengths_;
};

template <class T>
class CudaSweepPlan final : public SweepPlan {
 public:
  CudaSweepPlan(std::int64_t length, const SweepOptions& options) : length_(length), options_(options) {}

  std::int64_t length() const override { return length_; }
  bool periodic() const override { return options_.periodic; }
  int device() const override { return options_.device; }
  bool is_single() const override { return sizeof(T) == sizeof(float); }
  const SweepOptions& options() const { return options_; }

  Array<T> lower, diagonal, upper;
  SharedFactors<T> factors;

 private:
  std::int64_t length_;
  SweepOptions options_;
};

class CudaSweeps final : public SweepServices {
 public:
  explicit CudaSweeps(std::vector<std::shared_ptr<DeviceMemory>> memories) : memories_(std::move(memories)) {}

  std::unique_ptr<SweepFaults> make_faults(int device) override {
    voussoir::detail::require_sweep_options({.device = device}, devices());
    return std::make_unique<CudaSweepFaults>(memory_of(device));
  }
  void solve(const SweepShape& shape, const SweepCoefficients<double>& matrix, const Array<double>& f, Array<double>& y,
             const SweepOptions& options) override {
    solve_own(shape, matrix, f, y, options);
  }
  void solve(const SweepShape& shape, const SweepCoefficients<float>& matrix, const Array<float>& f, Array<float>& y,
             const SweepOptions& options) override {
    solve_own(shape, matrix, f, y, options);
  }
  std::unique_ptr<SweepPlan> prepare(const SweepCoefficients<double>& matrix, std::int64_t length,
                                     const SweepOptions& options) override {
    return prepare_shared(matrix, length, options);
  }
  std::unique_ptr<SweepPlan> prepare(const SweepCoefficients<float>& matrix, std::int64_t length,
                                     const SweepOptions& options) override {
    return prepare_shared(matrix, length, options);
  }
  void solve(const SweepPlan& plan, const SweepShape& shape, const Array<double>& f, Array<double>& y,
             SweepFaults* faults) override {
    solve_shared(plan, shape, f, y, faults);
  }
  void solve(const SweepPlan& plan, const SweepShape& shape, const Array<float>& f, Array<float>& y,
             SweepFaults* faults) override {
    solve_shared(plan, shape, f, y, faults);
  }

  std::vector<VendorSweep> vendor_sweeps(const SweepShape& shape, Array<double>& lower, Array<double>& diagonal,
                                         Array<double>& upper, Array<double>& x, int device) override {
    voussoir::detail::require_sweep_options({.device = device}, devices());
    return make_vendor_sweeps(shape, {lower, diagonal, upper, x}, memory_of(device));
  }

 private:
  /// Where the faults of a solve go: to the caller's collection, or to one of its own that throws at the end.
  class Faults {
   public:
    Faults(SweepFaults* given, const std::shared_ptr<DeviceMemory>& memory) {
      if (!given) {
        own_ = std::make_unique<CudaSweepFaults>(memory);
        used_ = own_.get();
        return;
      }
      used_ = dynamic_cast<CudaSweepFaults*>(given);
      if (!used_ || used_->device() != memory->device())
        throw Error(ErrorCode::misuse, "tridiagonal batch: the faults belong to another backend or device");
    }
    SweepWord* word(std::int64_t length) { return used_->word(length); }
    void settle() {
      if (own_) own_->take().require();
    }

   private:
    std::unique_ptr<CudaSweepFaults> own_;
    CudaSweepFaults* used_ = nullptr;
  };

  template <class T>
  void solve_own(const SweepShape& shape, const SweepCoefficients<T>& matrix, const Array<T>& f, Array<T>& y,
                 const SweepOptions& options) {
    voussoir::detail::require_sweep_options(options, devices());
    voussoir::detail::require_sweep(shape, matrix, f, y);
    if (shape.systems() == 0) return;
    const auto& memory = memory_of(options.device);
    Faults faults(options.faults, memory);
    {
      const DeviceSection section(*memory);
      const voussoir::detail::SweepSides<T> sides(shape, f, y);
      SweepTask<T> task;
      task.lower = matrix.lower.read_device();
      task.diagonal = matrix.diagonal.read_device();
      task.upper = matrix.upper.read_device();
      task.f = sides.f;
      task.y = sides.y;
      task.matrix = task.lines = lines_of(shape);
      task.systems = shape.systems();
      task.length = shape.length;
      task.periodic = options.periodic;
      task.tolerance = voussoir::detail::sweep_tolerance<T>(options);
      task.fault = faults.word(shape.length);
      if (options.method == SweepMethod::sequential)
        solve_sequentially(task, memory);
      else if (!solve_rows(task, memory) && !solve_tiles(task, memory))
        solve_columns(task, memory);
    }
    faults.settle();
  }

  template <class T>
  std::unique_ptr<SweepPlan> prepare_shared(const SweepCoefficients<T>& matrix, std::int64_t length,
                                            const SweepOptions& options) {
    voussoir::detail::require_sweep_options(options, devices());
    voussoir::detail::require_shared_matrix(length, matrix.lower.size(), matrix.diagonal.size(), matrix.upper.size());
    auto plan = std::make_unique<CudaSweepPlan<T>>(length, options);
    const auto& memory = memory_of(options.device);
    plan->lower = matrix.lower.clone();
    plan->diagonal = matrix.diagonal.clone();
    plan->upper = matrix.upper.clone();
    // A solve with any right-hand side shows whether the method can eliminate the matrix.
    const std::vector<T> zeros(static_cast<std::size_t>(length), T(0));
    Array<T> trial(memory, std::span<const T>(zeros));
    SweepOptions once = options;
    once.faults = nullptr;
    solve_own(SweepShape::contiguous(length, 1), SweepCoefficients<T>{plan->lower, plan->diagonal, plan->upper}, trial,
              trial, once);
    if (options.method != SweepMethod::sequential)
      voussoir::detail::sweep_outcome(
          factor_shared(matrix.lower.read_host(), matrix.diagonal.read_host(), matrix.upper.read_host(),
                        options.periodic, voussoir::detail::sweep_tolerance<T>(options), memory, plan->factors),
          length)
          .require();
    return plan;
  }

  template <class T>
  void solve_shared(const SweepPlan& plan, const SweepShape& shape, const Array<T>& f, Array<T>& y,
                    SweepFaults* given) {
    voussoir::detail::require_sweep_plan(plan, shape, sizeof(T) == sizeof(float));
    const auto* own = dynamic_cast<const CudaSweepPlan<T>*>(&plan);
    if (!own) throw Error(ErrorCode::misuse, "tridiagonal batch: the matrix was prepared by another backend");
    voussoir::detail::require_sweep_shape(shape, f.size(), "f");
    voussoir::detail::require_sweep_shape(shape, y.size(), "y");
    if (shape.systems() == 0) return;
    const auto& memory = memory_of(own->device());
    Faults faults(given, memory);
    {
      const DeviceSection section(*memory);
      const voussoir::detail::SweepSides<T> sides(shape, f, y);
      SweepTask<T> task;
      task.f = sides.f;
      task.y = sides.y;
      task.lines = lines_of(shape);
      task.systems = shape.systems();
      task.length = shape.length;
      task.periodic = own->periodic();
      task.tolerance = voussoir::detail::sweep_tolerance<T>(own->options());
      task.fault = faults.word(shape.length);
      if (!solve_shared_rows(task, own->factors, memory)) {
        task.lower = own->lower.read_device();
        task.diagonal = own->diagonal.read_device();
        task.upper = own->upper.read_device();
        task.matrix = {1, task.systems, 0, 0, 0};
        if (own->options().method == SweepMethod::sequential)
          solve_sequentially(task, memory);
        else if (!solve_tiles(task, memory))
          solve_columns(task, memory);
      }
    }
    faults.settle();
  }

  int devices() const { return static_cast<int>(memories_.size()); }
  const std::shared_ptr<DeviceMemory>& memory_of(int device) const {
    return memories_[static_cast<std::size_t>(device)];
  }

  std::vector<std::shared_ptr<DeviceMemory>> memories_;
};

}  // namespace

std::unique_ptr<SweepServices> make_sweeps(std::vector<std::shared_ptr<DeviceMemory>> memories) {
  return std::make_unique<CudaSweeps>(std::move(memories));
}

}  // namespace voussoir::cuda
