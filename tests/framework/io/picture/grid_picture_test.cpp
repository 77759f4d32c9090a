#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include <voussoir/framework/io/picture/grid_picture.hpp>

#include "support/expect_error.hpp"
#include "support/png_file.hpp"
#include "support/scratch_folder.hpp"

namespace voussoir {
namespace {

testing::Decoded drawn(const Grid& grid, const std::vector<double>& values) {
  const auto path = testing::scratch_file("grid.png");
  GridPictureOptions options;
  options.title = "A plate";
  options.width = 700;
  options.height = 450;
  write_grid_picture(grid, values, path, options);
  std::stringstream all;
  all << std::ifstream(path, std::ios::binary).rdbuf();
  return testing::decode(all.str());
}

/// How light a pixel is: colours of the scale get lighter with the value.
int light(const testing::Decoded& picture, int x, int y) {
  const auto colour = picture.at(x, y);
  return colour[0] + colour[1] + colour[2];
}

TEST(GridPicture, IsLighterWhereTheFieldIsLarger) {
  const Grid grid({21, 11}, {2, 1});
  std::vector<double> along_x, along_y;
  for (std::int64_t n = 0; n < grid.node_count(); ++n) {
    along_x.push_back(grid.position(n)[0]);
    along_y.push_back(grid.position(n)[1]);
  }
  const auto x = drawn(grid, along_x), y = drawn(grid, along_y);
  EXPECT_EQ(x.width, 700U);
  EXPECT_EQ(x.height, 450U);
  // The plate lies between x = 35 and 570, 267 pixels high around the middle of the room below the title.
  EXPECT_LT(light(x, 60, 230), light(x, 300, 230));
  EXPECT_LT(light(x, 300, 230), light(x, 540, 230));
  EXPECT_EQ(light(y, 60, 230), light(y, 540, 230));
  EXPECT_GT(light(y, 300, 130), light(y, 300, 330));  // y points upwards
}

TEST(GridPicture, OfABoxShowsTheMiddlePlane) {
  const Grid grid({5, 5, 5}, {1, 1, 1});
  std::vector<double> values(125, 0.0);
  for (std::size_t n = 50; n < 75; ++n) values[n] = n % 5 < 2 ? 1.0 : 2.0;
  const auto picture = drawn(grid, values);
  EXPECT_LT(light(picture, 160, 230), light(picture, 430, 230));
}

TEST(GridPicture, RefusesWhatCannotBeDrawn) {
  const auto path = testing::scratch_file("none.png");
  testing::expect_error(ErrorCode::bad_input, {"one dimension"},
                        [&] { write_grid_picture(Grid(5, 1.0), std::vector<double>(5), path); });
  testing::expect_error(ErrorCode::bad_input, {"3 values", "25 nodes"}, [&] {
    write_grid_picture(Grid({5, 5}, {1, 1}), std::vector<double>(3), path);
  });
  testing::expect_error(ErrorCode::bad_input, {"node 0"}, [&] {
    write_grid_picture(Grid({5, 5}, {1, 1}), std::vector<double>(25, std::nan("")), path);
  });
  EXPECT_FALSE(std::filesystem::exists(path));
  drawn(Grid({3, 3}, {1, 1}), std::vector<double>(9, 4.0));  // all alike
}

}  // namespace
}  // namespace voussoir
