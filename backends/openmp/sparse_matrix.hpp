#pragma once
#include <memory>
#include <vector>

#include <voussoir/backends/openmp/cpu_matrix.hpp>

namespace voussoir::cpu {

/// Block rows that a thread takes at once, and over which x·y is summed before those sums are added.
inline constexpr std::int32_t row_group = 128;

/// A matrix given by its rows: every block is stored.
class CpuSparseMatrix final : public CpuMatrix {
 public:
  struct Part : StoredRows {
    std::vector<std::int32_t> first_group;  ///< per thread, its first group of rows
    std::int32_t groups() const { return (rows + row_group - 1) / row_group; }
  };

  CpuSparseMatrix(std::shared_ptr<const Layout> layout, const HostMatrix& rows, int threads);

  void apply(const Vector& x, Vector& y) const override;
  double apply_dot(const Vector& x, Vector& y) const override;
  std::size_t bytes() const override;
  std::size_t bytes_moved() const override;
  std::int64_t stored_blocks() const override;
  HostMatrix to_host() const override;
  void copy_diagonal(int device, int block_size, double* values) const override;

  const Part& part(int device) const { return parts_[static_cast<std::size_t>(device)]; }

 private:
  std::string storage() const override { return {}; }
  void take(int device, const HostMatrix& rows);
  /// y = A x on one device, inside a section; finish(group, rows, x, y) follows each group of rows.
  template <class Finish>
  void multiply(int device, const Vector& x, Vector& y, Finish&& finish) const;

  std::vector<Part> parts_;
};

}  // namespace voussoir::cpu
