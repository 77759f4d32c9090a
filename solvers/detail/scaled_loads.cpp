#include <voussoir/solvers/detail/scaled_loads.hpp>

#include <algorithm>
#include <cmath>

namespace voussoir::detail {
namespace {

/// Loads of one body between these are left as they are: their squares, and their residuals in single precision, have
/// room on both sides.
constexpr double smallest_plain = 1e-12, largest_plain = 1e18;

}  // namespace

ScaledLoads::ScaledLoads(LinearSOE& soe, int first, int count) : soe_(soe), first_(first), count_(count) {
  Backend& backend = soe.model().backend();
  const Bodies& bodies = soe.bodies();
  if (count != soe.b().columns()) {
    own_b_ = own_x_ = true;
    b_ = soe.model().make_vector(count);
    x_ = soe.model().make_vector(count);
    backend.copy_columns(soe.b(), first, count, b_, 0);
    backend.copy_columns(soe.x(), first, count, x_, 0);
  }
  load_ = bodies.norms(backend, b());
  factor_.assign(load_.size(), 1.0);
  back_.assign(load_.size(), 1.0);
  std::vector<double> start(load_.size(), 1.0);
  bool starts_anew = false;
  for (int c = 0; c < count; ++c) {
    double least = 0, most = 0;
    for (std::int32_t k = 0; k < bodies.count(); ++k) {
      const double load = load_[at(k, c)];
      if (!(load > 0) || !std::isfinite(load)) continue;
      least = least > 0 ? std::min(least, load) : load;
      most = std::max(most, load);
    }
    const bool plain = most <= 2 * least && least >= smallest_plain && most <= largest_plain;
    for (std::int32_t k = 0; k < bodies.count(); ++k) {
      const double load = load_[at(k, c)];
      if (load == 0 && most > 0) {
        start[at(k, c)] = back_[at(k, c)] = 0;
        starts_anew = true;
      } else if (!plain && load > 0 && std::isfinite(load)) {
        const int power = std::clamp(-std::ilogb(load), -1000, 1000);
        factor_[at(k, c)] = start[at(k, c)] = std::ldexp(1.0, power);
        back_[at(k, c)] = std::ldexp(1.0, -power);
        load_[at(k, c)] *= factor_[at(k, c)];
        scaled_ = true;
      }
    }
  }
  if (scaled_) {
    if (!own_b_) {
      b_ = soe.model().make_vector(count);
      backend.copy(soe.b(), b_);
      own_b_ = true;
    }
    bodies.scale(backend, factor_, b_);
  }
  if (scaled_ || starts_anew) bodies.scale(backend, start, x());
  scaled_ = scaled_ || starts_anew;
  whole_.assign(static_cast<std::size_t>(count), 0.0);
  for (int c = 0; c < count; ++c)
    for (std::int32_t k = 0; k < bodies.count(); ++k)
      whole_[static_cast<std::size_t>(c)] = std::hypot(whole_[static_cast<std::size_t>(c)], load_[at(k, c)]);
}

double ScaledLoads::tolerance(int column, double wanted) const {
  double least = 0;
  for (std::int32_t k = 0; k < soe_.bodies().count(); ++k)
    if (const double load = load_[at(k, column)]; load > 0) least = least > 0 ? std::min(least, load) : load;
  const double all = norm(column);
  return least > 0 && least < all ? wanted * (least / all) : wanted;
}

std::vector<double> ScaledLoads::ratios(const Vector& r) const {
  const std::vector<double> left = norms(r);
  std::vector<double> result;
  for (int c = 0; c < count_; ++c) {
    std::vector<double> of_bodies;
    for (std::int32_t k = 0; k < soe_.bodies().count(); ++k)
      if (load_[at(k, c)] > 0) of_bodies.push_back(left[at(k, c)] / load_[at(k, c)]);
    result.push_back(largest_or_nan(of_bodies));
  }
  return result;
}

void ScaledLoads::finish() {
  Backend& backend = soe_.model().backend();
  if (scaled_) soe_.bodies().scale(backend, back_, x());
  if (own_x_) backend.copy_columns(x_, 0, count_, soe_.x(), first_);
}

}  // namespace voussoir::detail
