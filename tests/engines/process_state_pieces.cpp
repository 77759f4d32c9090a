// mpirun -n N process_state_pieces FOLDER [CASE]
//
// Solves jobs with steps over time on one process by our own direct solver and writes the usual files, and solves them
// on all processes, each of which writes its own piece of every state: with parts that process 0 sends, with parts that
// each process reads from a file, and in a run that breaks off and is resumed. Compares results.json, the tables and
// all arrays of all states with those of one process.

#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/jobs/piece_results.hpp>
#include <voussoir/partition/process/part_file.hpp>

#include "engines/bar_deck.hpp"
#include "engines/piece_comparison.hpp"

namespace {

using namespace voussoir;
using namespace voussoir::test;

struct Case {
  std::string name, deck;
  int states;  ///< that are passed on before the run that is resumed breaks off; 0: it is not resumed
};

std::vector<Case> cases() {
  const std::string dynamics = "*STEP, INC=10000\n*DYNAMIC, DIRECT\n0.005, 0.06\n";
  const std::string push =
      "*CLOAD, AMPLITUDE=PULSE\nRIGHT, 2, 1.\nTIP, 3, 0.3\n*DLOAD\nEALL, GRAV, 9.81, 0., 0., -1.\n";
  const std::string warm = "*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 20.\n";
  const std::string heated =
      "*BOUNDARY\nLEFT, 11, 11, 120.\n*FILM, AMPLITUDE=PULSE\nLAST, F2, 300., 40.\n*DFLUX\nFIRST, BF, 50.\n";
  const std::string weak = "*ELASTIC\n1000., 0.25\n*DENSITY\n2.\n*PLASTIC\n20., 0.\n40., 0.1\n60., 1.\n";
  const std::string pulled = "*CLOAD\nRIGHT, 1, 0.12\nTIP, 2, 0.03\n*EL PRINT, ELSET=EALL\nPEEQ\n";
  const std::string uncoupled =
      "*STEP, INC=1000\n*UNCOUPLED TEMPERATURE-DISPLACEMENT, DIRECT\n0.01, 0.08\n*CLOAD, AMPLITUDE=PULSE\nRIGHT, 2, "
      "0.1\nTIP, 3, 0.05\n";
  const std::string fixed_heat = "*STEP, INC=10000\n*HEAT TRANSFER, DIRECT\n0.005, 0.04\n";
  return {
      {"two_steps", bar(4, "C3D8", elastic, held + dynamics + push + printed + dynamics + push + printed), 19},
      {"automatic", bar(3, "C3D8I", elastic, held + "*STEP, INC=10000\n*DYNAMIC\n0.004, 0.012\n" + push + printed), 12},
      {"farthest", bar(4, "C3D8", elastic, held + dynamics + push + "*END STEP\n"), 6},
      {"heat", bar(5, "C3D8", heat, warm + fixed_heat + heated + printed_heat + fixed_heat + heated + printed_heat), 9},
      {"heat_stress",
       bar(4, "C3D8", heat,
           warm + held + uncoupled + heated + "*NODE PRINT, NSET=TIP\nNT, U\n*EL PRINT, ELSET=LAST\nS\n*END STEP\n"),
       6},
      {"stress_after_heat",
       bar(4, "C3D8", heat,
           warm + held + uncoupled + heated + "*NODE PRINT, NSET=TIP\nNT, U\n*EL PRINT, ELSET=LAST\nS\n*END STEP\n"),
       11},
      {"plastic",
       bar(4, "C3D8", weak,
           held + "*STEP, NLGEOM, INC=1000\n*STATIC\n0.1, 1.\n" + pulled + printed +
               "*STEP, NLGEOM, INC=1000\n*DYNAMIC, DIRECT\n0.005, 0.03\n*CLOAD\nRIGHT, 2, 0.05\n" + printed),
       6},
      {"explicit", bar(3, "C3D8", weak, held + "*STEP, NLGEOM\n*DYNAMIC, EXPLICIT\n, 0.1\n" + push + printed), 5},
      {"warm_dynamics",
       bar(4, "C3D8", elastic + "*EXPANSION\n1E-4\n",
           warm + held + dynamics + push + "*TEMPERATURE, AMPLITUDE=PULSE\nRIGHT, 60.\n" + printed),
       0},
      {"tied",
       bar(6, "C3D8", elastic,
           held + "*EQUATION\n2\n37, 2, 1., 43, 2, -1.\n*RIGID BODY, NSET=RIGHT\n" + dynamics + push + printed),
       0},
      // On three processes and more, some have no elements.
      {"two_elements", bar(1, "C3D8", elastic, held + dynamics + push + printed), 7},
      {"two_heated_elements",
       bar(1, "C3D8", heat, warm + held + uncoupled + heated + "*NODE PRINT, NSET=TIP\nNT, U\n*END STEP\n"), 10},
  };
}

/// Passes on results up to one of the states, where it fails as a full disk does.
class BreakingPieces : public PartReceiver {
 public:
  BreakingPieces(PieceResults& results, int left) : results_(results), left_(left) {}
  void step(std::size_t step, StepResult own, const NodalField* heat) override {
    results_.step(step, std::move(own), heat);
  }
  void modes(std::size_t step, ModeSet own) override { results_.modes(step, std::move(own)); }
  void state(std::size_t step, StepState own) override {
    if (left_-- == 0) throw SharedError(Error(ErrorCode::io, "the disk is full"), 0);
    results_.state(step, std::move(own));
  }
  void end(std::size_t step, StepResponse response) override { results_.end(step, std::move(response)); }
  void settle() override { results_.settle(); }

 private:
  PieceResults& results_;
  int left_;
};

OutputOptions into(const fs::path& folder, bool in_background) {
  OutputOptions output;
  output.folder = folder;
  output.name = "bar";
  output.overwrite = true;
  output.in_background = in_background;
  return output;
}

/// Runs a divided job; collective. `states` until it breaks off, or −1.
void solve(Engine& engine, ReceivedPart& own, const ProcessOptions& options, const fs::path& folder, int states,
           bool in_background, RunCheckpoints* checkpoints) {
  PieceResults results(engine.processes(), own.part, into(folder, in_background));
  if (checkpoints) results.files()->attach(*checkpoints);
  BreakingPieces receiver(results, states);
  const ProcessJobResult result = run_process_part(engine, own, options, {}, receiver, checkpoints);
  agree(engine.processes(), [&] {
    if (!results.files()) return;
    RunRecord record;
    record.processes = result.parts;
    record.whole_sizes = results.sizes();
    results.files()->finish(result.job, record);
  });
}

/// Runs a case until it breaks off, and resumes it; collective.
void solve_twice(Engine& engine, const Case& one, const ProcessOptions& options, const fs::path& folder) {
  Processes& processes = engine.processes();
  for (const bool resume : {false, true}) {
    Job job;
    if (processes.is_first()) job = read_deck_text(one.deck, "bar.inp");
    ReceivedPart own = divide_process_job(engine, &job, options, {});
    std::optional<RunCheckpoints> checkpoints;
    agree(processes, [&] {
      if (!processes.is_first()) return;
      fs::create_directories(folder);
      CheckpointOptions every;
      every.every_increments = 5;
      every.resume = resume;
      checkpoints.emplace(folder, "bar", every);
      checkpoints->begin(job_fingerprint(own.part.job), {"processes", "none"});
      require(checkpoints->resumes() == resume, "the run is not resumed");
    });
    bool failed = false;
    try {
      solve(engine, own, options, folder, resume ? -1 : one.states, true, checkpoints ? &*checkpoints : nullptr);
    } catch (const SharedError& error) {
      if (resume || error.code() != ErrorCode::io) throw;
      failed = true;
    }
    agree(processes, [&] { require(failed != resume, "the run did not break off"); });
    if (resume && checkpoints) checkpoints->finish();
  }
}

/// Steps of results.json, without what is rounding, or one of several equal values.
void compare_steps(const Json& alone, const Json& pieces) {
  require(alone.size() == pieces.size(), "another number of steps");
  for (std::size_t s = 0; s < alone.size(); ++s)
    for (const auto& item : alone[s].items()) {
      if (item.key() == "statement" || item.key() == "counts") continue;
      require(pieces[s].contains(item.key()), "no " + item.key());
      if (item.key() == "peaks")
        require(item.value().size() == pieces[s]["peaks"].size(), "another number of peaks");
      else
        compare_json(item.value(), pieces[s][item.key()], item.key(), largest_in(item.value()));
    }
}

/// Tables of peaks: quantities and magnitudes. Of several equal peaks, at other places, at other times or with another
/// sign, rounding decides which one is listed, and for sums that vanish, when they are largest.
void compare_peaks(const fs::path& a, const fs::path& b) {
  const auto peaks = [](const fs::path& path) {
    std::istringstream in(text_of(path));
    std::vector<std::pair<std::string, double>> list;
    std::string line;
    std::getline(in, line);  // the names of the columns
    while (std::getline(in, line)) {
      const std::size_t comma = line.find(',');
      require(comma != std::string::npos, path.string() + ": " + line);
      list.emplace_back(line.substr(0, comma), std::abs(std::stod(line.substr(comma + 1))));
    }
    return list;
  };
  const auto left = peaks(a), right = peaks(b);
  require(!left.empty() && left.size() == right.size(), a.string() + " has another size than " + b.string());
  double largest = 0;
  for (const auto& [quantity, value] : left) largest = std::max(largest, value);
  for (std::size_t i = 0; i < left.size(); ++i)
    require(left[i].first == right[i].first &&
                std::abs(left[i].second - right[i].second) <= 1e-6 * left[i].second + 1e-9 * largest,
            a.string() + ": " + left[i].first + " " + std::to_string(left[i].second) + " and " +
                std::to_string(right[i].second));
}

void compare_states(const fs::path& alone, const fs::path& pieces) {
  std::size_t states = 0, lists = 0;
  for (const auto& entry : fs::directory_iterator(alone)) {
    const fs::path name = entry.path().filename();
    const std::string ending = name.extension().string();
    if (name.string().ends_with("_peaks.csv"))
      compare_peaks(entry.path(), pieces / name);
    else if (ending == ".csv" || ending == ".dat")
      compare_tables(entry.path(), pieces / name);
    if (ending == ".vtu") {
      ++states;
      compare_pieces(entry.path(), pieces / fs::path(name).replace_extension(".pvtu"));
    }
    if (ending != ".pvd") continue;
    std::string list = text_of(pieces / name);
    for (std::size_t at = 0; (at = list.find(".pvtu", at)) != std::string::npos;) list.replace(at, 5, ".vtu");
    require(list == text_of(entry.path()), name.string() + " lists other states");
  }
  for (const auto& entry : fs::directory_iterator(pieces)) lists += entry.path().extension() == ".pvtu";
  require(states > 0 && states == lists, "another number of states");
  compare_steps(Json::parse(text_of(alone / "bar.results.json"))["steps"],
                Json::parse(text_of(pieces / "bar.results.json"))["steps"]);
}

void compare_case(Engine& engine, const Case& one, const fs::path& folder, const ProcessOptions& options) {
  Processes& processes = engine.processes();
  const fs::path file = folder / "bar.vpart";
  Job job;
  agree(processes, [&] {
    if (!processes.is_first()) return;
    fs::remove_all(folder);
    fs::create_directories(folder);
    Job alone = read_deck_text(one.deck, "bar.inp");
    job = read_deck_text(one.deck, "bar.inp");
    StaticOptions how;
    how.backend = "openmp:1";
    how.solver = "direct";
    ResultFiles files(alone, into(folder / "alone", false));
    const JobResult result = run_job(alone, how, {}, files);
    files.finish(result, {how, 0});
    write_part_file(file, JobDivision(job, processes.count()), true);
  });
  ReceivedPart sent = divide_process_job(engine, &job, options, {});
  solve(engine, sent, options, folder / "sent", -1, true, nullptr);
  if (one.states == 0 || one.name == "heat") {
    ReceivedPart read = read_process_part(engine, file.string());
    solve(engine, read, options, folder / "read", -1, false, nullptr);
  }
  if (one.states > 0) solve_twice(engine, one, options, folder / "resumed");
  agree(processes, [&] {
    if (!processes.is_first()) return;
    for (const char* how : {"sent", "read", "resumed"})
      if (fs::exists(folder / how)) compare_states(folder / "alone", folder / how);
    require(!testing::Test::HasFailure(), "a VTU file is wrong");
    fs::remove_all(folder);
    std::printf("%s: pieces agree\n", one.name.c_str());
    std::fflush(stdout);
  });
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) return 2;
  ProcessOptions options;
  options.backend = "openmp:1";
  options.engine.method = "mumps";
  int failed = 0;
  try {
    const auto engine = open_engine("petsc");
    for (const Case& one : cases()) {
      if (count > 2 && one.name != words[2]) continue;
      try {
        compare_case(*engine, one, fs::path(words[1]) / one.name, options);
      } catch (const SharedError& error) {
        ++failed;
        if (engine->processes().is_first()) std::printf("%s FAILED: %s\n", one.name.c_str(), error.what());
      } catch (const std::exception& error) {
        std::printf("%s FAILED on process %d alone: %s\n", one.name.c_str(), engine->processes().own(), error.what());
        std::fflush(stdout);
        engine->processes().abort(2);
      }
    }
  } catch (const std::exception& error) {
    std::printf("FAILED: %s\n", error.what());
    return 1;
  }
  return failed > 0;
}
