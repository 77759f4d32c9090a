#include <voussoir/backends/openmp/sweep.hpp>

#include <algorithm>
#include <vector>

#include <voussoir/backends/openmp/parallel.hpp>

namespace voussoir::cpu {

namespace {

constexpr std::int64_t row_tile = 32;

/// Elements handed to a program at once: enough to forget the call, few enough for the first-level cache.
int piece_elements(int values, int lanes) {
  const int fit = (32 << 10) / (std::max(values, 1) * static_cast<int>(sizeof(double)));
  return std::max(lanes, std::clamp(fit, 1, 64) / lanes * lanes);
}

struct ChunkRange {
  std::int32_t first;
  std::int32_t count;
};

ChunkRange range_of(const Sweep& sweep, std::ptrdiff_t chunk) {
  const std::int32_t total = sweep.plan.elements;
  const auto first = static_cast<std::int32_t>(chunk * sweep.plan.chunk);
  return {first, std::min(sweep.plan.chunk, total - first)};
}

void reserve(const Sweep& sweep, Array<double>& buffer) {
  const std::int32_t total = sweep.plan.elements;
  const std::int64_t elements = std::min<std::int64_t>(
      sweep.plan.chunk, (std::int64_t{total} + sweep.plan.lanes - 1) / sweep.plan.lanes * sweep.plan.lanes);
  const auto wanted = static_cast<std::size_t>(elements) * static_cast<std::size_t>(sweep.values);
  if (buffer.size() < wanted) buffer = Array<double>(sweep.model.layout()->memory(sweep.device), wanted);
}

Chunk incidences(const GatherPlan& plan) {
  Chunk chunk;
  chunk.rows = plan.rows.read_device();
  chunk.first = plan.first.read_device();
  chunk.element = plan.element.read_device();
  chunk.node = plan.node.read_device();
  return chunk;
}

ElementStatus run_on_device(const Sweep& sweep, Array<double>& buffer, const std::function<Compute()>& open_compute,
                            const std::function<Gather()>& open_gather) {
  const GatherPlan& plan = sweep.plan;
  DeviceSection section(*sweep.model.layout()->memory(sweep.device));
  const ElementView view = sweep.model.device_view(sweep.device, sweep.batch, sweep.state);
  const Compute compute = open_compute();
  const Gather gather = open_gather();
  const Chunk plan_chunk = incidences(plan);
  double* values = buffer.write_device();
  const int piece = piece_elements(sweep.values, plan.lanes);
  ElementStatus status;
  ExceptionKeeper keeper;

#pragma omp parallel num_threads(sweep.threads)
  {
    ElementStatus mine;
    for (std::ptrdiff_t c = 0; c < plan.chunks(); ++c) {
      const ChunkRange range = range_of(sweep, c);
      Chunk chunk = plan_chunk;
      chunk.values = values;
      chunk.first_element = range.first;
#pragma omp for schedule(static)
      for (std::int32_t at = 0; at < range.count; at += piece)
        keeper.guard([&] {
          for_runs(plan, range.first + at, range.first + std::min(at + piece, range.count),
                   [&](std::int32_t first, std::int32_t count, std::int32_t offset) {
                     mine.merge(compute(view, first, count,
                                        values + (static_cast<std::ptrdiff_t>(at) + offset) * sweep.values));
                   });
        });
      const std::int64_t begin = plan.chunk_rows[static_cast<std::size_t>(c)];
      const std::int64_t end = plan.chunk_rows[static_cast<std::size_t>(c) + 1];
#pragma omp for schedule(static)
      for (std::int64_t row = begin; row < end; row += row_tile) gather(chunk, row, std::min(end, row + row_tile));
    }
#pragma omp critical(voussoir_sweep_status)
    status.merge(mine);
  }
  keeper.rethrow();
  return status;
}

ElementStatus run_on_host(const Sweep& sweep, Array<double>& buffer, const std::function<Compute()>& open_compute,
                          const std::function<Gather()>& open_gather) {
  // Elements of this route are prototypes and old codes, which may keep scratch between calls: one thread.
  const GatherPlan& plan = sweep.plan;
  const ElementView view = sweep.model.host_view(sweep.device, sweep.batch, sweep.state);
  const Compute compute = open_compute();
  ElementStatus status;
  for (std::ptrdiff_t c = 0; c < plan.chunks(); ++c) {
    const ChunkRange range = range_of(sweep, c);
    status.merge(compute(view, range.first, range.count, buffer.write_host().data()));
    DeviceSection section(*sweep.model.layout()->memory(sweep.device));
    const Gather gather = open_gather();
    Chunk chunk = incidences(plan);
    chunk.values = buffer.read_device();
    chunk.first_element = range.first;
    const std::int64_t begin = plan.chunk_rows[static_cast<std::size_t>(c)];
    const std::int64_t end = plan.chunk_rows[static_cast<std::size_t>(c) + 1];
#pragma omp parallel for num_threads(sweep.threads) schedule(static)
    for (std::int64_t row = begin; row < end; row += row_tile) gather(chunk, row, std::min(end, row + row_tile));
  }
  return status;
}

}  // namespace

void FaultKeeper::note(const ElementBatch& batch, const ElementStatus& status) {
  if (status.fault == ElementFault::none) return;
  const std::int32_t element = batch.origin_of(status.element);
  if (fault_ != ElementFault::none &&
      (batch.description > batch_ || (batch.description == batch_ && element >= element_)))
    return;
  fault_ = status.fault;
  batch_ = batch.description;
  element_ = element;
}

void FaultKeeper::rethrow() const {
  if (fault_ != ElementFault::none) throw ElementError(fault_, batch_, element_);
}

ElementStatus run(const Sweep& sweep, Array<double>& buffer, const std::function<Compute()>& open_compute,
                  const std::function<Gather()>& open_gather) {
  if (sweep.plan.chunks() == 0) return {};
  reserve(sweep, buffer);
  return sweep.side == Route::host ? run_on_host(sweep, buffer, open_compute, open_gather)
                                   : run_on_device(sweep, buffer, open_compute, open_gather);
}

ElementStatus collect(const Sweep& sweep, const std::function<Compute()>& open_compute,
                      const std::function<void(std::int32_t element, const double* values, int stride)>& take) {
  const GatherPlan& plan = sweep.plan;
  ElementStatus status;
  if (plan.chunks() == 0) return status;
  Array<double> buffer;
  reserve(sweep, buffer);
  for (std::ptrdiff_t c = 0; c < plan.chunks(); ++c) {
    const ChunkRange range = range_of(sweep, c);
    if (sweep.side == Route::host) {
      const ElementView view = sweep.model.host_view(sweep.device, sweep.batch, sweep.state);
      status.merge(open_compute()(view, range.first, range.count, buffer.write_host().data()));
    } else {
      DeviceSection section(*sweep.model.layout()->memory(sweep.device));
      const ElementView view = sweep.model.device_view(sweep.device, sweep.batch, sweep.state);
      const Compute compute = open_compute();
      double* values = buffer.write_device();
      const int piece = piece_elements(sweep.values, plan.lanes);
      ExceptionKeeper keeper;
#pragma omp parallel num_threads(sweep.threads)
      {
        ElementStatus mine;
#pragma omp for schedule(static)
        for (std::int32_t at = 0; at < range.count; at += piece)
          keeper.guard([&] {
            mine.merge(compute(view, range.first + at, std::min(piece, range.count - at),
                               values + static_cast<std::ptrdiff_t>(at) * sweep.values));
          });
#pragma omp critical(voussoir_sweep_status)
        status.merge(mine);
      }
      keeper.rethrow();
    }
    const double* values = buffer.read_host().data();
#pragma omp parallel for num_threads(sweep.threads) schedule(static) if (range.count > 1024)
    for (std::int32_t e = 0; e < range.count; ++e)
      take(range.first + e,
           values + static_cast<std::ptrdiff_t>(e >> plan.lane_shift) * sweep.values * plan.lanes +
               (e & (plan.lanes - 1)),
           plan.lanes);
  }
  return status;
}

namespace {

/// A gather for nodes whose values stand side by side in y. The sums are kept in registers where their number is known.
template <int Values>
Gather add_side_by_side(const GatherPlan& plan, int per_element, int per_node, const std::int32_t* first_equation,
                        double factor, double* y, int columns) {
  const int lanes = plan.lanes, shift = plan.lane_shift;
  return [=](const Chunk& chunk, std::int64_t row_begin, std::int64_t row_end) {
    const int values = Values > 0 ? Values : per_node;
    for (std::int64_t row = row_begin; row < row_end; ++row) {
      double* target = y + static_cast<std::ptrdiff_t>(first_equation[chunk.rows[row]]) * columns;
      double kept[Values > 0 ? Values : 1];
      double* sum = Values > 0 ? kept : target;
      if (Values > 0) std::copy_n(target, values, sum);
      for (std::int64_t k = chunk.first[row]; k < chunk.first[row + 1]; ++k) {
        const std::int32_t e = chunk.element[k];
        const double* source =
            chunk.values + (static_cast<std::ptrdiff_t>(e >> shift) * per_element + chunk.node[k] * values) * lanes +
            (e & (lanes - 1));
        for (int i = 0; i < values; ++i) sum[i] += factor * source[i * lanes];
      }
      if (Values > 0) std::copy_n(sum, values, target);
    }
  };
}

Gather add_by_slots(const GatherPlan& plan, int per_element, int components, const detail::ElementEquations& equations,
                    double factor, double* y, int columns) {
  const int lanes = plan.lanes, shift = plan.lane_shift;
  return [=](const Chunk& chunk, std::int64_t row_begin, std::int64_t row_end) {
    for (std::int64_t row = row_begin; row < row_end; ++row) {
      const std::int32_t node = chunk.rows[row];
      double* target = y + static_cast<std::ptrdiff_t>(equations.first[node]) * columns;
      for (std::int64_t k = chunk.first[row]; k < chunk.first[row + 1]; ++k) {
        const std::int32_t e = chunk.element[k];
        const double* source =
            chunk.values +
            (static_cast<std::ptrdiff_t>(e >> shift) * per_element + chunk.node[k] * components * columns) * lanes +
            (e & (lanes - 1));
        for (int c = 0; c < components; ++c)
          for (int w = 0; w < columns; ++w)
            target[equations.slot_of(node, c) * columns + w] += factor * source[(c * columns + w) * lanes];
      }
    }
  };
}

}  // namespace

Gather add_to_nodes(const GatherPlan& plan, int dofs, int components, const detail::ElementEquations& equations,
                    double factor, double* y, int columns) {
  const int per_element = dofs * columns, per_node = components * columns;
  if (equations.slot) return add_by_slots(plan, per_element, components, equations, factor, y, columns);
  switch (per_node) {
    case 1:
      return add_side_by_side<1>(plan, per_element, per_node, equations.first, factor, y, columns);
    case 2:
      return add_side_by_side<2>(plan, per_element, per_node, equations.first, factor, y, columns);
    case 3:
      return add_side_by_side<3>(plan, per_element, per_node, equations.first, factor, y, columns);
    default:
      return add_side_by_side<0>(plan, per_element, per_node, equations.first, factor, y, columns);
  }
}

}  // namespace voussoir::cpu
