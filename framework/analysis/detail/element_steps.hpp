#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/analysis_state.hpp>

namespace voussoir::detail {

/// The largest steps with which central differences are stable for single elements. The highest frequency of a mesh is
/// at most the highest one of its elements with their own lumped masses (Irons' theorem), so that every step below the
/// shortest of these is stable, for any law and shape. For a bar, it is the time that a wave needs to cross the
/// element. Elements without mass, such as springs, have no bound; StableStep includes them.
class ElementSteps {
 public:
  /// Computes the steps of all elements of blocks at a state, on the host. Throws Error that names a faulty element.
  ElementSteps(const AnalysisModel& model, const AnalysisState& state);

  double shortest() const { return shortest_; }  ///< infinite where no element has a bound
  std::string critical_element() const;          ///< with the shortest step, in the user's numbering; may be empty
  std::int64_t shorter_than(double step) const;  ///< number of elements with shorter steps
  /// The mass that makes `step` stable for all elements, per equation: (step² / h² − 1) of the lumped mass of each
  /// element whose own step h is shorter. Summed in element order, whatever the number of devices.
  std::vector<double> added_mass(double step) const;

 private:
  template <class Pack>
  void visit(int batch, const Pack& pack) const;
  void measure(int batch, std::vector<double>& steps) const;
  void add_batch(int batch, double step, std::vector<double>& added) const;

  const AnalysisModel& model_;
  const AnalysisState& state_;
  std::vector<std::vector<double>> steps_;  // of each batch, by the elements of its description
  double shortest_ = 0;
  int critical_batch_ = -1;
  std::int32_t critical_ = -1;
};

}  // namespace voussoir::detail
