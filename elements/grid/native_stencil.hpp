#pragma once
#include <voussoir/backends/grid_program.hpp>
#include <voussoir/elements/grid/neighbourhood.hpp>

#include <algorithm>
#include <string>
#include <type_traits>

namespace voussoir {

namespace detail {

/// A node of a row whose neighbours lie in nine rows around it, at the same place and next to it.
struct RowNode : GridNode<RowNode> {
  const double* const* rows;  ///< [dk + 1][dj + 1], of the first field
  long long local;            ///< entry of the node in vectors
  int at;                     ///< place in the row

  VSR_FN double operator()(int di = 0, int dj = 0, int dk = 0) const {
    return rows[3 * (dk + 1) + dj + 1][at + (job->grid.nodes[0] > 1 ? di : 0)];
  }
  VSR_FN double other(int f) const { return job->fields[f][local]; }
};

/// A row of a device's part of a grid: where it lies, and the rows around it.
struct GridRow {
  int j = 0, k = 0;            ///< in the whole grid
  int first_i = 0, nodes = 0;  ///< first node along x, and nodes that the device has
  long long begin = 0;         ///< entry of its first node in vectors
  bool prescribed = false;     ///< all of its nodes are prescribed
  bool plain = false;          ///< no neighbour of the row lies across a side with a slope
  const double* rows[9] = {};  ///< of a plain row: where the rows around it begin

  GridRow(const GridJob& job, int row);
};

/// The facts of a kernel's program that do not depend on its type.
class GridKernelProgram : public GridProgram {
 public:
  GridKernelProgram(std::string name, std::size_t parameter_bytes, bool reads_neighbours)
      : name_(std::move(name)), parameter_bytes_(parameter_bytes), reads_neighbours_(reads_neighbours) {}
  const std::string& name() const final { return name_; }
  std::size_t parameter_bytes() const final { return parameter_bytes_; }
  bool reads_neighbours() const final { return reads_neighbours_; }
  const KernelSource* source() const final;

 private:
  std::string name_;
  std::size_t parameter_bytes_;
  bool reads_neighbours_;
};

}  // namespace detail

/// The program of a grid kernel, compiled for the CPU.
template <class Kernel>
class NativeStencil final : public detail::GridKernelProgram {
  using Parameters = typename Kernel::Parameters;
  static_assert(std::is_trivially_copyable_v<Parameters> && sizeof(Parameters) <= grid_parameter_bytes &&
                    alignof(Parameters) <= 16,
                "Parameters of a grid kernel are plain numbers, 256 bytes at most");

 public:
  /// The program of a kernel under a name.
  explicit NativeStencil(std::string name)
      : GridKernelProgram(std::move(name), sizeof(Parameters), !detail::GridSourceKernel<Kernel>) {}

  void run_row(const GridJob& job, int row, int begin, int end) const override {
    const detail::GridRow place(job, row);
    double* out = job.out + place.begin;
    const double* field = job.fields[0] + place.begin;
    if (place.prescribed) {
      for (int m = begin; m < end; ++m) out[m] = detail::combine(job, 0, field[m], out + m);
      return;
    }
    // Nodes at the ends of the line, or of the device's part of it, search for their neighbours.
    const int last = job.grid.nodes[0] - 1;
    int from = begin, to = begin;
    if (place.plain) {
      from = std::max(begin, 1);
      to = std::max(from, std::min(end, place.nodes - 1));
    }
    for (int m = begin; m < std::min(from, end); ++m) search(job, place, m, last, field, out);
    detail::RowNode u{{&job, 0, place.j, place.k}, place.rows, 0, 0};
    for (int m = from; m < to; ++m) {
      u.i = place.first_i + m;
      u.at = m;
      u.local = place.begin + m;
      out[m] = detail::combine(job, detail::grid_value<Kernel>(u), field[m], out + m);
    }
    for (int m = std::max(to, begin); m < end; ++m)
      if (m >= from) search(job, place, m, last, field, out);
  }

 private:
  static void search(const GridJob& job, const detail::GridRow& row, int m, int last, const double* field,
                     double* out) {
    const SearchedNode u{{&job, row.first_i + m, row.j, row.k}};
    const bool end = (u.i == 0 && job.grid.side[0].kind == GridSideKind::prescribed) ||
                     (u.i == last && job.grid.side[1].kind == GridSideKind::prescribed);
    out[m] = detail::combine(job, end ? 0.0 : detail::grid_value<Kernel>(u), field[m], out + m);
  }
};

}  // namespace voussoir
