#include <voussoir/backends/cuda/programs/device_program.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include <voussoir/backends/cuda/runtime/runtime.hpp>

// Elements of route host: their values are computed by virtual functions on the CPU and shipped to the device.

namespace voussoir::cuda {

namespace {

/// What is shipped at once: large enough for the bus, small enough to be computed while the last one travels.
constexpr std::size_t chunk_bytes = std::size_t{4} << 20;

/// Memory of the host from which copies to the device need not be waited for. It is given back when the stream has read
/// it.
class Parcel {
 public:
  Parcel(CudaMemory& memory, std::size_t doubles) : memory_(memory), bytes_(doubles * sizeof(double)) {
    values_ = static_cast<double*>(memory_.allocate_host(bytes_));
  }
  ~Parcel() {
    try {
      wait();
    } catch (const Error&) {
      // The copy failed with the device's work. Whoever asks for its results is told.
    }
    memory_.release_host(values_, bytes_);
  }
  Parcel(const Parcel&) = delete;
  Parcel& operator=(const Parcel&) = delete;

  double* values() const { return values_; }
  void wait() const { sent_.wait(); }
  void send(double* to, std::size_t doubles) {
    copy_async(to, values_, doubles * sizeof(double), memory_.stream());
    sent_.set(memory_.stream());
  }

 private:
  CudaMemory& memory_;
  std::size_t bytes_;
  double* values_ = nullptr;
  StreamMark sent_;
};

/// Values in groups of `from_lanes` elements, put in groups of `lanes`; places without an element become zero.
void lay_out(const double* from, int from_lanes, int values, std::int32_t count, double* to) {
  const std::int32_t padded = (count + lanes - 1) / lanes * lanes;
  for (std::int32_t group = 0; group < padded; group += lanes, to += static_cast<std::size_t>(values) * lanes) {
    const double* source[lanes];
    const std::int32_t here = std::min(lanes, count - group);
    for (std::int32_t lane = 0; lane < here; ++lane) {
      const std::int32_t e = group + lane;
      source[lane] = from + static_cast<std::ptrdiff_t>(e / from_lanes) * values * from_lanes + e % from_lanes;
    }
    for (int k = 0; k < values; ++k) {
      double* target = to + static_cast<std::ptrdiff_t>(k) * lanes;
      const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(k) * from_lanes;
      for (std::int32_t lane = 0; lane < here; ++lane) target[lane] = source[lane][offset];
      for (std::int32_t lane = here; lane < lanes; ++lane) target[lane] = 0;
    }
  }
}

/// Adds factor · M · x to element vectors; matrices and vectors in the program's groups.
void add_products(const ElementProgram& program, const ElementView& view, const double* matrices, const double* x,
                  double factor, int first, int count, double* out) {
  const int nodes = program.nodes(), components = program.components(), dofs = program.dofs(), width = program.lanes();
  std::vector<double> du(static_cast<std::size_t>(dofs)), y(static_cast<std::size_t>(dofs));
  for (int e = 0; e < count; ++e) {
    const std::int32_t* element = view.nodes + static_cast<std::ptrdiff_t>(first + e) * nodes;
    for (int a = 0; a < nodes; ++a)
      for (int c = 0; c < components; ++c)
        du[static_cast<std::size_t>(a * components + c)] = x[unknown_index(view, element[a], components, c)];
    std::fill(y.begin(), y.end(), 0.0);
    const std::ptrdiff_t group = e / width;
    const double* m = matrices + group * program.matrix_entries() * width + e % width;
    const bool symmetric = program.symmetric();
    for (std::size_t i = 0; i < y.size(); ++i)
      for (std::size_t j = symmetric ? i : 0; j < y.size(); ++j, m += width) {
        y[i] += *m * du[j];
        if (symmetric && j != i) y[j] += *m * du[i];
      }
    double* target = out + group * dofs * width + e % width;
    for (std::size_t i = 0; i < y.size(); ++i) target[static_cast<std::ptrdiff_t>(i) * width] += factor * y[i];
  }
}

/// One for all element types, which the run knows: those of this route may come and go with their models.
class HostDeviceProgram final : public DeviceProgram {
 public:
  Route route() const override { return Route::host; }

  void matrices(const ElementRun& run, const MatrixMix& mix, Integration, double* out) const override {
    const ElementProgram& program = *run.elements().program;
    std::vector<double> masses;
    ship(run, program.matrix_entries(), out, [&](const ElementView& view, int first, int count, double* values) {
      const std::size_t numbers = room(program, count, program.matrix_entries());
      ElementStatus status;
      if (mix.stiffness != 0) {
        status.merge(program.tangent(view, first, count, values));
        scale(mix.stiffness, numbers, values);
      } else {
        std::fill_n(values, numbers, 0.0);
      }
      if (mix.mass != 0) {
        masses.resize(numbers);
        status.merge(program.mass(view, mix.mass_kind, first, count, masses.data()));
        for (std::size_t k = 0; k < numbers; ++k) values[k] += mix.mass * masses[k];
      }
      return status;
    });
  }

  void residuals(const ElementRun& run, double* out) const override {
    const ElementProgram& program = *run.elements().program;
    ship(run, program.dofs(), out, [&](const ElementView& view, int first, int count, double* values) {
      return program.residual(view, first, count, values);
    });
  }

  void actions(const ElementRun& run, const MatrixMix& mix, const double* direction, double* out) const override {
    const ElementProgram& program = *run.elements().program;
    const auto& layout = *run.model.layout();
    std::vector<double> local(static_cast<std::size_t>(layout.local_size(run.device))), masses;
    layout.memory(run.device)->copy_to_host(local.data(), direction, sizeof(double) * local.size());
    const double* x = local.data();
    ship(run, program.dofs(), out, [&](const ElementView& view, int first, int count, double* values) {
      const std::size_t numbers = room(program, count, program.dofs());
      ElementStatus status;
      if (mix.stiffness != 0) {
        status.merge(program.action(view, x, first, count, values));
        scale(mix.stiffness, numbers, values);
      } else {
        std::fill_n(values, numbers, 0.0);
      }
      if (mix.mass != 0) {
        masses.resize(room(program, count, program.matrix_entries()));
        status.merge(program.mass(view, mix.mass_kind, first, count, masses.data()));
        add_products(program, view, masses.data(), x, mix.mass, first, count, values);
      }
      return status;
    });
  }

  void body_loads(const ElementRun& run, const BodyLoad& load, double* out) const override {
    const ElementProgram& program = *run.elements().program;
    ship(run, program.dofs(), out, [&](const ElementView& view, int first, int count, double* values) {
      return program.body_load(view, load, first, count, values);
    });
  }

  void histories(const ElementRun& run, double* out) const override {
    const ElementProgram& program = *run.elements().program;
    ship(run, program.history_count(), out, [&](const ElementView& view, int first, int count, double* values) {
      return program.history(view, first, count, values);
    });
  }

  void recover(const ElementRun& run, double* out) const override {
    const ElementProgram& program = *run.elements().program;
    ship(run, program.points() * static_cast<int>(program.recovered_names().size()), out,
         [&](const ElementView& view, int first, int count, double* values) {
           return program.recover(view, first, count, values);
         });
  }

 private:
  /// Doubles that a program writes for `count` elements.
  static std::size_t room(const ElementProgram& program, int count, int values) {
    const int width = program.lanes();
    return static_cast<std::size_t>((count + width - 1) / width * width) * static_cast<std::size_t>(values);
  }
  static void scale(double factor, std::size_t numbers, double* values) {
    if (factor == 1) return;
    for (std::size_t k = 0; k < numbers; ++k) values[k] *= factor;
  }

  /// Computes chunk by chunk, and sends each while the next is computed. Elements of this route are prototypes and old
  /// codes, which may keep scratch between calls: one thread.
  template <class Compute>
  static void ship(const ElementRun& run, int values, double* out, const Compute& compute) {
    if (run.count <= 0 || values <= 0) return;
    const int width = run.elements().program->lanes();
    const int step = std::lcm(width, lanes);
    const auto fit = static_cast<int>(chunk_bytes / (sizeof(double) * static_cast<std::size_t>(values)));
    const std::int32_t chunk = std::min(std::max(1, fit / step), (run.count + step - 1) / step) * step;
    const ElementView view = run.model.host_view(run.device, run.batch, run.state);

    std::vector<double> computed(static_cast<std::size_t>(chunk) * static_cast<std::size_t>(values));
    CudaMemory& memory = cuda_memory(run.model.layout()->memory(run.device));
    const std::size_t parcel = room_for(chunk, values);
    Parcel parcels[2] = {{memory, parcel}, {memory, parcel}};
    ElementStatus status;
    int turn = 0;
    for (std::int32_t at = 0; at < run.count; at += chunk, turn ^= 1) {
      const std::int32_t count = std::min(chunk, run.count - at);
      status.merge(compute(view, run.first + at, count, computed.data()));
      parcels[turn].wait();
      lay_out(computed.data(), width, values, count, parcels[turn].values());
      parcels[turn].send(out + static_cast<std::size_t>(at) * static_cast<std::size_t>(values),
                         room_for(count, values));
    }
    for (const Parcel& p : parcels) p.wait();
    run.faults.note(run.device, run.batch, status);
  }
};

}  // namespace

std::unique_ptr<DeviceProgram> make_host_program() { return std::make_unique<HostDeviceProgram>(); }

}  // namespace voussoir::cuda
