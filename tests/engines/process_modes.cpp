// mpirun -n N process_modes [--method NAME] DECK…
//
// Natural modes of models and of decks, by our own solver on one process and by the engine on all processes. Compared
// are frequencies, motions without stiffness, statements of completeness, masses, participation by groups of equal
// frequencies, and shapes of modes whose frequency no other has. A deck gets a density, and a frequency step in place
// of its steps. Some models have published frequencies, too.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <voussoir/framework/domain/material.hpp>
#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/jobs/process_job.hpp>
#include <voussoir/jobs/run_job.hpp>

namespace {

using namespace voussoir;

/// Takes the modes of steps and the states of their tables.
class ModeTaker : public StepReceiver {
 public:
  void step(std::size_t, StepResult) override {}
  void modes(std::size_t, std::shared_ptr<const ModeSet> modes) override { sets.push_back(std::move(modes)); }
  void state(std::size_t, StepState state) override { states.push_back(std::move(state)); }
  void end(std::size_t, StepResponse) override {}
  std::vector<std::shared_ptr<const ModeSet>> sets;
  std::vector<StepState> states;
};

[[noreturn]] void differ(const std::string& what, double a, double b) {
  char text[200];
  std::snprintf(text, sizeof text, "%s: %.13g and %.13g", what.c_str(), a, b);
  throw Error(ErrorCode::internal, text);
}

void expect_near(const std::string& what, double a, double b, double tolerance) {
  if (!(std::abs(a - b) <= tolerance)) differ(what, a, b);
}

/// The end of the group of equal frequencies that begins with a mode.
int end_of_group(const ModeSet& modes, int first) {
  int last = first + 1;
  while (last < modes.count() &&
         std::abs(modes.eigenvalue(last) - modes.eigenvalue(first)) <= 1e-5 * std::abs(modes.eigenvalue(last)))
    ++last;
  return last;
}

/// Of a group, effective masses are those of the whole group. Where the number of modes may cut the last one, it is
/// left out.
void compare_groups(const ModeSet& a, const ModeSet& b, bool last_is_whole) {
  const std::vector<double> assurance = modal_assurance(a, b);
  for (int first = 0; first < a.count();) {
    const int last = end_of_group(a, first);
    if (last == a.count() && !last_is_whole) return;
    for (int d = 0; d < ModeSet::directions; ++d) {
      double x = 0, y = 0;
      for (int m = first; m < last; ++m) x += a.effective_mass(m, d);
      for (int m = first; m < last; ++m) y += b.effective_mass(m, d);
      const double total = a.total_mass[static_cast<std::size_t>(d)];
      expect_near("effective mass of mode " + std::to_string(first + 1) + ", " +
                      ModeSet::direction_names()[static_cast<std::size_t>(d)],
                  x, y, 1e-8 * std::max(total, 1e-300) + 1e-12 * a.total_mass[0]);
    }
    const auto at = static_cast<std::size_t>(first);
    if (last - first == 1) {
      expect_near("shape of mode " + std::to_string(first + 1),
                  assurance[at * static_cast<std::size_t>(b.count()) + at], 1, 1e-8);
      expect_near("modal mass of mode " + std::to_string(first + 1), a.modal_masses[at], b.modal_masses[at],
                  1e-6 * a.modal_masses[at]);
    }
    first = last;
  }
}

void compare_sets(const ModeSet& a, const ModeSet& b, bool last_is_whole) {
  if (a.count() != b.count()) differ("number of modes", a.count(), b.count());
  if (a.report.converged != b.report.converged) throw Error(ErrorCode::internal, "one is not exact");
  if (a.report.statement != b.report.statement)
    throw Error(ErrorCode::internal, a.report.statement + " | " + b.report.statement);
  for (int m = 0; m < a.count(); ++m) {
    const EigenMode &x = a.report.modes[static_cast<std::size_t>(m)], &y = b.report.modes[static_cast<std::size_t>(m)];
    if (x.free != y.free) differ("free motion " + std::to_string(m + 1), x.free, y.free);
    expect_near("frequency " + std::to_string(m + 1), x.frequency, y.frequency,
                std::max(1e-9, x.rounding) * x.frequency);
    expect_near("residual " + std::to_string(m + 1), y.residual, 0, std::max(1e-8, y.rounding));
  }
  for (std::size_t d = 0; d < a.total_mass.size(); ++d)
    expect_near("total mass", a.total_mass[d], b.total_mass[d], 1e-11 * a.total_mass[d] + 1e-13 * a.total_mass[0]);
  expect_near("orthogonality", b.report.orthogonality, 0, 1e-11);
  compare_groups(a, b, last_is_whole);
}

double largest(const NodalField& field) {
  double size = 0;
  for (const double value : field.values)
    if (!std::isnan(value)) size = std::max(size, std::abs(value));
  return size;
}

void compare_fields(const std::string& what, const NodalField& a, const NodalField& b, double size) {
  if (a.components != b.components || a.values.size() != b.values.size())
    throw Error(ErrorCode::internal, what + ": other components");
  for (std::size_t i = 0; i < a.values.size(); ++i)
    if (!std::isnan(a.values[i]) || !std::isnan(b.values[i])) expect_near(what, a.values[i], b.values[i], 1e-6 * size);
}

/// What tables get of modes whose frequency no other has.
void compare_states(const ModeSet& modes, const std::vector<StepState>& a, const std::vector<StepState>& b) {
  if (a.size() != b.size()) differ("number of states", static_cast<double>(a.size()), static_cast<double>(b.size()));
  for (int first = 0; first < static_cast<int>(a.size());) {
    const int last = end_of_group(modes, first);
    const StepState &x = a[static_cast<std::size_t>(first)], &y = b[static_cast<std::size_t>(first)];
    if (last - first == 1 && last < modes.count()) {
      const double force = largest(x.result.internal_forces);
      compare_fields("unknowns", x.result.unknowns, y.result.unknowns, largest(x.result.unknowns));
      compare_fields("forces", x.result.internal_forces, y.result.internal_forces, force);
      compare_fields("reactions", x.result.reactions, y.result.reactions, force);
      if (x.result.points.size() != y.result.points.size()) throw Error(ErrorCode::internal, "other points");
    }
    first = last;
  }
}

/// A case: a job, the number of modes and what is known of it.
struct ModesCase {
  std::string name;
  std::function<Job()> make;
  bool last_is_whole = true;
  std::vector<double> published = {};  // frequencies of the first modes
  double tolerance = 0;                // of these, relatively
  bool iterates = false;               // whether methods without a factorisation are tried, too
};

void compare(Engine& engine, const ModesCase& one, const ProcessOptions& options) {
  Processes& processes = engine.processes();
  Job job;
  ModeTaker alone, together;
  agree(processes, [&] {
    if (!processes.is_first()) return;
    job = one.make();
    Job other = one.make();
    StaticOptions how;
    how.backend = "openmp:1";
    run_job(other, how, {}, alone);
  });
  const ProcessJobResult result = run_process_job(engine, &job, options, {}, &together);
  agree(processes, [&] {
    if (!processes.is_first()) return;
    if (!result.job.faults.empty()) throw Error(ErrorCode::internal, result.job.faults.front());
    if (alone.sets.empty() || alone.sets.size() != together.sets.size())
      throw Error(ErrorCode::internal, "another number of steps");
    for (std::size_t s = 0; s < alone.sets.size(); ++s)
      compare_sets(*alone.sets[s], *together.sets[s], one.last_is_whole);
    const ModeSet& found = *together.sets.front();
    compare_states(found, alone.states, together.states);
    for (std::size_t m = 0; m < one.published.size(); ++m)
      expect_near("published frequency " + std::to_string(m + 1), found.frequency(static_cast<int>(m)),
                  one.published[m], one.tolerance * one.published[m]);
    std::printf("%s: %d modes agree (%s; %s)\n", one.name.c_str(), found.count(), found.report.solver.c_str(),
                found.report.statement.c_str());
    std::fflush(stdout);
  });
}

std::shared_ptr<Material> dense(double young, double poisson, double density) {
  return std::make_shared<IsotropicMaterial>("m", young, poisson, density);
}

Job job_of(std::unique_ptr<Domain> domain, FrequencyStep request) {
  Job job;
  job.source = "test";
  job.domains.push_back(std::move(domain));
  JobStep& step = job.steps.emplace_back();
  step.name = "modes";
  step.procedure = Procedure::frequency;
  step.modal = request;
  return job;
}

/// NAFEMS FV32.
Job membrane(FrequencyStep request) {
  auto domain = std::make_unique<Domain>();
  BoxMesh mesh;
  mesh.type = "plane_stress.quad8";
  mesh.cells = {16, 8, 1};
  mesh.map = [](double s, double t, double) { return std::array<double, 3>{10 * s, (t - 0.5) * (5 - 4 * s), 0}; };
  add_box_mesh(*domain, mesh).set_material(dense(200e9, 0.3, 8000)).set_section("thickness", 0.05);
  domain->prescribe("xmin", "all");
  return job_of(std::move(domain), request);
}

/// Free boxes side by side that do not touch: repeated frequencies, and six rigid motions for each.
Job boxes(int count, const std::string& type, std::array<int, 3> cells, FrequencyStep request) {
  auto domain = std::make_unique<Domain>();
  for (int k = 0; k < count; ++k) {
    BoxMesh mesh;
    mesh.type = type;
    mesh.cells = cells;
    mesh.lower = {2.0 * k, 0, 0};
    mesh.upper = {2.0 * k + 1, 1, 1};
    mesh.block = "box" + std::to_string(k);
    mesh.set_prefix = mesh.block + "_";
    add_box_mesh(*domain, mesh).set_material(dense(1, 0.3, 1));
  }
  return job_of(std::move(domain), request);
}

Job chain(int modes) {
  auto domain = std::make_unique<Domain>();
  const double stiffness[] = {30, 20, 10}, mass[] = {11.1, 22.2, 33.3};
  for (int i = 0; i <= 3; ++i) domain->add_node(i + 1, i, 0, 0);
  for (int i = 0; i < 3; ++i) {
    ElementBlock& bar = domain->add_block("spring" + std::to_string(i), "truss");
    bar.set_material(dense(stiffness[i], 0, 0)).set_section("area", 1);
    bar.add(i + 1, {i + 1, i + 2});
    domain->add_block("mass" + std::to_string(i), "mass").set_section("mass", mass[i]).add(i + 11, {i + 2});
  }
  domain->add_node_set_where("all", [](double, double, double) { return true; });
  domain->prescribe("all", "uy");
  domain->prescribe("all", "uz");
  domain->prescribe_at(1, "ux");
  return job_of(std::move(domain), {modes});
}

Job cantilever(FrequencyStep request) {
  auto domain = std::make_unique<Domain>();
  BoxMesh mesh;
  mesh.type = "solid.hex8";
  mesh.cells = {12, 3, 2};
  mesh.upper = {6, 1, 0.7};
  add_box_mesh(*domain, mesh).set_material(dense(2e5, 0.3, 7.8e-9));
  domain->prescribe("xmin", "all");
  return job_of(std::move(domain), request);
}

std::vector<ModesCase> models() {
  const double pi = 3.14159265358979323846;
  const auto omega = [&](double value) { return value / (2 * pi); };
  return {
      {"FV32", [] { return membrane({6}); }, true, {44.623, 130.03, 162.70, 246.05, 379.90, 391.44}, 1e-4, true},
      {"FV32 from 100 to 300 Hz",
       [] {
         return membrane({0, 100, 300});
       },
       true,
       {130.03, 162.70, 246.05},
       1e-4},
      {"FV32, the lowest two below 300 Hz",
       [] {
         return membrane({2, 0, 300});
       },
       true,
       {44.623, 130.03},
       1e-4,
       true},
      {"FV32, none below 20 Hz",
       [] {
         return membrane({0, 0, 20});
       }},
      {"FV32, three above 100 Hz",
       [] {
         return membrane({3, 100});
       },
       true,
       {130.03, 162.70, 246.05},
       1e-4},
      {"free cube",
       [] {
         return boxes(1, "solid.hex20", {3, 3, 3}, {18});
       },
       false},
      {"three free cubes",
       [] {
         return boxes(3, "solid.hex8", {3, 3, 3}, {30});
       },
       false},
      {"fewer modes than rigid motions",
       [] {
         return boxes(2, "solid.hex8", {2, 2, 2}, {13});
       },
       false},
      {"chain",
       [] { return chain(3); },
       true,
       {omega(std::sqrt(.139300647653736)), omega(std::sqrt(1.05865310768512)), omega(std::sqrt(4.9582024008173))},
       1e-12},
      {"chain, all modes and more", [] { return chain(5); }},
      {"cantilever", [] { return cantilever({10}); }, true, {}, 0, true},
      {"cantilever, all below",
       [] {
         return cantilever({0, 0, 300000});
       }},
  };
}

/// A deck with a density and with a frequency step in place of its steps; supports of its first step stay.
Job deck_job(const std::string& path, int modes) {
  std::ifstream file(path);
  if (!file) throw Error(ErrorCode::io, "the deck cannot be read", path);
  std::ostringstream text;
  bool is_dense = false, in_step = false, supports = false;
  for (std::string line; std::getline(file, line);) {
    const bool is_keyword = line.starts_with("*") && !line.starts_with("**");
    if (line.starts_with("*DENSITY")) is_dense = true;
    if (line.starts_with("*STEP")) in_step = true;
    if (is_keyword) supports = line.starts_with("*BOUNDARY");
    if (line.starts_with("*END STEP")) break;
    if (!in_step || supports) text << line << "\n";
  }
  std::string deck = text.str();
  if (!is_dense)
    for (std::size_t at = deck.find("*ELASTIC"); at != std::string::npos; at = deck.find("*ELASTIC", at + 30))
      deck.insert(at, "*DENSITY\n0.002\n");
  const std::string end = "*STEP\n*FREQUENCY\n" + std::to_string(modes) +
                          "\n*NODE PRINT, NSET=EVERY\nU, RF\n*EL PRINT, ELSET=SOME\nS\n*END STEP\n";
  return read_deck_text(deck + "*NSET, NSET=EVERY\n1\n*ELSET, ELSET=SOME\n1\n" + end, path);
}

/// Runs a case; returns whether it failed.
bool fails(Engine& engine, const ModesCase& one, const ProcessOptions& options) {
  try {
    compare(engine, one, options);
    return false;
  } catch (const SharedError& error) {
    if (engine.processes().is_first()) std::printf("%s FAILED: %s\n", one.name.c_str(), error.what());
  } catch (const std::exception& error) {
    std::printf("%s FAILED on process %d alone: %s\n", one.name.c_str(), engine.processes().own(), error.what());
    std::fflush(stdout);
    engine.processes().abort(2);
  }
  std::fflush(stdout);
  return true;
}

}  // namespace

int main(int count, char** words) {
  ProcessOptions options;
  options.backend = "openmp:1";
  std::vector<ModesCase> cases = models();
  for (int i = 1; i < count; ++i) {
    if (std::strcmp(words[i], "--method") == 0 && i + 1 < count) {
      options.engine.method = words[++i];
      continue;
    }
    const std::string path = words[i];
    cases.push_back({path, [path] { return deck_job(path, 5); }, false});
  }
  const bool factorises = options.engine.method == "auto" || options.engine.method == "mumps";
  int failed = 0;
  try {
    const auto engine = open_engine("petsc");
    for (const ModesCase& one : cases)
      if (factorises || one.iterates) failed += fails(*engine, one, options);
  } catch (const std::exception& error) {
    std::printf("FAILED: %s\n", error.what());
    return 1;
  }
  return failed > 0;
}
