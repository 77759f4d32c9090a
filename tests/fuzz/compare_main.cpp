// fuzz_models COUNT SEED
//
// Solves COUNT random small models (random_model.hpp) in many ways: by every direct method, by every iteration with
// each preconditioner, in each storage, on one device and on two; solvers, preconditioners and storages are those of
// the registries. All must find the same answer, or all must refuse the model; and what they find must satisfy the
// model's equations. An iteration may say that it did not converge, or that it could not exclude a mechanism. The deck
// of a model at which they differ is kept as fuzz_model_SEED.inp, and the program ends with 1.

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/jobs/run_job.hpp>
#include <voussoir/solvers/direct/choice.hpp>
#include <voussoir/solvers/registries.hpp>
#include <voussoir/solvers/static_problem.hpp>

#include "fuzz/random_model.hpp"
#include "support/further_backends.hpp"
#include "support/registered_names.hpp"

namespace {

using voussoir::fuzz::RandomModel;

struct Way {
  std::string solver, storage, backend;
  int every = 1;  ///< it is taken for every so many models: some are slow
  std::string name() const { return solver + " " + storage + " " + backend; }
  bool iterates() const {
    return solver != "auto" &&
           voussoir::solvers().find(voussoir::parse_solver_name(solver).solver.name).takes_preconditioner;
  }
};

/// Everything that the registries list. Iterations for matrices that need not be symmetric have the symmetric models
/// here from time to time.
std::vector<Way> registered_ways() {
  std::vector<Way> ways;
  for (const std::string& solver : voussoir::test::built_in(voussoir::solvers())) {
    const voussoir::SolverFactory& factory = voussoir::solvers().find(solver);
    if (!factory.takes_preconditioner) {
      ways.push_back({solver, "auto", "openmp:1"});
      for (const std::string& method : factory.proposed)
        if (solver != "direct" || voussoir::why_unavailable(voussoir::direct_method(method)).empty())
          ways.push_back({solver + ":" + method, "auto", "openmp"});
      continue;
    }
    const int every = solver == "cg" ? 1 : 8;
    for (const std::string& preconditioner : voussoir::test::built_in(voussoir::preconditioners()))
      ways.push_back({solver + "+" + preconditioner, "bsr", "openmp:1", every});
  }
  for (const std::string& storage : voussoir::test::general_storages())
    ways.push_back({"cg+jacobi", storage, "openmp"});
  return ways;
}

std::vector<Way> all_ways() {
  std::vector<Way> ways = registered_ways();
  for (const Way& way : std::initializer_list<Way>{{"cg+amg:chebyshev", "csr", "openmp:1"},
                                                   {"auto", "auto", "openmp"},
                                                   {"direct", "auto", "debug:2", 4},
                                                   {"cg+amg", "bsr", "debug:2", 4},
                                                   {"cg+jacobi", "matrix-free", "debug:2", 4}})
    ways.push_back(way);
  for (const std::string& backend : voussoir::further::specifications()) {
    const int every = backend.rfind("emulated", 0) == 0 ? 40 : 1;
    ways.push_back({"cg+jacobi", "bsr", backend, every});
    ways.push_back({"cg+amg", "bsr", backend, every});
    ways.push_back({"cg+block-jacobi", "matrix-free", backend, every});
    ways.push_back({"direct", "auto", backend, every});
  }
  return ways;
}

struct Outcome {
  enum class Kind { solved, refused, not_converged } kind = Kind::solved;
  std::string text;                         ///< why it was refused
  std::vector<voussoir::NodalField> steps;  ///< unknowns
  std::vector<std::vector<double>> stress;  ///< of all points, per step
  bool warned = false;                      ///< of something that the answer does not tell
  bool dropped = false;                     ///< equations that follow from others to within the digits of the deck
};

Outcome solve(const RandomModel& model, const Way& way) {
  Outcome outcome;
  try {
    voussoir::Job job = voussoir::read_deck_text(model.deck, "model.inp");
    voussoir::StaticOptions options;
    options.solver = way.solver;
    options.storage = way.storage;
    options.backend = way.backend;
    options.relative_tolerance = 1e-12;
    // Iterations take long where every access is checked, and very long where a processor plays a GPU.
    options.max_iterations = way.backend.starts_with("emulated") ? 500
                             : way.backend.starts_with("debug")  ? 2000
                                                                 : 20000;
    voussoir::JobResult result = run_job(job, options);
    for (const std::string& note : result.notes)
      outcome.dropped = outcome.dropped || note.find("was dropped") != std::string::npos;
    for (voussoir::StepResult& step : result.steps) {
      outcome.warned = outcome.warned || !step.report.note.empty();
      outcome.steps.push_back(std::move(step.unknowns));
      outcome.stress.emplace_back();
      for (const voussoir::PointField& field : step.points)
        outcome.stress.back().insert(outcome.stress.back().end(), field.values.begin(), field.values.end());
    }
  } catch (const voussoir::NotConverged& e) {
    outcome.kind = Outcome::Kind::not_converged;
    outcome.text = e.what();
  } catch (const voussoir::Error& e) {
    outcome.kind = Outcome::Kind::refused;
    outcome.text = e.what();
  }
  return outcome;
}

double size_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double v : values)
    if (!std::isnan(v) && !(std::abs(v) <= largest)) largest = std::abs(v);
  return largest;
}

/// The largest difference, relative to the largest value of the first; infinite where one has a number and the other
/// none.
double difference(const std::vector<double>& a, const std::vector<double>& b, double scale) {
  if (a.size() != b.size()) return HUGE_VAL;
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    const double d = std::abs(a[i] - b[i]);
    if (!(d <= largest)) largest = d;
  }
  return std::isnan(largest) ? HUGE_VAL : largest / scale;
}

/// By how much a solution misses the model's equations, relative to their terms.
double equation_error(const RandomModel& model, const voussoir::Job& job, const Outcome& outcome) {
  double worst = 0;
  for (const voussoir::NodalField& field : outcome.steps) {
    const double largest = size_of(field.values);
    for (const auto& equation : model.equations) {
      double sum = 0, size = 0;
      for (const RandomModel::Term& t : equation) {
        const std::string_view names[] = {"ux", "uy", "uz"};
        const auto node = job.domains.front()->node_index(t.node);
        const double u = field.at(node, t.dof == 11 ? std::string_view("T") : names[t.dof - 1]);
        sum += t.coefficient * u;
        size = std::max(size, std::abs(t.coefficient));
      }
      if (largest > 0) worst = std::max(worst, std::abs(sum) / (size * largest));
      if (std::isnan(sum)) return HUGE_VAL;
    }
  }
  return worst;
}

/// What is wrong with the ways' answers, or nothing.
std::optional<std::string> compare(const RandomModel& model, const std::vector<std::pair<Way, Outcome>>& all,
                                   bool& refused, double& worst_seen) {
  constexpr double tolerance = 1e-6;
  const Outcome& first = all.front().second;
  // Decks have coefficients of eight digits: an equation that was dropped is met to within these.
  const double equation_tolerance = first.dropped ? 1e-6 : 1e-9;
  refused = first.kind != Outcome::Kind::solved;
  for (const auto& [way, outcome] : all) {
    if (outcome.kind == Outcome::Kind::not_converged) {
      if (!way.iterates() && way.solver != "auto") return way.name() + " did not converge: " + outcome.text;
      continue;
    }
    // CG says where it cannot exclude a mechanism, as of elements with motions of their own.
    if (refused && outcome.kind == Outcome::Kind::solved && outcome.warned) continue;
    if ((outcome.kind == Outcome::Kind::refused) != refused)
      return (refused ? way.name() + " solves what " + all.front().first.name() + " refuses: " + first.text
                      : way.name() + " refuses what " + all.front().first.name() + " solves: " + outcome.text);
    if (refused) continue;
    for (std::size_t s = 0; s < first.steps.size(); ++s) {
      const double u = size_of(first.steps[s].values), stress = size_of(first.stress[s]);
      const double du = difference(first.steps[s].values, outcome.steps[s].values, u > 0 ? u : 1);
      const double ds = difference(first.stress[s], outcome.stress[s], stress > 0 ? stress : 1);
      worst_seen = std::max(worst_seen, du);
      if (du > tolerance || ds > 20 * tolerance) {
        char text[200];
        std::snprintf(text, sizeof text, " differs in step %zu by %.2g of the unknowns and %.2g of the stresses", s + 1,
                      du, ds);
        return way.name() + text;
      }
    }
  }
  if (refused) return {};
  const voussoir::Job job = voussoir::read_deck_text(model.deck, "model.inp");
  const double error = equation_error(model, job, first);
  if (error > equation_tolerance) {
    char text[80];
    std::snprintf(text, sizeof text, "the solution misses an equation by %.2g of its terms", error);
    return text;
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: fuzz_models COUNT SEED\n");
    return 2;
  }
  const voussoir::further::EmulationPath path;
  const long count = std::atol(argv[1]);
  const auto seed = static_cast<std::uint64_t>(std::atoll(argv[2]));
  const std::vector<Way> ways = all_ways();
  std::map<std::string, long> stopped;  // ways that did not converge
  std::map<std::string, long> reasons;
  long solved = 0, refusals = 0, differ = 0;
  double worst = 0;
  std::map<std::string, double> seconds;
  for (long k = 0; k < count; ++k) {
    if (k > 0 && k % 100 == 0) std::printf("%ld of %ld models, %ld differ\n", k, count, differ), std::fflush(stdout);
    const std::uint64_t number = seed * 1000000 + static_cast<std::uint64_t>(k);
    const RandomModel model = voussoir::fuzz::random_model(number);
    std::vector<std::pair<Way, Outcome>> all;
    for (const Way& way : ways) {
      if (k % way.every != 0) continue;
      const auto start = std::chrono::steady_clock::now();
      all.emplace_back(way, solve(model, way));
      seconds[way.name()] += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    for (const auto& [way, outcome] : all)
      if (outcome.kind == Outcome::Kind::not_converged) ++stopped[way.name()];
    bool refused = false;
    const auto fault = compare(model, all, refused, worst);
    ++(refused ? refusals : solved);
    if (refused) ++reasons[all.front().second.text.substr(0, 60)];
    if (!fault) continue;
    ++differ;
    const std::string file = "fuzz_model_" + std::to_string(number) + ".inp";
    std::ofstream(file) << model.deck;
    std::fprintf(stderr, "%s: %s\n", file.c_str(), fault->c_str());
  }
  std::printf("%ld models: %ld solved alike, %ld refused alike, %ld differ; largest difference %.1e\n", count,
              solved - differ, refusals, differ, worst);
  for (const auto& [name, times] : stopped) std::printf("  did not converge: %s, %ld times\n", name.c_str(), times);
  if (std::getenv("FUZZ_REASONS")) {
    for (const auto& [text, times] : reasons) std::printf("  %6ld  %s\n", times, text.c_str());
    for (const auto& [name, time] : seconds) std::printf("  %8.2f s  %s\n", time, name.c_str());
  }
  return differ == 0 ? 0 : 1;
}
