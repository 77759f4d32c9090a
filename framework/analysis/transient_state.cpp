#include <istream>
#include <ostream>

#include <voussoir/framework/analysis/detail/saved_numbers.hpp>
#include <voussoir/framework/analysis/state_record.hpp>
#include <voussoir/framework/analysis/transient_analysis.hpp>

// The complete state of a transient analysis in a stream: three states in the format of save_state(), whose checksums
// protect them. The second and the third contain forces and former accelerations in place of unknowns, and numbers in
// their names.

namespace voussoir {
namespace {

constexpr const char* forces_mark = "transient forces 2: ";
constexpr const char* former_mark = "transient accelerations 1: ";

std::vector<double> numbers_of(const std::string& name, const char* mark) {
  return detail::numbers_of_name(name, mark, "a transient analysis");
}

AnalysisState empty_like(const AnalysisState& state, std::string name) {
  AnalysisState made;
  made.name = std::move(name);
  made.case_factors.assign(state.case_factors.size(), 0.0);
  return made;
}

}  // namespace

void TransientAnalysis::save(std::ostream& to) {
  const AnalysisState& now = state();
  const TimeIntegrator::Memory memory = integrator().memory().clone();
  const EnergyBalance& e = memory.energies;
  save_state(*model_, now, to);
  AnalysisState forces = empty_like(
      now, detail::named_numbers(
               forces_mark,
               {next_step_, largest_, estimated_, e.kinetic, e.internal, e.external, e.damping, e.initial,
                double(report_.steps), double(report_.rejected), double(report_.failed), double(report_.factorisations),
                double(report_.iterations), report_.smallest_step, report_.largest_step, memory.heat.stored,
                memory.heat.loads, memory.heat.supports, double(report_.inaccurate)}));
  const auto copy = [](const Vector& x) { return x.layout() ? x.clone() : Vector(); };
  forces.unknowns = copy(memory.internal);
  forces.rate = copy(memory.damping);
  forces.second_rate = copy(memory.inertial);
  forces.loads = copy(memory.external);
  write_record(record_of(*model_, forces, {true, true, true, true}), to);
  AnalysisState former = empty_like(now, detail::named_numbers(former_mark, memory.times));
  Vector* const places[] = {&former.unknowns, &former.rate};
  for (std::size_t k = 0; k < memory.accelerations.size(); ++k) *places[k] = copy(memory.accelerations[k]);
  former.second_rate = copy(memory.balance);
  former.loads = copy(memory.reference);
  write_record(record_of(*model_, former, {false, false, true, false}), to);
}

void TransientAnalysis::restore(std::istream& from) {
  set_up();
  AnalysisState now = restore_state(*model_, from), forces = restore_state(*model_, from),
                former = restore_state(*model_, from);
  const std::vector<double> numbers = numbers_of(forces.name, forces_mark);
  constexpr std::size_t expected = 19;
  if (numbers.size() != expected || !now.rate.layout() || !now.second_rate.layout() || !forces.unknowns.layout())
    detail::refuse_state("it is not the state of a transient analysis like this one");
  TimeIntegrator::Memory memory;
  memory.internal = std::move(forces.unknowns);
  memory.damping = std::move(forces.rate);
  memory.inertial = std::move(forces.second_rate);
  memory.external = std::move(forces.loads);
  memory.times = numbers_of(former.name, former_mark);
  Vector* const places[] = {&former.unknowns, &former.rate};
  if (memory.times.size() > 2) detail::refuse_state("it has more former accelerations than this program keeps");
  for (std::size_t k = 0; k < memory.times.size(); ++k) memory.accelerations.push_back(std::move(*places[k]));
  memory.balance = std::move(former.second_rate);
  memory.reference = std::move(former.loads);
  memory.heat = {numbers[15], numbers[16], numbers[17]};
  memory.energies = {numbers[3], numbers[4], numbers[5], numbers[6], numbers[7]};
  next_step_ = numbers[0];
  largest_ = numbers[1];
  estimated_ = numbers[2];
  report_ = {};
  report_.steps = static_cast<int>(numbers[8]);
  report_.rejected = static_cast<int>(numbers[9]);
  report_.failed = static_cast<int>(numbers[10]);
  report_.factorisations = static_cast<int>(numbers[11]);
  report_.iterations = static_cast<std::int64_t>(numbers[12]);
  report_.smallest_step = numbers[13];
  report_.largest_step = numbers[14];
  report_.inaccurate = static_cast<int>(numbers[18]);
  integrator().restore(std::move(memory));
  state_ = std::move(now);
  started_ = true;
  matrix_is_lost_ = report_.steps > 0;
}

}  // namespace voussoir
