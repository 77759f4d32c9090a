#include <cmath>

#include <voussoir/framework/io/deck/detail/build/steps.hpp>

namespace voussoir::deck {
namespace {

/// What is said of one node.
struct Held {
  std::array<const Acting*, 7> dof{};  // by dof, null: free
};

class SupportMaker {
 public:
  SupportMaker(Build& build, const Model& model, const StepTime& time, Supports& supports)
      : b_(build), m_(model), time_(time), s_(supports) {}

  void node(std::int32_t n, const Held& prescribed) {
    int first = 1;
    if (b_.has_axes(n) && (prescribed.dof[1] || prescribed.dof[2] || prescribed.dof[3]) && m_.components[n] > 1) {
      turned(n, prescribed);
      first = 4;
    }
    for (int dof = first; dof <= 6; ++dof)
      if (prescribed.dof[dof]) plain(n, dof, *prescribed.dof[dof]);
  }

 private:
  double value(const Acting& a) const { return a.value * factor_of(a.amplitude, time_); }

  void plain(std::int32_t n, int dof, const Acting& a) {
    const Unknown u = b_.unknown(m_, n, dof);
    if (u.node < 0) return missing(n, dof, a);
    const std::string& name = unknown_name(m_.physics, u.component);
    if (a.fixed)
      s_.kept.push_back({u.node, name, {}});
    else
      s_.values.push_back({u.node, name, value(a)});
  }

  /// A support of what cannot move anyway says nothing, and is common in decks; one with a value is a mistake.
  void missing(std::int32_t n, int dof, const Acting& a) {
    if (m_.components[n] == 0) {
      if (b_.network_nodes.contains(n)) return;
      b_.note("supports of nodes without elements are ignored", a.place);
      return;
    }
    if (!a.fixed && value(a) != 0)
      b_.fail("node " + b_.node_name(n) + " has no degree of freedom " + std::to_string(dof) + " to prescribe",
              a.place);
    if (m_.named.contains(n)) {
      b_.note("supports of degrees of freedom that no element or equation uses are ignored", a.place);
      return;
    }
    b_.note(dof <= 3
                ? "out-of-plane supports of plane and axisymmetric elements are ignored: they cannot move out of plane"
                : "supports of rotations are ignored at elements without rotations",
            a.place);
  }

  void turned(std::int32_t n, const Held& prescribed) {
    const Orientation::Axes axes = b_.axes(n);
    const int count = b_.translations(m_, n);
    int said = 0;
    for (int dof = 1; dof <= 3; ++dof) {
      if (!prescribed.dof[dof]) continue;
      const Acting& a = *prescribed.dof[dof];
      if (count == 2 && std::abs(axes[3 * (dof - 1) + 2]) > 1e-9) {  // local direction out of the plane
        if (std::abs(std::abs(axes[3 * (dof - 1) + 2]) - 1) > 1e-9)
          b_.fail("the *TRANSFORM of node " + b_.node_name(n) +
                      " rotates it out of the plane of its elements; use axes of which one is z",
                  a.place);
        missing(n, dof, a);
        continue;
      }
      ++said;
    }
    if (said == 0) return;
    std::array<double, 3> global{0, 0, 0};
    bool any_fixed = false, all_fixed = true;
    for (int dof = 1; dof <= 3; ++dof) {
      if (!prescribed.dof[dof]) continue;
      any_fixed = any_fixed || prescribed.dof[dof]->fixed;
      all_fixed = all_fixed && prescribed.dof[dof]->fixed;
    }
    // Where all displacements are held in the same way, they are held along the global axes too.
    const bool whole = said == count && any_fixed == all_fixed;
    for (int dof = 1; dof <= 3; ++dof) {
      const double* d = &axes[3 * (dof - 1)];
      if (!prescribed.dof[dof] || (count == 2 && std::abs(d[2]) > 1e-9)) continue;
      const double v = value(*prescribed.dof[dof]);
      if (whole)
        for (int k = 0; k < 3; ++k) global[k] += v * d[k];
      else if (prescribed.dof[dof]->fixed)
        s_.kept.push_back({n, {}, {d[0], d[1], d[2]}});
      else
        s_.oblique.push_back({n, {d[0], d[1], d[2]}, v});
    }
    if (!whole) return;
    for (int k = 0; k < count; ++k) {
      if (all_fixed)
        s_.kept.push_back({n, unknown_name(m_.physics, k), {}});
      else
        s_.values.push_back({n, unknown_name(m_.physics, k), global[k]});
    }
  }

  Build& b_;
  const Model& m_;
  const StepTime& time_;
  Supports& s_;
};

}  // namespace

Supports make_supports(Build& b, const Model& m, ActingState& state, const StepTime& time) {
  Supports supports;
  if (m.physics == Physics::heat) {
    for (const Acting& a : state.temperatures_prescribed.acting()) {
      const auto n = static_cast<std::int32_t>(a.key / 16);
      if (m.components[n] == 0)
        b.note("supports of nodes without elements are ignored", a.place);
      else if (a.fixed)
        supports.kept.push_back({n, "T", {}});
      else
        supports.values.push_back({n, "T", a.value * factor_of(a.amplitude, time)});
    }
    return supports;
  }
  // Plane beams are beams in space that stay in the plane.
  if (b.planar)
    for (std::int32_t n = 0; n < static_cast<std::int32_t>(b.node_ids.size()); ++n)
      if (m.components[n] == 6)
        for (int k = 2; k <= 4; ++k) supports.values.push_back({n, unknown_name(m.physics, k), 0.0});
  SupportMaker maker(b, m, time, supports);
  const auto& acting = state.supports.acting();
  for (std::size_t i = 0; i < acting.size();) {
    const std::uint64_t n = acting[i].key / 16;
    Held prescribed;
    for (; i < acting.size() && acting[i].key / 16 == n; ++i) prescribed.dof[acting[i].key % 16] = &acting[i];
    maker.node(static_cast<std::int32_t>(n), prescribed);
  }
  return supports;
}

}  // namespace voussoir::deck
