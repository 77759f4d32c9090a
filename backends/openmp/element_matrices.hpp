#pragma once
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include <voussoir/backends/backend.hpp>
#include <voussoir/backends/openmp/sweep.hpp>

namespace voussoir::cpu {

/// What one batch contributes to a matrix: stiffness · K + mass · M, the batch's factor included.
struct BatchTerms {
  double stiffness = 0;
  double mass = 0;
  MassKind mass_kind = MassKind::consistent;

  BatchTerms() = default;
  BatchTerms(const MatrixTerms& terms, const ElementBatch& batch);
  bool empty() const { return stiffness == 0 && mass == 0; }
};

/// Weighted element matrices of a run, in the layout of ElementProgram::tangent.
ElementStatus element_matrices(const ElementProgram& program, const ElementView& view, const BatchTerms& terms,
                               int first, int count, double* out);

/// Gets the matrices of elements with dependent equations: TᵀKT, one equation pair at a time.
///
/// `open_compute` gives a Compute for element matrices (on the side `sweep` says, called as in run()). For each entry
/// of each transformed matrix with an owned row, add(row, column, value) is called, in a fixed order, inside a section;
/// what `open_add` returns takes its pointers there. The diagonal of a dependent equation gets its share of the
/// untransformed matrix: a number of the right size for an equation that stands alone.
ElementStatus add_dependent(const Sweep& sweep, const std::function<Compute()>& open_compute,
                            const std::function<std::function<void(std::int32_t, std::int32_t, double)>()>& open_add);

}  // namespace voussoir::cpu
