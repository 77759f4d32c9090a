#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <voussoir/backends/operator.hpp>
#include <voussoir/backends/service.hpp>

namespace voussoir {

class Backend;

/// The symmetric matrix of a part on the host, of which the interior is to be eliminated. Its unknowns are numbered
/// from 0: first those of the interior, then those of the boundary.
struct PartSystem {
  std::int32_t interior = 0;            ///< number of unknowns to eliminate
  std::int32_t boundary = 0;            ///< number of unknowns to keep
  std::vector<std::int64_t> row_start;  ///< first entry of each unknown, and the number of entries
  std::vector<std::int32_t> column;     ///< of each entry; each pair of unknowns at most once, in either triangle
  std::vector<double> value;            ///< of each entry
  /// Magnitude of the terms from which the diagonal of each interior unknown was summed; empty if nothing cancels.
  std::vector<double> sizes;
};

/// The dense interiors of many parts, eliminated on the devices of a backend: K_ii = L D Lᵀ and S = K_bb − K_bi K_ii⁻¹
/// K_ib of each part. Factors and complements stay on the devices.
///
/// Vectors are those of all parts, one part after the other, and are exchanged with the host. Several vectors
/// ("columns") come one after the other. All sums are taken in a fixed order: the same bits for the same input on the
/// same device.
class CondensedParts {
 public:
  virtual ~CondensedParts() = default;

  virtual int parts() const = 0;  ///< as many as were given
  /// Parts, ascending, with a pivot that is not finite or smaller than 4e-6 times the diagonal that it came from: their
  /// interiors may be singular. Nothing else of these parts is defined; a method that looks more closely has to
  /// eliminate them. Negative pivots are no reason.
  virtual const std::vector<int>& doubtful() const = 0;
  /// S of a part as a dense symmetric matrix by rows, copied to the host.
  virtual std::vector<double> schur_complement(int part) const = 0;
  /// The operator Σ Rᵀ S R over all parts; `equations` has those of the boundary of each part in the layout. On one
  /// device, the complements do not leave it. The backend must outlive the operator. Doubtful parts are an Error
  /// (misuse).
  virtual std::unique_ptr<Operator> make_block_sum(std::shared_ptr<const Layout> layout,
                                                   std::span<const std::vector<std::int32_t>> equations) const = 0;
  /// Subtracts K_bi K_ii⁻¹ b_i from `boundary`, with the loads b_i in `interior`.
  virtual void condense(std::span<const double> interior, std::span<double> boundary, int columns = 1) const = 0;
  /// Replaces the loads b_i in `interior` by the solution K_ii⁻¹ (b_i − K_ib x_b), with x_b in `boundary`.
  virtual void recover(std::span<double> interior, std::span<const double> boundary, int columns = 1) const = 0;
  virtual std::size_t bytes() const = 0;     ///< memory on all devices
  virtual std::string describe() const = 0;  ///< sizes, and how they are grouped, on one line
  virtual double flops() const = 0;          ///< floating-point operations of the elimination, without padding
  /// Time of the elimination by the clock of the devices, without the copies of the matrices from the host.
  virtual double seconds() const = 0;
};

/// A way in which the vendor's libraries eliminate the same parts, for benchmarks.
struct VendorCondensation {
  std::string name;           ///< of the libraries
  std::function<void()> run;  ///< copies the matrices and eliminates them on the first device
  std::function<std::vector<double>(int)> schur_complement;  ///< of a part, by rows
};

/// Elimination of the dense interiors of many parts at a time.
class CondensationServices : public Service {
 public:
  static constexpr std::string_view service_name = "condensation";  ///< by which Backend::service() finds it

  /// Eliminates the interiors; parts are shared out to the devices by their work. The backend must outlive the result.
  /// Throws Error (misuse) for inconsistent systems, and (out_of_memory) where the devices lack memory.
  virtual std::unique_ptr<CondensedParts> condense(Backend& backend, std::span<const PartSystem> systems) = 0;
  /// Bytes that condense() needs on the device that needs most, for parts of these sizes.
  virtual std::size_t bytes_needed(const Backend& backend, std::span<const std::int32_t> interior,
                                   std::span<const std::int32_t> boundary) const = 0;
  /// Whether this is the better way to eliminate parts of these sizes: the devices have room, and sparse elimination by
  /// threads of the host would take longer.
  virtual bool is_preferred(const Backend& backend, std::span<const std::int32_t> interior,
                            std::span<const std::int32_t> boundary) const = 0;
  /// The same elimination by libraries of the device's vendor; empty where there are none.
  virtual std::vector<VendorCondensation> vendor_condensations(Backend& /*backend*/,
                                                               std::span<const PartSystem> /*systems*/) {
    return {};
  }
};

}  // namespace voussoir
