#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <voussoir/backends/array.hpp>
#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/condensation_services.hpp>

namespace voussoir::detail {

/// Parts that a device eliminates together: dense symmetric matrices ("fronts") of equal size, by columns, of which the
/// lower triangle counts. Interiors are padded by a unit matrix, boundaries by zeros, to multiples of `block`.
struct PartGroup {
  static constexpr std::int32_t block = 64;  ///< columns that are eliminated in one step

  int device = 0;
  std::int32_t interior = 0;   ///< with padding
  std::int32_t boundary = 0;   ///< with padding
  std::vector<int> members;    ///< numbers of the parts
  std::int64_t first_row = 0;  ///< rows of the groups before it on the same device
  Array<double> front;         ///< becomes L below the diagonal blocks, and S, with both triangles
  Array<double> inverse;       ///< L⁻¹ of each diagonal block, by columns, one after the other
  Array<double> pivot;         ///< D of each member

  std::int64_t count() const { return static_cast<std::int64_t>(members.size()); }
  std::int64_t height() const { return std::int64_t{interior} + boundary; }
  std::size_t front_numbers() const { return static_cast<std::size_t>(count() * height() * height()); }
  std::size_t inverse_numbers() const { return static_cast<std::size_t>(count() * interior * block); }
  std::size_t bytes() const { return front.bytes() + inverse.bytes() + pivot.bytes(); }
};

/// The entries of the matrices of a group on its device, one member after the other.
struct GroupEntries {
  std::int32_t most_rows = 0;     ///< of a member
  Array<std::int32_t> interior;   ///< of each member, without padding
  Array<std::int64_t> first_row;  ///< of each member, and the number of rows
  Array<std::int64_t> row_start;  ///< first entry of each row, and the number of entries
  Array<std::int32_t> column;     ///< of each entry, as in PartSystem
  Array<double> value;            ///< of each entry

  /// Copies everything to the device, within a section of it.
  void upload() const;
};

/// Floating-point operations of the elimination of a part.
double condensation_flops(double interior, double boundary);

/// Divides parts of these sizes among the devices, by their work, and into groups: padding to the size of the largest
/// member adds at most 30 % to the work of a group, and at most 50 % to its memory.
std::vector<PartGroup> group_parts(int devices, std::span<const std::int32_t> interior,
                                   std::span<const std::int32_t> boundary);
/// Bytes of fronts, inverses and work space, on the device that needs most. Work space is that of one group at a time:
/// `work_columns` columns of each front.
std::size_t group_bytes(std::span<const PartGroup> groups, int devices, std::int32_t work_columns);

/// Condensed parts in groups. A backend brings the elimination of a group, and the substitution with all groups of a
/// device: on the vectors of all rows of its parts, group by group and part by part. `columns` vectors of a part come
/// one after the other, and `PartGroup::first_row * columns` numbers before those of a group.
class CondensedGroups : public CondensedParts {
 public:
  CondensedGroups(Backend& backend, std::span<const PartSystem> systems);
  /// To be called once.
  void eliminate_all(std::span<const PartSystem> systems);

  int parts() const override { return static_cast<int>(places_.size()); }
  const std::vector<int>& doubtful() const override { return doubtful_; }
  std::vector<double> schur_complement(int part) const override;
  std::unique_ptr<Operator> make_block_sum(std::shared_ptr<const Layout> layout,
                                           std::span<const std::vector<std::int32_t>> equations) const override;
  void condense(std::span<const double> interior, std::span<double> boundary, int columns) const override;
  void recover(std::span<double> interior, std::span<const double> boundary, int columns) const override;
  std::size_t bytes() const override;
  std::string describe() const override;
  double flops() const override { return flops_; }
  double seconds() const override { return seconds_; }

 protected:
  /// Fills the front from the entries and eliminates the interior.
  virtual void eliminate(PartGroup& group, const GroupEntries& entries) const = 0;
  /// b_i becomes L⁻¹ b_i and, unless `interior_only`, the boundary is reduced by L_bi L⁻¹ b_i.
  virtual void forwards(int device, Array<double>& vectors, int columns, bool interior_only) const = 0;
  /// L⁻¹ b_i becomes L⁻ᵀ (D⁻¹ L⁻¹ b_i − L_biᵀ x_b); boundaries are only read.
  virtual void backwards(int device, Array<double>& vectors, int columns) const = 0;
  /// S of a member, by columns with both triangles, without padding.
  virtual std::vector<double> copy_complement(const PartGroup& group, std::size_t member, std::int32_t size) const = 0;

  Backend& backend() const { return backend_; }
  const std::vector<PartGroup>& groups() const { return groups_; }
  /// Where a part lies, and its sizes without padding.
  struct Place {
    std::size_t group = 0, member = 0;
    std::int32_t interior = 0, boundary = 0;
    std::size_t first_interior = 0, first_boundary = 0;  ///< in vectors of all parts
  };
  const Place& place(int part) const { return places_[static_cast<std::size_t>(part)]; }
  void require_blocks(std::span<const std::vector<std::int32_t>> equations) const;

 private:
  GroupEntries entries_of(const PartGroup& group, std::span<const PartSystem> systems) const;
  void find_doubtful(std::span<const PartSystem> systems);
  void check_vectors(std::size_t interior, std::size_t boundary, int columns, const char* what) const;
  /// Where a vector of a part begins among those of its device.
  std::size_t first_number(const Place& at, std::size_t column, int columns) const;
  /// The vectors of each device; `boundary` may be empty for zeros.
  std::vector<Array<double>> gathered(std::span<const double> interior, std::span<const double> boundary,
                                      int columns) const;

  Backend& backend_;
  std::vector<PartGroup> groups_;
  std::vector<Place> places_;
  std::size_t interior_size_ = 0, boundary_size_ = 0;
  std::vector<int> doubtful_;
  double flops_ = 0, seconds_ = 0;
};

}  // namespace voussoir::detail
