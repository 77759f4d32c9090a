// mpirun -n N process_pieces FOLDER DECK…
//
// Solves each deck on one process by our own direct solver and writes the usual files, and solves it on all processes,
// each of which writes its own piece: once with parts that process 0 sends, and once with parts that each process reads
// from a file. Compares results.json, the tables and all arrays of the pieces with those of one process.

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/jobs/piece_results.hpp>
#include <voussoir/partition/process/part_file.hpp>

#include "engines/piece_comparison.hpp"

namespace {

using namespace voussoir;
using namespace voussoir::test;

void compare_folders(const fs::path& alone, const fs::path& pieces, const std::string& name, std::size_t steps) {
  const auto stem = [&](std::size_t s) { return steps > 1 ? name + "_step" + std::to_string(s + 1) : name; };
  std::vector<double> reactions;
  for (std::size_t s = 0; s < steps; ++s)
    reactions.push_back(largest_value(VtuFile(alone / (stem(s) + ".vtu")), "reaction"));
  compare_documents(Json::parse(text_of(alone / (name + ".results.json"))),
                    Json::parse(text_of(pieces / (name + ".results.json"))), reactions);
  for (const auto& entry : fs::directory_iterator(alone)) {
    const std::string ending = entry.path().extension().string();
    if (ending == ".csv" || ending == ".dat") compare_tables(entry.path(), pieces / entry.path().filename());
  }
  for (std::size_t s = 0; s < steps; ++s) compare_pieces(alone / (stem(s) + ".vtu"), pieces / (stem(s) + ".pvtu"));
  const std::string series = text_of(pieces / (name + ".pvd"));
  require(series.find(".pvtu") != std::string::npos, "the .pvd file lists no pieces");
}

OutputOptions into(const fs::path& folder) {
  OutputOptions output;
  output.folder = folder;
  output.overwrite = true;
  return output;
}

void solve_pieces(Engine& engine, ReceivedPart& own, const ProcessOptions& options, const fs::path& folder) {
  PieceResults results(engine.processes(), own.part, into(folder));
  const ProcessJobResult result = run_process_part(engine, own, options, {}, results);
  agree(engine.processes(), [&] {
    if (!results.files()) return;
    RunRecord record;
    record.processes = result.parts;
    record.whole_sizes = results.sizes();
    results.files()->finish(result.job, record);
  });
}

void compare_deck(Engine& engine, const std::string& deck, const fs::path& folder, const ProcessOptions& options) {
  Processes& processes = engine.processes();
  const std::string name = fs::path(deck).stem().string();
  const fs::path file = folder / (name + ".vpart");
  Job job;
  std::size_t steps = 0;
  agree(processes, [&] {
    if (!processes.is_first()) return;
    fs::remove_all(folder);
    fs::create_directories(folder);
    Job alone = read_deck(deck);
    job = read_deck(deck);
    steps = job.steps.size();
    StaticOptions how;
    how.backend = "openmp:1";
    how.solver = "direct";
    ResultFiles files(alone, into(folder / "alone"));
    const JobResult result = run_job(alone, how, {}, files);
    files.finish(result, {how, 0});
    write_part_file(file, JobDivision(job, processes.count()), true);
  });
  ReceivedPart sent = divide_process_job(engine, &job, options, {});
  solve_pieces(engine, sent, options, folder / "sent");
  ReceivedPart read = read_process_part(engine, file.string());
  solve_pieces(engine, read, options, folder / "read");
  agree(processes, [&] {
    if (!processes.is_first()) return;
    compare_folders(folder / "alone", folder / "sent", name, steps);
    compare_folders(folder / "alone", folder / "read", name, steps);
    require(!::testing::Test::HasFailure(), "a VTU file is wrong");
    fs::remove_all(folder);
    std::printf("%s: pieces agree\n", deck.c_str());
    std::fflush(stdout);
  });
}

}  // namespace

int main(int count, char** words) {
  ProcessOptions options;
  options.backend = "openmp:1";
  options.engine.method = "mumps";
  int failed = 0;
  try {
    const auto engine = open_engine("petsc");
    for (int i = 2; i < count; ++i) {
      try {
        compare_deck(*engine, words[i], fs::path(words[1]) / fs::path(words[i]).stem(), options);
      } catch (const SharedError& error) {
        ++failed;
        if (engine->processes().is_first()) std::printf("%s FAILED: %s\n", words[i], error.what());
      } catch (const std::exception& error) {
        std::printf("%s FAILED on process %d alone: %s\n", words[i], engine->processes().own(), error.what());
        std::fflush(stdout);
        engine->processes().abort(2);
      }
    }
  } catch (const std::exception& error) {
    std::printf("FAILED: %s\n", error.what());
    return 1;
  }
  return failed > 0 || count < 3;
}
