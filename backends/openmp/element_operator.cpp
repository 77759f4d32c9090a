#include <voussoir/backends/openmp/element_operator.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <voussoir/backends/openmp/checks.hpp>
#include <voussoir/backends/openmp/cpu_backend.hpp>
#include <voussoir/backends/openmp/cpu_matrix.hpp>
#include <voussoir/backends/openmp/dependencies.hpp>
#include <voussoir/backends/openmp/element_products.hpp>
#include <voussoir/backends/openmp/exchange.hpp>
#include <voussoir/backends/openmp/parallel.hpp>

namespace voussoir {

namespace cpu {

CpuElementOperator::CpuElementOperator(const DeviceModel& model, ElementProduct product, OperatorEquations equations,
                                       int threads)
    : model_(&model), revision_(model.revision()), product_(product), equations_(equations), threads_(threads) {
  parts_.resize(static_cast<std::size_t>(model.devices()));
  for (auto& batches : parts_) batches.resize(static_cast<std::size_t>(model.batch_count()));
  buffers_.resize(static_cast<std::size_t>(model.devices()));
}

void CpuElementOperator::assemble(CpuBackend& backend, const ElementState& state, const MatrixTerms& terms) {
  detail::require_current(*model_, revision_, "assemble");
  require_factors(terms, model_->batch_count(), "assemble");
  detail::require_state(*model_, state, "assemble");
  if (state.unknowns) exchange_ghosts(*state.unknowns);
  // Diagonals of tangents that are stored at points are computed from the state, too.
  if (product_ == ElementProduct::matrix_free || product_ == ElementProduct::points)
    state_.keep(state, [&](const Vector& from, Vector& to) {
      backend.copy(from, to);
      exchange_ghosts(to);
    });
  overlaps_ =
      model_->devices() > 1 && product_ != ElementProduct::scatter && detail::requested_overlap().value_or(false);
  FaultKeeper faults;
  for (int d = 0; d < model_->devices(); ++d)
    for (int b = 0; b < model_->batch_count(); ++b) {
      part(d, b).terms = BatchTerms(terms, batch(d, b));
      if (product_ == ElementProduct::matrix_free) continue;
      if (part(d, b).terms.empty())
        part(d, b).matrices = {};
      else
        faults.note(batch(d, b), store(d, b, state));
    }
  assembled_ = true;
  faults.rethrow();
}

ElementStatus CpuElementOperator::store(int d, int b, const ElementState& state) {
  const ElementBatch& elements = batch(d, b);
  const ElementProgram& program = *elements.program;
  BatchPart& own = part(d, b);
  const bool points = stores_points(d, b);
  const int lanes = program.lanes(), entries = points ? program.point_numbers() : program.matrix_entries();
  const auto compute = [&](const ElementView& view, int first, int many, double* out) {
    return points ? program.point_tensors(view, first, many, out)
                  : element_matrices(program, view, own.terms, first, many, out);
  };
  const std::int32_t count = elements.element_count;
  const std::int64_t groups = (std::int64_t{count} + lanes - 1) / lanes;
  const auto size = static_cast<std::size_t>(groups * lanes) * static_cast<std::size_t>(entries);
  const auto& memory = model_->layout()->memory(d);
  if (own.matrices.size() != size) own.matrices = Array<double>(memory, size);
  if (product_ == ElementProduct::scatter && !own.whole) {
    const auto all = static_cast<std::int32_t>(groups * lanes);
    own.whole = std::make_unique<GatherPlan>(make_gather_plan(*model_, d, b, all, threads_));
  }
  if (program.route() == Route::host) {
    const ElementView view = model_->host_view(d, b, state);
    return compute(view, 0, count, own.matrices.write_host().data());
  }
  DeviceSection section(*memory);
  const ElementView view = model_->device_view(d, b, state);
  double* matrices = own.matrices.write_device();
  ElementStatus status;
  ExceptionKeeper keeper;
  const int piece = 8 * lanes;
#pragma omp parallel num_threads(threads_)
  {
    ElementStatus mine;
#pragma omp for schedule(static)
    for (std::int32_t first = 0; first < count; first += piece)
      keeper.guard([&] {
        mine.merge(compute(view, first, std::min(piece, count - first),
                           matrices + static_cast<std::ptrdiff_t>(first) * entries));
      });
#pragma omp critical(voussoir_sweep_status)
    status.merge(mine);
  }
  keeper.rethrow();
  return status;
}

ElementStatus CpuElementOperator::add_stored(int d, int b, const GatherPlan& plan, Array<double>& y) const {
  const ElementProgram& program = *batch(d, b).program;
  const BatchPart& own = part(d, b);
  const int columns = expanded_.columns();
  const bool points = stores_points(d, b);
  const ElementState at_rest;  // what depends on the state is stored
  const Sweep sweep{*model_, d, b, plan, threads_, Route::native, at_rest, program.dofs() * columns};
  return run(
      sweep, buffers_[static_cast<std::size_t>(d)],
      [&]() -> Compute {
        const double* x = expanded_.part(d).read_device();
        const double* stored = own.matrices.read_device();
        if (points)
          return [&program, x, stored, columns](const ElementView& view, int first, int count, double* out) {
            return program.point_products(view, stored + static_cast<std::ptrdiff_t>(first) * program.point_numbers(),
                                          x, columns, first, count, out);
          };
        return [&program, x, stored, columns](const ElementView& view, int first, int count, double* out) {
          spread_groups(program, view, x, columns, first, count, out);
          multiply_groups(program, stored + static_cast<std::ptrdiff_t>(first) * program.matrix_entries(), out, columns,
                          count, out);
          return ElementStatus{};
        };
      },
      [&] {
        // Factors are in stored matrices already.
        return add_to_nodes(sweep.plan, program.dofs(), program.components(), element_equations(model_->part(d), b),
                            points ? own.terms.stiffness : 1, y.update_device(), columns);
      });
}

void CpuElementOperator::add_spread(int d, int b, Array<double>& y) const {
  const ElementProgram& program = *batch(d, b).program;
  const BatchPart& own = part(d, b);
  const GatherPlan& plan = *own.whole;
  const std::int32_t count = batch(d, b).element_count;
  const int lanes = program.lanes(), piece = 8 * lanes, columns = expanded_.columns(),
            values = program.dofs() * columns;
  const auto& memory = model_->layout()->memory(d);
  const auto room =
      static_cast<std::size_t>((std::int64_t{count} + lanes - 1) / lanes * lanes) * static_cast<std::size_t>(values);
  if (own.spread.size() != room) own.spread = Array<double>(memory, room);
  DeviceSection section(*memory);
  const ElementView view = model_->device_view(d, b, {});
  const double* x = expanded_.part(d).read_device();
  const double* matrices = own.matrices.read_device();
  double* spread = own.spread.write_device();
  const Gather gather = add_to_nodes(plan, program.dofs(), program.components(), element_equations(model_->part(d), b),
                                     1, y.update_device(), columns);
  Chunk chunk;
  chunk.values = spread;
  chunk.rows = plan.rows.read_device();
  chunk.first = plan.first.read_device();
  chunk.element = plan.element.read_device();
  chunk.node = plan.node.read_device();
  const std::int64_t rows = plan.chunk_rows.back();
  constexpr std::int64_t tile = 64;
#pragma omp parallel num_threads(threads_)
  {
#pragma omp for schedule(static)
    for (std::int32_t first = 0; first < count; first += piece)
      spread_groups(program, view, x, columns, first, std::min(piece, count - first),
                    spread + static_cast<std::ptrdiff_t>(first) * values);
#pragma omp for schedule(static)
    for (std::int32_t first = 0; first < count; first += piece) {
      double* vectors = spread + static_cast<std::ptrdiff_t>(first) * values;
      multiply_groups(program, matrices + static_cast<std::ptrdiff_t>(first) * program.matrix_entries(), vectors,
                      columns, std::min(piece, count - first), vectors);
    }
#pragma omp for schedule(static)
    for (std::int64_t row = 0; row < rows; row += tile) gather(chunk, row, std::min(rows, row + tile));
  }
}

ElementStatus CpuElementOperator::add_action(int d, int b, const GatherPlan& plan, Array<double>& y) const {
  const ElementProgram& program = *batch(d, b).program;
  const BatchTerms& terms = part(d, b).terms;
  const Route side = program.route() == Route::host ? Route::host : Route::native;
  const int columns = expanded_.columns();
  const ElementState state = state_.state();
  const Sweep sweep{*model_, d, b, plan, threads_, side, state, program.dofs() * columns};
  return run(
      sweep, buffers_[static_cast<std::size_t>(d)],
      [&]() -> Compute {
        const double* x = side == Route::host ? expanded_.part(d).read_host().data() : expanded_.part(d).read_device();
        return [&program, &terms, x, columns](const ElementView& view, int first, int count, double* out) {
          const int lanes = program.lanes();
          const auto padded = static_cast<std::size_t>((count + lanes - 1) / lanes * lanes);
          const std::size_t numbers = padded * static_cast<std::size_t>(program.dofs() * columns);
          ElementStatus status;
          if (terms.stiffness != 0) {
            status.merge(columns == 1 ? program.action(view, x, first, count, out)
                                      : program.actions(view, x, columns, first, count, out));
            if (terms.stiffness != 1)
              for (std::size_t k = 0; k < numbers; ++k) out[k] *= terms.stiffness;
          } else {
            std::fill_n(out, numbers, 0.0);
          }
          if (terms.mass != 0) {
            std::vector<double> masses(padded * static_cast<std::size_t>(program.matrix_entries())), vectors(numbers);
            status.merge(program.mass(view, terms.mass_kind, first, count, masses.data()));
            spread_groups(program, view, x, columns, first, count, vectors.data());
            multiply_groups(program, masses.data(), vectors.data(), columns, count, vectors.data());
            for (std::size_t k = 0; k < numbers; ++k) out[k] += terms.mass * vectors[k];
          }
          return status;
        };
      },
      [&] {
        return add_to_nodes(sweep.plan, program.dofs(), program.components(), element_equations(model_->part(d), b), 1,
                            y.update_device(), columns);
      });
}

void CpuElementOperator::open(int d, const Vector& x, Vector& y, detail::ProductPhase phase) const {
  const Layout& layout = *model_->layout();
  const auto width = static_cast<std::size_t>(x.columns());
  const bool free_only = equations_ == OperatorEquations::free;
  const bool begins = phase != detail::ProductPhase::rest, ends = phase != detail::ProductPhase::interior;
  DeviceSection section(*layout.memory(d));
  const double* px = x.part(d).read_device();
  double* inner = begins ? expanded_.part(d).write_device() : expanded_.part(d).update_device();
  double* py = begins ? y.part(d).write_device() : y.part(d).update_device();
  const std::uint8_t* constrained = model_->part(d).constrained.read_device();
  const auto first = static_cast<std::size_t>(begins ? 0 : layout.owned(d));
  const auto last = static_cast<std::size_t>(ends ? layout.local_size(d) : layout.owned(d));
  for_blocks(last - first, threads_, [=](std::size_t begin, std::size_t end) {
    begin += first;
    end += first;
    std::fill(py + begin * width, py + end * width, 0.0);
    std::copy(px + begin * width, px + end * width, inner + begin * width);
    for (std::size_t i = begin; free_only && i < end; ++i)
      if (constrained[i]) std::fill_n(inner + i * width, width, 0.0);
  });
  if (free_only) set_dependent(*model_, d, phase, inner, x.columns());
}

void CpuElementOperator::add_batches(int d, Vector& y, detail::ProductPhase phase, FaultKeeper& faults) const {
  ModelPlans& plans = ModelPlans::of(*model_, threads_);
  for (int b = 0; b < model_->batch_count(); ++b) {
    if (part(d, b).terms.empty()) continue;
    if (product_ == ElementProduct::scatter) {
      add_spread(d, b, y.part(d));
      continue;
    }
    const bool acts = product_ == ElementProduct::matrix_free;
    // Elements that are computed on the host are not split.
    const bool whole = phase == detail::ProductPhase::all || (acts && batch(d, b).program->route() == Route::host);
    if (whole && phase == detail::ProductPhase::interior) continue;
    const GatherPlan* plan = whole                                     ? &plans.gather(*model_, d, b)
                             : phase == detail::ProductPhase::interior ? plans.split(*model_, d, b).interior.get()
                                                                       : plans.split(*model_, d, b).rest.get();
    if (!plan) continue;
    faults.note(batch(d, b), acts ? add_action(d, b, *plan, y.part(d)) : add_stored(d, b, *plan, y.part(d)));
  }
}

void CpuElementOperator::close(int d, const Vector& x, Vector& y) const {
  if (equations_ != OperatorEquations::free) return;
  const Layout& layout = *model_->layout();
  const auto width = static_cast<std::size_t>(x.columns());
  DeviceSection section(*layout.memory(d));
  const double* px = x.part(d).read_device();
  double* py = y.part(d).update_device();
  const std::uint8_t* constrained = model_->part(d).constrained.read_device();
  hand_on_dependent(*model_, d, py, x.columns());
  for_blocks(static_cast<std::size_t>(layout.owned(d)), threads_, [=](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      if (constrained[i]) std::copy_n(px + i * width, width, py + i * width);
  });
}

void CpuElementOperator::apply_together(const Vector& x, Vector& y) const {
  if (!expanded_.layout() || expanded_.columns() != x.columns()) expanded_ = Vector(model_->layout(), x.columns());
  FaultKeeper faults;
  if (overlaps_) {
    std::vector<Array<double>> sent = send_ghosts(x);
    for (int d = 0; d < model_->devices(); ++d) {
      open(d, x, y, detail::ProductPhase::interior);
      add_batches(d, y, detail::ProductPhase::interior, faults);
    }
    receive_ghosts(x, std::move(sent));
  } else {
    exchange_ghosts(x);
  }
  const auto phase = overlaps_ ? detail::ProductPhase::rest : detail::ProductPhase::all;
  for (int d = 0; d < model_->devices(); ++d) {
    open(d, x, y, phase);
    add_batches(d, y, phase, faults);
    close(d, x, y);
  }
  faults.rethrow();
}

namespace {

/// Columns that are done together, at most: what is kept of them between two steps stays in the cache.
constexpr int most_columns = 4;

/// Owned entries of `count` columns, from those of one block of vectors to those of another.
void copy_columns(const Vector& from, int first_from, Vector& to, int first_to, int count, bool overwrites,
                  int threads) {
  const Layout& layout = *from.layout();
  const auto source_width = static_cast<std::size_t>(from.columns()), width = static_cast<std::size_t>(to.columns());
  for (int d = 0; d < layout.devices(); ++d) {
    DeviceSection section(*layout.memory(d));
    const double* source = from.part(d).read_device() + first_from;
    double* target = (overwrites ? to.part(d).write_device() : to.part(d).update_device()) + first_to;
    for_blocks(static_cast<std::size_t>(layout.owned(d)), threads, [=](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) std::copy_n(source + i * source_width, count, target + i * width);
    });
  }
}

}  // namespace

int CpuElementOperator::columns_together() const {
  int columns = most_columns;
  if (product_ != ElementProduct::matrix_free && product_ != ElementProduct::points) return columns;
  for (int d = 0; d < model_->devices(); ++d)
    for (int b = 0; b < model_->batch_count(); ++b)
      if (!part(d, b).terms.empty() && !stores_matrices(d, b))
        columns = std::min(columns, batch(d, b).program->action_columns());
  return columns;
}

bool CpuElementOperator::is_stored_symmetric() const {
  detail::require_current(*model_, revision_, "element product");
  if (!assembled_) throw Error(ErrorCode::misuse, "element product: assemble() has not been called for this operator");
  return (product_ == ElementProduct::gather || product_ == ElementProduct::scatter) && model_->symmetric();
}

void CpuElementOperator::apply(const Vector& x, Vector& y) const {
  require_layout(*model_->layout(), x, "element product");
  require_alike(x, y, "element product");
  if (&x == &y) throw Error(ErrorCode::misuse, "element product: a product needs two different vectors");
  if (!assembled_) throw Error(ErrorCode::misuse, "element product: assemble() has not been called for this operator");
  detail::require_current(*model_, revision_, "element product");
  const int at_once = columns_together();
  if (x.columns() <= at_once) return apply_together(x, y);
  Vector from, to;
  for (int first = 0; first < x.columns(); first += at_once) {
    const int width = std::min(at_once, x.columns() - first);
    if (!from.layout() || from.columns() != width) {
      from = Vector(model_->layout(), width);
      to = Vector(model_->layout(), width);
    }
    copy_columns(x, first, from, 0, width, true, threads_);
    apply_together(from, to);
    copy_columns(to, 0, y, first, width, first == 0, threads_);
  }
}

double CpuElementOperator::apply_dot(const Vector& x, Vector& y) const {
  apply(x, y);
  double sum = 0;
  for (int d = 0; d < model_->devices(); ++d) {
    DeviceSection section(*model_->layout()->memory(d));
    const double* px = x.part(d).read_device();
    const double* py = y.part(d).read_device();
    sum += sum_blocks(owned_entries(x, d), threads_, [=](std::size_t begin, std::size_t end) {
      return dot_stretch(px + begin, py + begin, end - begin);
    });
  }
  return sum;
}

std::size_t CpuElementOperator::bytes() const {
  std::size_t total = 0;
  for (const auto& batches : parts_)
    for (const BatchPart& p : batches)
      total += p.matrices.bytes() + p.spread.bytes() + (p.whole ? p.whole->bytes() : 0);
  for (int d = 0; d < model_->devices(); ++d) {
    total += buffers_[static_cast<std::size_t>(d)].bytes();
    total += state_.bytes(d);
    if (expanded_.layout()) total += expanded_.part(d).bytes();
  }
  return total;
}

std::size_t CpuElementOperator::bytes_moved() const {
  detail::require_current(*model_, revision_, "bytes_moved");
  std::size_t total = 0;
  for (int d = 0; d < model_->devices(); ++d) {
    for (int b = 0; b < model_->batch_count(); ++b) {
      const BatchPart& p = part(d, b);
      if (p.terms.empty()) continue;
      // Element vectors of the scatter form are written, read and written, and read again.
      total += p.matrices.bytes() + batch(d, b).nodes.bytes() + 4 * p.spread.bytes();
      if (product_ == ElementProduct::matrix_free) total += model_->part(d).coordinates.bytes();
    }
    total += state_.bytes(d);
    total += sizeof(double) * static_cast<std::size_t>(layout()->local_size(d) + layout()->owned(d));
  }
  return total;
}

std::string CpuElementOperator::describe() const {
  const char* kind = product_ == ElementProduct::gather    ? "element matrices, gather form"
                     : product_ == ElementProduct::scatter ? "element matrices, scatter form"
                     : product_ == ElementProduct::points  ? "tangents at points"
                                                           : "matrix-free elements";
  return std::string(kind) + ", " + std::to_string(layout()->size()) + " equations, " + readable_bytes(bytes());
}

}  // namespace cpu

std::unique_ptr<ElementOperator> CpuBackend::make_element_operator(const DeviceModel& model, ElementProduct product,
                                                                   OperatorEquations equations) {
  return std::make_unique<cpu::CpuElementOperator>(model, product, equations, threads_);
}

void CpuBackend::assemble(const DeviceModel& model, const ElementState& state, const MatrixTerms& terms,
                          ElementOperator& target) {
  auto* matrix = dynamic_cast<cpu::CpuElementOperator*>(&target);
  if (!matrix || matrix->model() != &model)
    throw Error(ErrorCode::misuse, "assemble: the operator was not made for this model by this backend");
  matrix->assemble(*this, state, terms);
}

}  // namespace voussoir
