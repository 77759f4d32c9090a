#pragma once
#include <concepts>
#include <functional>
#include <string>
#include <vector>

#include <voussoir/framework/grid/grid_field.hpp>

namespace voussoir {

/// On what a source depends.
enum class SourceKind {
  steady,         ///< on the place alone: it is computed once
  of_time,        ///< on place and time: it is computed at the middle of every step
  of_temperature  ///< on place, time and temperature: it is computed at the beginning of every step
};

/// A kernel with its parameters, as a term of an equation on a grid.
struct GridTerm {
  const GridProgram* program = nullptr;   ///< stencil or source
  std::vector<unsigned char> parameters;  ///< the kernel's Parameters
  /// Of sources: on what it depends. Of the library's own sources it is known; others are computed at every step unless
  /// this says that they are steady.
  SourceKind kind = SourceKind::of_temperature;
  std::function<double(double time)> factor;  ///< multiplies the kernel's value; empty: 1

  /// The kernel of a name with parameters of its own type. Throws Error: not_found for an unknown name, misuse where
  /// the size of the parameters differs.
  static GridTerm of(const std::string& name, const void* parameters, std::size_t bytes);
  /// A kernel that VSR_REGISTER_STENCIL registered.
  template <class Kernel>
  static GridTerm of(const typename Kernel::Parameters& parameters) {
    return of(Kernel::name, &parameters, sizeof parameters);
  }
};

/// A sum of sources on a grid, computed on the devices: Σ factor · kernel, in the unit of the kernels.
class GridSources {
 public:
  /// No sources yet.
  explicit GridSources(std::shared_ptr<const GridSpace> space) : space_(std::move(space)) {}

  /// Adds a source. A stencil is an Error (misuse). A factor makes a steady source one that depends on time.
  void add(GridTerm term);
  /// Adds values at nodes that do not change.
  void add(const GridField& values);
  bool empty() const { return terms_.empty() && !fixed_; }  ///< whether there are none
  bool steady() const;                                      ///< whether none depends on time or temperature
  /// The sum at a time; `temperature` for sources that depend on it. Steady sums are computed once.
  const Vector& evaluate(const GridSides& sides, double time, const Vector& temperature);
  /// Σ w f of the last evaluation, see GridSummary.
  double weighted_sum();

 private:
  std::shared_ptr<const GridSpace> space_;
  std::vector<GridTerm> terms_;
  std::unique_ptr<GridField> fixed_;
  std::unique_ptr<GridField> sum_;
  bool evaluated_ = false, summed_ = false;
  double total_ = 0;
};

}  // namespace voussoir
