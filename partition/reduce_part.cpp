#include <voussoir/partition/reduce_part.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include <Eigen/Core>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/analysis/step.hpp>
#include <voussoir/framework/domain/generalised_node.hpp>
#include <voussoir/framework/domain/superelement_instance.hpp>
#include <voussoir/framework/model/unrestrained_unknowns.hpp>
#include <voussoir/partition/coarse_space.hpp>
#include <voussoir/partition/detail/part_rounding.hpp>
#include <voussoir/partition/superelement.hpp>
#include <voussoir/solvers/direct/equation_names.hpp>
#include <voussoir/solvers/direct/factorization.hpp>
#include <voussoir/solvers/direct/host_system.hpp>
#include <voussoir/solvers/eigen/eigen_solvers.hpp>

namespace voussoir {
namespace {

/// Constraints of the model with some equations fixed besides.
class FixedInterfaceHandler final : public ConstraintHandler {
 public:
  explicit FixedInterfaceHandler(std::vector<std::int32_t> equations) : equations_(std::move(equations)) {}
  std::string name() const override { return "transformation"; }
  ConstraintPlan plan(const NumberedConstraints& constraints) const override {
    NumberedConstraints all = constraints;
    for (const std::int32_t e : equations_) all.single.push_back({e, 0.0});
    return TransformationHandler().plan(all);
  }

 private:
  std::vector<std::int32_t> equations_;
};

/// A rigid motion on all equations: translations along the axes, then rotations about them through the origin.
/// Generalised coordinates take no part in it.
std::vector<double> rigid_motion_of_part(const AnalysisModel& model, int direction) {
  static const std::vector<std::string> names{"ux", "uy", "uz", "rx", "ry", "rz"};
  const auto& unknowns = model.unknown_names();
  const bool plane = std::find(unknowns.begin(), unknowns.end(), "uz") == unknowns.end();
  std::vector<double> values(static_cast<std::size_t>(model.equation_count()), 0.0);
  for (std::int32_t e = 0; e < model.equation_count(); ++e) {
    const AnalysisModel::Place at = model.place(e);
    if (is_generalised_node(model.domain(), at.node)) continue;
    int c = static_cast<int>(std::find(names.begin(), names.end(), unknowns[static_cast<std::size_t>(at.component)]) -
                             names.begin());
    // The displacements of such a node are rotations; in a plane, ux is that about z.
    if (model.domain().rotation_node(at.node) && c < 3) c = plane ? (c == 0 ? 5 : 6) : c + 3;
    const double* const x = model.domain().coordinates().data() + 3 * static_cast<std::size_t>(at.node);
    double value = c == direction ? 1 : 0;
    if (direction >= 3 && c < 3) {  // u = e × x
      const int axis = direction - 3;
      value = c == (axis + 1) % 3 ? -x[(axis + 2) % 3] : c == (axis + 2) % 3 ? x[(axis + 1) % 3] : 0;
    }
    values[static_cast<std::size_t>(e)] = value;
  }
  return values;
}

/// The steps of reduce_part().
class PartReduction {
 public:
  PartReduction(const Domain& domain, std::span<const std::int32_t> interface_nodes, std::shared_ptr<Backend> backend,
                const ReduceOptions& options)
      : domain_(domain),
        interface_(interface_nodes.begin(), interface_nodes.end()),
        options_(options),
        model_(domain, std::move(backend), TransformationHandler(), PlainNumberer()) {
    part_.name = options.name;
    check_model();
    take_interface();
    number();
    check_loads();
  }

  ReducedPart run() {
    condense();
    form_mass();
    if (options_.modes > 0 || options_.below > 0) add_modes();
    form_basis();
    reduce_mass();
    add_loads();
    if (mechanical_ && !part_.mass.empty()) add_accelerations();
    if (options_.recovery) add_recovery();
    part_.check("superelement '" + part_.name + "'");
    return std::move(part_);
  }

 private:
  using Load = ReducedPart::Load;

  [[noreturn]] void refuse(const std::string& text, const std::string& where) const {
    throw Error(ErrorCode::bad_input, text,
                "superelement '" + options_.name + "'" + (where.empty() ? "" : ", ") + where);
  }

  void check_model() const;
  void take_interface();
  void take_geometry();
  void number();
  void check_loads() const;
  SymmetricCsr matrix_of(double stiffness, double mass) const;
  void condense();
  void form_mass();
  void add_modes();
  void form_basis();
  void reduce_mass();
  void add_loads();
  void add_accelerations();
  Load reduced(const std::string& name, std::vector<double> force);
  void add_recovery();
  void add_mesh();
  void add_stresses();
  /// All equations of a vector of free ones; dependents follow.
  std::vector<double> all_equations(const double* free) const;
  AnalysisState state_of(const std::vector<double>& case_factors) const;
  std::vector<double> mean_stresses(const std::vector<double>& case_factors, const std::vector<double>& unknowns) const;

  const Domain& domain_;
  std::vector<std::int32_t> interface_;
  ReduceOptions options_;
  AnalysisModel model_;
  ReducedPart part_;
  std::vector<std::int32_t> free_, place_;  // free equations, and of each equation its number among them or −1
  std::vector<std::int32_t> boundary_;      // numbers among the free equations
  std::vector<std::int32_t> interface_equations_;
  bool mechanical_ = false;
  std::vector<std::vector<double>> free_motions_;  // of the interface
  std::unique_ptr<Factorization> factor_;
  SymmetricCsr mass_;      // on free equations; empty without mass
  Eigen::MatrixXd modes_;  // free equations × modes
  Eigen::MatrixXd basis_;  // free equations × coordinates
};

void PartReduction::check_model() const {
  if (const std::string what = Superelement::not_linear(model_); !what.empty())
    refuse("only linear parts can be reduced, and this is not declared linear", what);
  if (!model_.device_model().symmetric())
    refuse("an element type has an unsymmetric tangent; only symmetric parts can be reduced", "");
  for (const Prescribed& p : domain_.prescribed())
    if (p.value != 0)
      refuse(
          "a prescribed value other than zero cannot be reduced; make the node an interface node, and prescribe the "
          "value in the model that uses the part",
          domain_.node_label(p.node) + ", " + p.unknown);
  for (const ObliqueSupport& o : domain_.oblique_supports())
    if (o.value != 0)
      refuse(
          "a prescribed value other than zero cannot be reduced; make the node an interface node, and prescribe the "
          "value in the model that uses the part",
          domain_.node_label(o.node));
  for (std::size_t b = 0; b < domain_.block_count(); ++b)
    if (const auto& material = domain_.block(b).material(); model_.unknown_names()[0] == "ux" &&
                                                            domain_.block(b).size() > 0 && material &&
                                                            !(material->damping() == RayleighDamping{}))
      refuse("the damping of materials is not reduced; remove it, or give the damping in the steps that use the part",
             "material '" + material->name() + "'");
  for (const AffineDependency& d : model_.constraints().dependent)
    if (d.constant != 0)
      refuse("an equation with a constant other than zero cannot be reduced", model_.equation_label(d.equation));
}

void PartReduction::take_interface() {
  std::sort(interface_.begin(), interface_.end());
  interface_.erase(std::unique(interface_.begin(), interface_.end()), interface_.end());
  if (interface_.empty()) refuse("the interface has no nodes", "");
  const auto names_at = [&](std::int32_t node) {
    std::vector<std::string> names;
    for (const std::string& name : model_.unknown_names())
      if (model_.equation(node, name) >= 0) names.push_back(name);
    return names;
  };
  if (interface_.front() < 0 || interface_.back() >= domain_.node_count())
    refuse("the interface has a node index that the domain does not have", "");
  part_.unknowns = names_at(interface_.front());
  for (const std::int32_t node : interface_) {
    if (is_generalised_node(domain_, node))
      refuse("the node holds the modes of a superelement and cannot be an interface node", domain_.node_label(node));
    const std::vector<std::string> names = names_at(node);
    if (names.empty()) refuse("no element of the part uses the interface node", domain_.node_label(node));
    if (names != part_.unknowns)
      refuse("interface nodes must all have the same unknowns; this one differs from " +
                 domain_.node_label(interface_.front()) + ". Connect the part at nodes of one kind",
             domain_.node_label(node));
    for (const std::string& name : names) {
      const std::int32_t e = model_.equation(node, name);
      if (!model_.is_free(e))
        refuse(model_.is_prescribed(e)
                   ? "the part has a support on its interface; apply it in the model that uses the part"
                   : "the interface unknown depends on others by a multi-point equation or an oblique support; choose "
                     "other interface nodes, or apply it in the model that uses the part",
               model_.equation_label(e));
      interface_equations_.push_back(e);
    }
    part_.interface_nodes.push_back(domain_.node_id(node));
    const auto x = domain_.coordinates().subspan(3 * static_cast<std::size_t>(node), 3);
    part_.interface_coordinates.insert(part_.interface_coordinates.end(), x.begin(), x.end());
  }
  take_geometry();
  static const std::set<std::string> mechanics{"ux", "uy", "uz", "rx", "ry", "rz"};
  mechanical_ = std::all_of(model_.unknown_names().begin(), model_.unknown_names().end(),
                            [&](const std::string& name) { return mechanics.contains(name); });
}

/// Whether the part is axisymmetric, or in plane stress or strain; superelements inside have the same kinds.
void PartReduction::take_geometry() {
  const auto take = [&](const std::string& plane, const std::string& where) {
    if (plane.empty()) return;
    if (!part_.plane.empty() && part_.plane != plane)
      refuse("the part has elements in plane " + part_.plane + " and in plane " + plane + "; use one of both", where);
    part_.plane = plane;
  };
  for (std::size_t b = 0; b < domain_.block_count(); ++b) {
    const ElementBlock& block = domain_.block(b);
    if (block.size() == 0) continue;
    if (block.type().program().axisymmetric()) part_.axisymmetric = true;
    take(plane_state(block.type_name()), "block '" + block.name() + "'");
  }
  for (const auto& instance : superelements_of(domain_))
    take(instance->part().plane, "superelement '" + instance->part().name + "'");
}

void PartReduction::number() {
  place_.assign(static_cast<std::size_t>(model_.equation_count()), -1);
  for (std::int32_t e = 0; e < model_.equation_count(); ++e)
    if (model_.is_free(e)) {
      place_[static_cast<std::size_t>(e)] = static_cast<std::int32_t>(free_.size());
      free_.push_back(e);
    }
  for (const std::int32_t e : interface_equations_) boundary_.push_back(place_[static_cast<std::size_t>(e)]);
}

void PartReduction::check_loads() const {
  const std::vector<double> none(domain_.load_case_count(), 0.0);
  for (std::size_t c = 0; c < none.size(); ++c) {
    std::vector<double> one = none;
    one[c] = 1;
    if (!model_.same_matrix(none, one))
      refuse(
          "the load case changes the matrix (a film, a load that follows the surface, or temperatures of materials "
          "with tables), so that it cannot be a load of a reduced part",
          "load case '" + domain_.load_case(c).name() + "'");
  }
}

SymmetricCsr PartReduction::matrix_of(double stiffness, double mass) const {
  Backend& backend = model_.backend();
  const auto matrix = backend.make_matrix(model_.device_model(), 1);
  const std::vector<double> none(domain_.load_case_count(), 0.0);
  const auto factors = model_.batch_factors(none);
  MatrixTerms terms;
  terms.stiffness = stiffness;
  terms.mass = mass;
  terms.batch_factors = factors;
  model_.translating([&] { backend.assemble(model_.device_model(), ElementState{}, terms, *matrix); });
  return upper_triangle(matrix->to_host(), place_);
}

void PartReduction::condense() {
  factor_ = Factorization::make(options_.method, {.threads = model_.backend().threads()});
  const SymmetricCsr rows = matrix_of(1, 0);
  const auto label = [&](std::int64_t i) { return model_.equation_label(free_[static_cast<std::size_t>(i)]); };
  naming_equations(label, [&] {
    factor_->analyse(rows, boundary_);
    std::vector<double> sizes;
    if (!model_.constraints().dependent.empty()) {
      const std::vector<double> all = stiffness_handed_on(model_);
      for (const std::int32_t e : free_) sizes.push_back(all[static_cast<std::size_t>(e)]);
    }
    factor_->factorise(rows, sizes);
  });
  if (!factor_->null_pivots().empty())
    throw Error(ErrorCode::singular,
                "the inside of the part can move in " + std::to_string(factor_->null_pivots().size()) +
                    " ways that neither its supports nor its interface prevent, and this unknown moves in one of them; "
                    "restrain it, or add it to the interface",
                "superelement '" + options_.name + "', " + label(factor_->null_pivots().front()));
  free_motions_ = detail::unresisted_motions(rows, orthonormal_basis(rigid_motions(model_, free_)), boundary_);
}

void PartReduction::form_mass() {
  mass_ = matrix_of(0, 1);
  if (std::all_of(mass_.value.begin(), mass_.value.end(), [](double v) { return v == 0; })) mass_ = {};
}

void PartReduction::add_modes() {
  const auto inside = static_cast<std::int64_t>(free_.size() - boundary_.size());
  if (mass_.n == 0) refuse("the part has no mass and so no modes; give its materials a density", "");
  if (inside == 0) return;
  const AnalysisModel fixed(domain_, model_.shared_backend(), FixedInterfaceHandler(interface_equations_),
                            PlainNumberer());
  if (fixed.equation_count() != model_.equation_count() ||
      !std::equal(fixed.numbered_nodes().begin(), fixed.numbered_nodes().end(), model_.numbered_nodes().begin()))
    throw Error(ErrorCode::internal, "the part is numbered differently with its interface fixed");
  const EigenProblem problem(fixed);
  EigenRequest request;
  const auto most = problem.free_equations() - problem.equations_without_mass();
  request.modes = static_cast<int>(std::min<std::int64_t>(options_.modes, most));
  if (options_.below > 0) request.below = options_.below;
  // Results inherit the errors of modes, of frequencies by their squares.
  request.tolerance = 1e-9;
  const EigenSolution solution = make_eigen_solver(options_.eigen_solver)->solve(problem, request);
  if (!solution.report.converged)
    throw Error(ErrorCode::not_converged, "the fixed-interface modes did not converge", solution.report.solver);
  if (solution.report.completeness == Completeness::incomplete)
    throw Error(ErrorCode::not_converged, "fixed-interface modes are missing: " + solution.report.statement,
                solution.report.solver);
  if (!solution.vectors.layout()) return;
  const auto count = static_cast<std::size_t>(solution.vectors.columns());
  const std::vector<double> values = solution.vectors.to_host();
  modes_.resize(static_cast<Eigen::Index>(free_.size()), static_cast<Eigen::Index>(count));
  for (std::size_t m = 0; m < count; ++m) {
    part_.eigenvalues.push_back(solution.report.modes[m].eigenvalue);
    for (std::size_t i = 0; i < free_.size(); ++i)
      modes_(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(m)) =
          values[static_cast<std::size_t>(free_[i]) * count + m];
  }
}

// Constraint modes, by blocks of columns, and the fixed-interface modes. K has no entries between the two.
void PartReduction::form_basis() {
  const std::size_t n = part_.size(), edge = boundary_.size(), all = free_.size();
  basis_ = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(all), static_cast<Eigen::Index>(n));
  constexpr std::size_t at_once = 32;
  std::vector<double> unit;
  for (std::size_t first = 0; first < edge; first += at_once) {
    const std::size_t count = std::min(at_once, edge - first);
    unit.assign(count * edge, 0.0);
    for (std::size_t c = 0; c < count; ++c) unit[c * edge + first + c] = 1;
    factor_->expand(unit, {basis_.data() + first * all, count * all}, static_cast<int>(count));
  }
  for (std::size_t m = 0; m < part_.modes(); ++m)
    basis_.col(static_cast<Eigen::Index>(edge + m)) = modes_.col(static_cast<Eigen::Index>(m));
  part_.stiffness.assign(n * n, 0.0);
  const Eigen::Map<const Eigen::MatrixXd> schur(factor_->schur_complement().data(), static_cast<Eigen::Index>(edge),
                                                static_cast<Eigen::Index>(edge));
  Eigen::MatrixXd symmetric = 0.5 * (schur + schur.transpose());
  detail::clear_rounding(symmetric, free_motions_);
  for (std::size_t i = 0; i < edge; ++i)
    for (std::size_t j = 0; j < edge; ++j)
      part_.stiffness[i * n + j] = symmetric(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
  for (std::size_t m = 0; m < part_.modes(); ++m) part_.stiffness[(edge + m) * n + edge + m] = part_.eigenvalues[m];
}

void PartReduction::reduce_mass() {
  if (mass_.n == 0) return;
  const std::size_t n = part_.size(), all = free_.size();
  Eigen::MatrixXd product(basis_.rows(), basis_.cols());
#pragma omp parallel for schedule(static)
  for (std::size_t j = 0; j < n; ++j)
    multiply(mass_, std::span<const double>(basis_.data() + j * all, all), {product.data() + j * all, all});
  const Eigen::MatrixXd reduced = basis_.transpose() * product;
  part_.mass.assign(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      part_.mass[i * n + j] = 0.5 * (reduced(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) +
                                     reduced(static_cast<Eigen::Index>(j), static_cast<Eigen::Index>(i)));
}

// The static solution of a load with the interface fixed is w = K⁻¹ f inside. The modes represent Φ Λ⁻¹ Φᵀ f of it.
PartReduction::Load PartReduction::reduced(const std::string& name, std::vector<double> force) {
  const std::size_t edge = boundary_.size();
  Load load;
  load.name = name;
  load.force = factor_->reduce(force);
  load.force.resize(part_.size());
  for (std::size_t m = 0; m < part_.modes(); ++m) {
    double sum = 0;
    for (std::size_t i = 0; i < force.size(); ++i)
      sum += modes_(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(m)) * force[i];
    load.force[edge + m] = sum;
  }
  if (!options_.recovery) return load;
  const std::vector<double> fixed(edge, 0.0);
  factor_->expand(fixed, force);
  for (std::size_t m = 0; m < part_.modes(); ++m)
    for (std::size_t i = 0; i < force.size(); ++i)
      force[i] -= modes_(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(m)) * load.force[edge + m] /
                  part_.eigenvalues[m];
  load.displacement = all_equations(force.data());
  return load;
}

AnalysisState PartReduction::state_of(const std::vector<double>& case_factors) const {
  AnalysisState state;
  state.case_factors = case_factors;
  StaticIntegrator().begin_step(model_, state);
  return state;
}

void PartReduction::add_loads() {
  std::vector<double> factors(domain_.load_case_count(), 0.0);
  for (std::size_t c = 0; c < factors.size(); ++c) {
    std::fill(factors.begin(), factors.end(), 0.0);
    factors[c] = 1;
    const AnalysisState state = state_of(factors);
    Vector b = model_.make_vector();
    StaticIntegrator().form_unbalance(model_, state, b);
    const std::vector<double> all = b.to_host();
    std::vector<double> force;
    for (const std::int32_t e : free_) force.push_back(all[static_cast<std::size_t>(e)]);
    part_.loads.push_back(reduced(domain_.load_case(c).name(), std::move(force)));
  }
}

// M r on all equations of the elements, those of supports included, for the rigid motions r.
void PartReduction::add_accelerations() {
  Backend& backend = model_.backend();
  const DeviceModel& device_model = model_.device_model();
  const std::vector<double> none(domain_.load_case_count(), 0.0);
  const auto factors = model_.batch_factors(none);
  MatrixTerms terms;
  terms.stiffness = 0;
  terms.mass = 1;
  terms.batch_factors = factors;
  const auto mass = backend.make_element_operator(device_model, ElementProduct::matrix_free, OperatorEquations::all);
  std::vector<std::vector<double>> motion, inertia, free_inertia;
  model_.translating([&] {
    backend.assemble(device_model, ElementState{}, terms, *mass);
    for (int d = 0; d < 6; ++d) {
      motion.push_back(rigid_motion_of_part(model_, d));
      Vector r = model_.make_vector(), y = model_.make_vector();
      r.from_host(motion.back());
      mass->apply(r, y);
      inertia.push_back(y.to_host());
      backend.reduce_dependencies(device_model, y);
      free_inertia.push_back(y.to_host());
    }
  });
  for (std::size_t d = 0; d < 6; ++d)
    for (std::size_t e = 0; e < 6; ++e) {
      double sum = 0;
      for (std::size_t i = 0; i < motion[d].size(); ++i) sum += motion[d][i] * inertia[e][i];
      part_.rigid_mass[d * 6 + e] = sum;
    }
  static const char* const names[] = {"acceleration x", "acceleration y", "acceleration z"};
  for (std::size_t d = 0; d < 3; ++d) {
    std::vector<double> force;
    for (const std::int32_t e : free_) force.push_back(free_inertia[d][static_cast<std::size_t>(e)]);
    part_.accelerations.push_back(reduced(names[d], std::move(force)));
  }
  // Whether rigid motions of the interface carry the inside along, prescribed unknowns included. Bodies of revolution
  // have one that does not strain them, along y.
  double largest = 0, apart = 0;
  for (std::size_t d = 0; d < 6; ++d) {
    if (part_.axisymmetric && d != 1) continue;
    const std::vector<double>& r = motion[d];
    std::vector<double> own(free_.size(), 0.0);
    for (std::size_t j = 0; j < boundary_.size(); ++j) {
      const double value = r[static_cast<std::size_t>(interface_equations_[j])];
      for (std::size_t i = 0; i < own.size(); ++i)
        own[i] += basis_(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) * value;
    }
    const std::vector<double> all = all_equations(own.data());
    for (std::size_t e = 0; e < all.size(); ++e) {
      largest = std::max(largest, std::abs(r[e]));
      apart = std::max(apart, std::abs(all[e] - r[e]));
    }
  }
  part_.follows_rigid_motions = apart <= 1e-6 * largest;
}

std::vector<double> PartReduction::all_equations(const double* free) const {
  std::vector<double> all(static_cast<std::size_t>(model_.equation_count()), 0.0);
  for (std::size_t i = 0; i < free_.size(); ++i) all[static_cast<std::size_t>(free_[i])] = free[i];
  if (model_.constraints().dependent.empty()) return all;
  Vector x = model_.make_vector();
  x.from_host(all);
  model_.backend().expand_dependencies(model_.device_model(), x);
  return x.to_host();
}

void PartReduction::add_recovery() {
  part_.part_unknowns = model_.unknown_names();
  for (std::int32_t e = 0; e < model_.equation_count(); ++e) {
    const AnalysisModel::Place at = model_.place(e);
    part_.row.push_back({domain_.node_id(at.node), at.component});
  }
  const std::size_t n = part_.size(), all = free_.size();
  part_.recovery.assign(part_.rows() * n, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    const std::vector<double> column = all_equations(basis_.data() + j * all);
    for (std::size_t e = 0; e < column.size(); ++e) part_.recovery[e * n + j] = column[e];
  }
  add_mesh();
  if (options_.stresses) add_stresses();
}

void PartReduction::add_mesh() {
  for (std::int32_t i = 0; i < domain_.node_count(); ++i) part_.nodes.push_back(domain_.node_id(i));
  part_.coordinates.assign(domain_.coordinates().begin(), domain_.coordinates().end());
  for (std::size_t b = 0; b < domain_.block_count(); ++b) {
    const ElementBlock& from = domain_.block(b);
    if (from.size() == 0 || from.type().shape().empty()) continue;
    ReducedPart::Block& to = part_.blocks.emplace_back();
    to.name = from.name();
    to.type = from.type_name();
    to.nodes_per_element = from.nodes_per_element();
    for (std::int32_t e = 0; e < from.size(); ++e) to.elements.push_back(from.id(e));
    for (const std::int32_t i : from.connectivity()) to.nodes.push_back(domain_.node_id(i));
  }
}

std::vector<double> PartReduction::mean_stresses(const std::vector<double>& case_factors,
                                                 const std::vector<double>& unknowns) const {
  AnalysisState state = state_of(case_factors);
  state.unknowns.from_host(unknowns);
  StaticIntegrator integrator;
  const StepResult result = make_step_result(model_, integrator, state, {}, true);
  std::vector<double> means;
  for (const ReducedPart::Block& block : part_.blocks) {
    if (!block.has_stress) continue;
    for (const PointField& field : result.points) {
      if (domain_.block(static_cast<std::size_t>(field.block)).name() != block.name) continue;
      std::vector<int> components;  // −1: plane elements do not have it
      for (const std::string& name : ReducedPart::stress_names())
        components.push_back(field.has(name) ? field.name_index(name) : -1);
      for (std::int32_t e = 0; e < static_cast<std::int32_t>(block.elements.size()); ++e)
        for (const int component : components) {
          double sum = 0;
          for (int p = 0; component >= 0 && p < field.points; ++p) sum += field.at(e, p, component);
          means.push_back(sum / field.points);
        }
    }
  }
  return means;
}

void PartReduction::add_stresses() {
  for (ReducedPart::Block& block : part_.blocks) {
    const auto names = domain_.block(block.name).type().program().recovered_names();
    block.has_stress = std::find(names.begin(), names.end(), "sxx") != names.end();
  }
  if (std::none_of(part_.blocks.begin(), part_.blocks.end(), [](const auto& block) { return block.has_stress; }))
    refuse("no element of the part has stresses that could be recovered", "");
  const std::size_t n = part_.size();
  std::vector<double> none(domain_.load_case_count(), 0.0);
  std::vector<std::vector<double>> columns;
  for (std::size_t j = 0; j < n; ++j)
    columns.push_back(mean_stresses(none, all_equations(basis_.data() + j * free_.size())));
  const std::size_t rows = columns.front().size();
  part_.stress_recovery.assign(rows * n, 0.0);
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < rows; ++i) part_.stress_recovery[i * n + j] = columns[j][i];
  for (std::size_t c = 0; c < part_.loads.size(); ++c) {
    std::vector<double> one = none;
    one[c] = 1;
    part_.loads[c].stress = mean_stresses(one, part_.loads[c].displacement);
  }
  for (Load& load : part_.accelerations) load.stress = mean_stresses(none, load.displacement);
}

}  // namespace

ReducedPart reduce_part(const Domain& domain, std::span<const std::int32_t> interface_nodes,
                        std::shared_ptr<Backend> backend, const ReduceOptions& options) {
  if (options.modes < 0 || !(options.below >= 0) || !std::isfinite(options.below))
    throw Error(ErrorCode::bad_input, "the number of modes and their highest frequency must not be negative",
                "superelement '" + options.name + "'");
  if (options.stresses && !options.recovery)
    throw Error(ErrorCode::bad_input, "stresses are recovered from displacements; ask for recovery, too",
                "superelement '" + options.name + "'");
  return PartReduction(domain, interface_nodes, std::move(backend), options).run();
}

ReducedPart reduce_part(const Domain& domain, const std::string& interface_set, std::shared_ptr<Backend> backend,
                        const ReduceOptions& options) {
  return reduce_part(domain, domain.node_set(interface_set), std::move(backend), options);
}

ReducedPart reduce_part(const Subdomain& subdomain, std::shared_ptr<Backend> backend, const ReduceOptions& options) {
  return reduce_part(subdomain.domain(), subdomain.interface_nodes(), std::move(backend), options);
}

}  // namespace voussoir
