#pragma once
#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <voussoir/apps/bench/table.hpp>
#include <voussoir/framework/model/analysis_model.hpp>

// What the workloads of `voussoir bench` share: models, clocks, floors, and the backend that results are checked with.

namespace voussoir::app {

/// What the command line says about a run.
struct BenchSetup {
  std::string backend = "openmp";
  int size = 84;
  std::int64_t dofs = 0;  ///< of the pump of whole jobs; 0: 300 000 on a CPU, those of Model H elsewhere
  bool quick = false;     ///< fewer runs, no whole solves, no peers
  WorkChoices choices;
  double fp64 = 0;  ///< flops per second; 0: by the name of the device
};

/// A box of elements, clamped at xmin, numbered on a backend.
class BenchModel {
 public:
  BenchModel(std::shared_ptr<Backend> backend, std::unique_ptr<Domain> domain);

  Domain& domain() { return *domain_; }
  Backend& backend() const { return model_->backend(); }
  const AnalysisModel& analysis_model() const { return *model_; }
  const DeviceModel& device() const { return model_->device_model(); }
  double elements() const { return static_cast<double>(domain_->element_count()); }
  double nodes() const { return static_cast<double>(device().node_count()); }
  double equations() const { return static_cast<double>(model_->equation_count()); }
  int components() const { return device().uniform_components(); }
  const ElementProgram& program() const;
  /// Bytes of one vector.
  double vector_bytes(int columns = 1) const { return 8.0 * columns * equations(); }
  /// Bytes that elements read before they compute: their nodes' numbers, and each node's place once.
  double geometry_bytes() const { return 4.0 * program().nodes() * elements() + 24.0 * nodes(); }
  /// Bytes of all element matrices, upper triangles.
  double matrix_bytes() const { return 8.0 * program().matrix_entries() * elements(); }
  /// "84³ solid.hex8.full, 614 125 nodes, 1 842 375 equations"
  std::string describe() const;
  /// Numbers between −1 and 1 that look random and are zero where an unknown is held: what storages keep there differs.
  std::vector<double> rough(std::uint64_t seed) const;
  Vector vector(std::span<const double> values) const;

 private:
  std::unique_ptr<Domain> domain_;
  std::unique_ptr<AnalysisModel> model_;
};

/// A box of nx × ny × nz cells of unit length over the largest number, of steel, clamped at xmin.
std::unique_ptr<Domain> make_box(const std::string& type, std::array<int, 3> cells, double distortion = 0);
/// The same elements with nodes numbered at random within windows of so many nodes (0: all of them), as in meshes that
/// come from a mesher and were renumbered for locality.
std::unique_ptr<Domain> shuffled(const Domain& domain, std::int32_t window);

/// Products on the CPU backend that others are checked with. Nothing is stored, so that large models take little time.
class Reference {
 public:
  explicit Reference(const Domain& domain);
  std::vector<double> product(std::span<const double> x) const;

 private:
  std::shared_ptr<Backend> backend_;
  AnalysisModel model_;
  std::unique_ptr<ElementOperator> matrix_;
};

/// max |a − b| / max |b|
double relative_difference(std::span<const double> a, std::span<const double> b);

class BenchRig {
 public:
  explicit BenchRig(BenchSetup setup);

  const BenchSetup& setup() const { return setup_; }
  BenchTable& table() { return table_; }
  /// The backend afresh, so that its peak of memory is the workload's own.
  std::shared_ptr<Backend> open() const;
  /// Whether the backend has this way of integration at all.
  bool knows(Integration way) const;
  double bandwidth() const { return bandwidth_; }
  double flop_rate() const { return flops_; }
  std::string device() const { return device_; }

  /// Median time of one call of `work` by the backend's clock, after warming up: at least eleven runs of several calls
  /// each where calls are short, three runs where they are long.
  double measure(Backend& backend, const std::function<void()>& work) const;
  /// Seconds for so many bytes, or so many flops where these take longer.
  double floor(double bytes, double flops = 0) const;
  /// A target for Model H on an H200; none elsewhere.
  double target(double seconds) const;
  /// Adds the row that `work` fills, or the reason why there is none.
  void row(const std::string& what, const std::function<void(BenchRow&)>& work);
  nlohmann::ordered_json json() const;
  /// More than rows: tables as text for a page (Markdown) and for scripts.
  void add_page(const std::string& text, const std::string& name, nlohmann::ordered_json rows);
  const std::string& page() const { return page_; }

 private:
  double measure_copy() const;

  BenchSetup setup_;
  BenchTable table_;
  std::string page_;
  nlohmann::ordered_json page_rows_ = nlohmann::ordered_json::object();
  std::string device_;
  double bandwidth_ = 0;
  double flops_ = 0;
};

}  // namespace voussoir::app
