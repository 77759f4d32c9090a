#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/framework/analysis/transient_analysis.hpp>
#include <voussoir/framework/model/dof_numberer.hpp>

namespace voussoir {

/// Decides between the steps of an analysis in time whether its model is divided again over the devices. It measures
/// how long devices take for their shares, now and then, and asks for another division where the slowest one takes
/// noticeably longer than the mean and the steps that are left pay for the change. As few nodes move as possible
/// (LoadBalancer::rebalanced_parts()). With equal devices nothing moves.
class StepBalancer {
 public:
  /// Seconds that each device takes for its share of the model; 0 for a device without a share.
  using Measure = std::function<std::vector<double>(Backend& backend, const Layout& layout)>;
  /// When a model is divided again.
  struct Options {
    double tolerance = 1.1;   ///< the longest time divided by the mean that is accepted
    int first_check = 10;     ///< steps before the first measurement; the number doubles from one to the next
    int longest_wait = 1000;  ///< the most steps between two measurements
    /// What is gained must be so many times the seconds that setting up the model took.
    double least_gain = 2;
    Measure measure;  ///< empty: device_seconds()
  };

  StepBalancer();  ///< with the default options
  /// Throws Error (bad_input) for a tolerance below 1, numbers of steps below 1 and a negative gain.
  explicit StepBalancer(Options options);

  /// Tells how long it took to set up the present model.
  void set_up_took(double seconds) { set_up_seconds_ = seconds; }
  /// Looks at a model after a step. True: numberer() is a better division for the steps that are left.
  bool after_step(const AnalysisModel& model, const TransientProgress& progress);
  /// The division that after_step() found last; null before.
  const std::shared_ptr<DofNumberer>& numberer() const { return numberer_; }
  int measurements() const { return measurements_; }                ///< so far
  int divisions() const { return divisions_; }                      ///< that after_step() has asked for
  std::int64_t moved_nodes() const { return moved_nodes_; }         ///< by all of them
  const std::vector<std::string>& notes() const { return notes_; }  ///< a sentence for each of them

 private:
  std::vector<double> measure(const AnalysisModel& model);

  Options options_;
  double set_up_seconds_ = 0;
  std::int64_t next_check_;
  int measurements_ = 0, divisions_ = 0;
  std::int64_t moved_nodes_ = 0;
  std::shared_ptr<DofNumberer> numberer_;
  std::vector<std::string> notes_;
};

/// Runs a TransientAnalysis or an ExplicitAnalysis to its end. Where `balancer` asks for another division, the state is
/// saved, an analysis with the new numbering is made, the state is restored there, and the run goes on; the results
/// agree with those of one division to rounding. Returns the analysis that reached the end.
///
/// `make(numberer)` returns a unique_ptr to an analysis that has all its settings; the numberer is null at first, which
/// stands for the usual one. `begin(analysis)` calls start() or restore(), once. Results are passed to `finished` of
/// the analysis, which must be set (Error misuse), and recorders may be shared by all analyses. Without a balancer, the
/// analysis runs as it is.
template <class Make, class Begin>
auto run_balanced(const Make& make, const Begin& begin, StepBalancer* balancer) {
  std::string state;
  std::shared_ptr<DofNumberer> numberer;
  for (;;) {
    const Stopwatch clock;
    auto analysis = make(numberer);
    if (!analysis->finished)
      throw Error(ErrorCode::misuse, "run_balanced: the analysis has no `finished`, so that its results would be lost");
    const auto told = analysis->watch;
    bool divides = false;
    if (balancer)
      analysis->watch = [&](const TransientProgress& progress) {
        if (told && !told(progress)) return false;
        if (!balancer->after_step(analysis->model(), progress)) return true;
        std::ostringstream bytes;
        analysis->save(bytes);
        state = bytes.str();
        divides = true;
        return false;
      };
    if (state.empty()) {
      begin(*analysis);
    } else {
      std::istringstream bytes(state);
      analysis->restore(bytes);
      state.clear();
    }
    if (balancer) balancer->set_up_took(clock.seconds());
    try {
      analysis->finish();
      analysis->watch = told;
      return analysis;
    } catch (const Error& error) {
      if (!divides || error.code() != ErrorCode::cancelled) throw;
    }
    numberer = balancer->numberer();
  }
}

}  // namespace voussoir
