#pragma once
#include <cstdint>
#include <vector>

#include <voussoir/framework/model/analysis_model.hpp>

namespace voussoir::detail {

/// What equations become in terms of free ones: an equation is free itself, prescribed (nothing), or a combination.
class FreeCombinations {
 public:
  /// `unknown_of` has the unknown of each equation, or −1.
  FreeCombinations(const AnalysisModel& model, const std::vector<std::int32_t>& unknown_of);

  struct Term {
    std::int32_t unknown;
    double coefficient;
  };
  /// Calls visit(unknown, coefficient) for each free unknown behind an equation.
  template <class Visit>
  void each(std::int32_t equation, Visit visit) const {
    const std::int32_t own = unknown_of_[static_cast<std::size_t>(equation)];
    if (own >= 0) return visit(own, 1.0);
    const std::int32_t list = list_of_[static_cast<std::size_t>(equation)];
    if (list < 0) return;
    for (const Term& term : lists_[static_cast<std::size_t>(list)]) visit(term.unknown, term.coefficient);
  }

 private:
  const std::vector<std::int32_t>& unknown_of_;
  std::vector<std::int32_t> list_of_;
  std::vector<std::vector<Term>> lists_;
};

/// The equations of the elements of a batch, in the order of the degrees of freedom of their matrices: element e of the
/// description has equations[e · dofs] … equations[(e + 1) · dofs − 1].
struct BatchEquations {
  int dofs = 0;
  std::vector<std::int32_t> equations;
};
/// Of a batch of the model, whatever devices its elements are on.
BatchEquations batch_equations(const AnalysisModel& model, int batch);

/// Whether a batch has matrices that belong to the elements of the domain.
bool has_matrices(const AnalysisModel& model, int batch);

}  // namespace voussoir::detail
