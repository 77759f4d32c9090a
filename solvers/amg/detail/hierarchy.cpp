#include <voussoir/solvers/amg/detail/hierarchy.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/solvers/amg/detail/near_null_space.hpp>
#include <voussoir/solvers/amg/detail/set_up_rules.hpp>
#include <voussoir/solvers/amg/detail/spectrum_steps.hpp>

namespace voussoir::detail {
namespace {

/// A dense inverse of more rows costs more than the sparse factorisation it replaces.
constexpr std::int64_t most_dense_rows = 4000;
/// For new values so many steps tell whether the spectrum is still as it was, but for this part.
constexpr int early_steps = 4;
constexpr double spectrum_change = 0.02;

/// Estimates the largest eigenvalue of MA from the coefficients of CG with a right-hand side that excites everything
/// alike; an estimate that was made before is kept where the first steps find what they found then.
/// apply(x, y) is y = M x and multiply(x, y) is y = A x.
template <class Apply, class Multiply>
void estimate_spectrum(const Backend& backend, MultigridServices& services, std::int64_t rows, const Apply& apply,
                       const Multiply& multiply, double& largest, double& early_largest) {
  const auto make = [&] { return make_level_vector(backend, rows, 1, false); };
  LevelVector r = make(), z = make(), a_z = make(), a_p = make();
  Array<double> scalars = backend.make_array<double>(0, 2);
  services.fill_with_noise(r);
  services.fill(a_p, 0);
  SpectrumSteps steps;
  for (int k = 0; k < spectrum_steps; ++k) {
    apply(r, z);
    multiply(z, a_z);
    services.dot(r, z, scalars, 0);
    services.dot(z, a_z, scalars, 1);
    const auto sums = scalars.read_host();
    if (!steps.add(sums[0], sums[1])) break;
    if (k + 1 == early_steps) {
      const double early = steps.after(early_steps), before = early_largest;
      if (std::abs(early - before) <= spectrum_change * before) return;
      early_largest = early;
    }
    services.axpby(1, a_z, steps.beta(), a_p);
    services.axpby(-steps.alpha(), a_p, 1, r);
  }
  largest = steps.largest();
}

/// The upper triangle of a level's matrix on the host.
SymmetricCsr upper_triangle(const LevelMatrix& a) {
  const auto start = a.start.read_host();
  const auto column = a.column.read_host();
  const auto value = a.value.read_host();
  SymmetricCsr matrix;
  matrix.n = std::int64_t{a.rows} * a.height;
  matrix.row_start.push_back(0);
  for (std::size_t i = 0; i < static_cast<std::size_t>(a.rows); ++i) {
    const std::int64_t n = start[i + 1] - start[i];
    for (int r = 0; r < a.height; ++r) {
      const double* line = value.data() + start[i] * a.height * a.width + r * n * a.width;
      for (std::int64_t k = 0; k < n; ++k)
        for (int c = 0; c < a.width; ++c) {
          const std::int64_t at = std::int64_t{column[static_cast<std::size_t>(start[i] + k)]} * a.width + c;
          if (at < static_cast<std::int64_t>(i) * a.height + r) continue;
          matrix.column.push_back(static_cast<std::int32_t>(at));
          matrix.value.push_back(line[k * a.width + c]);
        }
      matrix.row_start.push_back(static_cast<std::int64_t>(matrix.column.size()));
    }
  }
  return matrix;
}

[[noreturn]] void refuse_row(const LinearSOE& soe, const Array<std::int32_t>& equations, std::int64_t row) {
  refuse_equation(
      soe, equations.empty() ? static_cast<std::int32_t>(row) : equations.read_host()[static_cast<std::size_t>(row)]);
}

}  // namespace

LevelVector make_level_vector(const Backend& backend, std::int64_t rows, int columns, bool single) {
  LevelVector v;
  v.columns = columns;
  const std::size_t size = static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  if (single)
    v.single_value = backend.make_array<float>(0, size);
  else
    v.value = backend.make_array<double>(0, size);
  return v;
}

std::size_t AmgLevel::bytes() const {
  std::size_t sum = 0;
  for (const LevelMatrix* m :
       {&a, &factor, &factor_transposed, &tentative, &once, &prolongation, &restriction, &product})
    sum += m->bytes();
  return sum + inverse.bytes();
}

AmgHierarchy::AmgHierarchy(const LinearSOE& soe, const AmgOptions& options, bool single)
    : backend_(soe.model().shared_backend()),
      services_(backend_->service<MultigridServices>()),
      options_(options),
      single_(single) {
  build(soe);
}

void AmgHierarchy::build(const LinearSOE& soe) {
  levels_.clear();
  divided_.reset();  // memory first
  dense_ = DenseInverse();
  direct_.reset();
  divided_ = DividedLevels::make(soe, options_, single_);
  if (divided_) return build_below(soe);
  levels_.emplace_back();
  take_finest(soe, levels_.back());
  make_smoother(levels_.back(), &soe);
  if (!is_small(levels_.back()) && options_.most_levels > 1) {
    const AnalysisModel& model = soe.model();
    NearNullRows space = options_.near_null_space
                             ? given_motions(model, options_.near_null_space(model), levels_[0].height, equations_)
                             : rigid_motions(model, levels_[0].height);
    coarsen_further(soe, space, options_.threshold);
  }
  solve_coarsest(levels_.back());
}

/// The levels that are not divided. The first of them is gathered from all devices.
void AmgHierarchy::build_below(const LinearSOE& soe) {
  outside_ = nullptr;
  equations_ = Array<std::int32_t>();
  levels_.emplace_back();
  AmgLevel& level = levels_.back();
  NearNullRows space = divided_->take_gathered(level.a);
  level.nodes = level.a.rows;
  level.height = level.a.height;
  level.entries = level.a.entries();
  make_smoother(level, nullptr);
  const bool walls = space.modes == 6 && (divided_->levels().size() == 1 ? level.largest_eigenvalue > walls_eigenvalue
                                                                         : divided_->has_walls());
  if (walls && options_.smoother == AmgOptions::Smoother::automatic) {
    options_.smoother = AmgOptions::Smoother::fsai;  // of all levels, which are made again
    return build(soe);
  }
  coarsen_further(soe, space, (finest_basis_steps(options_) > 1 ? 1 : 2) * options_.threshold);
  solve_coarsest(levels_.back());
}

void AmgHierarchy::coarsen_further(const LinearSOE& soe, NearNullRows& space, double threshold) {
  const int most = options_.most_levels - static_cast<int>(divided_ ? divided_->levels().size() : 0);
  while (!is_small(levels_.back()) && static_cast<int>(levels_.size()) < most) {
    AmgLevel next;
    if (!coarsen(soe, levels_.back(), next, space.values, space.modes, threshold)) break;
    make_smoother(next, nullptr);
    levels_.push_back(std::move(next));
    const bool walls =
        !divided_ && space.modes == 6 && levels_.size() == 2 && levels_[1].largest_eigenvalue > walls_eigenvalue;
    if (walls && options_.smoother == AmgOptions::Smoother::automatic) suit_walls(soe);
    // Coarser levels are tied to many neighbours by a little: the smoothed steps between levels reach far.
    // Where the basis is smoothed twice, to more neighbours by less.
    threshold = (finest_basis_steps(options_) > 1 ? 1 : 2) * options_.threshold;
  }
}

/// Walls are seen on the second level. What they want of the first one is another smoother and another basis: its
/// groups stay.
void AmgHierarchy::suit_walls(const LinearSOE& soe) {
  options_.smoother = AmgOptions::Smoother::fsai;
  AmgLevel &level = levels_[0], next;
  next.nodes = levels_[1].nodes;
  next.height = levels_[1].height;
  levels_.pop_back();
  level.restriction = LevelMatrix();  // made anew, with what follows it
  level.product = LevelMatrix();
  refresh_finest(soe, level, false);
  make_smoother(level, &soe);
  lay_out_basis(level);
  project(soe, level, next);
  make_smoother(next, nullptr);
  levels_.push_back(std::move(next));
}

bool AmgHierarchy::is_small(const AmgLevel& level) const { return level.rows() <= options_.coarsest_rows; }

void AmgHierarchy::take_finest(const LinearSOE& soe, AmgLevel& level) {
  const AnalysisModel& model = soe.model();
  // A matrix that is not stored is assembled for the time of setting up; products are then left to the SOE.
  std::unique_ptr<SparseMatrix> assembled = soe.sparse_matrix() ? nullptr : soe.assembled();
  const SparseMatrix* matrix = assembled ? assembled.get() : soe.sparse_matrix();
  if (!matrix) refuse_missing_matrix(soe);
  level.a = services_.rows_of(model.device_model(), *matrix);
  require_small_nodes(level.a.height);
  level.nodes = level.a.rows;
  level.height = level.a.height;
  level.entries = level.a.entries();
  equations_ = services_.equations_of(model.device_model(), level.height);
  outside_ = assembled || !single_ ? &soe.matrix() : nullptr;
}

void AmgHierarchy::refresh_finest(const LinearSOE& soe, AmgLevel& level, bool single) {
  const AnalysisModel& model = soe.model();
  const std::unique_ptr<SparseMatrix> assembled = soe.sparse_matrix() ? nullptr : soe.assembled();
  const SparseMatrix& matrix = assembled ? *assembled : *soe.sparse_matrix();
  services_.update_rows(model.device_model(), matrix, level.a, single);
  outside_ = assembled || !single_ ? &soe.matrix() : nullptr;
}

void AmgHierarchy::make_smoother(AmgLevel& level, const LinearSOE* finest) {
  level.inverse = LevelDiagonal();
  const std::int64_t bad = services_.invert_diagonal(level.a, level.inverse);
  if (bad >= 0) {
    if (finest) refuse_row(*finest, equations_, bad);
    refuse_coarser_level(options_);
  }
  if (options_.smoother == AmgOptions::Smoother::fsai) make_factor(level);
  if (!finest) {
    const auto multiply = [&](const LevelVector& x, LevelVector& y) { services_.product(level.a, x, y); };
    return find_spectrum(level, multiply);
  }
  // The SOE's own product reads less: half the matrix, or none.
  Vector outside_x = finest->model().make_vector(), outside_y = finest->model().make_vector();
  backend_->fill(outside_x, 0);
  const auto multiply = [&](const LevelVector& x, LevelVector& y) {
    services_.give(x, equations_, outside_x);
    finest->matrix().apply(outside_x, outside_y);
    services_.take(outside_y, equations_, y);
  };
  find_spectrum(level, multiply);
}

/// A level that is going to be the coarsest needs no factor, and one on which the matrix is positive only but for
/// rounding does without.
void AmgHierarchy::make_factor(AmgLevel& level) {
  if (is_small(level)) return;
  if (!level.has_factor())
    level.factor =
        services_.inverse_factor_pattern(level.a, std::min(most_neighbours, largest_factor_rows / level.height - 1));
  if (services_.inverse_factor(level.a, level.factor) >= 0) {
    level.factor = LevelMatrix();
    level.factor_transposed = LevelMatrix();
  } else if (level.factor_transposed.column.empty()) {
    level.factor_transposed = services_.transposed(level.factor);
  } else {
    services_.update_transposed(level.factor, level.factor_transposed);
  }
}

template <class Multiply>
void AmgHierarchy::find_spectrum(AmgLevel& level, const Multiply& multiply) {
  const auto divide = [&](const LevelVector& x, LevelVector& y) { services_.apply(level.inverse, x, y); };
  estimate_spectrum(*backend_, services_, level.rows(), divide, multiply, level.largest_eigenvalue,
                    level.early_eigenvalue);
  if (!level.has_factor()) return;
  LevelVector between = make_level_vector(*backend_, level.rows(), 1, false);
  const auto apply = [&](const LevelVector& x, LevelVector& y) {
    services_.product(level.factor, x, between);
    services_.product(level.factor_transposed, between, y);
  };
  estimate_spectrum(*backend_, services_, level.rows(), apply, multiply, level.factor_eigenvalue,
                    level.early_factor_eigenvalue);
}

bool AmgHierarchy::coarsen(const LinearSOE& soe, AmgLevel& level, AmgLevel& next, Array<double>& near_null, int modes,
                           double threshold) {
  Array<double> coarse;
  {
    // Groups that are too small make a coarser level that is hardly smaller, and its matrix a dense one.
    const double most = most_kept * static_cast<double>(level.rows());
    Aggregates groups = services_.aggregate(level.a, threshold);
    while (static_cast<double>(groups.count) * modes > most && threshold > least_threshold) {
      threshold = lower_threshold(threshold);
      groups = services_.aggregate(level.a, threshold);
    }
    if (groups.count == 0 || static_cast<double>(groups.count) * modes > most) return false;
    level.tentative = services_.tentative(groups, level.height, modes, near_null, coarse);
    next.nodes = groups.count;
    next.height = modes;
  }
  near_null = std::move(coarse);
  lay_out_basis(level);
  project(soe, level, next);
  return true;
}

/// Makes the patterns that are missing. Where a second step is wanted, the basis of the first becomes `once`.
void AmgHierarchy::lay_out_basis(AmgLevel& level) {
  if (level.prolongation.column.empty()) level.prolongation = services_.product_pattern(level.a, level.tentative);
  if (!is_smoothed_twice(level) || !level.once.column.empty()) return;
  level.once = std::move(level.prolongation);
  level.once.single_value = Array<float>();
  level.prolongation = services_.product_pattern(level.a, level.once);
}

/// On coarser levels a second step would tie everything to everything.
bool AmgHierarchy::is_smoothed_twice(const AmgLevel& level) const {
  return finest_basis_steps(options_) > 1 && is_finest(level);
}

void AmgHierarchy::smooth_basis(AmgLevel& level) {
  const auto factor = [&](int k, int steps) { return basis_factor(level.largest_eigenvalue, k, steps); };
  if (!is_smoothed_twice(level)) {
    services_.multiply(level.a, level.tentative, level.prolongation);
    services_.smooth_prolongator(level.inverse, level.tentative, factor(1, 1), level.prolongation);
    return;
  }
  services_.multiply(level.a, level.tentative, level.once);
  services_.smooth_prolongator(level.inverse, level.tentative, factor(2, 2), level.once);
  services_.multiply(level.a, level.once, level.prolongation);
  services_.smooth_prolongator(level.inverse, level.once, factor(1, 2), level.prolongation);
  level.once.value = Array<double>();
}

void AmgHierarchy::project(const LinearSOE& soe, AmgLevel& level, AmgLevel& next) {
  smooth_basis(level);
  // In an order that keeps as little as can be in memory at a time.
  const bool anew = level.restriction.column.empty();
  if (anew) level.product = services_.product_pattern(level.a, level.prolongation);
  services_.multiply(level.a, level.prolongation, level.product);
  settle_smoother(level);
  const bool finest = is_finest(level);
  if (finest)
    level.a.value = Array<double>();  // the SOE has them: what is large enough to matter is taken from it again
  if (anew)
    level.restriction = services_.transposed(level.prolongation);
  else
    services_.update_transposed(level.prolongation, level.restriction);
  if (single_) services_.to_single(level.prolongation);
  if (anew) next.a = services_.product_pattern(level.restriction, level.product);
  services_.multiply_symmetric(level.restriction, level.product, next.a);
  next.entries = next.a.entries();
  level.product.value = Array<double>();
  if (single_) services_.to_single(level.restriction);
  if (finest && !outside_) refresh_finest(soe, level, true);
  finish(level);
  services_.set_unit_diagonal_of_empty_rows(next.a);
}

/// The diagonal has done its work in the steps between levels: what remains is what cycles read.
void AmgHierarchy::settle_smoother(AmgLevel& level) {
  if (options_.smoother == AmgOptions::Smoother::l1_jacobi) services_.invert_row_sums(level.a, level.inverse);
  if (!single_) return;
  services_.to_single(level.inverse);
  if (!level.has_factor()) return;
  services_.to_single(level.factor);
  services_.to_single(level.factor_transposed);
}

/// The same for the matrix.
void AmgHierarchy::finish(AmgLevel& level) {
  if (is_finest(level) && outside_)
    level.a.value = Array<double>();  // the pattern stays, for new values
  else if (single_)
    services_.to_single(level.a);
}

void AmgHierarchy::solve_coarsest(AmgLevel& level) {
  const bool dense = options_.coarsest == AmgOptions::Coarsest::dense ||
                     (options_.coarsest == AmgOptions::Coarsest::automatic && level.rows() <= most_dense_rows);
  if (dense) {
    dense_ = services_.invert(level.a);
    if (single_) services_.to_single(dense_);
  } else {
    const SymmetricCsr matrix = upper_triangle(level.a);
    if (!direct_) {
      DirectOptions options;
      options.threads = backend_->threads();
      direct_ = Factorization::make(DirectMethod::automatic, options);
    }
    direct_->factorise(matrix);
  }
  settle_smoother(level);
  finish(level);
}

void AmgHierarchy::update(const LinearSOE& soe) {
  if (divided_) return build(soe);
  refresh_finest(soe, levels_.front(), false);
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    make_smoother(levels_[l], l == 0 ? &soe : nullptr);
    if (l + 1 < levels_.size()) project(soe, levels_[l], levels_[l + 1]);
  }
  solve_coarsest(levels_.back());
}

double AmgHierarchy::operator_complexity() const {
  double sum = 0;
  std::int64_t finest = levels_.front().entries;
  for (const AmgLevel& level : levels_) sum += static_cast<double>(level.entries);
  if (divided_) {
    for (const DividedLevel& level : divided_->levels()) sum += static_cast<double>(level.entries);
    finest = divided_->levels().front().entries;
  }
  return sum / static_cast<double>(std::max<std::int64_t>(1, finest));
}

std::size_t AmgHierarchy::bytes() const {
  std::size_t sum = equations_.bytes() + dense_.bytes();
  if (direct_) sum += static_cast<std::size_t>(direct_->statistics().memory_mb * 1e6);
  for (const AmgLevel& level : levels_) sum += level.bytes();
  if (divided_)
    for (const DividedLevel& level : divided_->levels())
      for (int d = 0; d < level.nodes.devices(); ++d) sum += level.bytes(d);
  return sum;
}

}  // namespace voussoir::detail
