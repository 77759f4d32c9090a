#include <voussoir/solvers/amg/detail/divided_levels.hpp>

#include <algorithm>

#include <voussoir/solvers/amg/detail/divided_rows.hpp>
#include <voussoir/solvers/amg/detail/set_up_rules.hpp>
#include <voussoir/solvers/amg/detail/spectrum_steps.hpp>

namespace voussoir::detail {
namespace {

/// Never reached: each level has at most most_kept times the rows of the one before.
constexpr std::size_t most_divided_levels = 64;

std::size_t device_index(int device) { return static_cast<std::size_t>(device); }

/// The nodes of a model by devices, with the ghosts of its layout.
DividedNodes nodes_of(const AnalysisModel& model) {
  const DeviceModel& parts = model.device_model();
  const Layout& layout = *parts.layout();
  std::vector<std::int64_t> first;
  for (int d = 0; d < parts.devices(); ++d) first.push_back(parts.first_node(d));
  first.push_back(parts.node_count());
  DividedNodes nodes(std::move(first));
  const auto first_equation = model.first_equation();
  const int uniform = parts.uniform_components();
  for (int d = 0; d < parts.devices(); ++d) {
    const DeviceModel::Part& part = parts.part(d);
    const auto equation = part.first_equation.read_host();
    std::vector<std::int64_t> ghosts;
    ghosts.reserve(static_cast<std::size_t>(part.local_nodes - part.owned_nodes));
    for (std::int32_t n = part.owned_nodes; n < part.local_nodes; ++n) {
      const std::int64_t global = layout.global(d, equation[static_cast<std::size_t>(n)]);
      ghosts.push_back(uniform > 0 ? global / uniform
                                   : std::upper_bound(first_equation.begin(), first_equation.end(), global) -
                                         first_equation.begin() - 1);
    }
    nodes.add_ghosts(d, ghosts);
  }
  return nodes;
}

/// Whether each device has some nodes.
bool all_have_nodes(const DividedNodes& nodes) {
  for (int d = 0; d < nodes.devices(); ++d)
    if (nodes.owned(d) == 0) return false;
  return true;
}

void set_columns(DeviceMatrices& matrices, const DividedNodes& columns) {
  for (int d = 0; d < columns.devices(); ++d) matrices[device_index(d)].columns = columns.local_count(d);
}

}  // namespace

DeviceVectors make_device_vectors(const Backend& backend, const std::vector<std::int64_t>& rows, int columns,
                                  bool single) {
  DeviceVectors vectors;
  for (std::size_t d = 0; d < rows.size(); ++d) {
    LevelVector v;
    v.columns = columns;
    const std::size_t size = static_cast<std::size_t>(rows[d]) * static_cast<std::size_t>(columns);
    if (single)
      v.single_value = backend.make_array<float>(static_cast<int>(d), size);
    else
      v.value = backend.make_array<double>(static_cast<int>(d), size);
    vectors.push_back(std::move(v));
  }
  return vectors;
}

std::vector<std::int64_t> owned_rows(const DividedNodes& nodes, int height) {
  std::vector<std::int64_t> rows;
  for (int d = 0; d < nodes.devices(); ++d) rows.push_back(std::int64_t{nodes.owned(d)} * height);
  return rows;
}

std::vector<std::int64_t> local_rows(const NodeHalo& halo, int devices) {
  std::vector<std::int64_t> rows;
  for (int d = 0; d < devices; ++d) rows.push_back(halo.local_rows(d));
  return rows;
}

void fill_with_noise(DividedMultigrid& services, DeviceVectors& x, const DividedNodes& nodes, int height) {
  for (int d = 0; d < nodes.devices(); ++d) {
    LevelVector& v = x[device_index(d)];
    services.fill_with_noise(v, d, static_cast<std::uint64_t>(nodes.first()[device_index(d)] * height * v.columns));
  }
}

std::size_t DividedLevel::bytes(int device) const {
  std::size_t sum = 0;
  for (const DeviceMatrices* m : {&a, &factor, &factor_transposed, &prolongation, &restriction})
    if (!m->empty()) sum += (*m)[device_index(device)].bytes();
  if (!inverse.empty()) sum += inverse[device_index(device)].bytes();
  if (halo) sum += halo->bytes(device);
  if (restriction_halo) sum += restriction_halo->bytes(device);
  return sum;
}

std::unique_ptr<DividedLevels> DividedLevels::make(const LinearSOE& soe, const AmgOptions& options, bool single) {
  const AnalysisModel& model = soe.model();
  if (model.backend().devices() == 1 || options.most_levels < 2) return nullptr;
  if (model.equation_count() <= std::max(options.gathered_rows, options.coarsest_rows)) return nullptr;
  auto* services = model.backend().find<DividedMultigrid>();
  if (!services) return nullptr;
  DividedNodes nodes = nodes_of(model);
  if (!all_have_nodes(nodes)) return nullptr;
  // A matrix that is not stored is assembled for the time of setting up; products are then left to the SOE.
  std::unique_ptr<SparseMatrix> assembled = soe.sparse_matrix() ? nullptr : soe.assembled();
  const SparseMatrix* matrix = assembled ? assembled.get() : soe.sparse_matrix();
  if (!matrix) refuse_missing_matrix(soe);
  if (!services->divides(model.device_model(), *matrix)) return nullptr;
  std::unique_ptr<DividedLevels> levels(new DividedLevels(soe, options, single));
  levels->outside_ = assembled || !single ? &soe.matrix() : nullptr;
  levels->threads_ = std::make_unique<DeviceThreads>(*services, model.backend().devices());
  levels->take_finest(soe, *matrix, std::move(nodes));
  assembled.reset();
  return levels->build(soe) ? std::move(levels) : nullptr;
}

DividedLevels::DividedLevels(const LinearSOE& soe, const AmgOptions& options, bool single)
    : backend_(soe.model().shared_backend()),
      services_(backend_->service<DividedMultigrid>()),
      options_(options),
      single_(single),
      devices_(backend_->devices()) {}

/// False where not even the finest level can be coarsened.
bool DividedLevels::build(const LinearSOE& soe) {
  // First what the host has to do, while devices copy the rows of the finest level.
  DividedNearNull space = divided_motions(soe.model(), options_, levels_.front().height, equations_);
  near_null_ = std::move(space.values);
  modes_ = space.modes;
  make_smoother(levels_.back(), &soe);
  double threshold = options_.threshold;
  while (true) {
    DividedLevel next;
    DeviceMatrices tentative;
    if (!coarsen(levels_.back(), next, threshold, tentative)) {
      if (levels_.size() == 1) return false;
      gathered_ = std::move(levels_.back());
      levels_.pop_back();
      break;
    }
    project(soe, levels_.back(), next, tentative);
    const bool last =
        static_cast<int>(levels_.size()) + 1 == options_.most_levels || levels_.size() == most_divided_levels;
    if (last || next.rows() <= std::max(options_.gathered_rows, options_.coarsest_rows)) {
      gathered_ = std::move(next);
      break;
    }
    make_smoother(next, nullptr);
    levels_.push_back(std::move(next));
    threshold = (finest_basis_steps(options_) > 1 ? 1 : 2) * options_.threshold;
  }
  std::vector<std::shared_ptr<DeviceMemory>> memories;
  std::vector<std::int64_t> first = gathered_.nodes.first();
  for (std::int64_t& f : first) f *= gathered_.height;
  for (int d = 0; d < devices_; ++d) memories.push_back(memory(d));
  gathered_layout_ = std::make_shared<const Layout>(std::move(memories), std::move(first),
                                                    std::vector<std::vector<std::int64_t>>(device_index(devices_)));
  return true;
}

NearNullRows DividedLevels::take_gathered(LevelMatrix& a) {
  a = gather_rows(*backend_, *threads_, gathered_.a, gathered_.nodes);
  threads_.reset();
  std::size_t count = 0, at = 0;
  for (const Array<double>& part : near_null_) count += part.size();
  Array<double> values(memory(0), count);
  for (int d = 0; d < devices_; ++d) {
    services_.copy_numbers(near_null_[device_index(d)], d, values, 0, at);
    at += near_null_[device_index(d)].size();
  }
  near_null_.clear();
  gathered_.a.clear();
  gathered_.inverse.clear();
  gathered_.factor.clear();
  gathered_.factor_transposed.clear();
  return {modes_, std::move(values)};
}

bool DividedLevels::has_walls() const { return levels_.size() > 1 && levels_[1].largest_eigenvalue > walls_eigenvalue; }

void DividedLevels::take_finest(const LinearSOE& soe, const SparseMatrix& matrix, DividedNodes nodes) {
  levels_.reserve(most_divided_levels);  // is_finest() compares addresses
  DividedLevel& level = levels_.emplace_back();
  const DeviceModel& model = soe.model().device_model();
  level.nodes = std::move(nodes);
  level.a.resize(device_index(devices_));
  on_all([&](std::size_t i, int d) { level.a[i] = services_.rows_of(model, matrix, d); });
  for (int d = 0; d < devices_; ++d) {
    const LevelMatrix& a = level.a[device_index(d)];
    require_small_nodes(a.height);
    level.entries += a.entries();
    equations_.push_back(services_.equations_of(model, a.height, d));
  }
  level.height = level.a.front().height;
}

void DividedLevels::make_smoother(DividedLevel& level, const LinearSOE* finest) {
  level.inverse.resize(device_index(devices_));
  std::vector<std::int64_t> first_bad(device_index(devices_));
  on_all([&](std::size_t i, int d) { first_bad[i] = services_.on(d).invert_diagonal(level.a[i], level.inverse[i]); });
  for (int d = 0; d < devices_; ++d) {
    const std::int64_t bad = first_bad[device_index(d)];
    if (bad < 0) continue;
    if (!finest) refuse_coarser_level(options_);
    const std::int32_t local = equations_[device_index(d)].empty()
                                   ? static_cast<std::int32_t>(bad)
                                   : equations_[device_index(d)].read_host()[static_cast<std::size_t>(bad)];
    refuse_equation(*finest, static_cast<std::int32_t>(finest->model().device_model().layout()->global(d, local)));
  }
  if (options_.smoother == AmgOptions::Smoother::fsai) make_factor(level);
  find_spectrum(level, finest);
}

/// A level on which the matrix is positive only but for rounding does without.
void DividedLevels::make_factor(DividedLevel& level) {
  const std::size_t count = device_index(devices_);
  level.factor.resize(count);
  level.factor_transposed.resize(count);
  std::vector<char> is_positive(count, 0);
  on_all([&](std::size_t i, int d) {
    MultigridServices& services = services_.on(d);
    const LevelMatrix own = own_columns(services_, level.a[i], d);
    LevelMatrix& factor = level.factor[i];
    factor = services.inverse_factor_pattern(own, std::min(most_neighbours, largest_factor_rows / level.height - 1));
    is_positive[i] = services.inverse_factor(own, factor) < 0;
    if (is_positive[i]) level.factor_transposed[i] = services.transposed(factor);
  });
  if (std::find(is_positive.begin(), is_positive.end(), 0) == is_positive.end()) return;
  level.factor.clear();
  level.factor_transposed.clear();
}

template <class Apply, class Multiply>
double DividedLevels::estimate_spectrum(const DividedLevel& level, const Apply& apply, const Multiply& multiply) {
  const auto make = [&] { return make_device_vectors(*backend_, owned_rows(level.nodes, level.height), 1, false); };
  DeviceVectors r = make(), z = make(), a_z = make(), a_p = make();
  std::vector<Array<double>> scalars;
  for (int d = 0; d < devices_; ++d) scalars.push_back(backend_->make_array<double>(d, 2));
  fill_with_noise(services_, r, level.nodes, level.height);
  for (int d = 0; d < devices_; ++d) services_.on(d).fill(a_p[device_index(d)], 0);
  SpectrumSteps steps;
  for (int k = 0; k < spectrum_steps; ++k) {
    for (int d = 0; d < devices_; ++d) apply(d, r[device_index(d)], z[device_index(d)]);
    multiply(z, a_z);
    for (int d = 0; d < devices_; ++d) {
      services_.on(d).dot(r[device_index(d)], z[device_index(d)], scalars[device_index(d)], 0);
      services_.on(d).dot(z[device_index(d)], a_z[device_index(d)], scalars[device_index(d)], 1);
    }
    double r_z = 0, z_a_z = 0;
    for (const Array<double>& of_device : scalars) {  // waits, when all devices have their work
      const auto sums = of_device.read_host();
      r_z += sums[0];
      z_a_z += sums[1];
    }
    if (!steps.add(r_z, z_a_z)) break;
    for (int d = 0; d < devices_; ++d) {
      services_.on(d).axpby(1, a_z[device_index(d)], steps.beta(), a_p[device_index(d)]);
      services_.on(d).axpby(-steps.alpha(), a_p[device_index(d)], 1, r[device_index(d)]);
    }
  }
  return steps.largest();
}

void DividedLevels::find_spectrum(DividedLevel& level, const LinearSOE* finest) {
  DeviceVectors local;
  Vector outside_x, outside_y;
  std::unique_ptr<OwnedTransfer> transfer;
  if (finest) {  // the SOE's own product reads less: half the matrix, or none
    outside_x = finest->model().make_vector();
    outside_y = finest->model().make_vector();
    backend_->fill(outside_x, 0);
    transfer = std::make_unique<OwnedTransfer>(backend_, outside_x.layout(), equations_);
  } else {
    local = make_device_vectors(*backend_, local_rows(*level.halo, devices_), 1, false);
  }
  const auto multiply = [&](const DeviceVectors& x, DeviceVectors& y) {
    if (finest) {
      transfer->give(x, outside_x);
      finest->matrix().apply(outside_x, outside_y);
      return transfer->take(outside_y, y);
    }
    level.halo->exchange(x, local);
    for (int d = 0; d < devices_; ++d)
      services_.on(d).product(level.a[device_index(d)], local[device_index(d)], y[device_index(d)]);
  };
  const auto divide = [&](int d, const LevelVector& x, LevelVector& y) {
    services_.on(d).apply(level.inverse[device_index(d)], x, y);
  };
  level.largest_eigenvalue = estimate_spectrum(level, divide, multiply);
  if (!level.has_factor()) return;
  DeviceVectors between = make_device_vectors(*backend_, owned_rows(level.nodes, level.height), 1, false);
  const auto apply = [&](int d, const LevelVector& x, LevelVector& y) {
    services_.on(d).product(level.factor[device_index(d)], x, between[device_index(d)]);
    services_.on(d).product(level.factor_transposed[device_index(d)], between[device_index(d)], y);
  };
  level.factor_eigenvalue = estimate_spectrum(level, apply, multiply);
}

/// Aggregates within each device, and the tentative prolongator. False where the next level would hardly be smaller, or
/// where a device would have no nodes there.
bool DividedLevels::coarsen(DividedLevel& level, DividedLevel& next, double threshold, DeviceMatrices& tentative) {
  const double most = most_kept * static_cast<double>(level.rows());
  std::vector<Aggregates> groups;
  std::vector<std::int64_t> first;
  const auto aggregate = [&] {
    groups.clear();
    groups.resize(device_index(devices_));
    on_all([&](std::size_t i, int d) { groups[i] = services_.on(d).aggregate(level.a[i], threshold); });
    first.assign(1, 0);
    for (const Aggregates& g : groups) first.push_back(first.back() + g.count);
    return static_cast<double>(first.back()) * modes_ > most;
  };
  bool too_many = aggregate();
  while (too_many && threshold > least_threshold) {
    threshold = lower_threshold(threshold);
    too_many = aggregate();
  }
  if (too_many) return false;
  for (const Aggregates& g : groups)
    if (g.count == 0) return false;
  std::vector<Array<double>> coarse(device_index(devices_));
  tentative.resize(device_index(devices_));
  on_all([&](std::size_t i, int d) {
    tentative[i] = services_.on(d).tentative(groups[i], level.height, modes_, near_null_[i], coarse[i]);
  });
  near_null_ = std::move(coarse);
  next.nodes = DividedNodes(std::move(first));
  next.height = modes_;
  return true;
}

/// A matrix with the rows of the level's nodes, followed by those of ghosts.
DeviceMatrices DividedLevels::with_neighbours(const DividedLevel& level, const DeviceMatrices& m,
                                              DividedNodes& columns) {
  std::vector<std::vector<std::int64_t>> wanted;
  for (int d = 0; d < devices_; ++d) wanted.push_back(level.nodes.ghosts(d));
  return stack_rows(*backend_, *threads_, m, level.nodes, wanted, columns);
}

/// (1 − factor D⁻¹ A) basis
DeviceMatrices DividedLevels::smooth(const DividedLevel& level, DeviceMatrices& basis, double factor,
                                     DividedNodes& coarse) {
  DeviceMatrices all = with_neighbours(level, basis, coarse), result(device_index(devices_));
  on_all([&](std::size_t i, int d) {
    MultigridServices& services = services_.on(d);
    LevelMatrix& p = result[i];
    p = services.product_pattern(level.a[i], all[i]);
    services.multiply(level.a[i], all[i], p);
    all[i] = LevelMatrix();
    basis[i].columns = p.columns;
    services.smooth_prolongator(level.inverse[i], basis[i], factor, p);
  });
  return result;
}

void DividedLevels::project(const LinearSOE& soe, DividedLevel& level, DividedLevel& next, DeviceMatrices& tentative) {
  DividedNodes& coarse = next.nodes;
  const int steps = is_finest(level) ? finest_basis_steps(options_) : 1;
  level.prolongation = smooth(level, tentative, basis_factor(level.largest_eigenvalue, steps, steps), coarse);
  if (steps > 1) {
    tentative = std::move(level.prolongation);
    level.prolongation = smooth(level, tentative, basis_factor(level.largest_eigenvalue, 1, steps), coarse);
  }
  tentative.clear();
  DeviceMatrices product(device_index(devices_));
  {
    DeviceMatrices all = with_neighbours(level, level.prolongation, coarse);
    on_all([&](std::size_t i, int d) {
      product[i] = services_.on(d).product_pattern(level.a[i], all[i]);
      services_.on(d).multiply(level.a[i], all[i], product[i]);
      all[i] = LevelMatrix();
    });
  }
  // The halo of the finest level is listed while devices multiply.
  if (!level.halo) level.halo = std::make_unique<NodeHalo>(backend_, level.nodes, level.height);
  settle_smoother(level);
  if (is_finest(level))
    for (LevelMatrix& a : level.a) a.value = Array<double>();  // the SOE has them
  // Rows of Pᵀ and of A P that begin or end on other devices.
  const auto from = rows_that_reach(services_, *threads_, level.prolongation, level.nodes, coarse);
  DeviceMatrices all = stack_rows(*backend_, *threads_, level.prolongation, level.nodes, from, coarse);
  level.restriction.resize(device_index(devices_));
  on_all([&](std::size_t i, int d) {
    level.restriction[i] = first_rows(memory(d), services_.on(d).transposed(all[i]), coarse.owned(d));
    all[i] = LevelMatrix();
    if (single_) services_.on(d).to_single(level.prolongation[i]);
  });
  all = stack_rows(*backend_, *threads_, product, level.nodes, from, coarse);
  product.clear();
  next.a.resize(device_index(devices_));
  on_all([&](std::size_t i, int d) {
    MultigridServices& services = services_.on(d);
    LevelMatrix& a = next.a[i];
    a = services.product_pattern(level.restriction[i], all[i]);
    services.multiply_symmetric(level.restriction[i], all[i], a);
    all[i] = LevelMatrix();
    services.set_unit_diagonal_of_empty_rows(a);
    if (single_) services.to_single(level.restriction[i]);
  });
  DividedNodes restricted(level.nodes.first());
  for (int d = 0; d < devices_; ++d) {
    restricted.add_ghosts(d, from[device_index(d)]);
    next.entries += next.a[device_index(d)].entries();
  }
  set_columns(level.prolongation, coarse);
  level.restriction_halo = std::make_unique<NodeHalo>(backend_, restricted, level.height);
  next.halo = std::make_unique<NodeHalo>(backend_, coarse, next.height);
  finish(soe, level);
}

/// The diagonal has done its work in the steps between levels: what remains is what cycles read.
void DividedLevels::settle_smoother(DividedLevel& level) {
  for (int d = 0; d < devices_; ++d) {
    MultigridServices& services = services_.on(d);
    if (options_.smoother == AmgOptions::Smoother::l1_jacobi)
      services.invert_row_sums(level.a[device_index(d)], level.inverse[device_index(d)]);
    if (!single_) continue;
    services.to_single(level.inverse[device_index(d)]);
    if (!level.has_factor()) continue;
    services.to_single(level.factor[device_index(d)]);
    services.to_single(level.factor_transposed[device_index(d)]);
  }
}

/// The same for the matrix.
void DividedLevels::finish(const LinearSOE& soe, DividedLevel& level) {
  if (is_finest(level) && outside_) {
    level.a.clear();
    return;
  }
  on_all([&](std::size_t i, int d) {
    if (is_finest(level))
      services_.update_rows(soe.model().device_model(), *soe.sparse_matrix(), d, level.a[i], true);
    else if (single_)
      services_.on(d).to_single(level.a[i]);
  });
}

}  // namespace voussoir::detail
