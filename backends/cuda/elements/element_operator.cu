#include <voussoir/backends/cuda/elements/element_operator.hpp>

#include <algorithm>
#include <string>

#include <voussoir/backends/cuda/cuda_backend.hpp>
#include <voussoir/backends/cuda/elements/element_products.hpp>
#include <voussoir/backends/cuda/primitives/reduction.hpp>
#include <voussoir/backends/detail/checks.hpp>
#include <voussoir/backends/detail/readable_bytes.hpp>

// Operators that are kept as elements, and their products with vectors.

namespace voussoir::cuda {

namespace {

/// Fewer devices gain nothing from products in two parts (docs/backends.md: several devices).
constexpr int fewest_overlapping = 3;

/// expanded = x where free, else 0; y = 0, in entries begin … end. Without `constrained`, all equations count as free.
__global__ void open_product(std::int64_t begin, std::int64_t end, const std::uint8_t* constrained, const double* x,
                             int columns, int column, double* expanded, double* y) {
  const std::int64_t i = begin + static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= end) return;
  expanded[i] = constrained && constrained[i] ? 0 : x[i * columns + column];
  y[i * columns + column] = 0;
}

/// y = x where not free; and partial sums of x·y where `partials` is not null.
__global__ void __launch_bounds__(sum_threads)
    close_product(std::int64_t owned, const std::uint8_t* constrained, const double* x, int columns, int column,
                  double* y, double* partials) {
  double share = 0;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * sum_threads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * sum_threads + threadIdx.x; i < owned; i += stride) {
    const std::int64_t at = i * columns + column;
    const double own = x[at];
    double value = y[at];
    if (constrained && constrained[i]) y[at] = value = own;
    share += own * value;
  }
  if (!partials) return;
  const double sum = sum_block<sum_threads>(share);
  if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

}  // namespace

CudaElementOperator::CudaElementOperator(const DeviceModel& model, ElementProduct product, OperatorEquations equations)
    : model_(&model),
      revision_(model.revision()),
      product_(product),
      equations_(equations),
      parts_(static_cast<std::size_t>(model.devices())),
      faults_(model) {
  for (auto& own : parts_) own.batches.resize(static_cast<std::size_t>(model.batch_count()));
}

// ---- What is kept ----

void CudaElementOperator::assemble(const ElementState& state, const MatrixTerms& terms, const WorkChoices& choices) {
  voussoir::detail::require_current(*model_, revision_, "assemble");
  voussoir::detail::require_factors(terms, model_->batch_count(), "assemble");
  voussoir::detail::require_state(*model_, state, "assemble");
  if (state.unknowns) exchange_ghosts(*state.unknowns);
  const bool stored = product_ != ElementProduct::matrix_free;
  choices_ = choices;
  judged_ = false;
  assembled_ = false;  // until everything is there
  // Diagonals of tangents that are stored at points are computed from the state, too.
  if (!stored || product_ == ElementProduct::points)
    state_.keep(state, [&](const Vector& from, Vector& to) {  // ghosts included
      for (int d = 0; d < model_->devices(); ++d) {
        const auto& memory = model_->layout()->memory(d);
        DeviceSection section(*memory);
        copy_async(to.part(d).write_device(), from.part(d).read_device(), to.part(d).bytes(), stream_of(memory));
      }
    });
  for (int d = 0; d < model_->devices(); ++d) {
    for (int b = 0; b < model_->batch_count(); ++b) part(d, b).mix = MatrixMix::of(terms, batch(d, b));
    plan_device(d);
    if (stored)
      for (int b = 0; b < model_->batch_count(); ++b) store_matrices(d, b, state);
  }
  assembled_ = true;
  if (stored) faults_.rethrow();
}

void CudaElementOperator::plan_device(int d) {
  const auto& memory = model_->layout()->memory(d);
  ModelPlans& plans = ModelPlans::of(*model_);
  DevicePart& own = part(d);
  std::vector<bool> active(own.batches.size(), false);
  bool any = false, all = true;
  for (int b = 0; b < model_->batch_count(); ++b) {
    BatchPart& p = part(d, b);
    p.clustered = p.at_once = false;
    p.kept = 0;
    if (p.mix.empty()) continue;
    const ElementProgram& program = *batch(d, b).program;
    // Clusters and the product in one kernel know only the first equations of nodes.
    const bool first_ones = batch(d, b).slot.empty();
    if (product_ == ElementProduct::points && first_ones && p.mix.mass == 0) {
      const ElementState at_rest;
      const auto kept = device_program(program).kept_tensors(ElementRun::all(*model_, d, b, faults_, at_rest));
      if (kept.numbers > 0 && fits_clusters(program, *memory, kept.shared_bytes)) p.kept = kept.numbers;
    }
    if (p.kept > 0)
      p.clustered = true;
    else if (product_ == ElementProduct::gather || product_ == ElementProduct::points)
      p.clustered = first_ones && fits_cluster_product(program, *memory);
    else if (product_ == ElementProduct::matrix_free)
      p.clustered = first_ones && fits_clusters(program, *memory) && device_program(program).knows_clusters(p.mix);
    else
      p.at_once = first_ones && !choices_.deterministic && scatters_at_once(program);
    active[static_cast<std::size_t>(b)] = p.clustered;
    any = any || p.clustered;
    all = all && p.clustered;
    if (!p.clustered && !p.at_once) plans.gather(d, b);
  }
  // Sums in any order begin with nodes that wait for other devices, too.
  const bool split =
      any && choices_.deterministic && OverlappedExchange::is_wanted(*model_->layout(), fewest_overlapping);
  own.split = split ? plans.split_clusters(d, active) : nullptr;
  own.clusters = split ? own.split : any ? plans.clusters(d, active) : nullptr;
  const bool free_only = equations_ == OperatorEquations::free;
  own.plain = free_only && any && all && model_->part(d).dependencies.empty();
  if (free_only && !model_->part(d).dependencies.empty()) plans.dependencies(d);
  own.width = 0;
  make_room(d, 1);
}

void CudaElementOperator::make_room(int d, int columns) const {
  DevicePart& own = part(d);
  if (columns <= own.width) return;
  const auto& memory = model_->layout()->memory(d);
  const auto resize = [&](Array<double>& room, std::size_t numbers) {
    numbers *= static_cast<std::size_t>(columns);
    if (room.size() != numbers) room = Array<double>(memory, numbers);
  };
  for (int b = 0; b < model_->batch_count(); ++b) {
    BatchPart& p = part(d, b);
    const ElementProgram& program = *batch(d, b).program;
    const bool apart = !p.mix.empty() && !p.clustered && !p.at_once;
    const std::size_t room = apart ? room_for(batch(d, b).element_count, program.dofs()) : 0;
    resize(p.vectors, room);
    resize(p.products, product_ == ElementProduct::matrix_free || multiplies_in_place(program) ? 0 : room);
  }
  const ClusterSet* set = own.clusters.get();
  resize(own.expanded, own.plain ? 0 : static_cast<std::size_t>(model_->layout()->local_size(d)));
  resize(own.partial, set && choices_.deterministic ? set->partial_numbers() : 0);
  resize(own.dot, own.plain ? static_cast<std::size_t>(set->clusters) : 0);
  own.width = columns;
}

void CudaElementOperator::store_matrices(int d, int b, const ElementState& state) {
  const ElementBatch& elements = batch(d, b);
  const ElementProgram& program = *elements.program;
  BatchPart& own = part(d, b);
  if (own.mix.empty()) {
    own.matrices = {};
    return;
  }
  if (own.kept > 0) return store_points(d, b, state);
  const auto& memory = model_->layout()->memory(d);
  const DeviceProgram& device = device_program(program);
  ElementRun run = ElementRun::all(*model_, d, b, faults_, state);
  if (!own.clustered) {
    const std::size_t room = room_for(elements.element_count, program.matrix_entries());
    if (own.matrices.size() != room) own.matrices = Array<double>(memory, room);
    DeviceSection section(*memory);
    device.matrices(run, own.mix, choices_.integration, own.matrices.write_device());
    return;
  }
  // Computed piece by piece in plain order, then put where the clusters read them.
  const ClusterPlan& plan = part(d).clusters->batches[static_cast<std::size_t>(b)];
  const ClusterPlan* inner = interior(d, b);
  const std::int32_t clusters = plan.clusters + (inner ? inner->clusters : 0);
  const std::size_t room = room_for(std::int64_t{clusters} * plan.size, program.matrix_entries());
  if (own.matrices.size() != room) own.matrices = Array<double>(memory, room);
  const std::int32_t piece = piece_elements(piece_bytes, program.matrix_entries(), elements.element_count);
  Array<double> plain(memory, room_for(piece, program.matrix_entries()));
  DeviceSection section(*memory);
  double* ordered = own.matrices.write_device();
  for (std::int32_t first = 0; first < elements.element_count; first += piece) {
    run.first = first;
    run.count = std::min(piece, elements.element_count - first);
    device.matrices(run, own.mix, choices_.integration, plain.write_device());
    order_matrices(plan, first, run.count, plain.read_device(), ordered, stream_of(memory));
  }
}

void CudaElementOperator::store_points(int d, int b, const ElementState& state) {
  BatchPart& own = part(d, b);
  const auto& memory = model_->layout()->memory(d);
  const ClusterPlan& plan = part(d).clusters->batches[static_cast<std::size_t>(b)];
  const ClusterPlan* inner = interior(d, b);
  const auto numbers_of = [&](const ClusterPlan& clusters) {
    return static_cast<std::size_t>(clusters.clusters) * static_cast<std::size_t>(clusters.size) *
           static_cast<std::size_t>(own.kept);
  };
  const std::size_t room = numbers_of(plan) + (inner ? numbers_of(*inner) : 0);
  if (own.matrices.size() != room) own.matrices = Array<double>(memory, room);
  DeviceSection section(*memory);
  const DeviceProgram& program = device_program(*batch(d, b).program);
  const ElementRun run = ElementRun::all(*model_, d, b, faults_, state);
  double* tensors = own.matrices.write_device();
  program.keep_tensors(run, plan, tensors);
  if (inner) program.keep_tensors(run, *inner, tensors + numbers_of(plan));
}

// ---- Products ----

const ClusterPlan* CudaElementOperator::interior(int d, int b) const {
  if (!part(d).split) return nullptr;
  const ClusterPlan& plan = part(d).split->interior[static_cast<std::size_t>(b)];
  return plan.clusters > 0 ? &plan : nullptr;
}

void CudaElementOperator::add_plan(int d, int b, const ClusterPlan& plan, std::int64_t first, const double* x,
                                   const ClusterSums& sums) const {
  if (plan.clusters == 0) return;
  const BatchPart& own = part(d, b);
  const ElementProgram& program = *batch(d, b).program;
  const ElementState state = state_.state();
  const ElementRun run = ElementRun::all(*model_, d, b, faults_, state);
  if (own.kept > 0)
    device_program(program).kept_products(run, own.mix.stiffness, own.matrices.read_device() + first * own.kept, x,
                                          plan, sums);
  else if (product_ != ElementProduct::matrix_free)
    cluster_product(plan, own.matrices.read_device() + first * program.matrix_entries(), x, sums, run.stream());
  else
    device_program(program).clustered_actions(run, own.mix, x, plan, sums);
}

void CudaElementOperator::add_clusters(int d, const Array<double>& x, const ClusterSums& sums, double* dot,
                                       ProductPhase phase) const {
  DevicePart& own = part(d);
  const ClusterSet& set = *own.clusters;
  const double* px = x.read_device();
  // Whoever begins a product does not know whether x·y will be asked for.
  const bool shared = !own.dot.empty() && (dot || phase == ProductPhase::interior);
  double* shares = shared ? own.dot.update_device() : nullptr;
  // Without conditions y is zero already.
  if (!sums.partial && sums.conditions) begin_clusters(*model_, d, set, px, sums);
  std::int32_t before = 0;
  const auto add = [&](int b, const ClusterPlan& plan, std::int64_t first, bool now) {
    ClusterSums mine = sums;
    mine.dot = shares ? shares + before : nullptr;
    mine.dot_step = set.clusters;
    before += plan.clusters;
    if (now) add_plan(d, b, plan, first, px, mine);
  };
  const auto plan_of = [&](int b) -> const ClusterPlan& { return set.batches[static_cast<std::size_t>(b)]; };
  for (int b = 0; b < model_->batch_count(); ++b)
    if (part(d, b).clustered) add(b, plan_of(b), 0, phase != ProductPhase::interior);
  for (int b = 0; b < model_->batch_count(); ++b)
    if (const ClusterPlan* inner = interior(d, b); inner && part(d, b).clustered)
      add(b, *inner, std::int64_t{plan_of(b).clusters} * plan_of(b).size, phase != ProductPhase::rest);
  if (phase == ProductPhase::interior || (!sums.partial && !dot)) return;
  finish_clusters(*model_, d, set, px, sums, shares, dot);
}

/// The products of a batch that is not done in clusters, from the expanded x, for the columns from that of y on.
void CudaElementOperator::add_vectors(int d, int b, int width, const NodalTarget& y) const {
  const ElementBatch& elements = batch(d, b);
  const ElementProgram& program = *elements.program;
  const cudaStream_t stream = stream_of(model_->layout()->memory(d));
  const ElementView view = model_->device_view(d, b, {});
  const auto local = std::ptrdiff_t{model_->layout()->local_size(d)};
  BatchPart& own = part(d, b);
  const double* x = part(d).expanded.read_device();
  const auto column_of = [&](int w) { return NodalTarget{y.y, y.columns, y.column + w}; };
  if (own.at_once) {
    for (int w = 0; w < width; ++w)
      multiply_to_nodes(view, program, own.matrices.read_device(), x + w * local, column_of(w), stream);
    return;
  }
  const auto step = static_cast<std::ptrdiff_t>(room_for(elements.element_count, program.dofs()));
  double* vectors = own.vectors.write_device();
  double* products = own.products.empty() ? vectors : own.products.write_device();
  if (product_ == ElementProduct::matrix_free) {
    const ElementState state = state_.state();
    for (int w = 0; w < width; ++w)
      device_program(program).actions(ElementRun::all(*model_, d, b, faults_, state), own.mix, x + w * local,
                                      vectors + w * step);
  } else {
    for (int w = 0; w < width; ++w) spread_vector(view, program, x + w * local, vectors + w * step, stream);
    multiply_vectors(elements.element_count, program, own.matrices.read_device(), {vectors, products, step, width},
                     stream);
  }
  for (int w = 0; w < width; ++w)
    add_to_nodes(*model_, d, b, ModelPlans::of(*model_).gather(d, b), products + w * step, 1, column_of(w));
}

void CudaElementOperator::enqueue_columns(int d, const Vector& x, Vector& y, const Columns& columns,
                                          ProductPhase phase) const {
  const Layout& layout = *model_->layout();
  const auto& memory = layout.memory(d);
  const cudaStream_t stream = stream_of(memory);
  DevicePart& own = part(d);
  DeviceSection section(*memory);
  const bool begins = phase != ProductPhase::rest, ends = phase != ProductPhase::interior;
  const double* px = x.part(d).read_device();
  double* py = columns.first == 0 && begins ? y.part(d).write_device() : y.part(d).update_device();
  ClusterSums sums;
  sums.y = py;
  sums.columns = x.columns();
  sums.column = columns.first;
  sums.width = columns.width;
  sums.conditions = own.plain;
  if (own.clusters && !own.partial.empty()) {
    sums.partial = begins ? own.partial.write_device() : own.partial.update_device();
    sums.partial_components = own.clusters->components;
    sums.partial_step = static_cast<std::int64_t>(own.clusters->partial_numbers());
  }
  if (own.plain) {
    sums.x_columns = x.columns();
    sums.x_column = columns.first;
    // Clusters start while the kernel before them ends, but ghosts come from other streams: writing a ghost of y, which
    // is no result, waits for all of them.
    if (phase == ProductPhase::rest && layout.ghosts(d) > 0)
      fill_bytes_async(py + std::int64_t{layout.owned(d)} * x.columns(), 0, sizeof(double), stream);
    return add_clusters(d, x.part(d), sums, columns.dot, phase);
  }
  sums.x_step = layout.local_size(d);
  const bool free_only = equations_ == OperatorEquations::free;
  const std::uint8_t* constrained = free_only ? model_->part(d).constrained.read_device() : nullptr;
  double* expanded = begins ? own.expanded.write_device() : own.expanded.update_device();
  const std::int64_t first = begins ? 0 : layout.owned(d), last = ends ? layout.local_size(d) : layout.owned(d);
  for (int w = 0; w < columns.width; ++w) {
    double* column = expanded + w * sums.x_step;
    launch(open_product, grid_for(last - first), stream, first, last, constrained, px, x.columns(), columns.first + w,
           column, py);
    if (free_only) set_dependent(*model_, d, phase, {column});
  }
  if (own.clusters) add_clusters(d, own.expanded, sums, nullptr, phase);
  if (!ends) return;
  for (int b = 0; b < model_->batch_count(); ++b)
    if (!part(d, b).mix.empty() && !part(d, b).clustered)
      add_vectors(d, b, columns.width, {py, x.columns(), columns.first});
  for (int w = 0; w < columns.width; ++w) {
    if (free_only) hand_on_dependent(*model_, d, {py, x.columns(), columns.first + w});
    launch(close_product, grid_for_sum(layout.owned(d)), stream, std::int64_t{layout.owned(d)}, constrained, px,
           x.columns(), columns.first + w, py,
           columns.dot ? columns.dot + std::ptrdiff_t{w} * dot_partials(d) : nullptr);
  }
}

int CudaElementOperator::dot_partials(int device) const {
  const DevicePart& own = part(device);
  return own.plain ? own.clusters->dot_partials() : static_cast<int>(grid_for_sum(layout()->owned(device)).blocks);
}

void CudaElementOperator::enqueue(int device, const Vector& x, Vector& y, double* partials) const {
  voussoir::detail::require_current(*model_, revision_, "element product");
  // The sums are those of one column, so the first goes alone where they are asked for.
  for (int c = 0; c < x.columns();) {
    const int width = partials && c == 0 ? 1 : std::min(part(device).width, x.columns() - c);
    enqueue_columns(device, x, y, {c, width, c == 0 ? partials : nullptr}, ProductPhase::all);
    c += width;
  }
}

bool CudaElementOperator::has_interior(int device) const {
  for (int b = 0; b < model_->batch_count(); ++b)
    if (part(device, b).clustered && interior(device, b)) return true;
  return false;
}

void CudaElementOperator::enqueue_interior(int device, const Vector& x, Vector& y) const {
  voussoir::detail::require_current(*model_, revision_, "element product");
  if (has_interior(device)) enqueue_columns(device, x, y, {}, ProductPhase::interior);
}

void CudaElementOperator::enqueue_rest(int device, const Vector& x, Vector& y, double* partials) const {
  if (!has_interior(device)) return enqueue(device, x, y, partials);
  enqueue_columns(device, x, y, {0, 1, partials}, ProductPhase::rest);
}

bool CudaElementOperator::only_enqueues() const {
  if (product_ != ElementProduct::matrix_free) return true;
  for (int d = 0; d < model_->devices(); ++d)
    for (int b = 0; b < model_->batch_count(); ++b)
      if (!part(d, b).mix.empty() && device_program(*batch(d, b).program).route() == Route::host) return false;
  return true;
}

void CudaElementOperator::rethrow_faults() const {
  if (product_ != ElementProduct::matrix_free) return;
  faults_.rethrow();
  judged_ = true;
}

namespace {

void require_product(const DeviceModel& model, const Vector& x, const Vector& y, bool assembled) {
  voussoir::detail::require_layout(*model.layout(), x, "element product");
  voussoir::detail::require_alike(x, y, "element product");
  if (&x == &y) throw Error(ErrorCode::misuse, "element product: a product needs two different vectors");
  if (!assembled) throw Error(ErrorCode::misuse, "element product: assemble() has not been called for this operator");
}

}  // namespace

bool CudaElementOperator::is_stored_symmetric() const {
  voussoir::detail::require_current(*model_, revision_, "element product");
  if (!assembled_) throw Error(ErrorCode::misuse, "element product: assemble() has not been called for this operator");
  return (product_ == ElementProduct::gather || product_ == ElementProduct::scatter) && model_->symmetric();
}

void CudaElementOperator::multiply(const Vector& x, Vector& y, const std::vector<double*>& dot) const {
  voussoir::detail::require_current(*model_, revision_, "element product");
  const int devices = model_->devices(), columns = x.columns();
  bool overlaps = false;
  for (int d = 0; d < devices; ++d) {
    make_room(d, std::min(most_cluster_columns, columns));
    overlaps = overlaps || has_interior(d);
  }
  const auto columns_from = [&](int d, int c) {
    double* sums = dot.empty() ? nullptr : dot[static_cast<std::size_t>(d)] + std::ptrdiff_t{c} * dot_partials(d);
    return Columns{c, std::min(part(d).width, columns - c), sums};
  };
  // The first columns of the interior, as many as there is room for, while the ghosts of all columns travel.
  if (overlaps) {
    if (!exchange_ || exchange_->columns() < columns)
      exchange_ = std::make_unique<OverlappedExchange>(model_->layout(), columns);
    exchange_->begin(x);
    for (int d = 0; d < devices; ++d)
      if (has_interior(d)) enqueue_columns(d, x, y, columns_from(d, 0), ProductPhase::interior);
    exchange_->finish();
  } else {
    exchange_ghosts(x);
  }
  for (int d = 0; d < devices; ++d)
    for (int c = 0; c < columns; c += part(d).width)
      enqueue_columns(d, x, y, columns_from(d, c), c == 0 && has_interior(d) ? ProductPhase::rest : ProductPhase::all);
}

void CudaElementOperator::apply(const Vector& x, Vector& y) const {
  require_product(*model_, x, y, assembled_);
  multiply(x, y, {});
  // What is wrong with an element is wrong in every product, so the first one is asked; later ones need not wait.
  if (!judged_) rethrow_faults();
}

double CudaElementOperator::apply_dot(const Vector& x, Vector& y) const {
  require_product(*model_, x, y, assembled_);
  std::vector<Array<double>> sums;
  std::vector<double*> targets;
  for (int d = 0; d < model_->devices(); ++d) {
    const auto& memory = model_->layout()->memory(d);
    sums.emplace_back(memory, static_cast<std::size_t>(x.columns()) * static_cast<std::size_t>(dot_partials(d)));
    DeviceSection section(*memory);
    targets.push_back(sums.back().write_device());
  }
  multiply(x, y, targets);
  double sum = 0;
  for (const auto& part : sums)
    for (const double share : part.read_host()) sum += share;
  rethrow_faults();
  return sum;
}

// ---- For people ----

std::size_t CudaElementOperator::bytes() const {
  std::size_t total = 0;
  for (int d = 0; d < model_->devices(); ++d) {
    const DevicePart& own = part(d);
    total += own.expanded.bytes() + own.partial.bytes() + own.dot.bytes();
    if (own.clusters) total += own.split ? own.split->bytes() : own.clusters->bytes();
    total += state_.bytes(d);
    for (const BatchPart& p : own.batches) total += p.matrices.bytes() + p.vectors.bytes() + p.products.bytes();
  }
  return total;
}

std::size_t CudaElementOperator::bytes_moved() const {
  voussoir::detail::require_current(*model_, revision_, "bytes_moved");
  std::size_t total = 0;
  for (int d = 0; d < model_->devices(); ++d) {
    for (int b = 0; b < model_->batch_count(); ++b) {
      const BatchPart& p = part(d, b);
      if (p.mix.empty()) continue;
      // Element vectors of the scatter form are written, read and written, and read again.
      total += p.matrices.bytes() + batch(d, b).nodes.bytes() + 4 * p.vectors.bytes();
      if (product_ == ElementProduct::matrix_free) total += model_->part(d).coordinates.bytes();
    }
    total += state_.bytes(d);
    total += sizeof(double) * static_cast<std::size_t>(layout()->local_size(d) + layout()->owned(d));
  }
  return total;
}

std::string CudaElementOperator::describe() const {
  const char* kind = product_ == ElementProduct::gather    ? "element matrices, gather form"
                     : product_ == ElementProduct::scatter ? "element matrices, scatter form"
                     : product_ == ElementProduct::points  ? "tangents at points"
                                                           : "matrix-free elements";
  return std::string(kind) + ", " + std::to_string(layout()->size()) + " equations, " +
         voussoir::detail::readable_bytes(bytes());
}

// ---- Services ----

std::unique_ptr<ElementOperator> CudaBackend::make_element_operator(const DeviceModel& model, ElementProduct product,
                                                                    OperatorEquations equations) {
  return std::make_unique<CudaElementOperator>(model, product, equations);
}

void CudaBackend::assemble(const DeviceModel& model, const ElementState& state, const MatrixTerms& terms,
                           ElementOperator& target) {
  auto* matrix = dynamic_cast<CudaElementOperator*>(&target);
  if (!matrix || matrix->model() != &model)
    throw Error(ErrorCode::misuse, "assemble: the operator was not made for this model by this backend");
  matrix->assemble(state, terms, choices());
}

namespace {

/// What is asked of the elements of a model once, however often they are integrated.
struct IntegrationFaults {
  explicit IntegrationFaults(const DeviceModel& model)
      : faults(model), judged(static_cast<std::size_t>(model.batch_count()), false) {}
  FaultWords faults;
  std::vector<bool> judged;  ///< batches whose faults have been asked for
};

/// Most room for matrices that are only computed: enough for all elements of most models at once.
constexpr std::int64_t most_integrated_bytes = std::int64_t{8} << 30;

}  // namespace

void CudaBackend::integrate(const DeviceModel& model, int batch_number, const MatrixTerms& terms) {
  voussoir::detail::require_batch(batch_number, model.batch_count(), "integrate");
  voussoir::detail::require_factors(terms, model.batch_count(), "integrate");
  auto& kept =
      ModelPlans::of(model).other<IntegrationFaults>([&] { return std::make_shared<IntegrationFaults>(model); });
  const Integration how = choices().integration;
  for (int d = 0; d < devices(); ++d) {
    const ElementBatch& elements = model.part(d).batches[static_cast<std::size_t>(batch_number)];
    const DeviceProgram& program = device_program(*elements.program);
    const MatrixMix mix = MatrixMix::of(terms, elements);
    if (mix.empty()) continue;
    const int entries = elements.program->matrix_entries();
    const std::int32_t piece = piece_elements(most_integrated_bytes, entries, elements.element_count);
    const ElementState at_rest;
    ElementRun run = ElementRun::all(model, d, batch_number, kept.faults, at_rest);
    DeviceSection section(*memory(d));
    // Whoever measures a way must not be given the time of another.
    if (how != Integration::automatic && !program.knows(run, how))
      throw Error(ErrorCode::unavailable, "element type '" + elements.program->name() + "' cannot be integrated by '" +
                                              to_string(how) + "' here; use 'auto', which selects a supported method");
    Array<double> room(memory(d), room_for(piece, entries));
    for (std::int32_t first = 0; first < elements.element_count; first += piece) {
      run.first = first;
      run.count = std::min(piece, elements.element_count - first);
      program.matrices(run, mix, how, room.write_device());
    }
  }
  // The same elements have the same faults: those who measure wait for them once.
  if (kept.judged[static_cast<std::size_t>(batch_number)]) return;
  kept.faults.rethrow();
  kept.judged[static_cast<std::size_t>(batch_number)] = true;
}

}  // namespace voussoir::cuda
