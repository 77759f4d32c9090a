#include "support/constrained_reference.hpp"

#include <Eigen/Dense>
#include <cmath>

#include <voussoir/framework/model/analysis_model.hpp>

namespace voussoir::testing {

ConstrainedReference solve_by_dense_algebra(const std::function<void(Domain&, bool constrained)>& build) {
  Domain free, constrained;
  build(free, false);
  build(constrained, true);
  const auto backend = Backend::open("openmp:1");
  const AnalysisModel model(free, backend, EliminationHandler(), PlainNumberer());
  // Nodes that only equations use have unknowns too, behind those of elements.
  const auto& names = model.unknown_names();
  const int width = static_cast<int>(names.size());
  const Eigen::Index size = static_cast<Eigen::Index>(constrained.node_count()) * width;
  const auto place = [&](std::int32_t node, const std::string& unknown) -> Eigen::Index {
    for (int k = 0; k < width; ++k)
      if (names[k] == unknown) return static_cast<Eigen::Index>(node) * width + k;
    throw Error(ErrorCode::not_found, "unknown '" + unknown + "'");
  };

  // Stiffness and loads of the elements.
  const std::vector<double> factors(free.load_case_count(), 1.0);
  const auto batches = model.batch_factors(factors);
  auto csr = backend->make_matrix(model.device_model(), 1);
  MatrixTerms terms;
  terms.batch_factors = batches;
  Vector u = model.make_vector(), r = model.make_vector();
  backend->fill(u, 0);
  backend->fill(r, 0);
  ElementState state(u);
  state.temperature = model.temperatures(factors);
  backend->assemble(model.device_model(), state, terms, *csr);
  model.add_loads(factors, state, r);
  backend->scale(-1, r);
  backend->residual(model.device_model(), state, batches, false, r);
  const HostMatrix k = csr->to_host();
  const auto minus_f = r.to_host();
  std::vector<Eigen::Index> at(model.equation_count());
  std::vector<char> exists(size, 0);
  for (std::int32_t e = 0; e < model.equation_count(); ++e) {
    at[e] = static_cast<Eigen::Index>(model.place(e).node) * width + model.place(e).component;
    exists[at[e]] = 1;
  }
  Eigen::MatrixXd stiffness = Eigen::MatrixXd::Zero(size, size);
  Eigen::VectorXd load = Eigen::VectorXd::Zero(size);
  for (std::int32_t i = 0; i < model.equation_count(); ++i) {
    for (auto j = k.row_start[i]; j < k.row_start[i + 1]; ++j) stiffness(at[i], at[k.column[j]]) = k.value[j];
    load[at[i]] = -minus_f[i];
  }

  // All constraints as rows; unknowns that do not exist, and that no equation names, are held at zero.
  for (const auto& e : constrained.equations())
    for (const auto& t : e.terms) exists[place(t.node, t.unknown)] = 1;
  std::vector<Eigen::RowVectorXd> rows;
  std::vector<double> g;
  const auto row = [&](double value) -> Eigen::RowVectorXd& {
    rows.emplace_back(Eigen::RowVectorXd::Zero(size));
    g.push_back(value);
    return rows.back();
  };
  for (Eigen::Index i = 0; i < size; ++i)
    if (!exists[i]) row(0)[i] = 1;
  for (const auto& p : constrained.prescribed())
    for (int c = 0; c < width; ++c)
      if (p.unknown == names[c] || (p.unknown == "all" && exists[p.node * width + c]))
        row(p.value)[place(p.node, names[c])] = 1;
  for (const auto& o : constrained.oblique_supports()) {
    auto& target = row(o.value);
    for (int c = 0; c < std::min(3, width); ++c)
      target[static_cast<Eigen::Index>(o.node) * width + c] += o.direction[c];
  }
  for (const auto& e : constrained.equations()) {
    auto& target = row(e.constant);
    for (const auto& t : e.terms) target[place(t.node, t.unknown)] += t.coefficient;
  }

  ConstrainedReference result;
  Eigen::MatrixXd c(rows.size(), size);
  Eigen::VectorXd rhs(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double scale = rows[i].norm();
    c.row(static_cast<Eigen::Index>(i)) = rows[i] / (scale > 0 ? scale : 1);
    rhs[static_cast<Eigen::Index>(i)] = g[i] / (scale > 0 ? scale : 1);
  }
  // Cᵀ P = Q R: the first columns of Q span the constraints, the others the motions that they leave.
  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(c.transpose());
  qr.setThreshold(1e-9);
  const Eigen::Index rank = qr.rank();
  const Eigen::MatrixXd q_all = qr.householderQ() * Eigen::MatrixXd::Identity(size, size);
  const Eigen::VectorXd permuted = qr.colsPermutation().transpose() * rhs;
  const Eigen::VectorXd particular =
      q_all.leftCols(rank) *
      qr.matrixR().topLeftCorner(rank, rank).triangularView<Eigen::Upper>().transpose().solve(permuted.head(rank));
  if ((c * particular - rhs).norm() > 1e-8 * (rhs.norm() + 1e-300)) {
    result.kind = ConstrainedReference::Kind::contradictory;
    return result;
  }
  const Eigen::MatrixXd motions = q_all.rightCols(size - rank);
  const Eigen::MatrixXd reduced = motions.transpose() * stiffness * motions;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> spectrum(0.5 * (reduced + reduced.transpose()));
  const double floor = 1e-11 * stiffness.cwiseAbs().maxCoeff();
  if (spectrum.eigenvalues().size() > 0 && spectrum.eigenvalues()[0] < floor) {
    result.kind = ConstrainedReference::Kind::singular;
    return result;
  }
  const Eigen::VectorXd q =
      spectrum.eigenvectors() *
      (spectrum.eigenvalues().cwiseInverse().asDiagonal() *
       (spectrum.eigenvectors().transpose() * (motions.transpose() * (load - stiffness * particular))));
  const Eigen::VectorXd solution = particular + motions * q;
  result.unknowns.assign(solution.data(), solution.data() + solution.size());
  return result;
}

}  // namespace voussoir::testing
