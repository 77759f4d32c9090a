#include <algorithm>

#include <voussoir/backends/detail/element_equations.hpp>
#include <voussoir/backends/openmp/checks.hpp>
#include <voussoir/backends/openmp/cpu_backend.hpp>
#include <voussoir/backends/openmp/exchange.hpp>
#include <voussoir/backends/openmp/parallel.hpp>
#include <voussoir/backends/openmp/sweep.hpp>

// What elements see besides the model, computed from the unknowns: temperatures and history.

namespace voussoir {

NodalValues CpuBackend::temperatures(const DeviceModel& model, const Vector& unknowns, int component) {
  cpu::require_one_column(*model.layout(), unknowns, "temperatures");
  cpu::exchange_ghosts(unknowns);
  NodalValues result;
  for (int d = 0; d < devices(); ++d) {
    const DeviceModel::Part& part = model.part(d);
    Array<double>& values = result.parts.emplace_back(memory(d), static_cast<std::size_t>(part.local_nodes));
    DeviceSection section(*memory(d));
    const double* u = unknowns.part(d).read_device();
    const std::int32_t* first = part.first_equation.read_device();
    const std::uint32_t* sets = part.unknowns.empty() ? nullptr : part.unknowns.read_device();
    const double* initial = part.initial_temperature.empty() ? nullptr : part.initial_temperature.read_device();
    const double start = model.start_temperature();
    double* t = values.write_device();
    cpu::for_blocks(values.size(), threads_, [=](std::size_t begin, std::size_t end) {
      for (std::size_t n = begin; n < end; ++n) {
        const int slot = detail::slot_of_unknown(sets ? sets + n : nullptr, first[n + 1] - first[n], component);
        t[n] = slot >= 0 ? u[first[n] + slot] : initial ? initial[n] : start;
      }
    });
  }
  return result;
}

std::shared_ptr<const ElementHistory> CpuBackend::history(const DeviceModel& model, const ElementState& state) {
  using namespace cpu;
  detail::require_state(model, state, "history");
  std::shared_ptr<ElementHistory> result = make_history(model);
  if (!result) return result;
  if (state.unknowns) exchange_ghosts(*state.unknowns);
  FaultKeeper faults;
  for (int d = 0; d < devices(); ++d)
    for (int b = 0; b < model.batch_count(); ++b) {
      const ElementBatch& batch = model.part(d).batches[static_cast<std::size_t>(b)];
      ElementHistory::Batch& own = result->parts[static_cast<std::size_t>(d)][static_cast<std::size_t>(b)];
      if (own.values.empty()) continue;
      const ElementProgram& program = *batch.program;
      if (route(program) == Route::host) {  // one thread, as in every pass over such elements
        const ElementView view = model.host_view(d, b, state);
        faults.note(batch, program.history(view, 0, batch.element_count, own.values.write_host().data()));
        continue;
      }
      DeviceSection section(*memory(d));
      const ElementView view = model.device_view(d, b, state);
      double* values = own.values.write_device();
      const int piece = 8 * own.lanes;
      ElementStatus status;
      ExceptionKeeper keeper;
#pragma omp parallel num_threads(threads_)
      {
        ElementStatus mine;
#pragma omp for schedule(static)
        for (std::int32_t first = 0; first < batch.element_count; first += piece)
          keeper.guard([&] {
            mine.merge(program.history(view, first, std::min(piece, batch.element_count - first),
                                       values + static_cast<std::ptrdiff_t>(first) * own.count));
          });
#pragma omp critical(voussoir_sweep_status)
        status.merge(mine);
      }
      keeper.rethrow();
      faults.note(batch, status);
    }
  faults.rethrow();
  return result;
}

}  // namespace voussoir
