#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <voussoir/backends/array.hpp>
#include <voussoir/backends/element_program.hpp>
#include <voussoir/backends/element_state.hpp>
#include <voussoir/backends/error.hpp>
#include <voussoir/backends/layout.hpp>
#include <voussoir/backends/unknown_set.hpp>

namespace voussoir {

/// A batch of elements of one type, on the host, in the numbering of a ModelDescription.
struct BatchDescription {
  std::shared_ptr<const ElementProgram> program;  ///< of all elements of the batch
  std::span<const std::int32_t> nodes;            ///< program->nodes() node numbers per element
  std::vector<double> parameters;                 ///< records of table_rows × (1 + parameter count) numbers
  std::vector<std::int32_t> record;               ///< record of each element; empty: record 0 for all
  int table_rows = 1;                             ///< rows of a record: temperatures
  double expansion_reference = 0;                 ///< as in ElementView
  std::vector<int> unknowns;  ///< the unknown that each component of the elements is; empty: 0, 1, 2, …
};

/// An equation that is not free but a combination of others: x[equation] = Σ coefficient · x[other].
struct Dependency {
  std::int32_t equation = 0;         ///< that depends
  std::vector<std::int32_t> others;  ///< that it depends on
  std::vector<double> coefficients;  ///< one per other
};

/// A numbered model on the host, the input of DeviceModel. Nodes are numbered so that neighbours are near and devices
/// get contiguous ranges; node i has the equations first_equation[i] … first_equation[i+1], one for each of its
/// unknowns.
struct ModelDescription {
  std::span<const double> coordinates;           ///< 3 per node
  std::span<const std::int32_t> first_equation;  ///< one per node, and the total
  std::span<const UnknownSet> unknowns;          ///< of each node; empty: the first few, as many as it has equations
  std::span<const std::uint8_t> prescribed;      ///< per equation: 1 where the value is prescribed
  /// Initial temperature of each node; empty: `start_temperature` everywhere.
  std::span<const double> initial_temperature;
  double start_temperature = 0;           ///< where initial_temperature is empty
  std::vector<Dependency> dependencies;   ///< `others` are free: neither prescribed nor dependent
  std::vector<BatchDescription> batches;  ///< in the order of BatchOrigin
};

/// An error of an element found by a backend, in the numbering of the ModelDescription. The framework converts it to
/// the user's numbering.
class ElementError : public Error {
 public:
  ElementError(ElementFault fault, int batch, std::int32_t element);  ///< by batch and entry of the description
  ElementFault fault() const noexcept { return fault_; }              ///< what is wrong with the element
  int batch() const noexcept { return batch_; }                       ///< number of its BatchDescription
  std::int32_t element() const noexcept { return element_; }          ///< entry of the batch

 private:
  ElementFault fault_;
  int batch_;
  std::int32_t element_;
};

/// A batch of elements of one type on one device.
struct ElementBatch {
  std::shared_ptr<const ElementProgram> program;  ///< of all elements of the batch
  int description = 0;                            ///< number of its BatchDescription
  std::int32_t element_count = 0;                 ///< on this device
  std::vector<std::int32_t> origin;               ///< element number in the BatchDescription; empty: the same number
  Array<std::int32_t> nodes;                      ///< local node numbers, element by element
  Array<double> parameters;                       ///< as in the description
  Array<std::int32_t> record;                     ///< empty: record 0 for all
  int table_rows = 1;                             ///< as in the description
  double expansion_reference = 0;                 ///< as in the description
  /// Which of a node's equations each component of the elements is: [local node][component], of nodes that the batch
  /// uses. Empty: the first ones, at every node.
  Array<std::uint8_t> slot;
  /// Elements with a dependent equation, ascending: their contributions are distributed by the dependency.
  std::vector<std::int32_t> dependent_elements;

  /// Number in the description of an element here.
  std::int32_t origin_of(std::int32_t element) const { return origin.empty() ? element : origin[element]; }
};

/// How often a DeviceModel has changed.
struct ModelRevision {
  std::uint64_t constraints = 0;  ///< calls of set_prescribed()
  std::uint64_t batches = 0;      ///< calls of replace_batches() that replaced some
  std::uint64_t matrices = 0;     ///< of these, where an element with a stiffness or a mass came or went
  bool operator==(const ModelRevision&) const = default;  ///< nothing has changed in between
};

/// The model in the memory of a backend's devices. A device has every element that contributes to an equation it
/// owns, so that it computes its rows independently; elements on the boundary of two ranges are on both devices.
class DeviceModel {
 public:
  /// The nodes, equations and elements of one device.
  struct Part {
    std::int32_t owned_nodes = 0;               ///< whose equations the device owns
    std::int32_t local_nodes = 0;               ///< owned ones first, then ghosts, each in numbered order
    Array<double> coordinates;                  ///< 3 per local node
    Array<double> initial_temperature;          ///< empty where it is the same everywhere
    Array<std::int32_t> first_equation;         ///< local equation of each local node, and the total
    Array<std::uint8_t> constrained;            ///< per local equation: prescribed or dependent, so not free
    Array<std::uint32_t> unknowns;              ///< bits of each node's UnknownSet; empty: the first few, at every node
    std::vector<ElementBatch> batches;          ///< one per description, possibly without elements
    std::vector<Dependency> dependencies;       ///< in local equations; those of its elements and owned equations
    std::vector<std::int32_t> dependency_rows;  ///< local nodes, not owned, whose dependent rows feed owned equations
  };

  /// Distributes and uploads a model, one part for each memory; the description may go afterwards.
  DeviceModel(std::vector<std::shared_ptr<DeviceMemory>> memories, const ModelDescription& description);

  const std::shared_ptr<const Layout>& layout() const { return layout_; }  ///< of vectors over the model's equations
  int devices() const { return layout_->devices(); }                       ///< number of devices
  Part& part(int device) { return parts_[device]; }                        ///< of a device
  const Part& part(int device) const { return parts_[device]; }            ///< of a device
  int batch_count() const { return batch_count_; }                         ///< number of batches of the description
  std::int32_t node_count() const { return node_count_; }                  ///< of the description
  /// Equations per node where all nodes have the same number of them, else 0.
  int uniform_components() const { return uniform_components_; }
  /// Whether all elements have symmetric tangents, so that matrices of the model are symmetric.
  bool symmetric() const { return symmetric_; }
  double start_temperature() const { return start_temperature_; }  ///< initial, where it is the same everywhere
  /// First node a device owns.
  std::int32_t first_node(int device) const { return first_node_[device]; }

  // --- changes -------------------------------------------------------------------------------------------------
  // Element operators must be made again after a change. Matrices stay, and are assembled for the model as it is then;
  // but added elements need a new one.

  /// Prescribes other equations, one flag per equation of the description. Throws Error (misuse) where the model has
  /// dependencies.
  void set_prescribed(std::span<const std::uint8_t> prescribed);
  /// Replaces all batches from number `first` on by those of a description that has the nodes of this model, without
  /// coordinates, and no dependencies. False, and no change, where elements would need nodes that their device does not
  /// have, or a matrix that was symmetric would no longer be or the other way round.
  bool replace_batches(int first, const ModelDescription& description);
  const ModelRevision& revision() const { return revision_; }  ///< counts these changes
  /// How many of the first batches are what they were when revision().batches was `since`.
  int unchanged_batches(std::uint64_t since) const;

  /// One value per described node, on the devices that have it.
  NodalValues nodal_values(std::span<const double> values) const;
  /// The view passed to the routines of a batch, for device work. Ghosts of the state's unknowns are fresh.
  ElementView device_view(int device, int batch, const ElementState& state) const;
  /// The same for work on the host (elements of route host).
  ElementView host_view(int device, int batch, const ElementState& state) const;
  /// Local node number on a device of a described node, or −1.
  std::int32_t local_node(int device, std::int32_t node) const;
  /// Data that a backend derives from the model once and stores with it, such as the order of its sums.
  std::shared_ptr<void>& backend_data() const { return backend_data_; }

 private:
  /// One value per described node, at the local nodes of a device.
  void write_nodal(std::span<const double> values, int device, Array<double>& to) const;

  std::shared_ptr<const Layout> layout_;
  std::vector<Part> parts_;
  std::vector<std::int32_t> first_node_;
  std::vector<std::vector<std::int32_t>> ghost_nodes_;
  int batch_count_ = 0;
  std::int32_t node_count_ = 0;
  int uniform_components_ = 0;
  bool symmetric_ = true;
  double start_temperature_ = 0;
  ModelRevision revision_;
  std::vector<int> first_replaced_;  // by each call of replace_batches()
  mutable std::shared_ptr<void> backend_data_;
};

}  // namespace voussoir
