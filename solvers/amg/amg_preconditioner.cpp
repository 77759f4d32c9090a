#include <voussoir/solvers/amg/amg_preconditioner.hpp>

#include <algorithm>
#include <limits>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/solvers/amg/detail/cycle.hpp>
#include <voussoir/solvers/amg/detail/cycle_traffic.hpp>
#include <voussoir/solvers/amg/detail/hierarchy.hpp>

namespace voussoir {
namespace {

/// Iterations after which single precision is given up where nothing was said about it.
constexpr int single_patience = 120;
/// Where the residual is not reduced to this part by then, CG is on its way to 60 iterations or more, and a better
/// smoother pays.
constexpr int early_iterations = 8;
constexpr double early_reduction = 0.1;
/// CG with multigrid that takes more iterations than this went badly.
constexpr int many_iterations = 60;

}  // namespace

AmgPreconditioner::AmgPreconditioner(AmgOptions options)
    : options_(std::move(options)), single_(options_.numbers != AmgOptions::Numbers::full) {
  if (options_.smoothing_steps < 0 || options_.basis_steps < 0 || options_.basis_steps > 2 ||
      !(options_.smoothing_ratio == 0 || options_.smoothing_ratio > 1) || !(options_.threshold >= 0) ||
      options_.coarsest_rows < 1 || options_.most_levels < 1 || options_.gathered_rows < 1)
    throw Error(ErrorCode::misuse,
                "multigrid needs smoothing steps and a ratio above 1, or 0 to choose them itself, a threshold that is "
                "not negative, one level with one row or more, and gathered levels of one row or more");
}

AmgPreconditioner::~AmgPreconditioner() = default;

void AmgPreconditioner::set_up(const LinearSOE& soe) {
  if (hierarchy_ && layout_ == soe.matrix().layout() && matrix_ == &soe.matrix()) {
    cycle_.reset();
    auto hierarchy = std::move(hierarchy_);  // one that cannot take the values is dropped
    hierarchy->update(soe);
    cycle_ = std::make_unique<detail::AmgCycle>(soe.model().shared_backend(), layout_, *hierarchy);
    hierarchy_ = std::move(hierarchy);
    return;
  }
  build(soe);
}

void AmgPreconditioner::build(const LinearSOE& soe) {
  cycle_.reset();
  hierarchy_.reset();
  layout_ = soe.matrix().layout();
  matrix_ = &soe.matrix();
  AmgOptions options = options_;
  if (smooths_more_) options.smoother = AmgOptions::Smoother::fsai;
  hierarchy_ = std::make_unique<detail::AmgHierarchy>(soe, options, single_);
  cycle_ = std::make_unique<detail::AmgCycle>(soe.model().shared_backend(), layout_, *hierarchy_);
}

const Operator* AmgPreconditioner::inverse() const { return cycle_.get(); }

std::size_t AmgPreconditioner::bytes() const { return cycle_ ? cycle_->bytes() : 0; }

int AmgPreconditioner::patience() const {
  return options_.numbers == AmgOptions::Numbers::automatic && single_ ? single_patience
                                                                       : std::numeric_limits<int>::max();
}

bool AmgPreconditioner::may_smooth_more() const {
  return options_.smoother == AmgOptions::Smoother::automatic && !smooths_more_ && hierarchy_ && level_count() > 1 &&
         hierarchy_->options().smoother != AmgOptions::Smoother::fsai;
}

Preconditioner::Checkpoint AmgPreconditioner::checkpoint() const {
  return may_smooth_more() ? Checkpoint{early_iterations, early_reduction} : Checkpoint{};
}

bool AmgPreconditioner::strengthen(const LinearSOE& soe) {
  // From now on: what stalled once will again.
  if (may_smooth_more())
    smooths_more_ = true;
  else if (options_.numbers == AmgOptions::Numbers::automatic && single_)
    single_ = false;
  else
    return false;
  build(soe);
  return true;
}

const detail::AmgCycle& AmgPreconditioner::cycle() const {
  if (!cycle_) throw Error(ErrorCode::misuse, "the multigrid preconditioner has not been set up yet");
  return *cycle_;
}

bool AmgPreconditioner::is_single() const { return single_; }

double AmgPreconditioner::reduction(int level) const {
  const detail::AmgCycle& c = cycle();
  if (level < 0 || level >= level_count())
    throw Error(ErrorCode::misuse,
                "there is no level " + std::to_string(level) + " in a hierarchy of " + std::to_string(level_count()));
  return c.reduction(level);
}

std::vector<AmgLevelReport> AmgPreconditioner::levels() const {
  (void)cycle();
  const auto devices = static_cast<std::size_t>(layout_->devices());
  std::vector<AmgLevelReport> reports;
  if (const detail::DividedLevels* divided = hierarchy_->divided())
    for (const detail::DividedLevel& level : divided->levels()) {
      reports.push_back({level.rows(), level.entries, level.smoothed_eigenvalue(), {}});
      for (std::size_t d = 0; d < devices; ++d) reports.back().device_bytes.push_back(level.bytes(static_cast<int>(d)));
    }
  for (const detail::AmgLevel& level : hierarchy_->levels()) {
    reports.push_back({level.rows(), level.entries, level.smoothed_eigenvalue(), {}});
    reports.back().device_bytes.assign(devices, 0);
    reports.back().device_bytes.front() = level.bytes();
  }
  return reports;
}

int AmgPreconditioner::level_count() const {
  const detail::DividedLevels* divided = hierarchy_->divided();
  return static_cast<int>(hierarchy_->levels().size() + (divided ? divided->levels().size() : 0));
}

std::vector<std::size_t> AmgPreconditioner::device_bytes() const {
  std::vector<std::size_t> bytes;
  for (int d = 0; d < layout_->devices(); ++d) bytes.push_back(cycle().device_bytes(d));
  return bytes;
}

HaloTraffic AmgPreconditioner::cycle_traffic() const {
  const detail::AmgCycle& c = cycle();
  const std::int64_t product = halo_bytes(*layout_);
  if (const detail::DividedLevels* divided = hierarchy_->divided()) {
    std::vector<int> steps;
    for (std::size_t l = 0; l < divided->levels().size(); ++l) steps.push_back(c.smoothing_steps(static_cast<int>(l)));
    return detail::divided_cycle_traffic(*divided, options_.cycle == AmgOptions::Cycle::k, steps, product);
  }
  // All levels are on the first device, but the products of the finest one may be those of the SOE.
  if (product == 0 || !hierarchy_->outside() || hierarchy_->levels().size() == 1) return {};
  const std::int64_t products = 2 * c.smoothing_steps(0);
  return {products, products * product};
}

double AmgPreconditioner::operator_complexity() const {
  (void)cycle();
  return hierarchy_->operator_complexity();
}

std::string AmgPreconditioner::summary() const {
  if (!cycle_) return {};
  const int count = level_count();
  std::string text = std::to_string(count) + (count == 1 ? " level of " : " levels of ");
  bool first = true;
  for (const AmgLevelReport& level : levels()) {
    text += (first ? "" : ", ") + std::to_string(level.rows);
    first = false;
  }
  const detail::DividedLevels* divided = hierarchy_->divided();
  const bool factor = divided ? divided->levels().front().has_factor() : hierarchy_->levels().front().has_factor();
  return text + " rows, operator complexity " + short_number(operator_complexity(), 2) + ", " +
         (single_ ? "single" : "double") + " precision" + (factor ? ", smoothed by a sparse approximate inverse" : "") +
         (divided ? ", " + std::to_string(divided->levels().size()) + " of them divided over " +
                        std::to_string(layout_->devices()) + " devices"
                  : "") +
         (hierarchy_->direct() ? ", the coarsest one factorised on the host" : "");
}

std::string AmgPreconditioner::advice(int iterations, bool converged) const {
  if (!cycle_ || (converged && iterations <= many_iterations)) return {};
  std::string text = "Multigrid converged slowly: " + summary() + "; a cycle reduces the error by a factor of";
  double worst = 0;
  int worst_level = 0;
  const int count = level_count();
  for (int l = 0; l + 1 < count; ++l) {
    const double reduction = cycle_->reduction(l);
    text += (l ? ", " : " ") + short_number(reduction, 2) + " on level " + std::to_string(l);
    if (reduction > worst) {
      worst = reduction;
      worst_level = l;
    }
  }
  text += count == 1 ? " 0 on the only level. " : ". ";
  if (count > 1 && worst_level > 0 && options_.cycle == AmgOptions::Cycle::v)
    text += "The coarse levels converge slowly: try cg+amg:k-cycle";
  else if (hierarchy_->options().smoother != AmgOptions::Smoother::fsai)
    text += "Try a better smoother, cg+amg:fsai";
  else if (const int steps = cycle_->smoothing_steps(0); steps < 6)
    text += "Try more smoothing, cg+amg:steps=" + std::to_string(2 * steps);
  else
    text += std::string("Try another threshold, cg+amg:threshold=") + (options_.threshold == 0.1 ? "0" : "0.1");
  text +=
      ", or a direct solver if memory permits. Weakly connected parts, very thin elements and stiff "
      "springs are difficult for multigrid; models with user-defined unknowns should supply their near-null space";
  return text;
}

}  // namespace voussoir
