#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include <voussoir/framework/io/vtk/pvd_writer.hpp>

#include "support/expect_error.hpp"

namespace voussoir {
namespace {

namespace fs = std::filesystem;
using testing::expect_error;

class Pvd : public ::testing::Test {
 protected:
  Pvd() { fs::create_directories(folder_); }
  ~Pvd() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  std::string text() const {
    std::ifstream in(file_);
    std::stringstream all;
    all << in.rdbuf();
    return all.str();
  }
  fs::path folder_ = fs::temp_directory_path() / ("voussoir_pvd_" + std::to_string(::getpid()));
  fs::path file_ = folder_ / "series.pvd";
};

TEST_F(Pvd, ListsFilesWithTheirTimes) {
  write_pvd(file_, {{0.1, "a.vtu"}, {2, "b & c.vtu"}});
  EXPECT_EQ(text(),
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\">\n  <Collection>\n"
            "    <DataSet timestep=\"0.1\" part=\"0\" file=\"a.vtu\"/>\n"
            "    <DataSet timestep=\"2\" part=\"0\" file=\"b &amp; c.vtu\"/>\n"
            "  </Collection>\n</VTKFile>\n");
}

TEST_F(Pvd, ReplacesAnotherOneOnlyWhenTold) {
  write_pvd(file_, {{1, "a.vtu"}});
  expect_error(ErrorCode::io, {"series.pvd"}, [&] { write_pvd(file_, {{1, "b.vtu"}}); });
  EXPECT_NE(text().find("a.vtu"), std::string::npos);
  write_pvd(file_, {{1, "b.vtu"}}, true);
  EXPECT_NE(text().find("b.vtu"), std::string::npos);
}

TEST_F(Pvd, TimesMustRise) {
  expect_error(ErrorCode::bad_input, {"'b.vtu'", "increase from file to file"}, [&] {
    write_pvd(file_, {{1, "a.vtu"}, {1, "b.vtu"}});
  });
  expect_error(ErrorCode::bad_input, {"'a.vtu'", "finite"}, [&] {
    write_pvd(file_, {{std::numeric_limits<double>::infinity(), "a.vtu"}});
  });
  EXPECT_FALSE(fs::exists(file_));
}

}  // namespace
}  // namespace voussoir
