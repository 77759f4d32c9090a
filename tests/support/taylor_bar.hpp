#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <string>

#include <voussoir/framework/domain/domain.hpp>

// The rod of Taylor's impact test.

namespace voussoir::testing {

/// A quarter of the rod in mm, ms and g, so that stresses are in MPa: length 32.4 along z, radius 3.2; the wall is at
/// z = 0. The cross-section has a square core of cells × cells elements with layers around it; elements are shorter
/// near the wall.
struct TaylorBar {
  static constexpr double length = 32.4, radius = 3.2, velocity = 227, end = 0.08;
  static constexpr double quarter_turn = 1.57079632679489661923;
  int cells, layers, along;
  Domain domain;

  /// `type` is the element type, with the parameters of FinitePlasticity.
  TaylorBar(int core, int rings, int axial, const std::string& type) : cells(core), layers(rings), along(axial) {
    add_nodes();
    add_elements(type);
    domain.add_node_set_where("wall", [](double, double, double z) { return z < 1e-9; });
    domain.add_node_set_where("x0", [](double x, double, double) { return x < 1e-9; });
    domain.add_node_set_where("y0", [](double, double y, double) { return y < 1e-9; });
    domain.prescribe("wall", "uz");
    domain.prescribe("x0", "ux");
    domain.prescribe("y0", "uy");
  }

 private:
  std::map<std::array<int, 4>, int> number_;

  /// A node of the cross-section: (0, i, j) of the core, (1, arc, layer) around it, at level k.
  int node(int part, int i, int j, int k) {
    if (part == 1 && j == 0) {  // the boundary of the core
      const int at = i;
      part = 0;
      i = at <= cells ? cells : 2 * cells - at;
      j = at <= cells ? at : cells;
    }
    const auto [found, is_new] = number_.try_emplace({part, i, j, k}, static_cast<int>(number_.size()) + 1);
    return found->second;
  }
  /// Where a node of the cross-section is.
  std::array<double, 2> place(int part, int i, int j) const {
    const double step = 0.5 * radius / cells;
    if (part == 0) return {step * i, step * j};
    const double angle = 0.5 * quarter_turn * i / cells, share = double(j) / layers;
    const double inner[2] = {step * std::min(cells, 2 * cells - i), step * std::min(cells, i)};
    return {(1 - share) * inner[0] + share * radius * std::cos(angle),
            (1 - share) * inner[1] + share * radius * std::sin(angle)};
  }
  double level(int k) const {
    const double s = double(k) / along;
    return length * (0.6 * s + 0.4 * s * s);
  }
  void add_nodes() {
    const auto add = [&](int part, int i, int j, int k) {
      const std::size_t before = number_.size();
      const int id = node(part, i, j, k);
      if (number_.size() == before) return;
      const auto at = place(part, i, j);
      domain.add_node(id, at[0], at[1], level(k));
    };
    for (int k = 0; k <= along; ++k) {
      for (int i = 0; i <= cells; ++i)
        for (int j = 0; j <= cells; ++j) add(0, i, j, k);
      for (int i = 0; i <= 2 * cells; ++i)
        for (int j = 1; j <= layers; ++j) add(1, i, j, k);
    }
  }
  void add_elements(const std::string& type) {
    auto copper = std::make_shared<Material>("copper");
    copper->set("young", 117e3).set("poisson", 0.35).set("yield", 400).set("hardening", 100).set("density", 8.93e-3);
    auto& block = domain.add_block("rod", type);
    block.set_material(copper);
    int id = 0;
    const auto add = [&](std::array<int, 4> low, std::array<int, 4> high) {
      block.add(++id, {low[0], low[1], low[2], low[3], high[0], high[1], high[2], high[3]});
    };
    for (int k = 0; k < along; ++k) {
      for (int i = 0; i < cells; ++i)
        for (int j = 0; j < cells; ++j) {
          const auto at = [&](int z) {
            return std::array{node(0, i, j, z), node(0, i + 1, j, z), node(0, i + 1, j + 1, z), node(0, i, j + 1, z)};
          };
          add(at(k), at(k + 1));
        }
      for (int i = 0; i < 2 * cells; ++i)
        for (int j = 0; j < layers; ++j) {
          const auto at = [&](int z) {
            return std::array{node(1, i, j, z), node(1, i, j + 1, z), node(1, i + 1, j + 1, z), node(1, i + 1, j, z)};
          };
          add(at(k), at(k + 1));
        }
    }
  }
};

}  // namespace voussoir::testing
