#pragma once
#include <memory>
#include <vector>

#include <voussoir/backends/device_model.hpp>
#include <voussoir/backends/openmp/cpu_matrix.hpp>

namespace voussoir::cpu {

/// Block rows that a thread takes at once, and over which x·y is summed before those sums are added.
inline constexpr std::int32_t row_group = 128;

/// A matrix of which every block is stored: one given by its rows, or that of a model which is not symmetric.
class CpuSparseMatrix final : public CpuMatrix {
 public:
  struct Part : StoredRows {
    std::vector<std::int32_t> first_group;  ///< per thread, its first group of rows
    std::vector<BlockPositions> positions;  ///< per batch of the model
    std::int32_t groups() const { return (rows + row_group - 1) / row_group; }
    /// Shares the rows among threads, once row_start is there; inside a section.
    void share(int threads) { first_group = share_pieces(row_start.read_device(), rows, row_group, threads); }
  };

  CpuSparseMatrix(std::shared_ptr<const Layout> layout, const HostMatrix& rows, int threads);
  /// For a model: without a pattern yet. The parts are for the one who makes it to fill.
  CpuSparseMatrix(const DeviceModel& model, int block_size, int threads);

  void apply(const Vector& x, Vector& y) const override;
  double apply_dot(const Vector& x, Vector& y) const override;
  std::size_t bytes() const override;
  std::size_t bytes_moved() const override;
  std::int64_t stored_blocks() const override;
  HostMatrix to_host() const override;
  void copy_diagonal(int device, int block_size, double* values) const override;

  Part& part(int device) { return parts_[static_cast<std::size_t>(device)]; }
  const Part& part(int device) const { return parts_[static_cast<std::size_t>(device)]; }
  /// The model it was made for, or null.
  const DeviceModel* model() const { return model_; }

 private:
  std::string storage() const override { return {}; }
  void take(int device, const HostMatrix& rows);
  /// y = A x on one device, inside a section; finish(group, rows, x, y) follows each group of rows.
  template <class Finish>
  void multiply(int device, const Vector& x, Vector& y, Finish&& finish) const;

  const DeviceModel* model_ = nullptr;
  std::vector<Part> parts_;
};

}  // namespace voussoir::cpu
