#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/framework/model/analysis_model.hpp>

namespace voussoir {

class DividedNumberer;

/// How a Domain becomes an AnalysisModel: blocks and loads to batches (builder_batches.cpp), nodes to equations
/// (builder_numbering.cpp), supports to a plan (builder_constraints.cpp), all of it to the backend. Holds what is
/// needed while the model is built, and nothing afterwards.
struct AnalysisModel::Builder {
  AnalysisModel& model;
  const Domain& domain;
  std::vector<UnknownSet> unknowns;  // per domain node
  std::vector<BatchDescription> batches;
  std::vector<BatchOrigin> origins;                     // per batch
  std::vector<std::vector<std::int32_t>> connectivity;  // per batch, in domain nodes until number_batches() is called
  std::vector<std::vector<int>> batch_unknowns;         // per batch, by number_batches()
  std::vector<double> initial_temperature;              // of the domain's nodes; empty where all have the same
  double start_temperature = 0;
  std::vector<BatchOrigin> whole_body_loads;
  std::vector<Place> idle;                         // unknowns of nodes without elements that nothing names
  std::vector<std::int32_t> first_node_of_device;  // in the numbering; empty where nobody asked for ranges

  explicit Builder(AnalysisModel& m) : model(m), domain(m.domain_), unknowns(m.domain_.node_count()) {}

  // Batches, in this order
  void add_blocks();
  /// Blocks that the model does not have yet. False where they would change more than the list of batches: nodes would
  /// get unknowns, the model would depend on temperature, or one of the blocks that it has is another now.
  bool add_new_blocks();
  /// Names all unknowns, and gives nodes those of their elements.
  void take_unknowns();
  void add_surface_loads();
  /// Body loads on whole blocks use the block's own batch; on parts of one, a batch of those elements.
  void add_body_loads();
  /// Nodes that no element uses do not count.
  void take_initial_temperatures();
  /// Matrices are stored by halves, and solved by methods for symmetric ones.
  void check_symmetry() const;
  /// Gives the elements of blocks their whole tangents.
  void take_full_tangents();

  // Equations
  /// Nodes that no element uses have the unknowns that equations name. What no equation names beside them is held,
  /// since nothing gives it stiffness.
  void add_equation_nodes();
  void number(const DofNumberer& numberer);

  // Constraints, once there are equations
  /// The equation of a named unknown at a node, or an Error that says why there is none.
  std::int32_t require_equation(std::int32_t node, const std::string& unknown, const std::string& what) const;
  NumberedConstraints numbered_constraints() const;
  void constrain(const ConstraintHandler& handler);

  /// Throws Error (bad_input) where loads act on unknowns that their nodes do not have.
  void check_loads() const;
  /// The batches in the numbers of nodes and unknowns.
  void number_batches();
  void upload();
  /// The unknowns of a program as indices into the list of names.
  std::vector<int> unknowns_of(const ElementProgram& program) const;

 private:
  void add_block(int index);
  void add_batch(std::shared_ptr<const ElementProgram> program, std::vector<std::int32_t> nodes,
                 std::vector<double> parameters, std::vector<std::int32_t> record, int rows, BatchOrigin origin);
  void add_faces(int load_case, const LoadCase::Surface& load, int block_index, const std::string& face_shape,
                 const std::vector<FaceRef>& faces);
  NodeGraph make_graph(std::int32_t nodes) const;
  /// The connectivity of all batches by positions of nodes, before they are numbered.
  std::vector<std::vector<std::int32_t>> numbered_connectivity() const;
  /// Sorts the active nodes by the parts that devices get.
  void divide(const DividedNumberer& numberer, const std::vector<std::int32_t>& active,
              std::vector<std::int32_t>& order);
  /// A rotation is compared with displacements by the longest lever with which an equation names one.
  std::vector<double> comparable_scale(const NumberedConstraints& c) const;
  /// Largest diagonal entry of the elements' tangents.
  double largest_diagonal() const;
  /// Springs that touch the same number of nodes make one batch; those of supports are apart from those of equations,
  /// which separates reactions from the forces of equations.
  void add_springs(double stiffness);
};

}  // namespace voussoir
