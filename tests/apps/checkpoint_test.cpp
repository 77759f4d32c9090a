// `voussoir run` with checkpoints: killed at any moment, stopped by a signal, on a full disk, and resumed to the same
// bits.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <thread>

#include "program_run.hpp"

namespace voussoir::testing {
namespace {

namespace fs = std::filesystem;

/// The modes of a cantilever of C3D8, which is then hit at its tip in two steps of dynamics, of which the second goes
/// on where the first ended.
std::string struck_cantilever(int nx, int increments, const std::string& more = "") {
  std::string deck = cantilever_deck(nx, 2, 2, {});
  const std::string elastic = "*ELASTIC\n210000., 0.3\n";
  deck.replace(deck.find(elastic), elastic.size(), elastic + "*DENSITY\n7.8e-9\n*DAMPING, ALPHA=5., BETA=1e-6\n");
  std::ostringstream steps;
  steps << "*AMPLITUDE, NAME=HIT\n0., 0., 1e-4, 1., 2e-4, 0.\n*STEP\n*FREQUENCY\n3\n*END STEP\n";
  for (int step = 0; step < 2; ++step)
    steps << "*STEP, INC=100000\n*DYNAMIC, DIRECT\n1e-5, " << 1e-5 * increments
          << "\n*CLOAD, AMPLITUDE=HIT\nTIP, 3, 5.\n"
          << "*NODE PRINT, NSET=TIP, FREQUENCY=5, TOTALS=YES\nU, V\n*EL PRINT, ELSET=BEAM, FREQUENCY=20\nS\n"
          << "*NODE FILE, FREQUENCY=10\nU\n"
          << more << "*END STEP\n";
  return deck + steps.str();
}

/// All files of a folder by name, without what no two runs have in common: times, dates and memory.
std::map<std::string, std::string> results_in(const fs::path& folder) {
  std::map<std::string, std::string> all;
  for (const std::string& name : files_in(folder)) {
    if (name.ends_with(".inp")) continue;
    std::string text = read_text(folder / name);
    if (name.ends_with(".results.json")) {
      auto document = nlohmann::json::parse(text);
      for (const char* key : {"date", "seconds", "predicted"}) document.erase(key);
      document["sizes"].erase("peak_memory_bytes");
      document["sizes"].erase("backend_bytes");
      for (auto& step : document["steps"])
        if (step.contains("solver"))
          for (const char* key : {"setup_seconds", "solve_seconds"}) step["solver"].erase(key);
      text = document.dump(1);
    }
    if (name.ends_with(".frd")) {
      std::istringstream lines(text);
      text.clear();
      for (std::string line; std::getline(lines, line);)
        if (line.find("1UDATE") == std::string::npos && line.find("1UTIME") == std::string::npos) text += line + "\n";
    }
    all[name] = std::move(text);
  }
  return all;
}

void expect_same(const fs::path& expected, const fs::path& found, const std::string& what) {
  const auto a = results_in(expected), b = results_in(found);
  std::vector<std::string> names_a, names_b;
  for (const auto& [name, text] : a) names_a.push_back(name);
  for (const auto& [name, text] : b) names_b.push_back(name);
  EXPECT_EQ(names_a, names_b) << what;
  for (const auto& [name, text] : a)
    if (const auto it = b.find(name); it != b.end()) {
      EXPECT_TRUE(it->second == text) << what << ": " << name << " differs";
    }
}

const std::vector<std::string> run_hit{"run", "hit.inp", "--threads", "1", "--solver", "direct", "--frd"};

Outcome run_in(const fs::path& folder, std::vector<std::string> more, const RunSettings& how = {}) {
  std::vector<std::string> words = run_hit;
  words.insert(words.end(), more.begin(), more.end());
  RunSettings settings = how;
  settings.folder = folder;
  return run_program(words, settings);
}

/// Starts the program and kills it when `when` says so; true if it was killed before it ended.
bool run_and_kill(const fs::path& folder, const std::vector<std::string>& more, const std::function<bool()>& when) {
  std::fflush(nullptr);  // the child would write what waits once more
  const pid_t child = fork();
  if (child == 0) {
    if (chdir(folder.c_str()) != 0) _exit(126);
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(126);
    std::vector<std::string> words{VSR_TEST_PROGRAM};
    words.insert(words.end(), run_hit.begin(), run_hit.end());
    words.insert(words.end(), more.begin(), more.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    execv(VSR_TEST_PROGRAM, pointers.data());
    _exit(127);
  }
  int status = 0;
  while (!when())
    if (waitpid(child, &status, WNOHANG) == child) return false;
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return WIFSIGNALED(status);
}

/// The run that nobody disturbs, made once.
const fs::path& undisturbed() {
  static const fs::path folder = [] {
    const fs::path made = fresh_folder("checkpoint_undisturbed");
    write_text(made / "hit.inp", struck_cantilever(12, 60));
    const Outcome run = run_in(made, {});
    EXPECT_EQ(run.code, 0) << run.error;
    return made;
  }();
  return folder;
}

fs::path copy_of_deck(const std::string& name) {
  const fs::path folder = fresh_folder(name);
  fs::copy_file(undisturbed() / "hit.inp", folder / "hit.inp");
  return folder;
}

TEST(Checkpoints, DoNotChangeResultsAndAreGoneAtTheEnd) {
  const fs::path folder = copy_of_deck("checkpoint_gone");
  const Outcome run = run_in(folder, {"--checkpoint-steps", "7"});
  ASSERT_EQ(run.code, 0) << run.error;
  expect_same(undisturbed(), folder, "with checkpoints");
}

TEST(Checkpoints, AKilledRunIsResumedToTheSameBits) {
  // How long a run takes decides when it is killed.
  const fs::path timed = copy_of_deck("checkpoint_timed");
  const auto start = std::chrono::steady_clock::now();
  ASSERT_EQ(run_in(timed, {"--checkpoint-steps", "3"}).code, 0);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const char* const many = std::getenv("VSR_TEST_KILLS");
  const int kills = many ? std::atoi(many) : 5;
  std::mt19937 random(2024);
  int killed = 0;
  for (int k = 0; k < kills; ++k) {
    const fs::path folder = copy_of_deck("checkpoint_killed");
    // Stratified moments: every part of the run has its turn. One in three runs is killed twice.
    const auto kill_at = [&](double moment, const std::vector<std::string>& more) {
      const auto begin = std::chrono::steady_clock::now();
      return run_and_kill(folder, more, [&] {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() >= moment;
      });
    };
    const double share = (k + std::uniform_real_distribution<>(0, 1)(random)) / kills;
    killed += kill_at(share * seconds, {"--checkpoint-steps", "3"});
    if (k % 3 == 0) killed += kill_at(0.3 * seconds, {"--resume", "--checkpoint-steps", "3"});
    if (fs::exists(folder / "hit.results.json")) continue;  // it was faster than the clock
    const Outcome run = run_in(folder, {"--resume", "--checkpoint-steps", "3"});
    ASSERT_EQ(run.code, 0) << "killed after " << share * seconds << " s: " << run.error;
    expect_same(undisturbed(), folder, "killed after " + std::to_string(share * seconds) + " s");
  }
  EXPECT_GE(killed, kills / 2) << "most runs were killed before their end";
}

TEST(Checkpoints, ARunKilledWhileACheckpointIsWrittenIsResumed) {
  int caught = 0;
  for (int k = 0; k < 2; ++k) {
    const fs::path folder = copy_of_deck("checkpoint_while_written");
    int seen = 0;
    run_and_kill(folder, {"--checkpoint-steps", "1"}, [&] {
      // A temporary name of a checkpoint shows that one is being written.
      std::error_code ignored;
      for (fs::directory_iterator it(folder, ignored), end; it != end; it.increment(ignored))
        if (it->path().filename().string().find(".checkpoint-") != std::string::npos &&
            it->path().filename().string().find(".part-") != std::string::npos && ++seen > 3 + 20 * k)
          return true;
      return false;
    });
    caught += seen > 3 + 20 * k;
    const Outcome run = run_in(folder, {"--resume", "--checkpoint-steps", "50"});
    ASSERT_EQ(run.code, 0) << run.error;
    expect_same(undisturbed(), folder, "killed while a checkpoint was written");
  }
  EXPECT_GE(caught, 1);
}

/// A run that stops by SIGTERM once a checkpoint is there.
void stop_early(const fs::path& folder) {
  RunSettings how;
  how.signal = SIGTERM;
  how.when = "step 2/3";
  how.terminal = true;
  const Outcome run = run_in(folder, {"--checkpoint-steps", "1"}, how);
  ASSERT_EQ(run.code, 143) << run.error;
  EXPECT_TRUE(contains(run.error, "use --resume to continue from the last checkpoint")) << run.error;
  ASSERT_TRUE(fs::exists(folder / "hit.checkpoint-a"));
}

TEST(Checkpoints, ASignalStopsAfterTheIncrement) {
  const fs::path folder = copy_of_deck("checkpoint_signal");
  stop_early(folder);
  const Outcome again = run_in(folder, {});
  EXPECT_EQ(again.code, 5) << again.error;
  EXPECT_TRUE(contains(again.error, "there are checkpoints of an interrupted run")) << again.error;
  const Outcome run = run_in(folder, {"--resume"});
  ASSERT_EQ(run.code, 0) << run.error;
  EXPECT_TRUE(contains(run.error, "resumed at time")) << run.error;
  expect_same(undisturbed(), folder, "stopped by SIGTERM");
}

TEST(Checkpoints, ADamagedOneIsNamedAndTheOneBeforeIsUsed) {
  const fs::path folder = copy_of_deck("checkpoint_damaged");
  stop_early(folder);
  ASSERT_TRUE(fs::exists(folder / "hit.checkpoint-b"));
  const auto number = [&](const char* name) {  // the count of checkpoints stands after the head of 32 bytes
    const std::string bytes = read_text(folder / name);
    std::uint64_t found = 0;
    std::memcpy(&found, bytes.data() + 32, sizeof found);
    return found;
  };
  const std::string newest =
      number("hit.checkpoint-a") > number("hit.checkpoint-b") ? "hit.checkpoint-a" : "hit.checkpoint-b";
  std::string bytes = read_text(folder / newest);
  bytes[bytes.size() / 2] ^= 1;
  write_text(folder / newest, bytes);
  const Outcome run = run_in(folder, {"--resume"});
  ASSERT_EQ(run.code, 0) << run.error;
  EXPECT_TRUE(contains(run.error, "a damaged checkpoint is ignored: " + newest)) << run.error;
  expect_same(undisturbed(), folder, "the newest checkpoint was damaged");
}

TEST(Checkpoints, AnotherJobIsRefusedByWhatHasChanged) {
  const fs::path folder = copy_of_deck("checkpoint_changed");
  stop_early(folder);
  const std::string deck = read_text(folder / "hit.inp");
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = deck;
    text.replace(text.find(from), from.size(), to);
    write_text(folder / "hit.inp", text);
    const Outcome run = run_in(folder, {"--resume"});
    EXPECT_EQ(run.code, 1) << run.error;
    return run.error;
  };
  EXPECT_TRUE(contains(changed("210000.", "205000."), "these differ: materials and sections;"));
  EXPECT_TRUE(contains(changed("1e-5, 0.0006", "1e-5, 0.0005"), "increments and period of step 2"));
  EXPECT_TRUE(contains(changed("TIP, 3, 5.", "TIP, 3, 6."), "these differ: loads;"));
  EXPECT_TRUE(contains(changed("1e-4, 1.", "1e-4, 2."), "loads of step 2"));
  EXPECT_TRUE(contains(changed("CLAMP, 1, 3", "CLAMP, 1, 2"), "supports of step 1"));
  // Comments do not count, and neither does the number of threads, which is noted.
  write_text(folder / "hit.inp", "** a comment\n\n" + deck);
  std::vector<std::string> words{"run", "hit.inp", "--threads", "2", "--solver", "direct", "--frd", "--resume"};
  RunSettings in_folder;
  in_folder.folder = folder;
  const Outcome run = run_program(words, in_folder);
  EXPECT_EQ(run.code, 0) << run.error;
  EXPECT_TRUE(contains(run.error, "results agree up to rounding errors")) << run.error;
}

TEST(Checkpoints, AFullDiskKeepsTheOlderOne) {
  const fs::path folder = copy_of_deck("checkpoint_full");
  stop_early(folder);
  // No file may grow beyond some bytes: less than a checkpoint has.
  const auto size = fs::file_size(folder / "hit.checkpoint-a");
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{size / 2, size / 2};
    setrlimit(RLIMIT_FSIZE, &limit);
    signal(SIGXFSZ, SIG_IGN);
    const Outcome run = run_in(folder, {"--resume", "--no-vtu"});
    _exit(run.code == 1 ? 0 : 1);  // other result files: refused before anything is written
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  const pid_t second = fork();
  if (second == 0) {
    const rlimit limit{size / 2, size / 2};
    setrlimit(RLIMIT_FSIZE, &limit);
    signal(SIGXFSZ, SIG_IGN);
    const Outcome run = run_in(folder, {"--resume", "--checkpoint-steps", "1"});
    _exit(run.code == 5 && contains(run.error, "File too large") ? 0 : 1);
  }
  waitpid(second, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  const Outcome run = run_in(folder, {"--resume"});
  ASSERT_EQ(run.code, 0) << run.error;
  expect_same(undisturbed(), folder, "after a full disk");
}

TEST(Checkpoints, RestartCardsAskForThem) {
  const fs::path folder = fresh_folder("checkpoint_card");
  write_text(folder / "hit.inp", struck_cantilever(4, 20, "*RESTART, WRITE, FREQUENCY=2\n"));
  const Outcome run = run_in(folder, {"--verbose"});
  ASSERT_EQ(run.code, 0) << run.error;
  // One at the beginning, ten of each step, and one at each end.
  EXPECT_TRUE(contains(run.out, "23 checkpoints written")) << run.out;
  write_text(folder / "hit.inp", struck_cantilever(4, 20, "*RESTART, READ\n"));
  const Outcome read = run_in(folder, {"--force"});
  EXPECT_EQ(read.code, 1);
  EXPECT_TRUE(contains(read.error, "*RESTART, READ must be the first card")) << read.error;
}

}  // namespace
}  // namespace voussoir::testing
