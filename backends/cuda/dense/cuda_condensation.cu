#include <voussoir/backends/cuda/dense/cuda_condensation.hpp>

#include <algorithm>
#include <functional>

#include <voussoir/backends/cuda/cuda_backend.hpp>
#include <voussoir/backends/cuda/dense/batched_product.hpp>
#include <voussoir/backends/cuda/dense/cuda_dense_blocks.hpp>
#include <voussoir/backends/cuda/dense/front_kernels.hpp>
#include <voussoir/backends/cuda/dense/front_solves.hpp>
#include <voussoir/backends/detail/condensed_parts.hpp>
#include <voussoir/backends/detail/dense_block_rows.hpp>

// LDLᵀ of the first columns of all fronts of a group at the same time, 64 columns in a step. Four steps update only the
// columns of these steps; then the product of 256 columns updates the rest, so that numbers of the rest are read and
// written once for 512 operations. The rest is updated in stripes of columns, from the diagonal down.

namespace voussoir::cuda {
namespace {

using voussoir::detail::DenseBlockPlace;
using voussoir::detail::DenseBlockRows;
using voussoir::detail::GroupEntries;
using voussoir::detail::PartGroup;

static_assert(front_block == PartGroup::block);
constexpr std::int64_t panel = 256;   // columns that are eliminated before the rest is updated
constexpr std::int64_t stripe = 256;  // columns of the rest that a product updates

// The rule of is_preferred(): on an H200, dense interiors of up to 14 739 unknowns were eliminated 3 to 6 times as fast
// as sparse ones by 16 threads of its host (docs/decomposition.md). Larger ones mainly take memory, and GPUs with slow
// double precision would fall behind. Few operations are done by the host before kernels have been launched.
constexpr std::int32_t most_interior = 16384;
constexpr double least_flops = 1e8;
constexpr double memory_share = 0.5;  // of the free memory that may be used

class CudaCondensedParts final : public voussoir::detail::CondensedGroups {
 public:
  using CondensedGroups::CondensedGroups;
  /// To be called once, after the elimination.
  void list_factors();

  std::unique_ptr<Operator> make_block_sum(std::shared_ptr<const Layout> layout,
                                           std::span<const std::vector<std::int32_t>> equations) const override;

 private:
  void eliminate(PartGroup& group, const GroupEntries& entries) const override;
  void forwards(int device, Array<double>& vectors, int columns, bool interior_only) const override;
  void backwards(int device, Array<double>& vectors, int columns) const override;
  std::vector<double> copy_complement(const PartGroup& group, std::size_t member, std::int32_t size) const override;

  /// The parts of a device that have an interior, by descending size of it.
  struct DeviceFactors {
    Array<FactorView> view;
    std::vector<std::int64_t> interior;         // of each part
    std::int64_t interiors = 0, most_rows = 0;  // the sum of these, and the rows of the highest part

    /// The number of parts with interior unknowns from row k on: the first ones.
    std::int64_t parts_beyond(std::int64_t k) const {
      return std::partition_point(interior.begin(), interior.end(), [&](std::int64_t n) { return n > k; }) -
             interior.begin();
    }
  };
  template <int most>
  static void launch_forwards(const DeviceFactors& factors, const VectorView& vectors, bool interior_only,
                              cudaStream_t stream);
  template <int most>
  static void launch_backwards(const DeviceFactors& factors, const VectorView& vectors, cudaStream_t stream);
  /// Calls solve() with an array for the solution, and copies that over the right-hand sides.
  void substitute(int device, Array<double>& vectors, int columns,
                  const std::function<void(const DeviceFactors&, const VectorView&, cudaStream_t)>& solve) const;
  void eliminate_panel(const FrontView& view, const BatchedProducts& products, const BatchedMatrix& scaled,
                       std::int64_t first, std::int64_t end, cudaStream_t stream) const;

  std::vector<DeviceFactors> factors_;
};

/// Copies pieces of the front of a group to a target, by lists of where they begin.
void copy_listed(const PartGroup& group, const std::shared_ptr<DeviceMemory>& memory,
                 const std::vector<std::int64_t>& from, const std::vector<std::int64_t>& to,
                 const std::vector<std::int32_t>& length, double* target) {
  const Array<std::int64_t> from_there(memory, std::span<const std::int64_t>(from)),
      to_there(memory, std::span<const std::int64_t>(to));
  const Array<std::int32_t> length_there(memory, std::span<const std::int32_t>(length));
  const auto pieces = static_cast<std::int64_t>(from.size());
  if (pieces > 0)
    launch(copy_pieces, grid_for(32 * pieces, front_threads), stream_of(memory), pieces, group.front.read_device(),
           from_there.read_device(), to_there.read_device(), length_there.read_device(), target);
}

BatchedMatrix block_of(const FrontView& view, std::int64_t row, std::int64_t column) {
  return {view.front + column * view.height + row, view.height, view.height * view.height};
}

void CudaCondensedParts::eliminate_panel(const FrontView& view, const BatchedProducts& products,
                                         const BatchedMatrix& scaled, std::int64_t first, std::int64_t end,
                                         cudaStream_t stream) const {
  const std::int64_t n = view.height;
  for (std::int64_t k = first; k < end; k += front_block) {
    launch(factorise_diagonals, Grid{view.count, front_threads, 0}, stream, view, k);
    const std::int64_t next = k + front_block;
    if (next == n) break;
    const BatchedMatrix own{scaled.first + (k - first) * n, n, scaled.apart};
    const BatchedMatrix inverse{view.inverse + k * front_block, front_block, view.interior * front_block};
    const BatchedMatrix below{own.first + next, n, scaled.apart};
    products.multiply(BatchedProducts::To::set, below, block_of(view, next, k), inverse, n - next, front_block,
                      front_block, view.count);
    const std::int64_t chunks = (n - next + front_threads - 1) / front_threads;
    launch(divide_panels, Grid{view.count * chunks * (front_block / 8), front_threads, 0}, stream, view, k, own.first,
           scaled.apart);
    products.multiply(BatchedProducts::To::subtract, block_of(view, next, next), below, block_of(view, next, k),
                      n - next, end - next, front_block, view.count);
  }
}

void CudaCondensedParts::eliminate(PartGroup& group, const GroupEntries& entries) const {
  const auto& memory = backend().memory(group.device);
  const cudaStream_t stream = stream_of(memory);
  const BatchedProducts products(memory);
  Array<double> work(
      memory, static_cast<std::size_t>(group.count() * group.height() * std::min<std::int64_t>(panel, group.interior)));
  const DeviceSection section(*memory);
  const FrontView view{group.count(),
                       group.height(),
                       group.interior,
                       group.front.write_device(),
                       group.inverse.write_device(),
                       group.pivot.write_device()};
  const EntryView from{entries.most_rows,
                       entries.interior.read_device(),
                       entries.first_row.read_device(),
                       entries.row_start.read_device(),
                       entries.column.read_device(),
                       entries.value.read_device()};
  const std::int64_t n = view.height;
  fill_bytes_async(view.front, 0, group.front.bytes(), stream);
  launch(spread_entries, grid_for(32 * view.count * from.most_rows, front_threads), stream, view, from);
  if (view.interior > 0) {
    launch(pad_interiors, grid_for(view.count * view.interior, front_threads), stream, view, from);
    const std::int64_t width = std::min<std::int64_t>(panel, view.interior);
    const BatchedMatrix scaled{work.write_device(), n, n * width};
    for (std::int64_t first = 0; first < view.interior; first += panel) {
      const std::int64_t end = std::min<std::int64_t>(first + panel, view.interior);
      eliminate_panel(view, products, scaled, first, end, stream);
      for (std::int64_t c = end; c < n; c += stripe)
        products.multiply(BatchedProducts::To::subtract, block_of(view, c, c), {scaled.first + c, n, scaled.apart},
                          block_of(view, c, first), n - c, std::min(stripe, n - c), end - first, view.count);
    }
  }
  const std::int64_t tiles = (n - view.interior) / 32;
  launch(mirror_complements, Grid{view.count * tiles * tiles, front_threads, 0}, stream, view);
}

void CudaCondensedParts::list_factors() {
  std::vector<std::vector<FactorView>> lists(static_cast<std::size_t>(backend().devices()));
  for (const PartGroup& group : groups()) {
    if (group.interior == 0) continue;
    const DeviceSection section(*backend().memory(group.device));
    const std::int64_t n = group.height(), interior = group.interior;
    for (std::int64_t m = 0; m < group.count(); ++m)
      lists[static_cast<std::size_t>(group.device)].push_back(
          {n, interior, group.first_row + m * n, 0, group.front.read_device() + m * n * n,
           group.inverse.read_device() + m * interior * front_block, group.pivot.read_device() + m * interior});
  }
  for (std::size_t d = 0; d < lists.size(); ++d) {
    std::vector<FactorView>& list = lists[d];
    std::stable_sort(list.begin(), list.end(),
                     [](const FactorView& a, const FactorView& b) { return a.interior > b.interior; });
    DeviceFactors& own = factors_.emplace_back();
    for (FactorView& part : list) {
      part.first_solved = own.interiors;
      own.interiors += part.interior;
      own.interior.push_back(part.interior);
      own.most_rows = std::max(own.most_rows, part.height);
    }
    own.view = Array<FactorView>(backend().memory(static_cast<int>(d)), std::span<const FactorView>(list));
  }
}

/// Thread blocks for so many shares of the columns that are solved together, of the first parts.
template <int most>
Grid solve_grid(std::int64_t parts, int columns, std::int64_t shares) {
  return {parts * ((columns + most - 1) / most) * shares, vector_threads, 0};
}

std::int64_t shares_of(std::int64_t rows, std::int64_t at_once) {
  return std::max<std::int64_t>(1, (rows + at_once - 1) / at_once);
}

template <int most>
void CudaCondensedParts::launch_forwards(const DeviceFactors& factors, const VectorView& vectors, bool interior_only,
                                         cudaStream_t stream) {
  const std::int64_t rows = interior_only ? factors.interior.front() : factors.most_rows;
  for (std::int64_t k = 0; k < factors.interior.front(); k += front_block) {
    const std::int64_t shares = shares_of(rows - k - front_block, vector_threads);
    launch(step_forwards<most>, solve_grid<most>(factors.parts_beyond(k), vectors.columns, shares), stream, vectors, k,
           interior_only, shares);
  }
}

template <int most>
void CudaCondensedParts::launch_backwards(const DeviceFactors& factors, const VectorView& vectors,
                                          cudaStream_t stream) {
  const std::int64_t begin_shares = shares_of(factors.interior.front(), vector_threads / 32 * 4);
  launch(begin_backwards<most>, solve_grid<most>(factors.parts_beyond(0), vectors.columns, begin_shares), stream,
         vectors, begin_shares);
  for (std::int64_t k = factors.interior.front() - front_block; k >= 0; k -= front_block) {
    const std::int64_t shares = shares_of(k, step_columns);
    launch(step_backwards<most>, solve_grid<most>(factors.parts_beyond(k), vectors.columns, shares), stream, vectors, k,
           shares);
  }
}

void CudaCondensedParts::substitute(
    int device, Array<double>& vectors, int columns,
    const std::function<void(const DeviceFactors&, const VectorView&, cudaStream_t)>& solve) const {
  const DeviceFactors& factors = factors_[static_cast<std::size_t>(device)];
  if (factors.interiors == 0) return;
  const auto& memory = backend().memory(device);
  Array<double> solved(memory, static_cast<std::size_t>(factors.interiors * columns));
  const DeviceSection section(*memory);
  const VectorView view{factors.view.read_device(), vectors.update_device(), solved.write_device(), columns};
  solve(factors, view, stream_of(memory));
  const std::int64_t shares = shares_of(factors.interior.front(), vector_threads);
  launch(place_solved, solve_grid<1>(factors.parts_beyond(0), columns, shares), stream_of(memory), view, shares);
}

void CudaCondensedParts::forwards(int device, Array<double>& vectors, int columns, bool interior_only) const {
  substitute(device, vectors, columns, [&](const DeviceFactors& factors, const VectorView& own, cudaStream_t stream) {
    if (columns == 1)
      launch_forwards<1>(factors, own, interior_only, stream);
    else
      launch_forwards<vector_columns>(factors, own, interior_only, stream);
  });
}

void CudaCondensedParts::backwards(int device, Array<double>& vectors, int columns) const {
  substitute(device, vectors, columns, [&](const DeviceFactors& factors, const VectorView& own, cudaStream_t stream) {
    if (columns == 1)
      launch_backwards<1>(factors, own, stream);
    else
      launch_backwards<vector_columns>(factors, own, stream);
  });
}

std::vector<double> CudaCondensedParts::copy_complement(const PartGroup& group, std::size_t member,
                                                        std::int32_t size) const {
  const auto& memory = backend().memory(group.device);
  const std::int64_t n = group.height(), start = static_cast<std::int64_t>(member) * n * n + group.interior * (n + 1);
  std::vector<std::int64_t> from, to;
  for (std::int64_t j = 0; j < size; ++j) {
    from.push_back(start + j * n);
    to.push_back(j * size);
  }
  Array<double> dense(memory, static_cast<std::size_t>(size) * static_cast<std::size_t>(size));
  {
    const DeviceSection section(*memory);
    copy_listed(group, memory, from, to, std::vector<std::int32_t>(from.size(), size), dense.write_device());
  }
  const auto values = dense.read_host();
  return {values.begin(), values.end()};
}

std::unique_ptr<Operator> CudaCondensedParts::make_block_sum(
    std::shared_ptr<const Layout> layout, std::span<const std::vector<std::int32_t>> equations) const {
  // With one device, the rows read the complements where they are.
  if (layout->devices() != 1 || backend().devices() != 1)
    return CondensedGroups::make_block_sum(std::move(layout), equations);
  require_blocks(equations);
  std::vector<std::vector<DenseBlockPlace>> places;
  std::vector<DenseBlockRows> rows = voussoir::detail::dense_block_rows(*layout, equations, places);
  struct List {
    std::vector<std::int64_t> from, to;
    std::vector<std::int32_t> length;
  };
  std::vector<List> lists(groups().size());
  std::int64_t next = 0;
  for (const DenseBlockPlace& row : places[0]) {
    const Place& at = place(row.block);
    const PartGroup& group = groups()[at.group];
    const std::int64_t n = group.height();
    List& list = lists[at.group];
    list.from.push_back(static_cast<std::int64_t>(at.member) * n * n + (group.interior + row.row) * n + group.interior);
    list.to.push_back(next);
    list.length.push_back(at.boundary);
    next += at.boundary;
  }
  {
    const auto& memory = layout->memory(0);
    const DeviceSection section(*memory);
    double* const values = rows[0].value.write_device();
    for (std::size_t g = 0; g < lists.size(); ++g)
      copy_listed(groups()[g], memory, lists[g].from, lists[g].to, lists[g].length, values);
  }
  std::string description = voussoir::detail::describe_dense_blocks(equations, rows[0].bytes());
  return make_block_sum_of_rows(backend(), std::move(layout), std::move(rows), std::move(description));
}

class CudaCondensation final : public CondensationServices {
 public:
  std::unique_ptr<CondensedParts> condense(Backend& backend, std::span<const PartSystem> systems) override {
    auto made = std::make_unique<CudaCondensedParts>(backend, systems);
    made->eliminate_all(systems);
    made->list_factors();
    return made;
  }
  std::size_t bytes_needed(const Backend& backend, std::span<const std::int32_t> interior,
                           std::span<const std::int32_t> boundary) const override {
    const auto groups = voussoir::detail::group_parts(backend.devices(), interior, boundary);
    return voussoir::detail::group_bytes(groups, backend.devices(), panel);
  }
  bool is_preferred(const Backend& backend, std::span<const std::int32_t> interior,
                    std::span<const std::int32_t> boundary) const override {
    double flops = 0, complements = 0;
    for (std::size_t p = 0; p < interior.size(); ++p) {
      if (interior[p] > most_interior) return false;
      flops += voussoir::detail::condensation_flops(interior[p], boundary[p]);
      complements += 8.0 * boundary[p] * boundary[p];
    }
    // Logical devices have the memory of one GPU together.
    double room = 1e300;
    for (int d = 0; d < backend.devices(); ++d) {
      const CudaMemory& own = cuda_memory(backend.memory(d));
      double sharing = 0;
      for (int other = 0; other < backend.devices(); ++other)
        sharing += cuda_memory(backend.memory(other)).ordinal() == own.ordinal() ? 1 : 0;
      room = std::min(room, static_cast<double>(own.free()) / sharing);
    }
    return flops >= least_flops &&
           static_cast<double>(bytes_needed(backend, interior, boundary)) + complements <= memory_share * room;
  }
  std::vector<VendorCondensation> vendor_condensations(Backend& backend, std::span<const PartSystem> systems) override {
    return make_vendor_condensations(backend, systems);
  }
};

}  // namespace

CondensationServices& condensation_services() {
  static CudaCondensation services;
  return services;
}

}  // namespace voussoir::cuda
