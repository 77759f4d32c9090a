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

#include "engines/bar_deck.hpp"
#include "engines/kept_states.hpp"

namespace {

using namespace voussoir;
using namespace voussoir::test;

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
  const std::string steady = "*STEP\n*HEAT TRANSFER, STEADY STATE\n";
  // Modes of equal frequencies are any combination of each other.
  const std::string unlike = held + "*BOUNDARY\nRIGHT, 3, 3\n";
  const std::string inclined = "*TRANSFORM, NSET=TIP\n0.8, 0.6, 0., -0.6, 0.8, 0.\n";
  const std::string uncoupled = "*STEP, INC=1000\n*UNCOUPLED TEMPERATURE-DISPLACEMENT, DIRECT\n";
  const std::string push_loads = "*CLOAD, AMPLITUDE=PULSE\nRIGHT, 2, 0.1\n";
  const std::string printed_stress =
      "*NODE PRINT, NSET=TIP\nNT, U, RF\n*EL PRINT, ELSET=LAST, FREQUENCY=2\nS\n*END STEP\n";
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
      // The supports of one step decide whether sums of its reactions are meaningful, not those of the last step.
      {"inclined, then held", bar(4, "C3D8", elastic,
                                  inclined + "*BOUNDARY\nLEFT, 1, 3\n" + dynamics + "*BOUNDARY\nTIP, 1, 1\n" + push +
                                      printed + dynamics + "*BOUNDARY, OP=NEW\nLEFT, 1, 3\n" + push + printed)},
      {"steady nonlinear heat",
       bar(5, "C3D8", nonlinear,
           warm + steady + heated + printed_heat + steady + "*BOUNDARY\nLEFT, 11, 11, 60.\n" + printed_heat)},
      // Some parts are linear.
      {"steady radiation",
       two_materials(heat, nonlinear, warm + steady + heated + "*RADIATE\nLAST, R2, 10., 0.8\n" + printed_heat,
                     "*PHYSICAL CONSTANTS, ABSOLUTE ZERO=-273.15, STEFAN BOLTZMANN=5.E-8\n")},
      {"nonlinear heat, then stress", bar(6, "C3D8", nonlinear + "*EXPANSION\n1E-4\n*ELASTIC\n1000., 0.25\n",
                                          warm + held + "*STEP\n*UNCOUPLED TEMPERATURE-DISPLACEMENT, STEADY STATE\n" +
                                              heated + "*NODE PRINT, NSET=TIP\nNT, U\n*END STEP\n")},
      // More states than are solved with one matrix.
      {"stress over time",
       bar(5, "C3D8", heat, warm + held + uncoupled + "0.005, 0.1\n" + heated + push_loads + printed_stress)},
      {"moved stress over time",
       bar(5, "C3D8", heat,
           warm + held + uncoupled + "0.005, 0.02\n" + heated + "*BOUNDARY, AMPLITUDE=PULSE\nTIP, 2, 2, 0.01\n" +
               printed_stress + uncoupled + "0.005, 0.02\n" + heated + printed_stress)},
      {"soft stress over time",
       bar(5, "C3D8",
           "*CONDUCTIVITY\n20.\n*SPECIFIC HEAT\n3.\n*DENSITY\n2.\n*EXPANSION\n1E-4\n*ELASTIC\n1000., 0.25, "
           "0.\n400., 0.3, 200.\n",
           warm + held + uncoupled + "0.005, 0.02\n" + heated + push_loads + printed_stress)},
      {"modal dynamics",
       bar(6, "C3D8", elastic,
           unlike +
               "*STEP\n*FREQUENCY\n8\n*END STEP\n*STEP\n*MODAL DYNAMIC\n0.005, 0.04\n*MODAL DAMPING\n1, 4, 0.05\n" +
               push + "*CLOAD\n56, 1, 0.4\n*NODE PRINT, NSET=TIP\nU, V, RF\n*EL PRINT, ELSET=LAST\nS\n*END STEP\n" +
               "*STEP\n*MODAL DYNAMIC\n" +
               "0.005, 0.02\n*CLOAD, OP=NEW\n56, 1, 0.4\n*DLOAD, OP=NEW\n*BASE MOTION, DOF=2, AMPLITUDE=PULSE\n*NODE "
               "PRINT, "
               "NSET=TIP\nU\n*END STEP\n")},
      {"harmonic",
       bar(6, "C3D8", elastic,
           unlike +
               "*STEP\n*FREQUENCY\n6\n*END STEP\n*STEP\n*STEADY STATE DYNAMICS\n1., 30., 4\n*MODAL DAMPING\n1, 6, " +
               "0.03\n*CLOAD\nRIGHT, 2, 1.\n*CLOAD, LOAD CASE=2\nRIGHT, 3, 0.5\n*NODE PRINT, NSET=TIP\nU, V\n*EL " +
               "PRINT, ELSET=LAST\nS\n*END STEP\n")},
      {"explicit scaled",
       two_materials(elastic, "*ELASTIC\n9000., 0.25\n*DENSITY\n2.\n",
                     held + "*STEP\n*DYNAMIC, EXPLICIT\n, 0.01\n*FIXED MASS SCALING, TYPE=BELOW MIN, DT=1.5E-3, MOST " +
                         "ADDED=1.\n" + push + pressed + printed)},
      {"beyond hardening",
       bar(4, "C3D8", "*ELASTIC\n1000., 0.25\n*DENSITY\n2.\n*PLASTIC\n2., 0.\n4., 0.001\n",
           held + "*STEP, NLGEOM, INC=1000\n*STATIC\n0.25, 1.\n*CLOAD\nRIGHT, 1, 0.0178\n" + printed +
               "*STEP, NLGEOM\n*DYNAMIC, DIRECT\n0.01, 0.02\n*CLOAD\nRIGHT, 1, 0.018\n" + printed)},
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
