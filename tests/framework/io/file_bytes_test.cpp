#include <voussoir/framework/io/detail/file_bytes.hpp>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/io/deck/deck_reader.hpp>
#include <voussoir/framework/io/deck/deck_writer.hpp>
#include <voussoir/framework/io/gmsh/gmsh_reader.hpp>
#include <voussoir/framework/io/gmsh/gmsh_writer.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>

#include "support/expect_error.hpp"
#include "support/scratch_folder.hpp"

namespace voussoir {
namespace {

namespace fs = std::filesystem;
using testing::scratch_file;

void write(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

void build_block(Domain& domain, int cells) {
  BoxMesh box;
  box.type = "solid.hex8.full";
  box.cells = {cells, cells, cells};
  add_box_mesh(domain, box).set_material(std::make_shared<IsotropicMaterial>("steel", 210e9, 0.3, 7850));
}

TEST(FileBytes, AreThoseOfTheFileWhateverItsSize) {
  // 40 MB are read by several threads; their parts must meet without a gap.
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{70001}, std::size_t{40000003}}) {
    std::string text(size, ' ');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + i * i % 23);
    const fs::path path = scratch_file("bytes");
    write(path, text);
    EXPECT_TRUE(FileBytes(path).bytes() == text) << size;
  }
}

TEST(FileBytes, OfAPipeAreReadToItsEnd) {
  const fs::path path = scratch_file("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] { write(path, std::string(200000, 'x')); });
  EXPECT_EQ(FileBytes(path).bytes().size(), 200000u);
  writer.join();
}

// Whoever reads a mapping of a file beyond its new end gets SIGBUS.
TEST(FileBytes, ADeckThatIsCutShortAfterItWasOpenedIsReadWhole) {
  Domain domain;
  build_block(domain, 30);
  const fs::path path = scratch_file("block.inp");
  write_deck(domain, {}, path);
  ASSERT_GT(fs::file_size(path), 1000000u);
  DeckOptions options;
  bool cut = false;
  options.progress = [&](double) {
    if (!cut) fs::resize_file(path, 4096);
    return cut = true;
  };
  const Job job = read_deck(path, options);
  EXPECT_TRUE(cut);
  EXPECT_EQ(job.domains[0]->node_count(), domain.node_count());
  EXPECT_EQ(job.domains[0]->element_count(), domain.element_count());
}

TEST(FileBytes, AMeshThatIsCutShortAfterItWasOpenedIsReadWhole) {
  Domain domain;
  build_block(domain, 40);
  for (const GmshFormat format : {GmshFormat::ascii_4_1, GmshFormat::binary_4_1}) {
    const fs::path path = scratch_file("block.msh");
    write_gmsh(domain, path, {.overwrite = false, .format = format});
    bool cut = false;
    const GmshMesh mesh = read_gmsh(path, [&](double) {
      if (!cut) fs::resize_file(path, 64);
      return cut = true;
    });
    EXPECT_TRUE(cut);
    EXPECT_EQ(static_cast<std::int32_t>(mesh.node_ids.size()), domain.node_count());
  }
}

// Whenever the file changes: either the old content, the new one, or an error that says so.
TEST(FileBytes, AFileThatChangesWhileItIsReadIsAnErrorOrWhole) {
  const fs::path path = scratch_file("changing");
  const std::string content(24000000, 'x');
  write(path, content);
  std::atomic<bool> end{false};
  std::thread other([&] {
    while (!end) {
      fs::resize_file(path, 4096);
      fs::resize_file(path, content.size());
    }
  });
  int errors = 0;
  // The other thread may take its time to start, on a machine that is busy.
  const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  for (int i = 0; i < 40 || (errors == 0 && std::chrono::steady_clock::now() < latest); ++i) {
    try {
      const std::size_t size = FileBytes(path).bytes().size();
      EXPECT_TRUE(size == 4096 || size == content.size()) << size;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::io);
      EXPECT_NE(std::string(error.what()).find("changed while it was read"), std::string::npos) << error.what();
      ++errors;
    }
  }
  end = true;
  other.join();
  EXPECT_GT(errors, 0) << "nothing was tested";
}

}  // namespace
}  // namespace voussoir
