#pragma once
#include <Eigen/Dense>
#include <memory>
#include <vector>

#include <voussoir/framework/analysis/integrator.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/solvers/registries.hpp>
#include <voussoir/solvers/static_problem.hpp>

#include "support/registered_names.hpp"

namespace voussoir::test {

/// A short distorted bar of bricks, clamped at one end, with an equation and a load: small enough for dense algebra.
inline void add_bar(Domain& d, std::array<int, 3> cells = {4, 2, 2}) {
  BoxMesh mesh;
  mesh.cells = cells;
  mesh.upper = {2, 1, 1};
  mesh.distortion = 0.2;
  add_box_mesh(d, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1000, 0.3, 2));
  d.prescribe("xmin", "all");
  const Id last = d.node_id(d.node_count() - 1);
  d.add_equation({{last, "uy", 1}, {last - 1, "uz", -0.5}});
  d.add_load_case("pull").traction("xmax", {1, 0.2, -0.3});
  d.add_load_case("weight").gravity("", {0, 0, -1});
}

/// A numbered model with one formed SOE, in dense words as well.
struct System {
  System(const Domain& domain, const std::string& storage, const std::string& backend = "openmp:2")
      : model(domain, Backend::open(backend), TransformationHandler(), PlainNumberer()), soe(make_soe(storage)) {
    state.case_factors.assign(domain.load_case_count(), 1.0);
    integrator.begin_step(model, state);
    soe->set_model(model);
    integrator.form_tangent(model, state, *soe);
    integrator.form_unbalance(model, state, soe->b());
    for (std::int32_t e = 0; e < model.equation_count(); ++e)
      if (model.is_free(e)) free.push_back(e);
  }

  /// The matrix of the free equations, from a CSR matrix of its own.
  Eigen::MatrixXd dense() const {
    auto csr = model.backend().make_matrix(model.device_model(), 1);
    const auto factors = model.batch_factors(state.case_factors);
    MatrixTerms terms;
    terms.batch_factors = factors;
    model.backend().assemble(model.device_model(), nullptr, terms, *csr);
    const HostMatrix m = csr->to_host();
    Eigen::MatrixXd full = Eigen::MatrixXd::Zero(model.equation_count(), model.equation_count());
    for (std::int64_t i = 0; i < m.block_rows(); ++i)
      for (auto k = m.row_start[i]; k < m.row_start[i + 1]; ++k) full(i, m.column[k]) = m.value[k];
    return full(free, free);
  }

  Eigen::VectorXd on_free(const Vector& v, int column = 0) const {
    const auto host = v.to_host();
    Eigen::VectorXd x(static_cast<Eigen::Index>(free.size()));
    for (std::size_t i = 0; i < free.size(); ++i) x[i] = host[static_cast<std::size_t>(free[i]) * v.columns() + column];
    return x;
  }

  /// An operator on the free equations, column by column.
  Eigen::MatrixXd dense(const Operator& op) const {
    const auto n = static_cast<Eigen::Index>(free.size());
    Eigen::MatrixXd result(n, n);
    Vector x = model.make_vector(), y = model.make_vector();
    for (Eigen::Index j = 0; j < n; ++j) {
      std::vector<double> unit(model.equation_count(), 0.0);
      unit[free[j]] = 1;
      x.from_host(unit);
      op.apply(x, y);
      result.col(j) = on_free(y);
    }
    return result;
  }

  AnalysisModel model;
  std::shared_ptr<LinearSOE> soe;
  StaticIntegrator integrator;
  AnalysisState state;
  std::vector<std::int32_t> free;
};

}  // namespace voussoir::test
