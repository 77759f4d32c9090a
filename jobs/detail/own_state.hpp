#pragma once
#include <voussoir/framework/analysis/recorder.hpp>
#include <voussoir/framework/analysis/time_integrators.hpp>
#include <voussoir/jobs/detail/recorded_model.hpp>

namespace voussoir::detail {

/// The sums of a committed state; of one process's share where several have a model.
ForceSums force_sums(const CommittedState& committed, bool heat);

/// A state of a model in one process. The committed state must outlive the object.
class OwnState : public RecordedState {
 public:
  explicit OwnState(const CommittedState& committed) : committed_(committed) {}
  double time() const override { return committed_.state.time; }
  const SolveReport& report() const override { return committed_.report; }
  const TimeIntegrator& method() const override { return integrator(); }
  bool has_springs() const override { return !committed_.model.constraints().springs.empty(); }
  NodalField motion(int derivative) override;
  ForceSums sums(bool heat) override { return force_sums(committed_, heat); }
  StepResult result(bool with_points) override;

 private:
  TimeIntegrator& integrator() const { return static_cast<TimeIntegrator&>(committed_.integrator); }
  const CommittedState& committed_;
};

}  // namespace voussoir::detail
