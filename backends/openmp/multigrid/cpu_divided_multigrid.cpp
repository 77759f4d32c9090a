#include <voussoir/backends/detail/rigid_mode.hpp>
#include <voussoir/backends/openmp/multigrid/cpu_divided_multigrid.hpp>
#include <voussoir/backends/openmp/multigrid/device_rows.hpp>
#include <voussoir/backends/openmp/multigrid/divided_rows.hpp>
#include <voussoir/backends/openmp/multigrid/services.hpp>

// Multigrid divided over several devices of the CPU: each has services of its own, which see its memory alone.

namespace voussoir::cpu {

namespace {

class CpuDividedMultigrid final : public DividedMultigrid {
 public:
  CpuDividedMultigrid(const std::vector<std::shared_ptr<DeviceMemory>>& memories, int threads)
      : memories_(memories), threads_(threads) {
    for (const auto& memory : memories)
      services_.push_back(std::make_unique<CpuMultigrid>(std::vector<std::shared_ptr<DeviceMemory>>{memory}, threads));
  }

  MultigridServices& on(int device) override {
    if (device < 0 || device >= static_cast<int>(services_.size()))
      throw Error(ErrorCode::misuse, "multigrid: there is no device " + std::to_string(device));
    return *services_[static_cast<std::size_t>(device)];
  }
  bool devices_at_once() const override { return false; }  // each uses all threads
  bool divides(const DeviceModel& model, const SparseMatrix& matrix) const override {
    return has_device_rows(model, matrix);
  }
  LevelMatrix rows_of(const DeviceModel& model, const SparseMatrix& matrix, int device) override {
    return make_device_rows(model, matrix, device, threads_);
  }
  void update_rows(const DeviceModel& model, const SparseMatrix& matrix, int device, LevelMatrix& rows,
                   bool single) override {
    fill_device_rows(model, matrix, device, rows, single, threads_);
  }
  Array<std::int32_t> equations_of(const DeviceModel& model, int height, int device) override;
  Array<double> rigid_modes(const DeviceModel& model, std::span<const Motion> motion, int height, int modes,
                            const std::array<double, 3>& centre, double length, int device) override;

  LevelMatrix take_rows(const LevelMatrix& a, int from, std::span<const std::int32_t> rows,
                        std::span<const std::int32_t> number, std::int32_t columns, int to) override {
    return cpu::take_rows(a, memory(from), &rows, number, columns, memory(to), threads_);
  }
  LevelMatrix take_all_rows(const LevelMatrix& a, int from, std::span<const std::int32_t> number, std::int32_t columns,
                            int to) override {
    return cpu::take_rows(a, memory(from), nullptr, number, columns, memory(to), threads_);
  }
  std::vector<std::int32_t> columns_of(const LevelMatrix& a, int device, std::span<const std::int32_t> rows) override {
    return columns_of_rows(a, memory(device), rows);
  }
  std::vector<std::int32_t> rows_reaching(const LevelMatrix& a, int device, std::int32_t first) override {
    return cpu::rows_reaching(a, memory(device), first);
  }
  void copy_numbers(const Array<double>& values, int from, Array<double>& target, int to, std::size_t at) override {
    cpu::copy_numbers(values, memory(from), target, memory(to), at);
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
  template <class T>
  Array<T> array(int device, std::int64_t size) const {
    return Array<T>(memories_[static_cast<std::size_t>(device)], static_cast<std::size_t>(size));
  }

  std::vector<std::shared_ptr<DeviceMemory>> memories_;
  int threads_;
  std::vector<std::unique_ptr<CpuMultigrid>> services_;
};

Array<std::int32_t> CpuDividedMultigrid::equations_of(const DeviceModel& model, int height, int device) {
  if (model.uniform_components() == height) return {};
  const DeviceModel::Part& part = model.part(device);
  auto equation = array<std::int32_t>(device, static_cast<std::int64_t>(part.owned_nodes) * height);
  DeviceSection section(*memories_[static_cast<std::size_t>(device)]);
  const std::int32_t* first = part.first_equation.read_device();
  std::int32_t* target = equation.write_device();
#pragma omp parallel for num_threads(threads_) schedule(static)
  for (std::int32_t n = 0; n < part.owned_nodes; ++n)
    for (int r = 0; r < height; ++r)
      target[static_cast<std::int64_t>(n) * height + r] = first[n] + r < first[n + 1] ? first[n] + r : -1;
  return equation;
}

Array<double> CpuDividedMultigrid::rigid_modes(const DeviceModel& model, std::span<const Motion> motion, int height,
                                               int modes, const std::array<double, 3>& centre, double length,
                                               int device) {
  if (motion.size() != static_cast<std::size_t>(height) || modes < 1 || !(length > 0))
    throw Error(ErrorCode::misuse,
                "rigid_modes: one motion for each row of a node, a number of modes and a length are needed");
  const DeviceModel::Part& part = model.part(device);
  auto result = array<double>(device, static_cast<std::int64_t>(part.owned_nodes) * height * modes);
  DeviceSection section(*memories_[static_cast<std::size_t>(device)]);
  const double* points = part.coordinates.read_device();
  const std::int32_t* first = part.first_equation.read_device();
  const std::uint8_t* constrained = part.constrained.read_device();
  double* target = result.write_device();
#pragma omp parallel for num_threads(threads_) schedule(static)
  for (std::int32_t n = 0; n < part.owned_nodes; ++n) {
    const double* point = points + static_cast<std::int64_t>(n) * 3;
    for (int r = 0; r < height; ++r) {
      const std::int64_t row = static_cast<std::int64_t>(n) * height + r;
      const std::int32_t equation = first[n] + r;
      const bool is_free = equation < first[n + 1] && constrained[equation] == 0;
      detail::rigid_mode(is_free ? motion[static_cast<std::size_t>(r)] : Motion::nothing, modes,
                         (point[0] - centre[0]) / length, (point[1] - centre[1]) / length,
                         (point[2] - centre[2]) / length, length, target + row * modes);
    }
  }
  return result;
}

}  // namespace

std::unique_ptr<DividedMultigrid> make_divided_multigrid(const std::vector<std::shared_ptr<DeviceMemory>>& memories,
                                                         int threads) {
  return std::make_unique<CpuDividedMultigrid>(memories, threads);
}

}  // namespace voussoir::cpu
