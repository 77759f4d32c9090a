#pragma once
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/framework/domain/element_type.hpp>

namespace voussoir::testing {

/// A spring along x with linear isotropic hardening, for tests of history: force k (d − slip), which yields at
/// |force| = yield + hardening · travel. History: slip and travel. Two elements side by side, to test layouts.
class RememberingSpring final : public ElementProgram {
 public:
  const std::string& name() const override { return name_; }
  Route route() const override { return Route::native; }
  int nodes() const override { return 2; }
  int components() const override { return 1; }
  std::span<const std::string> unknown_names() const override { return unknowns_; }
  std::span<const std::string> parameter_names() const override { return parameters_; }
  int lanes() const override { return 2; }
  bool has_mass() const override { return false; }
  bool reads_temperature() const override { return false; }
  int history_count() const override { return 2; }

  ElementStatus tangent(const ElementView& view, int first, int count, double* out) const override {
    each(first, count, 3, out, [&](int e, auto put) {
      const State s = state(view, e);
      for (int i = 0; i < 3; ++i) put(i, i == 1 ? -s.tangent : s.tangent);
    });
    return {};
  }
  ElementStatus mass(const ElementView&, MassKind, int, int, double*) const override { return {}; }
  ElementStatus residual(const ElementView& view, int first, int count, double* out) const override {
    each(first, count, 2, out, [&](int e, auto put) {
      const State s = state(view, e);
      put(0, -s.force);
      put(1, s.force);
    });
    return {};
  }
  ElementStatus action(const ElementView& view, const double* x, int first, int count, double* out) const override {
    each(first, count, 2, out, [&](int e, auto put) {
      const double force = state(view, e).tangent * stretch(view, x, e);
      put(0, -force);
      put(1, force);
    });
    return {};
  }
  ElementStatus history(const ElementView& view, int first, int count, double* out) const override {
    each(first, count, 2, out, [&](int e, auto put) {
      const State s = state(view, e);
      put(0, s.slip);
      put(1, s.travel);
    });
    return {};
  }
  ElementStatus body_load(const ElementView&, const BodyLoad&, int, int, double*) const override { return {}; }
  int points() const override { return 0; }
  std::span<const std::string> recovered_names() const override { return {}; }
  ElementStatus recover(const ElementView&, int, int, double*) const override { return {}; }
  std::span<const double> extrapolation() const override { return {}; }

 private:
  struct State {
    double force, tangent, slip, travel;
  };
  static double stretch(const ElementView& view, const double* x, int e) {
    if (!x) return 0;
    return x[view.first_unknown[view.nodes[2 * e + 1]]] - x[view.first_unknown[view.nodes[2 * e]]];
  }
  static State state(const ElementView& view, int e) {
    const double* p = view.parameters + (view.record ? view.record[e] : 0) * 4 + 1;
    const double k = p[0], yield = p[1], hardening = p[2];
    const double* own = view.history ? view.history + (e / 2 * 2) * 2 + e % 2 : nullptr;
    State s{0, k, own ? own[0] : 0, own ? own[2] : 0};
    const double trial = k * (stretch(view, view.unknowns, e) - s.slip);
    const double excess = std::abs(trial) - yield - hardening * s.travel;
    s.force = trial;
    if (excess <= 1e-12 * yield) return s;  // on the yield surface after a step: elastic until it moves on
    const double more = excess / (k + hardening);
    s.force = trial - std::copysign(k * more, trial);
    s.slip += std::copysign(more, trial);
    s.travel += more;
    s.tangent = k * hardening / (k + hardening);
    return s;
  }
  /// Calls compute(element, put(value number, value)) for each element, in groups of two.
  template <class Compute>
  static void each(int first, int count, int values, double* out, const Compute& compute) {
    std::fill_n(out, static_cast<std::size_t>((count + 1) / 2 * 2 * values), 0.0);
    for (int i = 0; i < count; ++i)
      compute(first + i, [&](int k, double value) { out[(i / 2 * values + k) * 2 + i % 2] = value; });
  }

  std::string name_ = "remembering_spring";
  std::vector<std::string> unknowns_{"ux"}, parameters_{"stiffness", "yield", "hardening"};
};

/// Registers the type "remembering_spring".
inline void register_remembering_spring() {
  ElementLibrary::instance().add(ElementType("remembering_spring", "line2", std::make_shared<const RememberingSpring>(),
                                             std::type_index(typeid(RememberingSpring))));
}

}  // namespace voussoir::testing
