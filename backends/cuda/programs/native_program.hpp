#pragma once
#include <voussoir/backends/cuda/elements/cluster_kernels.hpp>
#include <voussoir/backends/cuda/elements/clusters.hpp>
#include <voussoir/backends/cuda/elements/element_kernels.hpp>
#include <voussoir/backends/cuda/elements/force_kernels.hpp>
#include <voussoir/backends/cuda/elements/tangent_choice.hpp>
#include <voussoir/backends/cuda/elements/tangent_ways.hpp>
#include <voussoir/backends/cuda/programs/device_program.hpp>
#include <voussoir/backends/cuda/runtime/runtime.hpp>

#include <memory>
#include <string>

namespace voussoir::cuda {

/// The device program of kernel K, compiled with this backend.
template <class K>
class NativeDeviceProgram final : public DeviceProgram {
 public:
  Route route() const override { return Route::native; }

  bool knows(const ElementRun& run, Integration how) const override {
    return has_way(tangent_ways<K>(), how, run.elements().table_rows > 1, run.gpu());
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
      start_masses(run, job, mix.mass_kind);
    }
  }
  void residuals(const ElementRun& run, double* out) const override { start<Routine::residual>(run, job_of(run, out)); }
  void actions(const ElementRun& run, const MatrixMix& mix, const double* direction, double* out) const override {
    ElementJob job = job_of(run, out);
    job.direction = direction;
    if (mix.stiffness != 0) {
      job.factor = mix.stiffness;
      start<Routine::action>(run, job);
      job.accumulate = 1;
    }
    if (mix.mass != 0) {
      job.factor = mix.mass;
      if (mix.mass_kind == MassKind::lumped)
        start<Routine::lumped_action>(run, job);
      else
        start<Routine::mass_action>(run, job);
    }
  }
  void body_loads(const ElementRun& run, const BodyLoad& load, double* out) const override {
    ElementJob job = job_of(run, out);
    job.load = load;
    start<Routine::body_load>(run, job);
  }
  bool knows_clusters(const MatrixMix& mix) const override { return detail::has_tangent<K> && mix.mass == 0; }
  bool clustered_actions(const ElementRun& run, const MatrixMix& mix, const double* direction, const ClusterPlan& plan,
                         const ClusterSums& sums) const override {
    if (!knows_clusters(mix)) return false;
    if constexpr (detail::has_tangent<K>) {
      ElementJob job = job_of(run, nullptr);
      job.factor = mix.stiffness;
      const bool plain = run.elements().table_rows == 1;
      do_columns(plan, direction, sums, [&](const ClusterView& view) {
        constexpr TangentWays ways = tangent_ways<K>();
        if constexpr (ways.product_threads > 0)
          if (shares_points(ways, plan, view, plain))
            return launch(cluster_point_action<K>, point_action_grid(ways, plan), run.stream(), job, view,
                          own_numbers(plan));
        const auto one = plain ? cluster_action<K, true> : cluster_action<K, false>;
        const auto many = plain ? cluster_actions<K, true> : cluster_actions<K, false>;
        launch(view.width == 1 ? one : many,
               Grid{plan.clusters, plan.size, plan.action_bytes(view.width), Start::early}, run.stream(), job, view);
      });
    }
    return true;
  }
  bool knows_cluster_forces(const ElementRun& run) const override {
    return detail::has_cluster_forces<K>() && run.elements().table_rows == 1;
  }
  void clustered_forces(const ElementRun& run, double factor, const double* u, const ForceStep& step, bool advances,
                        const ClusterPlan& plan, const ClusterSums& sums) const override {
    if constexpr (detail::has_cluster_forces<K>()) {
      ElementJob job = job_of(run, nullptr);
      job.factor = factor;
      auto kernel = cluster_forces<K, false>;
      if constexpr (detail::history_numbers_of<K>() > 0)
        if (advances) kernel = cluster_forces<K, true>;
      launch(kernel, Grid{plan.clusters, plan.size, plan.force_bytes(detail::force_numbers<K>()), Start::early},
             run.stream(), job, cluster_view(plan, u, sums), step);
    }
  }
  KeptTensors kept_tensors(const ElementRun&) const override {
    constexpr TangentWays ways = tangent_ways<K>();
    return {ways.kept_numbers, static_cast<std::size_t>(ways.kept_bytes)};
  }
  void keep_tensors(const ElementRun& run, const ClusterPlan& plan, double* out) const override {
    constexpr TangentWays ways = tangent_ways<K>();
    if constexpr (ways.kept_numbers > 0)
      launch(voussoir::cuda::keep_tensors<K>, keep_grid(ways, plan), run.stream(), job_of(run, out),
             cluster_view(plan, nullptr, {}));
  }
  void kept_products(const ElementRun& run, double factor, const double* tensors, const double* direction,
                     const ClusterPlan& plan, const ClusterSums& sums) const override {
    constexpr TangentWays ways = tangent_ways<K>();
    if constexpr (ways.kept_numbers > 0) {
      ElementJob job = job_of(run, nullptr);
      job.factor = factor;
      do_each_column(plan, direction, sums, [&](const ClusterView& view) {
        launch(cluster_tensor_action<K>, kept_grid(ways, plan), run.stream(), job, view, tensors,
               kept_numbers_before(plan));
      });
    }
  }
  void recover(const ElementRun& run, double* out) const override { start<Routine::recover>(run, job_of(run, out)); }
  void histories(const ElementRun& run, double* out) const override { start<Routine::history>(run, job_of(run, out)); }

 private:
  static void start_tangents(const ElementRun& run, const ElementJob& job, Integration how) {
    constexpr TangentWays ways = tangent_ways<K>();
    const TangentKernel chosen = choose_tangents(ways, how, job.view.table_rows > 1, run.gpu());
    if constexpr (ways.point_threads > 0)
      if (chosen == TangentKernel::points)
        return launch(point_tangents<K>, point_grid(ways, how, job.count), run.stream(), job);
    if constexpr (ways.pair_elements > 0)
      if (chosen == TangentKernel::pairs)
        return launch(pair_tangents<K>, pair_grid(ways, job.count), run.stream(), job);
    if constexpr (ways.tensor_elements > 0)
      if (chosen == TangentKernel::tensors)
        return launch(tensor_tangents<K>, tensor_grid(ways, job.count), run.stream(), job);
    if constexpr (ways.constant_elements > 0)
      if (chosen == TangentKernel::constants)
        return launch(constant_tangents<K>, constant_grid(ways, job.count), run.stream(), job);
    if constexpr (ways.streams > 0)
      if (chosen == TangentKernel::streamed)
        return launch(streamed_tangents<K>, grid_for(job.count, 128), run.stream(), job);
    start<Routine::tangent>(run, job);
  }

  static void start_masses(const ElementRun& run, const ElementJob& job, MassKind kind) {
    if constexpr (detail::streams_mass<K>()) {
      if (kind == MassKind::lumped)
        launch(streamed_masses<K, true>, grid_for(job.count, 128), run.stream(), job);
      else
        launch(streamed_masses<K, false>, grid_for(job.count, 128), run.stream(), job);
    } else {
      if (kind == MassKind::lumped)
        start<Routine::lumped_mass>(run, job);
      else
        start<Routine::mass>(run, job);
    }
  }

  template <Routine routine>
  static void start(const ElementRun& run, const ElementJob& job) {
    if constexpr (detail::has_routine<K, routine>)
      launch(element_values<K, routine>, grid_for(job.count, 128), run.stream(), job);
    else if (!job.accumulate)
      fill_bytes_async(job.out, 0, sizeof(double) * room_for(job.count, detail::values_of<K, routine>()), run.stream());
  }
};

namespace stock {

/// What the sources made from elements/stock/types.cmake call: adds a kernel of the list to the native programs.
template <class K>
void add(const char* type, const char*) {
  add_native_program(type, std::make_shared<NativeDeviceProgram<K>>());
}

}  // namespace stock

}  // namespace voussoir::cuda
