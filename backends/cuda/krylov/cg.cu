#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include <voussoir/backends/cuda/cuda_backend.hpp>
#include <voussoir/backends/cuda/krylov/cg_kernels.hpp>
#include <voussoir/backends/cuda/krylov/resident_cg.hpp>
#include <voussoir/backends/cuda/matrix/cuda_operator.hpp>
#include <voussoir/backends/cuda/matrix/sparse_matrix.hpp>
#include <voussoir/backends/cuda/vectors/overlapped_exchange.hpp>
#include <voussoir/backends/detail/cg_parts.hpp>
#include <voussoir/backends/detail/checks.hpp>
#include <voussoir/backends/diagonal_operator.hpp>
#include <voussoir/backends/halo_traffic.hpp>

// Conjugate gradients without the host: iterations are enqueued in batches, recorded once and replayed, or done by one
// kernel where the matrix is small, and the host looks at the scalars between batches. The method, its stops and its
// numbers are those of backends/cg.cpp.

namespace voussoir::cuda {

namespace {

/// Iterations that the host enqueues before it looks, at first and at most. The record keeps more.
constexpr int first_batch = 4, longest_batch = 32;
static_assert(longest_batch < kept_iterations);
/// Batches that take longer, in seconds, do not grow: what is enqueued behind the last iteration is done in vain.
constexpr double long_enough = 2e-3;
/// Iterations between two calls of the user.
constexpr int told_every = 50;
/// The same where a preconditioner of several products makes iterations dearer and fewer; and what it moves where each
/// of them takes much longer than a look.
constexpr int longest_general_batch = 8;
constexpr std::size_t bytes_of_long_iterations = 200'000'000;
/// Iterations of one recording: replaying costs a launch. One where iterations are long.
constexpr int recorded_iterations = 4;

/// One solution: vectors, scalars and how an iteration is enqueued.
class CgIteration {
 public:
  CgIteration(const Operator& a, const Operator* preconditioner, const Vector& b, Vector& x, double goal,
              int most_iterations)
      : a_(a),
        product_(dynamic_cast<const CudaOperator*>(&a)),
        preconditioner_(preconditioner),
        diagonal_(dynamic_cast<const DiagonalOperator*>(preconditioner)),
        layout_(*a.layout()),
        x_(x),
        r_(a.layout()),
        p_(a.layout()),
        q_(a.layout()) {
    if (preconditioner_ && !scales()) z_ = Vector(a.layout());
    for (int d = 0; d < devices(); ++d) {
      const auto& memory = layout_.memory(d);
      const int blocks = sum_blocks(d), products = product_ ? product_->dot_partials(d) : blocks;
      vector_sums_.emplace_back(memory, static_cast<std::size_t>(2 * blocks));
      product_sums_.emplace_back(memory, static_cast<std::size_t>(products));
      general_sums_.emplace_back(memory, static_cast<std::size_t>(blocks));
      const CgState start{{0, 0}, 0, goal, 0, most_iterations, 0};
      states_.emplace_back(memory, std::span<const CgState>(&start, 1));
      records_.emplace_back(memory, 1);
      DeviceSection section(*memory);
      (void)states_.back().read_device();
      fill_bytes_async(records_.back().write_device(), 0, sizeof(CgRecord), stream(d));
    }
    prepare_overlap();
    begin(b);
    prepare_resident();
  }
  ~CgIteration() {
    try {
      meet();  // devices read each other's sums, which are given back in the order of their own streams
    } catch (const Error&) {
      // A device has failed. Whoever waits for a result is told.
    }
  }
  CgIteration(const CgIteration&) = delete;
  CgIteration& operator=(const CgIteration&) = delete;
  /// Whether an iteration is the same work every time, so that it can be recorded and replayed.
  bool repeats() const {
    return product_ && product_->only_enqueues() && (!preconditioner_ || preconditioner_->replayable());
  }

  /// Whether an iteration takes much longer than for the host to look at its outcome.
  bool is_long() const { return is_general() && preconditioner_->bytes_moved() > bytes_of_long_iterations; }
  /// Whether the preconditioner is one that our kernels do not know.
  bool is_general() const { return preconditioner_ && !diagonal_; }

  /// Whether one kernel does many iterations, and ends by itself when they stop.
  bool is_resident() const { return resident_width_ > 0; }

  int devices() const { return layout_.devices(); }

  /// Enqueues up to `count` iterations of a resident kernel.
  void enqueue_many(int count) {
    DeviceSection section(*layout_.memory(0));
    const auto& matrix = dynamic_cast<const CudaSparseMatrix&>(a_);
    const CudaSparseMatrix::Part& part = matrix.part(0);
    ResidentCg cg;
    cg.rows = part.rows.view();
    cg.width = resident_width_;
    cg.value = part.value.read_device();
    cg.x = x_.part(0).update_device();
    cg.r = r_.part(0).update_device();
    cg.p = p_.part(0).update_device();
    cg.other_p = q_.part(0).update_device();
    cg.z = z_.part(0).update_device();
    if (diagonal_) {
      cg.diagonal = DiagonalBlocks::of(diagonal_->diagonal(), 0);
      cg.diagonal_size = diagonal_->diagonal().block_size;
    }
    cg.state = states_[0].update_device();
    cg.record = records_[0].update_device();
    cg.mail = mail_.update_device();
    enqueue_resident(cg, matrix.block_size(), count, stream(0));
  }

  /// Enqueues one iteration: a step along the direction, and the decision that follows it with the next direction.
  void enqueue() {
    multiply();
    meet();
    for (int d = 0; d < devices(); ++d) advance_on(d);
    if (one_block()) return;
    precondition();
    decide();
  }

  /// Whatever the matrix holds against itself.
  void rethrow_faults() const {
    if (product_) product_->rethrow_faults();
  }

  /// Brings the scalars of device 0 to the host; waits.
  void look() {
    {
      // Replayed work does not ask arrays for their device side: they are told here that it has changed.
      DeviceSection section(*layout_.memory(0));
      (void)states_[0].update_device();
      (void)records_[0].update_device();
    }
    for (int d = 0; d < devices(); ++d) {
      DeviceSection section(*layout_.memory(d));
      (void)x_.part(d).update_device();
    }
    state_ = states_[0].read_host()[0];
    record_ = records_[0].read_host()[0];
  }
  const CgState& state() const { return state_; }
  const CgRecord& record() const { return record_; }
  cudaStream_t stream(int device) const { return stream_of(layout_.memory(device)); }
  template <class Work>
  void on_first_device(const Work& work) const {
    DeviceSection section(*layout_.memory(0));
    work();
  }
  /// Streams of other devices follow the first one from here on, and it follows them: for recording.
  void fork() const {
    for (int d = 1; d < devices(); ++d) wait_for(memory(d), memory(0));
  }
  void join() const {
    for (int d = 1; d < devices(); ++d) wait_for(memory(0), memory(d));
  }

 private:
  static std::size_t at(int device) { return static_cast<std::size_t>(device); }
  std::int64_t owned(int device) const { return layout_.owned(device); }
  Grid grid(int device) const { return grid_for_sum((owned(device) + 1) / 2); }
  int sum_blocks(int device) const { return static_cast<int>(grid(device).blocks); }
  /// Whether the preconditioner is a number for each equation, which kernels multiply with as they go.
  bool scales() const { return diagonal_ && diagonal_->diagonal().block_size == 1; }

  /// Looks whether a kernel can stay on the device for the iterations to come, and gets it what it needs.
  void prepare_resident() {
    const auto* matrix = dynamic_cast<const CudaSparseMatrix*>(&a_);
    if (!matrix || devices() != 1 || matrix->part(0).tiles || (preconditioner_ && !diagonal_)) return;
    const int size = diagonal_ ? diagonal_->diagonal().block_size : 1;
    if (size != 1 && size != matrix->block_size()) return;
    DeviceSection section(*layout_.memory(0));
    resident_width_ = resident_width(matrix->part(0).rows, matrix->block_size());
    if (!is_resident()) return;
    mail_ = Array<std::uint64_t>(layout_.memory(0), resident_mail);
    fill_bytes_async(mail_.write_device(), 0, mail_.bytes(), stream(0));
    if (!preconditioner_ || scales()) z_ = Vector(a_.layout());
  }

  /// Values of other devices travel while rows that do not need them are multiplied; on one GPU, each device computes
  /// the ghosts of the direction itself instead.
  void prepare_overlap() {
    if (devices() == 1 || !product_) return;
    if (OverlappedExchange::is_wanted(layout_))
      for (int d = 0; d < devices() && !overlap_; ++d)
        if (product_->has_interior(d)) overlap_ = std::make_unique<OverlappedExchange>(a_.layout());
    turns_ghosts_ = !overlap_;
    for (int d = 1; d < devices(); ++d) turns_ghosts_ = turns_ghosts_ && memory(d).ordinal() == memory(0).ordinal();
  }

  /// Where the ghosts of the direction on one device come from.
  DirectionGhosts direction_ghosts(int to) {
    DirectionGhosts all{};
    for (const Layout::Exchange& exchange : layout_.exchanges(to)) {
      if (exchange.send.empty()) continue;
      DirectionGhosts::Way& way = all.ways[all.count++];
      way.count = static_cast<std::int64_t>(exchange.send.size());
      {
        DeviceSection section(*layout_.memory(exchange.from));
        way.send = exchange.send.read_device();
        way.direction = (preconditioner_ && !scales() ? z_ : r_).part(exchange.from).read_device();
        way.blocks = scales() ? diagonal_blocks(exchange.from) : DiagonalBlocks{};
      }
      DeviceSection section(*layout_.memory(to));
      way.ghosts = p_.part(to).update_device() + exchange.first_ghost;
    }
    return all;
  }

  /// Where partial sums lie: `half` 0 or 1 of two halves. Devices read each other's.
  PartialSums sums(std::vector<Array<double>>& arrays, int half) const {
    PartialSums all{};
    all.devices = devices();
    for (int d = 0; d < devices(); ++d) {
      DeviceSection section(*layout_.memory(d));
      const bool halves = &arrays == &vector_sums_;
      const auto count = static_cast<int>(arrays[at(d)].size()) / (halves ? 2 : 1);
      all.partials[d] = arrays[at(d)].update_device() + half * count;
      all.counts[d] = count;
    }
    return all;
  }
  PartialSums z_sums() { return diagonal_ ? sums(vector_sums_, 1) : sums(general_sums_, 0); }

  const CudaMemory& memory(int device) const { return cuda_memory(layout_.memory(device)); }
  /// All devices wait for each other.
  void meet() const {
    join();
    fork();
  }

  /// What kernels do with the diagonal of the preconditioner of one device.
  DiagonalBlocks diagonal_blocks(int d) const {
    return diagonal_ ? DiagonalBlocks::of(diagonal_->diagonal(), d) : DiagonalBlocks{};
  }
  CgVectors vectors(int d) {
    return {owned(d),
            p_.part(d).update_device(),
            q_.part(d).read_device(),
            x_.part(d).update_device(),
            r_.part(d).update_device(),
            preconditioner_ && !scales() ? z_.part(d).update_device() : nullptr};
  }
  /// Kernels of one device follow each other closely; those of several wait for others first. With diagonal blocks of
  /// several numbers an early start takes longer than it saves (docs/benchmarks/cuda.md).
  Grid grid_after(int d) const {
    Grid own = grid(d);
    if (devices() == 1 && (!diagonal_ || scales())) own.start = Start::early;
    return own;
  }

  /// Once all devices have their sums: stop, or turn to the next direction.
  void decide() {
    meet();
    for (int d = 0; d < devices(); ++d) {
      const DirectionGhosts ghosts = turns_ghosts_ ? direction_ghosts(d) : DirectionGhosts{};
      DeviceSection section(*layout_.memory(d));
      CgState* state = states_[at(d)].update_device();
      CgRecord* record = records_[at(d)].update_device();
      const PartialSums r_r = sums(vector_sums_, 0), r_z = preconditioner_ ? z_sums() : r_r;
      if (turns_ghosts_)
        launch(scales() ? turn_with_ghosts<1> : turn_with_ghosts<0>, grid_after(d), stream(d), vectors(d), state,
               record, r_r, r_z, diagonal_blocks(d), memory(d).counter(), ghosts);
      else
        launch(scales() ? turn<1> : turn<0>, grid_after(d), stream(d), vectors(d), state, record, r_r, r_z,
               diagonal_blocks(d), memory(d).counter());
    }
  }

  void begin(const Vector& b) {
    a_.apply(x_, q_);
    for (int d = 0; d < devices(); ++d) {
      DeviceSection section(*layout_.memory(d));
      launch(begin_residual, grid(d), stream(d), owned(d), b.part(d).read_device(), q_.part(d).read_device(),
             r_.part(d).write_device(), vector_sums_[at(d)].update_device());
    }
    if (preconditioner_) begin_preconditioned();
    decide();
  }
  void begin_preconditioned() {
    Vector& z = scales() ? q_ : z_;  // where kernels do without z, it is only needed for this sum
    preconditioner_->apply(r_, z);
    for (int d = 0; d < devices(); ++d) {
      DeviceSection section(*layout_.memory(d));
      double* target =
          diagonal_ ? vector_sums_[at(d)].update_device() + sum_blocks(d) : general_sums_[at(d)].update_device();
      launch(dot_partial_sums, grid(d), stream(d), owned(d), r_.part(d).read_device(), z.part(d).read_device(), target);
    }
  }

  void multiply() {
    if (product_) {
      if (overlap_) {
        overlap_->begin(p_);
        for (int d = 0; d < devices(); ++d) product_->enqueue_interior(d, p_, q_);
        overlap_->finish();
      } else if (turns_ghosts_) {
        if (ghost_bytes_ > 0) count_halo_traffic({1, ghost_bytes_});
      } else {
        exchange_ghosts(p_);
      }
      for (int d = 0; d < devices(); ++d) {
        double* target;
        {
          DeviceSection section(*layout_.memory(d));
          target = product_sums_[at(d)].update_device();
        }
        if (overlap_)
          product_->enqueue_rest(d, p_, q_, target);
        else
          product_->enqueue(d, p_, q_, target);
      }
      return;
    }
    a_.apply(p_, q_);
    for (int d = 0; d < devices(); ++d) {
      DeviceSection section(*layout_.memory(d));
      launch(dot_partial_sums, grid(d), stream(d), owned(d), p_.part(d).read_device(), q_.part(d).read_device(),
             product_sums_[at(d)].update_device());
    }
  }

  template <int B>
  void advance_with(int d, const DiagonalBlocks& blocks) {
    CgState* state = states_[at(d)].update_device();
    CgRecord* record = records_[at(d)].update_device();
    if (one_block())
      launch(advance_and_turn<B>, Grid{1, one_block_threads, 0}, stream(d), vectors(d), state, record,
             sums(product_sums_, 0), blocks);
    else
      launch(advance<B>, grid_after(d), stream(d), vectors(d), state, record, sums(product_sums_, 0), blocks,
             vector_sums_[at(d)].update_device(), memory(d).counter());
  }
  void advance_on(int d) {
    DeviceSection section(*layout_.memory(d));
    if (!diagonal_) return advance_with<0>(d, {});
    const DiagonalBlocks blocks = diagonal_blocks(d);
    for_block_size(diagonal_->diagonal().block_size,
                   [&](auto size) { advance_with<decltype(size)::value>(d, blocks); });
  }
  /// True where one block of threads takes a step and turns.
  bool one_block() const {
    return devices() == 1 && owned(0) <= most_entries_of_one_block && (!preconditioner_ || diagonal_);
  }

  /// z = M r for a preconditioner that no kernel of ours knows, and r·z.
  void precondition() {
    if (!preconditioner_ || diagonal_) return;
    preconditioner_->apply(r_, z_);
    for (int d = 0; d < devices(); ++d) {
      DeviceSection section(*layout_.memory(d));
      launch(dot_partial_sums, grid(d), stream(d), owned(d), r_.part(d).read_device(), z_.part(d).read_device(),
             general_sums_[at(d)].update_device());
    }
  }

  const Operator& a_;
  const CudaOperator* product_;
  const Operator* preconditioner_;
  const DiagonalOperator* diagonal_;
  const Layout& layout_;
  Vector& x_;
  Vector r_, p_, q_, z_;
  std::vector<Array<double>> vector_sums_;   // r·r, then r·z, of every block
  std::vector<Array<double>> product_sums_;  // p·q
  std::vector<Array<double>> general_sums_;  // r·z of other preconditioners
  std::vector<Array<CgState>> states_;
  std::vector<Array<CgRecord>> records_;
  std::unique_ptr<OverlappedExchange> overlap_;  // null: ghosts are there before a product begins
  bool turns_ghosts_ = false;                    // each device computes its ghosts of p as their owners do
  const std::int64_t ghost_bytes_ = halo_bytes(layout_);
  int resident_width_ = 0;
  Array<std::uint64_t> mail_;  // of a resident kernel
  CgState state_{};
  CgRecord record_{};
};

/// Runs iterations in batches: one by one at first, which makes all that is made once, then from a recording where the
/// work can be recorded.
class BatchedIterations {
 public:
  explicit BatchedIterations(CgIteration& iteration)
      : iteration_(iteration), recorded_(iteration.is_long() ? 1 : recorded_iterations) {}

  /// Enqueues `count` iterations and looks at the outcome; 0 only looks.
  void run(int count) {
    const auto start = Clock::now();
    int left = count;
    if (iteration_.is_resident()) {
      if (count > 0) iteration_.enqueue_many(count);
      left = 0;
    }
    if (left > 0 && iterations_ > 0 && !tried_) record();
    for (; !recording_.empty() && left >= recorded_; left -= recorded_) {
      iteration_.join();
      iteration_.on_first_device([&] { recording_.replay(iteration_.stream(0)); });
      iteration_.fork();
      count_halo_traffic(recorded_traffic_);
    }
    for (; left > 0; --left) iteration_.enqueue();
    iteration_.look();
    iterations_ += count;
    seconds_ = std::chrono::duration<double>(Clock::now() - start).count();
  }

  /// How many iterations should come next.
  int next(int done, const CgRequest& request) {
    if (iteration_.is_resident())
      batch_ = kept_iterations - 1;  // it stops by itself
    else if (batch_ == 0)
      batch_ = iteration_.is_long() ? 1 : first_batch;
    else if (seconds_ < long_enough)
      batch_ = std::min(2 * batch_, iteration_.is_long()      ? 2
                                    : iteration_.is_general() ? longest_general_batch
                                                              : longest_batch);
    int count = std::min(batch_, request.max_iterations - done);
    if (request.progress) count = std::min(count, told_every - done % told_every);
    if (done < request.checkpoint) count = std::min(count, request.checkpoint - done);
    return std::max(count, 1);
  }

 private:
  using Clock = std::chrono::steady_clock;

  void record() {
    tried_ = true;
    if (!iteration_.repeats()) return;
    const HaloTraffic before = halo_traffic();
    iteration_.on_first_device([&] {
      (void)recording_.record(iteration_.stream(0), [&] {
        iteration_.fork();
        for (int k = 0; k < recorded_; ++k) iteration_.enqueue();
        iteration_.join();
      });
    });
    // What is recorded is exchanged when it is replayed.
    recorded_traffic_ = halo_traffic() - before;
    count_halo_traffic(HaloTraffic{} - recorded_traffic_);
  }

  CgIteration& iteration_;
  int recorded_;
  RecordedWork recording_;
  HaloTraffic recorded_traffic_;
  bool tried_ = false;
  int iterations_ = 0;
  int batch_ = 0;
  double seconds_ = 0;
};

CgOutcome::Stop stop_of(int stop) {
  switch (static_cast<CgStop>(stop)) {
    case CgStop::converged:
      return CgOutcome::Stop::converged;
    case CgStop::breakdown:
      return CgOutcome::Stop::breakdown;
    case CgStop::not_finite:
      return CgOutcome::Stop::not_finite;
    case CgStop::bad_preconditioner:
      return CgOutcome::Stop::bad_preconditioner;
    default:
      return CgOutcome::Stop::max_iterations;
  }
}

}  // namespace

CgOutcome CudaBackend::cg(const Operator& a, const Operator* preconditioner, const Vector& b, Vector& x,
                          const CgRequest& request) {
  if (!a.layout()) throw Error(ErrorCode::misuse, "cg: the matrix has no layout");
  voussoir::detail::require_layout(*a.layout(), b, "cg");
  voussoir::detail::require_layout(*a.layout(), x, "cg");
  bool reachable = devices() <= most_devices;  // each device reads the sums of all
  for (int d = 0; d < devices() && reachable; ++d)
    for (int other = 0; other < devices(); ++other)
      reachable =
          reachable && enable_peer_access(cuda_memory(memory(d)).ordinal(), cuda_memory(memory(other)).ordinal());
  if (!reachable || request.flexible || b.columns() != 1 || x.columns() != 1)
    return Backend::cg(a, preconditioner, b, x, request);

  CgOutcome outcome;
  outcome.right_hand_side = norm(b);
  if (!std::isfinite(outcome.right_hand_side)) {
    outcome.stop = CgOutcome::Stop::not_finite;
    return outcome;
  }
  if (outcome.right_hand_side == 0) {  // the answer is known, and relative accuracy has no meaning
    fill(x, 0);
    if (request.keep_history) outcome.history.push_back(0);
    outcome.stop = CgOutcome::Stop::converged;
    return outcome;
  }
  const double goal = std::max(request.relative_tolerance * outcome.right_hand_side, request.absolute_tolerance);
  CgIteration iteration(a, preconditioner, b, x, goal, request.max_iterations);

  LanczosMatrix lanczos;
  voussoir::detail::Progress progress(request);
  BatchedIterations batches(iteration);
  double alpha = 0, first_residual = 0;
  bool cancelled = false;
  for (int batch = 0, seen = 0;; batch = batches.next(outcome.iterations, request)) {
    const int before = outcome.iterations;
    batches.run(batch);
    const CgState& state = iteration.state();
    const CgRecord& record = iteration.record();
    const auto kept = [](const double* values, int i) { return values[i % kept_iterations]; };
    for (int i = outcome.iterations; i < state.iteration; ++i) {
      const double next = kept(record.alpha, i);
      lanczos.add(next, alpha, kept(record.beta, i));
      alpha = next;
    }
    for (; seen <= state.iteration; ++seen) {  // the residuals before each iteration, and the one now
      outcome.residual = kept(record.residual, seen);
      if (seen == 0) first_residual = outcome.residual;
      if (request.keep_history) outcome.history.push_back(outcome.residual);
    }
    outcome.iterations = state.iteration;
    const bool stopped = state.stop != static_cast<int>(CgStop::none);
    if (!stopped && batch > 0 && state.iteration < before + batch)
      throw Error(ErrorCode::internal, "cg: iterations were lost on the device; please report this");
    // What elements complain of shows in every product: it is enough to ask at both ends.
    if (batch == 0 || stopped) iteration.rethrow_faults();
    if (stopped) {
      outcome.stop = stop_of(state.stop);
      break;
    }
    if (voussoir::detail::is_slow(request, outcome.iterations, outcome.residual, first_residual)) {
      outcome.stop = CgOutcome::Stop::slow;
      break;
    }
    if (!progress.tell(outcome.iterations, outcome.residual)) {
      cancelled = true;
      outcome.stop = CgOutcome::Stop::cancelled;
      break;
    }
  }
  if (request.progress && !cancelled) request.progress(outcome.iterations, outcome.residual);
  if (!lanczos.diagonal.empty() && outcome.stop != CgOutcome::Stop::not_finite) {
    outcome.smallest_ritz = lanczos.eigenvalue(0);
    outcome.largest_ritz = lanczos.eigenvalue(lanczos.diagonal.size() - 1);
  }
  return outcome;
}

}  // namespace voussoir::cuda
