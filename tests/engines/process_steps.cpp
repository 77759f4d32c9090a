// mpirun -n N process_steps [--method NAME] [--backend NAME] [CASE…]
//
// Runs steps over time of small decks on one process by our own direct solver, and on all processes by the engine, and
// compares everything that the steps pass on: states (unknowns, velocities, reactions, forces, values at points),
// histories, energies, sums, peaks, increments and iterations. Then lets single processes fail. Without --method by
// MUMPS, so that the comparison holds to 1e-9 of the largest value of each quantity.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/jobs/process_job.hpp>
#include <voussoir/jobs/run_job.hpp>

namespace {

using namespace voussoir;

constexpr double tolerance = 1e-9;

/// Keeps what steps pass on.
class KeptStates : public StepReceiver {
 public:
  void step(std::size_t step, StepResult result) override {
    StepState state;
    state.result = std::move(result);
    states[step].push_back(std::move(state));
  }
  void modes(std::size_t, std::shared_ptr<const ModeSet>) override {}
  void state(std::size_t step, StepState state) override {
    if (fails) throw Error(ErrorCode::io, "the disk is full");
    states[step].push_back(std::move(state));
  }
  void end(std::size_t step, StepResponse response) override { responses[step] = std::move(response); }

  bool fails = false;
  std::map<std::size_t, std::vector<StepState>> states;
  std::map<std::size_t, StepResponse> responses;
};

double size_of(const std::vector<double>& values) {
  double size = 0;
  for (const double v : values)
    if (!std::isnan(v)) size = std::max(size, std::abs(v));
  return size;
}

/// Throws where two lists of numbers differ by more than the tolerance times `size`; NaN must be in the same places.
void expect_same(const std::string& what, const std::vector<double>& a, const std::vector<double>& b, double size) {
  if (a.size() != b.size())
    throw Error(ErrorCode::internal,
                what + ": " + std::to_string(a.size()) + " and " + std::to_string(b.size()) + " values");
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (std::abs(a[i] - b[i]) <= tolerance * size) continue;
    char text[200];
    std::snprintf(text, sizeof text, "%s, value %zu: %.12g and %.12g (largest %.3g)", what.c_str(), i, a[i], b[i],
                  size);
    throw Error(ErrorCode::internal, text);
  }
}

void expect_same_field(const std::string& where, const NodalField& a, const NodalField& b, double size) {
  if (a.name != b.name || a.components != b.components)
    throw Error(ErrorCode::internal, where + ": field '" + a.name + "' and '" + b.name + "'");
  expect_same(where + " " + a.name, a.values, b.values, std::max(size, size_of(a.values)));
}

void expect_same_points(const std::string& where, const PointField& a, const PointField& b) {
  if (a.block != b.block || a.points != b.points || a.names != b.names)
    throw Error(ErrorCode::internal, where + ": points of other blocks");
  const std::size_t width = a.names.size();
  const auto column = [&](const PointField& field, std::size_t c) {
    std::vector<double> values;
    for (std::size_t i = c; i < field.values.size(); i += width) values.push_back(field.values[i]);
    return values;
  };
  for (std::size_t c = 0; c < width; ++c) {
    double size = 0;  // a component that is zero has the rounding of its neighbours
    for (std::size_t d = 0; d < width; ++d)
      if (a.names[d][0] == a.names[c][0]) size = std::max(size, size_of(column(a, d)));
    expect_same(where + " points " + a.names[c], column(a, c), column(b, c), size);
  }
}

/// `force` is the largest force of the step, since those at its beginning may be rounding alone.
void expect_same_state(const std::string& where, const StepState& a, const StepState& b, double motion, double force) {
  if (a.at != b.at || a.for_viewers != b.for_viewers || a.prints != b.prints)
    throw Error(ErrorCode::internal, where + ": other times or outputs");
  expect_same_field(where, a.result.unknowns, b.result.unknowns, motion);
  expect_same_field(where, a.velocity, b.velocity, 0);
  expect_same_field(where, a.result.reactions, b.result.reactions, force);
  expect_same_field(where, a.result.internal_forces, b.result.internal_forces, force);
  expect_same(where + " loads", a.result.load_sum, b.result.load_sum, 10 * force);
  expect_same(where + " reactions", a.result.reaction_sum, b.result.reaction_sum, 10 * force);
  expect_same(where + " energy", {a.result.energy}, {b.result.energy}, std::abs(a.result.energy));
  if (a.result.points.size() != b.result.points.size())
    throw Error(ErrorCode::internal, where + ": other blocks have points");
  for (std::size_t i = 0; i < a.result.points.size(); ++i)
    expect_same_points(where, a.result.points[i], b.result.points[i]);
}

void expect_same_curves(const std::string& what, const NamedHistories& a, const NamedHistories& b, double size = 0) {
  if (a.size() != b.size()) throw Error(ErrorCode::internal, what + ": another number of curves");
  for (const auto& [name, values] : a)
    if (name != "iterations" && name != "unbalance") size = std::max(size, size_of(values));
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].first != b[i].first) throw Error(ErrorCode::internal, what + ": " + a[i].first + " and " + b[i].first);
    if (a[i].first == "unbalance") continue;  // of the last iteration: rounding
    expect_same(what + " " + a[i].first, a[i].second, b[i].second, std::max(size, size_of(a[i].second)));
  }
}

/// `force` is the largest force at a node: sums may be rounding alone.
void expect_same_response(const StepResponse& a, const StepResponse& b, double force, bool factorised) {
  expect_same("times", a.axis, b.axis, size_of(a.axis));
  expect_same_curves("history", a.histories, b.histories);
  expect_same_curves("energy", a.energies, b.energies);
  expect_same_curves("sum", a.sums, b.sums, force);
  if (a.recorded.size() != b.recorded.size()) throw Error(ErrorCode::internal, "other recorded curves");
  for (std::size_t i = 0; i < a.recorded.size(); ++i) {
    expect_same("recorded times", a.recorded[i].times, b.recorded[i].times, size_of(a.recorded[i].times));
    expect_same_curves("recorded", a.recorded[i].curves, b.recorded[i].curves);
  }
  if (a.peaks.size() != b.peaks.size() || a.notes != b.notes)
    throw Error(ErrorCode::internal, "other peaks or notes: " + (a.notes.empty() ? std::string() : a.notes.front()) +
                                         " and " + (b.notes.empty() ? std::string() : b.notes.front()));
  // Peaks of opposite sign on both sides of a plane of symmetry are equally large.
  double largest_peak = 0;
  for (const ResponsePeak& peak : a.peaks) largest_peak = std::max(largest_peak, std::abs(peak.value));
  for (std::size_t i = 0; i < a.peaks.size(); ++i)
    if (a.peaks[i].quantity != b.peaks[i].quantity ||
        !(std::abs(std::abs(a.peaks[i].value) - std::abs(b.peaks[i].value)) <=
          tolerance * std::max(largest_peak, force)))
      throw Error(ErrorCode::internal, "peak of " + a.peaks[i].quantity);
  if (a.counts.size() != b.counts.size()) throw Error(ErrorCode::internal, "other counts");
  for (std::size_t i = 0; i < a.counts.size(); ++i) {
    if (a.counts[i].first == "iterations" && !factorised) continue;  // of another preconditioner
    // Balances are rounding, and so is the estimate of the stability limit of a few equations, within its tolerance.
    if (a.counts[i].first == "worst_balance" || a.counts[i].first == "stability_limit") continue;
    const double least = a.counts[i].first == "iterations" || a.counts[i].first == "matrices" ? 2 : 0;
    if (!(std::abs(a.counts[i].second - b.counts[i].second) <= std::max(least, 1e-9 * std::abs(a.counts[i].second))))
      throw Error(ErrorCode::internal, a.counts[i].first + ": " + std::to_string(a.counts[i].second) + " and " +
                                           std::to_string(b.counts[i].second));
  }
}

/// A bar of n × 2 × 2 elements along x, 1 long and 0.2 thick. LEFT and RIGHT are its ends, TIP is a corner.
std::string bar(int n, const std::string& type, const std::string& material, const std::string& rest) {
  std::ostringstream text;
  const auto node = [](int i, int j, int k) { return 1 + 9 * i + 3 * j + k; };
  text << "*NODE, NSET=NALL\n";
  for (int i = 0; i <= n; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k)
        text << node(i, j, k) << ", " << static_cast<double>(i) / n << ", " << 0.1 * j << ", " << 0.1 * k << "\n";
  text << "*ELEMENT, TYPE=" << type << ", ELSET=EALL\n";
  for (int i = 0, e = 1; i < n; ++i)
    for (int j = 0; j < 2; ++j)
      for (int k = 0; k < 2; ++k, ++e) {
        text << e;
        for (const int x : {0, 1})
          for (const auto& [dj, dk] : {std::pair{0, 0}, {1, 0}, {1, 1}, {0, 1}})
            text << ", " << node(i + x, j + dj, k + dk);
        text << "\n";
      }
  text << "*NSET, NSET=LEFT\n1, 2, 3, 4, 5, 6, 7, 8, 9\n*NSET, NSET=RIGHT\n";
  for (int m = 0; m < 9; ++m) text << (m ? ", " : "") << node(n, 0, 0) + m;
  text << "\n*NSET, NSET=TIP\n" << node(n, 2, 2) << "\n*ELSET, ELSET=FIRST\n1, 2, 3, 4\n*ELSET, ELSET=LAST\n";
  for (int m = 0; m < 4; ++m) text << (m ? ", " : "") << 4 * (n - 1) + 1 + m;
  text << "\n*MATERIAL, NAME=M\n" << material << "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n";
  return text.str() +
         "*AMPLITUDE, NAME=PULSE\n0., 0., 0.02, 1., 0.05, -0.3, 0.1, 0.\n*AMPLITUDE, NAME=BACK\n0., 0., 0.02, 1., "
         "0.05, 0., 1., 0.\n" +
         rest;
}

/// A bar whose last elements have another material, so that parts differ in what damps, or is not linear.
std::string two_materials(const std::string& first, const std::string& last, const std::string& rest,
                          const std::string& before = {}) {
  std::string deck = bar(6, "C3D8", first, rest);
  const std::string whole = "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n";
  return deck.replace(deck.find(whole), whole.size(),
                      "*MATERIAL, NAME=N\n" + last +
                          "*ELSET, ELSET=BEGIN, GENERATE\n1, 20\n*SOLID SECTION, ELSET=BEGIN, MATERIAL=M\n"
                          "*SOLID SECTION, ELSET=LAST, MATERIAL=N\n" +
                          before);
}

/// A portal of beams, with rotations as unknowns.
std::string frame(const std::string& step) {
  std::ostringstream text;
  text << "*NODE, NSET=NALL\n";
  for (int i = 0; i <= 12; ++i)
    text << i + 1 << ", " << (i < 4 ? 0 : i > 8 ? 4 : i - 4) << ", 0., " << (i < 4 ? i : i > 8 ? 12 - i : 4) << "\n";
  text << "*ELEMENT, TYPE=B31, ELSET=EALL\n";
  for (int e = 1; e <= 12; ++e) text << e << ", " << e << ", " << e + 1 << "\n";
  text << "*NSET, NSET=TIP\n7\n*MATERIAL, NAME=M\n*ELASTIC\n1.E6, 0.3\n*DENSITY\n2.\n*BEAM SECTION, ELSET=EALL, "
          "MATERIAL=M, SECTION=RECT\n0.2, 0.1\n0., 1., 0.\n*BOUNDARY\n1, 1, 6\n13, 1, 6\n"
       << step << "*CLOAD\nTIP, 3, -5.\nTIP, 2, 1.\n*NODE PRINT, NSET=TIP\nU, V\n*END STEP\n";
  return text.str();
}

/// Two beams: on three processes and more, some have no elements.
std::string two_beams(const std::string& step) {
  return "*NODE\n1, 0., 0., 0.\n2, 1., 0., 0.\n3, 2., 0., 0.\n*ELEMENT, TYPE=B31, ELSET=EALL\n1, 1, 2\n2, 2, 3\n"
         "*NSET, NSET=TIP\n3\n*MATERIAL, NAME=M\n*ELASTIC\n1.E6, 0.3\n*DENSITY\n2.\n*BEAM SECTION, ELSET=EALL, "
         "MATERIAL=M, SECTION=RECT\n0.2, 0.1\n0., 1., 0.\n*BOUNDARY\n1, 1, 6\n" +
         step + "*CLOAD\nTIP, 3, -5.\n*NODE PRINT, NSET=TIP\nU, V\n*END STEP\n";
}

const std::string elastic = "*ELASTIC\n1000., 0.25\n*DENSITY\n2.\n";
const std::string heat =
    "*CONDUCTIVITY\n20.\n*SPECIFIC HEAT\n3.\n*DENSITY\n2.\n*EXPANSION\n1E-4\n*ELASTIC\n1000., 0.25\n";
const std::string held = "*BOUNDARY\nLEFT, 1, 3\n";
const std::string printed =
    "*NODE PRINT, NSET=TIP\nU, V, RF\n*EL PRINT, ELSET=LAST, FREQUENCY=3\nS, ENER\n*NODE PRINT, NSET=LEFT, "
    "TOTALS=YES\nRF\n*OUTPUT, HISTORY\n*NODE OUTPUT, NSET=TIP\nU, A\n*ELEMENT OUTPUT, ELSET=LAST, "
    "POSITION=CENTROIDAL\nS\n*END STEP\n";
const std::string printed_heat = "*NODE PRINT, NSET=TIP\nNT, RFL\n*EL PRINT, ELSET=LAST, FREQUENCY=2\nHFL\n*END STEP\n";

struct Case {
  std::string name, deck;
  std::string method = {};  ///< of integration; empty: that of the deck
  bool base = false;        ///< whether the base is accelerated
};

std::vector<Case> cases() {
  const std::string dynamics = "*STEP, INC=10000\n*DYNAMIC, DIRECT\n0.005, 0.06\n";
  const std::string push = "*CLOAD, AMPLITUDE=PULSE\nRIGHT, 2, 1.\n*DLOAD\nEALL, GRAV, 9.81, 0., 0., -1.\n";
  const std::string pressed = "*DLOAD, AMPLITUDE=PULSE\nLAST, P2, 4.\n";
  const std::string damped = elastic + "*DAMPING, ALPHA=0.3, BETA=1E-4\n";
  const std::string warm = "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 20.\n";
  const std::string fixed_heat = "*STEP, INC=10000\n*HEAT TRANSFER, DIRECT\n0.005, 0.03\n";
  const std::string heated =
      "*BOUNDARY\nLEFT, 11, 11, 120.\n*FILM, AMPLITUDE=PULSE\nLAST, F2, 300., 40.\n*DFLUX\nFIRST, BF, 50.\n";
  const std::string moved = "*BOUNDARY, AMPLITUDE=PULSE\nLEFT, 2, 2, 0.01\n";
  const std::string back = "*BOUNDARY, AMPLITUDE=BACK\nLEFT, 2, 2, 0.01\n";
  const std::string thrown = "*INITIAL CONDITIONS, TYPE=VELOCITY\nRIGHT, 3, 1.5\n";
  const std::string nonlinear = "*CONDUCTIVITY\n20., 0.\n60., 200.\n*SPECIFIC HEAT\n3., 0.\n5., 200.\n*DENSITY\n2.\n";
  const std::string weak = "*ELASTIC\n1000., 0.25\n*DENSITY\n2.\n*PLASTIC\n20., 0.\n40., 0.1\n60., 1.\n";
  std::vector<Case> list{
      {"newmark", bar(6, "C3D8", damped, held + dynamics + push + printed), "newmark"},
      {"hht", bar(5, "C3D8I", elastic, held + dynamics + push + pressed + printed)},
      {"generalised-alpha", bar(6, "C3D8", elastic, held + dynamics + pressed + printed), "generalised-alpha"},
      {"automatic", bar(4, "C3D8", elastic, held + "*STEP, INC=10000\n*DYNAMIC\n0.004, 0.012\n" + push + printed)},
      {"moved", bar(6, "C3D8", elastic, held + thrown + dynamics + back + printed + dynamics + push + moved + printed)},
      {"moved automatic",
       bar(4, "C3D8", elastic, held + "*STEP, INC=10000\n*DYNAMIC\n0.004, 0.012\n" + moved + printed)},
      {"base", bar(6, "C3D8", elastic, held + dynamics + printed), "hht", true},
      {"flying", bar(4, "C3D8", elastic, thrown + dynamics + push + printed)},
      {"two beams", two_beams(dynamics)},
      {"two materials", two_materials(elastic, damped, held + dynamics + push + printed)},
      {"tied",
       bar(6, "C3D8", elastic,
           held + "*EQUATION\n2\n37, 2, 1., 43, 2, -1.\n*RIGID BODY, NSET=RIGHT\n" + dynamics + push + printed)},
      {"frame", frame(dynamics)},
      {"backward-euler", bar(6, "C3D8", heat, warm + fixed_heat + heated + printed_heat), "backward-euler"},
      {"crank-nicolson", bar(6, "C3D8", heat, warm + fixed_heat + heated + printed_heat), "crank-nicolson"},
      {"bdf2", bar(6, "C3D8", heat, warm + fixed_heat + heated + printed_heat), "bdf2"},
      {"heat after heat",
       bar(6, "C3D8", heat,
           warm + "*STEP\n*HEAT TRANSFER, STEADY STATE\n" + heated + printed_heat + fixed_heat + heated + printed_heat +
               fixed_heat + "*BOUNDARY\nLEFT, 11, 11, 60.\n" + printed_heat)},
      {"nonlinear heat",
       bar(5, "C3D8", nonlinear,
           warm + "*STEP, INC=10000\n*HEAT TRANSFER, DELTMX=40.\n0.002, 0.006\n" + heated + printed_heat)},
      {"half nonlinear heat",
       two_materials(heat, nonlinear, warm + fixed_heat + heated + "*RADIATE\nLAST, R2, 10., 0.8\n" + printed_heat,
                     "*PHYSICAL CONSTANTS, ABSOLUTE ZERO=-273.15, STEFAN BOLTZMANN=5.E-8\n")},
      {"heat, then stress", bar(6, "C3D8", heat,
                                warm + held + "*STEP\n*UNCOUPLED TEMPERATURE-DISPLACEMENT, STEADY STATE\n" + heated +
                                    "*NODE PRINT, NSET=TIP\nNT, U\n*END STEP\n")},
      {"large statics",
       bar(8, "C3D8", elastic, held + "*STEP, NLGEOM, INC=1000\n*STATIC\n0.2, 1.\n*CLOAD\nRIGHT, 2, 0.12\n" + printed)},
      {"pressed statics",
       bar(6, "C3D8", elastic,
           held + "*STEP, NLGEOM, INC=1000\n*STATIC, DIRECT\n0.25, 1.\n*DLOAD\nLAST, P2, 20.\n" + printed)},
      {"moved statics",
       bar(6, "C3D8", elastic,
           held + "*STEP, NLGEOM, INC=1000\n*STATIC\n0.25, 1.\n*BOUNDARY\nRIGHT, 2, 2, 0.2\n" + printed)},
      {"large dynamics",
       bar(6, "C3D8", elastic,
           held + "*STEP, NLGEOM, INC=1000\n*DYNAMIC, DIRECT\n0.01, 0.1\n*CLOAD\nRIGHT, 2, 0.3\n" + pressed + printed)},
      // Accelerations at the start: far from the force, both ways of computing them agree.
      {"sudden",
       bar(10, "C3D8", elastic,
           held + "*STEP, NLGEOM, INC=1000\n*DYNAMIC, DIRECT\n0.05, 0.2\n*CLOAD\nRIGHT, 2, 0.02\n" + printed)},
      // Some parts have no plastic elements.
      {"plastic", two_materials(elastic, weak,
                                held + "*STEP, NLGEOM, INC=1000\n*STATIC\n0.25, 1.\n*CLOAD\nRIGHT, 1, 0.12\n" +
                                    "*EL PRINT, ELSET=EALL\nPEEQ\n" + printed +
                                    "*STEP, NLGEOM, INC=1000\n*DYNAMIC, DIRECT\n0.005, 0.02\n*CLOAD\nRIGHT, 2, 0.05\n" +
                                    "*EL PRINT, ELSET=EALL\nPEEQ\n" + printed)},
      {"explicit", bar(5, "C3D8", elastic + "*DAMPING, ALPHA=0.3\n",
                       held + "*STEP\n*DYNAMIC, EXPLICIT\n, 0.02\n" + push + pressed + printed)},
      {"explicit flight", bar(3, "C3D8", elastic, thrown + "*STEP\n*DYNAMIC, EXPLICIT\n, 0.005\n" + push + printed)},
      {"explicit moved",
       bar(4, "C3D8", elastic, held + thrown + "*STEP\n*DYNAMIC, EXPLICIT, DIRECT\n5.E-4, 0.01\n" + moved + printed)},
      {"explicit plastic",
       bar(5, "C3D8R", weak,
           held + "*STEP, NLGEOM\n*DYNAMIC, EXPLICIT\n, 0.02\n*BULK VISCOSITY\n0.06, 1.2\n*CLOAD\nRIGHT, 1, 0.5\n" +
               "*EL PRINT, ELSET=EALL\nPEEQ\n" + printed)},
      {"explicit beams", two_beams("*STEP\n*DYNAMIC, EXPLICIT, DIRECT\n0.001, 0.01\n")},
      {"large automatic",
       bar(4, "C3D8", elastic,
           held + "*STEP, NLGEOM, INC=1000\n*DYNAMIC\n0.004, 0.008\n*CLOAD\nRIGHT, 2, 0.3\n" + printed)},
  };
  return list;
}

/// Turns a step of steady heat into one over time, so that the step of statics that follows takes its temperatures.
void heat_over_time(JobStep& step) {
  DynamicStep request;
  request.times.increment = 0.005;
  request.times.period = 0.02;
  request.method = "backward-euler";
  if (!step.load_case.empty()) request.loads.push_back({step.load_case, Amplitude(), step.load_factor});
  step.procedure = Procedure::transient_heat;
  step.modal = std::move(request);
}

Job job_of(const Case& one) {
  Job job = read_deck_text(one.deck, "bar.inp");
  if (one.name == "heat, then stress") heat_over_time(job.steps.front());
  for (JobStep& step : job.steps) {
    auto* request = std::get_if<DynamicStep>(&step.modal);
    if (!request) continue;
    if (!one.method.empty()) request->method = one.method;
    if (one.base) request->base.push_back({1, Amplitude({{0, 0}, {0.02, 3}, {0.04, -2}, {1, 0}}), 1.5});
  }
  return job;
}

/// Solves a case in both ways, and throws where what is passed on differs; collective.
void compare(Engine& engine, const Case& one, const ProcessOptions& options) {
  Processes& processes = engine.processes();
  Job job;
  KeptStates expected, found;
  agree(processes, [&] {
    if (!processes.is_first()) return;
    job = job_of(one);
    Job other = job_of(one);
    StaticOptions how;
    how.backend = "openmp:1";
    how.solver = "direct";
    run_job(other, how, {}, expected);
  });
  run_process_job(engine, &job, options, {}, &found);
  agree(processes, [&] {
    if (!processes.is_first()) return;
    if (expected.states.size() != found.states.size() || expected.responses.size() != found.responses.size())
      throw Error(ErrorCode::internal, "another number of steps");
    std::size_t states = 0;
    std::map<std::size_t, double> forces;
    for (const auto& [step, list] : expected.states) {
      const std::vector<StepState>& others = found.states[step];
      if (list.size() != others.size() || list.empty()) throw Error(ErrorCode::internal, "another number of states");
      double motion = 0, force = 0;
      for (const StepState& state : list) {
        motion = std::max(motion, size_of(state.result.unknowns.values));
        force = std::max(force, size_of(state.result.internal_forces.values));
      }
      forces[step] = force;
      for (std::size_t i = 0; i < list.size(); ++i, ++states)
        expect_same_state("step " + std::to_string(step + 1) + ", state " + std::to_string(i + 1), list[i], others[i],
                          motion, force);
    }
    for (const auto& [step, response] : expected.responses)
      expect_same_response(response, found.responses[step], forces[step], options.engine.method == "mumps");
    std::printf("%s: %zu states agree\n", one.name.c_str(), states);
    std::fflush(stdout);
  });
}

/// All processes must throw an Error of this code that contains `words`; collective.
void expect_failure(Engine& engine, const std::string& name, const Case& one, const ProcessOptions& options,
                    ErrorCode code, const std::string& words, const std::function<bool(const JobProgress&)>& observer,
                    bool receiver_fails) {
  Processes& processes = engine.processes();
  Job job;
  agree(processes, [&] {
    if (processes.is_first()) job = job_of(one);
  });
  KeptStates found;
  found.fails = receiver_fails;
  std::string text = "nothing was thrown";
  bool right = false;
  try {
    run_process_job(engine, &job, options, observer, &found);
  } catch (const SharedError& error) {
    text = error.what();
    right = error.code() == code && text.find(words) != std::string::npos;
  }
  agree(processes, [&] {
    if (!right) throw Error(ErrorCode::internal, "failed otherwise: " + text, name);
    if (processes.is_first()) std::printf("%s: all processes say '%s'\n", name.c_str(), text.c_str());
  });
}

void fail_together(Engine& engine, const ProcessOptions& options) {
  const std::vector<Case> all = cases();
  const int last = engine.processes().count() - 1, own = engine.processes().own();
  int calls = 0;
  const auto stop_late = [&](const JobProgress&) { return own != last || ++calls < 10; };
  expect_failure(engine, "stopped by the last process", all.front(), options, ErrorCode::cancelled, "cancelled",
                 stop_late, false);
  if (last >= 2)
    expect_failure(
        engine, "stopped beside processes without elements",
        {"two beams", two_beams("*STEP, INC=10000\n*DYNAMIC, DIRECT\n0.005, 0.06\n")}, options, ErrorCode::cancelled,
        "cancelled",
        [own](const JobProgress& p) { return own != 1 || p.analysis.stage.find("time 0.02") == std::string::npos; },
        false);
  expect_failure(engine, "receiver fails", all.front(), options, ErrorCode::io, "the disk is full", {}, true);
  // Elements turn inside out, however small the increment of Newton's method.
  const Case crushed{"crushed", bar(6, "C3D8", elastic,
                                    held +
                                        "*STEP, NLGEOM, INC=100\n*STATIC, DIRECT\n1., 1.\n*BOUNDARY\nRIGHT, 1, 1, "
                                        "-2.\n" +
                                        printed)};
  expect_failure(engine, "crushed", crushed, options, ErrorCode::not_converged, "", {}, false);
  compare(engine, all.front(), options);  // the engine still works
}

}  // namespace

int main(int count, char** words) {
  ProcessOptions options;
  options.backend = "openmp:1";
  options.engine.method = "mumps";
  std::vector<std::string> wanted;
  for (int i = 1; i < count; ++i)
    if (std::strcmp(words[i], "--method") == 0 && i + 1 < count)
      options.engine.method = words[++i];
    else if (std::strcmp(words[i], "--backend") == 0 && i + 1 < count)
      options.backend = words[++i];
    else
      wanted.emplace_back(words[i]);
  options.engine.relative_tolerance = 1e-13;
  int failed = 0;
  const auto attempt = [&](Engine& engine, const std::string& name, const std::function<void()>& work) {
    try {
      work();
    } catch (const SharedError& error) {
      ++failed;
      if (engine.processes().is_first()) std::printf("%s FAILED: %s\n", name.c_str(), error.what());
    } catch (const std::exception& error) {
      std::printf("%s FAILED on process %d alone: %s\n", name.c_str(), engine.processes().own(), error.what());
      std::fflush(stdout);
      engine.processes().abort(2);
    }
  };
  try {
    const auto engine = open_engine("petsc");
    for (const Case& one : cases())
      if (wanted.empty() || std::find(wanted.begin(), wanted.end(), one.name) != wanted.end())
        attempt(*engine, one.name, [&] { compare(*engine, one, options); });
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), "failures") != wanted.end())
      attempt(*engine, "failures", [&] { fail_together(*engine, options); });
  } catch (const std::exception& error) {
    std::printf("FAILED: %s\n", error.what());
    return 1;
  }
  return failed > 0;
}
