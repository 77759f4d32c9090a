// The binary form of parts and files of parts: complete, and safe against damage.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include <voussoir/framework/io/checkpoint/bytes.hpp>
#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/framework/io/output_file.hpp>
#include <voussoir/jobs/job_fingerprint.hpp>
#include <voussoir/partition/process/part_file.hpp>

#include "../loaded_bar.hpp"
#include "../reduced_beam.hpp"
#include "part_systems.hpp"
#include "support/expect_error.hpp"
#include "support/random_model.hpp"
#include "support/scratch_folder.hpp"

namespace voussoir {
namespace {

namespace fs = std::filesystem;
using testing::expect_error;
using testing::job_of;

std::string all_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += name + "; ";
  return text;
}

/// Nodes of a job that no element uses and no equation names are in no part.
bool has_idle_nodes(const Job& job) {
  std::vector<char> used(static_cast<std::size_t>(job.domains[0]->node_count()), 0);
  for (const auto& domain : job.domains) {
    for (std::size_t b = 0; b < domain->block_count(); ++b)
      for (const std::int32_t n : std::as_const(*domain).block(b).connectivity()) used[static_cast<std::size_t>(n)] = 1;
    for (const ConstraintEquation& equation : domain->equations())
      for (const auto& term : equation.terms) used[static_cast<std::size_t>(term.node)] = 1;
  }
  return std::find(used.begin(), used.end(), 0) != used.end();
}

/// A part is what it was after a round trip, and a part that is all of the job has all of the job.
void expect_complete(const Job& job) {
  for (const int count : {1, 3}) {
    const JobDivision division(job, count);
    for (int p = 0; p < count; ++p) {
      SCOPED_TRACE("part " + std::to_string(p) + " of " + std::to_string(count));
      const ProcessPart part = division.part(p);
      const std::string bytes = encode(part);
      const ProcessPart back = decode(bytes, "part");
      EXPECT_TRUE(encode(back) == bytes);
      EXPECT_EQ(all_of(changed_parts(job_fingerprint(part.job), job_fingerprint(back.job))), "");
      if (count > 1 || has_idle_nodes(job)) continue;
      EXPECT_EQ(all_of(changed_parts(job_fingerprint(job), job_fingerprint(back.job))), "");
    }
  }
}

TEST(PartBytes, RoundTripOfAllDecksIsComplete) {
  int divided = 0;
  std::set<std::string> refused;
  std::vector<fs::path> decks;
  for (const auto& entry : fs::directory_iterator(fs::path(VSR_TEST_SOURCE_DIR) / "tests/validation/decks"))
    if (entry.path().extension() == ".inp" && entry.file_size() < 200000) decks.push_back(entry.path());
  std::sort(decks.begin(), decks.end());
  for (const fs::path& deck : decks) {
    SCOPED_TRACE(deck.filename().string());
    const Job job = read_deck(deck);
    try {
      check_divisible(job);
    } catch (const Error& error) {
      refused.insert(deck.filename().string() + ": " + error.text());
      continue;
    }
    expect_complete(job);
    ++divided;
  }
  EXPECT_GT(divided, 40);
  EXPECT_EQ(all_of({refused.begin(), refused.end()}), "");
}

/// Steps of all kinds that can be divided, with everything that they can ask for. Orientations have axes that are
/// exact: others may change by a rounding error.
Job rich_job() {
  auto domain = std::make_unique<Domain>();
  testing::add_loaded_bar(*domain, 1);
  testing::support_edge_obliquely(*domain);
  auto wood = std::make_shared<OrthotropicMaterial>("wood");
  for (const char* name : {"E1", "E2", "E3"}) wood->set(name, 900 + name[1]);
  for (const char* name : {"nu12", "nu13", "nu23"}) wood->set(name, 0.2);
  for (const char* name : {"G12", "G13", "G23"}) wood->set_table(name, {{0, 300}, {50, 280}});
  wood->set("density", 3).set_damping({0.1, 0.2}).set_expansion_reference(7);
  domain->block(std::size_t{0}).set_material(wood);
  domain->block(std::size_t{0}).set_orientation(Orientation::cylindrical({1, 2, 3}, {1, 2, 9}));
  const std::vector<Id> some{1, 2, 3};
  domain->add_element_set("some", some);
  domain->add_load_case("spin").centrifugal("some", 3, {0, 1, 0}, {0, 0, 2}).gravity("", {1, 2, 3});
  Job job = job_of(std::move(domain));
  job.title = "all kinds";
  job.source = "none.inp";
  job.units = {"N", "mm", "MPa", "K", "mW"};
  job.notes.push_back({"none.inp:3", "a remark"});
  job.points.push_back({"tip", {4, 1, 1}, "none.inp:4"});
  job.paths.push_back({"edge", {0, 0, 0}, {4, 0, 0}, 11, "none.inp:5"});
  job.checkpoints = {5, 7};
  job.instances.nodes.push_back({100, "BOLT-1"});
  job.node_axes.systems = {Orientation::rectangular({0, 1, 0}, {0, 0, 1}),
                           Orientation::cylindrical({0, 0, 0}, {0, 0, 1})};
  for (std::int32_t n = 0; n < job.domains[0]->node_count(); ++n) job.node_axes.system_of.push_back(n % 3 - 1);
  job.steps.reserve(4);
  JobStep& statics = job.steps[0];
  statics.where = "none.inp:9";
  auto supports = std::make_shared<Supports>();
  supports->values = {{0, "ux", 0}, {17, "uy", 0.5}};
  supports->oblique = {{5, {0.6, 0.8, 0}, 0.1}};
  supports->kept = {{9, "uz", {}}, {20, "", {0, 0.6, 0.8}}};
  statics.supports = supports;
  statics.prints = {{PrintRequest::At::elements,
                     "some",
                     {"S", "E"},
                     PrintRequest::Totals::also,
                     true,
                     3,
                     true,
                     {0.5},
                     "none.inp:11"}};
  JobStep modes = statics;
  modes.procedure = Procedure::frequency;
  modes.modal = FrequencyStep{7, 1.5, 900};
  job.steps.push_back(modes);
  JobStep dynamic = statics;
  dynamic.procedure = Procedure::dynamic;
  DynamicStep request;
  request.times = {0.1, 2, 0.5, true, 0.01, 0.2, 1e-4, 3};
  request.continues = 0;
  request.alpha = 0.25;
  request.loads = {{"push", Amplitude({{0, 0}, {1, 2}}), 1.5, 0.5, {}}};
  request.base = {{1, Amplitude({{0, 1}}), 2, 3}};
  request.moved = {{{{0, "ux"}, {17, "uy"}}, Amplitude({{0, 0}, {1, 1}})}, {{}, Amplitude()}};
  request.states = {3, {0.5, 1}, 0.25, 0.1};
  request.displacement = {{4, "uz", 0.3}};
  request.velocity = {{20, "ux", -2}};
  request.explicit_method = ExplicitMethod{0.8, 1e-3, 0.1};
  dynamic.modal = request;
  job.steps.push_back(dynamic);
  JobStep thermal = statics;
  thermal.procedure = Procedure::thermal_stress;
  thermal.heated_by = 2;
  thermal.modal = ThermalStressStep{0.5, request.loads, request.moved, request.states};
  job.steps.push_back(thermal);
  return job;
}

TEST(PartBytes, RoundTripOfAllKindsOfStepsIsComplete) { expect_complete(rich_job()); }

TEST(PartBytes, RestrictedListsOfMovedSupportsDoNotMeanAllSupports) {
  const Job job = rich_job();
  const JobDivision division(job, 4, "coordinate");
  std::size_t places = 0;
  for (int p = 0; p < 4; ++p) {
    const ProcessPart part = division.part(p);
    const auto& moved = std::get<DynamicStep>(part.job.steps[2].modal).moved;
    EXPECT_TRUE(moved.back().places.empty());  // the entry that stands for all others is in every part
    for (std::size_t i = 0; i + 1 < moved.size(); ++i) EXPECT_FALSE(moved[i].places.empty());
    for (const MovedSupports& supports : moved) places += supports.places.size();
  }
  EXPECT_GE(places, 2u);
}

TEST(PartBytes, OrientationsKeepTheirAxes) {
  const Job job = rich_job();
  const ProcessPart back = decode(encode(JobDivision(job, 1).part(0)), "part");
  const auto compare = [](const Orientation& a, const Orientation& b) {
    EXPECT_EQ(a.varies(), b.varies());
    for (const std::array<double, 3>& place : {std::array{1.0, -2.0, 0.5}, std::array{30.0, 4.0, 5.0}}) {
      const auto x = a.at(place), y = b.at(place);
      for (std::size_t k = 0; k < 9; ++k) EXPECT_NEAR(x[k], y[k], 1e-14);
    }
  };
  for (const auto& [axis, degrees] : {std::pair{1, 90.0}, {2, 90.0}, {2, -90.0}, {3, 180.0}, {1, 37.0}}) {
    for (const Orientation& start : {Orientation(), Orientation::cylindrical({1e5, 2, 3}, {1e5 + 1, 4, 9}),
                                     Orientation::rectangular({1, 2, 3}, {3, -1, 0})}) {
      const Orientation turned = start.turned(axis, degrees).turned(axis % 3 + 1, 21);
      Job one = job_of(std::make_unique<Domain>());
      testing::add_loaded_bar(*one.domains[0], 1);
      one.domains[0]->block(std::size_t{0}).set_orientation(turned);
      compare(turned, std::as_const(*decode(encode(JobDivision(one, 1).part(0)), "part").job.domains[0])
                          .block(std::size_t{0})
                          .orientation());
    }
  }
  compare(job.node_axes.systems[0], back.job.node_axes.systems[0]);
  compare(job.node_axes.systems[1], back.job.node_axes.systems[1]);
}

/// The bytes with another checksum in their head: the damage is not noticed before the contents are read.
std::string with_new_checksum(std::string bytes) {
  const std::uint64_t sum = checksum(std::string_view(bytes).substr(28));
  std::copy_n(reinterpret_cast<const char*>(&sum), sizeof sum, bytes.begin() + 20);
  return bytes;
}

TEST(PartBytes, DamageIsRefused) {
  const std::string bytes = encode(JobDivision(rich_job(), 2).part(0));
  for (std::size_t i = 0; i < bytes.size(); i += i < 200 ? 1 : 7) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ (1 << i % 8));
    EXPECT_THROW(decode(damaged, "part"), Error) << "byte " << i;
  }
  for (std::size_t length = 0; length < bytes.size(); length += length < 200 ? 1 : 97)
    EXPECT_THROW(decode(std::string_view(bytes).substr(0, length), "part"), Error) << length << " bytes";
  EXPECT_THROW(decode(bytes + "x", "part"), Error);
  std::string newer = bytes;
  newer[8] = 9;
  expect_error(ErrorCode::bad_input, {"my part", "format 9"}, [&] { decode(newer, "my part"); });
}

TEST(PartBytes, WrongContentsWithARightChecksumAreRefusedOrHarmless) {
  auto domain = std::make_unique<Domain>();
  testing::RandomModel(3).build(*domain);
  const Job random = job_of(std::move(domain));
  int refused = 0, accepted = 0;
  for (const std::string& bytes : {encode(JobDivision(rich_job(), 2).part(1)), encode(JobDivision(random, 2).part(0))})
    for (std::size_t i = 28; i < bytes.size(); i += 3) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ (i % 2 ? 0xff : 1 << i % 8));
      try {
        encode(decode(with_new_checksum(damaged), "part"));
        ++accepted;
      } catch (const Error&) {
        ++refused;
      }
    }
  EXPECT_GT(refused, 100);
  EXPECT_GT(accepted, 100);  // another coordinate is as good as the one before
}

TEST(PartBytes, DamagedSuperelementsAreRefusedOrHarmless) {
  const Job job = job_of(testing::beam_with_superelement());
  const JobDivision division(job, 2);
  int refused = 0;
  for (int p = 0; p < 2; ++p) {
    const std::string bytes = encode(division.part(p));
    for (std::size_t i = 28; i < bytes.size(); i += 17) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ (i % 2 ? 0xff : 1 << i % 8));
      try {
        encode(decode(with_new_checksum(damaged), "part"));
      } catch (const Error& error) {
        ++refused;
        EXPECT_NE(error.where().find("part"), std::string::npos) << error.what();
      }
    }
  }
  EXPECT_GT(refused, 300);
}

TEST(PartFile, EachProcessReadsItsOwnSlice) {
  const Job job = rich_job();
  const JobDivision division(job, 3);
  const fs::path path = testing::scratch_file("model.vpart");
  write_part_file(path, division);
  const PartFile file(path);
  ASSERT_EQ(file.parts(), 3);
  for (int p = 0; p < 3; ++p) {
    EXPECT_TRUE(encode(file.read(p)) == encode(division.part(p)));
    EXPECT_EQ(file.bytes(p), encode(division.part(p)).size());
  }
  EXPECT_TRUE(PartFile::is_one(path));
  EXPECT_FALSE(PartFile::is_one(fs::path(VSR_TEST_SOURCE_DIR) / "CMakeLists.txt"));
  expect_error(ErrorCode::misuse, {"part 3", "there are 3"}, [&] { file.read(3); });
  EXPECT_THROW(write_part_file(path, division), NameTaken);
  write_part_file(path, division, true);
  expect_error(ErrorCode::io, {"none.vpart"}, [&] { PartFile(path.parent_path() / "none.vpart"); });
  expect_error(ErrorCode::bad_input, {"not a file of parts", "--output"},
               [&] { PartFile(fs::path(VSR_TEST_SOURCE_DIR) / "CMakeLists.txt"); });
}

TEST(PartFile, DamagedFilesAreRefusedWithTheirPath) {
  const fs::path path = testing::scratch_file("good.vpart"), bad = testing::scratch_file("bad.vpart");
  write_part_file(path, JobDivision(rich_job(), 2));
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const auto read_all = [&](const std::string& contents) {
    std::ofstream(bad, std::ios::binary) << contents;
    const PartFile file(bad);
    for (int p = 0; p < file.parts(); ++p) file.read(p);
  };
  for (std::size_t i = 0; i < bytes.size(); i += i < 60 ? 1 : 997) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    expect_error(ErrorCode::bad_input, {"bad.vpart"}, [&] { read_all(damaged); });
  }
  for (const std::size_t length : {std::size_t{0}, std::size_t{9}, std::size_t{20}, std::size_t{60}, bytes.size() - 1})
    expect_error(ErrorCode::bad_input, {"bad.vpart"}, [&] { read_all(bytes.substr(0, length)); });
}

}  // namespace
}  // namespace voussoir
