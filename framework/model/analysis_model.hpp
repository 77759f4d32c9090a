#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <voussoir/backends/backend.hpp>
#include <voussoir/framework/domain/domain.hpp>
#include <voussoir/framework/model/constraint_handler.hpp>
#include <voussoir/framework/model/dof_numberer.hpp>

namespace voussoir {

/// Where a batch of the numbered model comes from.
struct BatchOrigin {
  /// What a batch represents.
  enum class Kind {
    block,         ///< a whole element block
    surface_load,  ///< faces under one surface load of a load case
    body_load,     ///< part of a block, under one body load of a load case
    constraint     ///< springs of a penalty handler
  };
  Kind kind = Kind::block;           ///< what the batch represents
  int block = -1;                    ///< index of the domain's block; −1 for constraints and surface loads
  int load_case = -1;                ///< index of the load case; −1 where it belongs to none
  bool support = false;              ///< for constraint: springs that restrain single unknowns, not equations
  BodyLoad body;                     ///< for body_load
  std::vector<ElementRef> elements;  ///< for batches that are not whole blocks: the element of each entry
};

/// The domain's element that an entry of a batch belongs to.
ElementRef element_of(const BatchOrigin& origin, std::int32_t entry);

/// What AnalysisModel::update() has changed in a model.
struct ModelUpdate {
  bool possible = true;      ///< false: the model is as it was, and the domain has to be numbered again
  bool constraints = false;  ///< other equations are free now
  bool batches = false;      ///< elements of loads were replaced, or blocks added
  bool pattern = false;      ///< blocks were added, which may couple equations that were not coupled
  bool matrix = false;       ///< the matrix is another one: by any of these, by films, or by temperatures
};

/// Choices of how a Domain becomes an AnalysisModel.
struct ModelOptions {
  /// Where has_full_tangent(block), elements have their whole tangent, which is not symmetric, and Newton's method
  /// converges quadratically. Without, it leaves the change of parameters with T out: successive substitution (Picard).
  bool full_tangents = false;
  bool operator==(const ModelOptions&) const = default;  ///< the same choices
};

/// Whether ModelOptions::full_tangents changes the tangents of a block: T is an unknown of its elements, which have
/// symmetric tangents, and a conductivity of its material depends on temperature, or its law reads p.temperature.
bool has_full_tangent(const ElementBlock& block);
/// How a backend would compute the full tangents of a block that has them.
Route full_tangent_route(const ElementBlock& block, const Backend& backend);

/// The Domain as numbered equations on a backend: the equation of each unknown, prescribed values, batches of like
/// elements. The Domain must not change while the model is in use, unless update() follows.
class AnalysisModel {
 public:
  /// Numbers the domain, which must outlive the model. Throws Error (bad_input, not_found) that names what is wrong
  /// with the model: node, element, set or equation.
  AnalysisModel(const Domain& domain, std::shared_ptr<Backend> backend, const ConstraintHandler& handler,
                const DofNumberer& numberer, const ModelOptions& options = {});

  const ModelOptions& options() const { return options_; }                     ///< as given
  const Domain& domain() const { return domain_; }                             ///< the model in the user's numbering
  Backend& backend() const { return *backend_; }                               ///< the backend that holds the model
  const std::shared_ptr<Backend>& shared_backend() const { return backend_; }  ///< the same, with shared ownership
  const DeviceModel& device_model() const { return *device_model_; }           ///< the model on the devices
  /// A number that no other model of the process has, and no other state of this one: batches and free equations are
  /// the same as long as it is. For those who keep something derived from a model.
  std::uint64_t serial() const { return serial_; }
  /// The same for matrices: it stays where only loads without a stiffness have changed.
  std::uint64_t matrix_serial() const { return matrix_serial_; }
  /// The domain's revision that the model represents.
  std::uint64_t domain_revision() const { return domain_revision_; }
  /// Takes over what has changed in the domain since, where its numbering can stay, at the cost of what has changed:
  ///
  /// - values of supports, of equations too: nothing but these values;
  /// - supports added and removed, in a model without multi-point equations: which equations are free;
  /// - load cases: their loads and, in a model without multi-point equations, the elements of surface and body loads;
  /// - blocks added to nodes that have their unknowns already, likewise.
  ///
  /// Whatever else has changed, such as nodes, materials or constraint equations, needs a new model. Throws Error as
  /// the constructor does; the model is then as it was.
  ModelUpdate update(const ConstraintHandler& handler);

  // --- equations -----------------------------------------------------------------------------------------------
  std::int32_t equation_count() const { return first_equation_.back(); }  ///< free, prescribed and dependent ones
  std::int32_t free_equation_count() const;                               ///< neither prescribed nor dependent
  /// Names of all unknowns. A node has those that its elements use, in this order.
  const std::vector<std::string>& unknown_names() const { return unknown_names_; }
  /// The unknowns of the nodes that have equations, in numbered order.
  std::span<const UnknownSet> node_unknowns() const { return node_unknowns_; }
  /// Whether every node has the first few of the unknowns, as in a model of one field.
  bool nodes_have_first_unknowns() const { return nodes_have_first_unknowns_; }
  /// Which unknown an equation of the node at `position` in the numbering is, as an index into unknown_names().
  int component(std::size_t position, std::int32_t equation) const {
    return node_unknowns_[position].unknown(equation - first_equation_[position]);
  }
  /// Which unknown component `c` of a batch's elements is, as an index into unknown_names().
  int batch_unknown(int batch, int c) const { return batch_unknowns_[static_cast<std::size_t>(batch)][c]; }
  /// Equation of an unknown at a node (by index), or −1 where the node does not have it.
  std::int32_t equation(std::int32_t node, std::string_view unknown) const;
  /// "node 12, ux"
  std::string equation_label(std::int32_t equation) const;
  /// Node index of an equation, and its unknown as an index into unknown_names().
  struct Place {
    std::int32_t node;  ///< by index
    int component;      ///< index into unknown_names()
  };
  Place place(std::int32_t equation) const;  ///< the inverse of equation()
  /// Neither prescribed nor dependent: solved for.
  bool is_free(std::int32_t equation) const { return !prescribed_[equation] && dependent_of_[equation] < 0; }
  bool is_prescribed(std::int32_t equation) const { return prescribed_[equation] != 0; }  ///< by a support
  const ConstraintPlan& constraints() const { return plan_; }  ///< what the handler made of supports and equations
  /// Nodes that have equations, in numbered order; first_equation() runs along with them.
  std::span<const std::int32_t> numbered_nodes() const { return node_at_; }
  /// Of each numbered node; one more entry ends the list.
  std::span<const std::int32_t> first_equation() const { return first_equation_; }
  /// Nodes of the domain that no element uses.
  std::vector<std::int32_t> unused_nodes() const;

  // --- batches -------------------------------------------------------------------------------------------------
  const std::vector<BatchOrigin>& batches() const { return origins_; }  ///< in the order of the device model's batches
  /// The domain's element that an entry of a batch belongs to.
  ElementRef element_of(int batch, std::int32_t entry) const;
  /// Factor of each batch when load case i acts with case_factors[i].
  std::vector<double> batch_factors(std::span<const double> case_factors) const;
  /// Whether two combinations of load cases have the same matrix.
  bool same_matrix(std::span<const double> a, std::span<const double> b) const;
  /// Whether a material has tables over temperature (the tangent is then recomputed when temperatures change).
  bool depends_on_temperature() const { return depends_on_temperature_; }
  /// Whether the temperature is an unknown and an element's numbers follow it, by a table or by its law.
  bool follows_unknown_temperature() const;
  /// Whether one solve balances the model: every element is linear, and conductivity does not follow temperature.
  bool is_linear() const;
  /// Whether an element remembers what happened to it, so that one step follows from another.
  bool has_history() const;
  /// True for a model whose unknown is temperature itself.
  bool is_thermal() const { return unknown_names_.size() == 1 && unknown_names_[0] == "T"; }

  // --- loads and state -----------------------------------------------------------------------------------------
  /// Nodal and body loads of a combination, added to f. Of the state, the temperatures matter: densities may follow
  /// them. Load cases that are asked for again are kept as vectors on the devices, so that a new factor costs an axpy.
  void add_loads(std::span<const double> case_factors, const ElementState& state, Vector& f) const;
  /// Nodal temperatures of a combination: initial + Σ factor · (case − initial). Null where no load case has any and no
  /// material depends on them.
  std::shared_ptr<const NodalValues> temperatures(std::span<const double> case_factors) const;
  /// Temperatures of a model with the unknown T: that unknown, so that conductivity follows it. They stay on the
  /// devices.
  std::shared_ptr<const NodalValues> temperatures_from(const Vector& unknowns) const;
  /// Unknowns with everything prescribed in place (times `factor`), dependents following, and zero elsewhere; but the
  /// initial temperature where elements follow the unknown temperature, and radiation_start() where faces radiate.
  Vector initial_unknowns(double factor) const;
  /// What supports and equations add to unknowns at factor 1: prescribed values, and what dependent unknowns have from
  /// those and from constants; zero at free equations.
  Vector prescribed_unknowns() const;
  /// Where the temperatures of a body that radiates start: at the highest that is given, and not so near absolute zero
  /// that radiation would have no slope. From above, Newton's method converges monotonically.
  std::optional<double> radiation_start() const;
  /// Zeros for all equations.
  Vector make_vector(int columns = 1) const { return Vector(device_model_->layout(), columns); }

  /// Turns an error of a backend into the user's numbering: rethrows it as an Error that names the element.
  [[noreturn]] void rethrow(const ElementError& error) const;
  /// Runs `work`, translating ElementError.
  template <class Work>
  auto translating(Work work) const {
    try {
      return work();
    } catch (const ElementError& error) {
      rethrow(error);
    }
  }

 private:
  struct Builder;
  struct KeptLoads;
  /// Remembers what the domain was like.
  void take_revisions();
  bool has_load_temperatures() const;
  /// Whether a load acts on the matrix: by a film or another surface load, or by temperatures.
  bool loads_affect_matrix() const;
  /// Adds factor · the loads of one case to f.
  void add_load_case(std::size_t load_case, double factor, const ElementState& state, Vector& f) const;
  static std::uint64_t next_serial();
  static std::shared_ptr<KeptLoads> make_kept_loads();
  std::vector<double> initial_temperatures() const;  // in numbered order

  const Domain& domain_;
  std::shared_ptr<Backend> backend_;
  ModelOptions options_;
  std::unique_ptr<DeviceModel> device_model_;
  std::vector<std::string> unknown_names_;
  std::vector<UnknownSet> node_unknowns_;  // per position
  bool nodes_have_first_unknowns_ = true;
  std::vector<std::vector<int>> batch_unknowns_;  // per batch and component
  std::vector<std::int32_t> position_;            // of each domain node in the numbering, or −1
  std::vector<std::int32_t> node_at_;             // domain node at each position
  std::vector<std::int32_t> first_equation_;      // per position
  std::vector<std::uint8_t> prescribed_;
  std::vector<std::int32_t> dependent_of_;  // index into plan_.dependent, or −1
  ConstraintPlan plan_;
  std::vector<BatchOrigin> origins_;
  std::vector<BatchOrigin> whole_body_loads_;  // body loads on whole blocks, which need no separate batch
  bool depends_on_temperature_ = false;
  bool laws_read_temperature_ = false;  // those of blocks
  bool follows_other_field_ = false;    // a block without the unknown T depends on it: by expansion, or by its law
  int temperature_component_ = -1;      // of the unknown T
  std::vector<Place> idle_;             // unknowns of nodes without elements that nothing names
  std::uint64_t domain_revision_ = 0;
  DomainRevisions revisions_;
  std::vector<std::pair<std::uint64_t, std::int32_t>> block_revisions_;  // and the number of elements
  bool had_load_temperatures_ = false;
  std::uint64_t serial_ = next_serial(), matrix_serial_ = serial_;
  std::shared_ptr<KeptLoads> kept_loads_;
};

}  // namespace voussoir
