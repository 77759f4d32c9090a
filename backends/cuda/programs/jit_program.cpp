#include <voussoir/backends/cuda/programs/device_program.hpp>

#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include <voussoir/backends/cuda/elements/clusters.hpp>
#include <voussoir/backends/cuda/elements/force_step.hpp>
#include <voussoir/backends/cuda/elements/tangent_choice.hpp>
#include <voussoir/backends/cuda/programs/jit_kernels.hpp>
#include <voussoir/backends/cuda/programs/jit_text.hpp>
#include <voussoir/backends/cuda/runtime/runtime.hpp>

// Elements of route jit: their text is compiled for the GPU at hand, routine by routine, when it is first used.

namespace voussoir::cuda {

#if defined(VSR_CUDA_EMULATED)

const DeviceProgram* find_jit_program(const ElementProgram&, std::string& why) {
  why = KernelModule::unavailable();
  return nullptr;
}

#else

namespace {

/// Threads of a block, as the kernels' bounds say.
constexpr int block_threads = 128;

class JitDeviceProgram final : public DeviceProgram {
 public:
  JitDeviceProgram(const KernelSource& source, const RuntimeCompiler& compiler)
      : source_(source), compiler_(compiler) {}

  Route route() const override { return Route::jit; }

  bool knows(const ElementRun& run, Integration how) const override {
    if (!run.elements().program->has_tangent()) return how == Integration::thread;
    return has_way(ways_of(run), how, run.elements().table_rows > 1, run.gpu());
  }
  void matrices(const ElementRun& run, const MatrixMix& mix, Integration how, double* out) const override {
    ElementJob job = job_of(run, out);
    if (mix.stiffness != 0) {
      job.factor = mix.stiffness;
      start_tangents(run, job, how);
      job.accumulate = 1;
    }
    if (mix.mass != 0) {
      job.factor = mix.mass;
      start_masses(run, job, mix.mass_kind == MassKind::lumped);
    }
  }
  void residuals(const ElementRun& run, double* out) const override { start(run, Routine::residual, job_of(run, out)); }
  void actions(const ElementRun& run, const MatrixMix& mix, const double* direction, double* out) const override {
    ElementJob job = job_of(run, out);
    job.direction = direction;
    if (mix.stiffness != 0) {
      job.factor = mix.stiffness;
      start(run, Routine::action, job);
      job.accumulate = 1;
    }
    if (mix.mass != 0) {
      job.factor = mix.mass;
      start(run, mix.mass_kind == MassKind::lumped ? Routine::lumped_action : Routine::mass_action, job);
    }
  }
  void body_loads(const ElementRun& run, const BodyLoad& load, double* out) const override {
    ElementJob job = job_of(run, out);
    job.load = load;
    start(run, Routine::body_load, job);
  }
  void recover(const ElementRun& run, double* out) const override { start(run, Routine::recover, job_of(run, out)); }
  void histories(const ElementRun& run, double* out) const override { start(run, Routine::history, job_of(run, out)); }

  bool knows_clusters(const MatrixMix& mix) const override { return mix.stiffness != 0 && mix.mass == 0; }
  bool clustered_actions(const ElementRun& run, const MatrixMix& mix, const double* direction, const ClusterPlan& plan,
                         const ClusterSums& sums) const override {
    if (!knows_clusters(mix)) return false;
    ElementJob job = job_of(run, nullptr);
    job.factor = mix.stiffness;
    const char* plain = run.elements().table_rows == 1 ? "true" : "false";
    const TangentWays& ways = ways_of(run);
    do_columns(plan, direction, sums, [&](const ClusterView& view) {
      if (shares_points(ways, plan, view, run.elements().table_rows == 1))
        return kernel(run, {"cluster_point_action"})
            .launch(point_action_grid(ways, plan), run.stream(), job, view, own_numbers(plan));
      kernel(run, {view.width == 1 ? "cluster_action" : "cluster_actions", plain})
          .launch(Grid{plan.clusters, plan.size, plan.action_bytes(view.width), Start::early}, run.stream(), job, view);
    });
    return true;
  }
  bool knows_cluster_forces(const ElementRun& run) const override {
    const ElementProgram& program = *run.elements().program;
    return program.has_tangent() && program.dofs() <= most_force_dofs && run.elements().table_rows == 1;
  }
  void clustered_forces(const ElementRun& run, double factor, const double* u, const ForceStep& step, bool advances,
                        const ClusterPlan& plan, const ClusterSums& sums) const override {
    ElementJob job = job_of(run, nullptr);
    job.factor = factor;
    const bool with_history = advances && run.elements().program->history_count() > 0;
    kernel(run, {"cluster_forces", with_history ? "true" : "false"})
        .launch(Grid{plan.clusters, plan.size, plan.force_bytes(), Start::early}, run.stream(), job,
                cluster_view(plan, u, sums), step);
  }
  KeptTensors kept_tensors(const ElementRun& run) const override {
    if (!run.elements().program->has_tangent()) return {};
    const TangentWays& ways = ways_of(run);
    return {ways.kept_numbers, static_cast<std::size_t>(ways.kept_bytes)};
  }
  void keep_tensors(const ElementRun& run, const ClusterPlan& plan, double* out) const override {
    kernel(run, {"keep_tensors"})
        .launch(keep_grid(ways_of(run), plan), run.stream(), job_of(run, out), cluster_view(plan, nullptr, {}));
  }
  void kept_products(const ElementRun& run, double factor, const double* tensors, const double* direction,
                     const ClusterPlan& plan, const ClusterSums& sums) const override {
    ElementJob job = job_of(run, nullptr);
    job.factor = factor;
    do_each_column(plan, direction, sums, [&](const ClusterView& view) {
      kernel(run, {"cluster_tensor_action"})
          .launch(kept_grid(ways_of(run), plan), run.stream(), job, view, tensors, kept_numbers_before(plan));
    });
  }

 private:
  /// Whether the element has a routine, and how many values that gives.
  static std::pair<bool, int> facts(const ElementProgram& program, Routine routine) {
    switch (routine) {
      case Routine::tangent:
        return {program.has_tangent(), program.matrix_entries()};
      case Routine::action:
        return {program.has_tangent(), program.dofs()};
      case Routine::mass:
      case Routine::lumped_mass:
        return {program.has_mass(), program.matrix_entries()};
      case Routine::mass_action:
      case Routine::lumped_action:
        return {program.has_mass(), program.dofs()};
      case Routine::residual:
        return {true, program.dofs()};
      case Routine::body_load:
        return {program.takes_body_load(), program.dofs()};
      case Routine::history:
        return {program.history_count() > 0, program.history_count()};
      case Routine::recover:
        break;
    }
    const auto values = static_cast<int>(program.recovered_names().size()) * program.points();
    return {values > 0, values};
  }

  void start(const ElementRun& run, Routine routine, const ElementJob& job) const {
    if (job.count <= 0) return;
    const auto [exists, values] = facts(*run.elements().program, routine);
    if (exists)
      by_elements(run, values_template(routine), job);
    else if (!job.accumulate)
      fill_bytes_async(job.out, 0, sizeof(double) * room_for(job.count, values), run.stream());
  }

  void by_elements(const ElementRun& run, const KernelTemplate& name, const ElementJob& job) const {
    kernel(run, name).launch(grid_for(job.count, block_threads), run.stream(), job);
  }

  /// The same choice as that of native elements.
  void start_tangents(const ElementRun& run, const ElementJob& job, Integration how) const {
    if (job.count <= 0) return;
    if (!run.elements().program->has_tangent()) return start(run, Routine::tangent, job);
    const TangentWays& ways = ways_of(run);
    switch (choose_tangents(ways, how, job.view.table_rows > 1, run.gpu())) {
      case TangentKernel::points: {
        const Grid grid = point_grid(ways, how, job.count);
        return kernel(run, {"point_tangents"}).launch(grid, run.stream(), job);
      }
      case TangentKernel::pairs:
        return kernel(run, {"pair_tangents"}).launch(pair_grid(ways, job.count), run.stream(), job);
      case TangentKernel::tensors:
        return kernel(run, {"tensor_tangents"}).launch(tensor_grid(ways, job.count), run.stream(), job);
      case TangentKernel::constants:
        return kernel(run, {"constant_tangents"}).launch(constant_grid(ways, job.count), run.stream(), job);
      case TangentKernel::streamed:
        return by_elements(run, {"streamed_tangents"}, job);
      case TangentKernel::values:
        break;
    }
    start(run, Routine::tangent, job);
  }

  void start_masses(const ElementRun& run, const ElementJob& job, bool lumped) const {
    if (job.count <= 0) return;
    if (run.elements().program->has_mass() && ways_of(run).streams_mass)
      by_elements(run, {"streamed_masses", lumped ? "true" : "false"}, job);
    else
      start(run, lumped ? Routine::lumped_mass : Routine::mass, job);
  }

  /// Asked of the compiled element once, for the ways are the same on every GPU.
  const TangentWays& ways_of(const ElementRun& run) const {
    const KernelModule& teller = kernel(run, {"tell_ways"});
    const std::lock_guard lock(mutex_);
    if (!ways_) {
      Array<TangentWays> ways(run.model.layout()->memory(run.device), 1);
      teller.launch(Grid{1, 1, 0}, run.stream(), ways.write_device());
      ways_ = ways.read_host()[0];
    }
    return *ways_;
  }

  const KernelModule& kernel(const ElementRun& run, const KernelTemplate& name) const {
    const int architecture = 10 * run.gpu().major + run.gpu().minor;
    const std::lock_guard lock(mutex_);
    auto& module = modules_[{architecture, name}];
    if (!module)
      module = load_kernel(
          source_, jit_request(source_, name, choose_target(architecture, compiler_.architectures()), kernel_headers()),
          compiler_);
    return *module;
  }

  const KernelSource& source_;
  const RuntimeCompiler& compiler_;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<int, KernelTemplate>, std::unique_ptr<KernelModule> > modules_;
  mutable std::optional<TangentWays> ways_;
};

}  // namespace

const DeviceProgram* find_jit_program(const ElementProgram& program, std::string& why) {
  return find_jit<JitDeviceProgram>(program.source(), why);
}

#endif

}  // namespace voussoir::cuda
