#include <voussoir/framework/analysis/eigen_problem.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>

#include <voussoir/framework/analysis/detail/no_stiffness.hpp>
#include <voussoir/framework/detail/dense_algebra.hpp>
#include <voussoir/framework/model/free_motion.hpp>
#include <voussoir/framework/model/rigid_clusters.hpp>
#include <voussoir/framework/model/unrestrained_unknowns.hpp>

namespace voussoir {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Vector diagonal_vector(Backend& backend, const SparseMatrix& matrix) {
  const BlockDiagonal diagonal = backend.block_diagonal(matrix, 1);
  std::vector<double> values;
  for (int d = 0; d < backend.devices(); ++d) {
    const auto part = diagonal.blocks[static_cast<std::size_t>(d)].read_host();
    values.insert(values.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(diagonal.layout->owned(d)));
  }
  Vector result(matrix.layout());
  result.from_host(values);
  return result;
}

Eigen::MatrixXd dot(Backend& backend, const Vector& x, const Vector& y) {
  RowMajor result(x.columns(), y.columns());
  backend.block_dot(x, y, {result.data(), static_cast<std::size_t>(result.size())});
  return result;
}

Eigen::MatrixXd symmetric_dot(Backend& backend, const Vector& x, const Vector& y) {
  const Eigen::MatrixXd product = dot(backend, x, y);
  return 0.5 * (product + product.transpose());
}

/// X C.
Vector combined(Backend& backend, const Vector& x, const Eigen::MatrixXd& c) {
  const RowMajor rows = c;
  Vector y(x.layout(), static_cast<int>(c.cols()));
  backend.fill(y, 0.0);
  backend.block_axpy(x, {rows.data(), static_cast<std::size_t>(rows.size())}, y);
  return y;
}

/// The eigenvectors of a positive semi-definite matrix, divided by the roots of their eigenvalues; those with small
/// ones are left out.
Eigen::MatrixXd inverse_root(const Eigen::MatrixXd& gram, double relative) {
  const detail::Spectrum s = detail::spectrum_of(gram);
  const Eigen::Index n = s.values.size();
  std::vector<Eigen::Index> kept;
  for (Eigen::Index i = 0; i < n; ++i)
    if (s.values[i] > relative * s.values[n - 1] && s.values[i] > 0) kept.push_back(i);
  Eigen::MatrixXd root(n, static_cast<Eigen::Index>(kept.size()));
  for (std::size_t k = 0; k < kept.size(); ++k)
    root.col(static_cast<Eigen::Index>(k)) = s.vectors.col(kept[k]) / std::sqrt(s.values[kept[k]]);
  return root;
}

}  // namespace

EigenProblem::EigenProblem(const AnalysisModel& model, MassKind mass) : model_(model), mass_kind_(mass) {
  check_model();
  Backend& backend = model.backend();
  const int uniform = model.device_model().uniform_components();
  const int block = uniform >= 1 && uniform <= 6 ? uniform : 1;
  stiffness_ = backend.make_matrix(model.device_model(), block);
  mass_ = backend.make_matrix(model.device_model(), block);
  assemble(*stiffness_, 1, 0);
  assemble(*mass_, 0, 1);
  diagonal_ = diagonal_vector(backend, *stiffness_);
  mass_diagonal_ = diagonal_vector(backend, *mass_);
  look_at_diagonals();
  find_free_motions();
}

void EigenProblem::check_model() const {
  static const std::set<std::string> mechanical{"ux", "uy", "uz", "rx", "ry", "rz"};
  for (const std::string& name : model_.unknown_names())
    if (!mechanical.contains(name))
      throw Error(
          ErrorCode::bad_input,
          "natural frequencies are those of displacements and rotations; this model has the unknown '" + name + "'");
  if (!model_.device_model().symmetric())
    throw Error(ErrorCode::bad_input,
                "an element has a tangent that is not symmetric; the eigen-solvers need symmetric matrices");
  const auto& batches = model_.device_model().part(0).batches;
  for (std::size_t b = 0; b < model_.batches().size(); ++b)
    if (model_.batches()[b].kind == BatchOrigin::Kind::block && batches[b].program->has_mass()) return;
  throw Error(ErrorCode::bad_input, "no element of the model can have a mass, so that it has no natural frequencies");
}

template <class Work>
void EigenProblem::with_terms(double stiffness, double mass, const Work& work) const {
  const std::vector<double> no_loads(model_.domain().load_case_count(), 0.0);
  const auto factors = model_.batch_factors(no_loads);
  MatrixTerms terms;
  terms.stiffness = stiffness;
  terms.mass = mass;
  terms.mass_kind = mass_kind_;
  terms.batch_factors = factors;
  model_.translating([&] { work(terms); });
}

void EigenProblem::assemble(SparseMatrix& matrix, double stiffness, double mass) const {
  with_terms(stiffness, mass, [&](const MatrixTerms& terms) {
    backend().assemble(model_.device_model(), ElementState{}, terms, matrix);
  });
}

void EigenProblem::form(LinearSOE& soe, double stiffness, double mass) const {
  with_terms(stiffness, mass, [&](const MatrixTerms& terms) { soe.form(ElementState{}, terms); });
}

void EigenProblem::look_at_diagonals() {
  const std::vector<double> k = diagonal_.to_host(), m = mass_diagonal_.to_host();
  double largest = 0;
  for (std::int32_t e = 0; e < model_.equation_count(); ++e)
    if (model_.is_free(e)) largest = std::max(largest, m[static_cast<std::size_t>(e)]);
  if (!std::isfinite(largest)) throw Error(ErrorCode::not_finite, "the mass matrix has an entry that is not finite");
  for (std::int32_t e = 0; e < model_.equation_count(); ++e) {
    if (!model_.is_free(e)) continue;
    ++free_;
    const double mass = m[static_cast<std::size_t>(e)];
    if (mass < 0)
      throw Error(ErrorCode::bad_input, "the mass is negative; check the density and the point masses",
                  model_.equation_label(e));
    if (mass == 0) {
      ++without_mass_;
      if (!(k[static_cast<std::size_t>(e)] > 0))
        throw Error(ErrorCode::singular,
                    "this unknown has neither stiffness nor mass; prescribe it, or add an element that has",
                    model_.equation_label(e));
    } else if (!(k[static_cast<std::size_t>(e)] > 0)) {
      throw Error(ErrorCode::singular,
                  "this unknown has a mass but no stiffness, so that it moves freely; prescribe it, or add an element "
                  "that resists it",
                  model_.equation_label(e));
    } else {
      largest_ratio_ = std::max(largest_ratio_, k[static_cast<std::size_t>(e)] / mass);
    }
  }
  if (free_ == 0)
    throw Error(ErrorCode::bad_input, "every unknown of the model is prescribed, so that nothing can vibrate");
  if (!(largest > 0))
    throw Error(ErrorCode::bad_input,
                "no part that can move has a mass; give the materials a density (*DENSITY in a deck, \"density\" in a "
                "job file)");
}

bool EigenProblem::knows_free_motions() const {
  return !others_possible_ || voussoir::find_free_motions(model_).empty();
}

// Candidates come from geometry. What springs and elements of unknown kind oppose to them is in K.
void EigenProblem::find_free_motions() {
  const RigidClusters clusters(model_);
  others_possible_ = !clusters.undecided().empty();
  const auto count = clusters.motions().size();
  if (count == 0) return;
  Backend& b = backend();
  Vector motions = model_.make_vector(static_cast<int>(count));
  {
    std::vector<double> values(static_cast<std::size_t>(model_.equation_count()) * count);
    for (std::size_t e = 0; e < static_cast<std::size_t>(model_.equation_count()); ++e)
      for (std::size_t c = 0; c < count; ++c) values[e * count + c] = clusters.motions()[c][e];
    motions.from_host(values);
  }
  Vector scale = model_.make_vector();
  {
    std::vector<double> values = diagonal_.to_host();
    if (!model_.constraints().dependent.empty()) {
      const std::vector<double> summed = stiffness_handed_on(model_);
      for (std::size_t e = 0; e < values.size(); ++e)
        values[e] = std::max(values[e], lost_in_rounding / detail::no_stiffness * summed[e]);
    }
    scale.from_host(values);
  }
  Vector image = model_.make_vector(static_cast<int>(count));
  b.multiply(scale, motions, image);
  const Eigen::MatrixXd basis = inverse_root(symmetric_dot(b, motions, image), 1e-10);
  if (basis.cols() == 0) return;
  stiffness_->apply(motions, image);
  const detail::Spectrum ritz = detail::spectrum_of(detail::congruent(symmetric_dot(b, motions, image), basis));
  Eigen::Index free = 0;
  while (free < ritz.values.size() && std::abs(ritz.values[free]) <= detail::no_stiffness) ++free;
  if (free == 0) return;
  Vector found = combined(b, motions, detail::product(basis, ritz.vectors.leftCols(free)));
  // M-orthonormal, twice for the last digits.
  for (int pass = 0; pass < 2; ++pass) {
    Vector mx = model_.make_vector(found.columns());
    mass_->apply(found, mx);
    const Eigen::MatrixXd root = inverse_root(symmetric_dot(b, found, mx), 1e-12);
    if (root.cols() < found.columns()) {
      const detail::Spectrum s = detail::spectrum_of(symmetric_dot(b, found, mx));
      const Vector without = combined(b, found, s.vectors.leftCols(1));
      throw Error(ErrorCode::singular, describe_motion(model_, without.to_host()).text +
                                           ", and no mass resists it either; support it, or give it a mass");
    }
    found = combined(b, found, root);
  }
  free_motions_ = std::move(found);
}

}  // namespace voussoir
