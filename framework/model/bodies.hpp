#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include <voussoir/framework/model/analysis_model.hpp>

namespace voussoir {

/// The bodies of a model: sets of free equations that elements, multi-point equations and springs tie together. The
/// matrix has no entries between two of them, so each is an independent system: it can be loaded a million times less
/// than another, and its solution must be as accurate. Fully prescribed nodes connect nothing.
class Bodies {
 public:
  explicit Bodies(const AnalysisModel& model);  ///< of the free equations of a model

  std::int32_t count() const { return count_; }  ///< number of bodies
  /// The body of an equation, or −1 where it is not solved for.
  std::int32_t of(std::int32_t equation) const { return of_equation_[static_cast<std::size_t>(equation)]; }

  /// ‖x‖ over the equations of each body and each column: norms[body · columns + column]. Where there is one body, over
  /// all equations. Sums have a fixed order and neither overflow nor underflow.
  std::vector<double> norms(Backend& backend, const Vector& x) const;
  /// Multiplies each body's part of each column by factors[body · columns + column]; a factor 0 gives 0.
  void scale(Backend& backend, std::span<const double> factors, Vector& x) const;

 private:
  std::int32_t count_ = 1;
  std::vector<std::int32_t> of_equation_;
};

}  // namespace voussoir
