#include <voussoir/framework/analysis/mode_superposition.hpp>

#include <algorithm>
#include <cmath>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/analysis/detail/response_columns.hpp>

namespace voussoir {
namespace {

constexpr double pi = 3.14159265358979323846;
constexpr const char* place_name = "mode superposition";

/// The patterns of some loads, each once, in the order of their first use.
template <class Loads>
std::vector<int> patterns_of(const Loads& loads) {
  std::vector<int> patterns;
  for (const auto& load : loads)
    if (std::find(patterns.begin(), patterns.end(), load.pattern) == patterns.end()) patterns.push_back(load.pattern);
  return patterns;
}

std::size_t place_of(const std::vector<int>& patterns, int pattern) {
  return static_cast<std::size_t>(std::find(patterns.begin(), patterns.end(), pattern) - patterns.begin());
}

void require_finite(double factor, const std::string& what) {
  if (!std::isfinite(factor)) throw Error(ErrorCode::bad_input, "the factor is not finite", what);
}

}  // namespace

ModeSuperposition::ModeSuperposition(const AnalysisModel& model, const ModeSet& modes, MassKind mass)
    : basis_(std::make_shared<detail::SuperpositionBasis>(model, modes, mass)) {
  for (int m = 0; m < modes.count(); ++m) selected_.push_back(m);
}
ModeSuperposition::~ModeSuperposition() = default;
ModeSuperposition::ModeSuperposition(ModeSuperposition&&) noexcept = default;
ModeSuperposition& ModeSuperposition::operator=(ModeSuperposition&&) noexcept = default;

void ModeSuperposition::select_modes(int first, int last) {
  if (first < 1 || last < first || last > basis_->modes())
    throw Error(ErrorCode::bad_input,
                "modes " + std::to_string(first) + " to " + std::to_string(last) + " were asked for; there are 1 to " +
                    std::to_string(basis_->modes()),
                place_name);
  selected_.clear();
  for (int m = first - 1; m < last; ++m) selected_.push_back(m);
}

void ModeSuperposition::select_frequencies(double lowest, double highest) {
  std::vector<int> found;
  for (int m = 0; m < basis_->modes(); ++m)
    if (const double f = basis_->omega(m) / (2 * pi); f >= lowest && f <= highest) found.push_back(m);
  if (found.empty())
    throw Error(ErrorCode::bad_input,
                "no mode has a frequency from " + short_number(lowest, 6) + " to " + short_number(highest, 6) +
                    "; they have " + short_number(basis_->omega(0) / (2 * pi), 6) + " to " +
                    short_number(basis_->omega(basis_->modes() - 1) / (2 * pi), 6),
                place_name);
  selected_ = std::move(found);
}

ModalSystem ModeSuperposition::system() const {
  std::vector<double> omegas;
  for (const int m : selected_) omegas.push_back(basis_->omega(m));
  return ModalSystem(std::move(omegas), damping_);
}

void ModeSuperposition::set_solver(std::shared_ptr<LinearSOE> soe, std::shared_ptr<Solver> solver) {
  basis_->set_solver(std::move(soe), std::move(solver));
}

bool ModeSuperposition::static_correction() const { return correction_.value_or(basis_->no_statics().empty()); }

void ModeSuperposition::add_base_acceleration(const std::string& direction, const Accelerogram& acceleration,
                                              double factor) {
  require_finite(factor, "base acceleration along " + direction);
  loads_.push_back(
      {basis_->pattern_of_direction(direction), factor, acceleration.amplitude(), acceleration.times().front()});
}

void ModeSuperposition::add_base_acceleration(const std::string& direction, const Amplitude& acceleration,
                                              double factor) {
  require_finite(factor, "base acceleration along " + direction);
  loads_.push_back({basis_->pattern_of_direction(direction), factor, acceleration, {}});
}

void ModeSuperposition::add_load_case(const std::string& name, const Amplitude& amplitude, double factor) {
  require_finite(factor, "load case '" + name + "'");
  loads_.push_back({basis_->pattern_of_case(name), factor, amplitude, {}});
}

void ModeSuperposition::clear_loads() {
  loads_.clear();
  harmonic_.clear();
}

void ModeSuperposition::add_harmonic_load_case(const std::string& name, std::complex<double> factor,
                                               const Amplitude& over_frequency) {
  require_finite(std::abs(factor), "load case '" + name + "'");
  harmonic_.push_back({basis_->pattern_of_case(name), factor, over_frequency});
}

void ModeSuperposition::add_harmonic_base_acceleration(const std::string& direction, std::complex<double> factor,
                                                       const Amplitude& over_frequency) {
  require_finite(std::abs(factor), "base acceleration along " + direction);
  harmonic_.push_back({basis_->pattern_of_direction(direction), factor, over_frequency});
}

void ModeSuperposition::set_initial_displacement(const NodalField& displacement) {
  double whole = 0;
  displacement_ = basis_->project(displacement, "initial displacement", whole);
  displacement_whole_ = whole;
}

void ModeSuperposition::set_initial_velocity(const NodalField& velocity) {
  double whole = 0;
  velocity_ = basis_->project(velocity, "initial velocity", whole);
  velocity_whole_ = whole;
}

void ModeSuperposition::set_initial_state(const ModalPoint& state) {
  if (state.displacement.size() != selected_.size() || state.velocity.size() != selected_.size())
    throw Error(ErrorCode::bad_input,
                "the state has coordinates of " + std::to_string(state.displacement.size()) + " modes, and " +
                    std::to_string(selected_.size()) + " are selected",
                "initial state");
  if (state.fingerprint != 0 && (state.fingerprint != basis_->fingerprint() || state.modes != selected_))
    throw Error(
        ErrorCode::bad_input,
        state.fingerprint == basis_->fingerprint()
            ? "the state has coordinates of other modes than those that are selected; select the same ones"
            : "the state has coordinates of modes of another solution; use the same ModeSet for both histories, "
              "or give displacements and velocities by set_initial_displacement() and set_initial_velocity()",
        "initial state");
  displacement_.assign(static_cast<std::size_t>(basis_->modes()), 0.0);
  velocity_ = displacement_;
  for (std::size_t i = 0; i < selected_.size(); ++i) {
    displacement_[static_cast<std::size_t>(selected_[i])] = state.displacement[i];
    velocity_[static_cast<std::size_t>(selected_[i])] = state.velocity[i];
  }
  displacement_whole_ = velocity_whole_ = std::nullopt;
}

std::vector<double> ModeSuperposition::initial(const std::vector<double>& of_all) const {
  std::vector<double> result(selected_.size(), 0.0);
  for (std::size_t i = 0; !of_all.empty() && i < selected_.size(); ++i)
    result[i] = of_all[static_cast<std::size_t>(selected_[i])];
  return result;
}

std::shared_ptr<const detail::ResponseColumns> ModeSuperposition::columns(const std::vector<int>& patterns) const {
  basis_->check_unchanged();
  const bool corrected = static_correction();
  if (corrected) basis_->solve_statics(patterns);
  return std::make_shared<detail::ResponseColumns>(basis_, selected_, system(), damping_.alpha(), patterns, corrected);
}

SuperposedHistory ModeSuperposition::time_history(std::span<const double> times) const {
  const std::vector<int> patterns = patterns_of(loads_);
  SuperposedHistory result;
  result.columns_ = columns(patterns);
  const ModalSystem modes = system();
  ModalTimeHistory history(modes, start_);
  // The base moves as an oscillator without stiffness does, one for each load.
  ModalTimeHistory ground(ModalSystem(std::vector<double>(std::max<std::size_t>(1, loads_.size()), 0.0)), start_);
  for (std::size_t l = 0; l < loads_.size(); ++l) {
    const Load& load = loads_[l];
    const detail::LoadPattern& pattern = basis_->pattern(load.pattern);
    if (load.begins && *load.begins < start_)
      throw Error(ErrorCode::bad_input,
                  "the accelerogram begins at " + short_number(*load.begins, 6) +
                      ", before the history, which begins at " + short_number(start_, 6) +
                      "; set an earlier start, or shift the accelerogram",
                  pattern.label);
    std::vector<double> modal;
    for (const int m : selected_) modal.push_back(load.factor * pattern.modal[static_cast<std::size_t>(m)]);
    history.add_load(std::move(modal), load.amplitude);
    std::vector<double> of_base(loads_.size(), 0.0);
    if (pattern.direction >= 0) of_base[l] = load.factor;
    ground.add_load(std::move(of_base), load.amplitude);
  }
  history.set_initial_state(initial(displacement_), initial(velocity_));
  const std::size_t width = patterns.size();
  const auto append = [](std::vector<double>& to, std::span<const double> values) {
    to.insert(to.end(), values.begin(), values.end());
  };
  history.run(times, [&](const ModalState& state) {
    result.times_.push_back(state.time);
    append(result.q_, state.displacement);
    append(result.v_, state.velocity);
    append(result.a_, state.acceleration);
    const std::size_t at = result.loads_.size();
    result.loads_.resize(at + width, 0.0);
    for (std::size_t l = 0; l < loads_.size(); ++l)
      result.loads_[at + place_of(patterns, loads_[l].pattern)] += loads_[l].factor * state.loads[l];
  });
  result.ground_u_.assign(result.loads_.size(), 0.0);
  result.ground_v_.assign(result.loads_.size(), 0.0);
  std::size_t row = 0;
  if (!loads_.empty())
    ground.run(times, [&](const ModalState& state) {
      for (std::size_t l = 0; l < loads_.size(); ++l) {
        const std::size_t place = row * width + place_of(patterns, loads_[l].pattern);
        result.ground_u_[place] += state.displacement[l];
        result.ground_v_[place] += state.velocity[l];
      }
      ++row;
    });
  return result;
}

SuperposedSweep ModeSuperposition::harmonic_sweep(std::span<const double> frequencies) const {
  const std::vector<int> patterns = patterns_of(harmonic_);
  SuperposedSweep result;
  result.columns_ = columns(patterns);
  HarmonicSweep sweep(system());
  for (const HarmonicLoad& load : harmonic_) {
    std::vector<double> modal;
    for (const int m : selected_) modal.push_back(basis_->pattern(load.pattern).modal[static_cast<std::size_t>(m)]);
    sweep.add_load(std::move(modal), load.factor, load.over_frequency);
  }
  const HarmonicCoordinates q = sweep.coordinates(frequencies, ModalQuantity::displacement, true);
  result.frequencies_ = q.frequencies;
  for (std::size_t f = 0; f < q.frequencies.size(); ++f) {
    for (std::size_t i = 0; i < selected_.size(); ++i) result.q_.push_back(q.at(f, i));
    std::vector<std::complex<double>> loads(patterns.size());
    for (std::size_t l = 0; l < harmonic_.size(); ++l)
      loads[place_of(patterns, harmonic_[l].pattern)] += q.at(f, selected_.size() + l);
    result.loads_.insert(result.loads_.end(), loads.begin(), loads.end());
  }
  return result;
}

}  // namespace voussoir
