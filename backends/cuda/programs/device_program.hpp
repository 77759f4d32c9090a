#pragma once
#include <algorithm>
#include <memory>
#include <string>

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/cuda/elements/element_job.hpp>
#include <voussoir/backends/cuda/runtime/faults.hpp>

namespace voussoir::cuda {

/// Elements whose values stand side by side: value k of element e of a run stands at ((e / 32) · values + k) · 32 + e %
/// 32, and the last group has room for 32. So a thread per element reads and writes whole lines of memory.
inline constexpr int lanes = 32;
/// Doubles that the values of `count` elements take.
inline std::size_t room_for(std::int64_t count, int values) {
  return static_cast<std::size_t>((count + lanes - 1) / lanes * lanes) * static_cast<std::size_t>(values);
}
/// Values of elements that pass in pieces take this much room.
inline constexpr std::int64_t piece_bytes = std::int64_t{256} << 20;
/// How many of `count` elements, in whole groups of lanes, fit in `bytes` with so many values each.
inline std::int32_t piece_elements(std::int64_t bytes, int values, std::int32_t count) {
  const std::int64_t fit = bytes / (static_cast<std::int64_t>(sizeof(double)) * values) / lanes * lanes;
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(fit, lanes, (std::int64_t{count} + lanes - 1) / lanes * lanes));
}

/// A run of like elements of a model on one device, and what is known when their values are asked for. Used inside a
/// section of the device. `first` is a multiple of `lanes`; values of element `first` stand at the beginning of the
/// output.
struct ElementRun {
  const DeviceModel& model;
  int device = 0;
  int batch = 0;
  FaultWords& faults;
  const ElementState& state;  ///< ghosts of its unknowns are fresh
  std::int32_t first = 0;
  std::int32_t count = 0;

  const ElementBatch& elements() const { return model.part(device).batches[static_cast<std::size_t>(batch)]; }
  cudaStream_t stream() const { return stream_of(model.layout()->memory(device)); }
  const DeviceFacts& gpu() const { return cuda_memory(model.layout()->memory(device)).facts(); }
  ElementView view() const { return model.device_view(device, batch, state); }
  FaultWord* fault() const { return faults.word(device, batch); }
  static ElementRun all(const DeviceModel& model, int device, int batch, FaultWords& faults,
                        const ElementState& state) {
    return {model,
            device,
            batch,
            faults,
            state,
            0,
            model.part(device).batches[static_cast<std::size_t>(batch)].element_count};
  }
};

/// The job of a run: what launches of every kind have in common.
inline ElementJob job_of(const ElementRun& run, double* out) {
  ElementJob job;
  job.view = run.view();
  job.first = run.first;
  job.count = run.count;
  job.out = out;
  job.fault = run.fault();
  return job;
}

/// stiffness · K + mass · M, of one batch.
struct MatrixMix {
  double stiffness = 1;
  double mass = 0;
  MassKind mass_kind = MassKind::consistent;
  bool empty() const { return stiffness == 0 && mass == 0; }
  /// The share of a batch in a matrix: factors applied, what the program does not have left out.
  static MatrixMix of(const MatrixTerms& terms, const ElementBatch& batch);
};

struct ClusterPlan;  // clusters.hpp
struct ClusterSums;  // clusters.hpp
struct ForceStep;    // force_kernels.hpp

/// An element program as it runs on CUDA devices: everything is enqueued on the device's stream. Where an output is
/// said to be values of elements, it is in the layout of `lanes`.
class DeviceProgram {
 public:
  virtual ~DeviceProgram() = default;
  virtual Route route() const = 0;
  /// As ElementProgram stores them.
  virtual void matrices(const ElementRun& run, const MatrixMix& mix, Integration how, double* out) const = 0;
  virtual void residuals(const ElementRun& run, double* out) const = 0;
  /// stiffness · K · direction + mass · M · direction, nothing stored. Directions are local entries, on the device.
  virtual void actions(const ElementRun& run, const MatrixMix& mix, const double* direction, double* out) const = 0;
  virtual void body_loads(const ElementRun& run, const BodyLoad& load, double* out) const = 0;
  virtual void recover(const ElementRun& run, double* out) const = 0;
  /// The history that follows from the unknowns and the committed one.
  virtual void histories(const ElementRun& run, double* out) const = 0;
  /// True where clustered_actions() does such a sum.
  virtual bool knows_clusters(const MatrixMix&) const { return false; }
  /// Adds the actions of all elements of a batch to the nodes by a plan of clusters, element vectors never leaving the
  /// chip. Returns false where this program cannot: then actions() and a gather do it.
  virtual bool clustered_actions(const ElementRun&, const MatrixMix&, const double* /*direction*/, const ClusterPlan&,
                                 const ClusterSums&) const {
    return false;
  }
  /// What the tangents at points need that keep_tensors() stores: numbers of an element, 0 where this program cannot
  /// store any, and bytes of shared memory of a product besides ClusterPlan::shared_bytes(false).
  struct KeptTensors {
    int numbers = 0;
    std::size_t shared_bytes = 0;
  };
  virtual KeptTensors kept_tensors(const ElementRun&) const { return {}; }
  /// Stores the tangents at the points of all elements of a batch, in the order of a plan of clusters.
  virtual void keep_tensors(const ElementRun&, const ClusterPlan&, double* /*out*/) const {}
  /// Adds factor · the products of such tangents to the nodes.
  virtual void kept_products(const ElementRun&, double /*factor*/, const double* /*tensors*/,
                             const double* /*direction*/, const ClusterPlan&, const ClusterSums&) const {}
  /// True where the tangents of a run can be integrated in a way, so that nobody is given the time of another.
  virtual bool knows(const ElementRun&, Integration how) const { return how == Integration::thread; }
  /// True where clustered_forces() does the elements of a run.
  virtual bool knows_cluster_forces(const ElementRun&) const { return false; }
  /// Adds factor · the internal forces of all elements of a batch at the unknowns `u` (local entries, on the device) to
  /// the nodes by a plan of clusters. With `advances`, elements put their new history in place of the committed one.
  virtual void clustered_forces(const ElementRun&, double /*factor*/, const double* /*u*/, const ForceStep&,
                                bool /*advances*/, const ClusterPlan&, const ClusterSums&) const {}
};

/// The device program of an element program: compiled with this backend (native), from its text (jit), or computed on
/// the host (host), whichever is there first. Kept as long as the process lives. `why`, where given, receives why a
/// route other than native was taken.
const DeviceProgram& device_program(const ElementProgram& program, std::string* why = nullptr);

void add_native_program(const std::string& name, std::shared_ptr<const DeviceProgram> program);
/// Native programs, by the name of the element type; null where there is none.
const DeviceProgram* find_native_program(const std::string& name);
/// A program compiled at run time from its embedded text; null where it has none or there is no compiler. `why` says
/// from what and by what, or why not. Text that does not compile is an Error, at first use, that shows the user's file
/// and line.
const DeviceProgram* find_jit_program(const ElementProgram& program, std::string& why);
/// The program of all elements that are computed on the CPU and shipped.
std::unique_ptr<DeviceProgram> make_host_program();

}  // namespace voussoir::cuda
