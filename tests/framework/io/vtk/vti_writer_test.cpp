#include <gtest/gtest.h>

#include <voussoir/framework/io/vtk/vti_writer.hpp>

#include "support/expect_error.hpp"
#include "support/scratch_folder.hpp"
#include "support/vtu_file.hpp"

namespace voussoir {
namespace {

TEST(VtiWriter, WritesImageDataThatReadsBack) {
  Grid grid({5, 4, 3}, {2, 3, 1});
  grid.origin({1, -2, 0.5}).periodic('y');
  std::vector<double> values(60);
  for (std::size_t n = 0; n < values.size(); ++n) values[n] = 0.1 * static_cast<double>(n) - 2;
  for (const bool compress : {true, false}) {
    const auto path = testing::scratch_file("grid.vti");
    VtuOptions options;
    options.compress = compress;
    VtiWriter(grid).add("temperature", values).write(path, options);
    const VtuFile file(path);
    EXPECT_NE(file.head().find("type=\"ImageData\""), std::string::npos);
    EXPECT_NE(file.head().find("WholeExtent=\"0 4 0 3 0 2\" Origin=\"1 -2 0.5\" Spacing=\"0.5 0.75 0.5\""),
              std::string::npos)
        << file.head();
    EXPECT_EQ(file.array<double>("temperature"), values);
    testing::expect_error(ErrorCode::io, {"grid.vti"}, [&] { VtiWriter(grid).write(path); });
  }
}

TEST(VtiWriter, RefusesWhatDoesNotFit) {
  const Grid grid({5, 4}, {1, 1});
  const std::vector<double> values(20), few(19);
  testing::expect_error(ErrorCode::bad_input, {"'u'", "19 values", "20 nodes"}, [&] { VtiWriter(grid).add("u", few); });
  testing::expect_error(ErrorCode::bad_input, {"'u'", "already"},
                        [&] { VtiWriter(grid).add("u", values).add("u", values); });
  testing::expect_error(ErrorCode::bad_input, {"name"}, [&] { VtiWriter(grid).add("", values); });
  VtuOptions options;
  options.level = 10;
  testing::expect_error(ErrorCode::bad_input, {"10"},
                        [&] { VtiWriter(grid).write(testing::scratch_file("x.vti"), options); });
}

}  // namespace
}  // namespace voussoir
