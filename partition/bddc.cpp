#include <Eigen/Dense>

#include <algorithm>
#include <cmath>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/partition/interface_preconditioner.hpp>
#include <voussoir/partition/part_threads.hpp>
#include <voussoir/solvers/direct/factorization.hpp>

namespace voussoir {
namespace {

/// An average over some unknowns, or the value of one: a row of C.
struct Constraint {
  std::int32_t number;                 // of the primal unknown
  std::vector<std::int32_t> unknowns;  // local numbers of the part
  std::vector<double> values;
  bool is_average = false;
};

}  // namespace

/// With A the matrix of the part, N its kernel and C its constraints, the minimum of ½ vᵀAv − fᵀv under C v = μ is
/// v = A⁺(f − Cᵀλ) + N α with
///
///   | C A⁺Cᵀ   −C N | λ      C A⁺f − μ
///   | −(C N)ᵀ    0  | α  =    −Nᵀf
///
/// λ is scaled by a typical stiffness, so that the entries of this matrix have one magnitude.
struct BddcOperator::Part {
  Part(const PartMatrices& matrices, int number, const std::string& part_solver)
      : solver(matrices, number, part_solver) {}

  NeumannSolver solver;
  std::vector<double> weights;  // on the boundary
  std::vector<Constraint> constraints;
  double stiffness = 1;
  Eigen::MatrixXd reaction;  // A⁺Cᵀ
  Eigen::PartialPivLU<Eigen::MatrixXd> small;
  Eigen::MatrixXd basis;   // Φ: the energy-minimal extensions of unit primal values
  Eigen::MatrixXd coarse;  // ΦᵀAΦ

  Eigen::Index primal() const { return static_cast<Eigen::Index>(constraints.size()); }
  Eigen::Index kernel() const { return static_cast<Eigen::Index>(solver.kernel().size()); }
  double average(const Constraint& constraint, std::span<const double> v) const {
    double sum = 0;
    for (std::size_t i = 0; i < constraint.unknowns.size(); ++i)
      sum += constraint.values[i] * v[static_cast<std::size_t>(constraint.unknowns[i])];
    return sum;
  }
  /// Replaces f by the minimum under C v = 0.
  void solve(std::vector<double>& f) const;
  void form_small(std::size_t size);
  void form_basis(std::size_t size);
};

void BddcOperator::Part::form_small(std::size_t size) {
  reaction.resize(static_cast<Eigen::Index>(size), primal());
  reaction.setZero();
  for (Eigen::Index j = 0; j < primal(); ++j) {
    const Constraint& constraint = constraints[static_cast<std::size_t>(j)];
    for (std::size_t i = 0; i < constraint.unknowns.size(); ++i)
      reaction(constraint.unknowns[i], j) = stiffness * constraint.values[i];
  }
  solver.solve({reaction.data(), static_cast<std::size_t>(reaction.size())}, static_cast<int>(primal()));
  const Eigen::Index all = primal() + kernel();
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(all, all);
  for (Eigen::Index i = 0; i < primal(); ++i) {
    const Constraint& constraint = constraints[static_cast<std::size_t>(i)];
    for (Eigen::Index j = 0; j < primal(); ++j) matrix(i, j) = average(constraint, {reaction.col(j).data(), size});
    for (Eigen::Index k = 0; k < kernel(); ++k)
      matrix(i, primal() + k) = matrix(primal() + k, i) =
          -average(constraint, solver.kernel()[static_cast<std::size_t>(k)]);
  }
  if (all > 0) small.compute(matrix);
}

void BddcOperator::Part::form_basis(std::size_t size) {
  if (primal() == 0) return;
  Eigen::MatrixXd right = Eigen::MatrixXd::Zero(primal() + kernel(), primal());
  right.topRows(primal()) = -Eigen::MatrixXd::Identity(primal(), primal());
  const Eigen::MatrixXd solution = small.solve(right);
  basis = -reaction * solution.topRows(primal());
  for (Eigen::Index k = 0; k < kernel(); ++k) {
    const Eigen::Map<const Eigen::VectorXd> motion(solver.kernel()[static_cast<std::size_t>(k)].data(),
                                                   static_cast<Eigen::Index>(size));
    basis += motion * solution.row(primal() + k);
  }
  coarse = -stiffness * solution.topRows(primal());
  coarse = (0.5 * (coarse + coarse.transpose())).eval();
}

void BddcOperator::Part::solve(std::vector<double>& f) const {
  const Eigen::Index all = primal() + kernel();
  Eigen::VectorXd right(all);
  for (Eigen::Index k = 0; k < kernel(); ++k) {
    double sum = 0;
    const auto& motion = solver.kernel()[static_cast<std::size_t>(k)];
    for (std::size_t i = 0; i < f.size(); ++i) sum += motion[i] * f[i];
    right(primal() + k) = -sum / stiffness;
  }
  solver.solve(f);
  if (all == 0) return;
  for (Eigen::Index j = 0; j < primal(); ++j) right(j) = average(constraints[static_cast<std::size_t>(j)], f);
  const Eigen::VectorXd x = small.solve(right);
  Eigen::Map<Eigen::VectorXd> v(f.data(), static_cast<Eigen::Index>(f.size()));
  if (primal() > 0) v -= reaction * x.head(primal());
  for (Eigen::Index k = 0; k < kernel(); ++k)
    v += x(primal() + k) *
         Eigen::Map<const Eigen::VectorXd>(solver.kernel()[static_cast<std::size_t>(k)].data(), v.size());
}

BddcOperator::BddcOperator(Backend& backend, const PartMatrices& matrices, const Options& options)
    : HostOperator(plain_layout(backend, static_cast<std::int64_t>(matrices.decomposition().interface().size()))),
      matrices_(matrices),
      threads_(NeumannSolver::works_side_by_side(options.part_solver) ? part_threads(backend) : 1) {
  const Decomposition& decomposition = matrices.decomposition();
  parts_.resize(static_cast<std::size_t>(decomposition.parts()));
  for_each_part(decomposition.parts(), threads_, [&](int p) {
    parts_[static_cast<std::size_t>(p)] = std::make_unique<Part>(matrices, p, options.part_solver);
    Part& part = *parts_[static_cast<std::size_t>(p)];
    const std::vector<double> all = part_weights(decomposition, p, options.weighting, &matrices);
    const SymmetricCsr& matrix = matrices.neumann(p);
    double sum = 0;
    for (const std::int32_t i : decomposition.boundary(p)) {
      part.weights.push_back(all[static_cast<std::size_t>(i)]);
      sum += matrix.value[static_cast<std::size_t>(matrix.row_start[static_cast<std::size_t>(i)])];
    }
    if (sum > 0) part.stiffness = sum / static_cast<double>(part.weights.size());
  });
  for (const auto& part : parts_)
    if (!part->solver.kernel().empty()) ++floating_;
  add_constraints(options.primal);
  for_each_part(decomposition.parts(), threads_, [&](int p) { set_up_part(p); });
  set_up_coarse();
}

BddcOperator::~BddcOperator() = default;

std::vector<BddcOperator::Average> BddcOperator::averages(int part) const {
  std::vector<Average> list;
  for (const Constraint& one : parts_[static_cast<std::size_t>(part)]->constraints)
    if (one.is_average) list.push_back({one.number, one.unknowns, one.values});
  return list;
}

void BddcOperator::add_constraints(const std::string& primal) {
  const Decomposition& decomposition = matrices_.decomposition();
  const auto local = [&](int p, std::int32_t unknown) {
    const auto own = decomposition.unknowns(p);
    const auto at = std::lower_bound(own.begin(), own.end(), unknown);
    return at != own.end() && *at == unknown ? static_cast<std::int32_t>(at - own.begin()) : -1;
  };
  primal_.assign(decomposition.interface().size(), 0);
  for (const InterfaceClass& one : interface_classes(decomposition)) {
    if (one.kind == InterfaceKind::corner) {
      if (primal.find('c') == std::string::npos) continue;
      for (const std::int32_t u : one.unknowns) {
        const auto interface = decomposition.interface();
        primal_[static_cast<std::size_t>(std::lower_bound(interface.begin(), interface.end(), u) - interface.begin())] =
            1;
        for (const std::int32_t p : decomposition.parts_of(u))
          parts_[static_cast<std::size_t>(p)]->constraints.push_back({coarse_size_, {local(p, u)}, {1.0}, false});
        ++coarse_size_;
      }
      continue;
    }
    if (primal.find(one.kind == InterfaceKind::edge ? 'e' : 'f') == std::string::npos) continue;
    std::vector<std::int32_t> equations;
    for (const std::int32_t u : one.unknowns)
      equations.push_back(decomposition.equations()[static_cast<std::size_t>(u)]);
    auto motions = rigid_motions(decomposition.model(), equations);
    // What a floating part can do without resistance is to be seen by its constraints, even if it is not a rigid
    // motion.
    for (const std::int32_t p : one.parts)
      for (const auto& motion : parts_[static_cast<std::size_t>(p)]->solver.kernel()) {
        auto& on_class = motions.emplace_back();
        for (const std::int32_t u : one.unknowns) on_class.push_back(motion[static_cast<std::size_t>(local(p, u))]);
      }
    for (const auto& average : orthonormal_basis(std::move(motions), 1e-6)) {
      for (const std::int32_t p : one.parts) {
        Constraint constraint{coarse_size_, {}, average, true};
        for (const std::int32_t u : one.unknowns) constraint.unknowns.push_back(local(p, u));
        parts_[static_cast<std::size_t>(p)]->constraints.push_back(std::move(constraint));
      }
      ++coarse_size_;
    }
  }
}

void BddcOperator::set_up_part(int number) {
  Part& part = *parts_[static_cast<std::size_t>(number)];
  const auto size = static_cast<std::size_t>(matrices_.neumann(number).n);
  if (part.kernel() > 0) {
    Eigen::MatrixXd seen(part.primal(), part.kernel());
    for (Eigen::Index i = 0; i < part.primal(); ++i)
      for (Eigen::Index k = 0; k < part.kernel(); ++k)
        seen(i, k) = part.average(part.constraints[static_cast<std::size_t>(i)],
                                  part.solver.kernel()[static_cast<std::size_t>(k)]);
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> rank(seen);
    rank.setThreshold(1e-9);
    const Eigen::Index held = part.primal() == 0 ? 0 : rank.rank();
    if (held < part.kernel()) {
      const auto& decomposition = matrices_.decomposition();
      throw Error(ErrorCode::bad_input,
                  "the part floats: " + std::to_string(part.kernel()) + " of its motions meet no resistance, and its " +
                      std::to_string(part.primal()) + " primal unknowns prevent only " + std::to_string(held) +
                      " of them. Use averages over edges and faces as well (primal=cef), or support the model",
                  "part " + std::to_string(number) + " of " + std::to_string(decomposition.parts()));
    }
  }
  part.form_small(size);
  part.form_basis(size);
}

void BddcOperator::set_up_coarse() {
  if (coarse_size_ == 0) return;
  std::vector<std::vector<std::pair<std::int32_t, double>>> rows(static_cast<std::size_t>(coarse_size_));
  for (const auto& part : parts_)
    for (Eigen::Index i = 0; i < part->primal(); ++i)
      for (Eigen::Index j = 0; j < part->primal(); ++j) {
        const std::int32_t a = part->constraints[static_cast<std::size_t>(i)].number,
                           b = part->constraints[static_cast<std::size_t>(j)].number;
        if (a <= b) rows[static_cast<std::size_t>(a)].emplace_back(b, part->coarse(i, j));
      }
  SymmetricCsr matrix;
  matrix.n = coarse_size_;
  matrix.row_start.push_back(0);
  for (auto& row : rows) {
    std::stable_sort(row.begin(), row.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (k > 0 && row[k].first == row[k - 1].first) {
        matrix.value.back() += row[k].second;
      } else {
        matrix.column.push_back(row[k].first);
        matrix.value.push_back(row[k].second);
      }
    }
    matrix.row_start.push_back(static_cast<std::int64_t>(matrix.column.size()));
  }
  coarse_ = Factorization::make(DirectMethod::automatic, {});
  coarse_->factorise(matrix);
}

const std::vector<double>& BddcOperator::weights(int part) const {
  return parts_[static_cast<std::size_t>(part)]->weights;
}

void BddcOperator::solve_partially_assembled(std::vector<std::vector<double>>& loads, bool on_boundary) const {
  const Decomposition& decomposition = matrices_.decomposition();
  std::vector<double> primal(static_cast<std::size_t>(coarse_size_), 0.0);
  const auto number = [](const Part& part, Eigen::Index j) {
    return static_cast<std::size_t>(part.constraints[static_cast<std::size_t>(j)].number);
  };
  std::vector<std::vector<double>> sums(parts_.size());
  for_each_part(decomposition.parts(), threads_, [&](int p) {
    const Part& part = *parts_[static_cast<std::size_t>(p)];
    std::vector<double>& f = loads[static_cast<std::size_t>(p)];
    const auto boundary = decomposition.boundary(p);
    for (Eigen::Index j = 0; j < part.primal(); ++j) {
      double sum = 0;
      if (on_boundary)
        for (const std::int32_t i : boundary) sum += part.basis(i, j) * f[static_cast<std::size_t>(i)];
      else
        for (std::size_t i = 0; i < f.size(); ++i) sum += part.basis(static_cast<Eigen::Index>(i), j) * f[i];
      sums[static_cast<std::size_t>(p)].push_back(sum);
    }
    if (!on_boundary || !boundary.empty()) part.solve(f);
  });
  for (std::size_t p = 0; p < parts_.size(); ++p)
    for (Eigen::Index j = 0; j < parts_[p]->primal(); ++j)
      primal[number(*parts_[p], j)] += sums[p][static_cast<std::size_t>(j)];
  if (coarse_) {
    const Stopwatch watch;
    coarse_->solve(primal);
    coarse_seconds_ += watch.seconds();
  }
  for_each_part(decomposition.parts(), threads_, [&](int p) {
    const Part& part = *parts_[static_cast<std::size_t>(p)];
    if (part.primal() == 0) return;
    Eigen::VectorXd values(part.primal());
    for (Eigen::Index j = 0; j < part.primal(); ++j) values(j) = primal[number(part, j)];
    std::vector<double>& f = loads[static_cast<std::size_t>(p)];
    if (on_boundary)
      for (const std::int32_t i : decomposition.boundary(p))
        f[static_cast<std::size_t>(i)] += part.basis.row(i).dot(values);
    else
      Eigen::Map<Eigen::VectorXd>(f.data(), static_cast<Eigen::Index>(f.size())) += part.basis * values;
  });
}

void BddcOperator::multiply(std::span<const double> x, std::span<double> y) const {
  const Decomposition& decomposition = matrices_.decomposition();
  std::fill(y.begin(), y.end(), 0.0);
  std::vector<std::vector<double>> result(parts_.size());
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const auto boundary = decomposition.boundary(static_cast<int>(p));
    const auto places = decomposition.interface_places(static_cast<int>(p));
    result[p].assign(static_cast<std::size_t>(matrices_.neumann(static_cast<int>(p)).n), 0.0);
    for (std::size_t i = 0; i < boundary.size(); ++i)
      result[p][static_cast<std::size_t>(boundary[i])] = parts_[p]->weights[i] * x[static_cast<std::size_t>(places[i])];
  }
  solve_partially_assembled(result, true);
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    const auto boundary = decomposition.boundary(static_cast<int>(p));
    const auto places = decomposition.interface_places(static_cast<int>(p));
    for (std::size_t i = 0; i < boundary.size(); ++i)
      y[static_cast<std::size_t>(places[i])] +=
          parts_[p]->weights[i] * result[p][static_cast<std::size_t>(boundary[i])];
  }
}

std::size_t BddcOperator::bytes() const {
  std::size_t sum = coarse_ ? static_cast<std::size_t>(coarse_->statistics().factor_entries) * 12 : 0;
  for (const auto& part : parts_)
    sum += part->solver.bytes() + sizeof(double) * static_cast<std::size_t>(part->reaction.size() + part->basis.size());
  return sum;
}

std::string BddcOperator::describe() const {
  return "BDDC, " + std::to_string(parts_.size()) + " parts (" + std::to_string(floating_) + " floating), " +
         std::to_string(unknowns()) + " interface unknowns, " + std::to_string(coarse_size_) + " primal ones";
}

}  // namespace voussoir
