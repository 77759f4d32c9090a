#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <voussoir/backends/number_text.hpp>
#include <voussoir/framework/analysis/detail/superposition_basis.hpp>
#include <voussoir/framework/analysis/mode_superposition.hpp>

// What the selected modes leave out, in numbers and in words.

namespace voussoir {
namespace {

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

std::string percent(double share) {
  // 99.96 % must not be read as all of it.
  const double value = 100 * share;
  return short_number(value > 99.9 && value < 100 - 1e-9 ? std::floor(value * 1e4) / 1e4 : value,
                      value > 99.9 ? 6 : 3) +
         " %";
}

std::string modes_text(const std::vector<int>& selected, const detail::SuperpositionBasis& basis) {
  const bool row = selected.back() - selected.front() + 1 == static_cast<int>(selected.size());
  std::string text =
      selected.size() == 1 ? "mode " + std::to_string(selected.front() + 1)
      : row ? "modes " + std::to_string(selected.front() + 1) + " to " + std::to_string(selected.back() + 1)
            : std::to_string(selected.size()) + " modes";
  return text + " (up to " + short_number(basis.omega(selected.back()) / (2 * std::numbers::pi), 4) + " Hz)";
}

double share_of(const std::vector<double>& q, const std::vector<int>& selected, double whole) {
  double seen = 0;
  for (const int m : selected) seen += q[static_cast<std::size_t>(m)] * q[static_cast<std::size_t>(m)];
  return whole > 0 ? seen / whole : 1;
}

/// The largest displacement; the largest unknown where nothing but rotations is there.
double largest_displacement(const AnalysisModel& model, const std::vector<double>& u) {
  double most = 0, any = 0;
  for (std::int32_t e = 0; e < model.equation_count(); ++e) {
    const double size = std::abs(u[static_cast<std::size_t>(e)]);
    any = std::max(any, size);
    const auto at = model.place(e);
    if (model.unknown_names()[static_cast<std::size_t>(at.component)][0] == 'u' &&
        !model.domain().rotation_node(at.node))
      most = std::max(most, size);
  }
  return most > 0 ? most : any;
}

}  // namespace

LoadCoverage ModeSuperposition::coverage(int index) const {
  const detail::LoadPattern& pattern = basis_->pattern(index);
  LoadCoverage result{pattern.label, basis_->omega(selected_.back()) / (2 * std::numbers::pi),
                      not_known,     not_known,
                      not_known,     static_correction()};
  if (pattern.direction >= 0) {
    double seen = 0;
    for (const int m : selected_) seen += std::pow(pattern.modal[static_cast<std::size_t>(m)], 2);
    const double total = basis_->total_mass(pattern.direction);
    result.mass = total > 0 ? seen / total : 0;
  }
  if (!pattern.statics.layout() || !(pattern.static_energy > 0)) return result;
  std::vector<double> coefficients(static_cast<std::size_t>(basis_->modes()), 0.0);
  double energy = 0;
  for (const int m : selected_) {
    const double load = pattern.modal[static_cast<std::size_t>(m)], omega = basis_->omega(m);
    if (!(omega > 0)) continue;
    coefficients[static_cast<std::size_t>(m)] = -load / omega / omega;
    energy += load / omega * (load / omega);
  }
  result.static_energy = std::min(1.0, energy / pattern.static_energy);
  Vector rest = basis_->combination(coefficients);
  basis_->model().backend().axpy(1.0, pattern.statics, rest);
  const double largest = largest_displacement(basis_->model(), pattern.statics.to_host());
  result.static_error = largest > 0 ? largest_displacement(basis_->model(), rest.to_host()) / largest : 0;
  return result;
}

Truncation ModeSuperposition::truncation_of(const std::vector<int>& patterns) const {
  if (basis_->no_statics().empty()) basis_->solve_statics(patterns);
  Truncation result;
  result.modes = modes_text(selected_, *basis_);
  for (const int p : patterns) result.loads.push_back(coverage(p));
  result.initial_displacement =
      displacement_whole_ ? share_of(displacement_, selected_, *displacement_whole_) : not_known;
  result.initial_velocity = velocity_whole_ ? share_of(velocity_, selected_, *velocity_whole_) : not_known;
  if (!basis_->incomplete().empty()) result.notes.push_back("modes are missing: " + basis_->incomplete());
  for (const std::string& note : basis_->notes()) result.notes.push_back(note);
  if (selected_.front() > 0)
    result.notes.push_back("modes below " + short_number(basis_->omega(selected_.front()) / (2 * std::numbers::pi), 4) +
                           " Hz are not selected" +
                           (static_correction() ? ": they follow the loads statically, without resonance" : ""));
  if (!static_correction()) {
    const std::string why = basis_->no_statics();
    result.notes.push_back("there is no static correction" + (why.empty() ? std::string() : ", because " + why));
  }
  return result;
}

Truncation ModeSuperposition::truncation() const {
  std::vector<int> patterns;
  const auto take = [&](int pattern) {
    if (std::find(patterns.begin(), patterns.end(), pattern) == patterns.end()) patterns.push_back(pattern);
  };
  for (const Load& load : loads_) take(load.pattern);
  for (const HarmonicLoad& load : harmonic_) take(load.pattern);
  return truncation_of(patterns);
}

Truncation ModeSuperposition::truncation(std::span<const std::string> directions) const {
  std::vector<int> patterns;
  for (const std::string& direction : directions) patterns.push_back(basis_->pattern_of_direction(direction));
  return truncation_of(patterns);
}

std::string Truncation::text() const {
  std::string text;
  const auto add = [&](const std::string& sentence) { text += (text.empty() ? "" : "; ") + sentence; };
  for (const LoadCoverage& c : loads) {
    // "base acceleration along x" → "along x"
    static const std::string base = "base acceleration ";
    const bool is_base = c.load.starts_with(base);
    if (!std::isnan(c.mass))
      add(modes + " cover " + percent(c.mass) +
          (c.load.starts_with(base + "about") ? " of the moment of inertia " : " of the mass ") +
          (is_base ? c.load.substr(base.size()) : c.load));
    if (std::isnan(c.static_error)) {
      if (std::isnan(c.mass)) add(modes + ": what they leave out of " + c.load + " is not known");
      continue;
    }
    add((std::isnan(c.mass) ? modes : "they") + std::string(" have ") + percent(c.static_energy) +
        " of the strain energy of the static response to " + c.load + ", whose largest displacement error is " +
        percent(c.static_error) +
        (c.corrected ? " without the static correction, which adds the rest" : ", which nothing corrects"));
  }
  if (!std::isnan(initial_displacement))
    add("they represent " + percent(initial_displacement) + " of the initial displacement (by uᵀMu)");
  if (!std::isnan(initial_velocity))
    add("they represent " + percent(initial_velocity) + " of the kinetic energy of the initial velocity");
  for (const std::string& note : notes) add(note);
  return text;
}

}  // namespace voussoir
