#include <algorithm>
#include <string>

#include <voussoir/backends/detail/described_elements.hpp>
#include <voussoir/backends/large_vector.hpp>
#include <voussoir/backends/openmp/checks.hpp>
#include <voussoir/backends/openmp/cpu_backend.hpp>
#include <voussoir/backends/openmp/dependencies.hpp>
#include <voussoir/backends/openmp/element_matrices.hpp>
#include <voussoir/backends/openmp/exchange.hpp>
#include <voussoir/backends/openmp/sweep.hpp>

// Element vectors, summed to nodal vectors: residuals and body loads; and values recovered at points.

namespace voussoir {

namespace cpu {

namespace {

/// y += factor · Σ element vectors that `compute` gives.
ElementStatus add_element_vectors(const Sweep& sweep, Array<double>& buffer, const Compute& compute, double factor,
                                  Array<double>& y) {
  const DeviceModel::Part& part = sweep.model.part(sweep.device);
  const ElementProgram& program = *part.batches[static_cast<std::size_t>(sweep.batch)].program;
  return run(
      sweep, buffer, [&] { return compute; },
      [&] {
        return add_to_nodes(sweep.plan, program.dofs(), program.components(), element_equations(part, sweep.batch),
                            factor, y.update_device());
      });
}

}  // namespace

}  // namespace cpu

void CpuBackend::residual(const DeviceModel& model, const ElementState& state, std::span<const double> batch_factors,
                          bool through_dependencies, Vector& r) {
  using namespace cpu;
  detail::require_state(model, state, "residual");
  require_one_column(*model.layout(), r, "residual");
  require_factors(batch_factors, model.batch_count(), "residual");
  if (state.unknowns) exchange_ghosts(*state.unknowns);
  ModelPlans& plans = ModelPlans::of(model, threads_);
  // What is handed on must be this call's share alone, so it is summed apart.
  const bool apart = through_dependencies && plans.any_dependency();
  Vector share;
  if (apart) {
    share = Vector(model.layout());
    fill(share, 0);
  }
  FaultKeeper faults;
  for (int d = 0; d < devices(); ++d) {
    Array<double>& y = (apart ? share : r).part(d);
    Array<double> buffer;
    for (int b = 0; b < model.batch_count(); ++b) {
      const ElementBatch& batch = model.part(d).batches[static_cast<std::size_t>(b)];
      const double factor = batch_factors.empty() ? 1.0 : batch_factors[static_cast<std::size_t>(b)];
      if (factor == 0 || batch.element_count == 0) continue;
      const ElementProgram& program = *batch.program;
      const Sweep sweep{model, d, b, plans.gather(model, d, b), threads_, route(program), state, program.dofs()};
      const Compute compute = [&](const ElementView& view, int first, int count, double* out) {
        return program.residual(view, first, count, out);
      };
      faults.note(batch, add_element_vectors(sweep, buffer, compute, factor, y));
    }
    if (apart && !model.part(d).dependencies.empty()) {
      DeviceSection section(*memory(d));
      hand_on_dependent(model, d, y.update_device());
    }
  }
  faults.rethrow();
  if (apart) axpy(1, share, r);
}

void CpuBackend::body_load(const DeviceModel& model, int batch_number, const ElementState& state, const BodyLoad& load,
                           Vector& f) {
  using namespace cpu;
  require_one_column(*model.layout(), f, "body_load");
  require_batch(batch_number, model.batch_count(), "body_load");
  detail::require_state(model, state, "body_load");
  ModelPlans& plans = ModelPlans::of(model, threads_);
  FaultKeeper faults;
  for (int d = 0; d < devices(); ++d) {
    const ElementBatch& batch = model.part(d).batches[static_cast<std::size_t>(batch_number)];
    const ElementProgram& program = *batch.program;
    if (!program.takes_body_load())
      throw Error(ErrorCode::misuse, "elements of type " + program.name() +
                                         " do not support body loads; apply gravity and the like to solid elements");
    if (batch.element_count == 0) continue;
    const Sweep sweep{model,          d,     batch_number,  plans.gather(model, d, batch_number), threads_,
                      route(program), state, program.dofs()};
    const Compute compute = [&](const ElementView& view, int first, int count, double* out) {
      return program.body_load(view, load, first, count, out);
    };
    Array<double> buffer;
    faults.note(batch, add_element_vectors(sweep, buffer, compute, 1, f.part(d)));
  }
  faults.rethrow();
}

std::vector<double> CpuBackend::recover(const DeviceModel& model, int batch_number, const ElementState& state) {
  using namespace cpu;
  detail::require_state(model, state, "recover");
  require_batch(batch_number, model.batch_count(), "recover");
  if (state.unknowns) exchange_ghosts(*state.unknowns);
  ModelPlans& plans = ModelPlans::of(model, threads_);
  FaultKeeper faults;
  std::vector<double> result;
  for (int d = 0; d < devices(); ++d) {
    const ElementBatch& batch = model.part(d).batches[static_cast<std::size_t>(batch_number)];
    const ElementProgram& program = *batch.program;
    const int values = program.points() * static_cast<int>(program.recovered_names().size());
    if (batch.element_count == 0 || values == 0) continue;
    if (result.empty())
      result = large_zeros(
          static_cast<std::size_t>(detail::described_elements(model, batch_number)) * static_cast<std::size_t>(values),
          threads_);
    const Sweep sweep{model,          d,     batch_number, plans.gather(model, d, batch_number), threads_,
                      route(program), state, values};
    const auto compute = [&]() -> Compute {
      return [&](const ElementView& view, int first, int count, double* out) {
        return program.recover(view, first, count, out);
      };
    };
    // An element on the border of two devices is computed by both, with the same result.
    faults.note(batch, collect(sweep, compute, [&](std::int32_t element, const double* numbers, int stride) {
                  double* const out = result.data() + static_cast<std::size_t>(batch.origin_of(element)) *
                                                          static_cast<std::size_t>(values);
                  for (int k = 0; k < values; ++k) out[k] = numbers[static_cast<std::ptrdiff_t>(k) * stride];
                }));
  }
  faults.rethrow();
  return result;
}

}  // namespace voussoir
