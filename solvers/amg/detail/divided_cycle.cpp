#include <voussoir/solvers/amg/detail/divided_cycle.hpp>

#include <cmath>
#include <limits>

namespace voussoir::detail {

namespace {

/// Numbers that a K-cycle keeps per column.
constexpr int k_slots = 5;

}  // namespace

DividedCycle::DividedCycle(std::shared_ptr<Backend> backend, std::shared_ptr<const Layout> layout,
                           const DividedLevels& levels, const AmgOptions& options, bool single)
    : backend_(std::move(backend)),
      services_(backend_->service<DividedMultigrid>()),
      levels_(levels),
      k_cycle_(options.cycle == AmgOptions::Cycle::k),
      single_(single),
      in_order_(static_cast<std::size_t>(backend_->devices())),
      transfer_(backend_, std::move(layout), levels.equations()),
      gathered_transfer_(backend_, levels.gathered_layout(), in_order_) {}

/// action(services, device) on each device.
template <class Do>
void DividedCycle::on_all(const Do& action) {
  for (int d = 0; d < backend_->devices(); ++d) action(services_.on(d), static_cast<std::size_t>(d));
}

DividedCycle::LevelWork DividedCycle::make_level_work(const DividedLevel& level, std::size_t index, int columns) const {
  LevelWork w;
  const int devices = backend_->devices();
  const auto make = [&] {
    return make_device_vectors(*backend_, owned_rows(level.nodes, level.height), columns, single_);
  };
  w.b = make();
  w.x = make();
  w.local = make_device_vectors(*backend_, local_rows(*level.halo, devices), columns, single_);
  if (index == levels_.levels().size()) return w;  // solved elsewhere
  w.d = make();
  w.r = make();
  w.restricted = make_device_vectors(*backend_, local_rows(*level.restriction_halo, devices), columns, single_);
  if (level.has_factor()) w.between = make();
  if (k_cycle_ && index > 0) {
    for (DeviceVectors* v : {&w.c, &w.v, &w.second, &w.w}) *v = make();
    for (int d = 0; d < devices; ++d)
      w.scalars.push_back(backend_->make_array<double>(d, static_cast<std::size_t>(k_slots * columns)));
  }
  return w;
}

DividedCycle::Work& DividedCycle::work_for(int columns) {
  if (const auto found = work_.find(columns); found != work_.end()) return found->second;
  Work work;
  work.columns = columns;
  for (std::size_t l = 0; l < levels_.levels().size(); ++l)
    work.levels.push_back(make_level_work(levels_.levels()[l], l, columns));
  work.levels.push_back(make_level_work(levels_.gathered(), levels_.levels().size(), columns));
  if (levels_.outside()) {
    work.outside_x = Vector(transfer_.layout(), columns);
    work.outside_y = Vector(transfer_.layout(), columns);
  }
  work.gathered_b = Vector(levels_.gathered_layout(), columns);
  work.gathered_x = Vector(levels_.gathered_layout(), columns);
  return work_.emplace(columns, std::move(work)).first->second;
}

void DividedCycle::apply(const Vector& r, Vector& z, const Solve& solve) {
  Work& work = work_for(r.columns());
  transfer_.take(r, work.levels[0].b);
  transfer_.give(cycle(work, 0, solve), z);
}

void DividedCycle::copy(const DeviceVectors& x, DeviceVectors& y) {
  on_all([&](MultigridServices& s, std::size_t d) { s.axpby(1, x[d], 0, y[d]); });
}

double DividedCycle::dot(const DeviceVectors& x, const DeviceVectors& y) {
  double sum = 0;
  on_all([&](MultigridServices& s, std::size_t d) { sum += s.dot(x[d], y[d]); });
  return sum;
}

void DividedCycle::multiply(Work& work, std::size_t level, const DeviceVectors& x, DeviceVectors& y) {
  const DividedLevel& here = levels_.levels()[level];
  if (is_outside(level)) {
    transfer_.give(x, work.outside_x);
    levels_.outside()->apply(work.outside_x, work.outside_y);
    return transfer_.take(work.outside_y, y);
  }
  DeviceVectors& local = work.levels[level].local;
  here.halo->exchange(x, local);
  on_all([&](MultigridServices& s, std::size_t d) { s.product(here.a[d], local[d], y[d]); });
}

void DividedCycle::residual(Work& work, std::size_t level, const DeviceVectors& x, const DeviceVectors& b,
                            DeviceVectors& r) {
  if (is_outside(level)) {
    multiply(work, level, x, r);
    on_all([&](MultigridServices& s, std::size_t d) { s.axpby(1, b[d], -1, r[d]); });
    return;
  }
  const DividedLevel& here = levels_.levels()[level];
  DeviceVectors& local = work.levels[level].local;
  here.halo->exchange(x, local);
  on_all([&](MultigridServices& s, std::size_t d) { s.residual(here.a[d], local[d], b[d], r[d]); });
}

/// r = M from, where the level has a sparse inverse M.
void DividedCycle::apply_factor(LevelWork& w, const DividedLevel& level, const DeviceVectors& from) {
  on_all([&](MultigridServices& s, std::size_t d) {
    s.product(level.factor[d], from[d], w.between[d]);
    s.product(level.factor_transposed[d], w.between[d], w.r[d]);
  });
}

/// Steps first … of the smoother, in place.
void DividedCycle::smooth(Work& work, std::size_t level, std::size_t first) {
  LevelWork& w = work.levels[level];
  const DividedLevel& here = levels_.levels()[level];
  for (std::size_t k = first; k < steps_[level].size(); ++k) {
    const IterationStep step = steps_[level][k];
    residual(work, level, w.x, w.b, w.r);
    if (here.has_factor()) apply_factor(w, here, w.r);
    on_all([&](MultigridServices& s, std::size_t d) {
      if (here.has_factor()) {
        s.axpby(step.alpha, w.r[d], step.beta, w.d[d]);
        s.axpby(1, w.d[d], 1, w.x[d]);
      } else {
        s.step(here.inverse[d], w.r[d], step.alpha, step.beta, w.d[d], w.x[d]);
      }
    });
  }
}

DeviceVectors& DividedCycle::cycle(Work& work, std::size_t level, const Solve& below) {
  LevelWork& w = work.levels[level];
  const DividedLevel& here = levels_.levels()[level];
  const double alpha = steps_[level][0].alpha;
  if (here.has_factor()) apply_factor(w, here, w.b);
  on_all([&](MultigridServices& s, std::size_t d) {
    if (here.has_factor()) {
      s.axpby(alpha, w.r[d], 0, w.d[d]);
      s.axpby(1, w.d[d], 0, w.x[d]);
    } else {
      s.first_step(here.inverse[d], w.b[d], alpha, w.d[d], w.x[d]);
    }
  });
  smooth(work, level, 1);
  residual(work, level, w.x, w.b, w.r);
  LevelWork& coarse = work.levels[level + 1];
  here.restriction_halo->exchange(w.r, w.restricted);
  on_all([&](MultigridServices& s, std::size_t d) { s.product(here.restriction[d], w.restricted[d], coarse.b[d]); });
  const DividedLevel& next = level + 1 < levels_.levels().size() ? levels_.levels()[level + 1] : levels_.gathered();
  next.halo->exchange(solve(work, level + 1, below), coarse.local);
  on_all([&](MultigridServices& s, std::size_t d) { s.add_product(here.prolongation[d], coarse.local[d], w.x[d]); });
  smooth(work, level, 0);
  return w.x;
}

DeviceVectors& DividedCycle::solve(Work& work, std::size_t level, const Solve& below) {
  LevelWork& w = work.levels[level];
  if (level < levels_.levels().size()) return k_cycle_ ? k_cycle(work, level, below) : cycle(work, level, below);
  gathered_transfer_.give(w.b, work.gathered_b);
  below(work.gathered_b, work.gathered_x);
  gathered_transfer_.take(work.gathered_x, w.x);
  return w.x;
}

void DividedCycle::add_dots(LevelWork& w, const DeviceVectors& x, const DeviceVectors& y, int slot) {
  on_all([&](MultigridServices& s, std::size_t d) { s.dot(x[d], y[d], w.scalars[d], slot); });
}

/// Adds what the devices have in some slots, in their order, and gives each of them the sums.
void DividedCycle::share_sums(LevelWork& w, int first_slot, int slots) {
  const auto columns = static_cast<std::size_t>(w.b.front().columns);
  const std::size_t first = static_cast<std::size_t>(first_slot) * columns;
  std::vector<double> sums(static_cast<std::size_t>(slots) * columns, 0.0);
  for (const Array<double>& scalars : w.scalars) {
    const auto own = scalars.read_host();
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += own[first + i];
  }
  for (Array<double>& scalars : w.scalars) {
    const auto own = scalars.update_host();
    for (std::size_t i = 0; i < sums.size(); ++i) own[first + i] = sums[i];
  }
}

DeviceVectors& DividedCycle::k_cycle(Work& work, std::size_t level, const Solve& below) {
  LevelWork& w = work.levels[level];
  copy(cycle(work, level, below), w.c);
  multiply(work, level, w.c, w.v);
  add_dots(w, w.c, w.v, 0);
  add_dots(w, w.c, w.b, 1);
  share_sums(w, 0, 2);
  on_all([&](MultigridServices& s, std::size_t d) { s.k_residual(w.scalars[d], w.b[d], w.v[d], w.b[d]); });
  copy(cycle(work, level, below), w.second);
  multiply(work, level, w.second, w.w);
  add_dots(w, w.second, w.v, 2);
  add_dots(w, w.second, w.w, 3);
  add_dots(w, w.second, w.b, 4);
  share_sums(w, 2, 3);
  on_all([&](MultigridServices& s, std::size_t d) { s.k_combine(w.scalars[d], w.c[d], w.second[d], w.x[d]); });
  return w.x;
}

double DividedCycle::reduction(std::size_t level, const Solve& solve) {
  constexpr int cycles = 8, counted = 4;  // the first few only find the worst error
  const double rounding = single_ ? 1e-10 : 1e-24;
  Work& work = work_for(1);
  LevelWork& w = work.levels[level];
  const DividedLevel& here = levels_.levels()[level];
  const std::vector<std::int64_t> rows = owned_rows(here.nodes, here.height);
  DeviceVectors error = make_device_vectors(*backend_, rows, 1, single_);
  DeviceVectors zero = make_device_vectors(*backend_, rows, 1, single_);
  fill_with_noise(services_, error, here.nodes, here.height);
  on_all([&](MultigridServices& s, std::size_t d) { s.fill(zero[d], 0); });
  std::vector<double> energy;
  for (int k = 0; k <= cycles; ++k) {
    residual(work, level, error, zero, w.b);
    energy.push_back(-dot(error, w.b));
    if (k == cycles) break;
    const DeviceVectors& x = cycle(work, level, solve);
    on_all([&](MultigridServices& s, std::size_t d) { s.axpby(1, x[d], 1, error[d]); });
  }
  const double before = energy[cycles - counted], after = energy[cycles];
  if (!std::isfinite(after)) return std::numeric_limits<double>::infinity();
  if (!(before > rounding * energy[0])) return 0;  // nothing is left to reduce
  return std::sqrt(std::pow(std::abs(after) / before, 1.0 / counted));
}

void DividedCycle::prolong(const Vector& from, Vector& to) {
  Work& work = work_for(from.columns());
  const std::size_t count = levels_.levels().size();
  gathered_transfer_.take(from, work.levels[count].x);
  for (std::size_t l = count; l-- > 0;) {
    const DividedLevel& here = levels_.levels()[l];
    const DividedLevel& next = l + 1 < count ? levels_.levels()[l + 1] : levels_.gathered();
    LevelWork &w = work.levels[l], &coarse = work.levels[l + 1];
    next.halo->exchange(coarse.x, coarse.local);
    on_all([&](MultigridServices& s, std::size_t d) { s.product(here.prolongation[d], coarse.local[d], w.x[d]); });
  }
  transfer_.give(work.levels[0].x, to);
}

std::size_t DividedCycle::bytes(int device) const {
  const auto d = static_cast<std::size_t>(device);
  std::size_t sum = 0;
  for (const auto& [columns, work] : work_) {
    for (const LevelWork& w : work.levels)
      for (const DeviceVectors* v :
           {&w.b, &w.x, &w.d, &w.r, &w.between, &w.local, &w.restricted, &w.c, &w.v, &w.second, &w.w})
        if (!v->empty()) sum += (*v)[d].bytes();
    for (const Vector* v : {&work.outside_x, &work.outside_y, &work.gathered_b, &work.gathered_x})
      if (v->layout()) sum += v->part(device).bytes();
  }
  return sum;
}

std::size_t DividedCycle::bytes_moved() const {
  std::size_t sum = 0;
  for (std::size_t l = 0; l < levels_.levels().size(); ++l) {
    const DividedLevel& level = levels_.levels()[l];
    std::size_t product = is_outside(l) ? levels_.outside()->bytes_moved() : 0, divided = 0;
    for (std::size_t d = 0; d < level.inverse.size(); ++d) {
      if (!is_outside(l)) product += level.a[d].bytes();
      divided +=
          level.has_factor() ? level.factor[d].bytes() + level.factor_transposed[d].bytes() : level.inverse[d].bytes();
      sum += level.prolongation[d].bytes() + level.restriction[d].bytes();
    }
    sum += 2 * steps_[l].size() * (product + divided);
  }
  return sum;
}

}  // namespace voussoir::detail
