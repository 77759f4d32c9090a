#include <Eigen/Eigenvalues>
#include <vector>

#include <voussoir/solvers/amg/detail/cycle.hpp>

// Where iterative eigen-solvers begin: noise has all modes alike, and it takes several iterations on the finest level
// until the high ones are gone. Coarser levels cannot represent these, and cost a fraction.

namespace voussoir::detail {
namespace {

constexpr int coarsest_steps = 8, other_steps = 2;
/// A level must have so many rows for each motion that it is to represent.
constexpr std::int64_t rows_per_motion = 4;
/// Squared lengths of directions, relative to the longest, below which they are rounding errors of single precision.
constexpr double lost = 1e-13;

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// All rows of a level on the first device.
std::shared_ptr<const Layout> layout_of_level(const Backend& backend, std::int64_t rows) {
  std::vector<std::shared_ptr<DeviceMemory>> memories;
  std::vector<std::int64_t> first{0};
  for (int d = 0; d < backend.devices(); ++d) {
    memories.push_back(backend.memory(d));
    first.push_back(rows);
  }
  std::vector<std::vector<std::int64_t>> ghosts(memories.size());
  return std::make_shared<const Layout>(std::move(memories), std::move(first), std::move(ghosts));
}

/// Makes the columns of x orthonormal. Directions that are lost in rounding errors stay short.
void orthonormalise(Backend& backend, MultigridServices& services, const std::shared_ptr<const Layout>& layout,
                    LevelVector& x) {
  const Array<std::int32_t> in_order;
  const auto size = static_cast<std::size_t>(x.columns) * static_cast<std::size_t>(x.columns);
  Vector v(layout, x.columns), w(layout, x.columns);
  services.give(x, in_order, v);
  RowMajor gram(x.columns, x.columns);
  backend.block_dot(v, v, {gram.data(), size});
  if (!gram.allFinite()) return;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> s(gram);
  const double longest = s.eigenvalues().tail(1)[0];
  if (!(longest > 0)) return;
  const Eigen::VectorXd scale = s.eigenvalues().cwiseMax(lost * longest).cwiseSqrt().cwiseInverse();
  const RowMajor factors = s.eigenvectors() * scale.asDiagonal();
  backend.fill(w, 0.0);
  backend.block_axpy(v, {factors.data(), size}, w);
  services.take(w, in_order, x);
}

}  // namespace

Vector AmgCycle::soft_motions(int columns) const {
  // Iterations end on the second level, or on the first one below divided levels.
  const std::size_t last = divided_ ? 0 : 1;
  const auto& levels = hierarchy_.levels();
  std::size_t base = levels.size() - 1;
  while (base > 0 && levels[base].rows() < rows_per_motion * columns) --base;
  if (base < last || levels[base].rows() < rows_per_motion * columns) return {};
  Work work = make_work(columns, last);
  LevelVector x = make_level_vector(*backend_, levels[base].rows(), columns, hierarchy_.single());
  services_.fill_with_noise(x);
  for (std::size_t l = base;; --l) {
    const auto layout = layout_of_level(*backend_, levels[l].rows());
    for (int step = 0; step < (l == base ? coarsest_steps : other_steps); ++step) {
      services_.axpby(1, x, 0, work.levels[l].b);
      services_.axpby(1, cycle(work, l), 0, x);
      orthonormalise(*backend_, services_, layout, x);
    }
    if (l == last) break;
    x = interpolated(l, x);
  }
  Vector motions(layout_, columns);
  if (divided_) {
    Vector coarse(hierarchy_.divided()->gathered_layout(), columns);
    services_.give(x, hierarchy_.equations(), coarse);
    divided_->prolong(coarse, motions);
  } else {
    services_.give(interpolated(last, x), hierarchy_.equations(), motions);
  }
  return motions;
}

LevelVector AmgCycle::interpolated(std::size_t level, const LevelVector& x) const {
  const AmgLevel& finer = hierarchy_.levels()[level - 1];
  LevelVector y = make_level_vector(*backend_, finer.rows(), x.columns, hierarchy_.single());
  services_.product(finer.prolongation, x, y);
  return y;
}

}  // namespace voussoir::detail
