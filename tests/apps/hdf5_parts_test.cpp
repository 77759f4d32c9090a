// Divided jobs as HDF5 files, by the program, and what it says where it has no HDF5.
#include <gtest/gtest.h>

#include <voussoir/partition/process/part_file.hpp>

#include "program_run.hpp"

namespace voussoir::testing {
namespace {

namespace fs = std::filesystem;

struct Hdf5Program : public ::testing::Test {
  RunSettings settings;
  void SetUp() override {
    settings.folder = fresh_folder("hdf5");
    write_text(settings.folder / "beam.inp", cantilever_deck(8, 2, 2));
  }
  Outcome run(const std::vector<std::string>& arguments) const { return run_program(arguments, settings); }
};

TEST_F(Hdf5Program, WritesTheDividedJob) {
#ifndef VSR_TEST_HDF5
  GTEST_SKIP() << "built without HDF5: install libhdf5-dev";
#endif
  const std::vector<std::string> command{"partition", "beam.inp", "--parts", "3", "--output", "beam.h5"};
  const Outcome outcome = run(command);
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_EQ(outcome.error, "");
  EXPECT_TRUE(contains(outcome.out, "Wrote beam.h5")) << outcome.out;
  const PartFile file(settings.folder / "beam.h5");
  ASSERT_EQ(file.parts(), 3);
  std::int64_t elements = 0;
  for (int p = 0; p < 3; ++p) elements += file.read(p).job.domains[0]->element_count();
  EXPECT_EQ(elements, 32);
  EXPECT_EQ(run(command).code, 5);
  const Outcome alone = run({"run", "beam.h5"});
  EXPECT_EQ(alone.code, 1);
  EXPECT_TRUE(contains(alone.error, "mpirun -n N voussoir run beam.h5 --engine petsc")) << alone.error;
}

// A copy of the program and its library without the file that HDF5 comes with, as builds without HDF5 have none.
TEST_F(Hdf5Program, SaysWhatIsMissingWithoutHdf5) {
  settings.program = settings.folder / "voussoir";
  const fs::path built = fs::path(VSR_TEST_PROGRAM).parent_path();
  fs::copy_file(VSR_TEST_PROGRAM, settings.program);
  for (const auto& file : fs::directory_iterator(built))
    if (file.path().filename().string().starts_with("libvoussoir.so")) fs::copy(file.path(), settings.folder);
  const Outcome outcome = run({"partition", "beam.inp", "--output", "beam.hdf5", "--csv", "parts.csv"});
  EXPECT_EQ(outcome.code, 4);
  for (const char* word :
       {"beam.hdf5", "libvoussoir-hdf5.so", "libhdf5-dev", "-DVOUSSOIR_HDF5=ON", "voussoir_hdf5", ".vpart"})
    EXPECT_TRUE(contains(outcome.error, word)) << word << "\n" << outcome.error;
  EXPECT_FALSE(fs::exists(settings.folder / "parts.csv"));
  EXPECT_EQ(run({"partition", "beam.inp", "--output", "beam.vpart"}).code, 0);

  // Beside the library, and otherwise in the first of the user's folders that has it.
  const std::string name = std::string("libvoussoir-hdf5.so.") + VSR_TEST_SOVERSION;
  const auto loaded_from = [&](const fs::path& folder) {
    const Outcome wrong = run({"partition", "beam.inp", "--output", "beam.h5"});
    EXPECT_EQ(wrong.code, 4);
    EXPECT_TRUE(contains(wrong.error, (folder / name).string() + " cannot be loaded")) << wrong.error;
  };
  const fs::path own = fs::canonical(settings.folder), first = own / "first", second = own / "second";
  settings.environment = {"VOUSSOIR_PLUGIN_PATH=" + first.string() + ":" + second.string()};
  for (const fs::path& folder : {second, first, own}) {
    fs::create_directory(folder);
    write_text(folder / name, "not a library");
    loaded_from(folder);
  }
}

}  // namespace
}  // namespace voussoir::testing
