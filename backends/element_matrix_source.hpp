#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/backends/device_model.hpp>
#include <voussoir/backends/matrix_terms.hpp>

namespace voussoir {

class Backend;

/// Elements whose matrices stand side by side in an ElementMatrixGroup.
inline constexpr int element_matrix_lanes = 32;
/// The usual size of a group: large enough that starting its copy to a device costs nothing beside the copy.
inline constexpr std::size_t element_matrix_group_bytes = std::size_t{64} << 20;

/// The matrices of neighbouring elements of a batch, on the host: upper triangles by rows. Entry k of element first + e
/// is at ((e / 32) · entries + k) · 32 + e % 32; the last 32 elements of a batch are padded with any finite numbers.
struct ElementMatrixGroup {
  int batch = 0;                   ///< number of the BatchDescription
  std::int32_t first = 0;          ///< number of the first element in the BatchDescription, a multiple of 32
  std::int32_t count = 0;          ///< elements; a multiple of 32 unless they are the last of the batch
  int entries = 0;                 ///< of a matrix
  const double* values = nullptr;  ///< valid until the next call of the source's functions, or longer if `pinned`
  /// The values are in memory that DeviceMemory::allocate_host() gave, where devices can read them while they compute,
  /// and stay there as long as the source exists.
  bool pinned = false;
};

/// Element matrices that come group by group, so that there may be more of them than a device, or the host, has memory
/// for. Groups of a batch ascend without a gap, and a batch is given completely or not at all.
class ElementMatrixSource {
 public:
  virtual ~ElementMatrixSource() = default;
  virtual void rewind() = 0;                             ///< the next group is the first one
  virtual bool next(ElementMatrixGroup& group) = 0;      ///< false, and no group, behind the last one
  virtual std::int64_t largest_group_bytes() const = 0;  ///< of values, padding included
};

/// Element matrices in the memory of the host: pinned memory where the backend has such memory, so that devices read it
/// at full speed.
class ElementMatrixStore final : public ElementMatrixSource {
 public:
  /// Integrates stiffness and mass of all elements at a state. Batches that contribute nothing have no groups. Throws
  /// Error (unavailable) for element types with unsymmetric matrices and ElementError for faulty elements.
  ElementMatrixStore(Backend& backend, const DeviceModel& model, const ElementState& state, const MatrixTerms& terms,
                     std::size_t group_bytes = element_matrix_group_bytes);
  ~ElementMatrixStore() override;
  ElementMatrixStore(const ElementMatrixStore&) = delete;
  ElementMatrixStore& operator=(const ElementMatrixStore&) = delete;

  void rewind() override { next_ = 0; }
  bool next(ElementMatrixGroup& group) override;
  std::int64_t largest_group_bytes() const override;
  std::size_t bytes() const;  ///< of all values

 private:
  void release() noexcept;

  std::shared_ptr<DeviceMemory> memory_;
  std::vector<ElementMatrixGroup> groups_;
  std::size_t next_ = 0;
};

/// Element matrices in a file that write_element_matrices() has written. The file is mapped into memory and read as the
/// groups are used, so it may be larger than the memory of the machine.
class ElementMatrixFile final : public ElementMatrixSource {
 public:
  /// Opens a file. Throws Error (io) that names the file where it cannot be read, has another format, or its size is
  /// not the one that its header implies.
  explicit ElementMatrixFile(std::string path, std::size_t group_bytes = element_matrix_group_bytes);
  ~ElementMatrixFile() override;
  ElementMatrixFile(const ElementMatrixFile&) = delete;
  ElementMatrixFile& operator=(const ElementMatrixFile&) = delete;

  void rewind() override;
  bool next(ElementMatrixGroup& group) override;
  std::int64_t largest_group_bytes() const override;
  int batches() const { return static_cast<int>(batches_.size()); }  ///< of the model that was written

 private:
  struct Batch {
    std::int64_t elements = 0;
    int entries = 0;            ///< 0: the batch contributes nothing
    std::size_t offset = 0;     ///< of its values in the file, in bytes
    std::int32_t in_group = 0;  ///< elements of a group
  };
  void map();
  void close() noexcept;

  std::string path_;
  std::vector<Batch> batches_;
  int file_ = -1;
  void* mapped_ = nullptr;
  std::size_t size_ = 0;
  std::size_t batch_ = 0;
  std::int64_t first_ = 0;
};

/// Integrates stiffness and mass of all elements at a state, some at a time, and writes them to a file for
/// ElementMatrixFile. The file appears under its name when it is complete. Errors are those of ElementMatrixStore, and
/// Error (io) that names the file.
void write_element_matrices(Backend& backend, const DeviceModel& model, const ElementState& state,
                            const MatrixTerms& terms, const std::string& path);

}  // namespace voussoir
