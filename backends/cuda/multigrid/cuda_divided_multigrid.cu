#include <voussoir/backends/cuda/multigrid/cuda_divided_multigrid.hpp>

#include <voussoir/backends/cuda/multigrid/block_rows.hpp>
#include <voussoir/backends/cuda/multigrid/divided_rows.hpp>
#include <voussoir/backends/cuda/multigrid/node_rows.hpp>
#include <voussoir/backends/cuda/multigrid/services.hpp>

// Multigrid divided over several logical devices: each has services of its own, on its stream.

namespace voussoir::cuda {

namespace {

const CudaSparseMatrix& own_matrix_of(const SparseMatrix& matrix) {
  const auto* own = dynamic_cast<const CudaSparseMatrix*>(&matrix);
  if (!own) throw Error(ErrorCode::misuse, "multigrid: the matrix was not made by this backend");
  return *own;
}

/// Whether the columns of a device's rows ascend by their local numbers, as those of assembled matrices do. In a matrix
/// that was given by its rows they have the order of the equations.
bool is_in_order(const CudaSparseMatrix& matrix, int device) { return matrix.part(device).plan != nullptr; }

/// The pattern of a device's rows; columns have local numbers.
BlockRowPattern local_pattern(const CudaSparseMatrix& matrix, int device) {
  const Layout& layout = *matrix.layout();
  const auto& memory = layout.memory(device);
  DeviceSection section(*memory);
  if (is_in_order(matrix, device)) return list_block_rows(matrix, device, {});
  const std::int32_t own = layout.owned(device) / matrix.block_size();
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(layout.ghosts(device) / matrix.block_size()));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = own + static_cast<std::int32_t>(i);
  if (numbers.empty()) numbers.push_back(own);  // never read
  const Array<std::int32_t> others(memory, std::span<const std::int32_t>(numbers));
  return list_block_rows(matrix, device, {own, 0, others.read_device()});
}

class CudaDividedMultigrid final : public DividedMultigrid {
 public:
  explicit CudaDividedMultigrid(const std::vector<std::shared_ptr<DeviceMemory>>& memories) : memories_(memories) {
    for (const auto& memory : memories)
      services_.push_back(std::make_unique<CudaMultigrid>(std::vector<std::shared_ptr<DeviceMemory>>{memory}));
  }

  MultigridServices& on(int device) override {
    if (device < 0 || device >= static_cast<int>(services_.size()))
      throw Error(ErrorCode::misuse, "multigrid: there is no device " + std::to_string(device));
    return *services_[static_cast<std::size_t>(device)];
  }
  bool devices_at_once() const override { return true; }
  /// Matrices by nodes; those by equations are gathered.
  bool divides(const DeviceModel& model, const SparseMatrix& matrix) const override {
    return matrix.layout() == model.layout() && matrix.block_size() == model.uniform_components() &&
           dynamic_cast<const CudaSparseMatrix*>(&matrix);
  }
  LevelMatrix rows_of(const DeviceModel& model, const SparseMatrix& matrix, int device) override {
    const CudaSparseMatrix& own = own_matrix_of(matrix);
    LevelMatrix rows;
    rows.rows = model.part(device).owned_nodes;
    rows.columns = model.part(device).local_nodes;
    rows.height = rows.width = matrix.block_size();
    BlockRowPattern pattern = local_pattern(own, device);
    rows.start = std::move(pattern.start);
    rows.column = std::move(pattern.column);
    rows.value = Array<double>(memory(device), static_cast<std::size_t>(rows.entries()));
    DeviceSection section(*memory(device));
    copy_block_rows(own, device, rows.start.read_device(), pattern.source.read_device(), rows.value.write_device());
    return rows;
  }
  void update_rows(const DeviceModel& model, const SparseMatrix& matrix, int device, LevelMatrix& rows,
                   bool single) override;
  Array<std::int32_t> equations_of(const DeviceModel& model, int height, int) override {
    if (model.uniform_components() != height)
      throw Error(ErrorCode::misuse, "multigrid: nodes with different numbers of equations are not divided");
    return {};
  }
  Array<double> rigid_modes(const DeviceModel& model, std::span<const Motion> motion, int height, int modes,
                            const std::array<double, 3>& centre, double length, int device) override {
    if (motion.size() != static_cast<std::size_t>(height) || modes < 1 || !(length > 0))
      throw Error(ErrorCode::misuse,
                  "rigid_modes: one motion for each row of a node, a number of modes and a length are needed");
    const DeviceModel::Part& part = model.part(device);
    return rigid_modes_at(
        memory(device),
        {part.coordinates, part.first_equation, part.constrained, static_cast<std::int64_t>(part.owned_nodes) * height},
        motion, height, modes, centre, length);
  }

  LevelMatrix take_rows(const LevelMatrix& a, int from, std::span<const std::int32_t> rows,
                        std::span<const std::int32_t> number, std::int32_t columns, int to) override {
    return cuda::take_rows(a, memory(from), &rows, number, columns, memory(to));
  }
  LevelMatrix take_all_rows(const LevelMatrix& a, int from, std::span<const std::int32_t> number, std::int32_t columns,
                            int to) override {
    return cuda::take_rows(a, memory(from), nullptr, number, columns, memory(to));
  }
  std::vector<std::int32_t> columns_of(const LevelMatrix& a, int device, std::span<const std::int32_t> rows) override {
    return columns_of_rows(a, memory(device), rows);
  }
  std::vector<std::int32_t> rows_reaching(const LevelMatrix& a, int device, std::int32_t first) override {
    return cuda::rows_reaching(a, memory(device), first);
  }
  void copy_numbers(const Array<double>& values, int from, Array<double>& target, int to, std::size_t at) override {
    cuda::copy_numbers(values, memory(from), target, memory(to), at);
  }
  void fill_with_noise(LevelVector& x, int device, std::uint64_t first) override {
    fill_with_noise_from(x, memory(device), first);
  }
  void pack(const LevelVector& x, int device, const Array<std::int32_t>& rows, Array<double>& values) override {
    pack_rows(x, memory(device), rows, values);
  }
  void unpack(const Array<double>& values, int device, const Array<std::int32_t>& places, LevelVector& x,
              std::int64_t first) override {
    unpack_rows(values, memory(device), places, x, first);
  }

 private:
  const std::shared_ptr<DeviceMemory>& memory(int device) const { return memories_[static_cast<std::size_t>(device)]; }

  std::vector<std::shared_ptr<DeviceMemory>> memories_;
  std::vector<std::unique_ptr<CudaMultigrid>> services_;
};

void CudaDividedMultigrid::update_rows(const DeviceModel& model, const SparseMatrix& matrix, int device,
                                       LevelMatrix& rows, bool single) {
  const CudaSparseMatrix& own = own_matrix_of(matrix);
  BlockRowPattern pattern;  // of assembled matrices the rows say all that is needed
  if (!is_in_order(own, device)) pattern = local_pattern(own, device);
  if (rows.rows != model.part(device).owned_nodes || rows.columns != model.part(device).local_nodes ||
      rows.height != matrix.block_size() || (!pattern.source.empty() && pattern.column.size() != rows.column.size()))
    throw Error(ErrorCode::misuse, "multigrid: these rows are not those of the model and the matrix on this device");
  const auto entries = static_cast<std::size_t>(rows.entries());
  const auto refill = [&](auto& values, auto& others) {
    others = {};
    if (values.size() != entries) values = std::decay_t<decltype(values)>(memory(device), entries);
    DeviceSection section(*memory(device));
    copy_block_rows(own, device, rows.start.read_device(), pattern.source.read_device(), values.write_device());
  };
  if (single)
    refill(rows.single_value, rows.value);
  else
    refill(rows.value, rows.single_value);
}

}  // namespace

std::unique_ptr<DividedMultigrid> make_divided_multigrid(const std::vector<std::shared_ptr<DeviceMemory>>& memories) {
  return std::make_unique<CudaDividedMultigrid>(memories);
}

}  // namespace voussoir::cuda
