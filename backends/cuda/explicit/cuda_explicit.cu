#include <voussoir/backends/cuda/explicit/cuda_explicit.hpp>

#include <algorithm>
#include <string>

#include <voussoir/backends/cuda/cuda_backend.hpp>
#include <voussoir/backends/cuda/elements/force_step.hpp>
#include <voussoir/backends/cuda/model_plans.hpp>
#include <voussoir/backends/cuda/primitives/reduction.hpp>
#include <voussoir/backends/cuda/programs/device_program.hpp>
#include <voussoir/backends/cuda/runtime/early_start.hpp>
#include <voussoir/backends/detail/checks.hpp>
#include <voussoir/backends/detail/explicit_checks.hpp>
#include <voussoir/backends/detail/explicit_update.hpp>

// Explicit steps on GPUs. A step is a kernel for the forces of each batch of elements, one for the nodes that several
// clusters share, and one for everything that is done with vectors. What differs from step to step (time, factors of
// loads) is in tables on the device, so that the same launches can be recorded and replayed.

namespace voussoir::cuda {

namespace {

using voussoir::detail::ExplicitEntry;
using voussoir::detail::ExplicitWorks;

constexpr int most_loads = static_cast<int>(ExplicitServices::most_loads);
constexpr int work_kinds = 3;

/// What the pass over the vectors is given.
struct PassJob {
  std::int64_t owned = 0;
  double* u = nullptr;
  double* velocity = nullptr;
  double* before = nullptr;
  double* external = nullptr;
  const double* internal = nullptr;
  const double* gain = nullptr;
  const double* keep = nullptr;     ///< null: 1
  const double* damping = nullptr;  ///< null: none
  const double* loads[most_loads] = {};
  int load_count = 0;
  const double* times = nullptr;    ///< of all rows, and one more number
  const double* factors = nullptr;  ///< of the loads, row by row
  StepClock* clock = nullptr;
  unsigned* counter = nullptr;     ///< 0 between kernels
  double* works[work_kinds] = {};  ///< to whose entries those of blocks are added; the last may be null
  double step = 0;
};

/// Two entries of a vector in one access.
struct alignas(16) TwoEntries {
  double entry[2];
};
constexpr int at_once = 2, block_entries = sum_threads * at_once;

/// Entries from number i on, which is even; zeros beyond the last.
__device__ inline TwoEntries load_two(const double* from, std::int64_t i, std::int64_t count) {
  if (i + 1 < count) return *reinterpret_cast<const TwoEntries*>(from + i);
  return {{i < count ? from[i] : 0.0, 0.0}};
}
__device__ inline void store_two(const TwoEntries& two, double* to, std::int64_t i, std::int64_t count) {
  if (i + 1 < count)
    *reinterpret_cast<TwoEntries*>(to + i) = two;
  else if (i < count)
    to[i] = two.entry[0];
}

/// Lets the clock run on when all blocks of the kernel have looked at it: `row` is what this thread saw. All threads
/// call.
__device__ inline void move_clock(const PassJob& job, long long row) {
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence();
  if (atomicAdd(job.counter, 1u) + 1 != gridDim.x) return;
  *job.counter = 0;
  job.clock->row = row + 1;
  job.clock->time = job.times[row + 1];
}

/// The end of a step (`turns`: velocities of the next one from the forces), the beginning of the next one (`moves`:
/// works, and the unknowns at its end), or both. Where nothing moves on, what a state consists of is written. A block
/// does block_entries of the vectors.
template <bool turns, bool moves>
__global__ void __launch_bounds__(sum_threads) explicit_pass(PassJob job) {
  after_earlier_work();
  // Everything that is always needed is on its way at once.
  const std::int64_t n = job.owned,
                     first = (static_cast<std::int64_t>(blockIdx.x) * sum_threads + threadIdx.x) * at_once;
  const TwoEntries internal = load_two(job.internal, first, n);
  TwoEntries velocity = load_two(job.velocity, first, n);
  TwoEntries u, gain;
  if constexpr (moves) u = load_two(job.u, first, n);
  if constexpr (turns) gain = load_two(job.gain, first, n);
  TwoEntries external{{0, 0}}, before, keep{{1, 1}}, damping{{0, 0}};
  if constexpr (turns) {
    const long long row = job.clock->row;
    for (int c = 0; c < job.load_count; ++c) {
      const double factor = job.factors[row * job.load_count + c];
      const TwoEntries load = load_two(job.loads[c], first, n);
      for (int k = 0; k < at_once; ++k) external.entry[k] += factor * load.entry[k];
    }
    if (job.keep) keep = load_two(job.keep, first, n);
    move_clock(job, row);
  } else {
    external = load_two(job.external, first, n);
    before = load_two(job.before, first, n);
  }
  if constexpr (moves)
    if (job.damping) damping = load_two(job.damping, first, n);
  ExplicitWorks works;
#pragma unroll
  for (int k = 0; k < at_once; ++k) {
    if constexpr (turns) {
      before.entry[k] = velocity.entry[k];
      velocity.entry[k] = voussoir::detail::next_explicit_velocity(gain.entry[k], external.entry[k], internal.entry[k],
                                                                   keep.entry[k], before.entry[k]);
    }
    if constexpr (moves) {
      works.add({internal.entry[k], external.entry[k], before.entry[k], velocity.entry[k]}, damping.entry[k], job.step);
      u.entry[k] += job.step * velocity.entry[k];
    }
  }
  if constexpr (turns) store_two(velocity, job.velocity, first, n);
  if constexpr (moves) {
    store_two(u, job.u, first, n);
    double sums[work_kinds] = {works.internal, works.external, works.damping};
    sum_block<sum_threads>(sums);
    // The work of a block is added to the entry that it begins with.
    if (threadIdx.x == 0 && first < n)
      for (int k = 0; k < work_kinds; ++k)
        if (job.works[k]) job.works[k][static_cast<std::int64_t>(blockIdx.x) * block_entries] += sums[k];
  } else {
    store_two(before, job.before, first, n);
    store_two(external, job.external, first, n);
  }
}

/// From the order of elements to that of the places of clusters (`forth`), or back, numbers in groups of 32 each.
__global__ void order_history(ClusterView view, int numbers, bool forth, double* by_element, double* by_place) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::int64_t place = i / 32 / numbers * 32 + i % 32, k = i / 32 % numbers;
  if (place >= view.count) return;
  const std::int64_t e = view.element[place];
  double& other = by_element[(e / 32 * numbers + k) * 32 + e % 32];
  if (forth)
    by_place[i] = other;
  else
    other = by_place[i];
}

/// What kernels of forces take of shared memory, at most, besides that of all kernels over clusters.
std::size_t more_bytes(const ElementProgram& program) {
  return sizeof(double) *
         static_cast<std::size_t>(most_force_numbers(program.nodes(), program.components()) - program.dofs()) *
         static_cast<std::size_t>(cluster_size_of(program));
}

/// What a recording depends on: it is replayed as long as nothing of this changes.
struct RecordedFor {
  std::vector<const void*> pointers;
  double step = 0;
  bool operator==(const RecordedFor&) const = default;
};

class CudaExplicitStepper final : public ExplicitStepper {
 public:
  CudaExplicitStepper(CudaBackend& backend, ExplicitSystem system);

  std::shared_ptr<const ElementHistory> advance(const ExplicitMotion& motion, const ExplicitRows& rows) override;
  std::string describe() const override;

 private:
  struct DevicePart {
    std::vector<char> clustered;  ///< per batch
    bool all_clustered = true;    ///< of those that take part
    std::shared_ptr<const ClusterSet> clusters;
    Array<double> partial;               ///< sums of nodes that clusters share
    Array<double> vectors;               ///< of elements that are not done in clusters
    std::vector<Array<double>> history;  ///< per batch that is done in clusters, in the order of their places
    Array<double> times, factors;
    Array<StepClock> clock;
    Array<unsigned> counter;
  };
  /// What is the same in all steps of a call.
  struct Call {
    const ExplicitMotion& motion;
    ElementState state;
  };

  double factor_of(int batch) const {
    return system_.batch_factors.empty() ? 1.0 : system_.batch_factors[static_cast<std::size_t>(batch)];
  }
  bool takes_part(int device, int batch) const {
    return factor_of(batch) != 0 && elements(device, batch).element_count > 0;
  }
  const ElementBatch& elements(int device, int batch) const {
    return model_.part(device).batches[static_cast<std::size_t>(batch)];
  }
  DevicePart& part(int device) { return parts_[static_cast<std::size_t>(device)]; }
  const std::shared_ptr<DeviceMemory>& memory(int device) const { return model_.layout()->memory(device); }

  void plan_device(int device);
  void begin_call(const ExplicitMotion& motion, const ExplicitRows& rows);
  void take_history(const std::shared_ptr<const ElementHistory>& from);
  double* history_of(int device, int batch);
  void order_histories(bool forth);
  void enqueue_forces(int device, Call& call, bool advances);
  void enqueue_clusters(int device, const Call& call, const double* u, double* f, bool advances);
  void enqueue_others(int device, const Call& call, double* f, bool advances);
  template <bool turns, bool moves>
  void enqueue_pass(int device, const ExplicitMotion& motion);
  void forces(Call& call, bool advances);
  template <bool turns, bool moves>
  void pass(const ExplicitMotion& motion);
  void steps_between(Call& call, std::int64_t count);
  RecordedFor recorded_for(const Call& call);

  CudaBackend& backend_;
  ExplicitSystem system_;
  const DeviceModel& model_;
  ModelRevision revision_;
  std::vector<DevicePart> parts_;
  FaultWords faults_;
  std::shared_ptr<ElementHistory> history_;  ///< of the elements, advanced in place
  int rows_ = 0;                             ///< of the call
  std::span<const double> times_;            ///< of the call
  static constexpr int recorded_steps = 10;
  std::unique_ptr<RecordedWork> recording_;
  RecordedFor recorded_for_;
  bool may_record_ = true;
};

CudaExplicitStepper::CudaExplicitStepper(CudaBackend& backend, ExplicitSystem system)
    : backend_(backend),
      system_(std::move(system)),
      model_(*system_.model),
      revision_(model_.revision()),
      parts_(static_cast<std::size_t>(model_.devices())),
      faults_(model_) {
  for (int d = 0; d < model_.devices(); ++d) plan_device(d);
  may_record_ = model_.devices() == 1 && part(0).all_clustered;
}

void CudaExplicitStepper::plan_device(int d) {
  DevicePart& own = part(d);
  ModelPlans& plans = ModelPlans::of(model_);
  const ElementState at_rest;
  std::vector<bool> active(static_cast<std::size_t>(model_.batch_count()), false);
  own.clustered.assign(active.size(), 0);
  own.history.resize(active.size());
  bool any = false;
  std::size_t room = 0;
  for (int b = 0; b < model_.batch_count(); ++b) {
    if (!takes_part(d, b)) continue;
    const ElementBatch& batch = elements(d, b);
    const ElementProgram& program = *batch.program;
    const bool fits = batch.slot.empty() &&
                      device_program(program).knows_cluster_forces(ElementRun::all(model_, d, b, faults_, at_rest)) &&
                      fits_clusters(program, *memory(d), more_bytes(program));
    own.clustered[static_cast<std::size_t>(b)] = fits;
    active[static_cast<std::size_t>(b)] = fits;
    any = any || fits;
    if (fits) continue;
    own.all_clustered = false;
    plans.gather(d, b);
    room = std::max(room, room_for(batch.element_count, program.dofs()));
  }
  own.all_clustered = own.all_clustered && any;
  if (any) own.clusters = plans.clusters(d, active);
  if (own.clusters) own.partial = Array<double>(memory(d), own.clusters->partial_numbers());
  own.vectors = Array<double>(memory(d), room);
  own.counter = Array<unsigned>(memory(d), 1);
  own.clock = Array<StepClock>(memory(d), 1);
  DeviceSection section(*memory(d));
  fill_bytes_async(own.counter.write_device(), 0, own.counter.bytes(), stream_of(memory(d)));
}

/// Tables of the steps, and the clock before the first of them.
void CudaExplicitStepper::begin_call(const ExplicitMotion& motion, const ExplicitRows& rows) {
  rows_ = static_cast<int>(rows.times.size());
  times_ = rows.times;
  for (int d = 0; d < model_.devices(); ++d) {
    DevicePart& own = part(d);
    const auto put = [&](std::span<const double> values, Array<double>& table) {
      if (values.empty()) return;
      if (table.size() <= values.size())
        table = Array<double>(memory(d), std::max<std::size_t>(128, 2 * values.size()));
      const auto host = table.write_host();
      std::copy(values.begin(), values.end(), host.begin());
      std::fill(host.begin() + static_cast<std::ptrdiff_t>(values.size()), host.end(), 0.0);
    };
    put(rows.times, own.times);
    put(rows.factors, own.factors);
    own.clock.write_host()[0] = {rows.times[0], motion.step, 0};
  }
}

/// A copy of the committed history, to be advanced in place.
void CudaExplicitStepper::take_history(const std::shared_ptr<const ElementHistory>& from) {
  if (!history_ || history_.use_count() > 1) history_ = backend_.make_history(model_);
  if (!history_) return;
  for (std::size_t d = 0; d < history_->parts.size(); ++d)
    for (std::size_t b = 0; b < history_->parts[d].size(); ++b) {
      Array<double>& to = history_->parts[d][b].values;
      if (to.empty()) continue;
      const auto& own = memory(static_cast<int>(d));
      DeviceSection section(*own);
      if (from)
        copy_async(to.write_device(), from->parts[d][b].values.read_device(), to.bytes(), stream_of(own));
      else
        fill_bytes_async(to.write_device(), 0, to.bytes(), stream_of(own));
    }
}

/// The history that is advanced in place.
double* CudaExplicitStepper::history_of(int d, int b) {
  const auto batch = static_cast<std::size_t>(b);
  if (!history_ || history_->parts[static_cast<std::size_t>(d)][batch].values.empty()) return nullptr;
  if (part(d).clustered[batch]) return part(d).history[batch].update_device();
  return history_->parts[static_cast<std::size_t>(d)][batch].values.update_device();
}

/// Brings the history of elements that are done in clusters to their order, or back.
void CudaExplicitStepper::order_histories(bool forth) {
  if (!history_) return;
  for (int d = 0; d < model_.devices(); ++d)
    for (int b = 0; b < model_.batch_count(); ++b) {
      DevicePart& own = part(d);
      const auto batch = static_cast<std::size_t>(b);
      ElementHistory::Batch& plain = history_->parts[static_cast<std::size_t>(d)][batch];
      if (plain.values.empty() || !own.clustered[batch]) continue;
      const ClusterPlan& plan = own.clusters->batches[batch];
      const std::size_t room = room_for(plan.elements, plain.count);
      if (own.history[batch].size() != room) own.history[batch] = Array<double>(memory(d), room);
      DeviceSection section(*memory(d));
      double* by_place = forth ? own.history[batch].write_device() : own.history[batch].update_device();
      launch(order_history, grid_for(static_cast<std::int64_t>(room)), stream_of(memory(d)),
             cluster_view(plan, nullptr, {}), plain.count, forth, plain.values.update_device(), by_place);
    }
}

void CudaExplicitStepper::enqueue_clusters(int d, const Call& call, const double* u, double* f, bool advances) {
  DevicePart& own = part(d);
  ClusterSums sums;
  sums.y = f;
  sums.partial = own.partial.empty() ? nullptr : own.partial.update_device();
  sums.partial_components = own.clusters->components;
  sums.partial_step = static_cast<std::int64_t>(own.clusters->partial_numbers());
  for (int b = 0; b < model_.batch_count(); ++b) {
    if (!own.clustered[static_cast<std::size_t>(b)]) continue;
    const ForceStep step{own.clock.update_device(), history_of(d, b)};
    device_program(*elements(d, b).program)
        .clustered_forces(ElementRun::all(model_, d, b, faults_, call.state), factor_of(b), u, step, advances,
                          own.clusters->batches[static_cast<std::size_t>(b)], sums);
  }
  finish_clusters(model_, d, *own.clusters, u, sums, nullptr, nullptr);
}

/// Elements that are not done in clusters: vectors of all of them, then sums by nodes.
void CudaExplicitStepper::enqueue_others(int d, const Call& call, double* f, bool advances) {
  DevicePart& own = part(d);
  for (int b = 0; b < model_.batch_count(); ++b) {
    if (!takes_part(d, b) || own.clustered[static_cast<std::size_t>(b)]) continue;
    const DeviceProgram& program = device_program(*elements(d, b).program);
    const ElementRun run = ElementRun::all(model_, d, b, faults_, call.state);
    program.residuals(run, own.vectors.write_device());
    add_to_nodes(model_, d, b, ModelPlans::of(model_).gather(d, b), own.vectors.read_device(), factor_of(b), {f});
    // A thread has read all of its element's history before it writes the new one.
    double* history = history_of(d, b);
    if (advances && history) program.histories(run, history);
  }
}

void CudaExplicitStepper::enqueue_forces(int d, Call& call, bool advances) {
  DevicePart& own = part(d);
  DeviceSection section(*memory(d));
  Array<double>& target = call.motion.internal->part(d);
  const double* u = call.motion.unknowns->part(d).read_device();
  double* f = target.write_device();
  if (!own.all_clustered) fill_bytes_async(f, 0, target.bytes(), stream_of(memory(d)));
  if (own.clusters) enqueue_clusters(d, call, u, f, advances);
  if (!own.all_clustered) enqueue_others(d, call, f, advances);
}

template <bool turns, bool moves>
void CudaExplicitStepper::enqueue_pass(int d, const ExplicitMotion& motion) {
  DevicePart& own = part(d);
  DeviceSection section(*memory(d));
  PassJob job;
  job.owned = model_.layout()->owned(d);
  job.u = motion.unknowns->part(d).update_device();
  job.velocity = motion.velocity->part(d).update_device();
  if constexpr (!(turns && moves)) {
    job.before = motion.before->part(d).update_device();
    job.external = motion.external->part(d).update_device();
  }
  job.internal = motion.internal->part(d).read_device();
  job.gain = motion.gain->part(d).read_device();
  job.keep = motion.keep ? motion.keep->part(d).read_device() : nullptr;
  job.damping = system_.damping ? system_.damping->part(d).read_device() : nullptr;
  for (const Vector* load : system_.loads) job.loads[job.load_count++] = load->part(d).read_device();
  job.times = own.times.read_device();
  job.factors = own.factors.empty() ? nullptr : own.factors.read_device();
  job.clock = own.clock.update_device();
  job.counter = own.counter.update_device();
  for (int k = 0; k < (system_.damping ? work_kinds : work_kinds - 1); ++k)
    job.works[k] = motion.works[k]->part(d).update_device();
  job.step = motion.step;
  const std::int64_t blocks = std::max<std::int64_t>(1, (job.owned + block_entries - 1) / block_entries);
  launch(explicit_pass<turns, moves>, Grid{blocks, sum_threads, 0, Start::early}, stream_of(memory(d)), job);
}

void CudaExplicitStepper::forces(Call& call, bool advances) {
  exchange_ghosts(*call.motion.unknowns);
  for (int d = 0; d < model_.devices(); ++d) enqueue_forces(d, call, advances);
}

template <bool turns, bool moves>
void CudaExplicitStepper::pass(const ExplicitMotion& motion) {
  for (int d = 0; d < model_.devices(); ++d) enqueue_pass<turns, moves>(d, motion);
}

RecordedFor CudaExplicitStepper::recorded_for(const Call& call) {
  DeviceSection section(*memory(0));
  const ExplicitMotion& motion = call.motion;
  RecordedFor key;
  key.step = motion.step;
  for (Vector* x :
       {motion.unknowns, motion.velocity, motion.internal, motion.works[0], motion.works[1], motion.works[2]})
    key.pointers.push_back(x ? x->part(0).update_device() : nullptr);
  for (const Vector* x : {motion.gain, motion.keep}) key.pointers.push_back(x ? x->part(0).read_device() : nullptr);
  key.pointers.push_back(part(0).times.read_device());
  key.pointers.push_back(part(0).factors.empty() ? nullptr : part(0).factors.read_device());
  key.pointers.push_back(call.state.temperature ? call.state.temperature->parts[0].read_device() : nullptr);
  for (int b = 0; b < model_.batch_count(); ++b) key.pointers.push_back(history_of(0, b));
  return key;
}

/// Steps of which each leads on to the next one: forces, then the pass over the vectors.
void CudaExplicitStepper::steps_between(Call& call, std::int64_t count) {
  std::int64_t row = 0;
  const auto once = [&] {
    call.state.time = times_[static_cast<std::size_t>(row)];
    forces(call, true);
    pass<true, true>(call.motion);
  };
  if (may_record_ && count > recorded_steps) {
    RecordedFor key = recorded_for(call);
    if (!recording_ || !(key == recorded_for_)) {
      once();  // kernels are loaded when they are first launched, which cannot be recorded
      ++row;
      recording_ = std::make_unique<RecordedWork>();
      recorded_for_ = std::move(key);
      // Nothing that is recorded may depend on the row, so the same one stands for all.
      may_record_ = recording_->record(stream_of(memory(0)), [&] {
        for (int k = 0; k < recorded_steps; ++k) once();
      });
    }
    if (may_record_) {
      DeviceSection section(*memory(0));
      for (; count - row >= recorded_steps; row += recorded_steps) recording_->replay(stream_of(memory(0)));
    }
  }
  for (; row < count; ++row) once();
}

std::shared_ptr<const ElementHistory> CudaExplicitStepper::advance(const ExplicitMotion& motion,
                                                                   const ExplicitRows& rows) {
  voussoir::detail::require_explicit_steps(system_, motion, rows);
  voussoir::detail::require_current(model_, revision_, "explicit steps");
  begin_call(motion, rows);
  take_history(motion.elements.history);
  order_histories(true);
  Call call{motion, motion.elements};
  call.state.unknowns = motion.unknowns;
  call.state.history = history_;
  call.state.time_step = motion.step;
  pass<false, true>(motion);
  steps_between(call, rows_ - 1);
  call.state.time = rows.times.back();
  forces(call, false);
  pass<true, false>(motion);
  order_histories(false);
  faults_.rethrow();
  return history_;
}

std::string CudaExplicitStepper::describe() const {
  const DevicePart& own = parts_.front();
  const auto clustered = std::count(own.clustered.begin(), own.clustered.end(), 1);
  return std::to_string(clustered) + (clustered == 1 ? " kernel" : " kernels") + " for forces in clusters" +
         (own.all_clustered ? "" : ", others element by element") + ", one for shared nodes, one for the vectors" +
         (recording_ && may_record_ ? ", recorded" : "");
}

class CudaExplicit final : public ExplicitServices {
 public:
  explicit CudaExplicit(CudaBackend& backend) : backend_(backend) {}
  std::unique_ptr<ExplicitStepper> make_stepper(const ExplicitSystem& system) override {
    voussoir::detail::require_explicit_system(system);
    for (int b = 0; b < system.model->batch_count(); ++b)
      for (int d = 0; d < system.model->devices(); ++d) {
        const ElementBatch& batch = system.model->part(d).batches[static_cast<std::size_t>(b)];
        if (!system.batch_factors.empty() && system.batch_factors[static_cast<std::size_t>(b)] == 0) continue;
        if (device_program(*batch.program).route() == Route::host) return nullptr;
      }
    return std::make_unique<CudaExplicitStepper>(backend_, system);
  }

 private:
  CudaBackend& backend_;
};

}  // namespace

std::unique_ptr<ExplicitServices> make_explicit_services(CudaBackend& backend) {
  return std::make_unique<CudaExplicit>(backend);
}

}  // namespace voussoir::cuda
