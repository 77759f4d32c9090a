#include <voussoir/backends/openmp/sweeps/cpu_sweeps.hpp>

#include <algorithm>

#include <voussoir/backends/detail/sweep_rules.hpp>
#include <voussoir/backends/openmp/cpu_backend.hpp>
#include <voussoir/backends/openmp/parallel.hpp>
#include <voussoir/backends/openmp/sweeps/long_sweeps.hpp>
#include <voussoir/backends/openmp/sweeps/sweep_kernels.hpp>

namespace voussoir::cpu {

namespace {

using detail::no_sweep_fault;
using detail::SweepWord;

/// Faults are known when a solve returns; the lowest one is kept.
class CpuSweepFaults final : public SweepFaults {
 public:
  SweepOutcome take() override { return std::exchange(lowest_, SweepOutcome{}); }
  void note(const SweepOutcome& outcome) {
    if (outcome.good()) return;
    const auto place = [](const SweepOutcome& o) { return std::pair(o.system, o.row); };
    if (lowest_.good() || place(outcome) < place(lowest_)) lowest_ = outcome;
  }

 private:
  SweepOutcome lowest_;
};

template <class T>
class CpuSweepPlan final : public SweepPlan {
 public:
  CpuSweepPlan(std::int64_t length, bool periodic, const std::shared_ptr<DeviceMemory>& memory)
      : factors(memory, static_cast<std::size_t>(length)),
        length_(length),
        periodic_(periodic),
        device_(memory->device()) {}

  std::int64_t length() const override { return length_; }
  bool periodic() const override { return periodic_; }
  int device() const override { return device_; }
  bool is_single() const override { return sizeof(T) == sizeof(float); }

  Array<SweepFactors<T>> factors;
  T last = 0;  ///< closes a periodic system

 private:
  std::int64_t length_;
  bool periodic_;
  int device_;
};

class CpuSweeps final : public SweepServices {
 public:
  explicit CpuSweeps(CpuBackend& backend) : backend_(backend) {}

  std::unique_ptr<SweepFaults> make_faults(int device) override {
    (void)backend_.memory(device);  // throws where there is none
    return std::make_unique<CpuSweepFaults>();
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

 private:
  template <class T>
  void solve_own(const SweepShape& shape, const SweepCoefficients<T>& matrix, const Array<T>& f, Array<T>& y,
                 const SweepOptions& options) {
    detail::require_sweep_options(options, backend_.devices());
    detail::require_sweep(shape, matrix, f, y);
    if (shape.systems() == 0) return;
    SweepWord lowest = no_sweep_fault;
    {
      const DeviceSection section(*backend_.memory(options.device));
      const detail::SweepSides<T> sides(shape, f, y);
      const SweepBatch<T> batch{shape,
                                matrix.lower.read_device(),
                                matrix.diagonal.read_device(),
                                matrix.upper.read_device(),
                                sides.f,
                                sides.y,
                                detail::sweep_tolerance<T>(options)};
      if (cuts(shape.length, options.method))
        lowest = solve_cut(batch, options.periodic);
      else
        lowest = for_panels<T>(shape, false, [&](std::int64_t first, int count, T* scratch) {
          return sweep_panel(batch, options.periodic, first, count, scratch);
        });
    }
    settle(detail::sweep_outcome(lowest, shape.length), options.faults);
  }

  template <class T>
  std::unique_ptr<SweepPlan> prepare_shared(const SweepCoefficients<T>& matrix, std::int64_t length,
                                            const SweepOptions& options) {
    detail::require_sweep_options(options, backend_.devices());
    detail::require_shared_matrix(length, matrix.lower.size(), matrix.diagonal.size(), matrix.upper.size());
    const auto& memory = backend_.memory(options.device);
    auto plan = std::make_unique<CpuSweepPlan<T>>(length, options.periodic, memory);
    SweepWord lowest = no_sweep_fault;
    {
      const DeviceSection section(*memory);
      lowest = factor_matrix(length, matrix.lower.read_device(), matrix.diagonal.read_device(),
                             matrix.upper.read_device(), options.periodic, detail::sweep_tolerance<T>(options),
                             plan->factors.write_device(), plan->last);
    }
    detail::sweep_outcome(lowest, length).require();
    return plan;
  }

  template <class T>
  void solve_shared(const SweepPlan& plan, const SweepShape& shape, const Array<T>& f, Array<T>& y,
                    SweepFaults* faults) {
    detail::require_sweep_plan(plan, shape, sizeof(T) == sizeof(float));
    const auto* own = dynamic_cast<const CpuSweepPlan<T>*>(&plan);
    if (!own) throw Error(ErrorCode::misuse, "tridiagonal batch: the matrix was prepared by another backend");
    detail::require_sweep_shape(shape, f.size(), "f");
    detail::require_sweep_shape(shape, y.size(), "y");
    if (shape.systems() == 0) return;
    SweepWord lowest = no_sweep_fault;
    {
      const DeviceSection section(*backend_.memory(own->device()));
      const detail::SweepSides<T> sides(shape, f, y);
      const SweepFactors<T>* factors = own->factors.read_device();
      lowest = for_panels<T>(shape, true, [&](std::int64_t first, int count, T* scratch) {
        return sweep_panel(shape, factors, own->periodic(), own->last, sides.f, sides.y, first, count, scratch);
      });
    }
    settle(detail::sweep_outcome(lowest, shape.length), faults);
  }

  /// Whether systems are cut into parts.
  static bool cuts(std::int64_t length, SweepMethod method) {
    if (method == SweepMethod::sequential || length < shortest_cut) return false;
    return method == SweepMethod::partitioned || length >= long_system;
  }

  static void settle(const SweepOutcome& outcome, SweepFaults* faults) {
    if (!faults) return outcome.require();
    auto* own = dynamic_cast<CpuSweepFaults*>(faults);
    if (!own) throw Error(ErrorCode::misuse, "tridiagonal batch: the faults belong to another backend");
    own->note(outcome);
  }

  /// Calls work(first, count, scratch) for panels of systems; the lowest fault.
  template <class T, class Work>
  SweepWord for_panels(const SweepShape& shape, bool shared, Work&& work) const {
    const std::int64_t systems = shape.systems();
    const int most = panel_systems(shape, shared);
    const std::int64_t panels = (systems + most - 1) / most;
    const auto numbers = static_cast<std::size_t>(sweep_scratch(shape.length, shared) * most);
    SweepWord lowest = no_sweep_fault;
    ExceptionKeeper keeper;
#pragma omp parallel num_threads(backend_.threads()) if (shape.unknowns() > 16384 && panels > 1)
    {
      std::unique_ptr<T[]> scratch;
      SweepWord own = no_sweep_fault;
#pragma omp for schedule(static)
      for (std::int64_t p = 0; p < panels; ++p)
        keeper.guard([&] {
          if (!scratch) scratch = std::make_unique_for_overwrite<T[]>(numbers);
          const int count = static_cast<int>(std::min<std::int64_t>(most, systems - p * most));
          own = std::min(own, work(p * most, count, scratch.get()));
        });
#pragma omp critical(voussoir_sweep_faults)
      lowest = std::min(lowest, own);
    }
    keeper.rethrow();
    return lowest;
  }

  /// Solves systems that are cut into parts, one system after another; all threads share the parts of a system.
  template <class T>
  SweepWord solve_cut(const SweepBatch<T>& batch, bool periodic) const {
    const SystemCut cut(batch.shape.length);
    std::vector<PartEnds<T>> ends(static_cast<std::size_t>(cut.parts()));
    SweepWord lowest = no_sweep_fault;
    for (std::int64_t system = 0; system < batch.shape.systems(); ++system) {
      lowest = std::min(lowest, for_jobs<T>(cut, [&](std::int64_t job, T* scratch) {
                          return reduce_parts(batch, periodic, system, cut, job, scratch, ends.data());
                        }));
      lowest = std::min(lowest, couple_parts(batch, system, cut, ends.data()));
      lowest = std::min(lowest, for_jobs<T>(cut, [&](std::int64_t job, T* scratch) {
                          const bool finite = finish_parts(batch, periodic, system, cut, job, scratch, ends.data());
                          return finite ? no_sweep_fault : detail::sweep_word(system, cut.length, 0, not_finite);
                        }));
      if (lowest == detail::sweep_word(system, cut.length, 0, not_finite)) lowest = first_not_finite(batch, system);
    }
    return lowest;
  }

  /// Calls work(job, scratch) for all jobs of a system, on all threads; the lowest fault.
  template <class T, class Work>
  SweepWord for_jobs(const SystemCut& cut, Work&& work) const {
    const std::int64_t jobs = cut.jobs();
    SweepWord lowest = no_sweep_fault;
    ExceptionKeeper keeper;
#pragma omp parallel num_threads(backend_.threads()) if (jobs > 2)
    {
      std::unique_ptr<T[]> scratch;
      SweepWord own = no_sweep_fault;
#pragma omp for schedule(static)
      for (std::int64_t job = 0; job < jobs; ++job)
        keeper.guard([&] {
          if (!scratch) scratch = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(cut_scratch(cut)));
          own = std::min(own, work(job, scratch.get()));
        });
#pragma omp critical(voussoir_sweep_faults)
      lowest = std::min(lowest, own);
    }
    keeper.rethrow();
    return lowest;
  }

  static constexpr SweepFault not_finite = SweepFault::not_finite;
  CpuBackend& backend_;
};

}  // namespace

std::unique_ptr<SweepServices> make_sweeps(CpuBackend& backend) { return std::make_unique<CpuSweeps>(backend); }

}  // namespace voussoir::cpu
