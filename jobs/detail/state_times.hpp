#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include <voussoir/framework/io/job/job.hpp>

namespace voussoir::detail {

/// The times at which the response of a step of modal dynamics is computed, and what each of them is for.
struct StateTimes {
  struct Use {
    bool for_viewers = false;
    std::vector<char> prints;  ///< of each of JobStep::prints
    bool any() const;
  };
  std::vector<double> times;       ///< of the step, ascending, from the first increment to the period
  std::vector<Use> uses;           ///< one for each time
  std::vector<std::string> notes;  ///< for the user
};

/// Every increment, the end of the step, and the times that tables and files are asked for at.
StateTimes state_times(const JobStep& step, const ModalDynamicStep& request);

}  // namespace voussoir::detail
