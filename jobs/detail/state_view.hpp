#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include <voussoir/framework/io/vtk/vtu_writer.hpp>
#include <voussoir/jobs/detail/step_fields.hpp>
#include <voussoir/jobs/step_receiver.hpp>

namespace voussoir::detail {

/// The temperatures that act in a state: those it was solved with, or those of the step's loads.
std::vector<double> temperatures_of(const Job& job, const JobStep& step, const StepState& state);

/// The file for viewers of one of the states of a step, of a model or of a part of one.
class StateView {
 public:
  /// `temperatures` act in the state; empty: none do. The other arguments must outlive the object.
  StateView(const Job& job, const JobStep& step, StepState& state, std::vector<double> temperatures);
  StateView(const StateView&) = delete;
  StateView& operator=(const StateView&) = delete;

  /// Fields that were recovered in elements, if the state has any; those of a part may be completed before write().
  StepFields& fields() { return fields_; }
  /// Writes the file, once. `mesh` is what the files of a step have in common.
  void write(const std::filesystem::path& file, VtuMesh& mesh, bool overwrite);

 private:
  const Domain& domain_;
  const JobStep& step_;
  StepState& state_;
  NodalField acting_, amplitude_;
  StepFields fields_;
};

}  // namespace voussoir::detail
