#include <voussoir/framework/response/modal_damping.hpp>

#include <cmath>
#include <string>

#include <voussoir/backends/error.hpp>
#include <voussoir/backends/number_text.hpp>

namespace voussoir {
namespace {

[[noreturn]] void fail(const std::string& text) { throw Error(ErrorCode::bad_input, text, "modal damping"); }

double checked(double value, const std::string& what) {
  if (!std::isfinite(value) || value < 0)
    fail(what + " must be finite and not negative, but is " + short_number(value, 9));
  return value;
}

}  // namespace

ModalDamping ModalDamping::ratio(double ratio) {
  ModalDamping damping;
  damping.ratio_ = checked(ratio, "the damping ratio");
  return damping;
}

ModalDamping ModalDamping::ratios(std::vector<double> ratios) {
  if (ratios.empty()) fail("the list of damping ratios is empty");
  for (std::size_t i = 0; i < ratios.size(); ++i)
    checked(ratios[i], "the damping ratio of mode " + std::to_string(i + 1));
  ModalDamping damping;
  damping.ratios_ = std::move(ratios);
  return damping;
}

ModalDamping ModalDamping::rayleigh(double alpha, double beta) {
  ModalDamping damping;
  damping.alpha_ = checked(alpha, "alpha");
  damping.beta_ = checked(beta, "beta");
  return damping;
}

ModalDamping ModalDamping::rayleigh_through(double omega1, double ratio1, double omega2, double ratio2) {
  checked(ratio1, "the first damping ratio");
  checked(ratio2, "the second damping ratio");
  if (!(omega1 > 0) || !(omega2 > 0) || omega1 == omega2 || !std::isfinite(omega1) || !std::isfinite(omega2))
    fail("Rayleigh damping needs two different positive circular frequencies; they are " + short_number(omega1, 9) +
         " and " + short_number(omega2, 9));
  const double difference = (omega2 - omega1) * (omega2 + omega1);
  const double alpha = 2 * omega1 * omega2 * (ratio1 * omega2 - ratio2 * omega1) / difference;
  const double beta = 2 * (ratio2 * omega2 - ratio1 * omega1) / difference;
  if (alpha < 0 || beta < 0)
    fail("these ratios would need alpha = " + short_number(alpha, 6) + " and beta = " + short_number(beta, 6) +
         "; a negative factor feeds energy into some modes: give damping ratios per mode instead");
  return rayleigh(alpha, beta);
}

ModalDamping ModalDamping::composite(std::span<const double> part_ratios, std::span<const double> energies) {
  const std::size_t parts = part_ratios.size();
  if (parts == 0 || energies.empty() || energies.size() % parts != 0)
    fail("composite damping of " + std::to_string(parts) + " parts needs an energy for each part and mode; there are " +
         std::to_string(energies.size()));
  const std::size_t modes = energies.size() / parts;
  for (const double ratio : part_ratios) checked(ratio, "the damping ratio of a part");
  std::vector<double> ratios(modes);
  for (std::size_t i = 0; i < modes; ++i) {
    double weighted = 0, sum = 0;
    for (std::size_t part = 0; part < parts; ++part) {
      const double energy = checked(energies[part * modes + i], "the strain energy of mode " + std::to_string(i + 1));
      weighted += part_ratios[part] * energy;
      sum += energy;
    }
    if (!(sum > 0))
      fail("mode " + std::to_string(i + 1) + " has no strain energy: composite damping is not defined for rigid modes");
    ratios[i] = weighted / sum;
  }
  return ModalDamping::ratios(std::move(ratios));
}

ModalDamping& ModalDamping::operator+=(const ModalDamping& other) {
  if (!ratios_.empty() && !other.ratios_.empty() && ratios_.size() != other.ratios_.size())
    fail("damping ratios of " + std::to_string(ratios_.size()) + " modes cannot be added to those of " +
         std::to_string(other.ratios_.size()));
  ratio_ += other.ratio_;
  alpha_ += other.alpha_;
  beta_ += other.beta_;
  if (ratios_.empty()) {
    ratios_ = other.ratios_;
  } else {
    for (std::size_t i = 0; i < other.ratios_.size(); ++i) ratios_[i] += other.ratios_[i];
  }
  return *this;
}

std::vector<double> ModalDamping::decays(std::span<const double> omegas) const {
  if (!ratios_.empty() && ratios_.size() != omegas.size())
    fail("there are damping ratios for " + std::to_string(ratios_.size()) + " modes, but " +
         std::to_string(omegas.size()) + " modes: give one for each");
  std::vector<double> decays(omegas.size());
  for (std::size_t i = 0; i < omegas.size(); ++i) {
    const double omega = checked(omegas[i], "the circular frequency of mode " + std::to_string(i + 1));
    const double ratio = ratio_ + (ratios_.empty() ? 0 : ratios_[i]);
    decays[i] = ratio * omega + (alpha_ + beta_ * omega * omega) / 2;
  }
  return decays;
}

std::vector<double> ModalDamping::damping_ratios(std::span<const double> omegas) const {
  std::vector<double> ratios = decays(omegas);
  for (std::size_t i = 0; i < omegas.size(); ++i) {
    if (omegas[i] > 0) {
      ratios[i] /= omegas[i];
    } else if (ratios[i] > 0) {
      fail("mode " + std::to_string(i + 1) + " is rigid and damped by alpha: it has no damping ratio");
    } else {
      ratios[i] = ratio_ + (ratios_.empty() ? 0 : ratios_[i]);
    }
  }
  return ratios;
}

}  // namespace voussoir
