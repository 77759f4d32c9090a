#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/io/csv/csv_writer.hpp>
#include <voussoir/framework/io/vtk/vtu_writer.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>

#include "support/vtu_file.hpp"

namespace voussoir {
namespace {

namespace fs = std::filesystem;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A folder of its own for every test, gone afterwards.
class Io : public ::testing::Test {
 protected:
  Io() {
    folder_ = fs::temp_directory_path() / ("voussoir_io_" + std::to_string(::getpid()) + "_" +
                                           ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
  }
  ~Io() override {
    std::error_code ignored;
    fs::permissions(folder_, fs::perms::owner_all, ignored);
    fs::remove_all(folder_, ignored);
  }
  std::size_t files_in_folder() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }
  fs::path folder_;
};

std::string read_all(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST_F(Io, VtuHoldsMeshAndFieldsCompressedOrNot) {
  Domain domain;
  BoxMesh mesh;
  mesh.type = "solid.hex20";
  mesh.cells = {12, 12, 12};  // large enough for several compressed blocks
  add_box_mesh(domain, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 1.0, 0.3));
  mesh.type = "solid.tet4";
  mesh.block = "tets -- <second>";
  mesh.set_prefix = "t";
  mesh.cells = {2, 2, 2};
  const auto copper = std::make_shared<IsotropicMaterial>("copper", 1.0, 0.3);
  add_box_mesh(domain, mesh).set_material(copper);
  ElementBlock& trusses = domain.add_block("bars", "truss");
  trusses.add(100000, {1, 2});

  NodalField u{"displacement", {"ux", "uy"}, {}}, t{"temperature", {"T"}, {}},
      s{"stress & strain", {"sxx", "mises"}, {}};
  for (std::int32_t n = 0; n < domain.node_count(); ++n) {
    u.values.insert(u.values.end(), {0.5 * n, n == 3 ? nan : -1.0 * n});
    t.values.push_back(n == 4 ? nan : std::sin(n));
    s.values.insert(s.values.end(), {1.0 * n, 2.0 * n});
  }
  PointField points{1, 2, {"energy"}, {}};
  for (std::int32_t e = 0; e < domain.block(1).size(); ++e)
    points.values.insert(points.values.end(), {1.0 * e, 3.0 * e});
  std::vector<std::int32_t> part(domain.element_count());
  for (std::size_t i = 0; i < part.size(); ++i) part[i] = static_cast<std::int32_t>(i % 7);

  for (bool compress : {true, false}) {
    const fs::path path = folder_ / (compress ? "packed.vtu" : "plain.vtu");
    VtuOptions options;
    options.compress = compress;
    VtuWriter(domain)
        .add(u)
        .add(t)
        .add(s)
        .add_element_means({points}, {"energy"})
        .add_cells("part", part)
        .write(path, options);
    const VtuFile file(path);

    EXPECT_NE(file.head().find("NumberOfPoints=\"" + std::to_string(domain.node_count()) + "\""), std::string::npos);
    EXPECT_NE(file.head().find("NumberOfCells=\"" + std::to_string(domain.element_count()) + "\""), std::string::npos);
    const auto x = file.array<double>("Points");
    ASSERT_EQ(x.size(), domain.coordinates().size());
    EXPECT_TRUE(std::equal(x.begin(), x.end(), domain.coordinates().begin()));

    const auto displacement = file.array<double>("displacement");
    EXPECT_EQ(file.attribute("displacement", "NumberOfComponents"), "3");
    ASSERT_EQ(displacement.size(), 3u * domain.node_count());
    const auto temperature = file.array<double>("temperature");
    const auto stress = file.array<double>("stress &amp; strain");
    EXPECT_EQ(file.attribute("stress &amp; strain", "ComponentName1"), "mises");
    const auto node_id = file.array<std::int64_t>("node_id");
    for (std::int32_t n = 0; n < domain.node_count(); ++n) {
      EXPECT_EQ(displacement[3 * n], 0.5 * n);
      EXPECT_EQ(displacement[3 * n + 1], n == 3 ? 0.0 : -1.0 * n);
      EXPECT_EQ(displacement[3 * n + 2], 0.0);
      if (n == 4)
        EXPECT_TRUE(std::isnan(temperature[n]));
      else
        EXPECT_EQ(temperature[n], std::sin(n));
      EXPECT_EQ(stress[2 * n + 1], 2.0 * n);
      EXPECT_EQ(node_id[n], domain.node_id(n));
    }

    // VTK's numbers: 25 quadratic hexahedron, 10 tetrahedron, 3 line.
    const auto types = file.array<std::uint8_t>("types");
    const auto offsets = file.array<std::int64_t>("offsets");
    const auto connectivity = file.array<std::int32_t>("connectivity");
    const auto element_id = file.array<std::int64_t>("element_id");
    const auto block = file.array<std::int32_t>("block");
    const auto material = file.array<std::int32_t>("material");
    const auto energy = file.array<double>("energy");
    EXPECT_EQ(file.array<std::int32_t>("part"), part);
    std::size_t cell = 0, entry = 0;
    for (std::size_t b = 0; b < domain.block_count(); ++b)
      for (std::int32_t e = 0; e < domain.block(b).size(); ++e, ++cell) {
        EXPECT_EQ(types[cell], b == 0 ? 25 : b == 1 ? 10 : 3);
        for (std::int32_t n : domain.block(b).nodes(e)) ASSERT_EQ(connectivity[entry++], n);
        ASSERT_EQ(offsets[cell], static_cast<std::int64_t>(entry));
        EXPECT_EQ(element_id[cell], domain.block(b).id(e));
        EXPECT_EQ(block[cell], static_cast<std::int32_t>(b));
        EXPECT_EQ(material[cell], b == 0 ? 0 : b == 1 ? 1 : -1);
        if (b == 1)
          EXPECT_EQ(energy[cell], 2.0 * e);
        else
          EXPECT_TRUE(std::isnan(energy[cell]));
      }
    EXPECT_EQ(cell, types.size());
    EXPECT_EQ(entry, connectivity.size());
    EXPECT_NE(file.head().find("material 1: copper"), std::string::npos);
    EXPECT_EQ(file.head().find("tets --"), std::string::npos) << "two hyphens end an XML comment";
  }
  EXPECT_LT(fs::file_size(folder_ / "packed.vtu"), fs::file_size(folder_ / "plain.vtu") / 2);
  EXPECT_EQ(files_in_folder(), 2u) << "temporary files are left";
}

TEST_F(Io, VtuSplitsRotationsFromDisplacements) {
  Domain domain;
  add_box_mesh(domain, {});
  NodalField u{"displacement", {"ux", "uy", "uz", "rx", "ry", "rz"}, std::vector<double>(8 * 6)};
  for (std::size_t i = 0; i < u.values.size(); ++i) u.values[i] = static_cast<double>(i);
  VtuWriter(domain).add(u).write(folder_ / "a.vtu");
  const VtuFile file(folder_ / "a.vtu");
  EXPECT_EQ(file.array<double>("displacement")[5], 8.0);
  EXPECT_EQ(file.array<double>("displacement_rotation")[5], 11.0);
}

TEST_F(Io, VtuNamesFieldsOfSeveralMaterials) {
  Domain domain;
  add_box_mesh(domain, {});
  const NodalField s{"stress", {"sxx", "syy"}, std::vector<double>(16, 1.5)};
  VtuWriter writer(domain);
  writer.add(std::vector<MaterialField>{{"steel", s}, {"copper", s}});
  const VtuWriter copy = writer;  // keeps the fields alive by itself
  copy.write(folder_ / "two.vtu");
  EXPECT_EQ(VtuFile(folder_ / "two.vtu").array<double>("stress_copper").at(15), 1.5);
}

TEST_F(Io, NothingIsOverwrittenUnasked) {
  Domain domain;
  add_box_mesh(domain, {});
  const fs::path path = folder_ / "kept.vtu";
  std::ofstream(path) << "precious";
  try {
    VtuWriter(domain).write(path);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_NE(std::string(error.what()).find(path.string()), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("overwrite"), std::string::npos) << error.what();
  }
  EXPECT_EQ(read_all(path), "precious");
  VtuOptions options;
  options.overwrite = true;
  VtuWriter(domain).write(path, options);
  EXPECT_EQ(VtuFile(path).array<std::uint8_t>("types"), std::vector<std::uint8_t>{12});
  EXPECT_EQ(files_in_folder(), 1u);
}

TEST_F(Io, FailuresNameThePathAndTheReason) {
  Domain domain;
  add_box_mesh(domain, {});
  const auto text = [&](const fs::path& path, const Domain& of) {
    try {
      VtuWriter(of).write(path);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  const std::string missing = text(folder_ / "no" / "such.vtu", domain);
  EXPECT_NE(missing.find("such.vtu"), std::string::npos) << missing;
  EXPECT_NE(missing.find("No such file or directory"), std::string::npos) << missing;
  EXPECT_NE(text(folder_, domain).find("folder"), std::string::npos);
  Domain empty;
  EXPECT_NE(text(folder_ / "empty.vtu", empty).find("no elements"), std::string::npos);
  EXPECT_EQ(files_in_folder(), 0u);
}

TEST_F(Io, AFullDiskIsAnErrorAndLeavesNothing) {
  // A limit on the size of files stands in for the end of the disk.
  Domain domain;
  BoxMesh mesh;
  mesh.cells = {20, 20, 20};
  add_box_mesh(domain, mesh);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);  // the kernel then answers EFBIG
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = 4096;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  std::string text = "nothing";
  try {
    VtuWriter(domain).write(folder_ / "big.vtu");
  } catch (const Error& error) {
    text = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_NE(text.find("big.vtu"), std::string::npos) << text;
  EXPECT_NE(text.find("File too large"), std::string::npos) << text;
  EXPECT_EQ(files_in_folder(), 0u);
}

TEST_F(Io, FieldsThatDoNotFitAreRefused) {
  Domain domain;
  add_box_mesh(domain, {});
  VtuWriter writer(domain);
  const NodalField small{"u", {"ux"}, {1, 2, 3}};
  EXPECT_THROW(writer.add(small), Error);
  EXPECT_THROW(writer.add_cells("part", std::vector<std::int32_t>{1, 2}), Error);
  EXPECT_THROW(writer.add_cells("block", std::vector<std::int32_t>{1}), Error);
  EXPECT_THROW(writer.add_element_means({}, {"energy"}), Error);
}

TEST_F(Io, CsvListsNodesAndPointsWithTheUsersIds) {
  Domain domain;
  domain.add_node(10, 0, 0);
  domain.add_node(20, 0.1, 0);
  ElementBlock& block = domain.add_block("bars, \"thin\"", "truss");
  block.add(7, {10, 20});
  const NodalField u{"displacement", {"ux", "uy"}, {1.0 / 3, 0, nan, -1e-300}};
  EXPECT_EQ(csv_table(domain, u).text(), "node,x,y,z,ux,uy\n10,0,0,0,0.3333333333333333,0\n20,0.1,0,0,,-1e-300\n");
  const PointField n{0, 2, {"force"}, {2.5, 3.5}};
  EXPECT_EQ(csv_table(domain, n).text(),
            "element,block,point,force\n7,\"bars, \"\"thin\"\"\",1,2.5\n7,\"bars, \"\"thin\"\"\",2,3.5\n");
  const fs::path path = folder_ / "u.csv";
  csv_table(domain, u).write(path);
  EXPECT_EQ(read_all(path), csv_table(domain, u).text());
  EXPECT_THROW(csv_table(domain, u).write(path), Error);
  csv_table(domain, u).write(path, true);
  EXPECT_EQ(files_in_folder(), 1u);
}

TEST_F(Io, CsvRowsMustBeComplete) {
  CsvTable table({"a", "b"});
  EXPECT_THROW(table.add(1), Error);
  table.row().add(1).add("x");
  EXPECT_EQ(table.text(), "a,b\n1,x\n");
  table.row().add(std::size_t{2});
  EXPECT_THROW(table.row(), Error);
  EXPECT_THROW(table.text(), Error);
}

}  // namespace
}  // namespace voussoir
