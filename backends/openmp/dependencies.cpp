#include <voussoir/backends/openmp/dependencies.hpp>

#include <voussoir/backends/openmp/checks.hpp>
#include <voussoir/backends/openmp/cpu_backend.hpp>
#include <voussoir/backends/openmp/exchange.hpp>
#include <voussoir/backends/openmp/parallel.hpp>

namespace voussoir {

namespace cpu {

void hand_on_dependent(const DeviceModel& model, int device, double* y, int columns) {
  const std::int32_t owned = model.layout()->owned(device);
  const auto entry = [=](std::int32_t equation, int c) -> double& {
    return y[static_cast<std::ptrdiff_t>(equation) * columns + c];
  };
  for (const Dependency& dependency : model.part(device).dependencies)
    for (int c = 0; c < columns; ++c) {
      const double share = entry(dependency.equation, c);
      for (std::size_t i = 0; i < dependency.others.size(); ++i)
        if (dependency.others[i] < owned) entry(dependency.others[i], c) += dependency.coefficients[i] * share;
      if (dependency.equation < owned) entry(dependency.equation, c) = 0;
    }
}

namespace {

/// For the dependencies that are `wanted`.
template <class Wanted>
void combine_others(const DeviceModel& model, int device, double* x, int columns, const Wanted& wanted) {
  const auto entry = [=](std::int32_t equation, int c) -> double& {
    return x[static_cast<std::ptrdiff_t>(equation) * columns + c];
  };
  for (const Dependency& dependency : model.part(device).dependencies) {
    if (!wanted(dependency)) continue;
    for (int c = 0; c < columns; ++c) {
      double sum = 0;
      for (std::size_t i = 0; i < dependency.others.size(); ++i)
        sum += dependency.coefficients[i] * entry(dependency.others[i], c);
      entry(dependency.equation, c) = sum;
    }
  }
}

}  // namespace

void set_dependent(const DeviceModel& model, int device, bool ghosts_too, double* x, int columns) {
  const std::int32_t owned = model.layout()->owned(device);
  combine_others(model, device, x, columns,
                 [=](const Dependency& dependency) { return ghosts_too || dependency.equation < owned; });
}

void set_dependent(const DeviceModel& model, int device, detail::ProductPhase phase, double* x, int columns) {
  const std::int32_t owned = model.layout()->owned(device);
  combine_others(model, device, x, columns, [=](const Dependency& dependency) {
    return phase == detail::ProductPhase::all ||
           (phase == detail::ProductPhase::rest) == detail::needs_ghosts(dependency, owned);
  });
}

}  // namespace cpu

void CpuBackend::expand_dependencies(const DeviceModel& model, Vector& x) {
  cpu::require_one_column(*model.layout(), x, "expand_dependencies");
  cpu::exchange_ghosts(x);
  for (int d = 0; d < devices(); ++d) {
    if (model.part(d).dependencies.empty()) continue;
    DeviceSection section(*memory(d));
    cpu::set_dependent(model, d, false, x.part(d).update_device());
  }
}

void CpuBackend::reduce_dependencies(const DeviceModel& model, Vector& x) {
  cpu::require_one_column(*model.layout(), x, "reduce_dependencies");
  cpu::exchange_ghosts(x);
  for (int d = 0; d < devices(); ++d) {
    if (model.part(d).dependencies.empty()) continue;
    DeviceSection section(*memory(d));
    cpu::hand_on_dependent(model, d, x.part(d).update_device());
  }
}

void CpuBackend::clear_constrained(const DeviceModel& model, Vector& x) {
  cpu::require_layout(*model.layout(), x, "clear_constrained");
  const auto columns = static_cast<std::size_t>(x.columns());
  for (int d = 0; d < devices(); ++d) {
    DeviceSection section(*memory(d));
    const std::uint8_t* constrained = model.part(d).constrained.read_device();
    double* px = x.part(d).update_device();
    cpu::for_blocks(static_cast<std::size_t>(x.layout()->owned(d)), threads_, [=](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        if (constrained[i])
          for (std::size_t c = 0; c < columns; ++c) px[i * columns + c] = 0;
    });
  }
}

}  // namespace voussoir
