#pragma once
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <memory>
#include <string>
#include <unsupported/Eigen/MatrixFunctions>
#include <vector>

#include <voussoir/framework/analysis/mode_superposition.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/solvers/eigen/mode_superposition_problem.hpp>

namespace voussoir::test {

/// A model with all its matrices in dense words, and M u″ + C u′ + K u = Σ f_j p_j(t) solved by matrix exponentials:
/// nothing of it knows of modes.
class DirectIntegration {
 public:
  explicit DirectIntegration(const AnalysisModel& model, MassKind mass = MassKind::consistent) : model_(model) {
    stiffness = dense(1, 0, mass);
    mass_matrix = dense(0, 1, mass);
    const Eigen::Index n = model.equation_count();
    std::vector<Eigen::Index> column(static_cast<std::size_t>(n), -1);
    for (std::int32_t e = 0; e < model.equation_count(); ++e)
      if (model.is_free(e)) column[static_cast<std::size_t>(e)] = free_count++;
    transformation = Eigen::MatrixXd::Zero(n, free_count);
    for (Eigen::Index e = 0; e < n; ++e)
      if (column[static_cast<std::size_t>(e)] >= 0) transformation(e, column[static_cast<std::size_t>(e)]) = 1;
    for (const AffineDependency& d : model.constraints().dependent)
      for (std::size_t k = 0; k < d.others.size(); ++k)
        if (const auto c = column[static_cast<std::size_t>(d.others[k])]; c >= 0)
          transformation(d.equation, c) += d.coefficients[k];
    damping = Eigen::MatrixXd::Zero(n, n);
  }

  /// A unit load that acts over a time function.
  void add_load(Eigen::VectorXd force, Amplitude amplitude, bool base = false, Eigen::VectorXd rigid = {}) {
    loads_.push_back({std::move(force), std::move(amplitude), base, std::move(rigid)});
  }
  Eigen::VectorXd rigid(int direction) const {
    Eigen::VectorXd r = Eigen::VectorXd::Zero(model_.equation_count());
    for (std::int32_t e = 0; e < model_.equation_count(); ++e) {
      auto at = model_.place(e);
      const double* x = model_.domain().coordinates().data() + 3 * static_cast<std::size_t>(at.node);
      if (model_.domain().rotation_node(at.node)) at.component += 3;
      if (direction < 3) {
        r[e] = at.component == direction ? 1 : 0;
      } else if (at.component < 3) {
        Eigen::Vector3d axis = Eigen::Vector3d::Zero();
        axis[direction - 3] = 1;
        r[e] = axis.cross(Eigen::Vector3d(x[0], x[1], x[2]))[at.component];
      } else {
        r[e] = at.component == direction ? 1 : 0;
      }
    }
    return r;
  }
  void add_base(int direction, const Amplitude& amplitude) {
    const Eigen::VectorXd r = rigid(direction);
    add_load(-mass_matrix * r, amplitude, true, r);
  }
  /// The nodal loads of a load case.
  Eigen::VectorXd nodal_loads(const std::string& name) const {
    Eigen::VectorXd f = Eigen::VectorXd::Zero(model_.equation_count());
    for (const auto& load : model_.domain().load_case(name).nodal_loads())
      f[model_.equation(load.node, load.unknown)] += load.value;
    return f;
  }

  /// Motion of all equations, relative to the base, and absolute accelerations.
  struct State {
    Eigen::VectorXd u, v, a, absolute, force;  ///< force: external loads without the inertia of base motion
  };
  /// The state at a time, from rest or from (u, v) of the free equations at time 0.
  State at(double time, Eigen::VectorXd u0 = {}, Eigen::VectorXd v0 = {}) const {
    const Eigen::MatrixXd m = reduced(mass_matrix), k = reduced(stiffness), c = reduced(damping);
    const Eigen::MatrixXd inverse = m.inverse();
    const Eigen::Index n = free_count, all = 2 * n + 2;
    Eigen::VectorXd z = Eigen::VectorXd::Zero(2 * n);
    if (u0.size()) z.head(n) = u0;
    if (v0.size()) z.tail(n) = v0;
    std::vector<double> stops{0, time};
    for (const Load& load : loads_)
      for (const auto& [t, value] : load.amplitude.points())
        if (t > 0 && t < time) stops.push_back(t);
    std::sort(stops.begin(), stops.end());
    for (std::size_t s = 1; s < stops.size(); ++s) {
      const double h = stops[s] - stops[s - 1];
      if (h <= 0) continue;
      Eigen::VectorXd first = Eigen::VectorXd::Zero(n), last = first;
      for (const Load& load : loads_) {
        first += transformation.transpose() * load.force * load.amplitude.at(stops[s - 1]);
        last += transformation.transpose() * load.force * load.amplitude.before(stops[s]);
      }
      // z′ = A z + B (first + τ (last − first)/h), with 1 and τ as two more unknowns.
      Eigen::MatrixXd system = Eigen::MatrixXd::Zero(all, all);
      system.block(0, n, n, n).setIdentity();
      system.block(n, 0, n, n) = -inverse * k;
      system.block(n, n, n, n) = -inverse * c;
      system.block(n, 2 * n, n, 1) = inverse * first;
      system.block(n, 2 * n + 1, n, 1) = inverse * (last - first) / h;
      system(2 * n + 1, 2 * n) = 1;
      Eigen::VectorXd extended = Eigen::VectorXd::Zero(all);
      extended.head(2 * n) = z;
      extended[2 * n] = 1;
      const Eigen::MatrixXd step = (system * h).exp();
      z = (step * extended).head(2 * n);
    }
    State state;
    Eigen::VectorXd reduced_force = Eigen::VectorXd::Zero(n);
    state.force = Eigen::VectorXd::Zero(transformation.rows());
    for (const Load& load : loads_) {
      reduced_force += transformation.transpose() * load.force * load.amplitude.at(time);
      if (!load.base) state.force += load.force * load.amplitude.at(time);
    }
    state.u = transformation * z.head(n);
    state.v = transformation * z.tail(n);
    state.a = transformation * (inverse * (reduced_force - c * z.tail(n) - k * z.head(n)));
    state.absolute = state.a;
    for (const Load& load : loads_)
      if (load.base) state.absolute += load.rigid * load.amplitude.at(time);
    return state;
  }
  /// What supports and equations exert: forces out of balance on all equations.
  Eigen::VectorXd out_of_balance(const State& s) const {
    return stiffness * s.u + damping * s.v + mass_matrix * s.absolute - s.force;
  }
  Eigen::MatrixXd reduced(const Eigen::MatrixXd& a) const { return transformation.transpose() * a * transformation; }

  Eigen::MatrixXd stiffness, mass_matrix, damping, transformation;
  Eigen::Index free_count = 0;

 private:
  struct Load {
    Eigen::VectorXd force;
    Amplitude amplitude;
    bool base;
    Eigen::VectorXd rigid;
  };
  Eigen::MatrixXd dense(double stiffness_factor, double mass_factor, MassKind kind) const {
    std::vector<double> factors;
    for (const BatchOrigin& origin : model_.batches())
      factors.push_back(origin.kind == BatchOrigin::Kind::block ? 1 : 0);
    MatrixTerms terms;
    terms.stiffness = stiffness_factor;
    terms.mass = mass_factor;
    terms.mass_kind = kind;
    terms.batch_factors = factors;
    Backend& backend = model_.backend();
    const auto op =
        backend.make_element_operator(model_.device_model(), ElementProduct::matrix_free, OperatorEquations::all);
    backend.assemble(model_.device_model(), ElementState{}, terms, *op);
    const Eigen::Index n = model_.equation_count();
    Eigen::MatrixXd result(n, n);
    Vector x = model_.make_vector(), y = model_.make_vector();
    for (Eigen::Index j = 0; j < n; ++j) {
      std::vector<double> unit(static_cast<std::size_t>(n), 0.0);
      unit[static_cast<std::size_t>(j)] = 1;
      x.from_host(unit);
      op->apply(x, y);
      const std::vector<double> column = y.to_host();
      result.col(j) = Eigen::Map<const Eigen::VectorXd>(column.data(), n);
    }
    return result;
  }

  const AnalysisModel& model_;
  std::vector<Load> loads_;
};

/// The values of a field on the equations of a model.
inline Eigen::VectorXd on_equations(const AnalysisModel& model, const NodalField& field) {
  Eigen::VectorXd u(model.equation_count());
  for (std::int32_t e = 0; e < model.equation_count(); ++e)
    u[e] = field.at(model.place(e).node, model.place(e).component);
  return u;
}

/// A distorted block, clamped at x = 0, with an equation that holds in translations and an oblique support.
inline void add_block_on_supports(Domain& d, bool equation = true, bool oblique = true) {
  BoxMesh mesh;
  mesh.cells = {3, 1, 1};
  mesh.upper = {3, 1, 0.8};
  mesh.distortion = 0.2;
  add_box_mesh(d, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1000, 0.3, 2));
  d.prescribe("xmin", "all");
  const Id last = d.node_id(d.node_count() - 1);
  if (equation) d.add_equation({{last, "uy", 1}, {last - 1, "uy", -1}});
  if (oblique) d.prescribe_along(last - 4, {0, 1, 1});
  d.add_load_case("tip").nodal_at(last, "uz", 0.7).nodal_at(last - 1, "ux", 1.5);
}

/// A block, clamped at x = 0, whose face at x = 3 is a rigid body: its nodes follow a reference node and its rotation.
inline void add_block_with_rigid_end(Domain& d) {
  BoxMesh mesh;
  mesh.cells = {3, 1, 1};
  mesh.upper = {3, 1, 0.8};
  add_box_mesh(d, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1000, 0.3, 2));
  d.prescribe("xmin", "all");
  const Id reference = 1000, rotation = 1001;
  const std::array<double, 3> centre{3.2, 0.6, 0.3};
  d.add_node(reference, centre[0], centre[1], centre[2]);
  d.add_node(rotation, centre[0], centre[1], centre[2]);
  d.set_rotation_node(rotation, reference);
  const char* const names[] = {"ux", "uy", "uz"};
  for (const std::int32_t n : std::vector<std::int32_t>(d.node_set("xmax").begin(), d.node_set("xmax").end())) {
    const double* x = d.coordinates().data() + 3 * static_cast<std::size_t>(n);
    const double arm[] = {x[0] - centre[0], x[1] - centre[1], x[2] - centre[2]};
    for (int k = 0; k < 3; ++k)  // u = u_ref + θ × arm
      d.add_equation({{d.node_id(n), names[k], 1},
                      {reference, names[k], -1},
                      {rotation, names[(k + 1) % 3], -arm[(k + 2) % 3]},
                      {rotation, names[(k + 2) % 3], arm[(k + 1) % 3]}});
  }
  d.add_load_case("tip").nodal_at(reference, "uz", 0.7).nodal_at(rotation, "ux", 0.4);
}

inline std::unique_ptr<ModalAnalysis> modes_of_model(const Domain& d, int count,
                                                     const std::string& backend = "openmp:2",
                                                     MassKind mass = MassKind::consistent) {
  ModalOptions options;
  options.backend = backend;
  options.mass = mass;
  auto analysis = make_modal_analysis(d, options);
  EigenRequest request;
  request.modes = count;
  analysis->solve(request);
  return analysis;
}

inline int free_unknowns(const Domain& d) {
  const AnalysisModel model(d, Backend::open("openmp:1"), TransformationHandler(), PlainNumberer());
  return model.free_equation_count();
}

}  // namespace voussoir::test
