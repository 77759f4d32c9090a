#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include <voussoir/backends/detail/upper_triangle.hpp>
#include <voussoir/backends/device_model.hpp>

namespace voussoir::detail {

/// What the matrix K of an element becomes where some of its equations depend on others: TᵀKT, entry by entry, always
/// in the same order.
class TransformedTerms {
 public:
  /// Rows of equations that are not among the first `owned` belong to other devices and are left out.
  TransformedTerms(int dofs, std::int32_t owned, bool symmetric)
      : owned_(owned),
        symmetric_(symmetric),
        combination_(static_cast<std::size_t>(dofs)),
        dependent_(static_cast<std::size_t>(dofs)) {}

  /// Calls add(row, column, place, factor) for each term factor · K(place) of each entry, `place` being that in the
  /// stored matrix of the element. equation_of(i) is the local equation of the element's unknown i;
  /// dependency_of(equation) points to the Dependency that gives it, or is null. The diagonal of a dependent equation
  /// gets its share of K itself: a number of the right size for an equation that stands alone.
  template <class EquationOf, class DependencyOf, class Add>
  void visit(const EquationOf& equation_of, const DependencyOf& dependency_of, const Add& add) {
    const auto dofs = static_cast<int>(combination_.size());
    for (int i = 0; i < dofs; ++i) combine(i, equation_of(i), dependency_of);
    for (int r = 0; r < dofs; ++r) {
      for (int s = 0; s < dofs; ++s)
        for (const auto& [row, row_factor] : combination_[static_cast<std::size_t>(r)])
          if (row < owned_)
            for (const auto& [column, column_factor] : combination_[static_cast<std::size_t>(s)])
              add(row, column, matrix_entry(r, s, dofs, symmetric_), row_factor * column_factor);
      const std::int32_t alone = dependent_[static_cast<std::size_t>(r)];
      if (alone >= 0 && alone < owned_) add(alone, alone, matrix_entry(r, r, dofs, symmetric_), 1.0);
    }
  }

 private:
  template <class DependencyOf>
  void combine(int unknown, std::int32_t equation, const DependencyOf& dependency_of) {
    auto& own = combination_[static_cast<std::size_t>(unknown)];
    own.clear();
    const Dependency* dependency = dependency_of(equation);
    dependent_[static_cast<std::size_t>(unknown)] = dependency ? equation : -1;
    if (!dependency) return own.push_back({equation, 1.0});
    for (std::size_t o = 0; o < dependency->others.size(); ++o)
      own.emplace_back(dependency->others[o], dependency->coefficients[o]);
  }

  std::int32_t owned_;
  bool symmetric_;
  std::vector<std::vector<std::pair<std::int32_t, double>>> combination_;  ///< of independent equations, per unknown
  std::vector<std::int32_t> dependent_;                                    ///< the unknown's own equation, or −1
};

}  // namespace voussoir::detail
