#include <voussoir/backends/openmp/explicit/cpu_explicit.hpp>

#include <algorithm>

#include <voussoir/backends/detail/explicit_checks.hpp>
#include <voussoir/backends/detail/explicit_update.hpp>
#include <voussoir/backends/openmp/cpu_backend.hpp>
#include <voussoir/backends/openmp/parallel.hpp>

namespace voussoir::cpu {

namespace {

using voussoir::detail::ExplicitWorks;

/// The vectors of one device inside a section.
struct ExplicitPart {
  double *u = nullptr, *velocity = nullptr, *before = nullptr, *external = nullptr;
  const double *internal = nullptr, *gain = nullptr, *keep = nullptr, *damping = nullptr;
  const double* loads[ExplicitServices::most_loads] = {};
  double factors[ExplicitServices::most_loads] = {};
  int load_count = 0;
  double step = 0;

  double load_at(std::size_t i) const {
    double sum = 0;
    for (int c = 0; c < load_count; ++c) sum += factors[c] * loads[c][i];
    return sum;
  }
};

/// Some entries of a part, few enough for buffers.
struct EntryRange {
  std::size_t begin, count;
};
constexpr std::size_t most_entries = 64;

// Whether a product is rounded before it is added is the compiler's choice, loop by loop. What several kinds of passes
// compute is therefore a function of its own, so that bits do not depend on how steps are divided among calls.

/// Velocities of the next step from the forces; the external forces and the velocities before are put into buffers.
[[gnu::noinline]] void turn_entries(const ExplicitPart& part, EntryRange range, double* external, double* before) {
  for (std::size_t k = 0; k < range.count; ++k) {
    const std::size_t i = range.begin + k;
    external[k] = part.load_at(i);
    before[k] = part.velocity[i];
    part.velocity[i] = voussoir::detail::next_explicit_velocity(part.gain[i], external[k], part.internal[i],
                                                                part.keep ? part.keep[i] : 1.0, before[k]);
  }
}

/// Adds works, and finds the unknowns at the end of the next step.
[[gnu::noinline]] ExplicitWorks move_entries(const ExplicitPart& part, EntryRange range, const double* external,
                                             const double* before, ExplicitWorks works) {
  for (std::size_t k = 0; k < range.count; ++k) {
    const std::size_t i = range.begin + k;
    works.add({part.internal[i], external[k], before[k], part.velocity[i]}, part.damping ? part.damping[i] : 0.0,
              part.step);
    part.u[i] += part.step * part.velocity[i];
  }
  return works;
}

/// The end of a step (`turns`: velocities of the next one from the forces), the beginning of the next one (`moves`:
/// works, and the unknowns at its end), or both, for some entries. `before` is written where nothing moves on.
template <bool turns, bool moves>
ExplicitWorks pass_entries(const ExplicitPart& part, std::size_t begin, std::size_t end) {
  ExplicitWorks works;
  for (EntryRange range{begin, 0}; range.begin < end; range.begin += range.count) {
    range.count = std::min(most_entries, end - range.begin);
    if constexpr (turns && moves) {
      double external[most_entries], before[most_entries];
      turn_entries(part, range, external, before);
      works = move_entries(part, range, external, before, works);
    } else if constexpr (turns) {
      turn_entries(part, range, part.external + range.begin, part.before + range.begin);
    } else {
      works = move_entries(part, range, part.external + range.begin, part.before + range.begin, works);
    }
  }
  return works;
}

class CpuExplicitStepper final : public ExplicitStepper {
 public:
  CpuExplicitStepper(CpuBackend& backend, ExplicitSystem system) : backend_(backend), system_(std::move(system)) {
    voussoir::detail::require_explicit_system(system_);
  }

  std::shared_ptr<const ElementHistory> advance(const ExplicitMotion& motion, const ExplicitRows& rows) override {
    voussoir::detail::require_explicit_steps(system_, motion, rows);
    const std::size_t loads = system_.loads.size(), steps = rows.times.size();
    ElementState state = motion.elements;
    state.unknowns = motion.unknowns;
    state.time_step = motion.step;
    pass<false, true>(motion, {});
    for (std::size_t k = 0; k < steps; ++k) {
      state.time = rows.times[k];
      backend_.fill(*motion.internal, 0);
      backend_.residual(*system_.model, state, system_.batch_factors, false, *motion.internal);
      const auto factors = rows.factors.subspan(k * loads, loads);
      if (k + 1 == steps) {
        pass<true, false>(motion, factors);
      } else {
        state.history = backend_.history(*system_.model, state);
        pass<true, true>(motion, factors);
      }
    }
    return state.history;
  }
  std::string describe() const override { return "internal forces, then one pass over the vectors"; }

 private:
  template <bool turns, bool moves>
  void pass(const ExplicitMotion& motion, std::span<const double> factors) {
    const Layout& layout = *system_.model->layout();
    for (int d = 0; d < layout.devices(); ++d) {
      DeviceSection section(*layout.memory(d));
      ExplicitPart part;
      part.u = moves ? motion.unknowns->part(d).update_device() : nullptr;
      part.velocity = motion.velocity->part(d).update_device();
      part.internal = motion.internal->part(d).read_device();
      if constexpr (!moves) {
        part.before = motion.before->part(d).write_device();
        part.external = motion.external->part(d).write_device();
      } else if constexpr (!turns) {
        part.before = motion.before->part(d).update_device();
        part.external = motion.external->part(d).update_device();
      }
      part.gain = motion.gain->part(d).read_device();
      part.keep = motion.keep ? motion.keep->part(d).read_device() : nullptr;
      part.damping = system_.damping ? system_.damping->part(d).read_device() : nullptr;
      part.step = motion.step;
      for (std::size_t c = 0; c < factors.size(); ++c)
        if (factors[c] != 0) {
          part.loads[part.load_count] = system_.loads[c]->part(d).read_device();
          part.factors[part.load_count++] = factors[c];
        }
      double* works[3] = {};
      if constexpr (moves)
        for (int k = 0; k < (system_.damping ? 3 : 2); ++k) works[k] = motion.works[k]->part(d).update_device();
      // The work of a block of entries is added to its first one.
      for_blocks(static_cast<std::size_t>(layout.owned(d)), backend_.threads(),
                 [&](std::size_t begin, std::size_t end) {
                   const ExplicitWorks sums = pass_entries<turns, moves>(part, begin, end);
                   if constexpr (moves) {
                     works[0][begin] += sums.internal;
                     works[1][begin] += sums.external;
                     if (works[2]) works[2][begin] += sums.damping;
                   }
                 });
    }
  }

  CpuBackend& backend_;
  ExplicitSystem system_;
};

class CpuExplicit final : public ExplicitServices {
 public:
  explicit CpuExplicit(CpuBackend& backend) : backend_(backend) {}
  std::unique_ptr<ExplicitStepper> make_stepper(const ExplicitSystem& system) override {
    return std::make_unique<CpuExplicitStepper>(backend_, system);
  }

 private:
  CpuBackend& backend_;
};

}  // namespace

std::unique_ptr<ExplicitServices> make_explicit_services(CpuBackend& backend) {
  return std::make_unique<CpuExplicit>(backend);
}

}  // namespace voussoir::cpu
