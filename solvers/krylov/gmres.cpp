#include <algorithm>
#include <cmath>
#include <vector>

#include <voussoir/solvers/krylov/krylov_solver.hpp>

namespace voussoir {
namespace {

/// Orthonormal directions, kept in blocks of a few columns: a block is read once for all of them.
class Basis {
 public:
  static constexpr int width = 8;

  explicit Basis(const AnalysisModel& model) : model_(model), backend_(model.backend()) {}

  int count() const { return count_; }
  void add(const Vector& v) {
    const int block = count_ / width;
    if (block == static_cast<int>(blocks_.size())) blocks_.push_back(model_.make_vector(width));
    if (count_ % width == 0) backend_.fill(blocks_[static_cast<std::size_t>(block)], 0.0);
    backend_.copy_columns(v, 0, 1, blocks_[static_cast<std::size_t>(block)], count_ % width);
    ++count_;
  }
  /// w −= V Vᵀ w; adds Vᵀ w to h.
  void project(Vector& w, std::vector<double>& h) const {
    const int used = (count_ + width - 1) / width;
    std::vector<double> c(static_cast<std::size_t>(used) * width);
    for (int b = 0; b < used; ++b)
      backend_.block_dot(blocks_[static_cast<std::size_t>(b)], w,
                         std::span<double>(c).subspan(static_cast<std::size_t>(b) * width, width));
    for (int i = 0; i < count_; ++i) h[static_cast<std::size_t>(i)] += c[static_cast<std::size_t>(i)];
    for (double& x : c) x = -x;
    combine(c, w);
  }
  /// w += V c.
  void combine(const std::vector<double>& c, Vector& w) const {
    std::vector<double> part(width);
    for (int b = 0; b * width < count_; ++b) {
      for (int i = 0; i < width; ++i)
        part[static_cast<std::size_t>(i)] = b * width + i < count_ ? c[static_cast<std::size_t>(b * width + i)] : 0.0;
      backend_.block_axpy(blocks_[static_cast<std::size_t>(b)], part, w);
    }
  }

 private:
  const AnalysisModel& model_;
  Backend& backend_;
  std::vector<Vector> blocks_;
  int count_ = 0;
};

/// The least-squares problem of Arnoldi's matrix, by Givens rotations.
class LeastSquares {
 public:
  explicit LeastSquares(double residual) : right_{residual} {}
  std::size_t size() const { return columns_.size(); }
  /// Takes a column h of length k + 2; returns the residual that is left.
  double add(std::vector<double> h) {
    const std::size_t k = columns_.size();
    for (std::size_t i = 0; i < k; ++i) rotate(cosine_[i], sine_[i], h[i], h[i + 1]);
    const double length = std::hypot(h[k], h[k + 1]);
    cosine_.push_back(length > 0 ? h[k] / length : 1);
    sine_.push_back(length > 0 ? h[k + 1] / length : 0);
    rotate(cosine_[k], sine_[k], h[k], h[k + 1]);
    right_.push_back(0);
    rotate(cosine_[k], sine_[k], right_[k], right_[k + 1]);
    columns_.push_back(std::move(h));
    return std::abs(right_[k + 1]);
  }
  /// The combination of directions that leaves the least; a direction without effect is left out.
  std::vector<double> solve() const {
    std::vector<double> y(right_.begin(), right_.end() - 1);
    for (std::size_t i = y.size(); i-- > 0;) {
      for (std::size_t j = i + 1; j < y.size(); ++j) y[i] -= columns_[j][i] * y[j];
      y[i] = columns_[i][i] != 0 ? y[i] / columns_[i][i] : 0;
    }
    return y;
  }

 private:
  static void rotate(double c, double s, double& a, double& b) {
    const double first = c * a + s * b;
    b = c * b - s * a;
    a = first;
  }
  std::vector<std::vector<double>> columns_;
  std::vector<double> cosine_, sine_, right_;
};

/// Changes of x by earlier restarts that directions are added from.
constexpr std::size_t most_changes = 3;

}  // namespace

GmresSolver::GmresSolver(std::shared_ptr<Preconditioner> preconditioner, const Options& options)
    : KrylovSolver(std::move(preconditioner), options) {}

KrylovSolver::Stop GmresSolver::iterate(System& system) {
  const AnalysisModel& model = system.soe.model();
  Backend& backend = model.backend();
  Vector v = model.make_vector(), z = model.make_vector();
  const double start = system.residual(v);
  if (!std::isfinite(start)) return Stop::not_finite;
  if (start <= system.target) return Stop::target;
  backend.scale(1 / start, v);
  Basis basis(model);
  basis.add(v);
  LeastSquares least(start);
  Stop stop = Stop::limit;
  const auto from_residual = static_cast<std::size_t>(options_.restart);
  const std::size_t most = from_residual + system.changes.size();
  while (least.size() < most && system.products < system.limit) {
    const int k = basis.count();
    const bool again = least.size() >= from_residual;  // a direction of an earlier restart
    if (!again) system.precondition(v, z);
    system.soe.matrix().apply(again ? system.changes[least.size() - from_residual] : z, v);
    ++system.products;
    const double before = backend.norm(v);
    std::vector<double> h(static_cast<std::size_t>(k) + 1, 0.0);
    basis.project(v, h);
    basis.project(v, h);  // twice is enough (Giraud, Langou and Rozložník 2005)
    double length = backend.norm(v);
    if (!std::isfinite(length)) return Stop::not_finite;
    const bool exhausted = length <= 1e-14 * before;  // the directions span all that the residual excites
    h[static_cast<std::size_t>(k)] = exhausted ? 0 : length;
    const double left = least.add(std::move(h));
    system.history.push_back(left / system.size);
    if (!tell(system, left)) return Stop::cancelled;
    if (left <= system.target || exhausted) {
      stop = left <= system.target ? Stop::target : Stop::stalled;
      break;
    }
    if (least.size() == most) break;
    backend.scale(1 / length, v);
    basis.add(v);
  }
  // x += M V y, and the directions of earlier restarts.
  std::vector<double> y = least.solve();
  const std::vector<double> further(y.begin() + static_cast<std::ptrdiff_t>(std::min(y.size(), from_residual)),
                                    y.end());
  y.resize(y.size() - further.size());
  y.resize(static_cast<std::size_t>(basis.count()), 0.0);
  backend.fill(v, 0.0);
  basis.combine(y, v);
  system.precondition(v, z);
  for (std::size_t i = 0; i < further.size(); ++i) backend.axpy(further[i], system.changes[i], z);
  backend.axpy(1.0, z, system.x);
  if (const double size = backend.norm(z); size > 0 && std::isfinite(size)) {
    backend.scale(1 / size, z);
    system.changes.insert(system.changes.begin(), std::move(z));
    if (system.changes.size() > most_changes) system.changes.pop_back();
  }
  return stop;
}

}  // namespace voussoir
