// mpirun -n N process_jobs [--method NAME] [--storage NAME] [--empty] [--free] DECK…
//
// Solves each deck on one process by our own direct solver, and on all processes by the engine, and compares everything
// that the steps have found: unknowns, reactions, internal forces, values at points, sums, energies. Without --method
// by MUMPS, so that the comparison holds to 1e-9 of the largest value of each quantity. With --empty, at least one of
// the decks must have so few elements that a process is left without any, and at least one must have enough for all.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/jobs/process_job.hpp>
#include <voussoir/jobs/run_job.hpp>

namespace {

using namespace voussoir;

/// Takes results of the whole model.
class Taker : public StepReceiver {
 public:
  void step(std::size_t, StepResult result) override { results.push_back(std::move(result)); }
  void modes(std::size_t, std::shared_ptr<const ModeSet>) override {}
  void state(std::size_t, StepState) override {}
  void end(std::size_t, StepResponse) override {}
  std::vector<StepResult> results;
};

constexpr double tolerance = 1e-9;

/// Where two lists of numbers differ by more than the tolerance times `size`; NaN must be in the same places.
std::string difference(const std::string& what, const std::vector<double>& a, const std::vector<double>& b,
                       double size) {
  if (a.size() != b.size())
    return what + ": " + std::to_string(a.size()) + " and " + std::to_string(b.size()) + " values";
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (std::abs(a[i] - b[i]) <= tolerance * size) continue;
    char text[200];
    std::snprintf(text, sizeof text, "%s, value %zu: %.12g and %.12g (largest %.3g)", what.c_str(), i, a[i], b[i],
                  size);
    return text;
  }
  return {};
}

double largest(const std::vector<double>& values) {
  double size = 0;
  for (const double v : values)
    if (!std::isnan(v)) size = std::max(size, std::abs(v));
  return size;
}

bool is_rotation(const std::string& unknown) { return unknown[0] == 'r'; }

/// Components of displacements are compared with the largest of them, rotations with the largest rotation.
std::string field_difference(const NodalField& a, const NodalField& b, double least) {
  if (a.components != b.components || a.name != b.name) return a.name + ": other components";
  for (std::size_t c = 0; c < a.components.size(); ++c) {
    std::vector<double> x, y;
    for (std::size_t i = c; i < a.values.size(); i += a.components.size()) x.push_back(a.values[i]);
    for (std::size_t i = c; i < b.values.size(); i += b.components.size()) y.push_back(b.values[i]);
    double size = least;
    for (std::size_t d = 0; d < a.components.size(); ++d) {
      if (is_rotation(a.components[d]) != is_rotation(a.components[c])) continue;
      for (std::size_t i = d; i < a.values.size(); i += a.components.size())
        if (!std::isnan(a.values[i])) size = std::max(size, std::abs(a.values[i]));
    }
    if (const std::string text = difference(a.name + " " + a.components[c], x, y, size); !text.empty()) return text;
  }
  return {};
}

std::string point_difference(const PointField& a, const PointField& b) {
  if (a.block != b.block || a.points != b.points || a.names != b.names) return "points of other blocks";
  for (std::size_t c = 0; c < a.names.size(); ++c) {
    std::vector<double> x, y;
    for (std::size_t i = c; i < a.values.size(); i += a.names.size()) x.push_back(a.values[i]);
    for (std::size_t i = c; i < b.values.size(); i += b.names.size()) y.push_back(b.values[i]);
    // Stresses beside each other: a component that is zero has the rounding of the others.
    double size = largest(x);
    for (std::size_t d = 0; d < a.names.size(); ++d)
      if (a.names[d][0] == a.names[c][0]) {
        std::vector<double> other;
        for (std::size_t i = d; i < a.values.size(); i += a.names.size()) other.push_back(a.values[i]);
        size = std::max(size, largest(other));
      }
    if (const std::string text = difference("points " + a.names[c], x, y, size); !text.empty()) return text;
  }
  return {};
}

std::string step_difference(const StepResult& a, const StepResult& b, bool forces) {
  const double force = std::max(largest(a.internal_forces.values), largest(a.reactions.values));
  std::string text = field_difference(a.unknowns, b.unknowns, 0);
  if (!forces) return text;
  if (text.empty()) text = field_difference(a.reactions, b.reactions, force);
  if (text.empty()) text = field_difference(a.internal_forces, b.internal_forces, force);
  if (text.empty()) text = difference("sum of loads", a.load_sum, b.load_sum, force);
  if (text.empty()) text = difference("sum of reactions", a.reaction_sum, b.reaction_sum, 10 * force);
  if (text.empty()) text = difference("energy", {a.energy}, {b.energy}, std::abs(a.energy));
  if (text.empty() && a.points.size() != b.points.size()) text = "other blocks have points";
  for (std::size_t i = 0; text.empty() && i < a.points.size(); ++i) text = point_difference(a.points[i], b.points[i]);
  return text;
}

/// Solves a deck in both ways, and throws where the results differ; collective. Returns on process 0 the number of
/// processes without elements.
int compare(Engine& engine, const std::string& deck, const ProcessOptions& options, bool forces) {
  Processes& processes = engine.processes();
  Job job;
  std::vector<StepResult> expected;
  agree(processes, [&] {
    if (!processes.is_first()) return;
    job = read_deck(deck);
    Job other = read_deck(deck);
    StaticOptions how;
    how.backend = "openmp:1";
    how.solver = "direct";
    expected = run_job(other, how).steps;
  });
  Taker taker;
  const ProcessJobResult result = run_process_job(engine, &job, options, {}, &taker);
  int empty = 0;
  agree(processes, [&] {
    if (!processes.is_first()) return;
    std::string text = expected.size() == taker.results.size() ? "" : "another number of steps";
    for (std::size_t s = 0; text.empty() && s < expected.size(); ++s)
      text = step_difference(expected[s], taker.results[s], forces);
    if (!text.empty()) throw Error(ErrorCode::internal, text, deck);
    std::int64_t elements = 0;
    for (const ProcessShare& part : result.parts) {
      elements += part.elements;
      empty += part.elements == 0;
    }
    if (elements != job.domains.front()->element_count()) throw Error(ErrorCode::internal, "elements were lost", deck);
    std::printf("%s: %zu steps agree (%s, %d iterations)\n", deck.c_str(), expected.size(),
                taker.results.back().report.solver.c_str(), taker.results.back().report.iterations);
    std::fflush(stdout);
  });
  return empty;
}

}  // namespace

int main(int count, char** words) {
  ProcessOptions options;
  options.backend = "openmp:1";
  options.engine.method = "mumps";
  std::vector<std::pair<std::string, bool>> decks;
  bool forces = true, wants_empty = false;
  for (int i = 1; i < count; ++i)
    if (std::strcmp(words[i], "--method") == 0 && i + 1 < count)
      options.engine.method = words[++i];
    else if (std::strcmp(words[i], "--storage") == 0 && i + 1 < count)
      options.engine.storage = words[++i];
    else if (std::strcmp(words[i], "--empty") == 0)
      wants_empty = true;
    else if (std::strcmp(words[i], "--free") == 0)
      forces = false;
    else
      decks.emplace_back(words[i], forces);
  options.engine.relative_tolerance = 1e-13;
  int failed = 0, with_empty = 0, without = 0;
  try {
    const auto engine = open_engine("petsc");
    for (const auto& [deck, with_forces] : decks) {
      try {
        ++(compare(*engine, deck, options, with_forces) > 0 ? with_empty : without);
      } catch (const SharedError& error) {
        ++failed;
        if (engine->processes().is_first()) std::printf("%s FAILED: %s\n", deck.c_str(), error.what());
      } catch (const std::exception& error) {
        std::printf("%s FAILED on process %d alone: %s\n", deck.c_str(), engine->processes().own(), error.what());
        std::fflush(stdout);
        engine->processes().abort(2);
      }
    }
    if (wants_empty && engine->processes().is_first() && (with_empty == 0 || without == 0)) {
      ++failed;
      std::printf("FAILED: %d decks left a process without elements, %d did not\n", with_empty, without);
    }
  } catch (const std::exception& error) {
    std::printf("FAILED: %s\n", error.what());
    return 1;
  }
  return failed > 0 || decks.empty();
}
