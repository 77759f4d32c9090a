#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include <voussoir/backends/version.hpp>

namespace voussoir {
namespace {

TEST(Version, IsThatOfTheProject) {
  const std::string numbers = std::to_string(VSR_VERSION_MAJOR) + "." + std::to_string(VSR_VERSION_MINOR) + "." +
                              std::to_string(VSR_VERSION_PATCH);
  EXPECT_EQ(version(), numbers);
  std::ifstream file(std::string(VSR_TEST_SOURCE_DIR) + "/CMakeLists.txt");
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_NE(text.str().find("VERSION " + numbers + "\n"), std::string::npos) << "project(VERSION) is not " << numbers;
}

}  // namespace
}  // namespace voussoir
