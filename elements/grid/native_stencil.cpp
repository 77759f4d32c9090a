#include <voussoir/elements/grid/native_stencil.hpp>

#include <voussoir/framework/grid/grid_library.hpp>

namespace voussoir::detail {

GridRow::GridRow(const GridJob& job, int row) {
  const GridView& g = job.grid;
  nodes = g.split_axis == 0 ? g.plane_count : g.nodes[0];
  first_i = g.split_axis == 0 ? g.first_plane : 0;
  begin = static_cast<long long>(row) * nodes;
  j = g.split_axis == 1 ? g.first_plane + row : g.split_axis == 2 ? row % g.nodes[1] : 0;
  k = g.split_axis == 2 ? g.first_plane + row / g.nodes[1] : 0;
  const int at[3] = {0, j, k};
  plain = true;
  for (int a = 1; a < 3; ++a) {
    if (g.nodes[a] == 1) continue;
    for (int upper = 0; upper < 2; ++upper) {
      if (at[a] != (upper ? g.nodes[a] - 1 : 0)) continue;
      const GridSideKind kind = g.side[2 * a + upper].kind;
      prescribed = prescribed || kind == GridSideKind::prescribed;
      plain = plain && kind == GridSideKind::periodic;
    }
  }
  if (prescribed || !plain || nodes == 0) return;
  const SearchedNode from{{&job, first_i, j, k}};
  for (int dk = -1; dk <= 1; ++dk)
    for (int dj = -1; dj <= 1; ++dj) {
      const int ny = g.nodes[1], nz = g.nodes[2];
      const int y = ny == 1 ? 0 : (j + dj + ny) % ny, z = nz == 1 ? 0 : (k + dk + nz) % nz;
      // Where two axes leave the device at once only one of them is split, so that the plane is there.
      rows[3 * (dk + 1) + dj + 1] = job.fields[0] + from.entry(first_i, y, z);
    }
}

const KernelSource* GridKernelProgram::source() const { return GridLibrary::instance().find_source(*this); }

}  // namespace voussoir::detail
