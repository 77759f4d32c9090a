#include <voussoir/solvers/amg/detail/cycle.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace voussoir::detail {

namespace {

/// What a Chebyshev smoother is made for where nothing else is said. Diagonal blocks of D⁻¹A are 1, so that eigenvalues
/// below `lowest` are those that coarser levels see, whatever the elements; what is between is to shrink to
/// 1 / `least_growth` by as few steps as can be: two for linear elements, three for Hex20.
constexpr double lowest = 0.13, least_growth = 1.25;
constexpr int fewest_steps = 2, most_steps = 4;
/// Thin walls want more than their spectrum tells where a cycle of as few steps leaves more of the error than this, as
/// those of quadratic elements do.
constexpr double most_left = 0.52;

}  // namespace

AmgCycle::AmgCycle(std::shared_ptr<Backend> backend, std::shared_ptr<const Layout> layout,
                   const AmgHierarchy& hierarchy)
    : backend_(std::move(backend)),
      services_(backend_->service<MultigridServices>()),
      layout_(std::move(layout)),
      hierarchy_(hierarchy) {
  if (hierarchy_.divided())
    divided_ = std::make_unique<DividedCycle>(backend_, layout_, *hierarchy_.divided(), hierarchy_.options(),
                                              hierarchy_.single());
  choose_steps(fewest_steps);
  work_for(1);
  if (!has_factor() || hierarchy_.options().smoothing_steps > 0) return;
  if (reduction(0) > most_left) choose_steps(most_steps);
}

bool AmgCycle::has_factor() const {
  return divided_ ? hierarchy_.divided()->levels().front().has_factor() : hierarchy_.levels().front().has_factor();
}

void AmgCycle::choose_steps(int fewest) {
  steps_.clear();
  for (const AmgLevel& level : hierarchy_.levels())
    steps_.push_back(smoother_steps(level.smoothed_eigenvalue(), fewest));
  if (!divided_) return;
  std::vector<std::vector<IterationStep>> steps;
  for (const DividedLevel& level : hierarchy_.divided()->levels())
    steps.push_back(smoother_steps(level.smoothed_eigenvalue(), fewest));
  divided_->set_steps(std::move(steps));
}

int AmgCycle::smoothing_steps(int level) const {
  const auto l = static_cast<std::size_t>(level);
  return l < divided_levels() ? divided_->smoothing_steps(l) : static_cast<int>(steps_[l - divided_levels()].size());
}

std::vector<IterationStep> AmgCycle::smoother_steps(double high, int fewest) const {
  const AmgOptions& options = hierarchy_.options();
  const double low = options.smoothing_ratio > 0 ? high / options.smoothing_ratio : std::min(lowest, high / 4);
  int count = options.smoothing_steps;
  if (count == 0)
    for (count = fewest; count < most_steps && chebyshev_reduction(low, high, count) < least_growth;) ++count;
  switch (options.smoother) {
    case AmgOptions::Smoother::l1_jacobi:
      return std::vector<IterationStep>(static_cast<std::size_t>(count), IterationStep{1, 0});
    case AmgOptions::Smoother::block_jacobi:
      // Damped so that the upper three quarters of the spectrum shrink alike.
      return std::vector<IterationStep>(static_cast<std::size_t>(count), IterationStep{1.6 / high, 0});
    case AmgOptions::Smoother::automatic:
    case AmgOptions::Smoother::chebyshev:
    case AmgOptions::Smoother::fsai:
      break;
  }
  return chebyshev_steps(low, high, count);
}

AmgCycle::Work& AmgCycle::work_for(int columns) const {
  if (const auto found = work_.find(columns); found != work_.end()) return found->second;
  return work_.emplace(columns, make_work(columns, 0)).first->second;
}

AmgCycle::Work AmgCycle::make_work(int columns, std::size_t first_level) const {
  Work work;
  work.columns = columns;
  work.levels.resize(first_level);
  const bool single = hierarchy_.single(), k = hierarchy_.options().cycle == AmgOptions::Cycle::k;
  const auto& levels = hierarchy_.levels();
  for (std::size_t l = first_level; l < levels.size(); ++l) {
    LevelWork w;
    const auto make = [&] { return make_level_vector(*backend_, levels[l].rows(), columns, single); };
    for (LevelVector* v : {&w.b, &w.x}) *v = make();
    if (!is_coarsest(l))
      for (LevelVector* v : {&w.d, &w.r}) *v = make();
    if (!is_coarsest(l) && (!is_outside(l) || levels[l].has_factor())) w.next = make();
    if (k && l + divided_levels() > 0 && !is_coarsest(l)) {
      for (LevelVector* v : {&w.c, &w.v, &w.second, &w.w}) *v = make();
      w.scalars = backend_->make_array<double>(0, 5 * static_cast<std::size_t>(columns));
    }
    work.levels.push_back(std::move(w));
  }
  if (first_level == 0 && hierarchy_.outside()) {
    work.outside_x = Vector(layout_, columns);
    work.outside_y = Vector(layout_, columns);
  }
  return work;
}

void AmgCycle::apply(const Vector& r, Vector& z) const {
  if (divided_) return divided_->apply(r, z, [this](const Vector& b, Vector& x) { solve_gathered(b, x); });
  Work& work = work_for(r.columns());
  services_.take(r, hierarchy_.equations(), work.levels[0].b);
  services_.give(cycle(work, 0), hierarchy_.equations(), z);
}

void AmgCycle::solve_gathered(const Vector& b, Vector& x) const {
  Work& work = work_for(b.columns());
  services_.take(b, hierarchy_.equations(), work.levels[0].b);
  services_.give(solve(work, 0), hierarchy_.equations(), x);
}

double AmgCycle::apply_dot(const Vector& r, Vector& z) const {
  apply(r, z);
  return backend_->dot(r, z);
}

void AmgCycle::multiply(Work& work, std::size_t level, const LevelVector& x, LevelVector& y) const {
  if (!is_outside(level)) return services_.product(hierarchy_.levels()[level].a, x, y);
  services_.give(x, hierarchy_.equations(), work.outside_x);
  hierarchy_.outside()->apply(work.outside_x, work.outside_y);
  services_.take(work.outside_y, hierarchy_.equations(), y);
}

void AmgCycle::residual(Work& work, std::size_t level, const LevelVector& x, const LevelVector& b,
                        LevelVector& r) const {
  if (!is_outside(level)) return services_.residual(hierarchy_.levels()[level].a, x, b, r);
  multiply(work, level, x, r);
  services_.axpby(1, b, -1, r);
}

void AmgCycle::apply_factor(Work& work, std::size_t level, const LevelVector& from) const {
  const AmgLevel& here = hierarchy_.levels()[level];
  services_.product(here.factor, from, work.levels[level].next);
  services_.product(here.factor_transposed, work.levels[level].next, work.levels[level].r);
}

LevelVector* AmgCycle::smooth(Work& work, std::size_t level, std::size_t first, LevelVector* x) const {
  LevelWork& w = work.levels[level];
  const AmgLevel& here = hierarchy_.levels()[level];
  for (std::size_t k = first; k < steps_[level].size(); ++k) {
    const IterationStep step = steps_[level][k];
    if (here.has_factor()) {
      residual(work, level, *x, w.b, w.r);
      apply_factor(work, level, w.r);
      services_.axpby(step.alpha, w.r, step.beta, w.d);
      services_.axpby(1, w.d, 1, *x);
    } else if (is_outside(level)) {
      residual(work, level, *x, w.b, w.r);
      services_.step(here.inverse, w.r, step.alpha, step.beta, w.d, *x);
    } else {
      LevelVector* next = x == &w.x ? &w.next : &w.x;
      services_.step(here.a, here.inverse, w.b, *x, step.alpha, step.beta, w.d, *next);
      x = next;
    }
  }
  return x;
}

LevelVector& AmgCycle::cycle(Work& work, std::size_t level) const {
  LevelWork& w = work.levels[level];
  if (is_coarsest(level)) {
    if (hierarchy_.direct())
      solve_directly(w.b, w.x);
    else
      services_.apply(hierarchy_.dense(), w.b, w.x);
    return w.x;
  }
  const AmgLevel& here = hierarchy_.levels()[level];
  if (here.has_factor()) {
    apply_factor(work, level, w.b);
    services_.axpby(steps_[level][0].alpha, w.r, 0, w.d);
    services_.axpby(1, w.d, 0, w.x);
  } else {
    services_.first_step(here.inverse, w.b, steps_[level][0].alpha, w.d, w.x);
  }
  LevelVector* x = smooth(work, level, 1, &w.x);
  residual(work, level, *x, w.b, w.r);
  services_.product(here.restriction, w.r, work.levels[level + 1].b);
  services_.add_product(here.prolongation, solve(work, level + 1), *x);
  return *smooth(work, level, 0, x);
}

LevelVector& AmgCycle::solve(Work& work, std::size_t level) const {
  const bool k = hierarchy_.options().cycle == AmgOptions::Cycle::k && !is_coarsest(level);
  return k ? k_cycle(work, level) : cycle(work, level);
}

LevelVector& AmgCycle::k_cycle(Work& work, std::size_t level) const {
  LevelWork& w = work.levels[level];
  services_.axpby(1, cycle(work, level), 0, w.c);
  multiply(work, level, w.c, w.v);
  services_.dot(w.c, w.v, w.scalars, 0);
  services_.dot(w.c, w.b, w.scalars, 1);
  services_.k_residual(w.scalars, w.b, w.v, w.b);
  services_.axpby(1, cycle(work, level), 0, w.second);
  multiply(work, level, w.second, w.w);
  services_.dot(w.second, w.v, w.scalars, 2);
  services_.dot(w.second, w.w, w.scalars, 3);
  services_.dot(w.second, w.b, w.scalars, 4);
  services_.k_combine(w.scalars, w.c, w.second, w.x);
  return w.x;
}

void AmgCycle::solve_directly(LevelVector& b, LevelVector& x) const {
  const bool single = hierarchy_.single();
  const auto n = static_cast<std::size_t>(hierarchy_.levels().back().rows());
  const auto columns = static_cast<std::size_t>(b.columns);
  const std::span<const double> full = single ? std::span<const double>() : b.value.read_host();
  const std::span<const float> rounded = single ? b.single_value.read_host() : std::span<const float>();
  std::vector<double> solution(n * columns);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t c = 0; c < columns; ++c)
      solution[c * n + i] = single ? static_cast<double>(rounded[i * columns + c]) : full[i * columns + c];
  hierarchy_.direct()->solve(solution, b.columns);
  const auto put = [&](auto target) {
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t c = 0; c < columns; ++c)
        target[i * columns + c] = static_cast<typename decltype(target)::element_type>(solution[c * n + i]);
  };
  if (single)
    put(x.single_value.write_host());
  else
    put(x.value.write_host());
}

double AmgCycle::reduction(int level) const {
  const auto l = static_cast<std::size_t>(level);
  if (l >= divided_levels()) return gathered_reduction(l - divided_levels());
  return divided_->reduction(l, [this](const Vector& b, Vector& x) { solve_gathered(b, x); });
}

double AmgCycle::gathered_reduction(std::size_t l) const {
  constexpr int cycles = 8, counted = 4;  // the first few only find the worst error
  const double rounding = hierarchy_.single() ? 1e-10 : 1e-24;
  if (is_coarsest(l)) return 0;
  Work& work = work_for(1);
  LevelWork& w = work.levels[l];
  const AmgLevel& here = hierarchy_.levels()[l];
  LevelVector error = make_level_vector(*backend_, here.rows(), 1, hierarchy_.single());
  LevelVector zero = make_level_vector(*backend_, here.rows(), 1, hierarchy_.single());
  services_.fill_with_noise(error);
  services_.fill(zero, 0);
  std::vector<double> energy;
  for (int k = 0; k <= cycles; ++k) {
    residual(work, l, error, zero, w.b);
    energy.push_back(-services_.dot(error, w.b));
    if (k < cycles) services_.axpby(1, cycle(work, l), 1, error);
  }
  const double before = energy[cycles - counted], after = energy[cycles];
  if (!std::isfinite(after)) return std::numeric_limits<double>::infinity();
  if (!(before > rounding * energy[0])) return 0;  // nothing is left to reduce
  return std::sqrt(std::pow(std::abs(after) / before, 1.0 / counted));
}

std::size_t AmgCycle::bytes() const {
  std::size_t sum = hierarchy_.bytes();
  for (const auto& [columns, work] : work_) {
    for (const LevelWork& w : work.levels)
      for (const LevelVector* v : {&w.b, &w.x, &w.next, &w.d, &w.r, &w.c, &w.v, &w.second, &w.w}) sum += v->bytes();
    if (hierarchy_.outside())
      sum += 2 * sizeof(double) * static_cast<std::size_t>(layout_->size()) * static_cast<std::size_t>(columns);
  }
  if (divided_)
    for (int d = 0; d < backend_->devices(); ++d) sum += divided_->bytes(d);
  return sum;
}

std::size_t AmgCycle::device_bytes(int device) const {
  std::size_t divided = 0, all = 0;
  if (divided_)
    for (int d = 0; d < backend_->devices(); ++d) {
      std::size_t here = divided_->bytes(d);
      for (const DividedLevel& level : hierarchy_.divided()->levels()) here += level.bytes(d);
      all += here;
      if (d == device) divided = here;
    }
  return device == 0 ? bytes() - all + divided : divided;
}

std::size_t AmgCycle::bytes_moved() const {
  std::size_t sum = divided_ ? divided_->bytes_moved() : 0;
  for (std::size_t l = 0; l < hierarchy_.levels().size(); ++l) {
    const AmgLevel& level = hierarchy_.levels()[l];
    const std::size_t product = is_outside(l) ? hierarchy_.outside()->bytes_moved() : level.a.bytes();
    const std::size_t divided =
        level.has_factor() ? level.factor.bytes() + level.factor_transposed.bytes() : level.inverse.bytes();
    sum += is_coarsest(l)
               ? hierarchy_.dense().bytes()
               : 2 * steps_[l].size() * (product + divided) + level.prolongation.bytes() + level.restriction.bytes();
  }
  return sum;
}

std::string AmgCycle::describe() const {
  return "multigrid cycle over " + std::to_string(divided_levels() + hierarchy_.levels().size()) + " levels";
}

}  // namespace voussoir::detail
