#include <gtest/gtest.h>
#include <omp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <voussoir/framework/io/vtk/vtu_writer.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>

#include "support/expect_error.hpp"

// How the blocks of a VTU file come about: by several threads, or from a file before.

namespace voussoir {
namespace {

namespace fs = std::filesystem;
using testing::expect_error;

class VtuBlocks : public ::testing::Test {
 protected:
  VtuBlocks() {
    fs::create_directories(folder_);
    BoxMesh mesh;
    mesh.cells = {30, 30, 30};  // arrays of several blocks
    add_box_mesh(domain_, mesh);
    for (const char* name : {"first", "second"}) {
      NodalField field{name, {"a", "b", "c", "d"}, {}};
      for (std::int32_t n = 0; n < domain_.node_count(); ++n)
        for (int c = 0; c < 4; ++c) field.values.push_back(std::sin(n * (c + 1.0) + name[0]));
      fields_.push_back(std::move(field));
    }
  }
  ~VtuBlocks() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  /// The bytes of a file of one of the fields.
  std::string bytes(int field, VtuMesh* mesh, VtuOptions how = {}) const {
    VtuWriter writer(domain_);
    writer.add(fields_[static_cast<std::size_t>(field)], "values");
    if (mesh) writer.reuse(*mesh);
    how.overwrite = true;
    writer.write(file_, how);
    std::ifstream in(file_, std::ios::binary);
    std::stringstream all;
    all << in.rdbuf();
    return all.str();
  }

  fs::path folder_ = fs::temp_directory_path() / ("voussoir-vtu-" + std::to_string(getpid()));
  fs::path file_ = folder_ / "box.vtu";
  Domain domain_;
  std::vector<NodalField> fields_;
};

TEST_F(VtuBlocks, AnyNumberOfThreadsWritesTheSameBytes) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  const std::string alone = bytes(0, nullptr);
  omp_set_num_threads(7);
  const std::string together = bytes(0, nullptr);
  omp_set_num_threads(before);
  EXPECT_GT(alone.size(), 500'000u);
  EXPECT_TRUE(alone == together);
}

TEST_F(VtuBlocks, AMeshThatWasCompressedBeforeGivesTheSameBytes) {
  for (const bool compress : {true, false}) {
    VtuOptions how;
    how.compress = compress;
    VtuMesh mesh;
    EXPECT_TRUE(bytes(0, &mesh, how) == bytes(0, nullptr, how));
    EXPECT_TRUE(bytes(1, &mesh, how) == bytes(1, nullptr, how));
    how = {};
    how.level = 6;  // what was compressed in another way is not taken
    EXPECT_TRUE(bytes(1, &mesh, how) == bytes(1, nullptr, how));
  }
}

TEST_F(VtuBlocks, AMeshThatWasPreparedGivesTheSameBytes) {
  for (const bool compress : {true, false}) {
    VtuOptions how;
    how.compress = compress;
    VtuMesh mesh;
    VtuWriter(domain_).reuse(mesh).prepare(how);
    EXPECT_TRUE(bytes(0, &mesh, how) == bytes(0, nullptr, how));
    VtuWriter(domain_).reuse(mesh).prepare(how);  // again, which changes nothing
    EXPECT_TRUE(bytes(1, &mesh, how) == bytes(1, nullptr, how));
  }
  expect_error(ErrorCode::misuse, {"reuse()"}, [&] { VtuWriter(domain_).prepare(); });
}

TEST_F(VtuBlocks, TheMeshOfAnotherDomainIsRefused) {
  VtuMesh mesh;
  VtuWriter(domain_).reuse(mesh);
  Domain other;
  expect_error(ErrorCode::misuse, {"another domain"}, [&] { VtuWriter(other).reuse(mesh); });
}

TEST_F(VtuBlocks, ComponentsOfAFieldAreAnArrayOfTheirOwn) {
  NodalField part{"values", {"b", "c"}, {}};
  for (std::int32_t n = 0; n < domain_.node_count(); ++n)
    for (int c = 1; c < 3; ++c) part.values.push_back(fields_[0].at(n, c));
  const auto content = [&](VtuWriter& writer) {
    writer.write(file_, {.overwrite = true});
    std::ifstream in(file_, std::ios::binary);
    std::stringstream all;
    all << in.rdbuf();
    return all.str();
  };
  VtuWriter of_all(domain_), of_part(domain_);
  EXPECT_TRUE(content(of_all.add_components(fields_[0], "values", 1, 2)) == content(of_part.add(part)));
  expect_error(ErrorCode::bad_input, {"components 3 to 4"},
               [&] { VtuWriter(domain_).add_components(fields_[0], "more", 3, 2); });
}

/// Files of this process stay below so many bytes while this exists.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, old_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, handler_);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  rlimit old_{};
  void (*handler_)(int) = nullptr;
};

TEST_F(VtuBlocks, AFileThatCannotGrowIsAnErrorAndLeavesTheMeshUsable) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(4);
  VtuMesh mesh;
  {
    const FileLimit limit(600'000);
    expect_error(ErrorCode::io, {"writing failed"}, [&] { bytes(0, &mesh); });
  }
  omp_set_num_threads(before);
  EXPECT_FALSE(fs::exists(file_));
  EXPECT_TRUE(bytes(0, &mesh) == bytes(0, nullptr));
}

}  // namespace
}  // namespace voussoir
