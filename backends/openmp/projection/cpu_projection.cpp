#include <voussoir/backends/openmp/projection/cpu_projection.hpp>

#include <algorithm>
#include <functional>
#include <optional>

#include <voussoir/backends/detail/projection_parts.hpp>
#include <voussoir/backends/detail/upper_triangle.hpp>
#include <voussoir/backends/openmp/cpu_backend.hpp>
#include <voussoir/backends/openmp/dependencies.hpp>
#include <voussoir/backends/openmp/element_operator.hpp>
#include <voussoir/backends/openmp/exchange.hpp>
#include <voussoir/backends/openmp/parallel.hpp>
#include <voussoir/backends/openmp/projection/row_products.hpp>
#include <voussoir/backends/openmp/sparse_matrix.hpp>
#include <voussoir/backends/openmp/symmetric_matrix.hpp>

// K* = Σ XₑᵀLₑXₑ element by element, and S + Sᵀ with S = Σᵢ xᵢᵀ (½ Kᵢᵢ xᵢ + Σ Kᵢⱼ xⱼ, j > i) from half a matrix.

namespace voussoir::cpu {

namespace {

/// Pieces that a sum is cut into, at most. Their number follows from the length alone, and so does the order of
/// additions.
constexpr std::int64_t most_pieces = 128;

/// result += the sums of work(begin, end, RowProducts) over pieces of 0 … count, each a multiple of `unit` long but
/// the last.
void sum_pieces(std::int64_t count, std::int64_t unit, int columns, bool upper, int threads, double* result,
                const std::function<void(std::int64_t, std::int64_t, RowProducts&)>& work) {
  if (count == 0) return;
  const std::int64_t units = (count + unit - 1) / unit, piece = (units + most_pieces - 1) / most_pieces * unit,
                     pieces = (count + piece - 1) / piece;
  const auto entries = static_cast<std::size_t>(columns) * static_cast<std::size_t>(columns);
  std::vector<double> sums(static_cast<std::size_t>(pieces) * entries, 0.0);
  ExceptionKeeper keeper;
#pragma omp parallel num_threads(threads) if (pieces > 1)
  {
    std::optional<RowProducts> products;  // of this thread
#pragma omp for schedule(dynamic)
    for (std::int64_t p = 0; p < pieces; ++p)
      keeper.guard([&] {
        if (!products) products.emplace(columns, upper);
        work(p * piece, std::min(count, (p + 1) * piece), *products);
        products->finish(sums.data() + static_cast<std::size_t>(p) * entries);
      });
  }
  keeper.rethrow();
  for (std::int64_t p = 0; p < pieces; ++p)
    for (std::size_t k = 0; k < entries; ++k) result[k] += sums[static_cast<std::size_t>(p) * entries + k];
}

/// Element matrices and what belongs to them, as plain arrays, inside a section.
struct StoredElements {
  const double* matrices = nullptr;  ///< [group][entry][lane], upper triangles
  int lanes = 1;
  std::int64_t count = 0;
  const std::int32_t* number = nullptr;  ///< local number of each element, −1: it does not count; null: its own
  int nodes = 0, dofs = 0;
  const std::int32_t* node = nullptr;  ///< of local elements
  detail::ElementEquations equations;
  const std::uint8_t* constrained = nullptr;  ///< equations whose x counts as zero; null: none
  const double* x = nullptr;
};

/// The whole matrix of an element from its triangle, whose numbers are `step` apart.
void take_whole(const double* triangle, int step, int dofs, double* whole) {
  for (int r = 0; r < dofs; ++r)
    for (int s = r; s < dofs; ++s, triangle += step)
      whole[r * dofs + s] = whole[static_cast<std::ptrdiff_t>(s) * dofs + r] = *triangle;
}

void project_elements(const StoredElements& e, int columns, int threads, double* result) {
  const int components = e.equations.components;
  const auto entries = static_cast<std::int64_t>(e.dofs) * (e.dofs + 1) / 2;
  sum_pieces(e.count, e.lanes, columns, true, threads, result,
             [&](std::int64_t begin, std::int64_t end, RowProducts& products) {
               thread_local std::vector<double> whole;
               whole.resize(static_cast<std::size_t>(e.dofs) * static_cast<std::size_t>(e.dofs));
               for (std::int64_t k = begin; k < end; ++k) {
                 const std::int64_t own = e.number ? e.number[k] : k;
                 if (own < 0) continue;
                 products.open(e.dofs);
                 double* row = products.x();
                 for (int a = 0; a < e.nodes; ++a)
                   for (int c = 0; c < components; ++c, row += products.stride()) {
                     const std::int32_t equation = e.equations.of(e.node[own * e.nodes + a], c);
                     if (e.constrained && e.constrained[equation])
                       std::fill_n(row, columns, 0.0);
                     else
                       std::copy_n(e.x + static_cast<std::ptrdiff_t>(equation) * columns, columns, row);
                   }
                 take_whole(e.matrices + k / e.lanes * entries * e.lanes + k % e.lanes, e.lanes, e.dofs, whole.data());
                 multiply_rows(whole.data(), e.dofs, products.x(), products.stride(), products.y());
                 products.close(e.dofs);
               }
             });
}

/// Eight columns as one, or one alone.
inline void load(const double* p, WideColumns& value) { value = wide_at(p); }
inline void load(const double* p, double& value) { value = *p; }
inline void store(double* p, WideColumns value) { set_wide(p, value); }
inline void store(double* p, double value) { *p = value; }

/// Some columns of ½ Kᵢᵢ xᵢ + Σ Kᵢⱼ xⱼ over the stored blocks of a row. Of those in columns of other devices, both
/// devices have one, and each counts it half.
template <int B, class Unit>
void half_row(const SymmetricView& view, std::int32_t row, const double* x, int columns, int stride, double* z) {
  const std::int64_t first = view.half.rows.row_start[row], last = view.half.rows.row_start[row + 1];
  Unit sum[B] = {};
  for (std::int64_t k = first; k < last; ++k) {
    const std::int32_t column = view.column(row, k);
    const double weight = k == first || column >= view.rows ? 0.5 : 1.0;
    const double* a = view.half.rows.value + k * (B * B);
    const double* from = x + static_cast<std::ptrdiff_t>(column) * B * columns;
#pragma GCC unroll 6
    for (int j = 0; j < B; ++j) {
      Unit in;
      load(from + static_cast<std::ptrdiff_t>(j) * columns, in);
      in *= weight;
#pragma GCC unroll 6
      for (int i = 0; i < B; ++i) sum[i] += a[i * B + j] * in;
    }
  }
#pragma GCC unroll 6
  for (int i = 0; i < B; ++i) store(z + static_cast<std::ptrdiff_t>(i) * stride, sum[i]);
}

template <int B>
void half_rows(const SymmetricView& view, std::int64_t begin, std::int64_t end, const double* x,
               RowProducts& products) {
  const int columns = products.columns(), stride = products.stride();
  for (auto row = static_cast<std::int32_t>(begin); row < static_cast<std::int32_t>(end); ++row) {
    products.open(B);
    for (int i = 0; i < B; ++i)
      std::copy_n(x + (static_cast<std::ptrdiff_t>(row) * B + i) * columns, columns, products.x() + i * stride);
    double* z = products.y();
    // The last tile may repeat columns of the one before it, with the same result.
    for (int c = 0; columns >= column_tile && c < columns; c += column_tile) {
      const int at = std::min(c, columns - column_tile);
      half_row<B, WideColumns>(view, row, x + at, columns, stride, z + at);
    }
    for (int c = 0; columns < column_tile && c < columns; ++c)
      half_row<B, double>(view, row, x + c, columns, stride, z + c);
    products.close(B);
  }
}

void half_rows(const SymmetricView& view, std::int64_t begin, std::int64_t end, const double* x,
               RowProducts& products) {
  switch (view.half.rows.block_size) {
    case 1:
      return half_rows<1>(view, begin, end, x, products);
    case 2:
      return half_rows<2>(view, begin, end, x, products);
    case 3:
      return half_rows<3>(view, begin, end, x, products);
    case 4:
      return half_rows<4>(view, begin, end, x, products);
    case 5:
      return half_rows<5>(view, begin, end, x, products);
    default:
      return half_rows<6>(view, begin, end, x, products);
  }
}

class CpuProjection final : public ProjectionServices {
 public:
  explicit CpuProjection(CpuBackend& backend) : backend_(backend) {}

  void project(const Operator& a, const Vector& x, std::span<double> result) override;
  void project(const DeviceModel& model, ElementMatrixSource& source, const Vector& x,
               std::span<double> result) override;

 private:
  void project_half(const CpuSymmetricMatrix& matrix, const Vector& x, std::span<double> result) const;
  void project_stored(const CpuElementOperator& matrix, const Vector& x, std::span<double> result) const;
  void project_batch(const CpuElementOperator& matrix, int device, int batch, bool constrained, const double* x,
                     int columns, double* result) const;
  /// Where an operator on free equations has a unit diagonal.
  void add_constrained(const DeviceModel& model, int device, const double* x, int columns, double* result) const;
  int threads() const { return backend_.threads(); }

  CpuBackend& backend_;
};

/// Whether a matrix of the backend is symmetric for sure.
bool is_symmetric(const Operator& a) {
  if (const auto* elements = dynamic_cast<const CpuElementOperator*>(&a)) return elements->model()->symmetric();
  return false;
}

void CpuProjection::project(const Operator& a, const Vector& x, std::span<double> result) {
  detail::require_projection(backend_, *a.layout(), x, result);
  if (const auto* half = dynamic_cast<const CpuSymmetricMatrix*>(&a)) return project_half(*half, x, result);
  if (const auto* elements = dynamic_cast<const CpuElementOperator*>(&a); elements && elements->is_stored_symmetric())
    return project_stored(*elements, x, result);
  Vector y(x.layout(), x.columns());
  a.apply(x, y);
  backend_.block_dot(x, y, result);
  if (is_symmetric(a)) detail::add_transpose(result, x.columns(), 0.5);
}

void CpuProjection::project_half(const CpuSymmetricMatrix& matrix, const Vector& x, std::span<double> result) const {
  exchange_ghosts(x);
  std::fill(result.begin(), result.end(), 0.0);
  for (int d = 0; d < backend_.devices(); ++d) {
    DeviceSection section(*backend_.memory(d));
    const SymmetricView view = matrix.part(d).view(matrix.block_size());
    const double* px = x.part(d).read_device();
    sum_pieces(view.rows, 16, x.columns(), false, threads(), result.data(),
               [&](std::int64_t begin, std::int64_t end, RowProducts& products) {
                 half_rows(view, begin, end, px, products);
               });
  }
  detail::add_transpose(result, x.columns(), 1.0);
}

void CpuProjection::project_batch(const CpuElementOperator& matrix, int device, int batch, bool constrained,
                                  const double* x, int columns, double* result) const {
  const DeviceModel& model = *matrix.model();
  const DeviceModel::Part& part = model.part(device);
  const ElementBatch& elements = part.batches[static_cast<std::size_t>(batch)];
  const std::vector<std::int32_t> numbers = detail::counted_elements(model, device, batch);
  StoredElements stored;
  stored.matrices = matrix.stored_matrices(device, batch).read_device();
  stored.lanes = elements.program->lanes();
  stored.count = elements.element_count;
  stored.number = numbers.empty() ? nullptr : numbers.data();
  stored.nodes = elements.program->nodes();
  stored.dofs = elements.program->dofs();
  stored.node = elements.nodes.read_device();
  stored.equations = element_equations(part, batch);
  stored.constrained = constrained ? part.constrained.read_device() : nullptr;
  stored.x = x;
  project_elements(stored, columns, threads(), result);
}

void CpuProjection::add_constrained(const DeviceModel& model, int device, const double* x, int columns,
                                    double* result) const {
  const std::uint8_t* constrained = model.part(device).constrained.read_device();
  sum_pieces(model.layout()->owned(device), 64, columns, true, threads(), result,
             [&](std::int64_t begin, std::int64_t end, RowProducts& products) {
               for (std::int64_t i = begin; i < end; ++i) {
                 if (!constrained[i]) continue;
                 products.open(1);
                 std::copy_n(x + i * columns, columns, products.x());
                 std::copy_n(x + i * columns, columns, products.y());
                 products.close(1);
               }
             });
}

void CpuProjection::project_stored(const CpuElementOperator& matrix, const Vector& x, std::span<double> result) const {
  const DeviceModel& model = *matrix.model();
  const int columns = x.columns();
  const bool free_only = matrix.equations() == OperatorEquations::free;
  exchange_ghosts(x);
  std::fill(result.begin(), result.end(), 0.0);
  for (int d = 0; d < model.devices(); ++d) {
    // Dependent equations follow the others, so that raw matrices are projected.
    const bool depends = free_only && !model.part(d).dependencies.empty();
    Array<double> expanded;
    if (depends) expanded = x.part(d).clone();
    DeviceSection section(*backend_.memory(d));
    const double* px = x.part(d).read_device();
    const double* from = px;
    if (depends) {
      double* inner = expanded.update_device();
      const std::uint8_t* constrained = model.part(d).constrained.read_device();
      for (std::int32_t i = 0; i < model.layout()->local_size(d); ++i)
        if (constrained[i]) std::fill_n(inner + static_cast<std::ptrdiff_t>(i) * columns, columns, 0.0);
      set_dependent(model, d, true, inner, columns);
      from = inner;
    }
    for (int b = 0; b < model.batch_count(); ++b)
      if (!matrix.stored_matrices(d, b).empty())
        project_batch(matrix, d, b, free_only && !depends, from, columns, result.data());
    if (free_only) add_constrained(model, d, px, columns, result.data());
  }
  detail::mirror_upper(result, columns);
}

void CpuProjection::project(const DeviceModel& model, ElementMatrixSource& source, const Vector& x,
                            std::span<double> result) {
  detail::require_projection(backend_, *model.layout(), x, result);
  exchange_ghosts(x);
  std::fill(result.begin(), result.end(), 0.0);
  const auto devices = static_cast<std::size_t>(model.devices());
  const auto batches = static_cast<std::size_t>(model.batch_count());
  std::vector<std::vector<std::int32_t>> numbers(devices * batches);
  for (std::size_t k = 0; k < numbers.size(); ++k)
    numbers[k] = detail::counted_by_description(model, static_cast<int>(k / batches), static_cast<int>(k % batches));
  // Shares of devices are added in the order of devices, as those of operators are.
  std::vector<std::vector<double>> shares(devices, std::vector<double>(result.size(), 0.0));
  detail::GroupCheck check(model);
  source.rewind();
  for (ElementMatrixGroup group; source.next(group);) {
    check.take(group);
    for (std::size_t d = 0; d < devices; ++d) {
      const int device = static_cast<int>(d);
      const DeviceModel::Part& part = model.part(device);
      const ElementBatch& elements = part.batches[static_cast<std::size_t>(group.batch)];
      std::vector<std::int32_t>& known = numbers[d * batches + static_cast<std::size_t>(group.batch)];
      if (known.empty()) {  // the same numbers: counted from the first element of a group on
        known.resize(static_cast<std::size_t>(elements.element_count));
        for (std::size_t e = 0; e < known.size(); ++e) known[e] = static_cast<std::int32_t>(e);
      }
      const auto& memory = backend_.memory(device);
      Array<double> copy;
      if (!memory->shares_host_memory()) {
        const std::int64_t blocks = (std::int64_t{group.count} + element_matrix_lanes - 1) / element_matrix_lanes;
        copy = Array<double>(memory, static_cast<std::size_t>(blocks * element_matrix_lanes * group.entries));
        std::copy_n(group.values, copy.size(), copy.write_host().begin());
      }
      DeviceSection section(*memory);
      StoredElements stored;
      stored.matrices = copy.empty() ? group.values : copy.read_device();
      stored.lanes = element_matrix_lanes;
      stored.count = group.count;
      stored.number = known.data() + group.first;
      stored.nodes = elements.program->nodes();
      stored.dofs = elements.program->dofs();
      stored.node = elements.nodes.empty() ? nullptr : elements.nodes.read_device();
      stored.equations = element_equations(part, group.batch);
      stored.x = x.part(device).read_device();
      project_elements(stored, x.columns(), threads(), shares[d].data());
    }
  }
  check.finish();
  for (const std::vector<double>& share : shares)
    for (std::size_t k = 0; k < result.size(); ++k) result[k] += share[k];
  detail::mirror_upper(result, x.columns());
}

}  // namespace

std::unique_ptr<ProjectionServices> make_projection(CpuBackend& backend) {
  return std::make_unique<CpuProjection>(backend);
}

}  // namespace voussoir::cpu
