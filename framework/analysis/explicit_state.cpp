#include <algorithm>
#include <array>
#include <istream>
#include <ostream>

#include <voussoir/framework/analysis/detail/length_changes.hpp>
#include <voussoir/framework/analysis/detail/saved_numbers.hpp>
#include <voussoir/framework/analysis/detail/stable_step.hpp>
#include <voussoir/framework/analysis/explicit_analysis.hpp>
#include <voussoir/framework/analysis/state_record.hpp>

// The complete state of an explicit analysis in a stream: states in the format of save_state(), whose checksums protect
// them. The first is the committed state; the others contain vectors of the method in place of unknowns, and numbers in
// their names.

namespace voussoir {
namespace {

constexpr const char* explicit_mark = "explicit dynamics 4: ";
constexpr std::size_t vectors_in_state = 4;

[[noreturn]] void refuse_explicit_state() {
  detail::refuse_state("it is not the state of an explicit analysis like this one");
}

std::vector<double> explicit_numbers_of(const std::string& name) {
  return detail::numbers_of_name(name, explicit_mark, "an explicit analysis");
}

/// Vectors of the method and, last, the displacements of a reference.
void save_vectors(const AnalysisModel& model, const AnalysisState& like, CentralDifferences::Kept& kept,
                  const std::vector<double>& numbers, std::ostream& to) {
  std::vector<Vector>& vectors = kept.vectors;
  for (std::size_t first = 0; first < vectors.size(); first += vectors_in_state) {
    AnalysisState carrier;
    carrier.name = detail::named_numbers(explicit_mark, first == 0 ? numbers : std::vector<double>());
    carrier.case_factors.assign(like.case_factors.size(), 0.0);
    Vector* const places[] = {&carrier.unknowns, &carrier.rate, &carrier.second_rate, &carrier.loads};
    std::array<bool, vectors_in_state> shares{};
    for (std::size_t k = first; k < std::min(first + vectors_in_state, vectors.size()); ++k) {
      *places[k - first] = std::move(vectors[k]);
      shares[k - first] = k < kept.are_shares.size() && kept.are_shares[k];
    }
    write_record(record_of(model, carrier, shares), to);
  }
}

}  // namespace

void ExplicitAnalysis::save(std::ostream& to) {
  const AnalysisState& now = state();
  save_state(*model_, now, to);
  CentralDifferences::Kept kept = integrator().kept();
  kept.numbers.back() = largest_viscous_ratio();  // the same on all processes, as all numbers are
  std::vector<double> numbers{segment_start_,
                              segment_end_,
                              size_,
                              double(segment_steps_),
                              double(taken_),
                              double(next_estimate_),
                              next_report_,
                              largest_supply_,
                              double(report_.steps),
                              report_.smallest_step,
                              report_.largest_step,
                              report_.limit,
                              report_.smallest_limit,
                              double(report_.estimates),
                              double(report_.products),
                              report_.worst_balance,
                              report_.added_mass,
                              double(report_.scaled_elements),
                              undamped_limit_,
                              unit_rate_,
                              planned_ratio_,
                              double(next_check_),
                              double(steps_between_checks_),
                              length_rate_};
  numbers.insert(numbers.end(), kept.numbers.begin(), kept.numbers.end());
  kept.vectors.push_back(lengths_ && lengths_->reference().layout() ? lengths_->reference().clone() : Vector());
  save_vectors(*model_, now, kept, numbers, to);
}

void ExplicitAnalysis::restore(std::istream& from) {
  set_up();
  AnalysisState now = restore_state(*model_, from), carriers[3];
  for (AnalysisState& carrier : carriers) {
    carrier = restore_state(*model_, from);
    explicit_numbers_of(carrier.name);
  }
  const std::vector<double> n = explicit_numbers_of(carriers[0].name);
  constexpr std::size_t own = 24, vectors = 11;
  if (n.size() < own || !now.rate.layout() || !now.second_rate.layout()) refuse_explicit_state();
  CentralDifferences& method = integrator();
  method.prepare(*model_, now);
  method.set_loads(std::make_shared<TimeLoads>(loads_), steps_.start);
  CentralDifferences::Kept kept;
  for (AnalysisState& carrier : carriers)
    for (Vector* x : {&carrier.unknowns, &carrier.rate, &carrier.second_rate, &carrier.loads})
      if (kept.vectors.size() < vectors) kept.vectors.push_back(std::move(*x));
  kept.numbers.assign(n.begin() + own, n.end());
  method.resume(*model_, now, std::move(kept));
  segment_start_ = n[0];
  segment_end_ = n[1];
  size_ = n[2];
  segment_steps_ = static_cast<std::int64_t>(n[3]);
  taken_ = static_cast<std::int64_t>(n[4]);
  next_estimate_ = n[5] >= 9e18 ? std::numeric_limits<std::int64_t>::max() : static_cast<std::int64_t>(n[5]);
  next_report_ = n[6];
  largest_supply_ = n[7];
  report_.steps = static_cast<std::int64_t>(n[8]);
  report_.smallest_step = n[9];
  report_.largest_step = n[10];
  report_.limit = n[11];
  report_.smallest_limit = n[12];
  report_.estimates = static_cast<int>(n[13]);
  report_.products = products_before_ = static_cast<int>(n[14]);
  report_.worst_balance = n[15];
  report_.added_mass = n[16];
  report_.scaled_elements = static_cast<std::int64_t>(n[17]);
  undamped_limit_ = n[18];
  unit_rate_ = n[19];
  planned_ratio_ = n[20];
  next_check_ = static_cast<std::int64_t>(n[21]);
  steps_between_checks_ = static_cast<std::int64_t>(n[22]);
  length_rate_ = n[23];
  prepare_estimates();
  // The last vector of the last carrier.
  if (lengths_ && carriers[2].loads.layout()) lengths_->set_reference(carriers[2].loads);
  state_ = std::move(now);
  started_ = true;
}

}  // namespace voussoir
