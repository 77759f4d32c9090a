#include <voussoir/backends/cost_model/machine_profile.hpp>

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include <voussoir/backends/version.hpp>

namespace voussoir {
namespace {

/// Sets a variable of the environment as long as it exists.
class ProfileVariable {
 public:
  explicit ProfileVariable(const std::string& value) {
    if (const char* now = ::getenv("VOUSSOIR_PROFILE")) before_ = now;
    ::setenv("VOUSSOIR_PROFILE", value.c_str(), 1);
  }
  ~ProfileVariable() { ::setenv("VOUSSOIR_PROFILE", before_.c_str(), 1); }

 private:
  std::string before_ = "none";
};

MachineProfile profile_for(const Backend& backend) {
  MachineProfile profile;
  profile.machine = machine_name();
  profile.backend = backend.name();
  profile.device = backend.describe();
  profile.devices = backend.devices();
  profile.threads = backend.threads();
  profile.version = version();
  profile.date = "2026-11-17T12:00:00Z";
  profile.overlaps_copies = true;
  profile.element_types = {{"solid.hex8.full", 8, 8, 3}};
  OperationCost cost;
  cost.latency = 1.0 / 3;
  cost.width = 270336;
  cost.noise = 0.01;
  cost.levels = {{1024, 1e-9 / 7, 64}, {1e8, 2.5e-9, 6250000}};
  cost.queued = true;
  profile.costs["add"] = cost;
  profile.notes = {"a note with \"quotes\" and µ"};
  return profile;
}

std::filesystem::path test_file(const std::string& name) {
  const auto folder = std::filesystem::temp_directory_path() / ("voussoir_profile_test_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  return folder / name;
}

void put(const std::filesystem::path& path, const std::string& text) { std::ofstream(path) << text; }

TEST(MachineProfile, ComesBackFromItsFileToTheLastBit) {
  const auto backend = Backend::open("openmp:2");
  const MachineProfile written = profile_for(*backend);
  const auto path = save_profile(written, test_file("round.json"));
  const MachineProfile read = load_profile(path);
  EXPECT_EQ(to_json(read), to_json(written));
  const OperationCost& a = read.costs.at("add");
  const OperationCost& b = written.costs.at("add");
  EXPECT_EQ(a.latency, b.latency);
  EXPECT_EQ(a.width, b.width);
  ASSERT_EQ(a.levels.size(), 2u);
  EXPECT_EQ(a.levels[0].seconds_per_unit, b.levels[0].seconds_per_unit);
  EXPECT_EQ(a.levels[1].units, b.levels[1].units);
  EXPECT_TRUE(a.queued);
  EXPECT_EQ(read.element_types.at(0).points, 8);
  EXPECT_TRUE(read.overlaps_copies);
  EXPECT_EQ(read.find("nothing"), nullptr);
}

TEST(MachineProfile, DamagedFilesSayWhatIsWrong) {
  const auto backend = Backend::open("openmp:2");
  const std::string good = to_json(profile_for(*backend));
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  const std::pair<std::string, std::string> cases[] = {
      {good.substr(0, good.size() / 2), "complete JSON"},
      {"", "complete JSON"},
      {"[]", "voussoir_machine_profile"},
      {replaced("\"voussoir_machine_profile\": 2", "\"voussoir_machine_profile\": 1"), "another format"},
      {replaced("270336.0", "NaN"), "complete JSON"},
      {replaced("270336.0", "null"), "not a number"},
      {replaced("270336.0", "0.5"), "less than 1"},
      {replaced("270336.0", "-1.0"), "negative"},
      {replaced("270336.0", "1e999"), ""},
      {replaced("\"threads\": 2", "\"threads\": 2.5"), "whole number"},
      {replaced("1024.0", "1e9"), "ascending"},
      {replaced("\"machine\"", "\"another\""), "machine is missing"},
  };
  for (const auto& [text, expected] : cases) {
    try {
      profile_from_json(text, "profile.json");
      FAIL() << expected << ": " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_input);
      EXPECT_EQ(error.where(), "profile.json");
      EXPECT_NE(error.text().find(expected), std::string::npos) << error.text();
    }
  }
  EXPECT_THROW(load_profile(test_file("not there.json")), Error);
}

TEST(MachineProfile, EveryTruncationIsRefused) {
  const auto backend = Backend::open("openmp:2");
  const std::string good = to_json(profile_for(*backend));
  for (std::size_t length = 0; length + 2 < good.size(); length += 7)
    EXPECT_THROW(profile_from_json(good.substr(0, length), "p"), Error) << length;
}

TEST(MachineProfile, IsUsedOnItsOwnMachineBackendAndThreadsOnly) {
  const auto two = Backend::open("openmp:2"), one = Backend::open("openmp:1");
  MachineProfile profile = profile_for(*two);
  EXPECT_EQ(why_not_used(profile, *two), "");
  EXPECT_NE(why_not_used(profile, *one), "");
  profile.threads = 1;
  EXPECT_NE(why_not_used(profile, *two).find("number of threads"), std::string::npos);
  profile = profile_for(*two);
  profile.machine = "another, 128 processors";
  EXPECT_NE(why_not_used(profile, *two).find("another machine"), std::string::npos);
  profile = profile_for(*two);
  profile.version = "0.0.1";
  EXPECT_NE(why_not_used(profile, *two).find("version"), std::string::npos);
}

TEST(FindProfile, ReportsWhatItFinds) {
  const auto backend = Backend::open("openmp:2"), other = Backend::open("openmp:1");
  const auto path = test_file("found.json");
  const ProfileVariable variable(path.string());
  std::filesystem::remove(path);
  EXPECT_FALSE(find_profile(*backend).profile);
  EXPECT_NE(find_profile(*backend).note.find("bench calibrate --backend openmp:2"), std::string::npos);
  for (const std::string& piece :
       {path.string(), std::string("VOUSSOIR_PROFILE")})  // a name that leads nowhere is said
    EXPECT_NE(find_profile(*backend).note.find(piece), std::string::npos) << find_profile(*backend).note;
  save_profile(profile_for(*backend));
  ASSERT_TRUE(std::filesystem::exists(path));
  EXPECT_TRUE(find_profile(*backend).profile);
  EXPECT_NE(find_profile(*backend).note.find("2026-11-17"), std::string::npos);
  EXPECT_FALSE(find_profile(*other).profile);
  EXPECT_NE(find_profile(*other).note.find("not used"), std::string::npos);
  put(path, "{\"voussoir_machine_profile\": 1,");
  EXPECT_FALSE(find_profile(*backend).profile);
  EXPECT_NE(find_profile(*backend).note.find(path.string()), std::string::npos);
  const ProfileVariable none("none");
  EXPECT_FALSE(find_profile(*backend).profile);
  EXPECT_TRUE(profile_path("openmp").empty());
}

TEST(DefaultProfile, IsAnAssumptionAndSaysSo) {
  for (const char* name : {"openmp:1", "openmp:2", "debug:2"}) {
    const auto backend = Backend::open(name);
    const MachineProfile profile = default_profile(*backend);
    EXPECT_TRUE(profile.is_assumption);
    ASSERT_FALSE(profile.notes.empty());
    for (const auto& [operation, cost] : profile.costs) {
      EXPECT_TRUE(cost.is_assumption) << operation;
      EXPECT_GT(cost.seconds(1e6, 8e6), 0) << operation;
      EXPECT_TRUE(std::isfinite(cost.seconds(1e6, 8e6))) << operation;
    }
    EXPECT_TRUE(profile_from_json(to_json(profile), "p").is_assumption);
  }
}

}  // namespace
}  // namespace voussoir
