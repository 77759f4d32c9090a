#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <voussoir/apps/bench/scratch.hpp>
#include <voussoir/apps/bench/workloads.hpp>
#include <voussoir/apps/terminal/terminal.hpp>
#include <voussoir/framework/analysis/stopwatch.hpp>
#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/framework/io/deck/deck_writer.hpp>
#include <voussoir/framework/io/vtk/vtu_writer.hpp>
#include <voussoir/framework/mesh/sample_models.hpp>
#include <voussoir/jobs/result_files.hpp>

// A whole job, from the deck to the files: what `voussoir run` does, stage by stage.

namespace voussoir::app {
namespace {

namespace fs = std::filesystem;

void write_pump(const fs::path& deck, std::int64_t dofs) {
  Domain domain;
  PumpModel model;
  model.fineness = {0, dofs};
  std::vector<Step> steps;
  for (const SampleStep& s : add_pump_model(domain, model)) steps.push_back({s.name, s.load_cases, 1});
  DeckWriteOptions how;
  how.title = "A pump on a frame";
  how.print_nodes = {"nozzle"};
  write_deck(domain, steps, deck, how);
}

/// What one run of the job took, and what it found.
struct JobRun {
  double reading = 0, writing = 0, wall = 0;
  std::map<std::string, double> stages;
  std::vector<StageTime> writing_stages;
  double imbalance = 0;  ///< of loads and reactions, relative to the loads
  std::int64_t nodes = 0, elements = 0, unknowns = 0;
  int materials = 0;
  std::string solver;

  std::vector<StageTime> preparing_stages() const {
    std::vector<StageTime> found;
    for (const char* name : {"number", "pattern", "check supports", "loads", "check mechanisms"})
      found.push_back({name, stage(name)});
    return found;
  }
  double preparing() const {
    double sum = 0;
    for (const StageTime& t : preparing_stages()) sum += t.seconds;
    return sum;
  }
  double stage(const char* name) const {
    const auto at = stages.find(name);
    return at == stages.end() ? 0 : at->second;
  }
};

bool on_cpu(const BenchSetup& setup) {
  return setup.backend.starts_with("openmp") || setup.backend.starts_with("debug");
}

JobRun run_once(const BenchSetup& setup, const fs::path& deck, const fs::path& folder) {
  JobRun run;
  const Stopwatch since_start;
  Job job = read_deck(deck);
  run.reading = since_start.seconds();
  OutputOptions output;
  output.folder = folder;
  output.overwrite = true;
  output.in_background = true;
  ResultFiles files(job, output);
  if (!on_cpu(setup)) files.prepare();
  StaticOptions how;
  how.backend = setup.backend;
  how.work = setup.choices;
  const JobResult result =
      run_job(job, how, {}, [&](std::size_t step, StepResult found) { files.write_step(step, std::move(found)); });
  files.finish(result, {how, run.reading});
  run.wall = since_start.seconds();
  run.writing = files.seconds();
  run.writing_stages = files.stage_times();
  for (const StageTime& t : result.stage_times) run.stages[t.stage] += t.seconds;
  double loads = 0, difference = 0;
  for (const StepSummary& summary : files.summaries())
    for (std::size_t c = 0; c < summary.load_sum.size(); ++c) {
      loads = std::max(loads, std::abs(summary.load_sum[c]));
      const double apart = std::abs(summary.load_sum[c] + summary.reaction_sum[c]);
      difference = apart <= difference ? difference : apart;  // a NaN stays
    }
  run.imbalance = loads > 0 ? difference / loads : 1;
  run.solver = files.summaries().front().report.solver;
  const Domain& domain = *job.domains.front();
  run.nodes = domain.node_count();
  run.elements = domain.element_count();
  run.unknowns = result.equations;
  run.materials = static_cast<int>(domain.block_count());
  return run;
}

/// The blocks of a VTU file as zlib saw them.
std::vector<std::vector<unsigned char>> unpacked_blocks(const fs::path& path) {
  const std::string text = content(path);
  const std::string mark = "<AppendedData encoding=\"raw\">\n_", end_mark = "\n  </AppendedData>";
  std::size_t at = text.find(mark);
  const std::size_t end = text.rfind(end_mark);
  if (at == text.npos || end == text.npos)
    throw Error(ErrorCode::internal, "the file that was timed has no data", path.string());
  at += mark.size();
  std::vector<std::vector<unsigned char>> blocks;
  const auto number = [&](std::size_t place) {
    std::uint64_t value = 0;
    std::memcpy(&value, text.data() + place, sizeof value);
    return static_cast<std::size_t>(value);
  };
  while (at < end) {
    const std::size_t count = number(at), size = number(at + 8), last = number(at + 16);
    std::size_t from = at + 8 * (3 + count);
    for (std::size_t b = 0; b < count; ++b) {
      const std::size_t packed = number(at + 8 * (3 + b));
      uLongf room = b + 1 == count && last > 0 ? last : size;
      const std::size_t wanted = room;
      blocks.emplace_back(wanted);
      if (uncompress(blocks.back().data(), &room, reinterpret_cast<const Bytef*>(text.data() + from), packed) != Z_OK ||
          room != wanted)
        throw Error(ErrorCode::internal, "the file that was timed cannot be unpacked", path.string());
      from += packed;
    }
    at = from;
  }
  return blocks;
}

/// Seconds in which all threads compress these blocks at zlib's fastest level and do nothing else.
double compression_time(const std::vector<std::vector<unsigned char>>& blocks) {
  const int level = 1;
  const auto count = static_cast<std::int64_t>(blocks.size());
  double best = 1e300;
  for (int i = 0; i < 2; ++i) {
    bool failed = false;
    const Stopwatch watch;
#pragma omp parallel
    {
      std::vector<unsigned char> out;
#pragma omp for schedule(dynamic) reduction(|| : failed)
      for (std::int64_t b = 0; b < count; ++b) {
        const auto& block = blocks[static_cast<std::size_t>(b)];
        uLongf size = compressBound(block.size());
        out.resize(size);
        failed = compress2(out.data(), &size, block.data(), block.size(), level) != Z_OK || failed;
      }
    }
    best = std::min(best, watch.seconds());
    if (failed) throw Error(ErrorCode::internal, "zlib failed");
  }
  return best;
}

/// Seconds in which so many bytes go to a file in large pieces.
double disk_time(const fs::path& path, std::size_t bytes) {
  const std::string piece(std::size_t{1} << 22, 'x');
  const Stopwatch watch;
  std::ofstream file(path, std::ios::binary);
  for (std::size_t done = 0; done < bytes; done += piece.size())
    file.write(piece.data(), static_cast<std::streamsize>(std::min(piece.size(), bytes - done)));
  file.close();
  return watch.seconds();
}

/// Seconds in which every byte of a file is copied into memory and looked at.
double touch_time(const fs::path& path) {
  const Stopwatch watch;
  const std::string text = content(path);
  const auto sum = std::accumulate(text.begin(), text.end(), std::uint64_t{0},
                                   [](std::uint64_t s, char c) { return s + static_cast<unsigned char>(c); });
  return sum > 0 ? watch.seconds() : 0;
}

/// What a row is the sum of, as text and for scripts.
void add_stages(const std::vector<StageTime>& stages, BenchRow& row) {
  if (stages.empty()) return;
  std::string text;
  for (const StageTime& t : stages) {
    text += (text.empty() ? "" : ", ") + t.stage + " " + readable_time(t.seconds);
    std::string key = t.stage;
    std::replace(key.begin(), key.end(), ' ', '_');
    row.figures.emplace_back(key, t.seconds);
  }
  row.note += (row.note.empty() ? "" : "; ") + text;
}

std::uint64_t fingerprint(const fs::path& path) { return std::hash<std::string>()(content(path)); }

}  // namespace

void bench_job(BenchRig& rig) {
  const BenchSetup& setup = rig.setup();
  const std::int64_t dofs = setup.dofs > 0 ? setup.dofs : on_cpu(setup) ? 300'000 : 1'842'375;
  const Scratch scratch("job");
  const fs::path deck = scratch.path / "pump.inp", results = scratch.path / "out";
  const std::vector<fs::path> pictures{results / "pump_step1.vtu", results / "pump_step2.vtu"};
  write_pump(deck, dofs);

  // The fastest of several runs: the first one loads kernels and fills pools.
  JobRun best;
  best.wall = 1e300;
  bool same = true;
  std::vector<std::uint64_t> first;
  for (int i = 0; i < (setup.quick ? 2 : 3); ++i) {
    const JobRun run = run_once(setup, deck, results);
    std::vector<std::uint64_t> these;
    for (const fs::path& picture : pictures) these.push_back(fingerprint(picture));
    same = same && (first.empty() || these == first);
    first = these;
    if (run.wall < best.wall) best = run;
  }

  std::size_t raw = 0, packed = 0;
  double zlib = 0;
  for (const fs::path& picture : pictures) {
    const auto blocks = unpacked_blocks(picture);
    for (const auto& block : blocks) raw += block.size();
    packed += fs::file_size(picture);
    zlib += compression_time(blocks);
  }
  const double disk = disk_time(scratch.path / "disk", packed), touched = touch_time(deck);
  const auto megabytes = [](double bytes) { return fmt::format("{:.1f} MB", bytes * 1e-6); };

  rig.table().begin("job", fmt::format("pump, {}, {} elements, {} unknowns, two steps; {}", counted(best.nodes, "node"),
                                       readable_count(best.elements), readable_count(best.unknowns), best.solver));
  const auto row = [&](const char* what, double seconds, double floor, const std::string& note,
                       const std::vector<StageTime>& stages = {}) {
    rig.row(what, [&](BenchRow& r) {
      r.seconds = seconds;
      r.floor = floor;
      r.note = note;
      add_stages(stages, r);
    });
  };
  row("read the deck", best.reading, touched, megabytes(static_cast<double>(fs::file_size(deck))));
  row("number, pattern, checks, loads", best.preparing(), 0, "", best.preparing_stages());
  row("assemble and solve", best.stage("assemble and solve"), 0, "");
  // Places, unknowns and connectivity are read; nodal stress by material and an error per element are written.
  const double nodes = static_cast<double>(best.nodes), elements = static_cast<double>(best.elements);
  row("recover", best.stage("recover"), rig.floor(2 * (nodes * (24 + 24 + 80.0 * best.materials) + elements * 48)), "");
  row("nodal values, error estimate, files", best.writing, rig.floor(static_cast<double>(raw + packed)) + disk,
      fmt::format("{} of arrays, {} on disk; zlib alone would take {}, disk alone {}",
                  megabytes(static_cast<double>(raw)), megabytes(static_cast<double>(packed)), readable_time(zlib),
                  readable_time(disk)),
      best.writing_stages);
  rig.row("everything, stages overlapped", [&](BenchRow& r) {
    r.seconds = best.wall;
    if (rig.device().find("H200") != std::string::npos && dofs >= 1'842'375) r.target = 2.0;
    r.difference = best.imbalance;
    r.tolerance = 1e-6;
    r.figures = {{"sum_of_stages", best.reading + best.preparing() + best.stage("assemble and solve") +
                                       best.stage("recover") + best.writing},
                 {"without_solving", best.wall - best.stage("assemble and solve")},
                 {"unknowns", static_cast<double>(best.unknowns)}};
    r.note = fmt::format("{} without assembling and solving; loads against reactions",
                         readable_time(best.wall - best.stage("assemble and solve")));
    if (!same) throw Error(ErrorCode::internal, "runs of the same job wrote different files");
  });
}

}  // namespace voussoir::app
