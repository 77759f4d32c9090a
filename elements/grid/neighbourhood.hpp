#pragma once
#include <voussoir/backends/grid_view.hpp>
#include <voussoir/elements/kernel/fn.hpp>

// What a grid kernel sees: a node with its neighbours, its place and the time. A kernel is a struct with one small
// function template, compiled by g++ for the CPU, by nvcc, and by NVRTC from its text, so nothing of the standard
// library is used here.
//
//   struct AdvectionDiffusion {                                  // a stencil: a rate from a node and its neighbours
//     static constexpr const char* name = "advection_diffusion";
//     struct Parameters { double velocity, diffusivity; };
//     template <class Node>
//     VSR_FN static double apply(const Node& u, const Parameters& p) {
//       return p.diffusivity * (u.dxx() + u.dyy()) - p.velocity * (u() - u(-1)) / u.dx();
//     }
//   };
//   struct Heater {                                              // a source: a rate from place, time and value
//     static constexpr const char* name = "heater";
//     struct Parameters { double power; };
//     template <class R>
//     VSR_FN static R source(R x, R y, R z, R t, R u, const Parameters& p) { … }
//   };

namespace voussoir {

/// The part of a node that does not depend on where its neighbours lie in memory. Derived supplies
/// operator()(di, dj, dk) and other(f).
template <class Derived>
struct GridNode {
  const GridJob* job;  ///< the kernel's job
  int i;               ///< number of the node along x, counted in the whole grid
  int j;               ///< along y
  int k;               ///< along z

  VSR_FN double x() const { return job->grid.origin[0] + i * job->grid.spacing[0]; }  ///< position
  VSR_FN double y() const { return job->grid.origin[1] + j * job->grid.spacing[1]; }  ///< position
  VSR_FN double z() const { return job->grid.origin[2] + k * job->grid.spacing[2]; }  ///< position
  VSR_FN double time() const { return job->time; }                                    ///< time of the evaluation
  VSR_FN double step() const { return job->step; }                                    ///< time step
  VSR_FN double dx() const { return job->grid.spacing[0]; }                           ///< distance of nodes along x
  VSR_FN double dy() const { return job->grid.spacing[1]; }                           ///< distance of nodes along y
  VSR_FN double dz() const { return job->grid.spacing[2]; }                           ///< distance of nodes along z
  VSR_FN int nodes(int axis) const { return job->grid.nodes[axis]; }                  ///< nodes along an axis

  /// Second differences, ∂²u/∂x² and so on; zero along an axis with one node.
  VSR_FN double dxx() const { return second(-1, 0, 0, 0); }
  VSR_FN double dyy() const { return second(0, -1, 0, 1); }  ///< ∂²u/∂y²
  VSR_FN double dzz() const { return second(0, 0, -1, 2); }  ///< ∂²u/∂z²

 private:
  VSR_FN double second(int di, int dj, int dk, int axis) const {
    const Derived& u = static_cast<const Derived&>(*this);
    const double here = u(0, 0, 0);
    return ((u(di, dj, dk) - here) + (u(-di, -dj, -dk) - here)) * job->grid.inverse_square[axis];
  }
};

namespace detail {

/// Whether a kernel is a source: it has no apply(). `Node` is any kind of node.
template <class Kernel, class Node>
concept GridStencilKernel = requires(const Node& u, const typename Kernel::Parameters& p) {
  Kernel::apply(u, p);
};
template <class Kernel>
concept GridSourceKernel = requires(double v, const typename Kernel::Parameters& p) {
  Kernel::source(v, v, v, v, v, p);
};

/// The value of a kernel at a node.
template <class Kernel, class Node>
VSR_FN double grid_value(const Node& u) {
  const auto& p = *reinterpret_cast<const typename Kernel::Parameters*>(u.job->parameters);
  if constexpr (GridSourceKernel<Kernel>)
    return Kernel::source(u.x(), u.y(), u.z(), u.time(), u(0, 0, 0), p);
  else
    return Kernel::apply(u, p);
}

/// The result of a job at a node, from the value of the kernel.
VSR_FN double combine(const GridJob& job, double value, double field, const double* out) {
  double result = job.factor * value;
  if (job.from_field != 0) result += job.from_field * field;
  if (job.keep != 0) result += job.keep * *out;
  return result;
}

}  // namespace detail

/// A node whose neighbours are found by the rules of the sides: across a periodic side at the other end of the line,
/// across a side with a slope by the mirror image, u₋₁ = u₁ + 2 h · slope. Used by devices, and at the borders.
struct SearchedNode : GridNode<SearchedNode> {
  /// The value at an offset of −1, 0 or 1 along each axis.
  VSR_FN double operator()(int di = 0, int dj = 0, int dk = 0) const {
    double more = 0;
    const int x = neighbour(0, i, di, more), y = neighbour(1, j, dj, more), z = neighbour(2, k, dk, more);
    return job->fields[0][entry(x, y, z)] + more;
  }
  /// Field f at the node itself.
  VSR_FN double other(int f) const { return job->fields[f][entry(i, j, k)]; }

  /// Where a node of the whole grid is in the device's vectors: an own plane, or the one before or after these.
  VSR_FN long long entry(int x, int y, int z) const {
    const GridView& g = job->grid;
    const int p = g.split_axis == 2 ? z : g.split_axis == 1 ? y : x;
    const long long in_plane = g.split_axis == 2   ? x + static_cast<long long>(g.nodes[0]) * y
                               : g.split_axis == 1 ? x
                                                   : 0;
    const int own = p - g.first_plane;
    if (own >= 0 && own < g.plane_count) return own * g.plane_nodes + in_plane;
    const int total = g.nodes[g.split_axis];
    const bool is_below = p == g.first_plane - 1 || (g.first_plane == 0 && p == total - 1);
    return (is_below ? g.below : g.above) + in_plane;
  }

 private:
  /// The node along an axis at an offset; what a slope adds to its value is added to `more`.
  VSR_FN int neighbour(int axis, int at, int offset, double& more) const {
    const GridView& g = job->grid;
    const int n = g.nodes[axis], to = at + offset;
    if (offset == 0 || n == 1) return at;
    if (to >= 0 && to < n) return to;
    const int side = 2 * axis + (to < 0 ? 0 : 1);
    if (g.side[side].kind == GridSideKind::periodic) return to < 0 ? n - 1 : 0;
    if (g.side[side].kind == GridSideKind::slope) more += 2 * g.spacing[axis] * value_on_side(g, side, i, j, k);
    return at - offset;
  }
};

}  // namespace voussoir
