#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <voussoir/framework/io/job/job.hpp>
#include <voussoir/framework/model/analysis_model.hpp>
#include <voussoir/partition/process/process_modes.hpp>

namespace voussoir::detail {

/// Looks at the whole model before it is divided: whatever is wrong is named as in a run on one process, and what can
/// move freely is found, which a part alone cannot tell. The supports of the job's domains are changed.
class WholeModelCheck {
 public:
  WholeModelCheck(Job& job, std::shared_ptr<Backend> backend) : job_(job), backend_(std::move(backend)) {}

  /// Throws where something can move freely. Returns notes on what iterative methods would not find, and puts those on
  /// the model itself into `general`.
  std::vector<std::string> run(std::vector<std::string>& general);

  /// Of each step in increments, after run(): remarks on initial motions.
  std::map<std::size_t, std::vector<std::string>> take_step_notes() { return std::move(step_notes_); }
  /// Of each frequency step, after run().
  std::map<std::size_t, PossibleFreeMotions> take_possible_motions() { return std::move(possible_motions_); }

 private:
  void look_at_increments(std::size_t index, std::vector<std::string>& general);
  void look_for_free_motions(std::size_t step, std::vector<std::string>& general);
  void look_at(const Domain& domain, std::vector<std::string>& general);
  void add_note(const std::string& note);

  Job& job_;
  std::shared_ptr<Backend> backend_;
  std::vector<std::string> notes_;
  std::map<std::size_t, PossibleFreeMotions> possible_motions_;
  std::map<std::size_t, std::vector<std::string>> step_notes_;
};

}  // namespace voussoir::detail
