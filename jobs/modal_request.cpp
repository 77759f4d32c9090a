#include <voussoir/jobs/detail/modal_request.hpp>

#include <cmath>

namespace voussoir::detail {
namespace {

/// Leaves out the modes below a frequency. Returns how many.
int drop_below(ModeSet& modes, double frequency) {
  int low = 0;
  while (low < modes.count() && modes.frequency(low) < frequency) ++low;
  const auto drop = [&](auto& list) { list.erase(list.begin(), list.begin() + low); };
  drop(modes.report.modes);
  drop(modes.shapes);
  drop(modes.participation);
  drop(modes.modal_masses);
  return low;
}

}  // namespace

// A lower bound without an upper one is no interval that a solver could count, so that
// modes below it are found too, and left out.
ModeSet solve_request(const FrequencyStep& request, const std::function<ModeSet(const EigenRequest&)>& solve) {
  EigenRequest wanted;
  wanted.modes = request.modes;
  wanted.from = request.from;
  wanted.below = request.below;
  if (!(request.from > 0) || std::isfinite(request.below)) return solve(wanted);
  wanted.from = 0;
  for (;;) {
    ModeSet modes = solve(wanted);
    const int found = modes.count(), low = drop_below(modes, request.from);
    if (low > 0)
      modes.report.notes.push_back(std::to_string(low) + (low == 1 ? " mode" : " modes") +
                                   " below the lower frequency of the step " + (low == 1 ? "is" : "are") + " left out");
    // A model may not have as many.
    if (modes.count() >= request.modes || found < wanted.modes) return modes;
    wanted.modes = request.modes + low;
  }
}

}  // namespace voussoir::detail
